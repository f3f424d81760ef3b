"""What a ledger refuses before it draws: numbers that no noise can be made of."""

import math

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import real_array
from dpsco_core.base.errors import require


def check_positive(name: str, value: float) -> None:
    """Refuse what is not a finite number above 0."""
    require(value > 0 and math.isfinite(value), name, "a positive number", value)


def check_count(name: str, value: int) -> None:
    """Refuse what is not an integer of at least 1."""
    ok = isinstance(value, int | np.integer) and value >= 1
    require(ok, name, "a positive integer", value)


def check_release(value: NDArray[np.float64], noise: float) -> None:
    """Refuse what noise cannot hide: entries that are not finite real numbers, or such noise."""
    finite = bool(np.isfinite(real_array("value", value)).all())
    require(finite, "value", "finite in every entry", "not finite")
    check_noise(noise)


def check_noise(noise: float) -> None:
    """Refuse a scale of noise that rounds to 0 or to infinity."""
    require(1e-300 < noise < 1e300, "noise", "between 1e-300 and 1e300", noise)
