"""Half the squared distance: mean estimation as stochastic optimisation."""

from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import KAMATH_2022, ProblemCard
from dpsco_core.base.loss_classes import SQUARED_DISTANCE
from dpsco_core.problems.base import Constants, ExcessRisk
from dpsco_core.problems.laws import mean_inside
from dpsco_core.problems.point_losses import HalfSquaredDistance
from dpsco_core.problems.points import PointProblem


@dataclass(frozen=True, kw_only=True)
class Quadratic(PointProblem):
    r"""Half the squared distance, :math:`\ell(w, z) = \frac12\|w-z\|_2^2`.

    With mu the mean of Z, the minimiser is the projection w* of mu on the constraint set, and

    .. math:: F(w)-F(w^*) = \tfrac12\|w-w^*\|^2 + \langle w^*-\mu, w-w^*\rangle .

    A gradient is g = w - Z: its central moments are those of Z (`class_moment`); in a direction,
    :math:`\|g_u\|_p \le \|w-\mu\| + D_p` (Minkowski), and :math:`\|w-\mu\|`, the norm of
    :math:`\nabla F`, is at most the largest norm of a point of the set plus :math:`\|\mu\|`. The
    Hessian is the identity.
    """

    exact_risk = True
    card = ProblemCard(
        slug="quadratic",
        name="Squared distance",
        paper=KAMATH_2022,
        statement="Lemma 6.2, Theorem 6.1",
        summary="Minimise half the expected squared distance to heavy-tailed records: mean "
        "estimation as optimisation.",
        loss_class=SQUARED_DISTANCE,
        infinite_variance="Risks are compared with that of a fixed answer: records enter linearly.",
    )
    loss = HalfSquaredDistance()

    @property
    def minimiser(self) -> Vector:
        """The projection of the mean on the constraint set, shape (d,)."""
        return self.constraint.project(self.distribution.mean)

    def excess_risk(self, w: Vector) -> ExcessRisk:
        """Return the exact excess risk of w by the formula of the class."""
        best = self.minimiser
        step = w - best
        slope = float((best - self.distribution.mean) @ step)
        return ExcessRisk(value=0.5 * float(step @ step) + slope)

    def errors_along_the_mean(self, lengths: Vector) -> Vector:
        """Return half the squared error of the average, projected on the set."""
        step = np.minimum(lengths, self.l2_radius) - self.distribution.mean_norm
        return 0.5 * step**2

    @property
    def constants(self) -> Constants:
        """The certified constants, from the moments of the law and the largest distance."""
        law = self.distribution
        p, farthest = law.moment_order, self.l2_radius + law.mean_norm
        return Constants(
            coordinate_moment=law.class_moment,
            directional_moment=farthest + law.central_direction(p),
            variance_trace=law.variance_trace,
            mean_gradient_bound=farthest,
            diameter=2 * self.l2_radius,
            smoothness=1.0,
            sample_smoothness=1.0,
            strong_convexity=1.0,
            sample_strong_convexity=1.0,
            lipschitz=self.l2_radius + law.record_norm,
            lipschitz_second=self.l2_radius + law.record_moment(2.0),
            lipschitz_moment=self.l2_radius + law.record_moment(p),
            minimum_interior=mean_inside(law, self.constraint),
            nonnegative=True,
            twice_differentiable=True,
            structure="mean",
        )
