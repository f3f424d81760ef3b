"""Why heavy tails and privacy do not get along: the numbers of the page that tells it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from dpsco_core.base.arrays import Vector
from dpsco_core.base.search import smallest
from dpsco_core.catalogue import bound, bounds_for
from dpsco_core.data import DenseRows
from dpsco_core.explain.picture import EPSILONS, ORDERS, SIZES, picture
from dpsco_core.methods.mean import SimpleClipping
from dpsco_core.methods.mean.base import clipped_mean
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
RADII = np.geomspace(0.25, 30.0, 81)  # of the picture's curve of the error


@dataclass(frozen=True, kw_only=True)
class AtRadius:
    """The parts of the error at one clip radius.

    The noise and the total are root mean squares over the noise; the rest is of these records.
    """

    radius: float
    clipped: int
    bias: float
    noise: float
    total: float


@dataclass(frozen=True, kw_only=True)
class Side:
    """What one tail index makes of the records, and of privacy."""

    p: float
    at: tuple[int, int, int]  # the places of n, epsilon and p among those of the picture
    # half of the records lie within `middle` of the centre, and none lies beyond `farthest`
    middle: float
    farthest: float
    plain: float  # the error of their average, without clipping and noise
    best: AtRadius  # at the radius where the error is least
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
    limit: float  # the same for any (epsilon, delta)-private method


@lru_cache(maxsize=1)
def why() -> Why:
    """Return the numbers at `SCENARIO`, from the records that the picture shows."""
    heavy, light = side(SCENARIO.p), side(LIGHT)
    rho = float(picture(SCENARIO).rhos[heavy.at[1]])
    odds = math.exp(EPSILON)
    return Why(
        heavy=heavy,
        light=light,
        small=clipping(SCENARIO.p, heavy.best.radius / 4),
        large=clipping(SCENARIO.p, heavy.best.radius * 4),
        guess=float(ndtr(math.sqrt(2 * rho) / 2)),
        limit=(odds + DELTA) / (odds + 1),
    )


def side(p: float) -> Side:
    """Return what a tail index makes of the records and of privacy."""
    records, mean, _ = _seen(p)
    lengths = np.linalg.norm(records, axis=1)
    point = replace(SCENARIO, p=p)
    rate = bound(SimpleClipping.card.rate)
    return Side(
        p=p,
        at=_at(p),
        middle=float(np.median(lengths)),
        farthest=float(lengths.max()),
        plain=float(np.linalg.norm(records.mean(axis=0) - mean)),
        best=smallest(
            (clipping(p, float(radius)) for radius in RADII), lambda one: one.total, of="radius"
        ),
        floor=_floor(point),
        halving=times_to_halve(_pace(point, lambda at: evaluate(at, rate).terms["privacy"])),
        floor_halving=times_to_halve(_pace(point, _floor)),
    )


def clipping(p: float, radius: float) -> AtRadius:
    """Return what clipping the records at a radius does, and the noise that it needs."""
    records, mean, rho = _seen(p)
    n = len(records)
    release = clipped_mean(DenseRows(records), radius)
    noise = math.sqrt(2) * (2 * radius / n) / math.sqrt(2 * rho)
    return AtRadius(
        radius=radius,
        clipped=int((np.linalg.norm(records, axis=1) > radius).sum()),
        bias=float(np.linalg.norm(release - records.mean(axis=0))),
        noise=noise,
        total=math.hypot(float(np.linalg.norm(release - mean)), noise),
    )


def _at(p: float) -> tuple[int, int, int]:
    return SIZES.index(SCENARIO.n), EPSILONS.index(EPSILON), ORDERS.index(p)


def _seen(p: float) -> tuple[Vector, Vector, float]:
    """Return the picture's records, their true mean, and the rho of the one release."""
    shown, (n, epsilon, order) = picture(SCENARIO), _at(p)
    return shown.records[order, : SIZES[n]], shown.means[order], float(shown.rhos[epsilon])


def _floor(point: Scenario) -> float:
    """Return the largest lower bound that binds every (epsilon, delta) algorithm."""
    cards = (b.card for b in bounds_for(point.problem, point.level))
    found = (
        evaluate(point, bound(card.slug))
        for card in cards
        if (card.kind, card.constant, card.quantity) == ("lower", "explicit", "l2 error")
        and card.privacy in ("approx", "none")
    )
    return max(one.value for one in found if not one.failures)


def _pace(point: Scenario, value: Callable[[Scenario], float]) -> float:
    """Return the exponent of n in a value."""
    return math.log2(value(replace(point, n=2 * point.n)) / value(point))
