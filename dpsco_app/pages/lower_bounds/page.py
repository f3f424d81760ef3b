"""Lower bounds: how wide the window is, and why nobody gets below it."""

import streamlit as st

from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.lower_bounds.gap import QUESTION, gap_part
from dpsco_app.pages.lower_bounds.prove import prove_part
from dpsco_app.pages.lower_bounds.state import PARTS, SCENES, STATE
from dpsco_app.pages.lower_bounds.words import HOW_TO_READ, INTRODUCTION
from dpsco_app.parts.folding import fold_words
from dpsco_app.parts.page import draw_apart, draw_parts, draw_scenes, link, opened_at
from dpsco_core.base.errors import InvalidInput

# The numbers of the proof stand out; rules between the steps.
STYLE = """<style>
.st-key-lower_scenes { gap: 0.5rem; }
.st-key-lower_steps [data-testid="stHorizontalBlock"] {
  border-top: 1px solid rgba(128, 128, 128, 0.3); padding-top: 0.6rem;
}
.st-key-lower_steps [class*="st-key-lower_number"] strong { font-size: 1.35rem; }
</style>"""
DRAW = {"gap": gap_part, "prove": prove_part}


def page() -> None:
    """Draw the page."""
    st.html(STYLE)
    view, scenario, refused = opened_at(STATE)
    screen = FirstScreen("lower")
    if scenario is None:
        screen.say(QUESTION, "Not at these settings", refused)
        return
    with screen.controls:
        draw_apart(STATE, scenario)
        draw_parts(PARTS, STATE.key("part"))
    below = st.container()
    if view.part == "prove":
        st.markdown(INTRODUCTION)
        draw_scenes(STATE, SCENES)
    fold_words(
        "How to read this page, and what the symbols mean", HOW_TO_READ, "lower_bounds_fold_reading"
    )
    link(STATE, view, scenario)
    try:
        with below:  # what runs comes last, so that all the rest is there
            DRAW[view.part](screen, view, scenario)
    except InvalidInput as problem:
        screen.say(QUESTION, "Not at these settings", str(problem))
