"""Decreasing scales of coordinates, and the entries of an array in cache-sized views."""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.data.ziggurat import PART

DECAY_MAX = 3.0  # the largest exponent of the decrease of the scales


@lru_cache(maxsize=256)
def falling_scales(d: int, decay: float) -> Vector:
    r"""Return :math:`c\,j^{-a}` for j = 1 to d, shape (d,), whose squares have mean 1.

    Examples
    --------
    >>> falling_scales(2, 0.0).tolist(), (falling_scales(3, 1.0) ** 2).round(4).tolist()
    ([1.0, 1.0], [2.2041, 0.551, 0.2449])
    """
    scales = np.ones(d)
    if decay > 0:
        scales = np.arange(1, d + 1, dtype=np.float64) ** -decay
        scales *= math.sqrt(d / float(scales @ scales))
    scales.flags.writeable = False
    return scales.view()  # A view of a read-only array cannot be made writeable again.


def least_of_leading(scales: Vector, value: Callable[[int], float]) -> float:
    """Return the least ratio of `value(k)` to the k-th scale, for k = d and powers of 2 below d.

    There are d >= 2 scales, which do not increase. If all are equal, only k = d is tried.
    """
    d = len(scales)
    if scales[0] == scales[-1]:
        return value(d) / float(scales[-1])
    counts = [*(1 << i for i in range(1, d.bit_length()) if 1 << i < d), d]
    return min(value(k) / float(scales[k - 1]) for k in counts)


def entry_blocks(out: Vector) -> Iterator[Vector]:
    """Yield the entries of a contiguous array in order, as views that fit the cache."""
    entries = out.reshape(-1)
    for low in range(0, entries.size, PART):
        yield entries[low : low + PART]
