"""A page's state comes back: from its address, or, after a visit elsewhere, as it was left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import streamlit as st

from dpsco_app.parts.controls import Panel
from dpsco_app.shell.link import Address, Found
from dpsco_app.shell.visits import came_back, just_came_back
from dpsco_core.scenario import Scenario

Put = Callable[[Mapping[str, str], list[str]], None]


@dataclass(frozen=True, kw_only=True)
class Left:
    """What a page was like when it was last shown."""

    scenario: Scenario
    extras: dict[str, str]


def restore(address: Address, panel: Panel, put: Put) -> list[str]:
    """Bring the controls to what the address says, if it is new; return what is wrong with it.

    While another page is shown the state of the widgets is lost. An address that says something is
    read again then; an empty one brings the page back as it was left. A run of a page may be
    stopped wherever it reads or writes the session: what it has not finished, the next begins anew.

    Parameters
    ----------
    put : callable
        Puts the page's own parameters into the session; adds a sentence for each that is wrong.
    """
    state, whole = st.session_state, f"{address.name}_whole"
    found = _found(address, here=panel.loaded() and state.get(whole, False))
    if found is not None:
        state[whole] = False
        problems = list(found.problems)
        panel.load(found.scenario)
        put(found.extras, problems)
        state[_wrong(address)] = problems
        state[whole] = True
    return list(state[_wrong(address)])


def _found(address: Address, *, here: bool) -> Found | None:
    """Return what is to be put into the controls; None if they hold it already."""
    left: Left | None = st.session_state.get(_left(address))
    if left is None or address.present():
        return address.read(again=not here)
    if not here:
        came_back(address.name)
    elif not (just_came_back(address.name) and address.query(left.scenario, left.extras)):
        return address.read()
    return Found(scenario=left.scenario, extras=left.extras, problems=[])


def forgive(address: Address) -> None:
    """Forget what was wrong with the address."""
    st.session_state[_wrong(address)] = []


def remember(address: Address, scenario: Scenario, extras: Mapping[str, str]) -> None:
    """Write the state of the page into its address, and keep it for its next visit."""
    address.write(scenario, extras)
    leave(address, scenario, extras)


def leave(address: Address, scenario: Scenario, extras: Mapping[str, str]) -> None:
    """Keep the state of the page for its next visit, whatever its address says."""
    st.session_state[_left(address)] = Left(scenario=scenario, extras=dict(extras))


def _left(address: Address) -> str:
    return f"{address.name}_left"


def _wrong(address: Address) -> str:
    return f"{address.name}_wrong"
