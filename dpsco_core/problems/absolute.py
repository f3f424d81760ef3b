"""Least absolute deviations."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, ProblemCard
from dpsco_core.base.loss_classes import CONVEX
from dpsco_core.data.base import Distribution
from dpsco_core.problems.base import Constants
from dpsco_core.problems.guesses import ABSOLUTE_GUESS, labels_beyond
from dpsco_core.problems.linear_models import LinearModelProblem
from dpsco_core.problems.links import AbsoluteLink
from dpsco_core.problems.noise import (
    Noise,
    absolute_curvature,
    missing_density_condition,
    noise_like,
)


@dataclass(frozen=True, kw_only=True)
class Absolute(LinearModelProblem):
    r"""Median regression: :math:`\ell(w; x, y) = |\langle x,w\rangle - y|`.

    :math:`Y = \langle X, w^*\rangle + N` with independent noise N of the features' family (normal
    on a hard instance), p-th central moment 1 and median 0, in closed form. The conditional excess
    :math:`E|s-N| - E|N|` at :math:`s = \langle X, w-w^*\rangle` has a closed form
    (`Noise.absolute_excess`), accurate to 2e-13 :math:`(1+|s|)`. The symmetric Pareto law has no
    mass near its median, so there are many minimisers, and :math:`w^*` is one of them.

    On a law that hides the true parameter there is no noise: the class of the bounds contains
    exact labels.

    The constants are those of a slope in [-1, 1] (`LinearModelProblem.bounded_slope_constants`);
    the second derivative of the conditional risk is :math:`2f(s)`, f the noise's density.
    """

    card = ProblemCard(
        slug="absolute",
        name="Median regression",
        paper=FOLKLORE,
        statement="Absolute loss",
        summary="Fit a linear model to heavy-tailed data with the absolute loss, which has kinks.",
        loss_class=CONVEX,
    )
    link = AbsoluteLink()
    hideable = ("mean", "parameter", "labels")
    guess = ABSOLUTE_GUESS

    @classmethod
    def unmet_condition(cls, family: type[Distribution]) -> str:
        """Return the unmet condition on the features' law: the noise needs a density; "" if met."""
        return super().unmet_condition(family) or missing_density_condition(family)

    @property
    def noise(self) -> Noise:
        """The law of the noise, whose median is 0."""
        return noise_like(self.features, "median")

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
        return self.noise.absolute_excess(margins - truth)

    @property
    def constants(self) -> Constants:
        """The certified constants; a gradient is at most as long as its features."""
        curvature = absolute_curvature(self.noise) if self.hidden is None else math.inf
        return self.bounded_slope_constants(curvature=curvature)
