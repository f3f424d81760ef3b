"""What the built-in optimisation problems share: a law, a constraint set, and a setting."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from dpsco_core.base.cards import ProblemCard
from dpsco_core.base.errors import require
from dpsco_core.data.base import Distribution
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.geometries import L2, Geometry
from dpsco_core.privacy.budget import Budget
from dpsco_core.problems.base import Constants, Setting


@dataclass(frozen=True, kw_only=True)
class Posed(ABC):
    """What all built-in optimisation problems have: a set from a family, and a law."""

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
        """The certified constants."""

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
