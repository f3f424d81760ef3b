r"""The equations :math:`a\,w^p + b\,w^q = v` in w > 0, for many v at once, and along a path of b.

They are the optimality conditions, coordinate by coordinate, of projections and mirror steps onto
l_q balls (theory/su-zhao-wang.md, 2.0). In z = ln w the logarithm of the left side is
convex and increasing, so that Newton's method from the right is monotone: no safeguard is needed,
and neither large nor tiny v overflow.
"""

import math
from collections.abc import Callable

import numpy as np

from dpsco_core.base.arrays import Vector

# At this relative accuracy of w the last Newton step is taken, which squares the accuracy.
_CLOSE = 1e-8
# A root w whose logarithm falls below this limit counts as 0.
_VANISHED = -800.0
# Convergence is quadratic and usually takes fewer than ten steps. With exponents near 0, further
# steps only amplify rounding errors.
_MOST_STEPS = 40
_ROUNDING = 4e-16


def solve_power_sums(
    log_values: Vector,  # ln v, finite, shape (k,)
    powers: tuple[float, float],  # the exponents p and q, positive
    logs: tuple[float, float],  # ln a and ln b, the logarithms of the coefficients
    start: Vector | None = None,  # a starting point: ln w for nearby coefficients, shape (k,)
) -> tuple[Vector, Vector]:
    """Solve a w^p + b w^q = v for every v; return ln w and the share b w^q/v, both shape (k,)."""
    p, q = powers
    shifts = logs[0] - log_values, logs[1] - log_values
    # The point at which one term alone equals v lies to the right of the solution.
    right = np.minimum(-shifts[0] / p, -shifts[1] / q)
    z = right.copy() if start is None else np.minimum(start, right)
    for _ in range(_MOST_STEPS):
        term_p, term_q = np.exp(p * z + shifts[0]), np.exp(q * z + shifts[1])
        total = term_p + term_q
        step = np.log(total) * total / (p * term_p + q * term_q)
        z -= step
        np.minimum(z, right, out=z)  # A start to the left of the solution may overshoot once.
        step[z < _VANISHED] = 0
        if float(np.abs(step).max()) <= _CLOSE:
            break
    return z, term_q / total


def safeguarded_root(
    f: Callable[[float], tuple[float, float]], low: float, high: float, start: float
) -> float:
    """Return the zero of a decreasing `f` in [low, high] by Newton's method with bisection.

    `f` returns its value, which is a logarithm, and its slope; the search ends when the value is 0
    up to rounding. `start` lies between `low` and `high`, either of which may be infinite if
    Newton's method does not leave the interval on that side.
    """
    x = start
    for _ in range(200):
        value, slope = f(x)
        low, high = (x, high) if value > 0 else (low, x)
        new = x - value / slope if slope < 0 else -math.inf
        if not low <= new <= high:
            new = (low + high) / 2 if math.isfinite(low) else high - 2 * (1 + abs(high - start))
        if abs(value) <= _ROUNDING or min(abs(new - x), high - low) <= _ROUNDING * (1 + abs(x)):
            return new
        x = new
    return x
