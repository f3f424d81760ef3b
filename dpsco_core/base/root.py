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
    """Return a root between `low` and `high`, at which the function has different signs.

    The steps are those of `scipy.optimize.brentq`, of inverse quadratic interpolation, secants and
    bisection, so that its result is the same to the last bit.

    Raises `ValueError` if the signs are equal or a value is not a number, and `RuntimeError` if the
    steps do not suffice.

    Examples
    --------
    >>> find_root(lambda x: x * x - 2, 0.0, 2.0)
    1.4142135623731364
    """
    last_point, point, opposite_point = float(low), float(high), 0.0
    last_value, value, opposite_value = _value(function, last_point), _value(function, point), 0.0
    last_step = step = 0.0
    if last_value == 0:
        return last_point
    if value == 0:
        return point
    if (last_value > 0) == (value > 0):
        raise ValueError("f(a) and f(b) must have different signs")
    for _ in range(steps):
        if last_value != 0 and value != 0 and (last_value > 0) != (value > 0):
            opposite_point, opposite_value = last_point, last_value
            last_step = step = point - last_point
        if abs(opposite_value) < abs(value):
            last_point, point, opposite_point = point, opposite_point, point
            last_value, value, opposite_value = value, opposite_value, value
        tolerance = (xtol + rtol * abs(point)) / 2
        half = (opposite_point - point) / 2
        if value == 0 or abs(half) < tolerance:
            return point
        guess = math.inf
        if abs(last_step) > tolerance and abs(value) < abs(last_value):
            guess = _interpolate(
                (last_point, point, opposite_point), (last_value, value, opposite_value)
            )
        if 2 * abs(guess) < min(abs(last_step), 3 * abs(half) - tolerance):
            last_step, step = step, guess
        else:
            last_step = step = half
        last_point, last_value = point, value
        point += step if abs(step) > tolerance else math.copysign(tolerance, half)
        value = _value(function, point)
    raise RuntimeError(f"Failed to converge after {steps} iterations.")


def _value(function: Callable[[float], float], point: float) -> float:
    """Return the function's value at a point; raise `ValueError` if it is NaN."""
    value = float(function(point))
    if math.isnan(value):
        raise ValueError(f"The function value at x={point} is NaN; solver cannot continue.")
    return value


def _interpolate(points: tuple[float, float, float], values: tuple[float, float, float]) -> float:
    """Return the step from the current point, the second of three, to an interpolated root.

    The curve is a secant if two of the points coincide, and otherwise an inverse quadratic. The
    step is infinite if the curve has no root.
    """
    last_point, point, opposite_point = points
    last_value, value, opposite_value = values
    if last_point == opposite_point:
        return -value * (point - last_point) / (value - last_value)
    slope_before = (last_value - value) / (last_point - point)
    slope_opposite = (opposite_value - value) / (opposite_point - point)
    divisor = slope_opposite * slope_before * (opposite_value - last_value)
    if divisor == 0:
        return math.inf
    return -value * (opposite_value * slope_opposite - last_value * slope_before) / divisor
