"""Search for the whole number that makes a bound smallest."""

from __future__ import annotations

from collections.abc import Callable


def best_count(value: Callable[[int], float], most: int) -> int:
    """Return the number from 1 to `most` with the least value, of a function with one valley.

    Powers of two first, then the interval around the best of them, cut in half again and again.
    """
    powers = [1 << k for k in range(most.bit_length())]
    grid = sorted({most, *powers})
    found = [value(k) for k in grid]
    i = found.index(min(found))
    low, high = grid[max(0, i - 1)], grid[min(len(grid) - 1, i + 1)]
    while high - low > 2:
        middle = (low + high) // 2
        low, high = (low, middle + 1) if value(middle) <= value(middle + 1) else (middle, high)
    near: list[int] = [*range(low, high + 1), grid[i]]
    return min(near, key=value)
