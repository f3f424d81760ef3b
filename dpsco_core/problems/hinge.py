"""The linear support vector machine."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, ProblemCard
from dpsco_core.base.loss_classes import CONVEX
from dpsco_core.problems.base import Constants
from dpsco_core.problems.guesses import HINGE_GUESS
from dpsco_core.problems.linear_models import LinearModelProblem
from dpsco_core.problems.links import HingeLink


@dataclass(frozen=True, kw_only=True)
class Hinge(LinearModelProblem):
    r"""The hinge loss: :math:`\ell(w; x, y) = (1-y\langle x,w\rangle)_+`, y in {-1, 1}.

    With :math:`s^* = \langle X, w^*\rangle`, the label is the sign of :math:`s^*` if
    :math:`|s^*|\ge1`, and otherwise a fair coin. The conditional risk at s is then
    :math:`(1-ys)_+`, which is 0 at :math:`s^*`, or :math:`\max(1, (1+|s|)/2)`, which is smallest on
    [-1, 1]. So :math:`w^*` minimises it for every x, and the excess is :math:`(1-ys)_+` or
    :math:`(|s|-1)_+/2`.

    The constants are those of a slope in [-1, 1] (`LinearModelProblem.bounded_slope_constants`).
    The smoothness of the population risk is not certified.
    """

    card = ProblemCard(
        slug="hinge",
        name="SVM (hinge loss)",
        paper=FOLKLORE,
        statement="Hinge loss",
        summary="A linear support vector machine on heavy-tailed features; its loss has a kink.",
        loss_class=CONVEX,
    )
    link = HingeLink()
    hideable = ("mean", "parameter", "classes")
    guess = HINGE_GUESS

    def targets(self, margins: Vector, rng: np.random.Generator) -> Vector:
        """Return labels in {-1, 1}: the sign of margins of size at least 1, else a fair coin."""
        coins = 2.0 * rng.integers(0, 2, size=len(margins)) - 1.0
        return np.where(np.abs(margins) >= 1, np.sign(margins), coins)

    def conditional_excess(self, margins: Vector, truth: Vector) -> Vector:
        """Return the excess risk given the features; see `Hinge`."""
        certain = np.maximum(1.0 - np.sign(truth) * margins, 0.0)
        coin = 0.5 * np.maximum(np.abs(margins) - 1.0, 0.0)
        return np.where(np.abs(truth) >= 1, certain, coin)

    @property
    def constants(self) -> Constants:
        """The certified constants; the loss has no curvature bound."""
        return self.bounded_slope_constants(curvature=math.inf)
