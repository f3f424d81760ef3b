"""A door for who is new: drawn at the first settings, until another page is opened."""

import streamlit as st

from dpsco_app.parts.drawing import is_phone
from dpsco_app.parts.presets import FIRST
from dpsco_app.shell import teaching
from dpsco_app.shell.names import WHY
from dpsco_app.shell.places import place
from dpsco_core.scenario import Scenario

DOORS_CLOSED = "doors_gone"
# slug -> its name, on a phone as well
DOORS = {WHY: ("A story in five minutes", "A story")}


def draw_doors(scenario: Scenario) -> None:
    """Draw the line of doors, in the space beside the question."""
    doors = st.empty()  # so that the figure below keeps its place when they go
    # Large type is for a class, whose teacher is not new here.
    large = teaching.current().large
    if (
        scenario != FIRST.scenario
        or DOORS_CLOSED in st.session_state
        or large
        or teaching.is_part_hidden("nav")
    ):
        return
    with doors.container(horizontal=True, key="doors"):
        st.html("New here?")
        for slug, names in DOORS.items():
            st.page_link(place(slug), label=names[is_phone()])
