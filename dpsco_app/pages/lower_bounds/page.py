"""Lower bounds: how wide the window is; build a bound, prove it, and run the algorithms on it."""

from functools import partial

import streamlit as st

from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.lower_bounds.floor import floor_part
from dpsco_app.pages.lower_bounds.gap import QUESTION, gap_part, map_part, say_standing
from dpsco_app.pages.lower_bounds.proof import builder_steps
from dpsco_app.pages.lower_bounds.run import run_part
from dpsco_app.pages.lower_bounds.sections import (
    choose_hard,
    choose_packing,
    draw_steps,
    free_part,
    instance_part,
    instance_proof,
)
from dpsco_app.pages.lower_bounds.state import MODES, SCENES, STATE, View
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
    say_standing(screen, scenario)
    with screen.controls:
        draw_apart(STATE, scenario)
        draw_parts(PART_NAMES, STATE.key("part"))
    foot = partial(_foot, view, scenario)
    match view.part:
        case "gap":
            gap_part(screen, view, scenario)
        case "map":
            map_part(screen, view, scenario)
        case "build":
            _head(view)
            if view.mode == "data":
                floor_part(scenario, view)
            elif view.mode == "free":
                free_part(view)
            else:
                instance_part(view.instance, view)
        case "prove":
            _head(view)
            if view.mode == "data":
                floor_part(scenario, view)
            elif view.mode == "free":
                draw_steps(builder_steps(view.builder))
            else:
                instance_proof(view.instance, view)
        case "run":
            choose_hard("Instance")
            measured = st.container()  # what runs comes last, so that all the rest is there
            foot()
            with measured:
                run_part(view.instance, view)
            return
    foot()


def _head(view: View) -> None:
    st.markdown(INTRODUCTION)
    draw_scenes(STATE, SCENES)
    st.segmented_control(
        "The bound for",
        MODES,
        format_func=lambda key: MODE_NAMES[key],
        key=STATE.key("mode"),
        required=True,
    )
    if view.mode == "free":
        choose_packing()


def _foot(view: View, scenario: Scenario) -> None:
    fold_words(
        "How to read this page, and what the symbols mean", HOW_TO_READ, "lower_bounds_fold_reading"
    )
    link(STATE, view, scenario)
