"""Descents: at every step a statistic of the gradients is released, and the point moves against it.

Kamath et al. (2022), Algorithms 1 and 2; Zhao et al. (2024), Algorithm 1. A method of this kind
chooses the parts of its `DescentPlan`; this module runs them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.geometry.mirror import PowerMirror
from dpsco_core.methods.access import ALL_RECORDS, Access, KnownLosses
from dpsco_core.methods.base import Method, Plan, PrivateMethod, Release
from dpsco_core.methods.statistics import Statistic
from dpsco_core.methods.steps import Descent, Moves
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class DescentPlan(Plan):
    """The parts of a descent and its shares of the budget; none of them depends on the data."""

    statistic: Statistic  # the statistic of the gradients that a step releases
    access: Access = ALL_RECORDS  # the records that a step reads
    descent: Moves  # the rule that moves the point
    rho: float = 0.0  # the budget of the whole run; 0 for a method without privacy
    # The budget of one step: rho/T if it reads all records, all of rho if it reads its own block.
    rho_step: float = 0.0
    losses: KnownLosses | None = None  # the losses to minimise; None for those of the sample
    # Parameters that are worth showing beside the result.
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # sentences that a reader of the result must see

    @property
    def step_rows(self) -> int:
        """The number of rows, records or users, that a step reads."""
        return self.access.rows(self.setting, self.descent.steps)

    @property
    def phases(self) -> tuple[Any, ...]:
        """The phases on disjoint records; empty if all steps read the same records."""
        return self.access.phases

    @property
    def halts(self) -> bool:
        """Whether a run may end before its last step."""
        return self.access.halts

    @property
    def passes(self) -> float:
        """How often a run reads all records."""
        return self.access.passes(self.descent.steps)

    @property
    def moves(self) -> float:
        """How often a run moves a point and projects it: its steps, or 0 without projection."""
        return self.descent.steps if self.descent.projected else 0

    @property
    def mirror(self) -> PowerMirror | None:
        """The mirror map of the steps; None for Euclidean steps."""
        return self.descent.mirror

    @property
    def pieces(self) -> float:
        """The number of pieces of the records that all steps process one after the other."""
        return self.descent.steps * self.statistic.pieces

    @property
    def gradients(self) -> int | None:
        """The number of gradients of a run; None if it depends on the data."""
        return self.access.gradients(self.setting, self.descent.steps)


class Descending(Method):
    """A method whose plan is a `DescentPlan`, with the release that all such methods share."""

    def release(
        self, sample: Any, plan: DescentPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Descend along the gradients that the steps release through `ledger`.

        The points between the steps, and the averages of them, are post-processing.
        """
        checked = plan.access.checked(sample, plan.setting, plan.losses)
        steps, d = plan.descent.steps, plan.setting.d
        measuring = plan.statistic.measuring(plan.step_rows, d, plan.rho_step, steps)
        step_records = plan.access.open(checked, ledger, steps, rng)

        def oracle(w: Vector, t: int) -> Vector:
            """Return what step t releases of the gradients at w."""
            rows, account = step_records(w, t)
            return measuring.take(rows, account, rng, t)

        descended = plan.descent.run(sample.constraint, oracle)
        diagnostics = {**measuring.diagnostics, **descended.diagnostics, **plan.diagnostics}
        return descended.released(ledger, diagnostics, (*plan.notes, *ledger.flaws))


class DescentMethod(Descending, PrivateMethod):
    """A private method whose plan is a `DescentPlan`."""


def whole_batch(
    setting: Setting,
    statistic: Statistic,
    descent: Descent,
    rho: float,
    sensitivity: float,  # the largest change that one record makes to what a step releases
    diagnostics: Mapping[str, float],  # parameters that are worth showing beside the result
    losses: KnownLosses | None = None,
) -> DescentPlan:
    """Return the plan whose steps all read every record and share `rho` equally."""
    rho_step = rho / descent.steps
    noise = {"noise_std": sensitivity / math.sqrt(2 * rho_step), **descent.diagnostics}
    calls = {"rho_step": rho_step, "gradient_calls": float(descent.steps * setting.n)}
    return DescentPlan(
        setting=setting,
        statistic=statistic,
        descent=descent,
        rho=rho,
        rho_step=rho_step,
        losses=losses,
        diagnostics={**diagnostics, **noise, **calls},
    )
