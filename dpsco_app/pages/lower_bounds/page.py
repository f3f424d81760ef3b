"""Lower bounds: how wide the window is; build a bound, prove it, and run the algorithms on it."""

import streamlit as st

from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.lower_bounds.build import build_part, free_part, prove_part
from dpsco_app.pages.lower_bounds.floor import floor_part
from dpsco_app.pages.lower_bounds.gap import QUESTION, gap_part, map_part
from dpsco_app.pages.lower_bounds.run import run_part
from dpsco_app.pages.lower_bounds.state import SCENES, STATE
from dpsco_app.pages.lower_bounds.words import HOW_TO_READ, INTRODUCTION, MODE_NAMES, PART_NAMES
from dpsco_app.parts.folding import fold_words
from dpsco_app.parts.page import (
    draw_apart,
    draw_controls,
    draw_parts,
    draw_scenes,
    draw_wrong,
    link,
)
from dpsco_core.base.errors import InvalidInput

# The numbers of the proof stand out; rules between the steps.
STYLE = """<style>
.st-key-lower_scenes { gap: 0.5rem; }
.st-key-lower_steps [data-testid="stHorizontalBlock"] {
  border-top: 1px solid rgba(128, 128, 128, 0.3); padding-top: 0.6rem;
}
.st-key-lower_steps [class*="st-key-lower_number"] strong { font-size: 1.35rem; }
</style>"""


def page() -> None:
    """Draw the page."""
    st.html(STYLE)
    wrong = STATE.restore()
    scenario, refused = draw_controls(STATE)
    draw_wrong(wrong)
    screen = FirstScreen("lower")
    if scenario is not None:
        try:
            view = STATE.current(scenario)
        except InvalidInput as problem:
            scenario, refused = None, str(problem)
    if scenario is None:
        screen.say(QUESTION, "Not at these settings", refused)
        return
    STATE.remember(view, scenario)
    proves = view.part in ("build", "prove")
    with screen.controls:
        draw_apart(STATE, scenario)
        draw_parts(PART_NAMES, STATE.key("part"))
        if proves:
            draw_parts(MODE_NAMES, STATE.key("mode"))
    below = st.container()
    if proves:
        st.markdown(INTRODUCTION)
        draw_scenes(STATE, SCENES)
    fold_words(
        "How to read this page, and what the symbols mean", HOW_TO_READ, "lower_bounds_fold_reading"
    )
    link(STATE, view, scenario)
    with below:  # what runs comes last, so that all the rest is there
        if proves and view.mode != "instance":
            if view.mode == "data":
                floor_part(screen, scenario, view)
            else:
                free_part(screen, view)
        elif view.part in ("gap", "map"):
            (gap_part if view.part == "gap" else map_part)(screen, view, scenario)
        else:
            {"build": build_part, "prove": prove_part, "run": run_part}[view.part](screen, view)
