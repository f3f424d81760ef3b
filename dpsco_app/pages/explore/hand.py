"""What answers the hand in Explore's figure: its chosen point, and the parts of its bounds."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsco_app.pages.explore.figure import Shown, drawn_bounds, side_by_side
from dpsco_app.parts import controls
from dpsco_app.parts.export import PAGE
from dpsco_app.parts.look import Look, bound_colour
from dpsco_app.parts.options import SYMBOL, number_text, short_text
from dpsco_app.parts.touch.modules import component
from dpsco_app.parts.traces import BoundLine, bound_name, lines_of
from dpsco_core.explain.stretches import stretches
from dpsco_core.scenario import Scenario

KEY = "explore_hand"
PARTS = "explore_parts"
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
    field, value = st.session_state[KEY]["chosen"]
    scenario = controls.read()
    if field == scenario.axis and value in handle(scenario, field)["values"]:
        controls.choose(field, value)


@dataclass(frozen=True, kw_only=True)
class PartOf:
    """A part of a bound: where it is the largest, as (from, to) on the axis, and that in words."""

    name: str
    stretches: Sequence[tuple[float, float]]
    says: str


@dataclass(frozen=True, kw_only=True)
class BoundParts:
    """A line of the figure, as (x, error) by points, with the parts that it has."""

    name: str
    colour: str
    points: Sequence[tuple[float, float]]
    parts: Sequence[PartOf]


def draw_governing(drawn: Shown, place: DeltaGenerator) -> None:
    scenario = drawn.live or drawn.result.scenario
    if scenario.axis is None or len(scenario.grid) < 2 or side_by_side(drawn.result):
        return
    look = Look(dark=st.context.theme.type == "dark")
    lines = lines_of(drawn_bounds(scenario), scenario)
    bounds = [parts_of_line(line, scenario.axis, look) for line in lines]
    bounds = [bound for bound in bounds if bound.parts]
    if bounds:
        data = {"figure": FIGURE, "page": look.colour(PAGE), "bounds": list(map(asdict, bounds))}
        with place:
            component("parts", "parts.css")(key=PARTS, data=data, height="content")


def parts_of_line(line: BoundLine, axis: str, look: Look) -> BoundParts:
    """Return a bound's terms, if there are two, or the bounds that a line is the largest of."""
    card = line.curve[0].bound.card
    name = line.name or bound_name(card)
    if line.of:
        kind = "bound"
        every = [e for curve in line.of for e in curve]
        points = [
            (e.x, {bound_name(o.bound.card): o.value for o in every if o.x == e.x})
            for e in line.curve
            if e.x is not None
        ]
    else:
        kind, points = "part", [(e.x, e.terms) for e in line.curve if e.x is not None]
    found = stretches(points, logarithmic=axis != "p")
    names = [s.part for s in found] if line.of else list(line.curve[0].terms)
    if len(names) == 1 and not line.of:
        names = []
    parts = []
    for part in dict.fromkeys(names):
        symbol, subject = SYMBOL[axis], part[0].upper() + part[1:]
        own = [(s.start, s.stop) for s in found if s.part == part]
        ranges = " and ".join(f"from {symbol} = {short_text(a)} to {short_text(b)}" for a, b in own)
        where = ranges if len(found) > 1 else f"at every {symbol} drawn"
        says = f"{subject} is the largest {kind} of “{name}” {where}."
        if not own:
            says = f"{subject} is nowhere the largest {kind} of “{name}” here."
        parts.append(PartOf(name=part, stretches=own, says=says))
    return BoundParts(
        name=name,
        colour=look.colour(bound_colour(card)),
        points=[(e.x, e.value) for e in line.curve if e.x is not None],
        parts=parts,
    )
