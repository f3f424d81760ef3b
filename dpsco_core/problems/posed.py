"""The interface of a problem: a law of the records, a set of answers, and the risk of an answer."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

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

UNRELATED = "one whose hidden signs decide the answer of this problem"


class Problem(ABC):
    """A mean to estimate, or a risk to minimise."""

    card: ClassVar[ProblemCard]
    # Whether risks are exact rather than averages over an evaluation sample; on a two-point
    # distribution they are always exact.
    exact_risk: ClassVar[bool] = False
    geometry: Geometry  # the family of the set of possible estimates
    # The quantities that the prior of a hard instance may hide in this problem: see
    # `Distribution.hides`.
    hideable: ClassVar[tuple[str, ...]] = ("mean",)

    @property
    @abstractmethod
    def law(self) -> Distribution:
        """The distribution of a record, or of its features."""

    @property
    @abstractmethod
    def constraint(self) -> ConstraintSet:
        """The set over which the risk is minimised, or the set known to contain the mean."""

    @property
    @abstractmethod
    def constants(self) -> Constants:
        """The certified constants of the problem."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Self:
        """Return the problem with what a hard instance hides, drawn from the prior."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Any:
        """Return n independent records."""

    @abstractmethod
    def stream(self, n: int, rng: np.random.Generator) -> Any:
        """Return the records of `sample`, drawn as they are read and never stored."""

    @abstractmethod
    def excess_risk(self, w: Vector, /) -> ExcessRisk:
        """Return the error of the finite estimate `w`, shape (d,)."""

    def errors_along_the_mean(self, lengths: Vector) -> Vector | None:
        """Return the errors, shape (k,), of answers to averages of the records with these norms.

        Each average is supposed to have the direction of the mean, which lies in the l2 ball of
        answers, and the answer is not private. None if the lengths do not determine the errors.
        """
        return None

    @abstractmethod
    def setting(
        self, n: int, budget: Budget, *, m: int = 1, spike_probability: float | None = None
    ) -> Setting:
        """Return the information that methods and bounds may use, for n users of m items."""

    # -- how a scenario makes a problem -------------------------------------------------------

    @classmethod
    def unmet_condition(cls, family: type[Distribution]) -> str:
        """Return the condition that a class of laws fails, as words after "must be"; or ""."""
        return "" if family.hides in cls.hideable else UNRELATED

    @classmethod
    def allows_unequal_scales(cls, family: type[Distribution]) -> bool:
        """Return whether coordinates may have unequal scales, for laws of the given class."""
        return True

    @staticmethod
    def feature_order(p: float) -> float:
        """Return the moment order of `law` for which the gradients have order `p`."""
        return p

    @classmethod
    def mean_parts(
        cls, geometry: Geometry, d: int, offset: float, radius: float
    ) -> tuple[float, float]:
        """Return the mean in every coordinate, and the part added to the first coordinate."""
        return geometry.parts(d, offset, radius)

    @classmethod
    @abstractmethod
    def on_law(cls, law: Any, *, offset: float, radius: float, geometry: Geometry) -> Self:
        """Return the problem for a distribution; see `dpsco_core.catalogue.make_instance`."""


@dataclass(frozen=True, kw_only=True)
class OptimisationProblem(Problem):
    """A loss, a distribution of the records, and a constraint set from a family."""

    radius: float  # half the diameter of the constraint set, in its own norm
    geometry: Geometry = L2  # the family of the constraint set
    # The units whose product is the unit of a gradient; the first is that of the records. Empty if
    # a gradient has no unit.
    gradient_units: ClassVar[tuple[str, ...]] = ("records",)

    def __post_init__(self) -> None:
        """Refuse a radius that is not positive, and a dimension that the set lacks."""
        require(0 < self.radius < math.inf, "diameter", "finite and above 0", 2 * self.radius)
        self.geometry.check_dimension(self.law.d)

    @property
    @abstractmethod
    def minimiser(self) -> Vector:
        """A minimiser of the population risk over the constraint set, shape (d,)."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        """Return n independent records."""

    @abstractmethod
    def stream(self, n: int, rng: np.random.Generator) -> Sample:
        """Return the records of `sample`, drawn as they are read and never stored."""

    @abstractmethod
    def excess_risk(self, w: Vector) -> ExcessRisk:
        """Return the excess population risk of the finite parameter `w`, shape (d,)."""

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
        """Return the information that methods and bounds may use, for n users of m items."""
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
