"""Rows whose pieces are processed by workers, and summed at the centre."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.blas import one_blas_thread
from dpsco_core.base.dispatch import in_order
from dpsco_core.data.rows import Factors, PiecedRows, Rows

Part = Callable[[Rows], Vector]


@dataclass(frozen=True, eq=False)
class SpreadRows(Rows):
    """Rows whose sums (`total`) are formed by the workers of an executor, piece by piece.

    This is all that a method needs to run on more rows than one machine holds: its clipped sum is a
    map over the pieces and one reduction, and its ledger draws the noise once, at the centre. The
    workers see pieces of the records and return sums that are not private: they are trusted as much
    as the centre is.

    The sum is added in the order of the pieces, whichever finishes first. It equals the sum over
    `rows` to the last bit if the workers have the same linear algebra library and kind of
    processor. The piece of a worker that dies is processed again.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from dpsco_core import Scenario
    >>> from dpsco_core.methods.records.base import clipped_mean
    >>> rng = np.random.default_rng(0)
    >>> rows = Scenario().instance.problem.stream(10**5, rng)
    >>> with ThreadPoolExecutor(2) as executor:
    ...     spread = clipped_mean(SpreadRows(rows, executor), 5.0)
    >>> np.array_equal(spread, clipped_mean(rows, 5.0))
    True
    """

    rows: PiecedRows  # The generated rows; everything except totals is read from them locally.
    executor: Executor  # The executor; a few pieces per worker wait or run at a time.

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.rows.n

    @property
    def d(self) -> int:
        """The number of columns."""
        return self.rows.d

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[Vector]:
        """Yield the rows from `start` to `stop` in blocks, in this process."""
        return self.rows.blocks(start, stop)

    def take(self, indices: NDArray[np.intp]) -> Vector:
        """Return the rows at some indices."""
        return self.rows.take(indices)

    def factors(self) -> Iterator[Factors]:
        """Yield the rows in blocks as factors, in this process."""
        return self.rows.factors()

    def total(self, part: Part) -> Vector:
        """Return the sum of ``part(piece)`` over the pieces, each formed by a worker."""
        calls = ((part, piece) for piece in self.rows.pieces())
        with closing(in_order(self.executor, piece_total, calls)) as sums:
            total = next(sums).copy()
            for piece_sum in sums:
                total += piece_sum
        return total


def piece_total(call: tuple[Part, Rows]) -> Vector:
    """Return ``part(piece)`` for a pair of both, on one thread of linear algebra.

    It is a function of the module, because workers import it by its name.
    """
    part, piece = call
    with one_blas_thread():
        return part(piece)
