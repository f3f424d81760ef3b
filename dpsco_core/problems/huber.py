"""Robust regression with Huber's loss."""

from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, ProblemCard
from dpsco_core.base.loss_classes import CONVEX
from dpsco_core.data.base import Distribution
from dpsco_core.problems.base import Constants
from dpsco_core.problems.guesses import HUBER_GUESS, labels_beyond
from dpsco_core.problems.linear_models import LinearModelProblem
from dpsco_core.problems.links import HuberLink
from dpsco_core.problems.noise import Noise, huber_curvature, missing_density_condition, noise_like


@dataclass(frozen=True, kw_only=True)
class Huber(LinearModelProblem):
    r"""Huber regression, threshold 1: :math:`\ell(w; x, y) = h(\langle x,w\rangle - y)`.

    :math:`Y = \langle X, w^*\rangle + N` with independent noise N of the features' family (normal
    on a hard instance), p-th central moment 1 and Huber location 0, which is found to 1e-14. The
    conditional excess :math:`\Psi(s)-\Psi(0)`, :math:`\Psi(s) = E\,h(s-N)`, at
    :math:`s = \langle X, w-w^*\rangle` has a closed form (`Noise.huber_excess`), accurate to
    1e-14 :math:`(1+s^2)`.

    On a law that hides the true parameter there is no noise: the class of the bounds contains
    exact labels.

    The constants are those of a slope in [-1, 1] (`LinearModelProblem.bounded_slope_constants`)
    with :math:`\Psi''(s) = P(|N-s|\le1)`, bounded by `huber_curvature`.
    """

    card = ProblemCard(
        slug="huber",
        name="Huber regression",
        paper=FOLKLORE,
        statement="Huber loss, threshold 1",
        summary="Fit a linear model to heavy-tailed data with a loss that is square near 0 and "
        "linear far out.",
        loss_class=CONVEX,
    )
    link = HuberLink()
    hideable = ("mean", "parameter", "labels")
    guess = HUBER_GUESS

    @classmethod
    def unmet_condition(cls, family: type[Distribution]) -> str:
        """Return the unmet condition on the features' law: the noise needs a density; "" if met."""
        return super().unmet_condition(family) or missing_density_condition(family)

    @property
    def noise(self) -> Noise:
        """The law of the noise, shifted so that its Huber location is 0."""
        return noise_like(self.features, "huber")

    def targets(self, margins: Vector, rng: np.random.Generator) -> Vector:
        """Return the true margins plus noise, or labels without noise on a hiding law."""
        if self.hidden is not None:
            return labels_beyond(margins, self.hidden.label_gap)
        return margins + self.noise.sample(len(margins), rng)

    def conditional_excess(self, margins: Vector, truth: Vector) -> Vector:
        """Return the excess risk of margins, given the features and their true margins."""
        if self.hidden is not None:
            labels = labels_beyond(truth, self.hidden.label_gap)
            return self.link.value(margins, labels) - self.link.value(truth, labels)
        return self.noise.huber_excess(margins - truth)

    @property
    def constants(self) -> Constants:
        """The certified constants; a gradient is at most as long as its features."""
        curvature = huber_curvature(self.noise) if self.hidden is None else 1.0
        return self.bounded_slope_constants(curvature=curvature)
