"""A problem of stochastic optimisation: a loss, a law of the records and a constraint set."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import ProblemCard
from dpsco_core.base.errors import require
from dpsco_core.data.base import Distribution
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.geometries import L2, Geometry
from dpsco_core.privacy.budget import Budget
from dpsco_core.problems.base import Constants, ExcessRisk, Setting
from dpsco_core.problems.samples.protocol import Sample


@dataclass(frozen=True, kw_only=True)
class OptimisationProblem(ABC):
    """A loss, a law of the records and a constraint set from a family."""

    radius: float  # half the diameter of the constraint set, in its own norm
    geometry: Geometry = L2  # the family of the constraint set

    card: ClassVar[ProblemCard]

    def __post_init__(self) -> None:
        require(0 < self.radius < math.inf, "diameter", "finite and above 0", 2 * self.radius)
        self.geometry.check_dimension(self.law.d)

    @property
    @abstractmethod
    def law(self) -> Distribution:
        """The law of a record, or of its features."""

    @property
    @abstractmethod
    def constants(self) -> Constants:
        """What is certified of the loss under the law, over the constraint set."""

    @property
    @abstractmethod
    def minimiser(self) -> Vector:
        """A minimiser of the population risk over the constraint set, shape (d,)."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Self:
        """Return one member of the prior: hard instances draw their pattern."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        """Return n independent records."""

    @abstractmethod
    def stream(self, n: int, rng: np.random.Generator) -> Sample:
        """Return the same records as `sample`, drawn when they are read and never held."""

    @abstractmethod
    def excess_risk(self, w: Vector) -> ExcessRisk:
        """Return the excess population risk of the finite parameter `w`, shape (d,)."""

    @staticmethod
    def feature_order(p: float) -> float:
        """Return the moment order of `law` that makes the gradients' order `p`."""
        return p

    @property
    def moment_order(self) -> float:
        """The order p of the gradients' moments."""
        return self.law.moment_order

    @property
    def constraint(self) -> ConstraintSet:
        """The constraint set."""
        return self.geometry.constraint(self.law.d, self.radius)

    @property
    def l2_radius(self) -> float:
        """The largest l2 norm of a point of the constraint set."""
        return self.constraint.l2_radius

    def setting(
        self, n: int, budget: Budget, *, m: int = 1, spike_probability: float | None = None
    ) -> Setting:
        """Return what methods and bounds may know about this problem at n users of m items."""
        return Setting(
            n=n,
            m=m,
            d=self.law.d,
            moment_order=self.moment_order,
            budget=budget,
            constants=self.constants,
            spike_probability=spike_probability,
            constraint=self.constraint,
            exponent=self.geometry.exponent,
        )
