"""Search for the parameters at which a predicted error or a bound is smallest.

Every search over candidates goes through this module. A candidate whose value is infinite or NaN is
none: where all are, the first of them would be no choice at all. A tuning then refuses to run
(`smallest`, `smallest_between`), and a bound, for which infinity is an honest value, falls back on
what it names (`smallest_or`, `smallest_index`).
"""

import math
from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

from dpsco_core.base.errors import NotApplicable

T = TypeVar("T")
U = TypeVar("U")
Key: TypeAlias = Callable[[T], float]


def nothing_finite(what: str) -> NotApplicable:
    return NotApplicable(
        f"The tuning found no {what} with a finite predicted error at these settings.",
        nearest="raise n or the privacy budget, or set a smaller diameter",
    )


def smallest_or(candidates: Iterable[T], key: Key[T], otherwise: U) -> T | U:
    """Return the candidate with the least finite key; `otherwise` where no key is finite.

    Examples
    --------
    >>> smallest_or([0.0, 1.0, 2.0], lambda x: 1 / x if x else math.inf, None)
    2.0
    """
    return next(iter(_least(candidates, key, 0.0, None)), otherwise)


def smallest(
    candidates: Iterable[T],
    key: Key[T],
    *,
    what: str,  # what is chosen, in the singular, such as ``"number of steps"``
    # by what share a later candidate must be smaller to be preferred to an earlier one
    gain: float = 0.0,
    # a cheap lower bound on the key: a candidate is passed over where that is above the least
    floor: Key[T] | None = None,
) -> T:
    """Return the candidate with the least finite key; raises `NotApplicable` where none is."""
    least = _least(candidates, key, gain, floor)
    if not least:
        raise nothing_finite(what)
    return least[0]


def _least(candidates: Iterable[T], key: Key[T], gain: float, floor: Key[T] | None) -> list[T]:
    """Return the candidate with the least finite key alone, or nothing."""
    best: list[T] = []
    least = math.inf
    for candidate in candidates:
        if floor is not None and _value(floor, candidate) > least:
            continue
        value = _value(key, candidate)
        if math.isfinite(value) and (not best or value < least - gain * abs(least)):
            best, least = [candidate], value
    return best


def _value(key: Key[T], candidate: T) -> float:
    """Return a key; where Python's floats overflow, numpy's would be infinite."""
    try:
        return float(key(candidate))
    except OverflowError:
        return math.inf


def smallest_index(values: ArrayLike) -> NDArray[np.intp]:
    """Return where values are least along the first axis, -1 where none of them is finite.

    Examples
    --------
    >>> smallest_index([[math.nan, math.inf], [3.0, math.inf], [2.0, math.inf]]).tolist()
    [2, -1]
    """
    table = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(table)
    return np.where(finite.any(axis=0), np.where(finite, table, np.inf).argmin(axis=0), -1)


def smallest_between(
    value: Callable[[float], float], low: float, high: float, *, what: str
) -> tuple[float, float]:
    """Return where a function with one valley is least, and the value; raises `NotApplicable`."""
    minimum = minimize_scalar(lambda x: _value(value, x), bounds=(low, high), method="bounded")
    if not math.isfinite(float(minimum.fun)):
        raise nothing_finite(what)
    return float(minimum.x), float(minimum.fun)


def best_count(value: Callable[[int], float], most: int, *, what: str) -> int:
    """Return the number from 1 to `most` with the least value, of a function with one valley.

    Powers of two first, then the interval around the best of them, cut in half again and again.

    Raises `NotApplicable` where no value is finite.
    """
    grid = sorted({most, *(1 << k for k in range(most.bit_length()))})
    i = smallest(range(len(grid)), lambda k: value(grid[k]), what=what)
    low, high = grid[max(0, i - 1)], grid[min(len(grid) - 1, i + 1)]
    while high - low > 2:
        middle = (low + high) // 2
        low, high = (low, middle + 1) if value(middle) <= value(middle + 1) else (middle, high)
    near: list[int] = [*range(low, high + 1), grid[i]]
    return smallest(near, value, what=what)


def least_count(works: Callable[[int], bool], low: int, high: int, most: int) -> int | None:
    """Return the least number above `low` that works, where all larger ones do; None beyond `most`.

    `high` is doubled until it works, then the interval below it is cut in half again and again.

    Examples
    --------
    >>> least_count(lambda n: n * n > 1000, 1, 2, 1 << 30)
    32
    """
    while not works(high):
        low, high = high, 2 * high
        if high > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def near_splits(n: int, parts: int) -> list[int]:
    r"""Return the numbers of parts around `parts` that waste least: :math:`\lfloor n/b\rfloor`.

    More parts of the same size b leave fewer records out, so that none between these can be better.

    Examples
    --------
    >>> near_splits(10, 3)
    [1, 2, 3, 5, 10]
    """
    size = n // parts
    fewer = min(parts, size)
    near = range(max(1, fewer - 8), min(n, fewer + 8) + 1)
    return sorted({n // (n // k) if parts <= size else n // k for k in near})


def best_log(value: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Return the least value between `low` and `high`, and where; several valleys are allowed.

    A grid first, then a search around its best point; infinite where none on the grid is finite.
    """
    grid = np.linspace(low, high, 25)
    values = [value(float(x)) for x in grid]
    i = int(smallest_index(values))
    if i < 0:
        return math.inf, high
    around = float(grid[max(0, i - 1)]), float(grid[min(24, i + 1)])
    inner = minimize_scalar(value, bounds=around, method="bounded", options={"xatol": 1e-3})
    candidates = ((float(inner.fun), float(inner.x)), (values[i], float(grid[i])))
    return smallest_or(candidates, lambda pair: pair[0], candidates[1])
