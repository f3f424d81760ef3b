"""Theory: the tables of the papers at the scenario of the sidebar, and their errata."""

from __future__ import annotations

import streamlit as st

from dpsco_app.pages.bounds.errata import errata_part
from dpsco_app.pages.bounds.state import PARTS, STATE, key, with_fitting_methods
from dpsco_app.pages.bounds.tables import tables_part
from dpsco_app.pages.bounds.words import PART_NAMES
from dpsco_app.parts.figures import SHARED_STYLE
from dpsco_app.parts.page import draw_controls, draw_wrong, link, opened

STYLE = """<style>
.st-key-theory_filters { gap: 0.7rem; }
.st-key-theory_said { min-height: 4.6rem; }
.st-key-theory_said p, .st-key-theory_errata_said p, .st-key-theory_found p { font-size: 1.02rem; }
.st-key-theory_formula p { line-height: 2.4; }
@media (max-width: 760px) { .st-key-theory_formula .katex { font-size: 0.85em; } }
</style>"""


def page() -> None:
    """Draw the page."""
    st.html(SHARED_STYLE + STYLE)
    view, wrong = opened(STATE)
    scenario, refusal = draw_controls(STATE)
    st.title("Theory: every bound at your scenario, and what was wrong in print")
    draw_wrong(wrong)
    st.segmented_control(
        "Show",
        PARTS,
        format_func=lambda name: PART_NAMES[name],
        key=key("part"),
        required=True,
        label_visibility="collapsed",
    )
    if scenario is None:
        st.error(refusal)
        return
    STATE.remember(view, scenario)
    if view.part == "tables":
        tables_part(with_fitting_methods(scenario), view)
    else:
        errata_part(view)
    link(STATE, view, scenario)
