"""What the problems share whose records are points of the parameter's space."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.data.base import Distribution
from dpsco_core.data.blocks import draw_key
from dpsco_core.data.rows import DenseRows
from dpsco_core.problems.base import ExcessRisk
from dpsco_core.problems.posed import Posed
from dpsco_core.problems.samples.generated import GeneratedSample
from dpsco_core.problems.samples.points import PointLoss, PointSample


@dataclass(frozen=True, kw_only=True)
class PointProblem(Posed):
    """Records Z from a law, and a loss of the parameter and the record.

    Parameters
    ----------
    distribution : Distribution
        The law of Z; its `offset` is the norm of the mean. Hard instances have their own mean.
    radius, geometry
        See `Posed`.
    """

    distribution: Distribution

    @property
    @abstractmethod
    def loss(self) -> PointLoss:
        """The loss."""

    @property
    @abstractmethod
    def minimiser(self) -> Vector:
        """A minimiser of the population risk over the constraint set, shape (d,)."""

    @abstractmethod
    def excess_risk(self, w: Vector) -> ExcessRisk:
        """Return the excess population risk of `w`, shape (d,)."""

    def draw(self, rng: np.random.Generator) -> Self:
        return replace(self, distribution=self.distribution.draw(rng))

    @property
    def law(self) -> Distribution:
        """The law of a record."""
        return self.distribution

    def sample(self, n: int, rng: np.random.Generator) -> PointSample:
        return self.records(self.distribution.sample(n, rng), rng)

    def stream(self, n: int, rng: np.random.Generator) -> GeneratedSample:
        key = draw_key(rng)
        return GeneratedSample.of(self, key, key, n)

    def records(self, rows: DenseRows, rng: np.random.Generator) -> PointSample:
        """Return given records with the loss; nothing is drawn."""
        return PointSample(points=rows, loss=self.loss, constraint=self.constraint)
