r"""The private mean of one's own numbers: every method on the records themselves.

What is public is given: a guess of the mean, a bound on its distance, a unit, the order of the
moment, the budget. A method then sees the records as (number - guess) / unit, through the ledger.

Of d columns a row is one record in d dimensions, and each column has public values of its own: the
p-th central moment of every coordinate is then at most 1, and the mean's norm is at most
:math:`\sqrt{\sum_j(w_j/u_j)^2}` for distances w and units u. Nothing is claimed of how the columns
depend on each other: the moment in any direction is bounded by :math:`\sqrt d`, by Minkowski's
inequality.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.bounds.classes import of_class
from dpsco_core.catalogue import default_methods, make_method, method_card
from dpsco_core.data import DenseRows
from dpsco_core.data.rows import row_norms
from dpsco_core.explain.tails import Tail, heaviest, joint_order
from dpsco_core.fields import span
from dpsco_core.methods.base import released
from dpsco_core.methods.mean import SimpleClipping
from dpsco_core.methods.records.base import hinge_bias, tail_excess
from dpsco_core.privacy.budget import Budget
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems import MeanEstimation, Setting
from dpsco_core.runs.study import planned
from dpsco_core.scenario import DEFAULT_GRIDS, Scenario

MEAN = MeanEstimation.card.slug


@dataclass(frozen=True, kw_only=True)
class Public:
    """What is known of a column's numbers without looking at them, in their unit."""

    guess: float  # a guess of the mean of the column
    within: float  # the largest distance of the true mean from the guess
    unit: float  # the p-th root of a bound on the p-th central moment

    def __post_init__(self) -> None:
        """Refuse a guess, a distance or a unit that is not finite or outside its range."""
        require(math.isfinite(self.guess), "guess", "a finite number", self.guess)
        for name in ("within", "unit"):
            value = getattr(self, name)
            require(0 < value < math.inf, name, "a finite number above 0", value)
        smallest, largest = span("diameter")[:2]  # The diameter is in units of the moment.
        must = f"{smallest / 2 * self.unit:g} to {largest / 2 * self.unit:g} at unit={self.unit:g}"
        require(smallest <= 2 * self.within / self.unit <= largest, "within", must, self.within)


@dataclass(frozen=True, kw_only=True)
class OwnRelease:
    """The release of one method, in the unit of the numbers.

    The distance beyond which it clips is in `distance_unit`.
    """

    method: str  # slug of the method
    # the released mean of every column; empty if the method cannot run
    values: tuple[float, ...] = ()
    # the distance from the guess up to which a record counts in full; NaN if none is clipped
    clip: float = math.nan
    # the budget that the release spent; None for a method without privacy
    spent: Budget | None = None
    refusal: str = ""  # the reason why the method cannot run
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ClipAdvice:
    """The clip radius of simple clipping and its reasons; distances are in `distance_unit`."""

    radius: float  # the clip radius R
    low: tuple[float, ...]  # the guess minus R and the guess plus R, in the unit of every column
    high: tuple[float, ...]
    noise: float  # the standard deviation of the noise in every column
    bias: float  # the largest distance by which clipping moves the mean of a law with this moment
    # the number of records beyond the radius; this number is computed from the records
    clipped: int


def distance_unit(publics: Sequence[Public]) -> float:
    """Return the unit of distances between records, in the unit of the numbers.

    For several columns it is 1, because every column is divided by its unit, which removes its
    scale.
    """
    return publics[0].unit if len(publics) == 1 else 1.0


def mean_radius(publics: Sequence[Public]) -> float:
    """Return a bound on the l2 norm of the records' mean, after `scaled`."""
    return math.hypot(*(one.within / one.unit for one in publics))


def scaled(values: Vector, publics: Sequence[Public]) -> Vector:
    """Return records of shape (n, d), centred at the guesses and divided by the units."""
    guesses, units = (
        np.array([getattr(one, name) for one in publics]) for name in ("guess", "unit")
    )
    # A record whose scaled value overflows counts as a record that is not finite.
    with np.errstate(over="ignore"):
        records: Vector = (values - guesses) / units
    return records


def suggested_public(fit: Tail, unit: float) -> Public:
    """Return round numbers near those of a column, for fields that a reader is to change.

    They are read from the column itself: with them a release is not private. `unit` is the p-th
    root of the column's p-th central moment.
    """
    digits = -math.floor(math.log10(unit))  # the decimal digits that state a guess to one unit
    return Public(
        guess=round(fit.median, digits),
        within=float(f"{2 * unit:.2g}"),
        unit=float(f"{unit:.2g}"),
    )


def fitted(
    fits: Sequence[Tail],
    scenario: Scenario,
    *,
    orders: Sequence[float],
    margins: Sequence[float],
    count: int,
) -> Scenario:
    """Return the scenario whose law, order p and sizes are those of columns.

    It has a dimension for each column, and the column with the heaviest tail decides the law. The
    margin is smaller than the scenario's if p = 2 needs that, and p is below 2 only if there is no
    variance.
    """
    lead = fits[heaviest(fits)]
    least_order = 2.0 if lead.index > 2 else 0.0
    order = joint_order(fits, [p for p in orders if p >= least_order], scenario.margin)
    spare = [m for m in margins if order + m <= lead.index]
    if lead.kind == "heavy" and spare and max(spare) < scenario.margin:
        scenario = replace(scenario, margin=max(spare))
    return of_numbers(scenario, law=lead.law, order=order, count=count, columns=len(fits))


def of_numbers(
    scenario: Scenario, *, law: str, order: float, count: int, columns: int = 1
) -> Scenario:
    """Return `scenario` as mean estimation from the given numbers of records and columns."""
    methods = scenario.methods
    if scenario.problem != MEAN or scenario.level == "user":
        methods = default_methods(MEAN, "item")
    axis, grid = scenario.axis, scenario.grid
    if axis in ("d", "m", "q"):
        axis, grid = "n", DEFAULT_GRIDS["n"]
    return replace(
        scenario,
        problem=MEAN,
        methods=methods,
        distribution=law,
        p=order,
        n=count,
        d=columns,
        m=1,
        alike=0.0,
        geometry="l2",
        q=None,
        axis=axis,
        grid=grid,
    )


def point_of(matching: Scenario, publics: Sequence[Public]) -> Scenario:
    """Return the single point at which methods plan for the numbers: all of it is public.

    Raises `InvalidInput` where the distances of all columns together are out of range.
    """
    require(len(publics) == matching.d, "columns", f"as many as d={matching.d}", len(publics))
    largest = span("diameter")[1] / 2
    must = f"at most {largest:g} units in the l2 norm over the columns"
    require(mean_radius(publics) <= largest, "within", must, mean_radius(publics))
    return replace(
        matching,
        axis=None,
        grid=(),
        trials=1,
        diameter=2 * mean_radius(publics),
        offset=0.0,
        tuning="practical",
    ).validate()


def setting_of_records(point: Scenario) -> Setting:
    """Return the setting of the records for methods; it assumes nothing on dependence."""
    return point.setting if point.d == 1 else of_class(point.setting)


def clip_advice(values: Vector, publics: Sequence[Public], point: Scenario) -> ClipAdvice:
    r"""Return where simple clipping clips the records, with its noise and its largest bias.

    Raises `NotApplicable` where simple clipping cannot run.

    Clipping moves the mean by at most the mean excess of the norm over R. The norm of a centred
    record has a p-th moment of at most :math:`d^{p/2}`, by Minkowski's inequality for its square:
    divided by :math:`\sqrt d` it is one of those that `tail_excess` bounds. A single column has a
    sign, and `hinge_bias` is smaller. A radius short of the mean's bound adds what it is short of.
    """
    setting = setting_of_records(point)
    plan = SimpleClipping(calibration=point.calibration).plan(setting)
    width = math.sqrt(point.d)
    deviation = (plan.statistic.radius - setting.constants.mean_gradient_bound) / width
    if point.d == 1:
        excess = hinge_bias(deviation, point.p)
    else:
        excess = tail_excess(deviation, point.p) + max(-deviation, 0.0)
    measure = distance_unit(publics)
    return ClipAdvice(
        radius=plan.statistic.radius * measure,
        low=tuple(one.guess - plan.statistic.radius * one.unit for one in publics),
        high=tuple(one.guess + plan.statistic.radius * one.unit for one in publics),
        noise=plan.noise.noise_std * measure,
        bias=width * excess * measure,
        clipped=int(
            np.count_nonzero(
                _distances_from_guesses(values, publics) > plan.statistic.radius * measure
            )
        ),
    )


def _distances_from_guesses(values: Vector, publics: Sequence[Public]) -> Vector:
    """Return the distances of records from the guesses, in `distance_unit`."""
    if len(publics) == 1:
        return np.abs(values[:, 0] - publics[0].guess)
    return row_norms(scaled(values, publics))


def fresh_releases(
    values: Vector, publics: Sequence[Public], point: Scenario
) -> Sequence[OwnRelease]:
    """Return `own_releases` with noise of the operating system, which no seed can repeat."""
    return own_releases(values, publics, point, np.random.default_rng())


def own_releases(
    # the numbers, shape (n, d); a row is a record, and a column is a column of the file
    values: Vector,
    publics: Sequence[Public],  # the public knowledge of each column
    point: Scenario,  # the scenario that `point_of` returns
    rng: np.random.Generator,
) -> Sequence[OwnRelease]:
    """Return the release of every method of `point`; each spends the whole budget."""
    require(len(values) == point.n, "numbers", f"as many as n={point.n}", len(values))
    records = DenseRows(scaled(values, publics))
    return [_release_by_method(slug, records, publics, point, rng) for slug in point.methods]


def _release_by_method(
    slug: str,
    records: DenseRows,
    publics: Sequence[Public],
    point: Scenario,
    rng: np.random.Generator,
) -> OwnRelease:
    """Return the released means by one method, or an empty release with its refusal."""
    method = make_method(slug, point.calibration, point.tuning)
    try:
        plan = planned(point, slug, setting_of_records(point))
    except NotApplicable as refusal:
        return OwnRelease(method=slug, refusal=str(refusal))
    release = released(method, records, plan, Ledger(point.budget), rng)
    limits = (release.diagnostics.get(name, math.nan) for name in ("clip_radius", "clip_limit"))
    clip = next((limit for limit in limits if not math.isnan(limit)), math.nan)
    return OwnRelease(
        method=slug,
        values=tuple(
            public.guess + public.unit * float(value)
            for public, value in zip(publics, release.value, strict=True)
        ),
        clip=clip * distance_unit(publics),
        spent=None if method_card(slug).privacy == "none" else release.ledger.spent(),
        notes=release.notes,
    )
