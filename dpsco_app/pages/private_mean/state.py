"""What the controls of A private mean and its address hold: the scenario alone."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_app.shell import visit
from dpsco_app.shell.page_state import PageState
from dpsco_core.problems import MeanEstimation
from dpsco_core.scenario import Scenario

PROBLEM = MeanEstimation.card.slug


@dataclass(frozen=True, kw_only=True)
class View:
    """What the page shows beside the scenario: nothing."""

    def validate(self) -> View:
        """Return the view."""
        return self


def fit(scenario: Scenario) -> Scenario:
    """Return the nearest scenario about the mean of single records."""
    return visit.item_level(visit.with_problem(scenario, PROBLEM, (PROBLEM,)))


STATE = PageState(
    name="private_mean",
    default=View(),
    use=visit.Use(
        fit=fit,
        why="The picture is about a mean, with one item per user.",
        without=(
            "d",
            "m",
            "axis",
            "grid",
            "trials",
            "methods",
            "tuning",
            "calibration",
            "geometry",
        ),
        problems=(PROBLEM,),
    ),
)
