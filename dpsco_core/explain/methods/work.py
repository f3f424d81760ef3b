"""What one run of a method asks for: steps and gradients, from its plan, before any data is seen.

The mean estimators take no gradients: there a record counts as one.
"""

from dataclasses import dataclass

from dpsco_core.runs.cost import machine_speed, release_seconds
from dpsco_core.runs.study import method_setting, planned
from dpsco_core.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class Work:
    """The work of one run of a method."""

    items: int  # the number of records, or of items of all users
    gradients: int | None  # the number of item gradients; None if it is not known in advance
    at_most: bool  # whether `gradients` is an upper bound
    seconds: float  # the predicted seconds on this machine

    @property
    def passes(self) -> float | None:
        """The number of gradients over the number of items; None where
        gradients are not counted.
        """
        return None if self.gradients is None else self.gradients / self.items


def work(point: Scenario, slug: str) -> Work:
    """Return the records, gradients and seconds of one run of a method at a single point.

    Raises `NotApplicable` where the method does not run.
    """
    setting, plan = method_setting(point, slug), planned(point, slug)
    return Work(
        items=setting.n * setting.m,
        gradients=plan.gradients,
        at_most=plan.halts,
        seconds=release_seconds(point, slug) * machine_speed(),
    )
