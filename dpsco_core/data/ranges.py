"""Checks of the parameters that all laws share, and exponentials that may overflow."""

import math

from dpsco_core.base.errors import require


def require_dimension_and_order(d: int, moment_order: float, smallest_d: int = 1) -> None:
    """Check the dimension and the moment order of a distribution."""
    is_valid = isinstance(d, int) and d >= smallest_d
    require(is_valid, "d", f"an integer of at least {smallest_d}", d)
    require(2 <= moment_order < math.inf, "p", "a finite number of at least 2", moment_order)


def exp_or_inf(exponent: float) -> float:
    """Return exp(exponent), or infinity if it exceeds the range of a float."""
    return math.exp(exponent) if exponent < 709.7 else math.inf
