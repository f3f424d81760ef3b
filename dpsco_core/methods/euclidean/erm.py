"""Empirical risk minimisation without privacy."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.cards import FOLKLORE, MethodCard
from dpsco_core.base.errors import require
from dpsco_core.methods.access import check_sample
from dpsco_core.methods.base import Method, MethodCost, Plan, Release
from dpsco_core.methods.euclidean.solver import (
    FEW_GRADIENTS,
    USUAL_GRADIENTS,
    spectral_descent,
    staged_subgradients,
)
from dpsco_core.methods.run import Descended, Path
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Constants, Setting
from dpsco_core.problems.samples.protocol import Sample

SMOOTH_ACCURACY = 1e-8
KINKED_ACCURACY = 1e-4
MOST_GRADIENTS, FEWEST_GRADIENTS = 400, 60
USUAL_STAGED = 140
# the largest number of record entries read, over all gradients: about ten seconds of work
MOST_ENTRIES = 4e9


@dataclass(frozen=True, kw_only=True)
class ErmPlan(Plan):
    """The parameters of one run."""

    halts = True

    kinked: bool  # whether the losses have points without a derivative
    # the target accuracy, as a share of the accuracy certified at the centre of the set
    relative_accuracy: float
    most_gradients: int

    @property
    # Where gradients depend on the records' mean alone, one pass computes it.
    def passes(self) -> float:
        return 1 if self.setting.constants.structure in ("mean", "linear") else self.moves

    @property
    def moves(self) -> float:
        if self.setting.constants.structure in ("mean", "linear"):
            return FEW_GRADIENTS
        # A solver's stages took 17 to 400 gradients on random scenarios, and about 80 for the
        # geometric median.
        model = self.setting.constants.structure == "linear-model"
        usual = (USUAL_STAGED if model else 2 * USUAL_GRADIENTS) if self.kinked else USUAL_GRADIENTS
        return min(self.most_gradients, usual)

    @property
    def gradients(self) -> int:
        return self.most_gradients * self.setting.n


@dataclass(frozen=True, kw_only=True)
class Erm(Method):
    r"""Minimise the empirical risk over the set: :math:`\min_W\frac1n\sum_i\ell(w, Z_i)`.

    By projected gradients with spectral step sizes, which adapt to the smoothness of the sample;
    losses with kinks by stages of averaged subgradients. Both stop at a certified accuracy, which
    is part of the result, or after 400 gradients (fewer for very large samples). Not private.
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

    def plan(self, setting: Setting) -> ErmPlan:
        kinked = has_kinks(setting.constants)
        accuracy = self.relative_accuracy
        if accuracy is None:
            accuracy = KINKED_ACCURACY if kinked else SMOOTH_ACCURACY
        require(0 < accuracy < 1, "relative_accuracy", "above 0 and below 1", accuracy)
        affordable = int(MOST_ENTRIES / (setting.n * setting.d))
        return ErmPlan(
            setting=setting,
            kinked=kinked,
            relative_accuracy=accuracy,
            most_gradients=min(MOST_GRADIENTS, max(FEWEST_GRADIENTS, affordable)),
        )

    def release(
        self, sample: Sample, plan: ErmPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Minimise the empirical risk."""
        check_sample(sample, plan.setting)
        if plan.kinked:
            slope = float(np.linalg.norm(sample.mean_gradient(sample.constraint.centre)))
            minimum = staged_subgradients(
                sample.mean_gradient,
                sample.constraint,
                step_size=sample.constraint.l2_radius / slope if slope > 0 else 1.0,
                relative_accuracy=plan.relative_accuracy,
                limit=plan.most_gradients,
            )
        else:
            minimum = spectral_descent(
                sample.mean_gradient,
                sample.constraint,
                relative_accuracy=plan.relative_accuracy,
                modulus=plan.setting.constants.sample_strong_convexity,
                limit=plan.most_gradients,
            )
        ends = (0, minimum.gradient_calls)
        path = Path.through((sample.constraint.centre, minimum.value), ends)
        return Descended(value=minimum.value, path=path).released(
            ledger,
            {
                "certified_accuracy": minimum.accuracy,
                "steps": float(minimum.gradient_calls),
                "gradient_calls": float(minimum.gradient_calls * plan.setting.n),
            },
        )


def has_kinks(constants: Constants) -> bool:
    """Return whether the problem declares losses with kinks."""
    model = constants.linear_model
    if constants.twice_differentiable or constants.structure in ("mean", "linear"):
        return False
    return model is None or math.isinf(model.curvature)
