"""What an optimiser sees: n records with their loss and their constraint set, and nothing else."""

from __future__ import annotations

from typing import Protocol

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import Rows
from dpsco_core.geometry.base import ConstraintSet


class Sample(Protocol):
    """n records of a problem, ready for optimisation. The distribution stays out of sight."""

    @property
    def n(self) -> int:
        """Number of records."""
        ...

    @property
    def d(self) -> int:
        """Dimension of the parameter."""
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

        Not finite only where the record is not.
        """
        ...

    def mean_gradient(self, w: Vector) -> Vector:
        """Return the gradient of the empirical risk at `w`, shape (d,)."""
        ...

    def risk(self, w: Vector) -> float:
        """Return the empirical risk at `w`."""
        ...

    def part(self, start: int, stop: int) -> Sample:
        """Return records `start` to `stop` alone, without copying them."""
        ...

    def bounded(self, radius: float, exponent: float = 2.0) -> Sample:
        """Return the sample with every record shrunk, where it is longer, to norm `radius`.

        The norm is that of the given exponent. Features of a generalised linear model, or the
        records themselves. The map is public and looks at one record at a time, so that neighbours
        stay neighbours, and every loss that results is Lipschitz and smooth with constants that
        `radius` gives; see `dpsco_core.methods.euclidean.lipschitz.surrogate`. A record
        that is not finite becomes the zero record.
        """
        ...
