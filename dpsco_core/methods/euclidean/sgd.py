"""One-pass stochastic gradient descent without privacy."""

import math
from dataclasses import dataclass
from typing import Literal

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.methods.access import Batches
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.descent import Descending, DescentPlan
from dpsco_core.methods.run import Descended, WholeAverage, walk
from dpsco_core.methods.statistics import ExactMean
from dpsco_core.methods.steps import Moves, Oracle
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting

MOST_STEPS = 4000  # With more records than this, several records share a step by default.


@dataclass(frozen=True, kw_only=True)
class SgdSteps(Moves):
    """Projected steps along batches of records, with the average that their analysis needs."""

    # The classical analysis that sets the step sizes.
    rule: Literal["lipschitz", "smooth", "strongly convex"]
    batch: int  # the number of records per step; the last step may have fewer
    steps: int
    # the size of the first step, and of all steps unless the loss is strongly convex
    step_size: float
    # The shift s under strong convexity: step t, counted from 0, has size 2/(λ(s + t)).
    shift: float = math.inf

    def size(self, t: int) -> float:
        """Return the size of step t."""
        return self.step_size if math.isinf(self.shift) else self.step_size / (1 + t / self.shift)

    @property
    def diagnostics(self) -> dict[str, float]:
        """The number of steps, their size and the size of a batch."""
        return {
            "steps": float(self.steps),
            "step_size": self.step_size,
            "batch_size": float(self.batch),
        }

    def run(self, constraint: ConstraintSet, oracle: Oracle) -> Descended:
        """Run the steps from the centre and return the average."""
        project, size = constraint.project, self.size

        def step(w: Vector, t: int) -> Vector:
            """Return the projected point after step t from w."""
            return project(w - size(t) * oracle(w, t))

        average = WholeAverage(steps=self.steps, queried=self.rule == "lipschitz")
        weight = (lambda t: t + 1.0) if self.rule == "strongly convex" else None
        return walk(constraint.centre, average, step, weight=weight)


@dataclass(frozen=True, kw_only=True)
class Sgd(Descending):
    r"""One pass of projected SGD over the records, in small batches, with an average.

    With R the radius, T steps on b records, V the trace of Cov(g) and B the bound on
    :math:`\|E g\|`:

    - strongly convex and smooth: :math:`\eta_t = 2/(\lambda(t + 2\beta/\lambda))`, average with
      weights t + 1 (Bottou, Curtis and Nocedal 2018, Theorem 4.7, with Lacoste-Julien's average);
    - smooth: :math:`\eta = \min\{1/(2\beta), R\sqrt{b/(VT)}\}`, average of the points after each
      step (Lan 2012);
    - otherwise :math:`\eta = R/\sqrt{T(B^2 + V/b)}`, average of the queried points.

    Not private.
    """

    batch: int | None = None  # the number of records per step; None for n/4000, rounded up

    reads = "ordered"
    cost = MethodCost(fixed=2e5, per_row=5, per_element=0.9, per_piece=9e3)
    card = MethodCard(
        slug="sco.sgd",
        name="Stochastic gradient descent",
        short="One-pass SGD",
        paper=FOLKLORE,
        statement="One-pass averaged SGD",
        summary="One pass of stochastic gradient descent over the records, without privacy.",
        privacy="none",
        problems=SCO_PROBLEMS,
        rate="upper.sco.sgd",
    )
    colour = "grey"
    symbol = "square"
    dashed = True

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with the batch size and the rule that the certified constants allow."""
        n = setting.n
        batch = self.batch if self.batch is not None else math.ceil(n / MOST_STEPS)
        steps = _steps(setting, batch, math.ceil(n / batch))
        from_mean = setting.constants.structure in ("mean", "linear")
        return DescentPlan(
            setting=setting,
            # For the estimate of running times, a step on three or more records counts as three
            # pieces of work in Python.
            statistic=ExactMean(work=1 if from_mean else min(batch, 3)),
            access=Batches(size=batch),
            descent=steps,
            diagnostics=steps.diagnostics | {"gradient_calls": float(n)},
        )


def _steps(setting: Setting, batch: int, steps: int) -> SgdSteps:
    """Return the steps for the constants that the problem certifies; see `Sgd`."""
    constants = setting.constants
    radius, variance = constants.diameter / 2, constants.variance_trace / batch
    smoothness, modulus = constants.smoothness, constants.strong_convexity
    if modulus > 0 and smoothness < math.inf:
        return SgdSteps(
            rule="strongly convex",
            batch=batch,
            steps=steps,
            step_size=1 / smoothness,
            shift=2 * smoothness / modulus,
        )
    if smoothness < math.inf and variance < math.inf:
        noisy = radius / math.sqrt(variance * steps) if variance > 0 else math.inf
        curved = 1 / (2 * smoothness) if smoothness > 0 else math.inf
        # If the loss is linear and the same for all records, any step size is as good as another.
        size = min(noisy, curved) if min(noisy, curved) < math.inf else radius
        return SgdSteps(rule="smooth", batch=batch, steps=steps, step_size=size)
    energy = min(constants.mean_gradient_bound**2 + variance, constants.lipschitz**2)
    if not 0 < energy < math.inf:
        raise NotApplicable(
            "The step size follows from the variance of the gradients, and the problem "
            "certifies none.",
            distribution="gaussian",
        )
    size = radius / math.sqrt(steps * energy)
    return SgdSteps(rule="lipschitz", batch=batch, steps=steps, step_size=size)
