"""The outcomes of finished cells, kept for all visits of the process, so that none runs twice."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock

from dpsco_core.runs.cost import Cost, cost
from dpsco_core.runs.study import Cell, Outcome, canonical, run_cell
from dpsco_core.scenario import Scenario

KEPT_CELLS = 20_000
KEPT_SECONDS = 3e-4  # The time to look up a cell that has already run.

_outcomes: OrderedDict[Cell, Outcome] = OrderedDict()  # The outcomes, least recently used first.
_lock = Lock()


def known_outcomes(cells: Iterable[Cell]) -> list[Outcome]:
    """Return the outcomes of those cells that have already run in any visit."""
    with _lock:
        finished = [cell for cell in cells if cell in _outcomes]
        for cell in finished:
            _outcomes.move_to_end(cell)
        return [_outcomes[cell] for cell in finished]


def outcome_of(cell: Cell) -> Outcome:
    """Return the outcome of a cell, running it if no visit has run it before."""
    if outcomes := known_outcomes([cell]):
        return outcomes[0]
    outcome = run_cell(cell)
    count = _count_of(cell.point, cell.method, cell.x)
    with _lock:
        count.trials = max(count.trials, cell.trial + 1)
        _outcomes[cell] = outcome
        if len(_outcomes) > KEPT_CELLS:
            _outcomes.popitem(last=False)
    return outcome


def forget_outcomes() -> None:
    """Delete all stored outcomes, as in a new process."""
    _outcomes.clear()
    _count_of.cache_clear()


def has_run(scenario: Scenario) -> bool:
    """Whether every cell of a scenario has run in any visit, so that showing it takes no time."""
    return bool(scenario.methods) and all(
        _count_of(canonical(point), method, x).trials >= scenario.trials
        for x, point in scenario.points()
        for method in scenario.methods
    )


def estimate(scenarios: tuple[Scenario, ...]) -> Cost:
    """Return the total work of scenarios, without cells that have already run in any visit."""
    costs = [
        cost(scenario, finished=lambda *place: _count_of(*place).trials, exact=False)
        for scenario in scenarios
    ]
    return Cost(
        cells=sum(c.cells for c in costs),
        seconds=sum(c.seconds for c in costs),
        largest_cell=max(c.largest_cell for c in costs),
    )


def predicted_seconds(cell: Cell) -> float:
    """Return the predicted seconds of a cell, nearly zero if it has already run."""
    if cell.trial < _count_of(cell.point, cell.method, cell.x).trials:
        return KEPT_SECONDS
    return _new_seconds(cell.point, cell.method)


@dataclass
class TrialCount:
    """The number of consecutive trials, from the first on, that a method has run at a point."""

    trials: int = 0


@lru_cache(maxsize=KEPT_CELLS)
def _count_of(point: Scenario, method: str, x: float | None) -> TrialCount:
    """Return the trial count of a method at a point, which `outcome_of` keeps up to date."""
    return TrialCount()


@lru_cache(maxsize=KEPT_CELLS)
def _new_seconds(point: Scenario, method: str) -> float:
    """Return the predicted seconds of a cell that has not run yet."""
    scenario = replace(point, axis=None, grid=(), methods=(method,), trials=1)
    return max(cost(scenario, exact=False).seconds, KEPT_SECONDS)
