"""What is drawn beside a study: a pinned one, one method at another tail, or a second set."""

from dataclasses import replace

import streamlit as st

from dpsco_app.pages.explore.pinning import pinned
from dpsco_app.parts.options import AGAINST, NO_SET, PIN, TAIL, number_text
from dpsco_app.parts.problem_words import MEAN, geometry_name
from dpsco_app.parts.running import Result
from dpsco_app.parts.traces import Curves
from dpsco_core.geometry import GEOMETRIES
from dpsco_core.results.findings import with_other_tail
from dpsco_core.scenario import Scenario

# A second exponent would need a second control.
SETS = (TAIL, NO_SET, *(kind for kind in GEOMETRIES if kind != "lq"))


def beside(scenario: Scenario) -> Scenario | None:
    """Return the scenario that this session draws beside another one, if there is any.

    That is the pinned one, unless it is the same, and otherwise the one on the other set.
    """
    kept = pinned(st.session_state[PIN])
    if kept is not None:
        return None if kept == scenario else kept
    return comparison(scenario, st.session_state[AGAINST])


def others(scenario: Scenario) -> tuple[Scenario, ...]:
    """Return what is run beside a scenario, as a tuple."""
    other = beside(scenario)
    return () if other is None else (other,)


def curves(result: Result) -> tuple[Curves, Curves | None]:
    """Return the curves of a result and those beside, named where they must be told apart."""
    if result.beside is None:
        return Curves(table=result.table()), None
    own, other = "", ", pinned"
    if not st.session_state[PIN]:
        sets = (part.scenario for part in result.parts)
        own, other = (f", {geometry_name(s.geometry, s.q)}" for s in sets)
    tail = is_tail(result)
    if tail:
        own, other = "", f" at p = {number_text(result.beside.scenario.p)}"
    first = Curves(table=result.table(), suffix=own)
    if not result.beside.outcomes:
        return first, None
    return first, Curves(table=result.beside.table(), suffix=other, other=True, thin=tail)


def is_tail(result: Result) -> bool:
    """Whether what is beside is one method at another tail index."""
    return result.beside is not None and result.beside.scenario == with_other_tail(result.scenario)


def label(result: Result) -> str:
    """Return what the scenario beside is called: its tail, its set, or that it is pinned."""
    assert result.beside is not None
    if is_tail(result):
        return f"At p = {number_text(result.beside.scenario.p)}"
    if st.session_state[PIN]:
        return "Pinned"
    return f"On the {geometry_name(result.beside.scenario.geometry)}"


def comparison(scenario: Scenario, against: str) -> Scenario | None:
    """Return the scenario beside: another tail, another set; None without an axis to draw it on."""
    if against == TAIL:
        return with_other_tail(scenario)
    if against in (NO_SET, scenario.geometry) or scenario.axis in (None, "q"):
        return None
    return replace(scenario, geometry=against, q=None)


def draw_choice(scenario: Scenario) -> None:
    """Draw the control, where there is an axis."""
    if scenario.axis in (None, "q"):
        st.session_state[AGAINST] = st.session_state[AGAINST]
        return
    is_pin = bool(st.session_state[PIN])
    st.selectbox(
        "Compare with",
        SETS,
        SETS.index(st.session_state[AGAINST]),
        format_func=set_name,
        key=AGAINST,
        disabled=is_pin,
        help="Unpin to compare with another set."
        if is_pin
        else "A light tail: one private method is run at p = 8 too (light data: at p = 2), "
        "a thin line. A set: the whole study is run on a second set of the same diameter, dashed "
        "with open points; the true parameter has the same norm in both.",
    )


def set_name(kind: str) -> str:
    """Return the name of what can stand beside."""
    return {NO_SET: "nothing else", TAIL: "a light tail"}.get(kind) or geometry_name(kind)


def in_words(result: Result, method: str, here: float, there: float) -> str:
    """Return one sentence on the errors of a method in the scenario beside and in this one."""
    assert result.beside is not None
    name = method[0].lower() + method[1:]
    left = "has error" if result.beside.scenario.problem == MEAN else "leaves"
    if st.session_state[PIN] and not is_tail(result):
        where = f"As pinned, {name} {left} **{number(there)}**"
    else:
        where = f"{label(result)}, {name} {left} **{number(there)}**"
    if here <= 0 or there <= 0:
        return f"{where}."
    ratio = there / here
    if 0.995 < ratio < 1.005:
        return f"{where}, as much."
    times = f"{number(ratio)} times as much" if ratio >= 1 else f"{number(1 / ratio)} times less"
    return f"{where}: {times}."


def number(value: float) -> str:
    """Return an error with two digits."""
    return number_text(float(f"{value:.2g}"))
