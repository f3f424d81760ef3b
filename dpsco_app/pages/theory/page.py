"""Theory: the tables of the papers at the scenario of the sidebar, and their errata."""

from __future__ import annotations

import streamlit as st

from dpsco_app.pages.theory.errata import errata_part
from dpsco_app.pages.theory.state import ADDRESS, PANEL, PARTS, chosen, keep, key, load, read
from dpsco_app.pages.theory.tables import tables_part
from dpsco_app.pages.theory.words import PART_NAMES
from dpsco_app.parts.figures import SHARED_STYLE
from dpsco_app.parts.page import fold_address
from dpsco_app.shell.restore import remember, restore
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.scenario import Scenario

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
    wrong = restore(ADDRESS, PANEL, load)
    keep()
    part = str(st.session_state[key("part")])
    if part == "tables":
        with st.sidebar:
            PANEL.draw(PANEL.read())
    scenario, refusal = _checked(read())
    st.title("Theory: every bound at your scenario, and what was wrong in print")
    for sentence in wrong:
        st.warning(
            f"In the address: {sentence} The default is used instead.", icon=":material/link:"
        )
    st.segmented_control(
        "Show",
        PARTS,
        format_func=lambda name: PART_NAMES[name],
        key=key("part"),
        required=True,
        label_visibility="collapsed",
    )
    extras = chosen()
    if scenario is None:
        st.error(refusal)
        return
    remember(ADDRESS, scenario, extras)
    if part == "tables":
        tables_part(scenario, extras)
    else:
        errata_part(extras)
    fold_address(ADDRESS.text(scenario, extras), "theory_link")


def _checked(scenario: Scenario) -> tuple[Scenario | None, str]:
    try:
        return scenario.validate(DASHBOARD, sampling=False), ""
    except InvalidInput as problem:
        return None, str(problem)
