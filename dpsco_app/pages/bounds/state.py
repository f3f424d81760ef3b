"""What Bounds's controls and address hold."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from dpsco_app.parts.evaluations import evaluations
from dpsco_app.parts.options import BOUND, OPTIONS
from dpsco_app.parts.page import explore_query
from dpsco_app.parts.shown_bounds import cards
from dpsco_app.shell import visit
from dpsco_app.shell.page_state import PageState
from dpsco_core.base.cards import BoundCard, Level
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.base.parsing import one_of
from dpsco_core.catalogue import BOUNDS, default_methods
from dpsco_core.explain.tables.table import (
    TABLE_KEYS,
    PaperTable,
    drawn_scenario,
    paper_table,
    rows,
)
from dpsco_core.scenario import Scenario, default_grid

ALL = "all"
FITTING = ""  # the first table with a theorem that holds at the scenario
# The page's own parameters: what each may be, the default first.
CHOICES: dict[str, tuple[str, ...]] = {
    "table": (FITTING, *TABLE_KEYS),
    "kind": (ALL, "upper", "lower"),
    "scope": ("here", ALL),
    "bound": ("", *(b.card.slug for b in BOUNDS)),
}


@dataclass(frozen=True, kw_only=True)
class View:
    """What the page shows: of each name in `CHOICES` one value."""

    table: str = FITTING
    kind: str = ALL
    scope: str = "here"
    bound: str = ""

    def validate(self) -> View:
        """Return the view; raises `InvalidInput` in one sentence."""
        for name, values in CHOICES.items():
            one_of(name, getattr(self, name), values)
        return self


STATE = PageState(
    name="bounds",
    default=View(),
    prefix="bounds_",
    use=visit.Use(
        sampling=False,
        without=("methods", "axis", "grid", "trials", "seed", "tuning", "calibration"),
    ),
)


def with_fitting_methods(scenario: Scenario) -> Scenario:
    """Return the scenario with the methods of its problem: the tables do not depend on them."""
    level: Level = "user" if scenario.m > 1 else "item"
    return replace(scenario, methods=default_methods(scenario.problem, level))


def covered(table: PaperTable) -> dict[str, Any]:
    """Return the fields of a scenario that a table covers, its problem's methods included."""
    level: Level = "user" if table.covered["m"] > 1 else "item"
    return {**table.covered, "methods": default_methods(table.covered["problem"], level)}


@lru_cache(maxsize=1000)
def fitting_table(point: Scenario) -> PaperTable:
    """Return the first table with a theorem that holds at a point; the first one if none does."""
    every = map(paper_table, TABLE_KEYS)
    holding = (t for t in every if any(r.holds for s in t.slugs for r in rows(point, (s,))))
    return next(holding, paper_table(TABLE_KEYS[0]))


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Explore's address for a bound."""

    query: dict[str, str]  # its parameters; empty where the dashboard cannot run any such scenario
    draws: bool  # whether its figure draws the bound; the table below it always lists it
    n: int  # records, or users, there: fewer where the dashboard does not run so many
    scenario: Scenario | None = None  # what opens


def drawing(point: Scenario, card: BoundCard) -> Drawing:
    """Return where Explore draws a bound at a point.

    A sweep over n, or over m at user level, where the dashboard allows it, otherwise the single
    point; the bound is drawn by name, whatever the views.
    """
    single = replace(drawn_scenario(point, card), trials=visit.BASE.trials)
    fewer = sorted((int(n) for n in OPTIONS["n"] if n < point.n), reverse=True)
    scenario = next(
        (s for n in (point.n, *fewer) if (s := _allowed(replace(single, n=n), card))), None
    )
    if scenario is None:
        return Drawing(query={}, draws=False, n=point.n)
    alike = card.slug in {c.slug for c in cards(scenario.problem, scenario.level)}
    query = explore_query(scenario) | ({BOUND: card.slug} if alike else {})
    return Drawing(query=query, draws=alike, n=scenario.n, scenario=scenario)


def has_line(view: Drawing, slug: str) -> bool:
    """Return whether Explore's figure holds a line of the bound: a positive number somewhere."""
    if not view.draws or view.scenario is None:
        return False
    return any(0 < e.value < math.inf for e in evaluations(view.scenario, (slug,)))


def _allowed(single: Scenario, card: BoundCard) -> Scenario | None:
    axis: Literal["m", "n"] = "m" if card.level == "user" and single.m > 1 else "n"
    swept = replace(single, axis=axis, grid=default_grid(axis, single.geometry))
    for scenario in (swept, single):  # an end of the grid may be too large
        try:
            return scenario.validate(DASHBOARD)
        except InvalidInput:
            continue
    return None
