"""How a private mean is made: records in the plane, clip radii, noise, for a figure to play with.

Everything that the figure needs for every clip radius, computed once from all n records; a sample
of them is there to be drawn. The figure shows records, so nothing in here is private: it is a
picture of the method.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.limits import LIBRARY
from dpsco_core.base.search import smallest
from dpsco_core.catalogue import HARD_INSTANCES
from dpsco_core.data.base import ScaledLaw
from dpsco_core.data.rows import DenseRows, row_norms
from dpsco_core.explain.error_parts import ClippedLaw, clipped_law
from dpsco_core.fields import MEAN
from dpsco_core.methods.mean import AdaptiveClipping, SimpleClipping
from dpsco_core.methods.mean.adaptive import AdaptiveMean
from dpsco_core.methods.mean.ladder import norm_counts
from dpsco_core.privacy.budget import ZCDP
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import GaussianNoise, gaussian_noise_std
from dpsco_core.problems import MeanEstimation
from dpsco_core.problems.base import Setting
from dpsco_core.runs.study import stream
from dpsco_core.scenario import Scenario

SHOWN_RECORDS = 500  # the largest number of records that are drawn
RELEASES = 250
CHOICES = 40
USUAL_DELTA = 1e-6
# the smallest and the largest clip radius, unless a method chooses a larger one
REACH = (0.25, 30.0)
RADII = 241  # the number of radii at which averages and the parts of the error are known
MOST_IN_A_SAMPLE, SAMPLE_SEED = 10_000, 0
CLIPPED_SHARE = 0.01  # At the first radius at least this share of the drawn records is clipped.


@dataclass(frozen=True, eq=False, kw_only=True)
class Picture:
    """Records of one law, and what simple clipping makes of them at every radius."""

    law: str  # slug of the distribution
    n: int
    p: float
    # The budget. For an (epsilon, delta) budget the noise is that of `rho`, which meets it.
    epsilon: float
    delta: float
    # The rho of the one release, whose noise in each coordinate has standard deviation
    # (2R/n)/sqrt(2 rho).
    rho: float
    records: Vector  # the first of the n records, shape (min(n, SHOWN), 2)
    mean: Vector  # the true mean, shape (2,)
    plain: Vector  # the average of all n records, shape (2,)
    # the averages of all n records, clipped to each of the radii, shape (RADII, 2)
    averages: Vector
    clipped: ClippedLaw  # the mean and the covariance of one clipped record, at every radius
    blind: float  # the radius that `SimpleClipping` chooses without using the records
    best: float  # the radius with the smallest error, among the known radii
    # the radius that is shown first: the best one, or a smaller one at which records are clipped
    start: float
    noise: Vector  # standard normal numbers, shape (RELEASES, 2); each row is the noise of one run
    # The private choice of `AdaptiveClipping`: the candidate radii, the number of records longer
    # than each, the target number k of longer records, the epsilon of the choice (0 if there are
    # too few records; the largest radius is then used), and the rho that is left for the noise.
    ladder: Vector
    longer: Vector
    target: float
    choice_epsilon: float
    choice_rho: float
    # uniform numbers in [0, 1), shape (CHOICES,), each of which decides one random choice
    uniforms: Vector


def picture(scenario: Scenario) -> Picture:
    """Return the picture for the law, n, budget and seed of `scenario`, in the plane.

    The skewed Pareto law takes the place of a hard instance, which has one law for each n and
    budget, and 10^-6 that of delta = 0, at which Gaussian noise is not private.
    """
    hard = scenario.distribution in HARD_INSTANCES
    budget: dict[str, Any] = {
        "epsilon": scenario.epsilon,
        "delta": scenario.delta or USUAL_DELTA,
        "rho": None,
    }
    if scenario.rho is not None:
        budget = {"epsilon": None, "delta": None, "rho": scenario.rho}
    field_names = ("n", "p", "margin", "offset", "diameter", "scale", "seed")
    base = Scenario(
        methods=(SimpleClipping.card.slug,),
        distribution="skewed-pareto" if hard else scenario.distribution,
        d=2,
        axis=None,
        grid=(),
        **budget,
        **{name: getattr(scenario, name) for name in field_names},
    )
    return _cached_picture(base)


@lru_cache(maxsize=16)
def _cached_picture(base: Scenario) -> Picture:
    """Return the picture of a scenario; the cache serves equal scenarios."""
    point = base.validate(LIBRARY)
    problem, setting, n, seed = point.instance.problem, point.setting, point.n, point.seed
    assert isinstance(problem, MeanEstimation)
    law = problem.distribution
    plan, choice = SimpleClipping().plan(setting), adaptive_mean(setting)
    top = max(REACH[1], 1.5 * plan.statistic.radius, choice.top_radius)
    radii = np.geomspace(REACH[0], top, RADII)
    clipped = clipped_law(law, radii, stream(seed, "picture law", 0))
    best = smallest(
        radii,
        lambda r: clipped.parts(n, r, gaussian_noise_std(2 * r / n, plan.noise.rho)).total,
        what="clip radius",
    )
    x = law.sample(n, stream(seed, "picture", 0)).x
    quantile = float(np.quantile(row_norms(x[:SHOWN_RECORDS]), 1 - CLIPPED_SHARE))
    budget = point.budget
    approx = budget.to_approx(USUAL_DELTA) if isinstance(budget, ZCDP) else point
    assert approx.epsilon is not None and approx.delta is not None
    # The noise is in units of its standard deviation, and is drawn as the noise of a run.
    rng, unit = stream(seed, "picture noise", 0), Ledger(ZCDP(rho=1.0))
    noise = unit.release(
        GaussianNoise(l2_sensitivity=math.sqrt(2), rho=1.0),
        np.zeros(2 * RELEASES),
        rng,
        label="picture",
    )
    return Picture(
        law=point.distribution,
        n=n,
        p=point.p,
        epsilon=approx.epsilon,
        delta=approx.delta,
        rho=plan.noise.rho,
        records=x[:SHOWN_RECORDS],
        mean=law.mean,
        plain=x.mean(axis=0),
        averages=clipped_averages(x, radii),
        clipped=clipped,
        blind=plan.statistic.radius,
        best=float(best),
        start=max(REACH[0], min(float(best), quantile)),
        noise=noise.reshape(RELEASES, 2),
        ladder=choice.radii,
        longer=norm_counts(DenseRows(x), choice.radii),
        target=choice.target,
        choice_epsilon=0.0 if choice.mode == "blind" else choice.epsilon,
        choice_rho=choice.release_rho,
        uniforms=stream(seed, "picture choices", 0).random(CHOICES),
    )


def clipped_averages(x: Vector, radii: Vector) -> Vector:
    """Return the averages of records, shape (n, d), after clipping to each of rising radii.

    The averages have the shape (k, d) for k radii.
    """
    lengths = row_norms(x)
    stretch = np.searchsorted(radii, lengths)
    directions = x / np.maximum(lengths, np.finfo(float).tiny)[:, None]

    def sums(columns: Vector) -> Vector:
        """Return the sum of every column over the records within each radius, and over all."""
        counted = [np.bincount(stretch, column, minlength=len(radii) + 1) for column in columns.T]
        return np.cumsum(counted, axis=1)

    inner, outer = sums(x)[:, :-1], sums(directions)
    total: Vector = inner + radii * (outer[:, -1:] - outer[:, :-1])
    return total.T / len(x)


def adaptive_mean(setting: Setting) -> AdaptiveMean:
    """Return the statistic of `AdaptiveClipping` that clips about 0, the picture's centre."""
    mean = AdaptiveClipping().plan(setting).statistic
    if mean.centre is None:
        return mean
    return AdaptiveClipping(tuning="theory").plan(setting).statistic


@lru_cache(maxsize=32)
def coordinate_sample(point: Scenario) -> Vector | None:
    """Return one coordinate of the records of a mean about its mean, increasing, shape (k,).

    k is n, but at most `MOST_IN_A_SAMPLE`. The unit is the p-th root of a coordinate's moment. It
    is None for losses, for users with several items, and for hard instances, whose mean is hidden.

    Examples
    --------
    >>> values = coordinate_sample(Scenario(n=500))
    >>> values.shape, bool(values[0] < 0 < values[-1])
    ((500,), True)
    """
    law = point.instance.law
    if point.problem != MEAN or point.m > 1 or not isinstance(law, ScaledLaw):
        return None
    rows = law.noise_law.sample(
        min(point.n, MOST_IN_A_SAMPLE), np.random.default_rng(SAMPLE_SEED)
    ).x
    values = np.sort(np.asarray(rows[:, 0], dtype=np.float64))
    values.flags.writeable = False  # The cached array is shared by all callers.
    return values
