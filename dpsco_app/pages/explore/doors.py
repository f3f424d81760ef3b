"""Three doors for who is new: drawn until a first setting is changed, or another page opened."""

import streamlit as st

from dpsco_app.parts.drawing import is_phone
from dpsco_app.parts.options import MEASURE, PANEL
from dpsco_app.shell import teaching
from dpsco_app.shell.names import LEARN, WHY
from dpsco_app.shell.places import place
from dpsco_core.scenario import Scenario

GONE = "doors_gone"
OPENED = "doors_opened"  # what the visit began with
# slug -> its name, on a phone as well
DOORS = {
    WHY: ("A story in five minutes", "A story"),
    "private-mean": ("A picture to play with", "A picture"),
    LEARN: ("Lessons", "Lessons"),
}


def draw_doors(now: Scenario) -> None:
    """Draw the line of doors, in the space beside the question."""
    state = st.session_state
    seen = (now, state[PANEL], state[MEASURE])
    if state.setdefault(OPENED, seen) != seen:
        state[GONE] = True
    # Large type is for a class, whose teacher is not new here.
    if GONE in state or teaching.current().large:
        return
    with st.container(horizontal=True, key="doors"):
        st.html("New here?")
        for slug, names in DOORS.items():
            st.page_link(place(slug), label=names[is_phone()])
