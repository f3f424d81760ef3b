"""The hand in Explore's figure: it moves the chosen point along the axis."""

import math
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsco_app.pages.explore.figure import Shown, side_by_side
from dpsco_app.parts import controls
from dpsco_app.parts.export import PAGE
from dpsco_app.parts.look import Look
from dpsco_app.parts.options import SYMBOL, number_text
from dpsco_app.parts.touch.modules import component
from dpsco_core.scenario import Scenario

KEY = "explore_hand"
FIGURE = "figure_"  # how the places of Explore's one figure begin


def draw_hand(drawn: Shown, place: DeltaGenerator) -> None:
    """Draw the handle of the chosen point, and under the figure how it is moved."""
    scenario = drawn.now or drawn.result.scenario
    if scenario.axis is None or scenario.axis != drawn.result.scenario.axis:
        return
    if side_by_side(drawn.result) or not math.isfinite(getattr(scenario, scenario.axis)):
        return  # q = ∞ has no place on the axis
    look = Look(dark=st.context.theme.type == "dark")
    colours = {"ink": look.ink, "page": look.colour(PAGE)}
    with place:
        component("hand", "hand.css")(
            key=KEY,
            data=handle(scenario, scenario.axis) | {"figure": FIGURE, "colours": colours},
            on_chosen_change=_choose,
            height="content",
        )


def handle(scenario: Scenario, axis: str) -> dict[str, Any]:
    """Return the handle of a scenario's own value on the axis, and where it can be put."""
    value = getattr(scenario, axis)
    first, last = scenario.grid[0], scenario.grid[-1]
    values = [
        x for x in controls.offered(axis, scenario, value) if first <= x <= last or x == value
    ]
    return {
        "symbol": SYMBOL[axis],
        "field": axis,
        "values": values,
        "texts": [number_text(x) for x in values],
        "at": values.index(value),
    }


def _choose() -> None:
    """Put the value that the hand has let go into its control."""
    field, value = st.session_state[KEY]["chosen"]
    scenario = controls.read()
    if field == scenario.axis and value in handle(scenario, field)["values"]:
        controls.choose(field, value)
