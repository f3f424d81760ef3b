"""Which part of a drawn bound governs where: what the parts below Explore's figure light up."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsco_app.pages.explore.figure import Shown, drawn_bounds, side_by_side
from dpsco_app.parts.export import PAGE
from dpsco_app.parts.look import Look, bound_colour
from dpsco_app.parts.options import SYMBOL, short_text
from dpsco_app.parts.touch.figure import BoundParts, PartOf, draw_parts
from dpsco_app.parts.traces import BoundLine, bound_name, lines_of
from dpsco_core.explain.stretches import Stretch, stretches
from dpsco_core.results.report import Evaluation

KEY = "explore_parts"


def draw_governing(drawn: Shown, place: DeltaGenerator, figure: str) -> None:
    """Draw the parts of every bound in the figure whose places begin with `figure`."""
    scenario = drawn.live or drawn.result.scenario
    if scenario.axis is None or len(scenario.grid) < 2 or side_by_side(drawn.result):
        return
    look = Look(dark=st.context.theme.type == "dark")
    lines = lines_of(drawn_bounds(scenario), scenario)
    asked = [parts_of_line(line, scenario.axis, look) for line in lines]
    asked = [line for line in asked if line.parts]
    if asked:
        with place:
            draw_parts(asked, KEY, look.colour(PAGE), figure)


def parts_of_line(line: BoundLine, axis: str, look: Look) -> BoundParts:
    """Return the parts of a line: the terms of a bound, or the bounds that it is the largest of.

    A bound that is one term has no parts.
    """
    card = line.curve[0].bound.card
    name = line.name or bound_name(card)
    points = [
        (e.x, _values(line, e) if line.of else e.terms) for e in line.curve if e.x is not None
    ]
    kind = "bound" if line.of else "part"
    found = stretches(points, logarithmic=axis != "p")
    names = [s.part for s in found] if line.of else line.curve[0].terms
    if len(names) == 1 and not line.of:
        names = []
    return BoundParts(
        name=name,
        colour=look.colour(bound_colour(card)),
        points=[(e.x, e.value) for e in line.curve if e.x is not None],
        parts=[_part(part, name, found, axis, kind) for part in dict.fromkeys(names)],
    )


def _values(line: BoundLine, there: Evaluation) -> dict[str, float]:
    """Return the bounds that a line is the largest of, by name, at one point of the axis."""
    at = (e for curve in line.of for e in curve if e.x == there.x)
    return {bound_name(e.bound.card): e.value for e in at}


def _part(part: str, line: str, found: list[Stretch], axis: str, kind: str) -> PartOf:
    symbol = SYMBOL[axis]
    own = [(s.start, s.stop) for s in found if s.part == part]
    ranges = " and ".join(f"from {symbol} = {short_text(a)} to {short_text(b)}" for a, b in own)
    where = ranges if len(found) > 1 else f"at every {symbol} drawn"
    subject = part[0].upper() + part[1:]
    says = f"{subject} is the largest {kind} of “{line}” {where}."
    if not own:
        says = f"{subject} is nowhere the largest {kind} of “{line}” here."
    return PartOf(name=part, stretches=own, says=says)
