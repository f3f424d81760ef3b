"""Lower bounds: build Fano's inequality, and run the algorithms on its hard instance."""

from __future__ import annotations

import streamlit as st

from dpsco_app.pages.lower_bounds.run import run_part
from dpsco_app.pages.lower_bounds.sections import (
    choose_packing,
    free_part,
    instance_part,
    instance_proof,
)
from dpsco_app.pages.lower_bounds.state import MODES, SCENES, STATE, View
from dpsco_app.pages.lower_bounds.words import HOW_TO_READ, INTRODUCTION, MODE_NAMES
from dpsco_app.parts.figures import SHARED_STYLE
from dpsco_app.parts.folding import fold_words
from dpsco_app.parts.page import draw_apart, draw_scenes, link, opened_with_scenario
from dpsco_core.scenario import Scenario

# The numbers of the proof stand out; rules between the steps.
STYLE = """<style>
.st-key-lower_scenes { gap: 0.5rem; }
.st-key-lower_said, .st-key-lower_run_said { min-height: 3.4rem; }
.st-key-lower_steps [data-testid="stHorizontalBlock"] {
  border-top: 1px solid rgba(128, 128, 128, 0.3); padding-top: 0.6rem;
}
.st-key-lower_steps [class*="st-key-lower_number"] strong { font-size: 1.35rem; }
@media (max-width: 760px) {
  .st-key-lower_said, .st-key-lower_run_said { min-height: 6.8rem; }
}
</style>"""


def page() -> None:
    """Draw the page."""
    st.html(SHARED_STYLE + STYLE)
    found = opened_with_scenario(STATE, "Lower bounds: why no algorithm can do better")
    if found is None:
        return
    view, scenario = found
    st.markdown(INTRODUCTION)
    draw_scenes(STATE, SCENES)
    draw_apart(STATE, scenario)
    st.segmented_control(
        "Build the bound for",
        MODES,
        format_func=lambda key: MODE_NAMES[key],
        key=STATE.key("mode"),
        required=True,
    )
    if view.mode == "free":
        choose_packing()
        free_part(view)
        _foot(view, scenario)
        return
    at = view.instance
    instance_part(at, view)
    instance_proof(at, view)
    measured = st.container()  # what runs comes last, so that all the rest is there meanwhile
    _foot(view, scenario)
    with measured:
        run_part(at, view)


def _foot(view: View, scenario: Scenario) -> None:
    fold_words(
        "How to read this page, and what the symbols mean", HOW_TO_READ, "lower_bounds_fold_reading"
    )
    link(STATE, view, scenario)
