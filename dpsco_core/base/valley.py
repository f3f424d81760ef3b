"""The minimum of a function with one valley, by Brent's method."""

import math
from collections.abc import Callable

_GOLDEN = 0.5 * (3.0 - math.sqrt(5.0))
_ROOT_EPSILON = math.sqrt(2.2e-16)
_MOST_VALUES = 500


def lowest_between(
    value: Callable[[float], float], low: float, high: float, *, tolerance: float = 1e-5
) -> tuple[float, float]:
    """Return the place in (low, high) where a function is smallest, and its value there.

    Brent (1973), chapter 5: golden sections, and parabolas where they fall inside. The steps are
    those of ``scipy.optimize.minimize_scalar(method="bounded")``, to the last bit, in plain floats:
    there most of the time goes into numpy's scalars, and here a bound may ask thousands of times.

    Parameters
    ----------
    value : callable
        It takes a float and returns one, which may be infinite or NaN.
    low, high : float
        The ends of the interval, which are not tried themselves; low < high.
    tolerance : float, default 1e-5
        Largest distance of the place from the minimum, beside rounding.

    Examples
    --------
    >>> place, least = lowest_between(lambda x: (x - 1) ** 2, 0.0, 3.0)
    >>> round(place, 5), round(least, 5)
    (1.0, 0.0)
    """
    best = runner_up = oldest = low + _GOLDEN * (high - low)
    best_value = runner_up_value = oldest_value = value(best)
    step = step_before = 0.0
    for _ in range(_MOST_VALUES - 1):
        middle = 0.5 * (low + high)
        room = _ROOT_EPSILON * abs(best) + tolerance / 3.0
        if not abs(best - middle) > 2.0 * room - 0.5 * (high - low):
            break
        is_golden = True
        if abs(step_before) > room:
            r = (best - runner_up) * (best_value - oldest_value)
            q = (best - oldest) * (best_value - runner_up_value)
            p = (best - oldest) * q - (best - runner_up) * r
            q = 2.0 * (q - r)
            p, q = (-p, q) if q > 0.0 else (p, abs(q))
            r, step_before = step_before, step
            if abs(p) < abs(0.5 * q * r) and q * (low - best) < p < q * (high - best):
                is_golden, step = False, p / q
                x = best + step
                if x - low < 2.0 * room or high - x < 2.0 * room:
                    step = room if middle >= best else -room
        if is_golden:
            step_before = low - best if best >= middle else high - best
            step = _GOLDEN * step_before
        size = max(abs(step), room)
        x = best + size if step >= 0 else best - size
        new = value(x)
        if new <= best_value:
            low, high = (best, high) if x >= best else (low, best)
            oldest, oldest_value = runner_up, runner_up_value
            runner_up, runner_up_value = best, best_value
            best, best_value = x, new
            continue
        low, high = (x, high) if x < best else (low, x)
        if new <= runner_up_value or runner_up == best:
            oldest, oldest_value = runner_up, runner_up_value
            runner_up, runner_up_value = x, new
        elif new <= oldest_value or oldest in (best, runner_up):
            oldest, oldest_value = x, new
    return float(best), float(best_value)
