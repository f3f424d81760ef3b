r"""A public range of the records: the mean of clamped records, with noise for its width.

Every coordinate of a record is clamped to its range, and then divided by half the width w, so that
records lie in a cube and in the ball of radius :math:`\sqrt d` about its centre. That is simple
clipping whose clip does nothing: replacing a record moves the mean by at most :math:`2\sqrt d/n` in
these units, which is w/n for one column, and the answer has no clipping bias. It is unbiased for
the mean of the clamped rows, and if the range holds for that of the rows themselves.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.methods.mean.clipped import SimpleClipping
from dpsco_core.results.release.arrays import real_numbers

FAILURE = 0.05  # the probability that an interval fails
NOISE_FAILURE = 0.01  # the part of it that the noise has, in the interval for a population
RANGE_NOTE = (
    "Every number is clamped to its range, so that there is no clipping bias where the range "
    "holds. The interval for the mean of these rows is exact, from the noise alone; that for the "
    "mean of a population adds Hoeffding's bound for independent rows in the range."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class PublicRange:
    """The range of every coordinate of a record, from public knowledge."""

    lower: Vector  # shape (d,)
    upper: Vector  # shape (d,)

    @property
    def d(self) -> int:
        """The number of coordinates."""
        return len(self.lower)

    @cached_property
    def centre(self) -> Vector:
        """The middle of each range, shape (d,)."""
        return self.lower + self.half

    @cached_property
    def half(self) -> Vector:
        """Half the width of each range, shape (d,): the unit of a coordinate."""
        return self.upper / 2 - self.lower / 2

    @property
    def method(self) -> SimpleClipping:
        """The method that releases the mean, in units."""
        return SimpleClipping(radius=math.sqrt(self.d))

    def rows_interval(self, noise: Vector) -> Vector:
        """Return the half-lengths of 95 % intervals for the mean of the clamped rows, shape (d,).

        `noise` is the standard deviation of the Gaussian noise on each coordinate. The intervals
        hold together.
        """
        return noise * -special.ndtri(FAILURE / (2 * self.d))

    def population_interval(self, noise: Vector, n: int) -> Vector:
        r"""Return the half-lengths of 95 % intervals for the mean of a population, shape (d,).

        The rows are n independent ones. The intervals add the noise's quantile and Hoeffding's
        bound :math:`w\sqrt{\ln(2d/\beta)/(2n)}`, and hold together.
        """
        quantile = -special.ndtri(NOISE_FAILURE / (2 * self.d))
        sampling = math.sqrt(math.log(2 * self.d / (FAILURE - NOISE_FAILURE)) / (2 * n))
        return noise * quantile + 2 * self.half * sampling


def checked_range(lower: ArrayLike | None, upper: ArrayLike | None, d: int) -> PublicRange | None:
    """Return the stated range; None if there is none. Raises `InvalidInput` if it is not one."""
    if lower is None and upper is None:
        return None
    for name, values, partner in (("lower", lower, "upper"), ("upper", upper, "lower")):
        require(values is not None, name, f"given beside {partner}", None)
    low, high = (_end(name, v, d) for name, v in (("lower", lower), ("upper", upper)))
    stated = PublicRange(lower=low, upper=high)
    if not ((low < high).all() and (stated.half > 0).all()):
        raise InvalidInput(
            f"lower must be below upper, got lower={low.tolist()} and upper={high.tolist()}."
        )
    return stated


def _end(name: str, values: ArrayLike | None, d: int) -> Vector:
    """Return one end of a range as d finite numbers."""
    ends = real_numbers(name, values)
    is_fitting = ends.shape in ((), (d,)) and bool(np.isfinite(ends).all())
    require(is_fitting, name, f"a finite number, or {d} of them", ends.tolist())
    return np.broadcast_to(ends, (d,))
