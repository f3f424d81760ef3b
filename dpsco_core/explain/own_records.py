"""The private mean of one's own numbers: every method on the records themselves.

What is public is given: a guess of the mean, a bound on its distance, a unit, the order of the
moment, the budget. A method then sees the records as (number - guess) / unit, through the ledger.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.catalogue import default_methods, make_method, method_card
from dpsco_core.data import DenseRows
from dpsco_core.fields import span
from dpsco_core.methods.base import released
from dpsco_core.methods.mean import SimpleClipping
from dpsco_core.methods.mean.base import hinge_bias
from dpsco_core.privacy.budget import Budget
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems import MeanEstimation
from dpsco_core.runs.study import planned
from dpsco_core.scenario import DEFAULT_GRIDS, Scenario

MEAN = MeanEstimation.card.slug


@dataclass(frozen=True, kw_only=True)
class Public:
    """What is known of the numbers without a look at them, in their unit."""

    guess: float  # a guess of their mean
    within: float  # so far from the guess the true mean is at most
    unit: float  # the p-th root of a bound on their p-th central moment

    def __post_init__(self) -> None:
        require(math.isfinite(self.guess), "guess", "a finite number", self.guess)
        for name in ("within", "unit"):
            value = getattr(self, name)
            require(0 < value < math.inf, name, "a finite number above 0", value)
        least, most = span("diameter")[:2]  # The diameter is in units.
        must = f"{least / 2 * self.unit:g} to {most / 2 * self.unit:g} at unit={self.unit:g}"
        require(least <= 2 * self.within / self.unit <= most, "within", must, self.within)


@dataclass(frozen=True, kw_only=True)
class OwnRelease:
    """What a method released, in the numbers' unit."""

    method: str  # slug
    value: float = math.nan
    clip: float = math.nan  # so far from the guess a record counts in full; NaN if none is clipped
    spent: Budget | None = None  # None for a method without privacy
    refusal: str = ""  # why it cannot run
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ClipAdvice:
    """Where simple clipping clips, in the numbers' unit, and why there."""

    radius: float  # R
    low: float  # the guess minus R, and plus R
    high: float
    noise: float  # standard deviation
    bias: float  # the most that clipping can move the mean of any law with this moment
    clipped: int  # numbers beyond: this looks at them


def of_numbers(now: Scenario, *, law: str, order: float, count: int) -> Scenario:
    """Return `now` as the estimation of the mean of so many numbers, in one dimension."""
    methods = now.methods
    if now.problem != MEAN or now.level == "user":
        methods = default_methods(MEAN, "item")
    axis, grid = now.axis, now.grid
    if axis in ("d", "m", "q"):
        axis, grid = "n", DEFAULT_GRIDS["n"]
    return replace(
        now,
        problem=MEAN,
        methods=methods,
        distribution=law,
        p=order,
        n=count,
        d=1,
        m=1,
        geometry="l2",
        q=None,
        axis=axis,
        grid=grid,
    )


def point_of(matching: Scenario, public: Public) -> Scenario:
    """Return the single point at which methods plan for the numbers: all of it is public."""
    return replace(
        matching,
        axis=None,
        grid=(),
        trials=1,
        diameter=2 * public.within / public.unit,
        offset=0.0,
        tuning="practical",
    ).validate()


def clip_advice(values: Vector, public: Public, point: Scenario) -> ClipAdvice:
    """Return where simple clipping clips; raises `NotApplicable` where it cannot run."""
    plan = SimpleClipping(calibration=point.calibration).plan(point.setting)
    radius = plan.clip_radius * public.unit
    beyond = plan.clip_radius - point.setting.constants.mean_gradient_bound
    return ClipAdvice(
        radius=radius,
        low=public.guess - radius,
        high=public.guess + radius,
        noise=plan.noise_std * public.unit,
        bias=hinge_bias(beyond, point.p) * public.unit,
        clipped=int(np.count_nonzero(np.abs(values - public.guess) > radius)),
    )


def fresh_releases(values: Vector, public: Public, point: Scenario) -> Sequence[OwnRelease]:
    """Return `own_releases` with noise from the operating system: who knows a seed removes it."""
    return own_releases(values, public, point, np.random.default_rng())


def own_releases(
    values: Vector,
    public: Public,
    point: Scenario,  # the scenario of `point_of`
    rng: np.random.Generator,
) -> Sequence[OwnRelease]:
    """Return what every method of `point` releases of the numbers; each spends the whole budget."""
    require(len(values) == point.n, "numbers", f"as many as n={point.n}", len(values))
    with np.errstate(over="ignore"):  # what is infinite counts as a record that is not finite
        records = DenseRows(((values - public.guess) / public.unit)[:, None])
    return [_release(slug, records, public, point, rng) for slug in point.methods]


def _release(
    slug: str, records: DenseRows, public: Public, point: Scenario, rng: np.random.Generator
) -> OwnRelease:
    method = make_method(slug, point.calibration, point.tuning)
    try:
        plan = planned(point, slug)
    except NotApplicable as refusal:
        return OwnRelease(method=slug, refusal=str(refusal))
    release = released(method, records, plan, Ledger(point.budget), rng)
    limits = (release.diagnostics.get(name, math.nan) for name in ("clip_radius", "clip_limit"))
    clip = next((limit for limit in limits if not math.isnan(limit)), math.nan)
    return OwnRelease(
        method=slug,
        value=public.guess + public.unit * float(release.value[0]),
        clip=clip * public.unit,
        spent=None if method_card(slug).privacy == "none" else release.ledger.spent(),
        notes=release.notes,
    )
