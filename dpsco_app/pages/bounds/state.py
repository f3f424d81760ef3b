"""The state of the page Bounds, in its controls and its address."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from dpsco_app.front.links import BASE
from dpsco_app.parts.options import BOUND
from dpsco_app.parts.page import explore_query
from dpsco_app.parts.shown_bounds import cards
from dpsco_app.session.scenarios import Use
from dpsco_app.shell.page_state import PageState, PageView, checked
from dpsco_core.base.cards import BoundCard, Level
from dpsco_core.base.errors import InvalidInput
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

FITTING = ""  # The value that stands for the first table with a theorem that holds at the scenario.


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    """What the page shows: a table, how many of its rows, and the bound that is shown in full."""

    table: str = checked(FITTING, one_of, (FITTING, *TABLE_KEYS))
    bound: str = checked("", one_of, ("", *(b.card.slug for b in BOUNDS)))
    rows: str = checked("few", one_of, ("few", "all"))


STATE = PageState(
    name="bounds",
    default=View(),
    prefix="bounds_",
    use=Use(
        sampling=False,
        unused_fields=("methods", "axis", "grid", "trials", "seed", "tuning", "calibration"),
    ),
)


def with_fitting_methods(scenario: Scenario) -> Scenario:
    """Return the scenario with the methods of its problem: the tables do not depend on them."""
    level: Level = "user" if scenario.m > 1 else "item"
    return replace(scenario, methods=default_methods(scenario.problem, level))


def covered(table: PaperTable) -> dict[str, Any]:
    """Return fields of a scenario in which theorems of a table hold, and its problem's methods."""
    level: Level = "user" if table.covered["m"] > 1 else "item"
    return {**table.covered, "methods": default_methods(table.covered["problem"], level)}


@lru_cache(maxsize=1000)
def fitting_table(point: Scenario) -> PaperTable:
    """Return the first table that has a theorem which holds at a point; else the first table."""
    tables = map(paper_table, TABLE_KEYS)
    holding = (t for t in tables if any(r.holds for s in t.slugs for r in rows(point, (s,))))
    return next(holding, paper_table(TABLE_KEYS[0]))


def explore_address(point: Scenario, card: BoundCard) -> dict[str, str]:
    """Return Explore's address at a point with a bound, drawn by name if Explore can.

    It sweeps n, or m at user level, if the dashboard allows that; otherwise it has the single
    point. Raises `InvalidInput` if that is not allowed either.
    """
    single = replace(drawn_scenario(point, card), trials=BASE.trials)
    axis: Literal["m", "n"] = "m" if card.level == "user" and single.m > 1 else "n"
    try:
        query = explore_query(replace(single, axis=axis, grid=default_grid(axis, single.geometry)))
    except InvalidInput:  # An end of the grid may be too large.
        query = explore_query(single)
    alike = card.slug in {c.slug for c in cards(single.problem, single.level)}
    return query | ({BOUND: card.slug} if alike else {})
