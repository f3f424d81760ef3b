"""The input of an optimiser: n records with their loss and their constraint set, nothing else."""

from __future__ import annotations

from typing import Protocol

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import Rows
from dpsco_core.geometry.base import ConstraintSet


class Sample(Protocol):
    """n records of a problem for an optimiser, which cannot see their distribution."""

    @property
    def n(self) -> int:
        """The number n of records."""
        ...

    @property
    def d(self) -> int:
        """The dimension of the parameter."""
        ...

    @property
    def constraint(self) -> ConstraintSet:
        """The constraint set; optimisers start at its centre."""
        ...

    def gradients(self, w: Vector) -> Rows:
        """Return the per-sample (sub)gradients at `w`, shape (d,), as n rows."""
        ...

    def gradient(self, w: Vector, i: int) -> Vector:
        """Return a (sub)gradient of the loss of record `i` at `w`, shape (d,); do not write to it.

        It is finite unless the record is not.
        """
        ...

    def mean_gradient(self, w: Vector) -> Vector:
        """Return the gradient of the empirical risk at `w`, shape (d,)."""
        ...

    def risk(self, w: Vector) -> float:
        """Return the empirical risk at `w`."""
        ...

    def part(self, start: int, stop: int) -> Sample:
        """Return records `start` to `stop` only, without copying them."""
        ...

    def bounded(self, radius: float, exponent: float = 2.0) -> Sample:
        """Return the sample with every longer record shrunk to norm `radius`.

        The norm has the given exponent, and is that of the features of a generalised linear model
        or of the records themselves. The map is public and acts on one record at a time, so
        neighbours stay neighbours, and `radius` gives the Lipschitz and smoothness constants of
        every resulting loss; see
        `dpsco_core.methods.euclidean.lipschitz.surrogate_constants`. A record that
        is not finite becomes the zero record.
        """
        ...
