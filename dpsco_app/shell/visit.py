"""The one scenario of a visit: every page shows it, every link restores it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from dpsco_app.front.fits import item_level, with_problem
from dpsco_app.front.links import BASE, query, read
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import METHOD_SLUGS, PROBLEM_SLUGS
from dpsco_core.fields import NAMES as FIELDS
from dpsco_core.scenario import Scenario

__all__ = ["BASE", "FIELDS", "item_level", "query", "read", "with_problem"]
MINE = "visit_scenario"


@dataclass(frozen=True, kw_only=True)
class Use:
    """What a page makes of the visit's scenario."""

    # the nearest scenario that the page can show
    fit: Callable[[Scenario], Scenario] = lambda scenario: scenario
    why: str = ""  # what the page needs, where that is not the visit's scenario
    sampling: bool = True  # whether the page draws samples, of limited size
    without: tuple[str, ...] = ()  # fields that mean nothing on the page
    problems: tuple[str, ...] = PROBLEM_SLUGS  # slugs of the problems that the page is about


def mine() -> Scenario:
    scenario: Scenario = st.session_state.get(MINE, BASE)
    return scenario


def shown(page: str, use: Use) -> Scenario:
    """Return what a page shows: what was set there alone, or what is nearest to the visit's."""
    own: Scenario | None = st.session_state.get(_own(page))
    return _in_order(use.fit(mine())) if own is None else own


def take(scenario: Scenario, page: str) -> None:
    show_here(None, page)
    st.session_state[MINE] = _in_order(scenario)


def show_here(scenario: Scenario | None, page: str) -> None:
    """Set what one page shows; without a scenario, what is nearest to the visit's."""
    st.session_state[_own(page)] = None if scenario is None else _in_order(scenario)


def is_apart(page: str) -> bool:
    return st.session_state.get(_own(page)) is not None


def follow(now: Scenario, page: str, use: Use) -> None:
    """Take over what has been changed in a page's controls.

    A field in which the page shows the visit's value changes for the whole visit, any other one for
    this page alone.
    """
    before, own = shown(page, use), mine()
    changed = {
        name: getattr(now, name)
        for name in FIELDS
        if getattr(now, name) != getattr(before, name) == getattr(own, name)
    }
    try:
        own = replace(own, **changed).validate(DASHBOARD, sampling=False)
    except InvalidInput:  # it fits the page's other values only
        own = mine()
    st.session_state[MINE] = own
    st.session_state[_own(page)] = None if now == _in_order(use.fit(own)) else now


def _in_order(scenario: Scenario) -> Scenario:
    return replace(scenario, methods=tuple(m for m in METHOD_SLUGS if m in scenario.methods))


def _own(page: str) -> str:
    return f"{page}_own_scenario"
