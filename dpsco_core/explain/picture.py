"""How a private mean is made: records in the plane, clip radii, noise, for a figure to play with.

Everything that the figure needs for every position of its controls, computed once. The figure shows
the records that it draws from, so nothing in here is private: it is a picture of the method.
"""

import math
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.limits import LIBRARY
from dpsco_core.catalogue import HARD_INSTANCES
from dpsco_core.explain.error_parts import ClippedLaw, clipped_law
from dpsco_core.methods.mean import AdaptiveClipping, SimpleClipping
from dpsco_core.methods.mean.adaptive import AdaptivePlan
from dpsco_core.privacy.budget import ZCDP, ApproxDP
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems import MeanEstimation
from dpsco_core.problems.base import Setting
from dpsco_core.runs.study import stream
from dpsco_core.scenario import Scenario

SIZES = (20, 50, 100, 200, 500)
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
ORDERS = (2.0, 2.5, 3.0, 4.0, 6.0, 10.0)
RELEASES = 250
CHOICES = 40
USUAL_DELTA = 1e-6
REACH = (0.25, 30.0)  # the least and the largest clip radius
RADII = np.geomspace(*REACH, 241)  # at which the parts of the error are known


@dataclass(frozen=True, eq=False, kw_only=True)
class Picture:
    """Records of one law with every tail, and what simple clipping does with them."""

    law: str  # the slug of the distribution
    delta: float  # of every budget
    # the positions of the three controls: n, epsilon and the moment order p
    sizes: tuple[int, ...]
    epsilons: tuple[float, ...]
    orders: tuple[float, ...]
    start: tuple[int, int, int]  # where they stand at first: nearest to the scenario
    # shape (len(orders), sizes[-1], 2): the first n records of an order are its data set
    records: Vector
    means: Vector  # the true means, shape (len(orders), 2)
    laws: tuple[ClippedLaw, ...]  # of each order: what clipping at `RADII` makes of a record
    # shape (len(epsilons),): what each budget leaves for the one release, whose noise in each
    # coordinate has standard deviation (2R/n)/sqrt(2 rho)
    rhos: Vector
    # shape (len(orders), len(sizes), len(epsilons)): what `SimpleClipping` chooses without looking
    radii: Vector
    noise: Vector  # standard normal, shape (RELEASES, 2): each row is the noise of one run
    # for each n the radii among which `AdaptiveClipping` chooses, over the largest
    ladders: tuple[Vector, ...]
    # shape (*radii.shape, 4): the largest radius of the ladder, k (about so many records are to be
    # longer), the epsilon of the choice (0: too few records for one, the largest radius is taken),
    # and the rho that it leaves to the noise
    choices: Vector
    uniforms: Vector  # in [0, 1), shape (CHOICES,): each is the luck of one choice


def picture(scenario: Scenario) -> Picture:
    """Return the picture for the law, tail, offset, budget and seed of `scenario`, in the plane.

    A hard instance, which has one law for each n and budget, gives way to the skewed Pareto law.
    """
    law = "skewed-pareto" if scenario.distribution in HARD_INSTANCES else scenario.distribution
    base = Scenario(
        methods=(SimpleClipping.card.slug,),
        distribution=law,
        n=SIZES[-1],
        d=2,
        margin=scenario.margin,
        offset=scenario.offset,
        diameter=scenario.diameter,
        axis=None,
        grid=(),
        seed=scenario.seed,
    )
    epsilon = 1.0 if scenario.epsilon is None else scenario.epsilon
    places = ((SIZES, scenario.n), (EPSILONS, epsilon), (ORDERS, scenario.p))
    n, k, order = (_nearest(values, wanted) for values, wanted in places)
    return _picture(base, scenario.delta or USUAL_DELTA, (n, k, order))


@lru_cache(maxsize=8)
def _picture(base: Scenario, delta: float, start: tuple[int, int, int]) -> Picture:
    seed = base.seed
    records, means = [], []
    radii = np.empty((len(ORDERS), len(SIZES), len(EPSILONS)))
    rhos = np.empty(len(EPSILONS))
    ladders = [np.empty(0)] * len(SIZES)
    choices = np.empty((*radii.shape, 4))
    for i, order in enumerate(ORDERS):
        problem = replace(base, p=order).validate(LIBRARY).instance.problem
        assert isinstance(problem, MeanEstimation)
        records.append(problem.distribution.sample(SIZES[-1], stream(seed, "picture", 0)).x)
        means.append(problem.distribution.mean)
        for j, n in enumerate(SIZES):
            for k, epsilon in enumerate(EPSILONS):
                setting = problem.setting(n, ApproxDP(epsilon=epsilon, delta=delta))
                plan = SimpleClipping().plan(setting)
                radii[i, j, k], rhos[k] = plan.clip_radius, plan.rho
                choice = adaptive_plan(setting)
                ladders[j] = choice.radii / choice.top_radius
                choices[i, j, k] = (
                    choice.top_radius,
                    choice.target,
                    0.0 if choice.mode == "blind" else choice.epsilon,
                    choice.release_rho,
                )
    # in units of its standard deviation, drawn as that of a run
    rng, unit = stream(seed, "picture noise", 0), Ledger(ZCDP(rho=1.0))
    noise = unit.gaussian(
        np.zeros(2 * RELEASES), l2_sensitivity=math.sqrt(2), rho=1.0, rng=rng, label="picture"
    )
    return Picture(
        law=base.distribution,
        delta=delta,
        sizes=SIZES,
        epsilons=EPSILONS,
        orders=ORDERS,
        start=start,
        records=np.array(records),
        means=np.array(means),
        laws=tuple(_law(base, order) for order in ORDERS),
        rhos=rhos,
        radii=radii,
        noise=noise.reshape(RELEASES, 2),
        ladders=tuple(ladders),
        choices=choices,
        uniforms=stream(seed, "picture choices", 0).random(CHOICES),
    )


@lru_cache(maxsize=8 * len(ORDERS))
def _law(base: Scenario, order: float) -> ClippedLaw:
    problem = replace(base, p=order).validate(LIBRARY).instance.problem
    assert isinstance(problem, MeanEstimation)
    return clipped_law(problem.distribution, RADII, stream(base.seed, "picture law", 0))


def adaptive_plan(setting: Setting) -> AdaptivePlan:
    """Return how a radius is chosen privately, about the centre of the picture."""
    plan = AdaptiveClipping().plan(setting)
    return plan if plan.centre is None else AdaptiveClipping(tuning="theory").plan(setting)


def _nearest(values: Sequence[float], wanted: float) -> int:
    """Return the position of the value nearest to `wanted`, on a logarithmic scale."""
    return bisect([math.sqrt(a * b) for a, b in pairwise(values)], wanted)
