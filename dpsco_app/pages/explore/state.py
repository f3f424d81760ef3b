"""The state of Explore in its controls and its address, beside the scenario."""

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
