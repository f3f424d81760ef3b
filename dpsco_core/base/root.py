"""Brent's search for a root, in plain floats.

The module `optimize` of scipy takes longer to import than a small run takes, and a run needs no
more of it than this.
"""

import math
from collections.abc import Callable

EPSILON = 2.0**-52
LEAST_RTOL = 4 * EPSILON


def find_root(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    xtol: float = 2e-12,
    rtol: float = LEAST_RTOL,
    steps: int = 100,
) -> float:
    """Return a root between two points where a function has different signs.

    The steps are those of `scipy.optimize.brentq`, of inverse quadratic interpolation, secants and
    bisection, so that its result is the same to the last bit.

    Raises `ValueError` if the signs are equal or a value is not a number, and `RuntimeError` if the
    steps do not suffice.

    Examples
    --------
    >>> find_root(lambda x: x * x - 2, 0.0, 2.0)
    1.4142135623731364
    """
    before, now, opposite = float(low), float(high), 0.0
    f_before, f_now, f_opposite = _value(function, before), _value(function, now), 0.0
    step_before = step = 0.0
    if f_before == 0:
        return before
    if f_now == 0:
        return now
    if (f_before > 0) == (f_now > 0):
        raise ValueError("f(a) and f(b) must have different signs")
    for _ in range(steps):
        if f_before != 0 and f_now != 0 and (f_before > 0) != (f_now > 0):
            opposite, f_opposite = before, f_before
            step_before = step = now - before
        if abs(f_opposite) < abs(f_now):
            before, now, opposite = now, opposite, now
            f_before, f_now, f_opposite = f_now, f_opposite, f_now
        tolerance = (xtol + rtol * abs(now)) / 2
        half = (opposite - now) / 2
        if f_now == 0 or abs(half) < tolerance:
            return now
        guess = math.inf
        if abs(step_before) > tolerance and abs(f_now) < abs(f_before):
            guess = _interpolate((before, now, opposite), (f_before, f_now, f_opposite))
        if 2 * abs(guess) < min(abs(step_before), 3 * abs(half) - tolerance):
            step_before, step = step, guess
        else:
            step_before = step = half
        before, f_before = now, f_now
        now += step if abs(step) > tolerance else math.copysign(tolerance, half)
        f_now = _value(function, now)
    raise RuntimeError(f"Failed to converge after {steps} iterations.")


def _value(function: Callable[[float], float], point: float) -> float:
    value = float(function(point))
    if math.isnan(value):
        raise ValueError(f"The function value at x={point} is NaN; solver cannot continue.")
    return value


def _interpolate(points: tuple[float, float, float], values: tuple[float, float, float]) -> float:
    """Return the step to the root of a secant or of an inverse quadratic; infinite without one."""
    before, now, opposite = points
    f_before, f_now, f_opposite = values
    if before == opposite:
        return -f_now * (now - before) / (f_now - f_before)
    slope_before = (f_before - f_now) / (before - now)
    slope_opposite = (f_opposite - f_now) / (opposite - now)
    divisor = slope_opposite * slope_before * (f_opposite - f_before)
    if divisor == 0:
        return math.inf
    return -f_now * (f_opposite * slope_opposite - f_before * slope_before) / divisor
