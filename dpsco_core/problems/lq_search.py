"""Search for the numbers that make a bound smallest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

NEAR_SPLITS = 8  # tried on either side, in `near_splits`


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


def near_splits(n: int, parts: int) -> list[int]:
    r"""Return the numbers of parts around `parts` that waste least: :math:`\lfloor n/b\rfloor`.

    More parts of the same size b leave fewer records out, so that none between these can be better.

    Examples
    --------
    >>> near_splits(10, 3)
    [1, 2, 3, 5, 10]
    """
    size = n // parts
    if parts <= size:
        low = max(1, parts - NEAR_SPLITS)
        return sorted({n // (n // k) for k in range(low, min(n, parts + NEAR_SPLITS) + 1)})
    low = max(1, size - NEAR_SPLITS)
    return sorted({n // b for b in range(low, min(n, size + NEAR_SPLITS) + 1)})


def best_log(
    value: Callable[[float], float], low: float, high: float, pieces: int = 24
) -> tuple[float, float]:
    """Return the least value between `low` and `high`, and where; several valleys are allowed.

    A grid first, then a search between the neighbours of its best point.
    """
    grid = np.linspace(low, high, pieces + 1)
    found = [value(float(x)) for x in grid]
    i = int(np.argmin(found))
    inner = minimize_scalar(
        value,
        bounds=(float(grid[max(0, i - 1)]), float(grid[min(pieces, i + 1)])),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return min((float(inner.fun), float(inner.x)), (found[i], float(grid[i])))
