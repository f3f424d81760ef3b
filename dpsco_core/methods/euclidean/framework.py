"""Gradient descent with a private mean estimator as its gradient oracle.

Kamath et al. (2022), Algorithms 1 and 2; Zhao et al. (2024), Algorithm 1. Each step asks a mean
estimator of `dpsco_core.methods.mean` for the mean of the per-sample gradients, at its share of
the budget.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.base import Method, Plan, PrivateMethod, Release
from dpsco_core.methods.euclidean.base import check_sample
from dpsco_core.methods.euclidean.lipschitz import Losses
from dpsco_core.methods.euclidean.tuning import Descent
from dpsco_core.methods.run import descend
from dpsco_core.privacy.budget import ZCDP
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample

MOST_STEPS = 100_000  # beyond, a run is no longer a matter of minutes anywhere


@dataclass(frozen=True, kw_only=True)
class FrameworkPlan(Plan):
    """The parameters of one run; none of them depends on the data."""

    descent: Descent  # steps, step size and averaging
    oracle: Method  # the mean estimator, with its parameters fixed
    rho: float  # what the whole run spends
    rho_step: float  # what a step spends: rho/T on all records, or all of rho on a block of its own
    disjoint: bool = False  # whether step t sees only block t of the records
    losses: Losses | None = None  # those to descend on; None: the sample's own
    # parameters that are worth showing
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what a reader of the result must see

    @property
    def step_records(self) -> int:
        """Records that a step sees."""
        return self.setting.n // self.descent.steps if self.disjoint else self.setting.n

    @property
    def passes(self) -> float:
        return 1 if self.disjoint else self.descent.steps

    @property
    def moves(self) -> float:
        return self.descent.steps

    @property
    def pieces(self) -> float:  # the blocks of a step, of which each has a mean
        return self.descent.steps * self.diagnostics.get("blocks", 1.0)

    @property
    def gradients(self) -> int:
        return self.descent.steps * self.step_records


def planned(
    setting: Setting,
    descent: Descent,
    oracle: Method,
    rho: float,
    sensitivity: float,  # the sensitivity of what a step releases
    **diagnostics: float,
) -> FrameworkPlan:
    """Return the plan whose steps share `rho`, all on all records."""
    rho_step = rho / descent.steps
    return FrameworkPlan(
        setting=setting,
        descent=descent,
        oracle=oracle,
        rho=rho,
        rho_step=rho_step,
        diagnostics=diagnostics | {"noise_std": sensitivity / math.sqrt(2 * rho_step)},
    )


class FrameworkMethod(PrivateMethod):
    """A method that descends with a private mean, the oracle of its plan."""

    def release(
        self, sample: Sample, plan: FrameworkPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Descend with the plan's oracle, every release through `ledger`.

        The points between the steps, and the averages of them, are post-processing.
        """
        check_sample(sample, plan.setting)
        if plan.losses is not None:
            sample = plan.losses.of(sample)
        steps = plan.descent.steps
        size = plan.step_records
        step = plan.oracle.plan(replace(plan.setting, n=size, budget=ZCDP(rho=plan.rho_step)))
        ledgers = ledger.disjoint(steps) if plan.disjoint else (ledger,) * steps

        def oracle(w: Vector, t: int) -> Vector:
            seen = sample.part(t * size, (t + 1) * size) if plan.disjoint else sample
            return plan.oracle.release(seen.gradients(w), step, ledgers[t], rng).value

        descended = descend(sample.constraint, plan.descent, oracle)
        diagnostics = (
            dict(plan.diagnostics)
            | plan.descent.diagnostics
            | {"rho_step": plan.rho_step, "gradient_calls": float(plan.gradients)}
        )
        return descended.released(ledger, diagnostics, plan.notes)


def whole_steps(steps: float) -> int:
    """Return the printed real number of steps as an integer of at least 1.

    Raises `NotApplicable` if it is too large to run.
    """
    if not steps <= MOST_STEPS:
        raise NotApplicable(
            f"The theorem's number of steps is {steps:,.0f}, and at most {MOST_STEPS:,} can run.",
            tuning="practical",
        )
    return max(1, math.floor(steps))


def finite(value: float, what: str) -> float:
    """Return `value`, a certified constant that a theorem's parameters need.

    Raises `NotApplicable` if it is infinite or 0: the problem does not certify it.
    """
    if not 0 < value < math.inf:
        raise NotApplicable(
            f"The theorem's parameters need {what}, which the problem does not certify.",
            tuning="practical",
        )
    return value
