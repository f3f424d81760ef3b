"""Users with several records each: which records count, where their numbers differ.

How many records a user has is private, and so no sentence and no refusal depends on it. Every user
gets the same, stated number of records: of those who have more it is a random choice, and those of
users who have fewer are repeated. That is a function of a user's own records, so that the guarantee
is for all records of one user, however many. The order of users is order, so that it tells nothing
of their identifiers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.parsing import whole
from dpsco_core.results.release.arrays import OwnRecords, read_records

MOST_NUMBERS = 500_000_000  # the largest number of values in the rows of all users together


def grouped_records(
    records: Any, users: Any, items: int | None, rng: np.random.Generator
) -> OwnRecords:
    """Return records as arrays; with identifiers of users, grouped by user, `items` rows of each.

    Raises `InvalidInput` if identifiers do not fit the records, or `items` is missing beside them.
    """
    arrays = read_records(records)
    if users is None:
        require(items is None, "items", "left out without users", items)
        return arrays
    require(arrays.items is None, "users", "left out for records of shape (n, m, d)", "identifiers")
    require(items is not None, "items", "given with users, from public knowledge", None)
    assert items is not None
    whole("items", items, 1, MOST_NUMBERS)
    identifiers = _identifiers(users, len(arrays.rows))
    size = len(np.unique(identifiers)) * items * arrays.rows.shape[1]
    require(size <= MOST_NUMBERS, "items", f"at most {items * MOST_NUMBERS // size:,} here", items)
    chosen = _rows_of_users(identifiers, items, rng)
    targets: Vector | None = None if arrays.targets is None else arrays.targets[chosen]
    return OwnRecords(rows=arrays.rows[chosen], targets=targets, items=items)


def _identifiers(users: Any, count: int) -> NDArray[Any]:
    """Return the user of each record as an array of whole numbers or texts, shape (count,)."""
    condition = f"{count} whole numbers or texts, one for each record"
    try:
        array = np.asarray(users)
    except ValueError:  # The lists have different lengths.
        raise InvalidInput(f"users must be {condition}, got lists of other lengths.") from None
    require(array.shape == (count,), "users", condition, f"shape {array.shape}")
    if array.dtype.kind == "O" and all(isinstance(name, str) for name in array):
        array = array.astype(str)
    require(array.dtype.kind in "iuUS", "users", condition, f"{array.dtype} among them")
    return array


def _rows_of_users(
    identifiers: NDArray[Any], items: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the places of `items` records of each user, one user after the other."""
    order = rng.permutation(len(identifiers))
    _, numbers, counts = np.unique(identifiers[order], return_inverse=True, return_counts=True)
    places = order[np.argsort(numbers, kind="stable")]
    starts = np.cumsum(counts) - counts
    turns = np.arange(items)[None, :] % counts[:, None]
    rows = places[starts[:, None] + turns]
    return np.asarray(rows[rng.permutation(len(counts))].reshape(-1), dtype=np.intp)
