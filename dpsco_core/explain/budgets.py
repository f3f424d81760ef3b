"""The numbers of the budget calculator: conversions, composition, shuffling, subsampling.

Everything is for replace-one neighbours. The mathematics is that of `dpsco_core.privacy`; here it
is laid out as curves and rows.
"""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import one_of, real, whole
from dpsco_core.privacy.amplification import Route, amplify
from dpsco_core.privacy.budget import (
    EPSILON_MAX,
    RHO_MAX,
    ZCDP,
    ApproxDP,
    Budget,
    PureDP,
    gaussian_epsilon,
    gaussian_rho,
    repeated_pure_epsilon,
    zcdp_epsilon,
    zcdp_rho,
)
from dpsco_core.privacy.concentration import laplace_rho, pure_rho
from dpsco_core.privacy.shuffled_steps import shuffle_steps
from dpsco_core.privacy.subsampling import batched_gaussian_epsilon, subsample

Kind = Literal["approx", "zcdp", "pure"]

KINDS: tuple[Kind, ...] = ("approx", "zcdp", "pure")
ROUTES: tuple[Route, ...] = get_args(Route)
MOST_RELEASES = 1_000_000
MOST_RECORDS = 10_000_000
READ_AT = 1e-6  # the delta at which pure and zCDP budgets are converted, unless one is given


def noise_multiplier(rho: float) -> float:
    r"""Return the noise of a Gaussian release over its l2 sensitivity, :math:`1/\sqrt{2\rho}`."""
    return 1 / math.sqrt(2 * rho)


@dataclass(frozen=True, kw_only=True)
class Point:
    """A budget, in the notion in which it is given, with the delta at which epsilon is read."""

    kind: Kind
    epsilon: float = 1.0  # the epsilon of a pure or an (epsilon, delta) budget; not used by zCDP
    # the delta of an (epsilon, delta) budget, in (0, 1); a pure or a zCDP budget is converted to
    # (epsilon, delta)-DP at this delta
    delta: float = 1e-6
    rho: float = 0.5  # the rho of a zCDP budget; not used by other budgets

    def __post_init__(self) -> None:
        """Refuse an unknown kind of budget, and parameters outside their ranges."""
        one_of("budget", self.kind, KINDS)
        real("delta", self.delta, 1e-300, 0.999)
        if self.kind == "zcdp":
            real("rho", self.rho, 1e-12, RHO_MAX)
        else:
            real("epsilon", self.epsilon, 1e-6, EPSILON_MAX)

    @property
    def budget(self) -> Budget:
        """The budget as an object of its privacy notion."""
        if self.kind == "approx":
            return ApproxDP(epsilon=self.epsilon, delta=self.delta)
        return ZCDP(rho=self.rho) if self.kind == "zcdp" else PureDP(epsilon=self.epsilon)


def point_of(epsilon: float | None, delta: float | None, rho: float | None) -> Point:
    """Return the budget that is given, by default (1, 1e-6)-DP, as a point of the calculator.

    A delta of 0 is pure DP. Raises `InvalidInput` if both epsilon and rho are given, or one is out
    of range.

    Examples
    --------
    >>> point_of(None, 0.0, None).budget
    PureDP(epsilon=1.0)
    """
    read_at = delta or READ_AT
    if rho is not None:
        require(epsilon is None, "epsilon", "left out beside rho", epsilon)
        return Point(kind="zcdp", rho=rho, delta=read_at)
    return Point(
        kind="pure" if delta == 0 else "approx",
        epsilon=1.0 if epsilon is None else epsilon,
        delta=read_at,
    )


@dataclass(frozen=True, kw_only=True)
class Conversion:
    """One conversion between rho and (epsilon, delta)."""

    # The name stands for Bun and Steinke's formula ("paper"), the best formula for every zCDP
    # mechanism ("tight"), the exact curve of Gaussian noise, or the exact rho of Laplace noise.
    name: Literal["paper", "tight", "gaussian", "laplace"]
    rho: float  # the rho that the conversion allows to spend
    epsilon: float  # the epsilon that the conversion proves at the point's delta

    @property
    def noise_multiplier(self) -> float:
        """The noise multiplier of a Gaussian release that spends rho."""
        return noise_multiplier(self.rho)

    @property
    def mu(self) -> float:
        r"""The distance :math:`\sqrt{2\rho}` of two unit Gaussians of the same privacy."""
        return math.sqrt(2 * self.rho)


def conversions(point: Point) -> tuple[Conversion, ...]:
    r"""Return the conversions of a budget between rho and (epsilon, delta).

    Under an (epsilon, delta) budget a conversion has the rho that it allows, under a zCDP budget
    the epsilon that it proves at delta. A pure budget implies :math:`\varepsilon^2/2`-zCDP in the
    papers and :math:`\varepsilon\tanh(\varepsilon/2)`-zCDP at best. It is converted like these zCDP
    budgets, but not by the Gaussian curve, which such noise does not have, and its epsilon is never
    above the pure epsilon itself.

    Examples
    --------
    >>> for conversion in conversions(Point(kind="approx", epsilon=1.0, delta=1e-6)):
    ...     print(conversion.name, round(conversion.rho, 5), round(conversion.noise_multiplier, 3))
    paper 0.01747 5.35
    tight 0.02436 4.531
    gaussian 0.02801 4.225
    """
    e, delta = point.epsilon, point.delta
    if point.kind == "approx":
        return (
            Conversion(name="paper", rho=zcdp_rho(e, delta, "paper"), epsilon=e),
            Conversion(name="tight", rho=zcdp_rho(e, delta), epsilon=e),
            Conversion(name="gaussian", rho=gaussian_rho(e, delta), epsilon=e),
        )
    if point.kind == "pure":
        printed, rho = e * e / 2, pure_rho(e)
        return (
            Conversion(
                name="paper", rho=printed, epsilon=min(e, zcdp_epsilon(printed, delta, "paper"))
            ),
            Conversion(name="tight", rho=rho, epsilon=min(e, zcdp_epsilon(rho, delta))),
        )
    rho = point.rho
    return (
        Conversion(name="paper", rho=rho, epsilon=zcdp_epsilon(rho, delta, "paper")),
        Conversion(name="tight", rho=rho, epsilon=zcdp_epsilon(rho, delta)),
        Conversion(name="gaussian", rho=rho, epsilon=gaussian_epsilon(rho, delta)),
    )


def laplace_conversion(point: Point) -> Conversion | None:
    """Return the conversion of Laplace noise under a pure budget into zCDP; None for other budgets.

    Examples
    --------
    >>> conversion = laplace_conversion(Point(kind="pure", epsilon=0.1))
    >>> round(conversion.rho, 8)
    0.00483742
    """
    if point.kind != "pure":
        return None
    e, rho = point.epsilon, laplace_rho(point.epsilon)
    return Conversion(name="laplace", rho=rho, epsilon=min(e, zcdp_epsilon(rho, point.delta)))


def every_conversion(point: Point) -> tuple[Conversion, ...]:
    """Return all conversions of a budget; that of Laplace noise only if the budget is pure."""
    laplace = laplace_conversion(point)
    return (*conversions(point), *(() if laplace is None else (laplace,)))


def equal_share(point: Point, releases: int) -> Budget:
    """Return what each of equal releases may spend, if all of them together cost the budget.

    Under a pure budget the share is pure, and otherwise it is the rho of a Gaussian release.

    Examples
    --------
    >>> equal_share(Point(kind="zcdp", rho=0.5), 4)
    ZCDP(rho=0.125)
    """
    if point.kind == "pure":
        return PureDP(epsilon=point.epsilon / releases)
    return ZCDP(rho=conversions(point)[-1].rho / releases)


def approximate(point: Point) -> Point:
    """Return a budget as an (epsilon, delta) one at its delta, by the best conversion."""
    return Point(kind="approx", epsilon=conversions(point)[-1].epsilon, delta=point.delta)


def guess_ceiling(epsilon: float, delta: float = 0.0) -> float:
    r"""Return the largest probability of a right guess about a record, by (epsilon, delta).

    .. math:: \frac{e^\varepsilon+\delta}{1+e^\varepsilon},

    for two neighbours that are equally likely (Wasserman and Zhou 2010, as a Bayes test): the two
    probabilities of error add up to at least :math:`2(1-\delta)/(1+e^\varepsilon)`.

    Examples
    --------
    >>> round(guess_ceiling(1.0), 3)
    0.731
    """
    return 1 - (1 - delta) / (1 + math.exp(epsilon)) if epsilon < 700 else 1.0


@dataclass(frozen=True, kw_only=True)
class Promise:
    """The promise of a budget for one kind of neighbours."""

    # Whether a neighbour replaces one record, or removes one record from a sum over a public number
    # of records.
    neighbours: Literal["replace", "remove"]
    epsilon: float
    delta: float

    @property
    def guess(self) -> float:
        """The largest share of right guesses between two neighbours; see `guess_ceiling`."""
        return guess_ceiling(self.epsilon, self.delta)


def promises(point: Point) -> tuple[Promise, Promise]:
    r"""Return the promises of a budget to a record that is replaced and to one that is removed.

    A record of a ball of radius R that is replaced moves a sum by up to 2R, one that is taken out
    by up to R. The same noise is then :math:`\varepsilon/2`-DP, or :math:`\rho/4`-zCDP. For zCDP
    and (epsilon, delta) the noise is Gaussian, and epsilon is on its exact curve.

    Examples
    --------
    >>> [round(p.epsilon, 2) for p in promises(Point(kind="approx", epsilon=1.0, delta=1e-6))]
    [1.0, 0.48]
    """
    if point.kind == "pure":
        full, half, delta = point.epsilon, point.epsilon / 2, 0.0
    else:
        best, delta = conversions(point)[-1], point.delta
        full, half = best.epsilon, gaussian_epsilon(best.rho / 4, delta)
    return (
        Promise(neighbours="replace", epsilon=full, delta=delta),
        Promise(neighbours="remove", epsilon=half, delta=delta),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class BudgetCurves:
    """Epsilon at one delta as a function of rho, by three conversions; arrays of one shape."""

    rho: Vector
    paper: Vector
    tight: Vector
    gaussian: Vector


def epsilon_curves(
    delta: float, low: float = 1e-4, high: float = 10.0, count: int = 41
) -> BudgetCurves:
    """Return the epsilon at `delta` by each conversion, for `count` rhos from `low` to `high`."""
    rhos = np.geomspace(low, high, count)
    return BudgetCurves(
        rho=rhos,
        paper=np.array([zcdp_epsilon(float(r), delta, "paper") for r in rhos]),
        tight=np.array([zcdp_epsilon(float(r), delta) for r in rhos]),
        gaussian=np.array([gaussian_epsilon(float(r), delta) for r in rhos]),
    )


@dataclass(frozen=True, kw_only=True)
class Composed:
    """The epsilon of k equal releases together at one delta, by four accountings."""

    releases: int
    basic: float  # the sum of the epsilons and of the deltas
    advanced: float  # the theorem of Dwork, Rothblum and Vadhan (2010), for reference
    zcdp: float  # the sum of the rhos, converted by the best formula for every zCDP mechanism
    # The smallest of all: the curve of Gaussian noise at the sum of the rhos. For pure releases it
    # is the optimal composition of `repeated_pure_epsilon`.
    exact: float
    rho: float  # the rho of one release
    # The rho of Laplace noise, the most common pure release; None if the budget is not pure.
    laplace_rho: float | None
    # the delta of `basic`: 0 for pure releases, whose epsilons add up without a delta
    basic_delta: float


def composed(point: Point, releases: int) -> Composed:
    r"""Return the total cost of equal releases, each at the budget of `point`, at its delta.

    A pure budget is that of any :math:`\varepsilon`-DP releases. Basic:
    :math:`k\varepsilon`, at a delta of 0. Advanced:
    :math:`\varepsilon\sqrt{2k\ln(1/\delta)} + k\varepsilon(e^\varepsilon-1)`. zCDP: each has
    :math:`\rho=\varepsilon\tanh(\varepsilon/2)`, and with Laplace noise that of `laplace_rho`.

    Any other budget is that of Gaussian releases, which have the largest rho that it allows. Basic:
    each is :math:`(\varepsilon_0, \delta/k)`-DP. Advanced: each is
    :math:`(\varepsilon_0, \delta/2k)`-DP, and all are
    :math:`\varepsilon_0\sqrt{2k\ln(2/\delta)} + k\varepsilon_0(e^{\varepsilon_0}-1)`. The
    :math:`\varepsilon_0` are those of the exact Gaussian curve.

    Examples
    --------
    >>> bounds = composed(Point(kind="zcdp", rho=0.001), 100)
    >>> [round(x, 2) for x in (bounds.basic, bounds.advanced, bounds.zcdp, bounds.exact)]
    [21.23, 17.09, 2.14, 1.99]
    >>> bounds = composed(Point(kind="pure", epsilon=1.0), 10)
    >>> [round(x, 2) for x in (bounds.basic, bounds.advanced, bounds.zcdp, bounds.exact)]
    [10.0, 33.81, 19.55, 10.0]
    """
    whole("releases", releases, 1, MOST_RELEASES)
    rho, delta = conversions(point)[-1].rho, point.delta
    # The composed rho must be a valid budget; its limit is stated as a number of releases.
    largest = max(1, math.floor(RHO_MAX / rho))
    require(releases * rho <= RHO_MAX, "releases", f"at most {largest:,} at this budget", releases)
    if point.kind == "pure":
        basic = doubled = point.epsilon
        slack, basic_delta = delta, 0.0
        exact = repeated_pure_epsilon(basic, releases, delta)
    else:
        basic = gaussian_epsilon(rho, delta / releases)
        doubled = gaussian_epsilon(rho, delta / (2 * releases))
        slack, basic_delta = delta / 2, delta
        exact = gaussian_epsilon(releases * rho, delta)
    laplace = laplace_conversion(point)
    growth = math.expm1(doubled) if doubled < 700 else math.inf
    return Composed(
        releases=releases,
        basic=releases * basic,
        advanced=doubled * math.sqrt(2 * releases * math.log(1 / slack))
        + releases * doubled * growth,
        zcdp=zcdp_epsilon(releases * rho, delta),
        exact=exact,
        rho=rho,
        laplace_rho=None if laplace is None else laplace.rho,
        basic_delta=basic_delta,
    )


def release_counts(largest: int) -> tuple[int, ...]:
    """Return the numbers of releases of a curve: 1-2-5 from 1 to `largest`."""
    steps = [d * 10**e for e in range(7) for d in (1, 2, 5)]
    return (*(k for k in steps if k < largest), largest)


@dataclass(frozen=True, kw_only=True)
class Shuffled:
    """The effect of a secret order of n records on the noise of each record's own release."""

    # `"none"` stands for no amplification; `"printed"`, `"closed"` and `"numerical"` are those of
    # `amplify`; `"steps"` is that of `shuffle_steps`, where steps may be adaptive.
    name: str
    # the rho that each record's release may spend; None where a condition of the route fails
    rho: float | None

    @property
    def noise_multiplier(self) -> float | None:
        """The noise over the sensitivity of each release; None if the proof gives no rho."""
        return None if self.rho is None else noise_multiplier(self.rho)


def shuffling(records: int, epsilon: float, delta: float) -> tuple[Shuffled, ...]:
    """Return the budget that each proof for shuffling allows each of `records` releases.

    All of them together are then (epsilon, delta)-DP.
    """
    whole("records", records, 1, MOST_RECORDS)
    ApproxDP(epsilon=epsilon, delta=delta)
    allowed = [Shuffled(name="none", rho=gaussian_rho(epsilon, delta))]
    for route in ROUTES:
        amplification = amplify(records, epsilon, delta, route)
        allowed.append(
            Shuffled(name=route, rho=None if amplification is None else amplification.rho_group)
        )
    allowed.append(Shuffled(name="steps", rho=shuffle_steps(records, epsilon, delta).rho_step))
    return tuple(allowed)


def subsampled(epsilon: float, delta: float, batch: int, count: int) -> ApproxDP:
    """Return the guarantee of an (epsilon, delta)-DP mechanism on a secret batch: `subsample`."""
    _check_batch(batch, count)
    return subsample(ApproxDP(epsilon=epsilon, delta=delta), batch_size=batch, count=count)


def batched(epsilon: float, delta: float, batch: int, count: int, releases: int) -> float:
    """Return the joint epsilon at delta of Gaussian releases on fresh secret batches.

    Each release meets (epsilon, delta) on its own batch of `batch` of `count` records.
    """
    _check_batch(batch, count)
    whole("releases", releases, 1, MOST_RELEASES)
    rho = gaussian_rho(epsilon, delta)
    return batched_gaussian_epsilon(rho, delta, batch_size=batch, count=count, releases=releases)


def _check_batch(batch: int, count: int) -> None:
    """Raise `InvalidInput` unless a batch of this size can be drawn from `count` records."""
    whole("records", count, 1, MOST_RECORDS)
    whole("batch", batch, 1, MOST_RECORDS)
    require(batch <= count, "batch", f"at most the {count:,} records", batch)


def subsampling_curve(
    epsilon: float, delta: float, count: int, releases: int
) -> tuple[Vector, Vector, Vector, Vector]:
    r"""Return the batch sizes and three curves of epsilon over them.

    With q the share of the records in a batch, they are: the epsilon, at q delta, of one release on
    a secret batch that is (epsilon, delta)-DP for it; the linear bound
    :math:`q(e^\varepsilon-1)` on that; and the epsilon, at delta, of `releases` Gaussian releases
    that each have the whole budget and a fresh batch.
    """
    sizes = np.unique(np.geomspace(1, count, 40).round().astype(np.int64))
    exact = [subsampled(epsilon, delta, int(size), count).epsilon for size in sizes]
    epsilons = [batched(epsilon, delta, int(size), count, releases) for size in sizes]
    with np.errstate(over="ignore"):
        linear = sizes / count * np.expm1(epsilon)
    return sizes.astype(float), np.array(exact), linear, np.array(epsilons)
