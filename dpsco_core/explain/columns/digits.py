"""Numbers with so many digits that different numbers look different, given their uncertainty."""

import math

MOST_DIGITS = 16  # A float has no more significant digits.
# Numbers of a size between these limits are written without an exponent.
SMALLEST, LARGEST = 1e-6, 1e15


def decimals_of(resolution: float) -> int:
    """Return how many decimals show three digits of a number's uncertainty.

    The count is negative if the last of these digits is before the decimal point.

    Examples
    --------
    >>> decimals_of(1.0), decimals_of(0.014), decimals_of(2500.0)
    (2, 4, -1)
    """
    return 2 - math.floor(math.log10(resolution))


def to_digits(value: float, resolution: float) -> str:
    """Return a number with three digits of its uncertainty: its noise, or the column's unit.

    Examples
    --------
    >>> to_digits(1_000_000.0123, 0.014), to_digits(1_700_000_000_123.4, 20.0)
    ('1,000,000.0123', '1,700,000,000,123.4')
    >>> to_digits(1.23456e-9, 1e-12)
    '1.23456e-09'
    """
    if not math.isfinite(value) or not 0 < resolution < math.inf:
        return f"{value:.6g}"
    decimals = decimals_of(resolution)
    size = max(abs(value), resolution)
    leading = math.floor(math.log10(size))
    if SMALLEST <= size < LARGEST:
        return (
            f"{round(value, decimals) + 0.0:,.{max(0, min(decimals, MOST_DIGITS - 1 - leading))}f}"
        )
    return f"{value:.{max(0, min(leading + decimals, MOST_DIGITS - 1))}e}"
