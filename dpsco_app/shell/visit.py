"""The one scenario of a visit: every page shows it, every link restores it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace

import streamlit as st

from dpsco_app.pages.explore.presets import DEFAULT
from dpsco_app.parts.options import LARGEST_SEED
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.base.parsing import parse_field
from dpsco_core.catalogue import METHOD_SLUGS, PROBLEM_SLUGS, default_methods, distributions_for
from dpsco_core.runs.allowed import with_fitting_grid
from dpsco_core.scenario import Scenario

BASE = DEFAULT.scenario  # what a field is that the address leaves out
FIELDS = tuple(f.name for f in fields(Scenario))
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
    found: Scenario = st.session_state.get(MINE, BASE)
    return found


def shown(page: str, use: Use) -> Scenario:
    """Return what a page shows: what was set there alone, or what is nearest to the visit's."""
    own: Scenario | None = st.session_state.get(_own(page))
    return _in_order(use.fit(mine())) if own is None else own


def take(scenario: Scenario, page: str) -> None:
    st.session_state[_own(page)] = None
    st.session_state[MINE] = _in_order(scenario)


def show_here(scenario: Scenario, page: str) -> None:
    st.session_state[_own(page)] = _in_order(scenario)


def back_to_mine(page: str) -> None:
    st.session_state[_own(page)] = None


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


def query(scenario: Scenario) -> dict[str, str]:
    """Return the parameters of a link to a scenario; never empty, so that it is no other one."""
    return {"problem": scenario.problem} | scenario.to_query(BASE)


def read(given: Mapping[str, str], *, sampling: bool = True) -> tuple[Scenario, list[str]]:
    """Return the scenario of an address, and what is wrong there.

    A field that cannot be read, or is not allowed, is left at its default, the others are kept,
    and there is one sentence for each.
    """
    problems: list[str] = []
    readable: dict[str, str] = {}
    for name in (name for name in FIELDS if name in given):
        try:
            parse_field(name, given[name])
            readable[name] = given[name]
        except InvalidInput as problem:
            problems.append(str(problem))
    kept = readable
    try:
        _allowed(readable, sampling=sampling)
    except InvalidInput as problem:
        problems.append(str(problem))
        kept = {}
        for name, value in readable.items():  # keep every field that is allowed with those before
            try:
                _allowed({**kept, name: value}, sampling=sampling)
                kept[name] = value
            except InvalidInput:
                continue  # the sentence has been said above
    return _allowed(kept, sampling=sampling), problems


def _allowed(given: Mapping[str, str], *, sampling: bool) -> Scenario:
    found = Scenario.from_query(dict(given), BASE)
    if "grid" not in given:  # nobody has asked for its largest points
        found = with_fitting_grid(found, DASHBOARD)
    # A control that is given a larger one shows its default, without a word.
    must = f"at most {LARGEST_SEED:,} for {DASHBOARD.where}"
    require(found.seed <= LARGEST_SEED, "seed", must, found.seed)
    return found.validate(DASHBOARD, sampling=sampling)


def with_problem(scenario: Scenario, problem: str, known: tuple[str, ...]) -> Scenario:
    """Return the scenario on a problem, unless its own is known; an unfit law gives way."""
    if scenario.problem in known:
        return scenario
    law = scenario.distribution
    return replace(
        scenario,
        problem=problem,
        methods=default_methods(problem, scenario.level),
        distribution=law if law in distributions_for(problem) else BASE.distribution,
    )


def item_level(scenario: Scenario) -> Scenario:
    if scenario.level == "item" and scenario.axis != "m":
        return scenario
    axis, grid = (None, ()) if scenario.axis == "m" else (scenario.axis, scenario.grid)
    return replace(scenario, m=1, axis=axis, grid=grid, methods=default_methods(scenario.problem))


def _in_order(scenario: Scenario) -> Scenario:
    return replace(scenario, methods=tuple(m for m in METHOD_SLUGS if m in scenario.methods))


def _own(page: str) -> str:
    return f"{page}_own_scenario"
