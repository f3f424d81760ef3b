"""Clipped gradients on fresh batches: for every convex loss, kinks and heavy tails included."""

from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import OWN, MethodCard
from dpsco_core.methods.access import check_sample
from dpsco_core.methods.base import MethodCost, Plan, PrivateMethod, Release
from dpsco_core.methods.euclidean.batches import BatchedSteps, best_batches, check_bounded
from dpsco_core.methods.euclidean.sentences import CONVEX_SET, HUBER, MOMENTS
from dpsco_core.methods.mean.base import check_level, check_parts, clipped_mean, gaussian_share
from dpsco_core.methods.run import descend
from dpsco_core.methods.stage import PARTS, SmallRun, Stage
from dpsco_core.methods.steps import Descent
from dpsco_core.methods.story import Proof, Story
from dpsco_core.privacy.budget import PureDP
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import GaussianNoise, SphericalLaplaceNoise
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample


@dataclass(frozen=True, kw_only=True)
class FreshBatchesPlan(Plan):
    """The parameters of one run; none of them depends on the data."""

    batches: BatchedSteps  # the steps, their size and the clip radius
    mechanism: GaussianNoise | SphericalLaplaceNoise  # what every step spends all of the budget on
    rho: float  # what a step spends; 0 under a pure budget

    @property
    def step_records(self) -> int:
        """The records of a step."""
        return self.setting.n // self.batches.steps

    @property
    def descent(self) -> Descent:
        """The steps as a descent, whose queried points are averaged."""
        batches = self.batches
        return Descent(steps=batches.steps, step_size=batches.step_size, queried=True)

    @property
    def clip_radius(self) -> float:
        return self.batches.radius

    @property
    def noise_energy(self) -> float:
        """The mean squared norm of the noise of a step."""
        d, mechanism = self.setting.d, self.mechanism
        if isinstance(mechanism, GaussianNoise):
            return d * mechanism.noise_std**2
        return d * (d + 1) * mechanism.noise_scale**2

    @property
    def moves(self) -> float:
        return self.batches.steps

    @property
    def gradients(self) -> int:
        return self.batches.steps * self.step_records


@dataclass(frozen=True, kw_only=True)
class FreshBatches(PrivateMethod):
    r"""Projected subgradient descent, each step on clipped gradients of records of its own.

    Parameters
    ----------
    batches : BatchedSteps, optional
        Steps, step size and clip radius. If None they are chosen from the setting.
    calibration : {"tight", "paper"}
        Under an (epsilon, delta) budget: rho from the exact Gaussian curve, or from Bun and
        Steinke's conversion.
    tuning : {"practical", "theory"}
        ``"theory"``: the steps and the radius at which the proven bound for directional moments is
        least (theory/fresh-batches.md, 1). ``"practical"``: the same with the clipping bias that
        `dpsco_core.methods.euclidean.tuning` assumes in place of that of the worst law.
    """

    batches: BatchedSteps | None = None

    reads = "summed"
    cost = MethodCost(fixed=1e5, per_row=3, per_element=0.5, per_piece=4e4)
    card = MethodCard(
        slug="sco.fresh-batches",
        name="Clipped gradients on fresh batches",
        short="Fresh batches",
        paper=OWN,
        statement="Fresh batches, 1",
        summary="One pass of subgradient descent: every step shrinks the gradients of its own "
        "batch into a ball, averages, and adds noise with the whole budget.",
        privacy="zcdp",
        pure_form=True,
        problems=SCO_PROBLEMS,
        rate="upper.sco.fresh-batches",
        caveat="A single pass: where several passes are allowed, clipped gradients on all records "
        "usually have a smaller error. Its bound needs nothing to be smooth.",
    )
    story = Story(
        what="One pass of projected subgradient descent. The records are cut into batches, and "
        "every step looks at one batch only: it shrinks that batch's gradients into a ball, "
        "averages them and adds noise. A record is seen once, so every step may spend the whole "
        "budget.",
        steps=(
            r"Choose T, the radius C and the step size $\eta$ from the setting; batch t has "
            r"$b=\lfloor n/T\rfloor$ records of its own.",
            r"Clip the gradients of batch t at $w_t$ to norm C and average: $\bar g_t$.",
            r"Release $\tilde g_t=\bar g_t+\xi_t$, with $\xi_t\sim N(0,\sigma^2I_d)$, "
            r"$\sigma=\frac{2C}{b\sqrt{2\rho}}$; under a pure budget $\xi_t$ has a density "
            r"$\propto e^{-\varepsilon b\|z\|/(2C)}$.",
            r"Step: $w_{t+1}=\Pi_W(w_t-\eta\tilde g_t)$, from the centre of the set W.",
            r"Return the average of $w_0,\dots,w_{T-1}$.",
        ),
        assumptions=(MOMENTS, "Convex losses; they may have kinks.", CONVEX_SET),
        privacy=Proof(
            sensitivity=r"At a fixed point a clipped gradient lies in a ball of radius C, whatever "
            r"the record is: replacing one moves its batch's mean by at most $\Delta_2=2C/b$.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho}$ makes a "
            r"step $\rho$-zCDP; noise whose density falls like $e^{-\varepsilon\|z\|/\Delta_2}$ "
            r"makes it $\varepsilon$-DP.",
            composition="A record enters one batch, and batches are fixed by index: all steps "
            "together cost what one of them does (parallel composition).",
        ),
        smooth="nothing",
        order=r"O(nd)",
        cost="One pass: each record's gradient is taken once.",
        when="For losses with kinks and heavy-tailed features, where a proven bound is wanted; and "
        "under a pure budget.",
        pitfalls=(
            "Each step sees n/T records only: at small n its noise allows few steps.",
            "The proven radius is sized by the worst law of the class; the practical one is a "
            "model of accuracy.",
        ),
        example=HUBER | {"problem": "absolute", "methods": ("sco.erm", "sco.fresh-batches")},
    )
    stage = Stage(
        splits=PARTS,
        small=SmallRun(
            fields={"batches": BatchedSteps(steps=4, radius=1.0, step_size=0.1)},
        ),
        others={"pure": SmallRun(scenario={"delta": 0.0})},
    )
    colour = "brown"
    symbol = "square"

    def plan(self, setting: Setting) -> FreshBatchesPlan:
        pure = isinstance(setting.budget, PureDP)
        rho = 0.0 if pure else gaussian_share(setting, self.calibration)
        batches = self.batches
        if batches is None:
            moments = "directional" if self.tuning == "theory" else None
            batches = best_batches(setting, rho, moments)
        else:
            check_bounded(setting)
        return planned(setting, batches, rho)

    def release(
        self, sample: Sample, plan: FreshBatchesPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run the steps of `plan`."""
        check_sample(sample, plan.setting)
        size, radius = plan.step_records, plan.clip_radius
        blocks = ledger.disjoint(plan.batches.steps)

        def oracle(w: Vector, t: int) -> Vector:
            batch = sample.part(t * size, (t + 1) * size)
            return blocks[t].release(
                plan.mechanism,
                clipped_mean(batch.gradients(w), radius),
                rng,
                label="mean of clipped gradients of a batch",
            )

        descended = descend(sample.constraint, plan.descent, oracle)
        return descended.released(
            ledger,
            plan.descent.diagnostics
            | {
                "clip_radius": radius,
                "batch_size": float(size),
                "gradient_calls": float(plan.gradients),
            },
        )


def planned(setting: Setting, batches: BatchedSteps, rho: float) -> FreshBatchesPlan:
    """Return the plan of these batches; under a pure budget `rho` is 0.

    Raises `NotApplicable` where a batch would have no record.
    """
    check_level("radius", batches.radius)
    check_parts("batches", batches.steps, setting.n)
    sensitivity = 2 * batches.radius / (setting.n // batches.steps)
    mechanism: GaussianNoise | SphericalLaplaceNoise
    if rho > 0:
        mechanism = GaussianNoise(l2_sensitivity=sensitivity, rho=rho)
    else:
        mechanism = SphericalLaplaceNoise(l2_sensitivity=sensitivity, epsilon=setting.pure_epsilon)
    return FreshBatchesPlan(setting=setting, batches=batches, mechanism=mechanism, rho=rho)
