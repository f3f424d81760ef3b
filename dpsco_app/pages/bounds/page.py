"""Bounds: the tables of the papers at the scenario of the visit."""

import streamlit as st

from dpsco_app.pages.bounds.state import STATE, with_fitting_methods
from dpsco_app.pages.bounds.tables import tables_part
from dpsco_app.parts.page import draw_apart, link, opened_with_scenario

STYLE = """<style>
.st-key-bounds_filters { gap: 0.7rem; }
.st-key-bounds_said { min-height: 4.6rem; }
.st-key-bounds_said p { font-size: 1.02rem; }
.st-key-bounds_formula p { line-height: 2.4; }
@media (max-width: 760px) { .st-key-bounds_formula .katex { font-size: 0.85em; } }
</style>"""


def page() -> None:
    """Draw the page."""
    st.html(STYLE)
    found = opened_with_scenario(STATE, "Bounds: every theorem of the papers at your scenario")
    if found is None:
        return
    view, scenario = found
    draw_apart(STATE, scenario)
    tables_part(with_fitting_methods(scenario), view)
    link(STATE, view, scenario)
