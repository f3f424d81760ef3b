"""What methods leave on a hard mean problem, beside the bound that binds each of them there."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.cards import Privacy
from dpsco_core.explain.fano.instance import MeanInstance, largest_floor
from dpsco_core.runs.study import Outcome


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What one method left on the instance."""

    method: str
    errors: tuple[float, ...]  # one a trial; empty where the method cannot run
    floor: float  # the largest bound that binds it on this instance; 0 for a method without privacy
    refused: str  # why it cannot run, or ""

    @property
    def mean(self) -> float:
        """Mean error; NaN without any."""
        return float(np.mean(self.errors)) if self.errors else math.nan

    @property
    def standard_error(self) -> float:
        """Of the mean; NaN for fewer than two trials."""
        if len(self.errors) < 2:
            return math.nan
        return float(np.std(self.errors, ddof=1)) / math.sqrt(len(self.errors))

    @property
    def above(self) -> bool:
        """Whether the mean error is at least the floor."""
        return self.mean >= self.floor


def own_floor(at: MeanInstance, binds: Sequence[Privacy]) -> float:
    """Return the largest bound on these classes at the instance's own spike probability."""
    return largest_floor(at.setting, binds, at.scenario.distribution)


def measured(at: MeanInstance, outcomes: Sequence[Outcome]) -> tuple[Measured, ...]:
    """Return what the methods left on the instance, in the order in which they first appear."""
    rows = []
    for method in dict.fromkeys(o.method for o in outcomes):
        mine = [o for o in outcomes if o.method == method]
        ran = [o for o in mine if o.not_applicable is None]
        floor = own_floor(at, ran[0].bound_by) if ran else 0.0
        refused, errors = "" if ran else str(mine[0].not_applicable), tuple(o.error for o in ran)
        rows.append(Measured(method=method, errors=errors, floor=floor, refused=refused))
    return tuple(rows)
