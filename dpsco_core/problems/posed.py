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
    """A mean to be estimated, or a risk to be minimised."""

    card: ClassVar[ProblemCard]
    # Whether risks are exact instead of averages over an evaluation sample; on a two-point
    # distribution they always are exact.
    exact_risk: ClassVar[bool] = False
    geometry: Geometry  # the family of the set of possible estimates
    # The quantities that the prior of a hard instance may hide in this problem: see
    # `Distribution.hides`.
    hideable: ClassVar[tuple[str, ...]] = ("mean",)

    @property
    @abstractmethod
    def law(self) -> Distribution:
        """The law of a record, or of its features."""

    @property
    @abstractmethod
    def constraint(self) -> ConstraintSet:
        """The set of answers."""

    @property
    @abstractmethod
    def constants(self) -> Constants:
        """The certified constants of the problem."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Self:
        """Return one member of the prior: hard instances draw their pattern."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Any:
        """Return n independent records."""

    @abstractmethod
    def stream(self, n: int, rng: np.random.Generator) -> Any:
        """Return the same records as `sample`, drawn as they are read and never held."""

    @abstractmethod
    def excess_risk(self, w: Vector, /) -> ExcessRisk:
        """Return the error of the finite answer `w`, shape (d,)."""

    def errors_along_the_mean(self, lengths: Vector) -> Vector | None:
        """Return the errors without privacy if the average of the records has these lengths.

        The average has the direction of the mean, which lies in the l2 ball of answers. None if the
        lengths do not determine the error.
        """
        return None

    @abstractmethod
    def setting(
        self, n: int, budget: Budget, *, m: int = 1, spike_probability: float | None = None
    ) -> Setting:
        """Return what methods and bounds may know with n users of m items."""

    # -- how a scenario makes a problem -------------------------------------------------------

    @classmethod
    def lacking(cls, family: type[Distribution]) -> str:
        """Return what a law must be, to follow "must be", if `family` is not so; otherwise ""."""
        return "" if family.hides in cls.hideable else UNRELATED

    @classmethod
    def may_fall(cls, family: type[Distribution]) -> bool:
        """Whether the scales of the coordinates of a law may differ for this problem."""
        return True

    @staticmethod
    def feature_order(p: float) -> float:
        """Return the moment order of `law` for which the gradients have order `p`."""
        return p

    @classmethod
    def mean_parts(
        cls, geometry: Geometry, d: int, offset: float, radius: float
    ) -> tuple[float, float]:
        """Return the mean of the law in every coordinate, and the addition in the first."""
        return geometry.parts(d, offset, radius)

    @classmethod
    @abstractmethod
    def on_law(cls, law: Any, *, offset: float, radius: float, geometry: Geometry) -> Self:
        """Return the problem on a law; see `dpsco_core.catalogue.make_instance`."""


@dataclass(frozen=True, kw_only=True)
class OptimisationProblem(Problem):
    """A loss, a law of the records and a constraint set from a family."""

    radius: float  # half the diameter of the constraint set, in its own norm
    geometry: Geometry = L2  # the family of the constraint set
    # The factors of a gradient's unit; the first is the unit of the records. Empty if there is
    # none.
    gradient_units: ClassVar[tuple[str, ...]] = ("records",)

    def __post_init__(self) -> None:
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
        """Return the same records as `sample`, drawn as they are read and never held."""

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
        """Return what methods and bounds may know about this problem with n users of m items."""
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
