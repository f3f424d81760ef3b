"""Lines that a visitor asked for: a bound of the catalogue by name, and a formula of one's own."""

import math

import streamlit as st

from dpsco_app.parts.charts import Overlay
from dpsco_app.parts.folding import fold
from dpsco_app.parts.look import MAGENTA, bound_colour
from dpsco_app.parts.options import BOUND, FORMULA
from dpsco_app.parts.running import evaluations
from dpsco_app.parts.shown_bounds import cards
from dpsco_app.parts.traces import bound_hover, bound_name, dash_of
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.formula import parse_formula
from dpsco_core.catalogue import bound
from dpsco_core.results.overlay import check_drawable, own_line
from dpsco_core.scenario import Scenario

ABOUT = (
    "Draws your formula over the figure. Letters: n, d, m, p, epsilon (ε), delta (δ) and rho (ρ, "
    "the budget of Gaussian noise). Signs: + - * / ^ and brackets; functions: sqrt, log, exp, min, "
    "max."
)
EXAMPLE = "(d/(n*sqrt(rho)))^(1-1/p)"


def named_bound(scenario: Scenario) -> str:
    """Return the bound that is drawn by name, if it bounds what the figure shows; or nothing."""
    slug: str = st.session_state[BOUND]
    return slug if slug in {c.slug for c in cards(scenario.problem, scenario.level)} else ""


def overlays(scenario: Scenario) -> tuple[Overlay, ...]:
    """Return the lines that the session asks for, over the scenario's axis."""
    found = []
    slug, text = named_bound(scenario), st.session_state[FORMULA]
    if slug:
        every = [e for e in evaluations(scenario, (slug,)) if 0 < e.value < math.inf]
        found.append(
            Overlay(
                name=bound_name(bound(slug).card),
                points=tuple((e.x, e.value) for e in every if e.x is not None),
                hover=tuple(bound_hover(e) for e in every),
                colour=bound_colour(bound(slug).card),
                dash=dash_of(bound(slug).card),
            )
        )
    if text:
        points = own_line(scenario, parse_formula(text))
        hover = tuple(f"<b>Your formula</b><br>{text}<br>value {y:.3g}" for _, y in points)
        found.append(
            Overlay(name="Your formula", points=points, hover=hover, colour=MAGENTA, dash="dashdot")
        )
    return tuple(overlay for overlay in found if overlay.points)


def draw_overlays(scenario: Scenario) -> None:
    """Draw the button behind which a formula is typed, and what else is drawn by name."""
    fold("Your own bound", lambda: _typed(scenario), "explore_own_bound", kind="popover")
    slug = named_bound(scenario)
    if slug and st.button(
        f"Remove “{bound(slug).card.name}”",
        icon=":material/close:",
        key="remove_bound",
        help="It was added on the page Bounds.",
    ):
        st.session_state[BOUND] = ""
        st.rerun()


def _typed(scenario: Scenario) -> None:
    now = st.session_state[FORMULA]
    text = st.text_input(
        "Formula of the error", now, placeholder=EXAMPLE, help=ABOUT, key="formula_typed"
    ).strip()
    if text != now:
        try:
            if text:
                check_drawable(scenario, parse_formula(text))
        except InvalidInput as problem:
            st.error(str(problem))
            return
        st.session_state[FORMULA] = text
        st.rerun()
    st.caption(ABOUT if scenario.axis else "A formula is drawn over an axis: choose one to sweep.")
