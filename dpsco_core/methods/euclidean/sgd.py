"""One-pass stochastic gradient descent without privacy."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.access import check_sample
from dpsco_core.methods.base import Method, MethodCost, Plan, Release
from dpsco_core.methods.euclidean.sentences import CONVEX_SET, LOGISTIC, NO_BOUND
from dpsco_core.methods.run import WholeAverage, walk
from dpsco_core.methods.story import Story
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample

MOST_STEPS = 4000


@dataclass(frozen=True, kw_only=True)
class SgdPlan(Plan):
    """The parameters of one run."""

    # the classical analysis that the step sizes are from
    rule: Literal["lipschitz", "smooth", "strongly convex"]
    batch: int  # records of a step; the last step may have fewer
    steps: int
    step_size: float  # the size of the first step; the only one unless strongly convex
    # strongly convex: step t, from 0, has size 2/(λ(s + t)) with s = `shift`
    shift: float = math.inf

    @property
    def moves(self) -> float:
        return self.steps

    @property
    def pieces(self) -> float:  # several records at once are as much work, in Python, as three
        from_mean = self.setting.constants.structure in ("mean", "linear")
        return self.steps * (1 if from_mean else min(self.batch, 3))

    def size(self, t: int) -> float:
        """Return the size of step t."""
        return self.step_size if math.isinf(self.shift) else self.step_size / (1 + t / self.shift)


@dataclass(frozen=True, kw_only=True)
class Sgd(Method):
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

    batch: int | None = None  # Records of a step. If None, n/4000 rounded up.

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
    story = Story(
        what="Goes through the records once and steps against each gradient (of a small batch "
        "where there are more than 4,000 records). The answer is an average of the points on the "
        "way. It is the classical method without privacy, with the step sizes of its textbook "
        "theorem.",
        steps=(
            "Choose batch, step size and averaging by what the problem certifies: strong "
            "convexity, smoothness, or only bounded gradients.",
            r"For every batch in turn: $w\leftarrow\Pi_W(w-\eta_t\,\bar g)$.",
            "Return the (weighted) average of the points.",
        ),
        assumptions=("A finite variance of the gradients.", CONVEX_SET),
        privacy=None,
        smooth="nothing",
        order=r"O(nd)",
        cost="One pass.",
        when="As the reference without privacy that sees every record once.",
        pitfalls=(NO_BOUND,),
        example=LOGISTIC | {"methods": ("sco.erm", "sco.sgd", "sco.clipped")},
    )
    colour = "grey"
    symbol = "square"
    dashed = True

    def plan(self, setting: Setting) -> SgdPlan:
        constants, n = setting.constants, setting.n
        batch = self.batch if self.batch is not None else math.ceil(n / MOST_STEPS)
        steps = math.ceil(n / batch)
        radius, variance = constants.diameter / 2, constants.variance_trace / batch
        smoothness, modulus = constants.smoothness, constants.strong_convexity
        if modulus > 0 and smoothness < math.inf:
            return SgdPlan(
                setting=setting,
                rule="strongly convex",
                batch=batch,
                steps=steps,
                step_size=1 / smoothness,
                shift=2 * smoothness / modulus,
            )
        if smoothness < math.inf and variance < math.inf:
            noisy = radius / math.sqrt(variance * steps) if variance > 0 else math.inf
            curved = 1 / (2 * smoothness) if smoothness > 0 else math.inf
            # A linear loss that is the same for all records: one step of any length is as good.
            size = min(noisy, curved) if min(noisy, curved) < math.inf else radius
            return SgdPlan(setting=setting, rule="smooth", batch=batch, steps=steps, step_size=size)
        energy = min(constants.mean_gradient_bound**2 + variance, constants.lipschitz**2)
        if not 0 < energy < math.inf:
            raise NotApplicable(
                "The step size follows from the variance of the gradients, and the problem "
                "certifies none.",
                distribution="gaussian",
            )
        size = radius / math.sqrt(steps * energy)
        return SgdPlan(setting=setting, rule="lipschitz", batch=batch, steps=steps, step_size=size)

    def release(
        self, sample: Sample, plan: SgdPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run SGD over the records in their order."""
        check_sample(sample, plan.setting)
        constraint = sample.constraint

        def step(w: Vector, t: int) -> Vector:
            low = t * plan.batch
            high = min(low + plan.batch, plan.setting.n)
            if high - low == 1:
                g = sample.gradient(w, low)
            else:
                g = sample.part(low, high).mean_gradient(w)
            return constraint.project(w - plan.size(t) * g)

        average = WholeAverage(steps=plan.steps, queried=plan.rule == "lipschitz")
        weight = (lambda t: t + 1.0) if plan.rule == "strongly convex" else None
        return walk(constraint.centre, average, step, weight=weight).released(
            ledger,
            {
                "steps": float(plan.steps),
                "step_size": plan.step_size,
                "batch_size": float(plan.batch),
                "gradient_calls": float(plan.setting.n),
            },
        )
