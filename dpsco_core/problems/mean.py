"""Mean estimation: the error is the l2 distance to the true mean."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import KAMATH_2022, ProblemCard
from dpsco_core.base.errors import require
from dpsco_core.base.loss_classes import MEAN
from dpsco_core.data.alike import share_in_common
from dpsco_core.data.base import Distribution
from dpsco_core.data.generated import GeneratedRows
from dpsco_core.data.rows import DenseRows
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.geometries import L2, Geometry
from dpsco_core.privacy.budget import Budget
from dpsco_core.problems.base import Constants, ExcessRisk, Setting
from dpsco_core.problems.laws import mean_inside
from dpsco_core.problems.posed import Problem


@dataclass(frozen=True, kw_only=True)
class MeanEstimation(Problem):
    r"""Estimate :math:`\mu = E X` from n records; the error is :math:`\|\hat\mu - \mu\|_2`."""

    # The distribution of a record, with p-th central coordinate moments of at most 1.
    distribution: Distribution
    # A public bound R > 0 on the norm of the mean in the geometry (half the diameter of the set
    # known to contain the mean). Methods may use the bound on the l2 norm that it implies. The
    # caller guarantees it; a scenario checks its own bound.
    mean_bound: float
    # The family of the set known to contain the mean. Unless the set is an l2 ball, estimates are
    # projected on it (`restrict`), which costs no privacy.
    geometry: Geometry = L2

    exact_risk = True
    card = ProblemCard(
        slug="mean",
        name="Mean estimation",
        paper=KAMATH_2022,
        statement="Section 4",
        summary="Estimate the mean of heavy-tailed records; the error is the distance to it.",
        loss_class=MEAN,
        infinite_variance="The error is a distance, whose mean needs a first moment only.",
    )

    def __post_init__(self) -> None:
        """Refuse a bound on the mean that is not positive, and a dimension that the set lacks."""
        require(self.mean_bound > 0, "mean_bound", "a positive number", self.mean_bound)
        self.geometry.check_dimension(self.distribution.d)

    @property
    def law(self) -> Distribution:
        """The law of a record."""
        return self.distribution

    @classmethod
    def on_law(
        cls, law: Any, *, offset: float, radius: float, geometry: Geometry
    ) -> MeanEstimation:
        """Return the problem of a law's mean, whose norm is known to be at most `radius`."""
        return cls(distribution=law, mean_bound=radius, geometry=geometry)

    def draw(self, rng: np.random.Generator) -> MeanEstimation:
        """Return the problem with a drawn member of the law's prior."""
        return replace(self, distribution=self.distribution.draw(rng))

    def sample(self, n: int, rng: np.random.Generator) -> DenseRows:
        """Draw n independent records, and hold them in memory."""
        return self.distribution.sample(n, rng)

    def stream(self, n: int, rng: np.random.Generator) -> GeneratedRows:
        """Return n records that are drawn block by block as they are read."""
        return self.distribution.stream(n, rng)

    @property
    def constraint(self) -> ConstraintSet:
        """The set known to contain the mean."""
        return self.geometry.constraint(self.distribution.d, self.mean_bound)

    def restrict(self, estimate: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the projection of `estimate` on the set, shape (d,).

        On the l2 ball the estimate is returned unchanged, because published estimators use only the
        bound on the norm. It is also unchanged on a hard instance unless the set contains every
        mean of the prior: a projection would move the estimate away from a mean outside the set.
        """
        law = self.distribution
        may_be_outside = law.has_prior and not mean_inside(law, self.constraint)
        return (
            estimate if self.geometry == L2 or may_be_outside else self.constraint.project(estimate)
        )

    def error(self, estimate: NDArray[np.float64]) -> float:
        """Return the l2 distance of `estimate`, shape (d,), to the true mean."""
        return float(np.linalg.norm(estimate - self.distribution.mean))

    def excess_risk(self, estimate: NDArray[np.float64]) -> ExcessRisk:
        """Return the l2 error of the projection of `estimate`, shape (d,), on the set."""
        return ExcessRisk(value=self.error(self.restrict(estimate)))

    @property
    def constants(self) -> Constants:
        r"""The certified constants of the distribution's class.

        The coordinate-wise class has moment 1 and hence a covariance trace of at most d; if the
        variance is 1, its moment is the law's own. If the scales differ, the moment is that of the
        largest coordinate, and the trace is bounded by the sum of the coordinates' squared moment
        roots, which is still d; for p < 2 no trace is certified. The directional constant adds the
        bound on the mean to the law's central one (Minkowski).
        """
        law = self.distribution
        norm = self.mean_bound if self.geometry == L2 else self.constraint.l2_radius
        trace = law.d * (law.moment_root / law.lead) ** 2
        return Constants(
            coordinate_moment=law.unit_moment,
            directional_moment=norm + law.directional_moment,
            variance_trace=trace if law.moment_order >= 2 else math.inf,
            mean_gradient_bound=norm,
        )

    def errors_along_the_mean(self, lengths: Vector) -> Vector:
        """Return the errors of points of these lengths in the direction of the mean."""
        return np.abs(lengths - self.distribution.mean_norm)

    def setting(
        self, n: int, budget: Budget, *, m: int = 1, spike_probability: float | None = None
    ) -> Setting:
        """Return the information about this problem that methods and bounds may use."""
        return Setting(
            n=n,
            m=m,
            alike=share_in_common(self.distribution) if m > 1 else 0.0,
            d=self.distribution.d,
            moment_order=self.distribution.moment_order,
            budget=budget,
            constants=self.constants,
            spike_probability=spike_probability,
            # For the l2 ball, the bound on the norm already is the constraint.
            constraint=None if self.geometry == L2 else self.constraint,
            exponent=self.geometry.exponent,
        )
