"""What stands in the place of the headline while runs of the present settings are missing."""

from dpsco_app.parts.differences import differences
from dpsco_core.scenario import Scenario

CANNOT = "These settings cannot be run."


def waiting_words(ran: Scenario, now: Scenario, runs: int, *, measures: bool) -> str:
    """Return that a setting is not measured yet, or that its runs are under way or begin now."""
    there = _there(ran, now)
    if measures:
        return f"Measuring {runs:,} run{'s' * (runs != 1)}{there} …"
    return f"Not measured yet{there}."


def _there(ran: Scenario, now: Scenario) -> str:
    changes = differences(ran, now)
    if len(changes) != 1:
        return " at these settings" if changes else ""
    (change,) = changes
    if change.field == "distribution":
        return f" on {change.there} data"
    return f" at {change.name} = {change.there}"
