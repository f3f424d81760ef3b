"""Why heavy tails and privacy do not get along: the numbers of the page that tells it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from dpsco_core.base.arrays import Vector
from dpsco_core.base.law_classes import COORDINATE
from dpsco_core.base.search import smallest
from dpsco_core.catalogue import bound, bounds_for
from dpsco_core.data import DenseRows
from dpsco_core.explain.error_parts import ClippedLaw, SquaredParts
from dpsco_core.explain.picture import EPSILONS, ORDERS, REACH, SIZES, Picture, picture
from dpsco_core.methods.mean import SimpleClipping
from dpsco_core.methods.mean.base import clipped_mean
from dpsco_core.privacy.mechanisms import gaussian_noise_std
from dpsco_core.results.findings import times_to_halve
from dpsco_core.results.report import evaluate
from dpsco_core.scenario import Scenario

EPSILON, DELTA = 1.0, 1e-6
SCENARIO = Scenario(
    distribution="skewed-pareto",
    n=200,
    d=2,
    p=2.0,
    epsilon=EPSILON,
    delta=DELTA,
    methods=("mean.sample", "mean.clipped", "mean.adaptive"),
    axis=None,
    grid=(),
)
LIGHT = 10.0  # the tail index that the heavy tail is compared with
MANY = 1000 * SCENARIO.n  # records, at which the price is told a second time
RADII = np.geomspace(*REACH, 81)  # of the picture's curve of the error


@dataclass(frozen=True, kw_only=True)
class AtRadius:
    """What clipping at a radius does to the records that are shown, and to the error.

    The parts and the error are root mean squares over records and noise: of the parts, only the
    squares add up.
    """

    radius: float
    clipped: int  # how many of the records that are shown
    moved: float  # by how much clipping moves the average of these
    sampling: float
    bias: float
    noise: float
    error: float


@dataclass(frozen=True, kw_only=True)
class Side:
    """What one tail index makes of the records, and of privacy."""

    p: float
    at: tuple[int, int, int]  # the places of n, epsilon and p among those of the picture
    # half of the records lie within `middle` of the centre, and none lies beyond `farthest`
    middle: float
    farthest: float
    shown: float  # the error of the average of the records that are shown
    plain: float  # the root mean square error of an average without clipping and noise
    best: AtRadius  # at the radius where the error is least
    # that error over `plain`, with the records that are shown and with `MANY`
    price: float
    later: float
    # what every (epsilon, delta)-private algorithm errs by in the worst case: the largest explicit
    # lower bound on the mean error
    floor: float
    # how many times the records halve the error that privacy adds, by the proven rate of simple
    # clipping: 2^(p/(p-1))
    halving: float
    floor_halving: float  # the same for `floor`


@dataclass(frozen=True, kw_only=True)
class Why:
    """The numbers of the page."""

    heavy: Side
    light: Side
    # at the heavy tail, a quarter of the best radius and four times it
    small: AtRadius
    large: AtRadius
    # how often a spy who knows all else is right about one record, at most, when two are equally
    # likely and the noise is Gaussian
    guess: float
    # the same for the first record and the place that moves the average most from there, at the
    # best radius of the heavy tail: what the picture shows
    seen_guess: float
    limit: float  # the same for any (epsilon, delta)-private method


@lru_cache(maxsize=1)
def why() -> Why:
    """Return the numbers at `SCENARIO`, from the records that the picture shows."""
    heavy, light = side(SCENARIO.p), side(LIGHT)
    odds = math.exp(EPSILON)
    return Why(
        heavy=heavy,
        light=light,
        small=clipping(SCENARIO.p, heavy.best.radius / 4),
        large=clipping(SCENARIO.p, heavy.best.radius * 4),
        guess=float(ndtr(math.sqrt(2 * _rho()) / 2)),
        seen_guess=_seen_guess(SCENARIO.p, heavy.best.radius),
        limit=(odds + DELTA) / (odds + 1),
    )


def side(p: float) -> Side:
    """Return what a tail index makes of the records and of privacy."""
    records, mean = _seen(p)
    lengths = np.linalg.norm(records, axis=1)
    point = replace(SCENARIO, p=p)
    rate = bound(SimpleClipping.card.rate)
    best = _best(p, SCENARIO.n)
    return Side(
        p=p,
        at=_at(p),
        middle=float(np.median(lengths)),
        farthest=float(lengths.max()),
        shown=float(np.linalg.norm(records.mean(axis=0) - mean)),
        plain=_plain(p, SCENARIO.n),
        best=clipping(p, best),
        price=parts(p, SCENARIO.n, best).error / _plain(p, SCENARIO.n),
        later=parts(p, MANY, _best(p, MANY)).error / _plain(p, MANY),
        floor=_floor(point),
        halving=times_to_halve(_pace(point, lambda at: evaluate(at, rate).terms["privacy"])),
        floor_halving=times_to_halve(_pace(point, _floor)),
    )


def clipping(p: float, radius: float) -> AtRadius:
    """Return what clipping the records at a radius does, and the noise that it needs."""
    records, _ = _seen(p)
    release = clipped_mean(DenseRows(records), radius)
    found = parts(p, len(records), radius)
    return AtRadius(
        radius=radius,
        clipped=int((np.linalg.norm(records, axis=1) > radius).sum()),
        moved=float(np.linalg.norm(release - records.mean(axis=0))),
        sampling=math.sqrt(found.sampling),
        bias=math.sqrt(found.bias),
        noise=math.sqrt(found.noise),
        error=found.error,
    )


def parts(p: float, n: int, radius: float) -> SquaredParts:
    """Return the parts of the mean squared error of simple clipping, at the page's budget."""
    return _law(p).parts(n, radius, gaussian_noise_std(2 * radius / n, _rho()))


def _seen_guess(p: float, radius: float) -> float:
    records, _ = _seen(p)
    n = len(records)
    shift = (min(float(np.linalg.norm(records[0])), radius) + radius) / n  # to the far side
    return float(ndtr(shift / gaussian_noise_std(2 * radius / n, _rho()) / 2))


def _best(p: float, n: int) -> float:
    """Return the radius of `RADII` at which the error is least."""
    return smallest((float(r) for r in RADII), lambda r: parts(p, n, r).total, of="radius")


def _plain(p: float, n: int) -> float:
    return math.sqrt(_law(p).whole / n)


def _at(p: float) -> tuple[int, int, int]:
    return SIZES.index(SCENARIO.n), EPSILONS.index(EPSILON), ORDERS.index(p)


def _shown() -> Picture:
    return picture(SCENARIO)


def _law(p: float) -> ClippedLaw:
    return _shown().laws[ORDERS.index(p)]


def _rho() -> float:
    return float(_shown().rhos[EPSILONS.index(EPSILON)])


def _seen(p: float) -> tuple[Vector, Vector]:
    """Return the picture's records and their true mean."""
    n, _, order = _at(p)
    return _shown().records[order, : SIZES[n]], _shown().means[order]


def _floor(point: Scenario) -> float:
    """Return the largest lower bound that binds every (epsilon, delta) algorithm."""
    cards = (b.card for b in bounds_for(point.problem, point.level))
    found = (
        evaluate(point, bound(card.slug))
        for card in cards
        if (card.kind, card.constant, card.quantity) == ("lower", "explicit", "l2 error")
        and (card.laws, card.privacy) in ((COORDINATE, "approx"), (COORDINATE, "none"))
    )
    return max(one.value for one in found if not one.failures)


def _pace(point: Scenario, value: Callable[[Scenario], float]) -> float:
    """Return the exponent of n in a value."""
    return math.log2(value(replace(point, n=2 * point.n)) / value(point))
