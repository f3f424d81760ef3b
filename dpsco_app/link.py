"""The whole state in the address: read at the start and when it changes, written at every run."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from dpsco_app.options import SHOW, VIEWS
from dpsco_app.presets import DEFAULT
from dpsco_core.errors import InvalidInput
from dpsco_core.limits import DASHBOARD
from dpsco_core.parsing import parse_field, shorten
from dpsco_core.scenario import Scenario

WRITTEN = "address_written"
BASE = DEFAULT.scenario


def read_address() -> tuple[Scenario, list[str], list[str]] | None:
    """Return what the address says if it is new: the scenario, the views, what is wrong.

    A field that cannot be read, or is not allowed, is left at its default, the others are kept,
    and there is one sentence for each. None: the address is the one that this session wrote.
    """
    known = {*BASE.to_dict(), SHOW}
    query = {k: v for k, v in st.query_params.to_dict().items() if k in known}
    if st.session_state.get(WRITTEN) == query:
        return None
    st.session_state[WRITTEN] = dict(query)
    problems: list[str] = []
    views = _views(query.pop(SHOW, VIEWS[0]), problems)
    readable: dict[str, str] = {}
    for name, value in query.items():
        try:
            parse_field(name, value)
            readable[name] = value
        except InvalidInput as problem:
            problems.append(str(problem))
    try:
        return Scenario.from_query(readable, BASE).validate(DASHBOARD), views, problems
    except InvalidInput as problem:
        problems.append(str(problem))
    kept: dict[str, str] = {}
    for name, value in readable.items():  # keep every field that is allowed with those before it
        try:
            Scenario.from_query({**kept, name: value}, BASE).validate(DASHBOARD)
            kept[name] = value
        except InvalidInput:
            continue  # the sentence has been said above
    return Scenario.from_query(kept, BASE), views, problems


def _views(text: str, problems: list[str]) -> list[str]:
    """Return the views that `text` names; a name that is not known is said and left out."""
    names = [name for name in text.split(",") if name not in ("", "none")]
    unknown = [name for name in names if name not in VIEWS]
    if unknown:
        problems.append(f"{SHOW} must be among {', '.join(VIEWS)}, got {SHOW}={shorten(text)}.")
    return [name for name in names if name in VIEWS]


def state_query(scenario: Scenario, views: list[str]) -> dict[str, str]:
    """Return the whole state of the page as parameters; what is at its default is left out."""
    query = scenario.to_query(BASE)
    if views != [VIEWS[0]]:
        query[SHOW] = ",".join(views) or "none"
    return query


def write_address(scenario: Scenario, views: list[str]) -> None:
    """Put the state into the address, leaving other parameters alone."""
    query = state_query(scenario, views)
    if st.session_state.get(WRITTEN) == query:
        return
    others = {
        k: v for k, v in st.query_params.to_dict().items() if k not in {*scenario.to_dict(), SHOW}
    }
    st.query_params.from_dict({**others, **query})
    st.session_state[WRITTEN] = query


def address(scenario: Scenario, views: list[str]) -> str:
    """Return the whole address, to be copied."""
    query = urlencode(state_query(scenario, views))
    page = (st.context.url or "").split("?")[0]
    return f"{page}?{query}" if query else page
