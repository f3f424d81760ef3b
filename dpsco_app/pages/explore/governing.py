"""The parts of the bounds that are drawn: pointed at, the stretch that one governs lights up."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from dpsco_app.figure.colours import PAGE
from dpsco_app.front.bound_lines import bound_colour, short_name
from dpsco_app.pages.explore.runs import Shown, drawn_slugs
from dpsco_app.pages.explore.state import STATE
from dpsco_app.parts.evaluations import evaluations
from dpsco_app.parts.options import SYMBOL, short_text
from dpsco_app.parts.themes import is_dark
from dpsco_app.parts.touch.components import component
from dpsco_core.explain.stretches import stretches
from dpsco_core.fields import is_linear
from dpsco_core.results.report import Evaluation

KEY = "explore_parts"
FIGURE = "figure_"  # how the place of the figure begins


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


def draw_governing(shown: Shown) -> None:
    """Draw the terms of every bound that was asked for, where bounds were."""
    scenario = shown.live
    asked = STATE.current().show or STATE.current().named_bound(scenario)
    if scenario.axis is None or len(scenario.grid) < 2 or not asked:
        return
    slugs = drawn_slugs(scenario)
    # A bound that is infinite, as with Gaussian noise at a pure budget, is not drawn.
    curves = [[e for e in evaluations(scenario, (s,)) if 0 < e.value < math.inf] for s in slugs]
    bounds = [parts_of(curve, scenario.axis) for curve in curves if curve]
    bounds = [bound for bound in bounds if bound.parts]
    if bounds:
        st.markdown("**Which part of a bound is the largest**")
        data = {"figure": FIGURE, "page": PAGE[is_dark()], "bounds": list(map(asdict, bounds))}
        component("parts", "parts.css")(key=KEY, data=data, height="content")


def parts_of(curve: Sequence[Evaluation], axis: str) -> BoundParts:
    """Return a bound's terms, if there are two, with where each is the largest."""
    card, symbol = curve[0].bound.card, SYMBOL[axis]
    spans = stretches(
        [(e.x, e.terms) for e in curve if e.x is not None], logarithmic=not is_linear(axis)
    )
    names = list(curve[0].terms)
    parts = []
    for part in names if len(names) > 1 else []:
        subject = part[0].upper() + part[1:]
        own = [(s.start, s.stop) for s in spans if s.part == part]
        ranges = " and ".join(f"from {symbol} = {short_text(a)} to {short_text(b)}" for a, b in own)
        where = ranges if len(spans) > 1 else f"at every {symbol} drawn"
        says = f"{subject} is the largest part of “{short_name(card)}” {where}."
        if not own:
            says = f"{subject} is nowhere the largest part of “{short_name(card)}” here."
        parts.append(PartOf(name=part, stretches=own, says=says))
    return BoundParts(
        name=short_name(card),
        colour=bound_colour(card)[is_dark()],
        points=[(e.x, e.value) for e in curve if e.x is not None],
        parts=parts,
    )
