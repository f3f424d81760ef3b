"""The caller's records as arrays of numbers; what is refused depends on type and shape alone."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpsco_core.base.arrays import Vector, real_array
from dpsco_core.base.errors import InvalidInput, require


@dataclass(frozen=True, kw_only=True)
class RecordShape:
    """The sizes of the caller's records, which are public."""

    n: int  # the number of records, or of users
    d: int  # the number of coordinates, or of features
    items: int | None = None  # The number m of records of a user; None if records have no users.
    has_targets: bool = False

    def __str__(self) -> str:
        """Return the sizes as text, such as "(100, 2)", and whether there are targets."""
        sizes = (self.n, self.d) if self.items is None else (self.n, self.items, self.d)
        return f"{sizes}" + " with targets" * self.has_targets


@dataclass(frozen=True, eq=False, kw_only=True)
class OwnRecords:
    """The caller's records as arrays of doubles."""

    rows: Vector  # shape (n, d), or (n m, d): m consecutive rows of each user
    targets: Vector | None  # shape (n,) or (n m,)
    items: int | None = None  # m; None if records have no users

    @property
    def shape(self) -> RecordShape:
        """The sizes of the records."""
        count, d = self.rows.shape
        n = count if self.items is None else count // self.items
        return RecordShape(n=n, d=d, items=self.items, has_targets=self.targets is not None)


def read_records(records: Any) -> OwnRecords:
    """Return records of any type, or a pair of features and targets, as arrays.

    An array of three dimensions holds users, each with the same number of records.
    """
    has_targets = isinstance(records, tuple)
    if has_targets:
        count = len(records)
        require(count == 2, "records", "features and targets", f"a tuple of {count}")
    name = "features" if has_targets else "records"
    array = real_numbers(name, records[0] if has_targets else records)
    shapes = "of shape (n,) or (n, d), or (n, m, d) for users of m records each"
    require(array.ndim in (1, 2, 3), name, shapes, array.shape)
    rows = array[:, None] if array.ndim == 1 else array
    require(rows.size > 0, name, "of at least one row and one column", array.shape)
    targets = None
    if has_targets:
        targets, sizes = real_numbers("targets", records[1]), rows.shape[:-1]
        condition = f"of shape {sizes}, a target for each row of the features"
        require(targets.shape == sizes, "targets", condition, targets.shape)
        targets = targets.reshape(-1)
    if rows.ndim == 2:
        return OwnRecords(rows=rows, targets=targets)
    return OwnRecords(rows=rows.reshape(-1, rows.shape[2]), targets=targets, items=rows.shape[1])


def real_numbers(name: str, values: Any) -> Vector:
    """Return the argument `name` as an array of real numbers; raise `InvalidInput` if it is none.

    Tables and columns of other libraries are accepted. Lists become arrays of the type that numpy
    finds for all their entries.
    """
    # A masked array keeps its mask until it is refused.
    if isinstance(values, np.ndarray) or hasattr(values, "dtype") or hasattr(values, "dtypes"):
        return real_array(name, values if isinstance(values, np.ndarray) else np.asarray(values))
    is_masked = isinstance(values, list | tuple) and any(map(np.ma.isMaskedArray, values))
    require(not is_masked, name, "an array without a mask", "a list of masked ones")
    condition = "an array of numbers, or a list of them, or lists of equal length"
    try:
        array = np.asarray(values)
    except ValueError:  # The lists have different lengths.
        raise InvalidInput(f"{name} must be {condition}, got lists of different lengths.") from None
    entries = {"U": "text", "S": "text", "c": "complex numbers"}.get(array.dtype.kind, "no numbers")
    if array.dtype.kind not in "biuf":
        raise InvalidInput(
            f"{name} must be {condition}, got {entries} in a {type(values).__name__}."
        )
    return real_array(name, array)


def checked_lengths(name: str, values: ArrayLike, size: int | None) -> Vector:
    """Return the argument `name` as positive numbers of shape () or (size,).

    If `size` is None only a single number is allowed. Raises `InvalidInput` for anything else.
    """
    lengths = real_numbers(name, values)
    fits = lengths.shape == () or lengths.shape == (size,)
    condition = "a finite number above 0" + f", or {size} of them" * (size is not None)
    is_positive = fits and bool(((lengths > 0) & np.isfinite(lengths)).all())
    require(is_positive, name, condition, values if lengths.ndim == 0 else lengths.tolist())
    return lengths


def checked_centre(centre: ArrayLike, d: int) -> Vector:
    """Return the stated centre as d finite numbers; raise `InvalidInput` for anything else."""
    guess = real_numbers("centre", centre)
    is_fitting = guess.shape in ((), (d,)) and bool(np.isfinite(guess).all())
    require(is_fitting, "centre", f"a finite number, or {d} of them", guess.tolist())
    return np.broadcast_to(guess, (d,))
