"""Rows: n vectors of dimension d, visited in blocks that fit the cache.

A method sees its input only through this protocol. It therefore allocates at most a few blocks
beyond its input, and per-sample gradients need never be formed.
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

# Blocks of 1.5 MiB still fit the cache for a second pass, and keep the overhead of calls small.
BLOCK_BYTES = 3 << 19


class Rows(ABC):
    """n rows of dimension d."""

    @property
    @abstractmethod
    def n(self) -> int:
        """The number n of rows."""

    @property
    @abstractmethod
    def d(self) -> int:
        """The dimension d of a row."""

    @abstractmethod
    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[Vector]:
        """Yield consecutive read-only (rows, d) arrays that cover rows `start` to `stop`."""

    @abstractmethod
    def take(self, indices: NDArray[np.intp]) -> Vector:
        """Return the rows at `indices`, shape (len(indices), d)."""

    def factors(self) -> Iterator[Factors]:
        """Yield all rows once as consecutive blocks of factors, as weighted sums need them."""
        return map(Factors, self.blocks())

    def total(self, part: Callable[[Rows], Vector]) -> Vector:
        """Return the sum of ``part(piece)`` over pieces that cover all rows once.

        `part` must be picklable (a module's function, or a `functools.partial` of one), because a
        worker may process a piece. Rows in memory are one piece; generated rows have pieces that
        are small to send.
        """
        return part(self)


class PiecedRows(Rows):
    """Rows in pieces that are small to send, such as generated rows."""

    @abstractmethod
    def pieces(self) -> Iterator[Rows]:
        """Yield consecutive pieces that cover all rows once."""

    def total(self, part: Callable[[Rows], Vector]) -> Vector:
        """Return the sum of ``part(piece)`` over the pieces, with the bits workers would give."""
        with one_blas_thread():
            sums = map(part, self.pieces())
            total = next(sums).copy()
            for piece_sum in sums:
                total += piece_sum
        return total


@dataclass(frozen=True, eq=False)
class Factors:
    """A block of rows as coefficients times base rows: row i is ``coefficients[i] * base[i]``."""

    base: Vector  # the base rows, shape (rows, d), read only
    # the coefficients, shape (rows,); None stands for 1 everywhere
    coefficients: Vector | None = None
    # the l2 norms of `base` if known, shape (rows,); infinite if an entry is not finite
    norms: Vector | None = None

    def __post_init__(self) -> None:
        """Convert the arrays to float64; refuse entries that are not real numbers."""
        object.__setattr__(self, "base", real_array("base", self.base))
        for name in ("coefficients", "norms"):
            factor = getattr(self, name)
            if factor is not None:
                object.__setattr__(self, name, real_array(name, factor))


@dataclass(frozen=True, eq=False)
class DenseRows(Rows):
    """Rows held as one (n, d) array."""

    # The records, shape (n, d), n and d at least 1. Entries may be NaN or infinite, which methods
    # must handle. The array and every view of it are read-only, because norms are cached and
    # sensitivities depend on them. Booleans, integers and other floats become float64, see
    # `real_array`. A float32 array stays float32, for half the memory; its rows are converted when
    # they are read (`read`), so that only the entries are rounded.
    x: Vector

    def __post_init__(self) -> None:
        """Make the array real and read-only; refuse one that is not of shape (n, d)."""
        object.__setattr__(self, "x", real_array("x", self.x, keep_single=True))
        # All methods of a trial share the array, so none may write to it.
        object.__setattr__(self, "x", read_only(self.x))
        require(self.x.ndim == 2, "x", "an array of shape (n, d)", self.x.shape)
        require(min(self.x.shape) > 0, "x", "an array with rows and columns", self.x.shape)

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.x.shape[0])

    @property
    def d(self) -> int:
        """The number of columns."""
        return int(self.x.shape[1])

    def read(self, rows: int | slice | NDArray[np.intp]) -> Vector:
        """Return one or some of the rows as float64, as a view if possible."""
        return real_array("x", self.x[rows])

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[Vector]:
        """Yield views of about `BLOCK_BYTES` that cover rows `start` to `stop`."""
        stop = self.n if stop is None else stop
        size = rows_per_block(self.d)
        for low in range(start, stop, size):
            yield self.read(slice(low, min(low + size, stop)))

    def take(self, indices: NDArray[np.intp]) -> Vector:
        """Return the rows at some indices, shape (len(indices), d)."""
        return self.read(indices)

    def norms(self) -> Vector:
        """Return the l2 norm of every row, shape (n,); infinite if an entry is not finite."""
        return read_only(self._norms)

    def norms_in(self, exponent: float) -> Vector:
        """Return the norm of every row with the given exponent, shape (n,); rows are finite."""
        return np.concatenate([row_norms_in(block, exponent) for block in self.blocks()])

    @cached_property
    def _norms(self) -> Vector:
        """The l2 norm of every row, computed once."""
        norms, low = np.empty(self.n), 0
        for block in self.blocks():
            norms[low : low + len(block)] = row_norms(block)
            low += len(block)
        norms.flags.writeable = False
        return norms


@dataclass(frozen=True, eq=False)
class ScaledRows(Rows):
    """Rows ``c_i x_i``: the per-sample gradients of a generalised linear model, never formed.

    A clipped sum of them costs two passes over x, the second from the cache: first the coefficients
    of a block, which depend on the products of its rows with the parameter, then the weighted sum.
    """

    x: DenseRows  # the features, with their cached norms
    # A function that maps the features of some rows, shape (rows, d), and their selector (a slice
    # or an array of indices) to their coefficients, shape (rows,).
    coefficients: Callable[[Vector, slice | NDArray[np.intp]], Vector]

    def coefficients_of(self, base: Vector, rows: slice | NDArray[np.intp]) -> Vector:
        """Return the coefficients of some rows, given their features, shape (rows,)."""
        return real_array("coefficients", self.coefficients(base, rows))

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.x.n

    @property
    def d(self) -> int:
        """The number of columns."""
        return self.x.d

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[Vector]:
        """Yield consecutive (rows, d) arrays of about `BLOCK_BYTES`, formed one at a time."""
        low = start
        for block in self.x.blocks(start, stop):
            yield _scale_rows(block, self.coefficients_of(block, slice(low, low + len(block))))
            low += len(block)

    def take(self, indices: NDArray[np.intp]) -> Vector:
        """Return the rows at `indices`, each times its coefficient."""
        rows = self.x.take(indices)
        return _scale_rows(rows, self.coefficients_of(rows, indices))

    def factors(self) -> Iterator[Factors]:
        """Yield all rows once, as blocks of coefficients, features and the features' norms."""
        norms = self.x.norms()
        low = 0
        for block in self.x.blocks():
            rows = slice(low, low + len(block))
            yield Factors(block, self.coefficients_of(block, rows), norms[rows])
            low += len(block)


def _scale_rows(block: Vector, coefficients: Vector) -> Vector:
    """Return every row of a block times its coefficient."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        scaled: Vector = coefficients[:, None] * block
    return scaled


@dataclass(frozen=True, eq=False)
class MappedRows(Rows):
    """Rows that are a function of other rows, formed one block at a time."""

    x: DenseRows  # the records that the function is applied to
    # A function that maps records, shape (rows, d), to new arrays of the same shape. The image of a
    # record must not depend on the other records.
    function: Callable[[Vector], Vector]

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.x.n

    @property
    def d(self) -> int:
        """The number of columns of the rows before the function."""
        return self.x.d

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[Vector]:
        """Yield the blocks of the mapped rows."""
        for block in self.x.blocks(start, stop):
            yield real_array("rows", self.function(block))

    def take(self, indices: NDArray[np.intp]) -> Vector:
        """Return the images of the rows at `indices`, shape (len(indices), d)."""
        return real_array("rows", self.function(self.x.take(indices)))


def rows_per_block(d: int) -> int:
    """Return the number of rows of dimension `d` in one block."""
    return max(1, BLOCK_BYTES // (8 * d))


def row_norms(block: Vector) -> Vector:
    """Return the l2 norms of the rows of `block` without overflow or underflow.

    A row with a NaN or an infinite entry has norm infinity.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = np.vecdot(block, block)
        norms: Vector = np.sqrt(squares)
        # Outside this range squares have lost digits or have overflowed; a NaN counts as outside.
        if len(block) and not (squares.min() > 1e-250 and squares.max() < 1e300):
            doubtful = ~((squares > 1e-250) & (squares < 1e300))
            rows = block[doubtful]
            if rows.any():  # In most rows of sparse data all entries are 0, and so are their norms.
                largest = np.abs(rows).max(axis=1)
                safe = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
                scaled = rows / safe[:, None]
                exact = safe * np.sqrt(np.vecdot(scaled, scaled))
                norms[doubtful] = np.where(np.isfinite(largest), exact, np.inf)
    return norms
