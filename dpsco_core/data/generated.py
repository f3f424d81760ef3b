"""Rows that are drawn each time they are read: any number of them in 10 MB.

They equal the rows of `Distribution.sample` with the same generator, to the last bit, because both
are drawn in the blocks of `dpsco_core.data.blocks`. A piece of them is described by its law, key
and range, which are small enough to send to a worker.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.data.blocks import BlockStreams, Key, Law, require_sample_size, stream_rows
from dpsco_core.data.rows import PiecedRows

Block = TypeVar("Block")
AnySource = TypeVar("AnySource", bound="BlockSource[Any]")

# A piece of this many blocks has 12 million entries, which take a tenth of a second.
PIECE_BLOCKS = 128


class BlockSource(ABC, Generic[Block]):
    """The blocks of a sample by their number, drawn on request; the last one drawn is cached.

    Threads that share a source wait for one another, so each should have its own `fresh_copy`.
    """

    def __init__(self, n: int, d: int) -> None:
        """Make a source of n rows of d numbers, without any block in memory."""
        self.n, self.d = require_sample_size(n), d
        self.size = stream_rows(d)
        self._lock = Lock()
        self._cached_block: tuple[int, Block] | None = None

    @abstractmethod
    def fresh_copy(self) -> Self:
        """Return a source of the same blocks with an empty cache."""

    @abstractmethod
    def _draw(self, number: int, rows: int) -> Block:
        """Draw the block with the given number in the sample and the given number of rows."""

    def block(self, number: int) -> Block:
        """Return the block with this number, drawn unless it is cached; it is read-only."""
        with self._lock:
            if self._cached_block is None or self._cached_block[0] != number:
                rows = min(self.size, self.n - number * self.size)
                self._cached_block = None  # The old block is freed before the new one is drawn.
                self._cached_block = (number, self._draw(number, rows))
            return self._cached_block[1]

    def parts(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Yield ``(number, low, high)`` for every block that overlaps rows `start` to `stop`.

        Rows `low` to `high` of that block are the ones wanted.
        """
        if start == stop:
            return
        for number in range(start // self.size, -(-stop // self.size)):
            block_start = number * self.size
            yield number, max(start - block_start, 0), min(stop - block_start, self.size)

    def blocks_of(
        self, places: NDArray[np.int64]
    ) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.intp]]]:
        """Yield ``(number, indices, positions)`` for every block that has rows at `places`.

        `indices` says which entries of `places` these k rows are, and `positions` where they are
        in block `number`; both have shape (k,).
        """
        numbers, rows = np.divmod(places, self.size)
        for number in np.unique(numbers):
            selected = np.flatnonzero(numbers == number)
            yield int(number), selected, rows[selected].astype(np.intp, copy=False)


class RowSource(BlockSource[Vector]):
    """The blocks of a sample from a law."""

    def __init__(self, law: Law, key: Key, n: int) -> None:
        """Make a source of n rows that a law and a key determine."""
        super().__init__(n, law.d)
        self.law, self.key = law, key
        self._streams = BlockStreams(key)

    def __reduce__(self) -> tuple[type[RowSource], tuple[Law, Key, int]]:
        """Return what pickle needs to make the source again: its law, its key and its size."""
        return RowSource, (self.law, self.key, self.n)

    def fresh_copy(self) -> RowSource:
        """Return a source of the same rows that shares no state with this one."""
        return RowSource(self.law, self.key, self.n)

    def _draw(self, number: int, rows: int) -> Vector:
        """Return block `number` of the rows, read-only."""
        block = np.empty((rows, self.d))
        self.law.fill(block, self._streams.generator(number))
        block.flags.writeable = False
        return block.view()  # A view of a read-only array cannot be made writeable again.


@dataclass(frozen=True, eq=False)
class Range(Generic[AnySource]):
    """A range of the records of a source, shared by generated rows and generated samples."""

    source: AnySource
    start: int  # the first record of the range
    stop: int  # the end of the range, which is not part of it; above `start`

    def __post_init__(self) -> None:
        """Refuse a range that is empty or leaves the source's rows."""
        is_range = 0 <= self.start < self.stop <= self.source.n
        require(is_range, "start", f"before stop, both in 0 to {self.source.n}", self.start)

    @property
    def n(self) -> int:
        """The number of rows in the range."""
        return self.stop - self.start

    @property
    def d(self) -> int:
        """The number of columns."""
        return self.source.d

    def part(self, start: int, stop: int) -> Self:
        """Return records `start` to `stop` of this range as a range of the same source."""
        low, high = self._source_range(start, stop)
        return replace(self, start=low, stop=high)

    def _source_range(self, start: int, stop: int | None) -> tuple[int, int]:
        """Return where records `start` to `stop` of this range begin and end in the source."""
        stop = self.n if stop is None else stop
        require(0 <= start <= stop <= self.n, "stop", f"from start to {self.n}", stop)
        return self.start + start, self.start + stop

    def places(self, indices: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return indices of this range as places in the source, which may exceed 2^31.

        Raises `InvalidInput` if an index is outside the range.
        """
        if len(indices):
            low, high = int(indices.min()), int(indices.max())
            extreme = low if low < 0 else high
            require(0 <= low <= high < self.n, "indices", f"from 0 to {self.n - 1}", extreme)
        # Short integers would wrap around in the sum.
        return self.start + indices.astype(np.int64, copy=False)

    def _parts(self, start: int, stop: int | None) -> Iterator[tuple[int, int, int]]:
        """Yield ``(number, low, high)``: rows low to high of a block are in start to stop."""
        return self.source.parts(*self._source_range(start, stop))

    def pieces(self) -> Iterator[Self]:
        """Yield consecutive parts of at most `PIECE_BLOCKS` blocks, each with its own source.

        A range that fits in one piece is yielded as it is, with its source and the cached block.
        """
        size = PIECE_BLOCKS * self.source.size
        if self.start // size == (self.stop - 1) // size:
            yield self
            return
        for low in range(self.start - self.start % size, self.stop, size):
            piece_start, piece_stop = max(low, self.start), min(low + size, self.stop)
            yield replace(self, source=self.source.fresh_copy(), start=piece_start, stop=piece_stop)


@dataclass(frozen=True, eq=False)
class GeneratedRows(Range[RowSource], PiecedRows):
    """Rows of a sample that is never held in memory; see `Rows`.

    Reading rows in order draws each block once. `take` draws every block that it takes a row from.
    """

    @classmethod
    def from_key(cls, law: Law, key: Key, n: int) -> GeneratedRows:
        """Return all n rows of the sample of a law with this key."""
        source = RowSource(law, key, n)
        return cls(source, 0, source.n)

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[Vector]:
        """Yield the blocks that cover rows `start` to `stop`, drawn one at a time."""
        for number, low, high in self._parts(start, stop):
            yield self.source.block(number)[low:high]

    def take(self, indices: NDArray[np.intp]) -> Vector:
        """Return the rows at `indices`, shape (len(indices), d)."""
        rows = np.empty((len(indices), self.d))
        for number, selected, block_rows in self.source.blocks_of(self.places(indices)):
            rows[selected] = self.source.block(number)[block_rows]
        return rows
