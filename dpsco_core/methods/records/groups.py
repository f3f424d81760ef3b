"""Means of secret random groups of records, and a point deep among them: Zhao et al., Algorithm 3.

The same steps serve for the mean of records and for the mean of gradients.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy  # `scipy.sparse` is imported on first use.
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import Rows, rows_per_block
from dpsco_core.methods.records.base import clipped_parts
from dpsco_core.methods.records.directions import walk_to_centre

Split = Callable[[int, int, np.random.Generator], NDArray[np.int32]]


@dataclass(frozen=True, kw_only=True)
class Search:
    """The search for a deep point among the noisy means."""

    left_out: int  # k minus the number of projections that must exceed the level
    steps: int  # the largest number of steps of the walk


def deep_point(
    rows: Rows,
    groups: int,
    radius: float,
    # A function that adds noise to the group means, one row per group, and returns them.
    release: Callable[[Vector], Vector],
    search: Search,
    rng: np.random.Generator,
    *,
    split: Split | None = None,
    scale: float = 1.0,
) -> Vector:
    """Release the clipped means of secret groups and return a deep point among them, (d,).

    `split` draws the group of every record from n, k and a generator; `secret_groups` if None.
    `scale` multiplies what was released; see `allocated_scale`.
    """
    # This is step 1 of the algorithm.
    group = (secret_groups if split is None else split)(rows.n, groups, rng)
    means = clipped_group_means(rows, group, groups, radius)  # This is step 2.
    noisy = release(means)  # This is step 3.
    # The walk makes steps 4 and 5.
    return walk_to_centre(scale * noisy, search.left_out, search.steps, rng)


def left_out(groups: int, quantile: float) -> int:
    """Return how many of the groups' projections on a direction may lie below the level.

    `quantile` is the share of projections that must lie above.
    """
    return math.floor((1 - quantile) * groups + 1e-9)


def secret_groups(n: int, groups: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return the group of every record, shape (n,): a fresh uniformly random split of the records.

    The split does not depend on the data, and privacy by amplification is void if it is released.
    Each group has n // groups records; the others are left out at random, in "group" `groups`.
    """
    size = n // groups
    group = np.full(n, groups, dtype=np.int32)
    group[: groups * size].reshape(groups, size)[:] = np.arange(groups, dtype=np.int32)[:, None]
    rng.shuffle(group)
    return group


def allocated_groups(n: int, groups: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return the group of every record, shape (n,), drawn independently; see `secret_groups`.

    How many records a group has is random, and secret as well.
    """
    return rng.integers(groups, size=n, dtype=np.int32)


def allocated_scale(n: int, groups: int) -> float:
    """Return the factor that corrects sums of allocated groups, divided by n // groups, to means.

    A group has n / groups records on average. Where this is not an integer, division by the smaller
    n // groups makes the result too long, which the factor corrects.
    """
    return groups * (n // groups) / n


def clipped_group_means(rows: Rows, group: NDArray[np.int32], groups: int, radius: float) -> Vector:
    """Return the mean of every group after clipping records to norm `radius`, shape (groups, d).

    It is the sum of the group's records divided by the public number n // groups, however many
    records the group has.

    The rows are read once, in their own order. The sums of a block are its product with a sparse
    matrix that has one entry a record, its weight, in the row of its group. Where there are many
    groups, the matrix has rows only for those that occur in the block.
    """
    sums, low = np.zeros((groups + 1, rows.d)), 0
    has_few_groups = groups < rows_per_block(rows.d)
    for safe, weights in clipped_parts(rows, radius):
        place = group[low : low + len(safe)]
        if has_few_groups:
            sums += _sums_by_place(safe, weights, place, groups + 1)
        else:
            present, positions = np.unique(place, return_inverse=True)
            sums[present] += _sums_by_place(safe, weights, positions, len(present))
        low += len(safe)
    sums /= rows.n // groups
    return sums[:groups]


def _sums_by_place(
    rows: Vector, weights: Vector, places: NDArray[np.signedinteger], count: int
) -> Vector:
    """Return the weighted sums of the rows by their places, shape (count, d)."""
    entries = (weights, places, np.arange(len(rows) + 1, dtype=np.int32))
    return np.asarray(scipy.sparse.csc_array(entries, shape=(count, len(rows))) @ rows)


def practical_length(bound: float, d: int, noise_std: float) -> int:
    r"""Return the number of steps of a walk that shortens the distance by a quarter at each step.

    The steps lead from the public `bound` on the mean down to the size :math:`\sigma\sqrt d` of the
    noise of a group mean; 16 more search for the deepest point. There are at least 30 and at most
    60 steps.
    """
    ratio = bound / (noise_std * math.sqrt(d))
    if math.isinf(ratio):
        return 60
    quarters = math.log(max(ratio, 1.0)) / math.log(4 / 3)
    return min(max(math.ceil(quarters) + 16, 30), 60)
