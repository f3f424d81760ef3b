"""Checks of the parameters that all laws share, and exponentials that may overflow."""

import math

from dpsco_core.base.cards import Card
from dpsco_core.base.errors import require

# For p below 2 and a smaller margin, the p-th moment is so large that the scaled law is nearly 0.
MARGIN_MIN = 0.05


def require_dimension_and_order(
    card: Card, d: int, moment_order: float, smallest_d: int = 1
) -> None:
    """Raise `InvalidInput` unless d is an integer of at least `smallest_d`, and p is in range.

    p must be finite, and at least 2, or above 1 if the law's card has a text `infinite_variance`.
    """
    is_valid = isinstance(d, int) and d >= smallest_d
    require(is_valid, "d", f"an integer of at least {smallest_d}", d)
    is_allowed = moment_order > 1 if card.infinite_variance else moment_order >= 2
    must = "a finite number " + ("above 1" if card.infinite_variance else "of at least 2")
    require(is_allowed and moment_order < math.inf, "p", must, moment_order)


def require_below_two(moment_order: float, margin: float, unit: str) -> None:
    """Raise `InvalidInput` if p is below 2 and the margin is too small or the unit a variance."""
    if moment_order >= 2:
        return
    must = f"at least {MARGIN_MIN:g} for p below 2, near whose tail index a scaled law is 0"
    require(margin >= MARGIN_MIN, "margin", must, margin)
    require(unit == "moment", "scale", "moment for p below 2, where variances are infinite", unit)


def exp_or_inf(exponent: float) -> float:
    """Return exp(exponent), or infinity if it exceeds the range of a float."""
    return math.exp(exponent) if exponent < 709.7 else math.inf
