"""Cells that have run: kept for every visit of the process, so that none runs twice."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from threading import Lock

from dpsco_core.runs.cost import Cost, cost
from dpsco_core.runs.study import Cell, Outcome, canonical, run_cell
from dpsco_core.scenario import Scenario

KEPT_CELLS = 20_000
KEPT_SECONDS = 3e-4  # the time of a cell that has run before

_kept: OrderedDict[Cell, Outcome] = OrderedDict()  # the last used come last
_lock = Lock()


def known_outcomes(cells: Iterable[Cell]) -> list[Outcome]:
    """Return what those of some cells have given that have run before, in any visit."""
    with _lock:
        known = [cell for cell in cells if cell in _kept]
        for cell in known:
            _kept.move_to_end(cell)
        return [_kept[cell] for cell in known]


def outcome_of(cell: Cell) -> Outcome:
    """Return the outcome of a cell, which is run if no visit has run it before."""
    for outcome in known_outcomes([cell]):
        return outcome
    outcome = run_cell(cell)
    known = _known_trials(cell.point, cell.method, cell.x)
    with _lock:
        known[0] = max(known[0], cell.trial + 1)
        _kept[cell] = outcome
        if len(_kept) > KEPT_CELLS:
            _kept.popitem(last=False)
    return outcome


def forget() -> None:
    """Forget what has run, as a new process would."""
    _kept.clear()
    _known_trials.cache_clear()


def has_run(scenario: Scenario) -> bool:
    """Whether every cell of a scenario has run, in any visit, so that it takes no time."""
    return bool(scenario.methods) and all(
        _known_trials(canonical(point), method, x)[0] >= scenario.trials
        for x, point in scenario.points()
        for method in scenario.methods
    )


def estimate(scenarios: tuple[Scenario, ...]) -> Cost:
    """Return the work of scenarios without the cells that have run before, in any visit."""
    costs = [
        cost(scenario, finished=lambda *at: _known_trials(*at)[0], exact=False)
        for scenario in scenarios
    ]
    return Cost(
        cells=sum(c.cells for c in costs),
        seconds=sum(c.seconds for c in costs),
        largest_cell=max(c.largest_cell for c in costs),
    )


def predicted_seconds(cell: Cell) -> float:
    """Return the seconds that a cell is predicted to take: next to none if it has run before."""
    if cell.trial < _known_trials(cell.point, cell.method, cell.x)[0]:
        return KEPT_SECONDS
    return _new_seconds(cell.point, cell.method)


@lru_cache(maxsize=KEPT_CELLS)
def _known_trials(point: Scenario, method: str, x: float | None) -> list[int]:
    """Return the number of trials that have run, in a list of its own that is kept up to date."""
    return [0]


@lru_cache(maxsize=KEPT_CELLS)
def _new_seconds(point: Scenario, method: str) -> float:
    alone = replace(point, axis=None, grid=(), methods=(method,), trials=1)
    return max(cost(alone, exact=False).seconds, KEPT_SECONDS)
