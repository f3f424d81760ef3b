"""Why privacy stays expensive in the worst case: the numbers of the page that tells it."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from dpsco_core.catalogue import bound
from dpsco_core.data import DenseRows
from dpsco_core.explain.error_parts import SquaredParts
from dpsco_core.explain.picture import Picture, picture
from dpsco_core.explain.window import standing
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
MANY_N = 1000 * SCENARIO.n  # records, at which the price is told last
WORST_D = 20  # numbers of a record in the worst case: in the plane the proofs say less
# at which the worst case is told: from the records that are shown to `MANY`, two to a factor of 10
SIZES = tuple(round(SCENARIO.n * 10 ** (k / 2)) for k in range(7))


@dataclass(frozen=True, kw_only=True)
class AtRadius:
    """What clipping at a radius does to the records that are shown, and to the error.

    The parts and the error are root mean squares over records and noise: of the parts, only the
    squares add up.
    """

    radius: float
    clipped: int  # how many of the records that are shown
    shift: float  # by how much clipping moves the average of these
    sampling: float
    bias: float
    noise: float
    error: float


@dataclass(frozen=True, kw_only=True)
class Side:
    """What one tail index makes of the records, and of privacy."""

    p: float
    # half of the records lie within `middle` of the centre, and none lies beyond `farthest`
    middle: float
    farthest: float
    average_error: float  # the error of the average of the records that are shown
    plain: float  # the root mean square error of an average without clipping and noise
    best: AtRadius  # at the radius where the error is least
    later: float  # the price with `MANY` records of the same law
    # over all data with the tail index, of dimension `WORST_D`, and with as many records as `SIZES`
    # says: the best proven guarantee, and what no (epsilon, delta)-private algorithm can guarantee,
    # both on the mean error and over the largest sampling error, the root of d/n
    guarantees: tuple[float, ...]
    floors: tuple[float, ...]
    # how many times the records halve the error that privacy adds, by the proven rate of simple
    # clipping: 2^(p/(p-1))
    halving: float

    @property
    def price(self) -> float:
        """The price of privacy with the records that are shown."""
        return self.best.error / self.plain


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
    picture = _draw_picture(p)
    lengths = np.linalg.norm(picture.records, axis=1)
    point = replace(SCENARIO, p=p)
    standings = [standing(replace(point, n=n, d=WORST_D), ("approx",)) for n in SIZES]
    sampling = [math.sqrt(WORST_D / n) for n in SIZES]
    return Side(
        p=p,
        middle=float(np.median(lengths)),
        farthest=float(lengths.max()),
        average_error=float(np.linalg.norm(picture.plain - picture.mean)),
        plain=_plain(p, SCENARIO.n),
        best=clipping(p, picture.best),
        later=parts(p, MANY_N, _draw_picture(p, MANY_N).best).error / _plain(p, MANY_N),
        guarantees=tuple(k.chosen("approx") / s for k, s in zip(standings, sampling, strict=True)),
        floors=tuple(
            k.windows["approx"].floor / s for k, s in zip(standings, sampling, strict=True)
        ),
        halving=times_to_halve(math.log2(_added(replace(point, n=2 * point.n)) / _added(point))),
    )


def clipping(p: float, radius: float) -> AtRadius:
    """Return what clipping the records at a radius does, and the noise that it needs."""
    records = _draw_picture(p).records
    release = clipped_mean(DenseRows(records), radius)
    squares = parts(p, len(records), radius)
    return AtRadius(
        radius=radius,
        clipped=int((np.linalg.norm(records, axis=1) > radius).sum()),
        shift=float(np.linalg.norm(release - records.mean(axis=0))),
        sampling=math.sqrt(squares.sampling),
        bias=math.sqrt(squares.bias),
        noise=math.sqrt(squares.noise),
        error=squares.error,
    )


def parts(p: float, n: int, radius: float) -> SquaredParts:
    """Return the parts of the mean squared error of simple clipping, at the page's budget."""
    law = _draw_picture(p, n).clipped
    return law.parts(n, radius, gaussian_noise_std(2 * radius / n, _rho()))


def _seen_guess(p: float, radius: float) -> float:
    records = _draw_picture(p).records
    n = len(records)
    shift = (min(float(np.linalg.norm(records[0])), radius) + radius) / n  # to the far side
    return float(ndtr(shift / gaussian_noise_std(2 * radius / n, _rho()) / 2))


def _plain(p: float, n: int) -> float:
    return math.sqrt(_draw_picture(p).clipped.whole / n)


def _draw_picture(p: float, n: int = SCENARIO.n) -> Picture:
    return picture(replace(SCENARIO, p=p, n=n))


def _rho() -> float:
    return _draw_picture(SCENARIO.p).rho


def _added(point: Scenario) -> float:
    """Return the rate of what privacy adds to the error of simple clipping."""
    return evaluate(point, bound(SimpleClipping.card.rate)).terms["privacy"]
