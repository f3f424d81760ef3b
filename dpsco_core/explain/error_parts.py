r"""The parts of an error, in squares and from the true mean: sampling, clipping bias, noise.

The average of n records that are clipped to a radius R, with Gaussian noise of standard deviation
sigma in each of d coordinates, has the mean squared error

.. math:: E\|\hat\mu-\mu\|^2 = \underbrace{\|E\,T_R(X)-\mu\|^2}_{\text{clipping bias}}
    + \underbrace{\tfrac1n \operatorname{tr}\operatorname{Cov}(T_R(X))}_{\text{sampling}}
    + \underbrace{d\sigma^2}_{\text{noise}},\qquad T_R(x) = x\min(1, R/\|x\|),

exactly (theory/zhao-et-al.md, 3.2): the noise is independent of the records and has mean 0, and so
have the deviations of the records' average from its own mean. Expectations are over records and
noise. Only squares add up; the errors themselves do not. Of an optimiser the parts are the steps of
a ladder of runs, each of which adds one thing; for the squared distance these are the same parts
(`ladder_parts`).

Of a run that is measured the last part is known, too: the ledger has recorded the noise's standard
deviation, so that :math:`1 - d\sigma^2/\mathrm{MSE}` is the share of the square that is there
without the noise, and its root the factor by which the error would be smaller (`price_parts`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.catalogue import method_class
from dpsco_core.data.base import Distribution
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

PARTS = ("optimisation", "bias", "sampling", "noise")
Split = tuple[float, float, float, float]  # the parts of one error, in the order of `PARTS`

RECORDS = 200_000  # the number of records in the sample that stands for a law
# The parts of an error are shown only if the relative standard error of the mean square without the
# privacy noise is at most this.
LARGEST_UNCERTAINTY = 0.25
FEWEST_TRIALS = 5


@dataclass(frozen=True, kw_only=True)
class SquaredParts:
    """The three parts of a mean squared error; they add up to it."""

    sampling: float
    bias: float
    noise: float

    @property
    def total(self) -> float:
        """The mean squared error."""
        return self.sampling + self.bias + self.noise

    @property
    def error(self) -> float:
        """The root mean square error."""
        return math.sqrt(self.total)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClippedLaw:
    """The effect of clipping on one record of a law, at every radius of a grid.

    From a large sample that stands for the law, beside the law's own mean and covariance: records
    that no radius clips cost no precision.
    """

    d: int
    radii: Vector  # the clip radii, positive and increasing, shape (k,)
    bias: Vector  # the squared distance of the clipped record's mean from the true mean, shape (k,)
    variance: Vector  # the trace of the clipped record's covariance, shape (k,)
    whole: float  # the trace of the covariance without clipping

    def parts(self, n: int, radius: float, noise_std: float) -> SquaredParts:
        """Return the parts for n records at a radius, which may be infinite.

        Between two of `radii` the bias and the variance are interpolated linearly in the logarithm
        of the radius; beyond them they are constant. ``noise_std`` is the standard deviation of the
        noise in each coordinate.
        """
        log_radius = math.log(radius), np.log(self.radii)
        open_ = math.isinf(radius)
        bias, variance = (
            float(np.interp(*log_radius, values)) for values in (self.bias, self.variance)
        )
        return SquaredParts(
            sampling=(self.whole if open_ else variance) / n,
            bias=0.0 if open_ else bias,
            noise=self.d * noise_std**2,
        )


def clipped_law(law: Distribution, radii: Vector, rng: np.random.Generator) -> ClippedLaw:
    """Return the bias and the variance of a clipped record of `law` at each radius."""
    # The records between two successive radii enter through their number and the sums of |x|,
    # |x|^2, x and x/|x|.
    sums = np.zeros((3 + 2 * law.d, len(radii) + 1))
    for x in law.stream(RECORDS, rng).blocks():
        lengths = np.linalg.norm(x, axis=1)
        stretch = np.searchsorted(radii, lengths)
        directions = x / np.maximum(lengths, np.finfo(float).tiny)[:, None]
        weights = (np.ones(len(x)), lengths, lengths**2, *x.T, *directions.T)
        sums += [np.bincount(stretch, w, minlength=len(radii) + 1) for w in weights]
    inner_counts = np.cumsum(sums[2])[:-1]
    # These are the sums over all records beyond each radius R. Clipping takes x - R x/|x| away from
    # each of these records, and the mean of x itself is known.
    outer_sums = (np.cumsum(sums[:, ::-1], axis=1)[:, ::-1])[:, 1:]
    count, length, square = outer_sums[:3]
    clipped_mean = (outer_sums[3 : 3 + law.d] - radii * outer_sums[3 + law.d :]) / RECORDS
    second_moment = (inner_counts + radii**2 * count) / RECORDS
    variance = second_moment - ((law.mean[:, None] - clipped_mean) ** 2).sum(axis=0)
    # The squared average exceeds the squared mean by the variance of the average, in expectation.
    bias = (clipped_mean**2).sum(axis=0)
    excess = (square - 2 * radii * length + radii**2 * count) / RECORDS - bias
    return ClippedLaw(
        d=law.d,
        radii=radii,
        bias=np.maximum(bias - excess / RECORDS, 0.0),
        variance=np.clip(variance, 0.0, law.variance_trace),
        whole=law.variance_trace,
    )


def ladder_parts(exact: float, clipped: float, sampled: float, private: float) -> Split:
    """Return the parts of a risk, from the risks of four runs, each of which adds one obstacle.

    The run ``exact`` sees endless data and does not clip; ``clipped`` clips as well; ``sampled``
    clips and has only n records; ``private`` adds noise to that. The parts add up to the last risk,
    and one of them may be negative.

    Examples
    --------
    >>> ladder_parts(0.0, 0.25, 0.5, 1.5)
    (0.0, 0.25, 0.25, 1.0)
    """
    return exact, clipped - exact, sampled - clipped, private - sampled


@dataclass(frozen=True, kw_only=True)
class PriceParts:
    """How a price of privacy adds up, in multiples of the error without privacy.

    The plain average of the records has price 1. Clipping them first adds `clipping`, which is
    negative where clipping makes the error smaller; adding noise then adds `noise`.
    """

    clipping: float
    noise: float
    plain: float = 1.0

    @property
    def price(self) -> float:
        """The price of privacy: the sum of the parts."""
        return self.plain + self.clipping + self.noise


def price_parts(price: float, outcomes: Sequence[Outcome], point: Scenario) -> PriceParts | None:
    """Return the parts of a method's price from its runs at one point; None where they tell none.

    The runs tell no parts if the method does not average clipped records, if it does not report
    the standard deviation of its noise, if the trials are few, if a projection may have made the
    noise smaller, and if noise makes so much of the error that the trials do not determine what is
    left without it.
    """
    if (
        len(outcomes) < FEWEST_TRIALS
        or method_class(outcomes[0].method).clipped_values != "records"
    ):
        return None
    if any("noise_std" not in o.diagnostics for o in outcomes):
        return None
    squares = np.square([o.error for o in outcomes])
    noise_square = point.d * float(np.mean([o.diagnostics["noise_std"] ** 2 for o in outcomes]))
    # Projection does not change an answer inside the ball of the public bound.
    reach = math.sqrt(squares.max()) + point.instance.law.mean_norm
    if not reach < point.setting.constants.mean_gradient_bound:
        return None
    square = float(squares.mean())
    rest = square - noise_square
    uncertainty = float(np.std(squares, ddof=1)) / math.sqrt(len(squares))
    if uncertainty > LARGEST_UNCERTAINTY * rest:
        return None
    clipped = price * math.sqrt(min(1.0, rest / square))
    return PriceParts(clipping=clipped - 1, noise=price - clipped)
