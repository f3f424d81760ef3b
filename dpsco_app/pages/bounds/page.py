"""Bounds: the tables of the papers at the scenario of the visit."""

import streamlit as st

from dpsco_app.pages.bounds.state import STATE, with_fitting_methods
from dpsco_app.pages.bounds.tables import QUESTION, tables_part
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.parts.page import draw_apart, draw_controls, draw_wrong, link

STYLE = """<style>
.st-key-bounds_formula p { line-height: 2.4; }
@media (max-width: 760px) { .st-key-bounds_formula .katex { font-size: 0.85em; } }
</style>"""


def page() -> None:
    """Draw the page."""
    st.html(STYLE)
    wrong = STATE.restore()
    scenario, refused = draw_controls(STATE)
    draw_wrong(wrong)
    screen = FirstScreen("bounds")
    if scenario is None:
        screen.say(QUESTION, "Not at these settings", refused)
        return
    view = STATE.current()
    STATE.remember(view, scenario)
    with screen.controls:
        draw_apart(STATE, scenario)
    tables_part(screen, with_fitting_methods(scenario), view)
    link(STATE, view, scenario)
