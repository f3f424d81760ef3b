r"""Expectations over a binomial count, and maxima over its probability.

The conditioned lower bounds are :math:`\max_p\theta(p)\,E f(B)` with :math:`B\sim\mathrm{Bin}(n,p)`
and f non-increasing. `expectation` sums over a window of nine standard deviations; `maximise`
looks on a logarithmic grid and refines it. A window leaves out only non-negative terms and a grid
only other probabilities, so that neither makes a lower bound too large. A stride, used for windows
of more than 4096 counts, may do so at kinks of f, by less than 1e-4 of the bound.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py

Floats = NDArray[np.float64]
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
# This is ln k! - k ln k + k up to k = 15, where Stirling's series is not accurate enough.
_SMALL_EXCESS = np.array(
    [0.0, *(math.lgamma(x + 1) - x * math.log(x) + x for x in range(1, 16))], dtype=np.float64
)
# Up to this integer the excess is looked up, in a table of 1 MB.
_TABLED = 1 << 17
# For a single probability, up to this many counts are summed one by one.
_FINE_NODES = 4096


def _log_factorial_excess(x: Floats) -> Floats:
    r"""Return :math:`\ln x! - x\ln x + x` at each integer x, from a table if all are small."""
    if x.size and x.max() < _TABLED:
        return _excess_table()[x.astype(np.intp)]
    return _computed_excess(x)


@lru_cache(maxsize=1)
def _excess_table() -> Floats:
    """Return the table of `_log_factorial_excess` at 0, 1, 2 and so on, below `_TABLED`."""
    return _computed_excess(np.arange(_TABLED, dtype=np.float64))


def _computed_excess(x: Floats) -> Floats:
    """Return `_log_factorial_excess` without the table, by Stirling's series from 16 on."""
    large = np.maximum(x, 16.0)
    inverse = 1 / large
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    exact = _SMALL_EXCESS[np.minimum(x, 15.0).astype(np.intp)]
    return np.where(x >= 16, 0.5 * np.log(large) + _HALF_LOG_2PI + series, exact)


@lru_cache(maxsize=4096)
def _excess_of(n: int) -> float:
    """Return `_log_factorial_excess` at a single integer, from a cache."""
    return float(_log_factorial_excess(np.array([float(n)]))[0])


def _deviance(x: Floats, expected: Floats, difference: Floats) -> Floats:
    r"""Return :math:`x\ln(x/y) - x + y` without cancellation, for y = `expected`.

    `difference` is x - y.
    """
    ratio = np.maximum(difference / expected, -1.0)
    return np.asarray(xlog1py(x, ratio)) - difference


def log_pmf(
    counts: Floats,  # the integers b from 0 to n as floats, broadcast against `p`
    n: int,
    p: Floats,  # the probabilities, in (0, 1)
) -> Floats:
    r"""Return :math:`\ln P(\mathrm{Bin}(n,p)=b)`, accurate for n up to 1e9 and beyond.

    It is in Loader's form (2000), by deviances and remainders of Stirling's series, which avoids
    differences of large log-factorials.
    """
    shift = counts - n * p
    return np.asarray(
        _excess_of(n)
        - _log_factorial_excess(counts)
        - _log_factorial_excess(n - counts)
        - _deviance(counts, n * p, shift)
        - _deviance(n - counts, n * (1 - p), -shift)
    )


def expectation(
    f: Callable[[Floats], Floats],  # a vectorised function that is at least 0
    n: int,
    p: Floats,  # the probabilities, in [0, 1]
    *,
    # Over this many counts f may change substantially; the stride stays below it.
    scale: float = math.inf,
    largest: float = math.inf,  # the count beyond which f is 0
    # A search has at most this stride, in standard deviations; it is smaller if f has kinks.
    step: float = 1 / 3,
    fine: bool = False,  # whether up to 4096 counts are summed one by one, for the final value
) -> Floats:
    r"""Return :math:`E f(B)` for every p, :math:`B\sim\mathrm{Bin}(n,p)`.

    The result has the shape of `p`. In a window of many counts every s-th is used with weight s:
    for a smooth f the error of that sum decays like :math:`\exp(-2\pi^2(\mathrm{sd}/s)^2)`.
    """
    p = np.asarray(p, dtype=np.float64)
    inner = np.clip(p, 1e-300, 1 - 1e-16)
    deviation = np.sqrt(n * inner * (1 - inner))
    lowest = np.maximum(0.0, np.floor(n * inner - 9 * deviation - 2))
    highest = np.minimum(min(float(n), largest), np.ceil(n * inner + 9 * deviation + 16))
    if fine:
        stride = np.maximum(1.0, np.ceil((highest - lowest) / _FINE_NODES))
    else:
        stride = np.maximum(1.0, np.floor(np.minimum(deviation * step, scale)))
    steps = max(0, int(np.max((highest - lowest) / stride))) + 1
    counts = lowest[:, None] + stride[:, None] * np.arange(steps)
    in_window = counts <= highest[:, None]
    counts = np.minimum(counts, np.maximum(lowest, highest)[:, None])
    weights = np.where(in_window, np.exp(log_pmf(counts, n, inner[:, None])), 0.0)
    value = stride * np.einsum("ij,ij->i", weights, f(counts))
    if np.any(p >= 1):
        at_n = float(f(np.array([float(n)]))[0]) if n <= largest else 0.0
        value = np.where(p >= 1, at_n, value)
    if np.any(p <= 0):
        value = np.where(p <= 0, float(f(np.array([0.0]))[0]), value)
    return np.asarray(value)


def maximise(
    values: Callable[[Floats], Floats],  # a function that is vectorised over probabilities
    # Both ends of the range are positive, and are candidates themselves.
    low: float,
    high: float,
    *,
    points: int = 41,  # the number of points of the first grid
    # the number of finer grids of 11 points, each between the neighbours of the last maximum
    rounds: int = 3,
    # This is a more accurate form of `values`, for the finer grids.
    refined: Callable[[Floats], Floats] | None = None,
) -> float:
    """Return the probability in [low, high] at which `values` is largest.

    A logarithmic grid is searched, then finer ones, and at last the top of the parabola through the
    best three points is tried. Its error is of the order of the square of the last grid's width,
    and that of the maximum of the fourth power.
    """
    grid = np.geomspace(low, high, points)
    grid[-1] = high
    best = int(np.argmax(values(grid)))
    heights = np.empty(0)
    for _ in range(rounds):
        grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)], 11)
        heights = (refined or values)(grid)
        best = int(np.argmax(heights))
    if not 0 < best < len(grid) - 1 or not rounds:
        return float(grid[best])
    left, middle, right = heights[best - 1 : best + 2]
    curvature = left - 2 * middle + right
    if not curvature < 0:
        return float(grid[best])
    top = grid[best] + (grid[best + 1] - grid[best]) * (left - right) / (2 * curvature)
    higher = (refined or values)(np.array([top]))[0] > middle
    return float(top if higher else grid[best])


def search_range(
    # The best expected number of spikes is about this, or 1 if this is smaller.
    count: float,
    n: int,
    largest: float,  # the largest allowed probability, in (0, 1]
) -> tuple[float, float]:
    """Return the smallest and the largest spike probability that a search has to try.

    The smaller is at most a hundredth of `count` over n, the larger at most four times that.
    """
    centre = max(1.0, count) / n
    high = min(largest, 4 * centre)
    return min(0.01 * centre, high / 50), high
