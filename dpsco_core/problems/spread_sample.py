"""A generated sample whose gradients are summed elsewhere: see `dpsco_core.data.spread`."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsco_core.data.rows import Rows
from dpsco_core.data.spread import SpreadRows
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.problems.generated_sample import GeneratedGradients, GeneratedSample

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SpreadSample:
    """A sample whose passes over all records are a map over pieces and one sum; see `Sample`.

    Every pass draws the records again, where they are looked at. What is asked of one record is
    answered here.

    Parameters
    ----------
    sample : GeneratedSample
    executor : concurrent.futures.Executor
    """

    sample: GeneratedSample
    executor: Executor

    @property
    def n(self) -> int:
        """Number of records."""
        return self.sample.n

    @property
    def d(self) -> int:
        """Dimension of the parameter."""
        return self.sample.d

    @property
    def constraint(self) -> ConstraintSet:
        """The constraint set."""
        return self.sample.constraint

    def gradients(self, w: Vector) -> SpreadRows:
        """Return the per-sample gradients at `w`."""
        return SpreadRows(self.sample.gradients(w), self.executor)

    def gradient(self, w: Vector, i: int) -> Vector:
        """Return the gradient of record `i` at `w`."""
        return self.sample.gradient(w, i)

    def mean_gradient(self, w: Vector) -> Vector:
        """Return the gradient of the empirical risk at `w`, in one pass."""
        return self.gradients(w).total(gradient_of) / self.n

    def risk(self, w: Vector) -> float:
        """Return the empirical risk at `w`, in one pass."""
        return float(self.gradients(w).total(risk_of)[0]) / self.n

    def part(self, start: int, stop: int) -> SpreadSample:
        """Return records `start` to `stop` alone."""
        return replace(self, sample=self.sample.part(start, stop))

    def bounded(self, radius: float, exponent: float = 2.0) -> SpreadSample:
        """Return the sample with every record shrunk, where it is longer, to norm `radius`."""
        return replace(self, sample=self.sample.bounded(radius, exponent))


def gradient_of(piece: Rows) -> Vector:
    """Return the sum of the gradients of a piece, shape (d,), none of them formed."""
    assert isinstance(piece, GeneratedGradients)
    return piece.n * piece.sample.mean_gradient(piece.w)


def risk_of(piece: Rows) -> Vector:
    """Return the sum of the losses of a piece, shape (1,)."""
    assert isinstance(piece, GeneratedGradients)
    return np.array([piece.n * piece.sample.risk(piece.w)])
