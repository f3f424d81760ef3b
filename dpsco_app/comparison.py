"""The same study on a second constraint set, drawn beside the first."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpsco_app.options import AGAINST, NO_SET, number_text
from dpsco_app.problem_words import geometry_name
from dpsco_core.geometry import GEOMETRIES
from dpsco_core.parsing import shorten
from dpsco_core.scenario import Scenario

# A second exponent would need a second control.
SETS = (NO_SET, *(kind for kind in GEOMETRIES if kind != "lq"))


def comparison(scenario: Scenario, against: str) -> Scenario | None:
    """Return the scenario on the other set; None without one, or without an axis to draw it on."""
    if against in (NO_SET, scenario.geometry) or scenario.axis in (None, "q"):
        return None
    return replace(scenario, geometry=against, q=None)


def draw_choice(scenario: Scenario) -> None:
    """Draw the control, where there is an axis."""
    if scenario.axis in (None, "q"):
        st.session_state[AGAINST] = st.session_state[AGAINST]
        return
    st.selectbox(
        "Compare with",
        SETS,
        format_func=set_name,
        key=AGAINST,
        help="Runs the same study on a second set of the same diameter, and draws its lines dashed "
        "with open points. The true parameter has the same norm in both.",
    )


def set_name(kind: str) -> str:
    """Return the name of a set, or that of no set."""
    return "no other set" if kind == NO_SET else geometry_name(kind)


def read_against(text: str, problems: list[str]) -> str:
    """Return the set that `text` names; a name that is not known is said and left out."""
    if text in SETS:
        return text
    problems.append(f"{AGAINST} must be one of {', '.join(SETS)}, got {AGAINST}={shorten(text)}.")
    return NO_SET


def in_words(scenario: Scenario, method: str, here: float, there: float) -> str:
    """Return one sentence on the errors of a method on the other set and on this one."""
    name = method[0].lower() + method[1:]
    where = f"On the {geometry_name(scenario.geometry)}, {name} leaves **{number(there)}**"
    if here <= 0 or there <= 0:
        return f"{where}."
    ratio = there / here
    times = f"{number(ratio)} times as much" if ratio >= 1 else f"{number(1 / ratio)} times less"
    return f"{where}: {times}."


def number(value: float) -> str:
    """Return an error with two digits."""
    return number_text(float(f"{value:.2g}"))
