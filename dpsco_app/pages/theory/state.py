"""What Theory's controls and address hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import streamlit as st

from dpsco_app.parts.controls import Panel
from dpsco_app.parts.fields import DETAILS, GROUPS
from dpsco_app.parts.options import OPTIONS, VIEWS
from dpsco_app.parts.running import evaluations
from dpsco_app.parts.shown_bounds import shown
from dpsco_app.shell.link import EXPLORE, Address, views_text
from dpsco_core.base.cards import BoundCard
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.base.parsing import shorten
from dpsco_core.catalogue import BOUNDS, default_methods
from dpsco_core.explain.errata import ERRATA, SEVERITIES, SLUGS
from dpsco_core.explain.tables.table import TABLE_KEYS, drawn_scenario
from dpsco_core.scenario import Scenario, default_grid

ALL = "all"
PARTS = ("tables", "errata")
PAPERS = tuple(dict.fromkeys(slug.split(".")[0] for slug in SLUGS))
# The page's own parameters: what each may be, the default first.
CHOICES: dict[str, tuple[str, ...]] = {
    "part": PARTS,
    "table": TABLE_KEYS,
    "kind": (ALL, "upper", "lower"),
    "level": (ALL, "item", "user"),
    "space": (ALL, "l2", "lq"),
    "scope": ("here", ALL),
    "bound": ("", *(b.card.slug for b in BOUNDS)),
    "paper": (ALL, *PAPERS),
    "severity": (ALL, *SEVERITIES),
    "runs": ("no", "yes"),
    "erratum": ("", *SLUGS),
}
NAME = "theory"
BASE = Scenario(problem="quadratic", methods=default_methods("quadratic", "item"), p=3.0)
ADDRESS = Address(
    name=NAME,
    base=BASE,
    extras={name: values[0] for name, values in CHOICES.items()},
    sampling=False,
)
_LEFT_OUT = ("Algorithms", "Study")
PANEL = Panel(
    name=NAME,
    prefix="theory_field_",
    groups=tuple((title, group) for title, group in GROUPS if title not in _LEFT_OUT),
    details=tuple(c for c in DETAILS if c.field == "margin"),
)


def key(name: str) -> str:
    """Return the key of the widget of one of the page's own parameters."""
    return f"theory_{name}"


def chosen() -> dict[str, str]:
    """Return the page's own parameters as the widgets hold them."""
    return {name: str(st.session_state[key(name)]) for name in CHOICES}


def load(extras: Mapping[str, str], problems: list[str]) -> None:
    """Put the page's own parameters into the widgets' state; a sentence for what is unknown."""
    for name, values in CHOICES.items():
        text = extras[name]
        if text not in values:
            few = len(values) < 12
            known = f"one of {', '.join(values)}" if few else "one that the page lists"
            problems.append(f"{name} must be {known}, got {name}={shorten(text)}.")
            text = values[0]
        st.session_state[key(name)] = text


def keep() -> None:
    """Keep the state of widgets that this run does not draw."""
    state = st.session_state
    fields = [PANEL.prefix + c.field for c in PANEL.controls]
    for name in (*fields, PANEL.notion, *(key(n) for n in CHOICES)):
        state[name] = state[name]
    # The methods are not a control here; a change of the problem or of m sets them all the same.
    state.setdefault(PANEL.prefix + "methods", [])


def read() -> Scenario:
    """Return the scenario of the sidebar, with methods that fit; not yet validated."""
    scenario = PANEL.read()
    methods = default_methods(scenario.problem, "user" if scenario.m > 1 else "item")
    return replace(scenario, methods=methods)


def fits(card: BoundCard, extras: Mapping[str, str]) -> bool:
    """Return whether a bound passes the filters of kind, level and geometry."""
    return (
        extras["kind"] in (ALL, card.kind)
        and extras["level"] in (ALL, card.level)
        and extras["space"] in (ALL, card.geometry)
    )


def listed(extras: Mapping[str, str]) -> tuple[str, ...]:
    """Return the errata that pass the filters, in order."""
    return tuple(
        e.slug
        for e in ERRATA
        if extras["paper"] in (ALL, e.slug.split(".")[0])
        and extras["severity"] in (ALL, e.severity)
        and (extras["runs"] == "no" or e.experiment is not None)
    )


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Explore's address for a bound.

    Parameters
    ----------
    query : dict
        Its parameters; empty where the dashboard cannot run any such scenario.
    drawn : bool
        Whether its figure draws the bound; the table below it always lists it.
    n : int
        Records, or users, there: fewer where the dashboard does not run so many.
    scenario : Scenario or None
        What opens.
    """

    query: dict[str, str]
    drawn: bool
    n: int
    scenario: Scenario | None = None


def drawing(point: Scenario, card: BoundCard) -> Drawing:
    """Return where Explore draws a bound at a point.

    A sweep over n, or over m at user level, where the dashboard allows it, otherwise the single
    point; the bound's own view is on.
    """
    single = replace(drawn_scenario(point, card), trials=EXPLORE.base.trials)
    fewer = sorted((int(n) for n in OPTIONS["n"] if n < point.n), reverse=True)
    scenario = next(
        (s for n in (point.n, *fewer) if (s := _allowed(replace(single, n=n), card))), None
    )
    if scenario is None:
        return Drawing(query={}, drawn=False, n=point.n)
    explicit = card.constant == "explicit"
    view = "rates" if not explicit else "lower bounds" if card.kind == "lower" else "upper bounds"
    views = list(dict.fromkeys((VIEWS[0], view)))
    query = EXPLORE.query(scenario, views_text(views))
    drawn = card.slug in shown(scenario, views)
    return Drawing(query=query, drawn=drawn, n=scenario.n, scenario=scenario)


def has_line(found: Drawing, slug: str) -> bool:
    """Return whether Explore's figure holds a line of the bound: a positive number somewhere."""
    if not found.drawn or found.scenario is None:
        return False
    return any(0 < e.value < math.inf for e in evaluations(found.scenario, (slug,)))


def _allowed(single: Scenario, card: BoundCard) -> Scenario | None:
    axis: Literal["m", "n"] = "m" if card.level == "user" and single.m > 1 else "n"
    swept = replace(single, axis=axis, grid=default_grid(axis, single.geometry))
    for scenario in (swept, single):  # an end of the grid may be too large
        try:
            return scenario.validate(DASHBOARD)
        except InvalidInput:
            continue
    return None
