"""Running a study inside a Streamlit script: cells from the core, cached one by one.

The loop calls Streamlit at every cell, so that a click on Cancel or on any control stops it there;
finished cells stay in the cache and in the result.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

import streamlit as st

from dpsco_app.problem_words import MEAN
from dpsco_core.anatomy import starting_risk
from dpsco_core.catalogue import BOUNDS, HARD_INSTANCES
from dpsco_core.costing import cost
from dpsco_core.report import Evaluation, evaluate
from dpsco_core.scenario import Scenario
from dpsco_core.study import Cell, Outcome, canonical, cells, run_cell

KEPT_CELLS = 20_000
FIRST_DRAW_SECONDS = 0.25
DRAW_EVERY_SECONDS = 0.8
WRITE_EVERY_SECONDS = 0.1


@dataclass
class Result:
    """What has been run of a scenario; kept in the session."""

    scenario: Scenario
    outcomes: list[Outcome] = field(default_factory=list)
    done: bool = False
    beside: Result | None = None

    @property
    def cells(self) -> int:
        """How many cells there are, on both sets."""
        return self.scenario.cells + (0 if self.beside is None else self.beside.scenario.cells)

    @property
    def finished(self) -> int:
        """How many of them are finished."""
        return len(self.outcomes) + (0 if self.beside is None else len(self.beside.outcomes))

    def shows(self, scenario: Scenario, other: Scenario | None) -> bool:
        """Whether this is the result of a scenario, beside that of the other one."""
        beside = None if self.beside is None else self.beside.scenario
        return (self.scenario, beside) == (scenario, other)


@st.cache_data(
    max_entries=KEPT_CELLS,
    show_spinner=False,
    hash_funcs={Cell: lambda c: f"{c.point.to_query()} {c.method} {c.x} {c.trial}"},
)
def cached_cell(cell: Cell) -> Outcome:
    """Return the outcome of a cell, from the cache if any session has run it before."""
    return run_cell(cell)


def run(result: Result) -> Iterator[tuple[int, str]]:
    """Run the cells that `result` lacks; yield the number finished and the time that is left.

    Appends to ``result.outcomes`` as it goes, then to those of the set beside. The caller writes to
    the page at every step.
    """
    parts = [result] if result.beside is None else [result, result.beside]
    todo = [(part, cell) for part in parts for cell in list(cells(part.scenario))]
    expected = sum(cost(part.scenario).seconds for part in parts)
    started = time.monotonic()
    before = result.finished
    for i in range(before, len(todo)):
        part, cell = todo[i]
        part.outcomes.append(cached_cell(cell))
        fresh = i + 1 - before
        share = fresh / (len(todo) - before)
        spent = time.monotonic() - started
        left = spent * (1 / share - 1) if share > 0.1 else expected * (1 - share)
        yield i + 1, f"{i + 1:,} of {len(todo):,} cells, about {max(left, 0):.0f} s left"
    for part in parts:
        part.done = True


class Pace:
    """Says when something may be drawn again, so that the page is not flooded."""

    def __init__(self, first: float, every: float) -> None:
        self._every = every
        self._next = time.monotonic() + first

    def due(self) -> bool:
        """Return whether it is time, and if so start the next wait."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + self._every
        return True


def evaluations(scenario: Scenario, slugs: tuple[str, ...]) -> list[Evaluation]:
    """Return the bounds in `slugs` at every point of the scenario; kept for later reruns."""
    return [
        _evaluation(canonical(point), slug, x) for x, point in scenario.points() for slug in slugs
    ]


@lru_cache(maxsize=20_000)
def _evaluation(point: Scenario, slug: str, x: float | None) -> Evaluation:
    which = next(b for b in BOUNDS if b.card.slug == slug)
    return evaluate(point, which, x)


def starting_risks(scenario: Scenario) -> list[tuple[float | None, float]]:
    """Return the excess risk of the starting point at every point of an optimisation scenario."""
    if scenario.problem == MEAN:
        return []
    return [(x, _starting_risk(_risk_point(point))) for x, point in scenario.points()]


def _risk_point(point: Scenario) -> Scenario:
    """Return `point` without what a population risk does not depend on."""
    point = replace(canonical(point), seed=0, calibration="tight", tuning="practical")
    if point.distribution in HARD_INSTANCES:  # its prior depends on n and the budget
        return point
    return replace(point, n=1, epsilon=1.0, delta=1e-6, rho=None)


@lru_cache(maxsize=1000)
def _starting_risk(point: Scenario) -> float:
    return starting_risk(point)
