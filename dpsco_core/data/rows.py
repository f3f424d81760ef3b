"""Rows: n vectors of dimension d, visited in blocks that fit the cache.

A method sees its input only through this protocol, so that it never allocates more than a few
blocks beyond it, and so that per-sample gradients need never be formed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpsco_core.errors import require

BLOCK_BYTES = 3 << 18  # 768 KiB fit a core's own cache; smaller blocks pay for more calls

Vector = NDArray[np.float64]


class Rows(Protocol):
    """n rows of dimension d."""

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    @property
    def d(self) -> int:
        """Dimension."""
        ...

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[Vector]:
        """Yield consecutive (rows, d) arrays that cover rows `start` to `stop`; read only."""
        ...

    def take(self, indices: NDArray[np.intp]) -> Vector:
        """Return the rows at `indices`, shape (len(indices), d)."""
        ...


@dataclass(frozen=True, eq=False)
class DenseRows:
    """Rows held as one (n, d) array of float64.

    Parameters
    ----------
    x : array of shape (n, d)
        n and d at least 1. Entries may be NaN or infinite: methods must cope.
    """

    x: Vector

    def __post_init__(self) -> None:
        require(self.x.ndim == 2, "x", "an array of shape (n, d)", self.x.shape)
        require(min(self.x.shape) > 0, "x", "an array with rows and columns", self.x.shape)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.x.shape[0])

    @property
    def d(self) -> int:
        """Dimension."""
        return int(self.x.shape[1])

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[Vector]:
        """Yield views of about `BLOCK_BYTES` that cover rows `start` to `stop`."""
        stop = self.n if stop is None else stop
        size = rows_per_block(self.d)
        for low in range(start, stop, size):
            yield self.x[low : min(low + size, stop)]

    def take(self, indices: NDArray[np.intp]) -> Vector:
        """Return the rows at `indices`, shape (len(indices), d)."""
        return self.x[indices]

    def norms(self) -> Vector:
        """Return the l2 norm of every row, shape (n,); infinite where an entry is not finite."""
        return np.concatenate([row_norms(block) for block in self.blocks()])

    def weighted_mean(self, weights: Vector) -> Vector:
        """Return ``sum_i weights[i] x_i / n``, shape (d,); `weights` has shape (n,)."""
        total = np.zeros(self.d)
        low = 0
        for block in self.blocks():
            total += weights[low : low + len(block)] @ block
            low += len(block)
        return total / self.n


def rows_per_block(d: int) -> int:
    """Number of rows of dimension `d` in one block."""
    return max(1, BLOCK_BYTES // (8 * d))


def row_norms(block: Vector) -> Vector:
    """Return the l2 norms of the rows of `block` without overflow or underflow.

    A row with a NaN or an infinite entry has norm infinity.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = np.vecdot(block, block)
        norms: Vector = np.sqrt(squares)
        # Outside this range squaring has lost digits, or everything; a NaN is outside too.
        if len(block) and not (squares.min() > 1e-250 and squares.max() < 1e300):
            doubtful = ~((squares > 1e-250) & (squares < 1e300))
            rows = block[doubtful]
            largest = np.abs(rows).max(axis=1)
            safe = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
            scaled = rows / safe[:, None]
            exact = safe * np.sqrt(np.vecdot(scaled, scaled))
            norms[doubtful] = np.where(np.isfinite(largest), exact, np.inf)
    return norms
