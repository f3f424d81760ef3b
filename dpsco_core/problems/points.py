"""What the problems share whose records are points of the parameter's space."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import ProblemCard
from dpsco_core.base.errors import require
from dpsco_core.data.base import Distribution
from dpsco_core.data.blocks import draw_key
from dpsco_core.data.rows import DenseRows
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.geometries import L2, Geometry
from dpsco_core.privacy.budget import Budget
from dpsco_core.problems.base import Constants, ExcessRisk, Setting
from dpsco_core.problems.samples.generated import GeneratedSample
from dpsco_core.problems.samples.points import PointLoss, PointSample


@dataclass(frozen=True, kw_only=True)
class PointProblem(ABC):
    """Records Z from a law, and a loss of the parameter and the record.

    Parameters
    ----------
    distribution : Distribution
        The law of Z; its `offset` is the norm of the mean. Hard instances have their own mean.
    radius : float
        Half the diameter of the constraint set, in its own norm.
    geometry : Geometry
        The family of the constraint set.

    Raises
    ------
    InvalidInput
        If a value is outside its range.
    """

    distribution: Distribution
    radius: float
    geometry: Geometry = L2

    card: ClassVar[ProblemCard]

    def __post_init__(self) -> None:
        require(0 < self.radius < math.inf, "diameter", "finite and above 0", 2 * self.radius)
        self.geometry.check_dimension(self.distribution.d)

    @property
    @abstractmethod
    def loss(self) -> PointLoss:
        """The loss."""

    @property
    @abstractmethod
    def constants(self) -> Constants:
        """The certified constants."""

    @property
    @abstractmethod
    def minimiser(self) -> Vector:
        """A minimiser of the population risk over the constraint set, shape (d,)."""

    @abstractmethod
    def excess_risk(self, w: Vector) -> ExcessRisk:
        """Return the excess population risk of `w`, shape (d,)."""

    @staticmethod
    def feature_order(p: float) -> float:
        """Return the moment order of `distribution` that makes the gradients' order `p`."""
        return p

    @property
    def constraint(self) -> ConstraintSet:
        """The constraint set."""
        return self.geometry.constraint(self.distribution.d, self.radius)

    @property
    def l2_radius(self) -> float:
        """The largest l2 norm of a point of the constraint set."""
        return self.constraint.l2_radius

    def draw(self, rng: np.random.Generator) -> Self:
        """Return one member of the prior: hard instances draw their pattern."""
        return replace(self, distribution=self.distribution.draw(rng))

    @property
    def law(self) -> Distribution:
        """The law of a record."""
        return self.distribution

    def sample(self, n: int, rng: np.random.Generator) -> PointSample:
        """Return n independent records."""
        return self.records(self.distribution.sample(n, rng), rng)

    def stream(self, n: int, rng: np.random.Generator) -> GeneratedSample:
        """Return the same records as `sample`, drawn when they are read."""
        key = draw_key(rng)
        return GeneratedSample.of(self, key, key, n)

    def records(self, rows: DenseRows, rng: np.random.Generator) -> PointSample:
        """Return given records with the loss; nothing is drawn."""
        return PointSample(points=rows, loss=self.loss, constraint=self.constraint)

    def setting(
        self, n: int, budget: Budget, *, m: int = 1, spike_probability: float | None = None
    ) -> Setting:
        """Return what methods and bounds may know about this problem at n users of m items."""
        return Setting(
            n=n,
            m=m,
            d=self.distribution.d,
            moment_order=self.distribution.moment_order,
            budget=budget,
            constants=self.constants,
            spike_probability=spike_probability,
            constraint=self.constraint,
            exponent=self.geometry.exponent,
        )
