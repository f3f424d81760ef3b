"""What Explore's controls and address hold beside the scenario."""

from dpsco_app.front.view import ADDRESS
from dpsco_app.session.scenarios import Use
from dpsco_app.shell.page_state import PageState

STATE = PageState(
    name="explore",
    default=ADDRESS.default,
    lists=ADDRESS.lists,
    prefix="",
    use=Use(),
    has_presets=True,
)
