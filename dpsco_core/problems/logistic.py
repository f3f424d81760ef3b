"""Logistic regression."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, ProblemCard
from dpsco_core.base.loss_classes import CONVEX
from dpsco_core.problems.base import Constants
from dpsco_core.problems.guesses import LOGISTIC_GUESS
from dpsco_core.problems.linear_models import LinearModelProblem
from dpsco_core.problems.links import LogisticLink, softplus


@dataclass(frozen=True, kw_only=True)
class Logistic(LinearModelProblem):
    r"""Logistic regression: :math:`\ell = \log(1+e^s) - ys` at :math:`s = \langle x,w\rangle`.

    The label is 1 with probability :math:`\sigma(\langle X, w^*\rangle)`, so the conditional excess
    risk is the relative entropy between two laws of the label.

    The constants are those of a slope in [-1, 1] (`LinearModelProblem.bounded_slope_constants`)
    with curvature :math:`\sigma' \le 1/4`, attained at w = 0: the smoothness
    :math:`\frac14\lambda_{\max}(E XX^\top)` is exact. At p = 2 the coordinate moment is at most 1.
    Heavy-tailed features are unbounded, so the Lipschitz constant and the smoothness of a record's
    loss are infinite.

    Given X, :math:`E\phi'^2 = (\sigma(s)-\sigma(s^*))^2 + \sigma(s^*)(1-\sigma(s^*)) \le
    \min(1, t/4)^2 + \frac14` with :math:`t = |s-s^*|`. With :math:`\min(1,a)^2 \le a^k` for
    :math:`k = \min(p-2, 2)`, Hoelder's inequality, r = `reach` and q = 2p/(p-k) <= p,

    .. math:: E\|g\|^2 \le \tfrac14E\|X\|^2 + \min\big((\tfrac14 rD_p)^k\sum_j(E|X_j|^q)^{2/q},
        \ (\tfrac14 r)^2\sup_v E\langle X,v\rangle^2\|X\|^2\big),

    where the last term needs fourth moments (`fourth_moment_trace`).
    """

    card = ProblemCard(
        slug="logistic",
        name="Logistic regression",
        paper=FOLKLORE,
        statement="Logistic loss",
        summary="Predict a label from heavy-tailed features with the logistic loss.",
        loss_class=CONVEX,
    )
    link = LogisticLink()
    hideable = ("mean", "parameter", "classes")
    classes = (0.0, 1.0)
    guess = LOGISTIC_GUESS

    def targets(self, margins: Vector, rng: np.random.Generator) -> Vector:
        """Draw labels, 1 with probability sigma(margin), else 0."""
        return (rng.random(len(margins)) < expit(margins)).astype(np.float64)

    def truth(self, true_margins: Vector) -> Vector:
        """Return the true margins s, ln(1 + e^s), and the probability of label 1, shape (3, n)."""
        return np.stack([true_margins, softplus(true_margins), expit(true_margins)])

    def conditional_excess(self, margins: Vector, truth: Vector) -> Vector:
        """Return the relative entropy between the two distributions of the label."""
        true_margins, true_terms, probabilities = truth
        excess = softplus(margins)
        excess -= true_terms
        excess -= probabilities * (margins - true_margins)
        return np.maximum(excess, 0.0, out=excess)

    @property
    def constants(self) -> Constants:
        """The certified constants, from the moments of the features."""
        law, p = self.features, self.moment_order
        k = min(p - 2, 2.0)
        q = 2 * p / (p - k)
        quarter = 0.25 * self.reach
        difference = min(
            math.pow(quarter * law.raw_direction(p), k)
            * (law.d * math.pow(law.raw_coordinate(q), 2 / q) / law.lead**2),
            quarter**2 * law.fourth_moment_trace,
        )
        return self.bounded_slope_constants(
            curvature=0.25,
            squared_slope=0.25 * law.second_moment_trace + difference,
            twice_differentiable=True,
        )
