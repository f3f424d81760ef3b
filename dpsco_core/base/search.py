"""Searches for the parameters at which a predicted error or a bound is smallest.

Every search over candidates goes through this module. A candidate whose value is infinite or NaN
does not count: if no value is finite, taking the first candidate would be no choice at all. A
tuning then refuses to run (`smallest`, `smallest_between`), while a bound, for which infinity is a
valid value, takes its fallback (`smallest_or`, `smallest_index`).
"""

import math
from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.valley import lowest_between

T = TypeVar("T")
U = TypeVar("U")
Key: TypeAlias = Callable[[T], float]


def nothing_finite(what: str) -> NotApplicable:
    """Return the error for a search in which no candidate `what` has a finite predicted error."""
    return NotApplicable(
        f"The tuning found no {what} with a finite predicted error at these settings.",
        nearest="raise n or the privacy budget, or set a smaller diameter",
    )


def smallest_or(candidates: Iterable[T], key: Key[T], otherwise: U) -> T | U:
    """Return the candidate with the smallest finite key; `otherwise` if no key is finite.

    Examples
    --------
    >>> smallest_or([0.0, 1.0, 2.0], lambda x: 1 / x if x else math.inf, None)
    2.0
    """
    return next(iter(_smallest_candidate(candidates, key, 0.0, None)), otherwise)


def smallest(
    candidates: Iterable[T],
    key: Key[T],
    *,
    what: str,  # a name of the choice for messages, such as ``"number of steps"``
    # the relative gain that a later candidate needs to be preferred to an earlier one
    gain: float = 0.0,
    # a cheap lower bound on the key; a candidate is skipped if its bound exceeds the smallest value
    # so far
    floor: Key[T] | None = None,
) -> T:
    """Return the candidate with the smallest finite key; `NotApplicable` if there is none."""
    best = _smallest_candidate(candidates, key, gain, floor)
    if not best:
        raise nothing_finite(what)
    return best[0]


def _smallest_candidate(
    candidates: Iterable[T], key: Key[T], gain: float, floor: Key[T] | None
) -> list[T]:
    """Return a list of one, the candidate with the smallest finite key; empty if there is none."""
    best: list[T] = []
    smallest_value = math.inf
    for candidate in candidates:
        if floor is not None and _key_or_infinity(floor, candidate) > smallest_value:
            continue
        value = _key_or_infinity(key, candidate)
        if math.isfinite(value) and (
            not best or value < smallest_value - gain * abs(smallest_value)
        ):
            best, smallest_value = [candidate], value
    return best


def _key_or_infinity(key: Key[T], candidate: T) -> float:
    """Return the key of a candidate, or infinity if Python raises an error for an overflow."""
    try:
        return float(key(candidate))
    except OverflowError:
        return math.inf


def smallest_index(values: ArrayLike) -> NDArray[np.intp]:
    """Return the index of the smallest value along the first axis, -1 if none is finite.

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
    """Return the minimiser of a function with one valley in (low, high), and the function there.

    Raises `NotApplicable`, which names `what` was searched, if no value is finite.
    """
    place, lowest = lowest_between(lambda x: _key_or_infinity(value, x), low, high)
    if not math.isfinite(lowest):
        raise nothing_finite(what)
    return place, lowest


def best_count(value: Callable[[int], float], largest: int, *, what: str) -> int:
    """Return the number from 1 to `largest` at which a function with one valley is smallest.

    It tries powers of two first, then bisects the interval around the best of them.

    Raises `NotApplicable` if no value is finite.
    """
    grid = sorted({largest, *(1 << k for k in range(largest.bit_length()))})
    i = smallest(range(len(grid)), lambda k: value(grid[k]), what=what)
    low, high = grid[max(0, i - 1)], grid[min(len(grid) - 1, i + 1)]
    while high - low > 2:
        middle = (low + high) // 2
        low, high = (low, middle + 1) if value(middle) <= value(middle + 1) else (middle, high)
    candidates: list[int] = [*range(low, high + 1), grid[i]]
    return smallest(candidates, value, what=what)


def least_count(works: Callable[[int], bool], low: int, high: int, largest: int) -> int | None:
    """Return the smallest number above `low` at which `works` is true, or None if above `largest`.

    If `works` is true at a number, it must be true at all larger ones. `high` is doubled until it
    works, and the interval below it is then bisected.

    Examples
    --------
    >>> least_count(lambda n: n * n > 1000, 1, 2, 1 << 30)
    32
    """
    while not works(high):
        low, high = high, 2 * high
        if high > largest:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def near_splits(n: int, parts: int) -> list[int]:
    r"""Return the numbers of parts near `parts` that waste the fewest records.

    They are :math:`\lfloor n/b\rfloor` for some size b: more parts of the same size leave fewer
    records out, so no number in between can be better.

    Examples
    --------
    >>> near_splits(10, 3)
    [1, 2, 3, 5, 10]
    """
    size = n // parts
    fewer = min(parts, size)
    part_counts = range(max(1, fewer - 8), min(n, fewer + 8) + 1)
    return sorted({n // (n // k) if parts <= size else n // k for k in part_counts})


def best_log(value: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Return the smallest value of a function between `low` and `high`, and the point where it is.

    The function may have several valleys: a grid of 25 points comes first, then a search around
    the best of them. The smallest value is infinite if none on the grid is finite.
    """
    grid = np.linspace(low, high, 25)
    values = [value(float(x)) for x in grid]
    i = int(smallest_index(values))
    if i < 0:
        return math.inf, high
    low, high = float(grid[max(0, i - 1)]), float(grid[min(24, i + 1)])
    place, lowest = lowest_between(value, low, high, tolerance=1e-3)
    candidates = ((lowest, place), (values[i], float(grid[i])))
    return smallest_or(candidates, lambda pair: pair[0], candidates[1])
