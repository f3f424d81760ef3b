"""The linear loss: the hard convex problem."""

from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import KAMATH_2022, ProblemCard
from dpsco_core.base.loss_classes import LINEAR
from dpsco_core.problems.base import Constants, ExcessRisk
from dpsco_core.problems.point_losses import NegativeProduct
from dpsco_core.problems.points import PointProblem

ROUNDING = 1e-12  # smaller shares of the largest excess risk are rounding error


@dataclass(frozen=True, kw_only=True)
class Linear(PointProblem):
    r"""The linear loss, :math:`\ell(w, z) = -\langle w, z\rangle`.

    With mu the mean of Z, the minimiser is the point of the set that is farthest in the direction
    of mu (:math:`r\mu/\|\mu\|` on the l2 ball), which lies on the boundary unless mu = 0, and
    :math:`F(w)-F(w^*) = \max_{u\in W}\langle u,\mu\rangle - \langle w,\mu\rangle`.

    A gradient is -Z at every w: its moments are those of Z (`class_moment`, `raw_direction`), its
    mean has norm :math:`\|\mu\|`, and the Hessian is 0.
    """

    exact_risk = True
    card = ProblemCard(
        slug="linear",
        name="Linear loss",
        paper=KAMATH_2022,
        statement="Theorem 6.4, hard instance",
        summary="Find the direction of the mean of heavy-tailed records: the hard convex loss of "
        "the lower bounds.",
        loss_class=LINEAR,
        infinite_variance="The excess risk is linear in the answer: a first moment will do.",
    )
    loss = NegativeProduct()

    @property
    def minimiser(self) -> Vector:
        """The point of the set that is farthest in the direction of the mean, shape (d,)."""
        mean = self.distribution.mean
        return self.constraint.support_point(mean) if mean.any() else self.constraint.centre

    def excess_risk(self, w: Vector) -> ExcessRisk:
        """Return the exact excess risk of w; one as small as a rounding error counts as 0."""
        excess = float((self.minimiser - w) @ self.distribution.mean)
        largest = 2 * self.l2_radius * self.distribution.mean_norm
        return ExcessRisk(value=excess if excess > ROUNDING * largest else 0.0)

    def errors_along_the_mean(self, lengths: Vector) -> Vector:
        """Return the excess risks of the best answers to averages of these lengths, shape (k,).

        The answer to an average of length 0 is the centre, and to any other the minimiser.
        """
        return np.where(lengths == 0, self.l2_radius * self.distribution.mean_norm, 0.0)

    @property
    def constants(self) -> Constants:
        """The certified constants, which are the moments of the law."""
        law = self.distribution
        return Constants(
            coordinate_moment=law.class_moment,
            directional_moment=law.raw_direction(law.moment_order),
            variance_trace=law.variance_trace,
            mean_gradient_bound=law.mean_norm,
            diameter=2 * self.l2_radius,
            smoothness=0.0,
            sample_smoothness=0.0,
            lipschitz=law.record_norm,
            lipschitz_second=law.record_moment(2.0),
            lipschitz_moment=law.record_moment(law.moment_order),
            minimum_interior=law.mean_norm == 0,
            twice_differentiable=True,
            structure="linear",
        )
