"""The links for newcomers, shown at the first settings until another page is opened."""

import streamlit as st

from dpsco_app.parts.drawing import is_phone
from dpsco_app.parts.presets import FIRST
from dpsco_app.shell import teaching
from dpsco_app.shell.names import WHY
from dpsco_app.shell.places import place
from dpsco_core.scenario import Scenario

DOORS_CLOSED = "doors_gone"
# The slug of each page, with its name in a wide window and on a phone.
DOORS = {WHY: ("A story in five minutes", "A story")}


def draw_doors(scenario: Scenario) -> None:
    """Draw the links for newcomers, as long as a visit has its first settings."""
    doors = st.empty()  # The container keeps the figure's position when the links disappear.
    # Large type is for teaching, and a teacher needs no links for newcomers.
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
