"""Explore's panel: the controls of the scenario, and numbers of one's own."""

import streamlit as st

from dpsco_app.front.second import SECONDS, second_name
from dpsco_app.pages.explore.own_numbers import draw_own_numbers
from dpsco_app.parts import controls
from dpsco_app.parts.options import AGAINST
from dpsco_core.scenario import Scenario


def draw_sidebar(now: Scenario) -> None:
    with st.sidebar:
        controls.draw(now, more=_more)


def _more(scenario: Scenario) -> None:
    st.selectbox(
        "Beside your data, show",
        SECONDS,
        SECONDS.index(st.session_state[AGAINST]),
        format_func=second_name,
        key=AGAINST,
        help="The second panel: the hard instance of the sharpest lower bound with the same tail; "
        "the same study with a light tail (light data: with a heavy one); or the same study on "
        "another set of the same diameter.",
    )
    draw_own_numbers()
