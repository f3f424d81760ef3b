"""A fresh, secret, uniformly random split of the records, and the clipped means of its groups."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import Rows, rows_per_block
from dpsco_core.methods.mean.base import clipped_parts


def secret_groups(n: int, groups: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return the group of every record, shape (n,), by a fresh uniformly random assignment.

    Independent of the data, and different at every call. Each group has n // groups records; the
    n mod groups that do not fit are left out, uniformly at random, and are in "group" `groups`.
    Privacy by amplification is void if it is released.
    """
    size = n // groups
    group = np.full(n, groups, dtype=np.int32)
    group[: groups * size].reshape(groups, size)[:] = np.arange(groups, dtype=np.int32)[:, None]
    rng.shuffle(group)
    return group


def clipped_group_means(rows: Rows, group: NDArray[np.int32], groups: int, radius: float) -> Vector:
    """Return the mean of every group after clipping records to norm `radius`, shape (groups, d).

    One pass over the rows in their own order: the sums of a block are those of a sparse matrix
    with one entry a record, its weight, in the row of its group. Where the groups outnumber the
    rows of a block the matrix has the groups that are there alone.

    `group` is as `secret_groups` gives it, shape (n,), and `radius` a level that `check_level`
    allows.
    """
    sums = np.zeros((groups + 1, rows.d))
    few = groups < rows_per_block(rows.d)
    low = 0
    for safe, weights in clipped_parts(rows, radius):
        place = group[low : low + len(safe)]
        if few:
            sums += _sums_by_place(safe, weights, place, groups + 1)
        else:
            there, among = np.unique(place, return_inverse=True)
            sums[there] += _sums_by_place(safe, weights, among, len(there))
        low += len(safe)
    sums /= rows.n // groups
    return sums[:groups]


def _sums_by_place(
    rows: Vector, weights: Vector, places: NDArray[np.signedinteger], count: int
) -> Vector:
    """Return the weighted sum of the rows of every place, shape (count, d)."""
    entries = (weights, places, np.arange(len(rows) + 1, dtype=np.int32))
    return np.asarray(csc_array(entries, shape=(count, len(rows))) @ rows)
