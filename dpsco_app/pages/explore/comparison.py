"""What is drawn beside a study: a pinned one, one method at another tail, or a second set."""

from dataclasses import fields, replace
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from dpsco_app.parts.differences import SYMBOLS, differences, method_names
from dpsco_app.parts.options import AGAINST, NO_SET, PIN, TAIL, inside, number_text, short_text
from dpsco_app.parts.problem_words import MEAN, geometry_name, words_for
from dpsco_app.parts.running import Result
from dpsco_app.parts.traces import Curves
from dpsco_app.shell.visit import BASE, query
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.base.parsing import shorten
from dpsco_core.geometry import GEOMETRIES
from dpsco_core.results.findings import with_other_tail
from dpsco_core.scenario import Scenario

# A second exponent would need a second control.
SETS = (TAIL, NO_SET, *(kind for kind in GEOMETRIES if kind != "lq"))
LONGEST = 2000  # characters of a pinned scenario in the address


def beside(scenario: Scenario) -> Scenario | None:
    """Return what this session draws beside a scenario: the pinned one, or the other set."""
    kept = pinned(st.session_state[PIN])
    if kept is not None:
        return None if kept == scenario else kept
    return comparison(scenario, st.session_state[AGAINST])


def others(scenario: Scenario) -> tuple[Scenario, ...]:
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
    return {NO_SET: "nothing else", TAIL: "a light tail"}.get(kind) or geometry_name(kind)


def in_words(result: Result, method: str, here: float, there: float) -> str:
    """Return one sentence on the errors of a method in the scenario beside and in this one."""
    assert result.beside is not None
    left = "has error" if result.beside.scenario.problem == MEAN else "leaves"
    which = "As pinned" if st.session_state[PIN] and not is_tail(result) else label(result)
    where = f"{which}, {inside(method)} {left} **{short_text(there, 2)}**"
    if here <= 0 or there <= 0:
        return f"{where}."
    ratio = there / here
    if 0.995 < ratio < 1.005:
        return f"{where}, as much."
    more = f"{short_text(ratio, 2)} times as much"
    return f"{where}: {more if ratio >= 1 else f'{short_text(1 / ratio, 2)} times less'}."


def pin_text(scenario: Scenario) -> str:
    """Return a scenario as the text of one parameter; never empty."""
    return urlencode(query(scenario))


@lru_cache(maxsize=256)
def checked_pin(text: str) -> str:
    """Return the text of the scenario that `text` pins; raises `InvalidInput` if there is none."""
    try:
        return pin_text(_parsed(text)) if text else ""
    except InvalidInput as problem:
        sentence = f"{PIN} holds no scenario that can be run. {problem}"
        raise InvalidInput(sentence) from None


@lru_cache(maxsize=256)
def pinned(text: str) -> Scenario | None:
    """Return the scenario of a text that `pin_text` has made; None if nothing is pinned."""
    return _parsed(text) if text else None


def _parsed(text: str) -> Scenario:
    """Return the scenario of a query, if the dashboard allows it; raises `InvalidInput`."""
    require(len(text) <= LONGEST, PIN, f"at most {LONGEST:,} characters", shorten(text))
    most = len(fields(Scenario))
    try:
        given = dict(
            parse_qsl(text, keep_blank_values=True, strict_parsing=True, max_num_fields=most)
        )
    except ValueError:
        require(False, PIN, "a query such as epsilon=1&p=3", shorten(text))
    scenario = Scenario.from_dict(given, BASE).validate(DASHBOARD)
    require(bool(scenario.methods), "methods", "at least one", "none")
    return scenario


def overlays(a: Scenario, b: Scenario) -> bool:
    """Whether the curves of two scenarios can be drawn into one figure: same axis and quantity."""
    return a.axis is not None and a.axis == b.axis and same_quantity(a, b)


def same_quantity(a: Scenario, b: Scenario) -> bool:
    return words_for(a.problem).quantity == words_for(b.problem).quantity


def in_short(there: Scenario, here: Scenario) -> str:
    """Return what a pinned scenario has that the present one has not: "ε = 1, p = 3"."""
    said = []
    for difference in differences(here, there):
        if difference.field == "methods":
            kind = words_for(there.problem).method
            more = tuple(m for m in there.methods if m not in here.methods)
            fewer = tuple(m for m in here.methods if m not in there.methods)
            parts = [f"with {method_names(more)}"] * bool(more)
            parts += [f"without {method_names(fewer)}"] * bool(fewer)
            alike = set(there.methods) & set(here.methods)
            said.append(" and ".join(parts) if alike else f"other {kind}s")
        elif difference.field in SYMBOLS:
            said.append(f"{difference.name} = {difference.there}")
        elif difference.field == "trials":
            said.append(f"{difference.there} trials")
        elif difference.field in ("problem", "distribution", "geometry"):
            said.append(inside(difference.there))
        else:
            said.append(f"{difference.name.lower()} {difference.there}")
    return ", ".join(said)
