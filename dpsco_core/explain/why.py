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
from dpsco_core.methods.records.base import clipped_mean
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
LIGHT = 10.0  # the tail index of the light tail in the comparison
MANY_N = 1000 * SCENARIO.n  # the largest number of records for which the price is stated
WORST_D = 20  # the dimension of the records in the worst case; in the plane the proofs are weaker
# The numbers of records in the worst case, from that of the picture to `MANY_N`, with two for each
# factor of 10.
SIZES = tuple(round(SCENARIO.n * 10 ** (k / 2)) for k in range(7))


@dataclass(frozen=True, kw_only=True)
class AtRadius:
    """The effect of a clip radius on the records in the picture, and on the error.

    The parts and the error are root mean squares over records and noise: of the parts, only the
    squares add up.
    """

    radius: float
    clipped: int  # the number of shown records that are clipped
    shift: float  # how far clipping moves the average of the shown records
    sampling: float
    bias: float
    noise: float
    error: float


@dataclass(frozen=True, kw_only=True)
class Side:
    """The effect of one tail index on the records, and on the cost of privacy."""

    p: float
    # The distances from the centre that contain half of the records, and all of them.
    middle: float
    farthest: float
    average_error: float  # the error of the average of the shown records
    plain: float  # the root mean square error of an average without clipping and noise
    best: AtRadius  # the picture at the radius with the smallest error
    later: float  # the price with `MANY_N` records of the same law
    # For each number of records in `SIZES`, over all data with the tail index in dimension
    # `WORST_D`: the best proven guarantee, and the lower bound for (epsilon, delta)-private
    # algorithms. Both bound the mean error, in units of the largest sampling error, the root of
    # d/n.
    guarantees: tuple[float, ...]
    floors: tuple[float, ...]
    # The number of records must grow by this factor to halve the error of privacy, by the proven
    # rate of simple clipping: 2^(p/(p-1)).
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
    # The picture at the heavy tail, at a quarter of the best radius and at four times that radius.
    small: AtRadius
    large: AtRadius
    # The largest probability with which an adversary who knows all other records guesses one
    # record, if two values are equally likely and the noise is Gaussian.
    guess: float
    # The probability of such a guess for the first record and the value that moves the average
    # most, at the best radius of the heavy tail, as in the picture.
    seen_guess: float
    limit: float  # the largest such probability under any (epsilon, delta)-private method


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
        guess=float(ndtr(math.sqrt(2 * _rho_of_budget()) / 2)),
        seen_guess=_guess_chance_in_picture(SCENARIO.p, heavy.best.radius),
        limit=(odds + DELTA) / (odds + 1),
    )


def side(p: float) -> Side:
    """Return the numbers that the page shows for data of tail index p."""
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
        plain=_plain_error(p, SCENARIO.n),
        best=clipping(p, picture.best),
        later=parts(p, MANY_N, _draw_picture(p, MANY_N).best).error / _plain_error(p, MANY_N),
        guarantees=tuple(k.chosen("approx") / s for k, s in zip(standings, sampling, strict=True)),
        floors=tuple(
            k.windows["approx"].floor / s for k, s in zip(standings, sampling, strict=True)
        ),
        halving=times_to_halve(
            math.log2(_privacy_rate(replace(point, n=2 * point.n)) / _privacy_rate(point))
        ),
    )


def clipping(p: float, radius: float) -> AtRadius:
    """Return the effect of clipping the records at a radius, and the noise that it needs."""
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
    """Return the parts of the mean squared error of simple clipping at the page's budget.

    The n records have tail index p, and are clipped to a radius.
    """
    law = _draw_picture(p, n).clipped
    return law.parts(n, radius, gaussian_noise_std(2 * radius / n, _rho_of_budget()))


def _guess_chance_in_picture(p: float, radius: float) -> float:
    """Return the chance of a right guess for the first record of the picture."""
    records = _draw_picture(p).records
    n = len(records)
    # The record moves to the far side of the ball.
    shift = (min(float(np.linalg.norm(records[0])), radius) + radius) / n
    return float(ndtr(shift / gaussian_noise_std(2 * radius / n, _rho_of_budget()) / 2))


def _plain_error(p: float, n: int) -> float:
    """Return the root mean square error of the plain average of n records."""
    return math.sqrt(_draw_picture(p).clipped.whole / n)


def _draw_picture(p: float, n: int = SCENARIO.n) -> Picture:
    """Return the picture at a tail index and a number of records."""
    return picture(replace(SCENARIO, p=p, n=n))


def _rho_of_budget() -> float:
    """Return the rho of the picture's budget."""
    return _draw_picture(SCENARIO.p).rho


def _privacy_rate(point: Scenario) -> float:
    """Return the term of the rate of simple clipping that is due to privacy, at a point."""
    return evaluate(point, bound(SimpleClipping.card.rate)).terms["privacy"]
