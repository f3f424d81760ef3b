"""Empirical risk minimisation without privacy."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, MethodCard
from dpsco_core.base.errors import require
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.methods.access import MeanOfAll
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.descent import Descending, DescentPlan
from dpsco_core.methods.euclidean.solver import (
    FEW_GRADIENTS,
    USUAL_GRADIENTS,
    spectral_descent,
    staged_subgradients,
)
from dpsco_core.methods.run import Descended, Path
from dpsco_core.methods.statistics import ExactMean
from dpsco_core.methods.steps import Moves, Oracle
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Constants, Setting

# The default accuracies, as shares of the accuracy certified at the start.
SMOOTH_ACCURACY = 1e-8
KINKED_ACCURACY = 1e-4
# The number of mean gradients of a run is at most the first number, and on large samples it is at
# most the second one.
MOST_GRADIENTS, FEWEST_GRADIENTS = 400, 60
USUAL_STAGED = 140  # the usual number of mean gradients for a linear model with kinks
# the largest number of record entries read, over all gradients: about ten seconds of work
MOST_ENTRIES = 4e9


@dataclass(frozen=True, kw_only=True)
class UntilCertified(MeanOfAll):
    """Every step reads the mean gradient of all records, until the accuracy is certified."""

    halts = True

    most_gradients: int  # the number of mean gradients after which a run ends in any case
    depends_on_mean: bool  # whether gradients depend on the mean record alone, computed in one pass

    def gradients(self, setting: Setting, steps: int) -> int:
        """Return the largest number of gradients that a run computes."""
        return self.most_gradients * setting.n

    def passes(self, steps: int) -> float:
        """Return how often a run reads all records: once if gradients need only the mean record."""
        return 1 if self.depends_on_mean else steps


@dataclass(frozen=True, kw_only=True)
class CertifiedDescent(Moves):
    """Steps that adapt to the sample and end at a certified accuracy, or at the largest number.

    The step sizes are spectral. For losses with kinks, subgradients are averaged in stages.
    """

    records: int  # n, the number of records of which a gradient is the mean
    steps: int  # the usual number of gradients: a run may take fewer or more
    most_gradients: int
    kinked: bool  # whether the losses have points without a derivative
    # the target accuracy, as a share of the accuracy certified at the centre of the set
    relative_accuracy: float
    modulus: float  # the strong convexity of the empirical risk, of every sample

    def run(self, constraint: ConstraintSet, oracle: Oracle) -> Descended:
        """Minimise from the centre; the path has the start and the end."""
        centre = constraint.centre

        def gradient(w: Vector) -> Vector:
            """Return the gradient at w.

            The oracle is the same at every step, so step 0 stands for all.
            """
            return oracle(w, 0)

        if self.kinked:
            slope = float(np.linalg.norm(gradient(centre)))
            minimum = staged_subgradients(
                gradient,
                constraint,
                step_size=constraint.l2_radius / slope if slope > 0 else 1.0,
                relative_accuracy=self.relative_accuracy,
                limit=self.most_gradients,
            )
        else:
            minimum = spectral_descent(
                gradient,
                constraint,
                relative_accuracy=self.relative_accuracy,
                modulus=self.modulus,
                limit=self.most_gradients,
            )
        return Descended(
            value=minimum.value,
            path=Path.through((centre, minimum.value), (0, minimum.gradient_calls)),
            diagnostics={
                "certified_accuracy": minimum.accuracy,
                "steps": float(minimum.gradient_calls),
                "gradient_calls": float(minimum.gradient_calls * self.records),
            },
        )


@dataclass(frozen=True, kw_only=True)
class Erm(Descending):
    r"""Minimise the empirical risk over the set: :math:`\min_W\frac1n\sum_i\ell(w, Z_i)`.

    Smooth losses are minimised by projected gradients with spectral step sizes, which adapt to the
    smoothness of the sample; losses with kinks by stages of averaged subgradients. Both stop at a
    certified accuracy, which is part of the result, or after 400 gradients (fewer for very large
    samples). The method is not private.
    """

    # The target accuracy as a share of the accuracy certified at the start. If None it is 1e-8, and
    # 1e-4 for losses with kinks.
    relative_accuracy: float | None = None

    reads = "whole"
    cost = MethodCost(fixed=5e4, per_row=3, per_element=0.3, unit="step")
    card = MethodCard(
        slug="sco.erm",
        name="Empirical risk minimisation",
        short="Risk minimiser",
        paper=FOLKLORE,
        statement="Empirical risk minimisation",
        summary="Minimises the average loss of the records, without privacy.",
        privacy="none",
        problems=SCO_PROBLEMS,
        infinite_variance="Of linear and quadratic losses, the ones that allow it, its answer is a "
        "function of the sample mean alone.",
    )
    colour = "grey"
    symbol = "circle"

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan, in which the size of the data limits the number of gradients."""
        kinked = has_kinks(setting.constants)
        accuracy = self.relative_accuracy
        if accuracy is None:
            accuracy = KINKED_ACCURACY if kinked else SMOOTH_ACCURACY
        require(0 < accuracy < 1, "relative_accuracy", "above 0 and below 1", accuracy)
        affordable = int(MOST_ENTRIES / (setting.n * setting.d))
        most_gradients = min(MOST_GRADIENTS, max(FEWEST_GRADIENTS, affordable))
        return DescentPlan(
            setting=setting,
            statistic=ExactMean(),
            access=UntilCertified(
                most_gradients=most_gradients,
                depends_on_mean=setting.constants.structure in ("mean", "linear"),
            ),
            descent=CertifiedDescent(
                records=setting.n,
                steps=usual_gradients(setting.constants, kinked, most_gradients),
                most_gradients=most_gradients,
                kinked=kinked,
                relative_accuracy=accuracy,
                modulus=setting.constants.sample_strong_convexity,
            ),
        )


def usual_gradients(constants: Constants, kinked: bool, most_gradients: int) -> int:
    """Return the usual number of mean gradients of a run of at most `most_gradients`.

    A solver's stages took 17 to 400 gradients on random scenarios, and about 80 for the geometric
    median.
    """
    if constants.structure in ("mean", "linear"):
        return FEW_GRADIENTS
    model = constants.structure == "linear-model"
    usual = (USUAL_STAGED if model else 2 * USUAL_GRADIENTS) if kinked else USUAL_GRADIENTS
    return min(most_gradients, usual)


def has_kinks(constants: Constants) -> bool:
    """Return whether the problem declares losses with kinks."""
    model = constants.linear_model
    if constants.twice_differentiable or constants.structure in ("mean", "linear"):
        return False
    return model is None or math.isinf(model.curvature)
