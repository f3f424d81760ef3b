"""Kinds of arrays that the library accepts as numbers, and kinds that it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Tagged(np.ndarray):
    """A subclass whose product is not numpy's."""

    def __mul__(self, other: Any) -> Any:
        """Fail, since no product may see a subclass."""
        raise AssertionError("a subclass has reached the arithmetic")

    __matmul__ = __rmul__ = __rmatmul__ = __neg__ = __mul__


DTYPES = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "float16",
    "float32",
    "float64",
    "longdouble",
    *(">i2", ">i8", ">u4", ">u8", ">f2", ">f4", ">f8"),
)
FIELDS = np.dtype([("a", "f8"), ("b", "f8")])


def spaced(x: np.ndarray) -> np.ndarray:
    """Return an array of the same values that is a view of every other row of a larger array."""
    wide = np.zeros((2 * x.shape[0], *x.shape[1:]), dtype=x.dtype)
    wide[::2] = x
    return wide[::2]


def frozen(x: np.ndarray) -> np.ndarray:
    """Return a read-only copy of an array."""
    copied = x.copy()
    copied.flags.writeable = False
    return copied


# Ways to give the same numbers in an array of another layout or class.
LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "every other row": spaced,
    "backwards": lambda x: x[::-1].copy()[::-1],
    "by columns": np.asfortranarray,
    "read only": frozen,
    "a subclass": lambda x: x.copy().view(Tagged),
}
REFUSED: dict[str, Callable[[np.ndarray], object]] = {
    "complex64": lambda x: x.astype(np.complex64),
    "complex128": lambda x: x.astype(np.complex128),
    "clongdouble": lambda x: x.astype(np.clongdouble),
    "object": lambda x: x.astype(object),
    "datetime64": lambda x: x.astype("M8[s]"),
    "timedelta64": lambda x: x.astype("m8[s]"),
    "text": lambda x: x.astype(str),
    "bytes": lambda x: x.astype(bytes),
    "variable text": lambda x: x.astype(str).astype(np.dtypes.StringDType()),
    "fields": lambda x: np.zeros(x.shape, dtype=FIELDS),
    "void": lambda x: np.zeros(x.shape, dtype="V8"),
    "masked": lambda x: np.ma.masked_equal(x, 1.0),
    "nothing masked": np.ma.asarray,
    "a list": lambda x: x.tolist(),
    "none": lambda x: None,
    "a number": lambda x: 1.0,
}


def extremes(dtype: str) -> np.ndarray:
    """Return the numbers of a dtype at which arithmetic goes wrong: its ends, and around 0."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([False, True])
    if kind.kind in "iu":
        ends = np.iinfo(kind)
        return np.array([0, 1, 2, ends.max, ends.max - 1, ends.min], dtype=kind)
    ends = np.finfo(kind)
    values = [0.0, 1.0, -1.0, 1 / 3, ends.max, ends.min, ends.tiny, np.inf, -np.inf, np.nan]
    return np.array(values, dtype=kind)
