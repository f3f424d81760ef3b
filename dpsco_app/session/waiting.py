"""The words that replace the headline while runs of the present settings are missing."""

from dpsco_app.parts.differences import differences
from dpsco_core.scenario import Scenario

CANNOT = "These settings cannot be run."


def waiting_words(scenario_run: Scenario, scenario: Scenario, runs: int, *, measures: bool) -> str:
    """Return the sentence that new settings are being measured, or that they are not measured yet.

    `scenario_run` is on screen, `scenario` has the new settings, and `runs` counts their runs;
    `measures` says that these are under way or start at once.
    """
    setting_words = _setting_words(scenario_run, scenario)
    if measures:
        return f"Measuring {runs:,} run{'s' * (runs != 1)}{setting_words} …"
    return f"Not measured yet{setting_words}."


def _setting_words(scenario_run: Scenario, scenario: Scenario) -> str:
    """Return the new settings in words, as in " at n = 500", if a single one has changed."""
    changes = differences(scenario_run, scenario)
    if len(changes) != 1:
        return " at these settings" if changes else ""
    (change,) = changes
    if change.field == "distribution":
        return f" on {change.there} data"
    return f" at {change.name} = {change.there}"
