"""A sample that is drawn as it is read, for optimisers that read the records in order.

It equals the problem's own sample, to the last bit: two keys determine the records and targets of
every block of `dpsco_core.data.blocks`. Whatever is computed of a range of records is computed from
the blocks that contain it, each of them a sample in memory, one after another.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector, close_arrays
from dpsco_core.data.base import Distribution
from dpsco_core.data.blocks import BlockStreams, Key
from dpsco_core.data.generated import BlockSource, Range
from dpsco_core.data.rows import DenseRows, Factors, PiecedRows, Rows
from dpsco_core.data.spread import SpreadRows
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.problems.samples.protocol import Sample


class BlockProblem(Protocol):
    """A problem whose sample is drawn block by block."""

    @property
    def law(self) -> Distribution:
        """The law of the features, or of the records."""
        ...

    @property
    def constraint(self) -> ConstraintSet:
        """The constraint set."""
        ...

    def records(self, rows: DenseRows, rng: np.random.Generator) -> Sample:
        """Return records with these features; their targets, if they have any, are drawn."""
        ...


class SampleSource(BlockSource[Sample]):
    """The blocks of a problem's sample, whose records are shrunk to all requested bounds."""

    def __init__(
        self,
        problem: BlockProblem,
        features: Key,  # the random key of the features
        targets: Key,  # the random key of the targets
        n: int,  # the total number of records
        # the arguments of `Sample.bounded`, norm and exponent, by which records are shrunk in order
        bounds: tuple[tuple[float, float], ...] = (),
    ) -> None:
        """Make a source of n records from the keys of their features and targets."""
        super().__init__(n, problem.law.d)
        self.problem, self.keys, self.bounds = problem, (features, targets), bounds
        self._features, self._targets = BlockStreams(features), BlockStreams(targets)

    def __reduce__(self) -> tuple[object, ...]:
        """Return what pickle needs to make the source again: problem, keys, size and bounds."""
        return SampleSource, (self.problem, *self.keys, self.n, self.bounds)

    def fresh_copy(self) -> SampleSource:
        """Return a source of the same records that shares no state with this one."""
        return self.bounded()

    def bounded(self, *bounds: tuple[float, float]) -> SampleSource:
        """Return a source of the same blocks with further bounds."""
        return SampleSource(self.problem, *self.keys, self.n, (*self.bounds, *bounds))

    def _draw(self, number: int, rows: int) -> Sample:
        """Return block `number`, drawn from the two keys and shrunk to all bounds."""
        features = np.empty((rows, self.d))
        self.problem.law.fill(features, self._features.generator(number))
        sample = self.problem.records(DenseRows(features), self._targets.generator(number))
        for radius, exponent in self.bounds:
            sample = sample.bounded(radius, exponent)
        close_arrays(sample)
        return sample


@dataclass(frozen=True, eq=False)
class GeneratedSample(Range[SampleSource]):
    """Records of a problem's sample that are never all in memory; see `Sample`.

    Parameters
    ----------
    source, start, stop
        See `Range`.
    executor : concurrent.futures.Executor, optional
        Forms the sums over all records, piece by piece: see `SpreadRows`. By default they are
        formed in this process.
    """

    executor: Executor | None = None

    @classmethod
    def from_keys(
        cls, problem: BlockProblem, features: Key, targets: Key, n: int
    ) -> GeneratedSample:
        """Return the sample of n records that a problem draws with these random keys."""
        source = SampleSource(problem, features, targets, n)
        return cls(source, 0, source.n)

    @cached_property
    def constraint(self) -> ConstraintSet:
        """The constraint set of the problem."""
        return self.source.problem.constraint

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[Sample]:
        """Yield in-memory samples that contain records `start` to `stop`, one at a time."""
        for number, low, high in self._parts(start, stop):
            block = self.source.block(number)
            yield block if high - low == block.n else block.part(low, high)

    def gradients(self, w: Vector) -> GeneratedGradients | SpreadRows:
        """Return the gradients at w as rows that are drawn as they are read."""
        gradients = GeneratedGradients(self, w)
        return gradients if self.executor is None else SpreadRows(gradients, self.executor)

    def gradient(self, w: Vector, i: int) -> Vector:
        """Return the gradient of record `i` at `w`."""
        number, place = divmod(self._source_range(i, i + 1)[0], self.source.size)
        return self.source.block(number).gradient(w, place)

    def mean_gradient(self, w: Vector) -> Vector:
        """Return the mean gradient at w, shape (d,)."""
        return self.gradients(w).total(sum_gradients) / self.n

    def risk(self, w: Vector) -> float:
        """Return the empirical risk at w."""
        return float(self.gradients(w).total(sum_losses)[0]) / self.n

    def bounded(self, radius: float, exponent: float = 2.0) -> GeneratedSample:
        """Return the sample with every longer record shrunk to norm `radius`."""
        return replace(self, source=self.source.bounded((radius, exponent)))


@dataclass(frozen=True, eq=False)
class GeneratedGradients(PiecedRows):
    """The per-sample gradients of a generated sample at one point; see `Rows`."""

    sample: GeneratedSample
    w: Vector  # the point at which gradients are taken, shape (d,)

    @property
    def n(self) -> int:
        """The number of records."""
        return self.sample.n

    @property
    def d(self) -> int:
        """The number of coordinates of a gradient."""
        return self.sample.d

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[Vector]:
        """Yield consecutive arrays that cover rows `start` to `stop`, formed one at a time."""
        for block in self.sample.blocks(start, stop):
            yield from block.gradients(self.w).blocks()

    def take(self, indices: NDArray[np.intp]) -> Vector:
        """Return the gradients of the records at `indices`, shape (len(indices), d)."""
        rows, source = np.empty((len(indices), self.d)), self.sample.source
        for number, selected, block_rows in source.blocks_of(self.sample.places(indices)):
            rows[selected] = source.block(number).gradients(self.w).take(block_rows)
        return rows

    def factors(self) -> Iterator[Factors]:
        """Yield the gradients in blocks as factors."""
        for block in self.sample.blocks():
            yield from block.gradients(self.w).factors()

    def pieces(self) -> Iterator[GeneratedGradients]:
        """Yield consecutive pieces that are small to send, since none holds any records."""
        # The pieces have no executor, because it cannot be sent to another process.
        for piece in replace(self.sample, executor=None).pieces():
            yield GeneratedGradients(piece, self.w)


def sum_gradients(piece: Rows) -> Vector:
    """Return the sum of a piece's gradients, shape (d,), without forming single gradients."""
    assert isinstance(piece, GeneratedGradients)
    total = np.zeros(piece.d)
    for block in piece.sample.blocks():
        total += block.n * block.mean_gradient(piece.w)
    return total


def sum_losses(piece: Rows) -> Vector:
    """Return the sum of the losses of a piece, shape (1,)."""
    assert isinstance(piece, GeneratedGradients)
    return np.array([sum(block.n * block.risk(piece.w) for block in piece.sample.blocks())])
