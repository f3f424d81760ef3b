"""The picture to play with, on the page without a server: it follows the settings of the page."""

from html import escape
from typing import Any

from dpsco_app.front.picture import WHY, fit
from dpsco_app.parts.differences import apart
from dpsco_app.parts.touch import picture
from dpsco_app.shell import names
from dpsco_app.site.screen import bold
from dpsco_core.base.limits import Limits
from dpsco_core.scenario import Scenario

CURVES, PICTURE = names.EXPLORE, "private-mean"


def picture_screen(mine: Scenario, limits: Limits, *, dark: bool) -> dict[str, Any]:
    """Return what the picture shows of a scenario, in the colours of a theme.

    Raises `InvalidInput` if the page does not allow the scenario.
    """
    scenario = fit(mine).validate(limits)
    here = apart(scenario, mine, WHY)
    remark = f"<p>{bold(here)}</p>" if here else ""
    return {
        "picture": picture.picture_data(scenario, dark=dark),
        "head": f"<h1>{escape(picture.TITLE)}</h1>{remark}",
        "sample": escape(picture.sample_words(scenario)),
    }
