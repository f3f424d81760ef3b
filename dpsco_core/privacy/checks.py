"""Checks that a ledger makes before it draws any noise."""

import math

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import real_array
from dpsco_core.base.errors import require


def check_positive(name: str, value: float) -> None:
    """Raise `InvalidInput` unless a value is finite and above 0."""
    require(value > 0 and math.isfinite(value), name, "a positive number", value)


def check_count(name: str, value: int) -> None:
    """Raise `InvalidInput` unless a value is an integer of at least 1."""
    is_valid = isinstance(value, int | np.integer) and value >= 1
    require(is_valid, name, "a positive integer", value)


def check_release(value: NDArray[np.float64], noise: float) -> None:
    """Raise `InvalidInput` unless a value is real and finite, and its noise scale is in range."""
    is_finite = bool(np.isfinite(real_array("value", value)).all())
    require(is_finite, "value", "finite in every entry", "not finite")
    check_noise(noise)


def check_noise(noise: float) -> None:
    """Raise `InvalidInput` unless a noise scale is above 1e-300 and below 1e300."""
    require(1e-300 < noise < 1e300, "noise", "between 1e-300 and 1e300", noise)
