"""The scenario and the texts of the page on a private mean."""

from dpsco_app.front.fits import item_level, with_problem
from dpsco_core.fields import MEAN
from dpsco_core.scenario import Scenario

# The fields on which the picture does not depend.
UNUSED_FIELDS = ("d", "m", "axis", "grid", "trials", "methods", "tuning", "calibration", "geometry")
FIT_REASON = "The picture is about a mean, with one item per user."


def fit(scenario: Scenario) -> Scenario:
    """Return the scenario nearest to the given one that the picture can show."""
    return item_level(with_problem(scenario, MEAN, (MEAN,)))
