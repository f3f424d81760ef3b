"""Means: one release of a statistic of the rows, and the nearest point of a public ball.

Zhao et al. (2024), Algorithm 2; Kamath et al. (2022), Algorithms 3 and 4. A method of this kind
chooses the parts of its `MeanPlan`; this module runs them. An estimator that makes several
releases, each of which depends on the ones before, is a statistic with an `estimate` of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import Rows
from dpsco_core.methods.base import Method, Plan, PrivateMethod, Release
from dpsco_core.methods.records.base import check_rows, into_ball
from dpsco_core.methods.statistics import Statistic
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import Mechanism
from dpsco_core.problems.base import Setting

StatisticType = TypeVar("StatisticType", bound=Statistic, covariant=True)
NoiseType = TypeVar("NoiseType", bound="Mechanism[Vector] | None", covariant=True)


def checked_rows(rows: Rows, setting: Setting) -> Rows:
    """Return the rows unchanged; raise an error if their size is not the setting's."""
    check_rows(rows, setting)
    return rows


@dataclass(frozen=True, kw_only=True)
class MeanPlan(Plan, Generic[StatisticType, NoiseType]):
    """The parts of a mean estimate; none of them depends on the data."""

    statistic: StatisticType  # the statistic of the rows that is released
    # the noise added to the statistic; None if there is none, or if the statistic adds it itself
    noise: NoiseType
    # A function of the method's input and the setting that returns the rows.
    read: Callable[[Any, Setting], Any] = checked_rows
    answer_radius: float = math.inf  # The answer is projected on the ball of this radius.
    # Parameters that are worth showing beside the result.
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # sentences that a reader of the result must see


class Averaging(Method):
    """A method whose plan is a `MeanPlan`, with the release that all such methods share."""

    def release(
        self, records: Any, plan: MeanPlan[Any, Any], ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Release the statistic through `ledger` and project it on the ball of the answer."""
        rows = plan.read(records, plan.setting)
        value, diagnostics = plan.statistic.estimate(rows, plan.noise, ledger, rng)
        return Release(
            value=value if plan.answer_radius == math.inf else into_ball(value, plan.answer_radius),
            ledger=ledger,
            diagnostics={**diagnostics, **plan.diagnostics},
            notes=plan.notes + ledger.flaws,
        )


class MeanMethod(Averaging, PrivateMethod):
    """A private method whose plan is a `MeanPlan`."""
