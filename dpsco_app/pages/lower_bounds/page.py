"""Lower bounds: how wide the window is, and why no private algorithm has a smaller error."""

from dataclasses import replace

import streamlit as st

from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.frame import draw_page
from dpsco_app.pages.lower_bounds import words
from dpsco_app.pages.lower_bounds.figures import sweep_figure
from dpsco_app.pages.lower_bounds.prove import draw_proof_part
from dpsco_app.pages.lower_bounds.state import PARTS, STATE, SWEEPS, View
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.page import draw_parts
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.window import Standing, grid, standing, strength, swept
from dpsco_core.scenario import Scenario

# The style of the proof: its numbers stand out, and lines separate the steps.
STYLE = """<style>
.st-key-lower_scenes { gap: 0.5rem; }
[class*="st-key-lower_step_"] {
  border-top: 1px solid rgba(128, 128, 128, 0.3); padding-top: 0.6rem;
}
[class*="st-key-lower_number"] strong { font-size: 1.35rem; }
</style>"""
SWEPT = 25  # The number of values in a sweep.


def mean_point(scenario: Scenario) -> Scenario:
    """Return the scenario as a single point of mean estimation, with the defaults of all fields
    that the page does not use.
    """
    return replace(
        scenario,
        problem="mean",
        distribution="gaussian",
        offset=0.0,
        methods=(),
        axis=None,
        grid=(),
        trials=1,
        seed=0,
    )


_standing = st.cache_resource(max_entries=200, show_spinner=False, hash_funcs={Scenario: repr})(
    standing
)


@st.cache_resource(max_entries=100, show_spinner=False, hash_funcs={Scenario: repr})
def _swept(point: Scenario, field: str) -> tuple[Vector, tuple[Standing, ...]]:
    """Return the swept values of a field, and the proven bounds at each of them."""
    values = grid(point, field, SWEPT)
    return values, swept(point, field, values)


def _draw_window(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the window over a field, with the sentence on what makes it wide."""
    point = mean_point(scenario)
    standing_here = _standing(point)
    screen.say(words.QUESTIONS["gap"], *words.standing_words(standing_here))
    with screen.controls:
        names = {key: words.AXIS_NAMES[_field(key, point)] for key in SWEEPS}
        draw_parts(names, STATE.key("over"), "Over")
    field = _field(view.over, point)
    values, standings = _swept(point, field)
    figure = sweep_figure(values, standings, standing_here, field)
    screen.draw(figure)
    with screen.foot:
        st.markdown(
            f"{figure.alt}. "
            f"{words.zcdp_sentence(standing_here)}{words.shares_sentence(standing_here)}"
        )
    screen.draw_files(figure, setting=setting_line(point, runs=False))


def _field(key: str, point: Scenario) -> str:
    """Return the field of a sweep; the strength of a budget is its epsilon or its rho."""
    return strength(point) if key == "strength" else key


DRAW = {"gap": _draw_window, "prove": draw_proof_part}


def page() -> None:
    """Draw the page Lower bounds: the window between bounds, or one of the proofs."""
    st.html(STYLE)
    draw_page(STATE, DRAW, words.QUESTIONS, names=PARTS, symbols=words.HOW_TO_READ)
