"""The cost of privacy in words, with no more precision than the trials justify."""

import math
from collections.abc import Callable

from dpsco_app.front.titles import ratio_text
from dpsco_core.results.price import BETTER, Ratio

# If the ratio of an interval's ends is at most this, its factor is stated without "about".
CLOSE = 1.21
# If the ratio of the ends is larger than this, the interval is stated instead of the factor.
LOOSE = 1.5
VAGUE = 10.0  # If the upper end is larger, too few trials have run to state a factor.
DISTINCT_FROM_ONE = 1.05  # A smaller factor would be printed as 1.0.
LARGEST_FACTOR = 100.0
# The words before the quantity if no factor is stated.
LESS_PREFIX, SAME_PREFIX = "less ", "about the same "
TOO_FEW_TRIALS = "too few trials to tell"


def cost_words(price: Ratio, quantity: str) -> str:
    """Return a factor of a quantity in words, with no more precision than the trials justify.

    Examples
    --------
    >>> cost_words(Ratio(value=1.9, low=1.8, high=2.0), "error")
    '1.9 times the error'
    >>> cost_words(Ratio(value=2.7, low=2.3, high=3.2), "error")
    'about 2.7 times the error'
    >>> cost_words(Ratio(value=2.5, low=1.65, high=3.8), "error")
    'between 1.5 and 4 times the error'
    >>> cost_words(Ratio(value=1.12, low=0.96, high=1.3), "error")
    'about 1.1 times the error'
    >>> cost_words(Ratio(value=1.02, low=0.9, high=1.16), "error")
    'about the same error'
    >>> cost_words(Ratio(value=1.5, low=0.9, high=2.5), "error")
    'at most 2.5 times the error'
    >>> cost_words(Ratio(value=0.62, low=0.21, high=1.85), "error")
    'between 0.2 and 1.9 times the error'
    >>> cost_words(Ratio(value=0.8, low=0.7, high=0.9), "error")
    'less error'
    """
    of_quantity = f" the {quantity}" if quantity else ""
    if largest := most_text(price):
        if price.high > VAGUE:
            return TOO_FEW_TRIALS
        ends = loose_ends(price)
        return (
            f"between {' and '.join(ends)} times{of_quantity}"
            if ends
            else f"at most {largest} times{of_quantity}"
        )
    if price.value < DISTINCT_FROM_ONE:
        upper = price.value / BETTER if math.isnan(price.high) else price.high
        return (LESS_PREFIX if upper < 1 else SAME_PREFIX) + (quantity or "error")
    if (price.value if math.isnan(price.low) else price.low) > LARGEST_FACTOR:
        return f"more than {LARGEST_FACTOR:.0f} times{of_quantity}"
    ends = loose_ends(price)
    if ends is not None:
        return f"between {' and '.join(ends)} times{of_quantity}"
    exact = "" if price.high <= CLOSE * price.low else "about "
    return f"{exact}{ratio_text(price.value)} times{of_quantity}"


def most_text(price: Ratio) -> str:
    """Return the upper end of a factor as text if the trials tell nothing else; otherwise empty.

    Examples
    --------
    >>> [most_text(Ratio(value=v, low=v / 2, high=2.22 * v)) for v in (1.5, 2.0, 9.0)]
    ['3.4', '4.5', '']
    >>> most_text(Ratio(value=1.1, low=0.95, high=1.3))
    ''
    """
    if not (price.within_noise or (price.value < DISTINCT_FROM_ONE and price.high >= 1)):
        return ""
    if price.high <= LOOSE * price.low:
        return ""
    return f"{math.ceil(10 * round(price.high, 2)) / 10:,g}"


def is_open(price: Ratio) -> bool:
    """Return whether the trials leave more than one number of a factor possible."""
    return bool(most_text(price) or loose_ends(price))


def loose_ends(price: Ratio) -> tuple[str, str] | None:
    """Return the ends of a factor that the trials leave open; None if they determine it.

    If the trials do not tell on which side of 1 a factor lies, a factor measured below 1 has two
    ends. With an upper end alone the text would call the lower one of two lines the higher.

    Examples
    --------
    >>> loose_ends(Ratio(value=7.0, low=4.2, high=12.0))
    ('4', '20')
    >>> loose_ends(Ratio(value=0.4, low=0.2, high=0.8))
    >>> loose_ends(Ratio(value=0.4, low=0.123, high=1.24))
    ('0.1', '1.3')
    """
    if (largest := most_text(price)) and price.value < 1:
        unit = 10 ** math.floor(math.log10(price.low))
        return f"{math.floor(round(price.low / unit, 6)) * unit:.1g}", largest
    if math.isnan(price.low) or price.low <= 1 or price.high <= LOOSE * price.low:
        return None
    return _whole(price.low, math.floor), _whole(price.high, math.ceil)


def _whole(value: float, cut: Callable[[float], int]) -> str:
    """Return a number above 1 as text, with one digit, or in halves below 5.

    `cut` rounds it, up or down.
    """
    unit = 0.5 if value < 5 else 10 ** math.floor(math.log10(value))
    return f"{cut(value / unit) * unit:,g}"
