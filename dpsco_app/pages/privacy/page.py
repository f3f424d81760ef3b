"""Privacy: what a budget means, where a run spends it, and whether it keeps its word."""

import streamlit as st

from dpsco_app.pages.privacy.budget_sections import budget_part
from dpsco_app.pages.privacy.run_sections import audit_part, ledger_part
from dpsco_app.pages.privacy.state import PARTS, SCENES, STATE
from dpsco_app.pages.privacy.words import HOW_TO_READ, INTRODUCTION, PART_NAMES
from dpsco_app.parts.folding import fold_words
from dpsco_app.parts.page import draw_apart, draw_scenes, link, opened_with_scenario

STYLE = """<style>
.st-key-privacy_scenes { gap: 0.5rem; }
.st-key-privacy_said { min-height: 3.4rem; }
@media (max-width: 760px) { .st-key-privacy_said { min-height: 6.8rem; } }
</style>"""


def page() -> None:
    """Draw the page."""
    st.html(STYLE)
    found = opened_with_scenario(STATE, "Privacy: what a budget means, and who keeps it")
    if found is None:
        return
    view, scenario = found
    st.markdown(INTRODUCTION)
    draw_scenes(STATE, SCENES)
    draw_apart(STATE, scenario)
    st.segmented_control(
        "Show", PARTS, format_func=lambda key: PART_NAMES[key], key=STATE.key("part"), required=True
    )
    # What runs comes before the foot, which is drawn first.
    part, foot = st.container(), st.container()
    with foot:
        fold_words(
            "How to read this page, and what the symbols mean", HOW_TO_READ, "privacy_fold_reading"
        )
        link(STATE, view, scenario)
    with part:
        if view.part == "ledger":
            ledger_part(view, scenario)
        else:
            {"budget": budget_part, "audit": audit_part}[view.part](view)
