"""Rows: n vectors of dimension d, visited in blocks that fit the cache.

A method sees its input only through this protocol, so that it never allocates more than a few
blocks beyond it, and so that per-sample gradients need never be formed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector, read_only, real_array
from dpsco_core.base.blas import one_blas_thread
from dpsco_core.base.errors import require
from dpsco_core.geometry.norms import row_norms as row_norms_in

BLOCK_BYTES = 3 << 19  # 1.5 MiB: the second visit is from the cache, and calls cost little


class Rows(ABC):
    """n rows of dimension d."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def d(self) -> int:
        """Dimension."""

    @abstractmethod
    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[Vector]:
        """Yield consecutive (rows, d) arrays that cover rows `start` to `stop`; read only."""

    @abstractmethod
    def take(self, indices: NDArray[np.intp]) -> Vector:
        """Return the rows at `indices`, shape (len(indices), d)."""

    def factors(self) -> Iterator[Factors]:
        """Yield consecutive blocks as factors, all rows once: what a weighted sum needs."""
        return map(Factors, self.blocks())

    def total(self, part: Callable[[Rows], Vector]) -> Vector:
        """Return the sum of ``part(piece)`` over pieces that hold all rows once.

        `part` must be picklable (a function of a module, or a `functools.partial` of one), since a
        piece may be worked on elsewhere. Rows in memory are one piece; rows that are generated
        have pieces that are small to send.
        """
        return part(self)


class PiecedRows(Rows):
    """Rows that come in pieces which are small to send: generated ones."""

    @abstractmethod
    def pieces(self) -> Iterator[Rows]:
        """Yield consecutive pieces that hold all rows once."""

    def total(self, part: Callable[[Rows], Vector]) -> Vector:
        """Return the sum of ``part(piece)`` over the pieces, to the bit what workers would send."""
        with one_blas_thread():
            sums = map(part, self.pieces())
            total = next(sums).copy()
            for other in sums:
                total += other
        return total


@dataclass(frozen=True, eq=False)
class Factors:
    """A block of rows as coefficients times base rows: row i is ``coefficients[i] * base[i]``."""

    base: Vector  # shape (rows, d): read only
    coefficients: Vector | None = None  # shape (rows,): None means 1 everywhere
    # shape (rows,): l2 norms of `base` where they are known already; infinite where an entry is not
    # finite
    norms: Vector | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", real_array("base", self.base))
        for name in ("coefficients", "norms"):
            factor = getattr(self, name)
            if factor is not None:
                object.__setattr__(self, name, real_array(name, factor))


@dataclass(frozen=True, eq=False)
class DenseRows(Rows):
    """Rows held as one (n, d) array."""

    # shape (n, d): n and d at least 1. Entries may be NaN or infinite: methods must cope. Nobody
    # may write into it afterwards: norms are kept, and sensitivities rest on them; what is held
    # here, and every view that is handed out, is read only. Booleans,
    # integers and other floating-point numbers are converted to float64 here, see `real_array`;
    # float32 stays, for half the memory: then rows are converted as they are read (`read`), and
    # everything but the rounding of the entries is exact.
    x: Vector

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", real_array("x", self.x, keep_single=True))
        object.__setattr__(self, "x", read_only(self.x))  # all methods of a trial share it
        require(self.x.ndim == 2, "x", "an array of shape (n, d)", self.x.shape)
        require(min(self.x.shape) > 0, "x", "an array with rows and columns", self.x.shape)

    @property
    def n(self) -> int:
        return int(self.x.shape[0])

    @property
    def d(self) -> int:
        return int(self.x.shape[1])

    def read(self, rows: int | slice | NDArray[np.intp]) -> Vector:
        """Return some of the rows as float64, or one of them: a view where it can be."""
        return real_array("x", self.x[rows])

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[Vector]:
        """Yield views of about `BLOCK_BYTES` that cover rows `start` to `stop`."""
        stop = self.n if stop is None else stop
        size = rows_per_block(self.d)
        for low in range(start, stop, size):
            yield self.read(slice(low, min(low + size, stop)))

    def take(self, indices: NDArray[np.intp]) -> Vector:
        return self.read(indices)

    def norms(self) -> Vector:
        """Return the l2 norm of every row, shape (n,); infinite where an entry is not finite."""
        return read_only(self._norms)

    def norms_in(self, exponent: float) -> Vector:
        """Return the norm of every row with the given exponent, shape (n,); rows are finite."""
        return np.concatenate([row_norms_in(block, exponent) for block in self.blocks()])

    @cached_property
    def _norms(self) -> Vector:
        norms, low = np.empty(self.n), 0
        for block in self.blocks():
            norms[low : low + len(block)] = row_norms(block)
            low += len(block)
        norms.flags.writeable = False
        return norms


@dataclass(frozen=True, eq=False)
class ScaledRows(Rows):
    """Rows ``c_i x_i``: the per-sample gradients of a generalised linear model, never formed.

    A clipped sum of them costs two passes over x, the second from the cache: the coefficients of
    a block, which depend on the products of its rows with the parameter, then its weighted sum.
    """

    x: DenseRows  # The features. Their norms are computed once and kept with them.
    # takes the features of some rows, shape (rows, d), and what selects them (a slice or an array
    # of indices) and returns their coefficients, shape (rows,)
    coefficients: Callable[[Vector, slice | NDArray[np.intp]], Vector]

    def coefficients_of(self, base: Vector, rows: slice | NDArray[np.intp]) -> Vector:
        """Return the coefficients of some rows, given their features, shape (rows,)."""
        return real_array("coefficients", self.coefficients(base, rows))

    @property
    def n(self) -> int:
        return self.x.n

    @property
    def d(self) -> int:
        return self.x.d

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[Vector]:
        """Yield consecutive (rows, d) arrays of about `BLOCK_BYTES`, formed one at a time."""
        low = start
        for block in self.x.blocks(start, stop):
            yield _scaled(block, self.coefficients_of(block, slice(low, low + len(block))))
            low += len(block)

    def take(self, indices: NDArray[np.intp]) -> Vector:
        chosen = self.x.take(indices)
        return _scaled(chosen, self.coefficients_of(chosen, indices))

    def factors(self) -> Iterator[Factors]:
        """Yield coefficients, features and their norms, block by block."""
        norms = self.x.norms()
        low = 0
        for block in self.x.blocks():
            rows = slice(low, low + len(block))
            yield Factors(block, self.coefficients_of(block, rows), norms[rows])
            low += len(block)


def _scaled(block: Vector, coefficients: Vector) -> Vector:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        scaled: Vector = coefficients[:, None] * block
    return scaled


@dataclass(frozen=True, eq=False)
class MappedRows(Rows):
    """Rows that are a function of other rows, formed one block at a time."""

    x: DenseRows  # the records
    # Takes records, shape (rows, d), and returns new arrays of the same shape. What it does to a
    # record must not depend on the other records.
    function: Callable[[Vector], Vector]

    @property
    def n(self) -> int:
        return self.x.n

    @property
    def d(self) -> int:
        return self.x.d

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[Vector]:
        for block in self.x.blocks(start, stop):
            yield real_array("rows", self.function(block))

    def take(self, indices: NDArray[np.intp]) -> Vector:
        return real_array("rows", self.function(self.x.take(indices)))


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
            if rows.any():  # else they are 0, as their norms are: most rows of sparse data
                largest = np.abs(rows).max(axis=1)
                safe = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
                scaled = rows / safe[:, None]
                exact = safe * np.sqrt(np.vecdot(scaled, scaled))
                norms[doubtful] = np.where(np.isfinite(largest), exact, np.inf)
    return norms
