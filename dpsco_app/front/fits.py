"""The nearest scenario that a page can show."""

from dataclasses import replace

from dpsco_app.front.changes import with_variance
from dpsco_app.front.links import BASE
from dpsco_core.catalogue import default_methods, distributions_for
from dpsco_core.scenario import Scenario


def with_problem(scenario: Scenario, problem: str, problems: tuple[str, ...]) -> Scenario:
    """Return the scenario if its problem is among `problems`; otherwise move it to `problem`.

    The law and p then change if the new problem needs that.
    """
    if scenario.problem in problems:
        return scenario
    law = scenario.distribution
    return with_variance(
        replace(
            scenario,
            problem=problem,
            alike=0.0,
            methods=default_methods(problem, scenario.level),
            distribution=law if law in distributions_for(problem) else BASE.distribution,
        )
    )


def item_level(scenario: Scenario) -> Scenario:
    """Return the scenario with one item per user, for pages that show item level only."""
    if scenario.level == "item" and scenario.axis != "m":
        return replace(scenario, alike=0.0)
    axis, grid = (None, ()) if scenario.axis == "m" else (scenario.axis, scenario.grid)
    return replace(
        scenario,
        m=1,
        alike=0.0,
        axis=axis,
        grid=grid,
        methods=default_methods(scenario.problem),
    )
