"""Rows that are drawn when they are read, and again at every pass: any number of them in 10 MB.

They are the rows of `Distribution.sample` with the same generator, to the last bit, since both are
drawn in the blocks of `dpsco_core.data.blocks`. A piece of them is its law, its key and its range:
small enough to be sent where the work is done.
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

PIECE_BLOCKS = 128  # 12 million entries: a tenth of a second


class BlockSource(ABC, Generic[Block]):
    """Blocks by number, drawn when they are asked for; the last one is kept.

    Threads take turns: give each a copy of its own (`again`).
    """

    def __init__(self, n: int, d: int) -> None:
        self.n, self.d = require_sample_size(n), d
        self.size = stream_rows(d)
        self._lock = Lock()
        self._last: tuple[int, Block] | None = None

    @abstractmethod
    def again(self) -> Self:
        """Return a source of the same blocks with nothing kept."""

    @abstractmethod
    def _draw(self, number: int, rows: int) -> Block:
        """Return a block, which has so many rows."""

    def block(self, number: int) -> Block:
        """Return a block; do not write to it."""
        with self._lock:
            if self._last is None or self._last[0] != number:
                rows = min(self.size, self.n - number * self.size)
                self._last = None  # never two at a time
                self._last = (number, self._draw(number, rows))
            return self._last[1]

    def parts(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Yield ``(number, low, high)`` for every block that holds rows `start` to `stop`."""
        if start == stop:
            return
        for number in range(start // self.size, -(-stop // self.size)):
            first = number * self.size
            yield number, max(start - first, 0), min(stop - first, self.size)

    def chosen(
        self, places: NDArray[np.int64]
    ) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.intp]]]:
        """Yield every block that holds some of the places: its number, which ones, and its rows."""
        numbers, rows = np.divmod(places, self.size)
        for number in np.unique(numbers):
            which = np.flatnonzero(numbers == number)
            yield int(number), which, rows[which].astype(np.intp, copy=False)


class RowSource(BlockSource[Vector]):
    """The blocks of a sample of a law."""

    def __init__(self, law: Law, key: Key, n: int) -> None:
        super().__init__(n, law.d)
        self.law, self.key = law, key
        self._streams = BlockStreams(key)

    def __reduce__(self) -> tuple[type[RowSource], tuple[Law, Key, int]]:
        return RowSource, (self.law, self.key, self.n)

    def again(self) -> RowSource:
        return RowSource(self.law, self.key, self.n)

    def _draw(self, number: int, rows: int) -> Vector:
        block = np.empty((rows, self.d))
        self.law.fill(block, self._streams.at(number))
        block.flags.writeable = False
        return block.view()  # a view cannot be made writeable again


@dataclass(frozen=True, eq=False)
class Range(Generic[AnySource]):
    """What generated rows and generated samples share: some of the records of a source."""

    source: AnySource
    # the range, not empty
    start: int
    stop: int

    def __post_init__(self) -> None:
        inside = 0 <= self.start < self.stop <= self.source.n
        require(inside, "start", f"before stop, both in 0 to {self.source.n}", self.start)

    @property
    def n(self) -> int:
        return self.stop - self.start

    @property
    def d(self) -> int:
        return self.source.d

    def part(self, start: int, stop: int) -> Self:
        low, high = self._within(start, stop)
        return replace(self, start=low, stop=high)

    def _within(self, start: int, stop: int | None) -> tuple[int, int]:
        """Return a range of this one as one of the source."""
        stop = self.n if stop is None else stop
        require(0 <= start <= stop <= self.n, "stop", f"from start to {self.n}", stop)
        return self.start + start, self.start + stop

    def places(self, indices: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return indices of this range as places in the source, which may be beyond 2^31."""
        if len(indices):
            low, high = int(indices.min()), int(indices.max())
            outside = low if low < 0 else high
            require(0 <= low <= high < self.n, "indices", f"from 0 to {self.n - 1}", outside)
        return self.start + indices.astype(np.int64, copy=False)  # short integers would wrap around

    def _parts(self, start: int, stop: int | None) -> Iterator[tuple[int, int, int]]:
        """Yield ``(number, low, high)`` for every block that holds some of the records."""
        return self.source.parts(*self._within(start, stop))

    def pieces(self) -> Iterator[Self]:
        """Yield consecutive pieces, cut at the ends of blocks, each with a source of its own.

        What is a single piece keeps its source, and the block that this holds.
        """
        size = PIECE_BLOCKS * self.source.size
        if self.start // size == (self.stop - 1) // size:
            yield self
            return
        for low in range(self.start - self.start % size, self.stop, size):
            first, last = max(low, self.start), min(low + size, self.stop)
            yield replace(self, source=self.source.again(), start=first, stop=last)


@dataclass(frozen=True, eq=False)
class GeneratedRows(Range[RowSource], PiecedRows):
    """Rows of a sample that is never held; see `Rows`.

    Reading them in their order costs one draw of each block. `take` draws every block that holds
    an index.
    """

    @classmethod
    def of(cls, law: Law, key: Key, n: int) -> GeneratedRows:
        """Return all n rows of the sample of a law with this key."""
        source = RowSource(law, key, n)
        return cls(source, 0, source.n)

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[Vector]:
        """Yield the blocks of the sample that cover rows `start` to `stop`, drawn one at a time."""
        for number, low, high in self._parts(start, stop):
            yield self.source.block(number)[low:high]

    def take(self, indices: NDArray[np.intp]) -> Vector:
        rows = np.empty((len(indices), self.d))
        for number, which, inside in self.source.chosen(self.places(indices)):
            rows[which] = self.source.block(number)[inside]
        return rows
