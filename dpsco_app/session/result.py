"""The outcomes of a scenario and of its companions, and how they grow."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import cached_property
from threading import Lock

from dpsco_app.front.study import Role
from dpsco_app.session.cells import known_outcomes, outcome_of, predicted_seconds
from dpsco_core.runs.study import Cell, Outcome, cells
from dpsco_core.runs.time_left import Kind, TimeLeft
from dpsco_core.scenario import Scenario

# What tells the outcomes of one scenario apart: method, value on the axis, trial.
Place = tuple[str, float | None, int]


class Result:
    """The outcomes of a scenario so far; it only grows."""

    def __init__(
        self,
        scenario: Scenario,
        outcomes: Iterable[Outcome] = (),
        *,
        second_panel: Result | None = None,  # the result of the second panel
        role: Role = "hardest",  # what the second panel was when it was asked for
        overlay: Result | None = None,  # the pinned run, which is drawn into the first panel
    ) -> None:
        self.scenario, self.beside, self.role, self.overlay = scenario, second_panel, role, overlay
        parts = {"shown": self, "beside": second_panel, "pinned": overlay}
        self.parts_by_name = {name: part for name, part in parts.items() if part is not None}
        self.parts = tuple(self.parts_by_name.values())
        self.scenarios = tuple(part.scenario for part in self.parts)
        self.cells = sum(one.cells for one in self.scenarios)
        # A run of a page that is stopped goes on for a moment beside the one that has taken its
        # place: what both have run is here once.
        self._outcomes: dict[Place, Outcome] = {}
        self.add(outcomes)

    @cached_property
    def _cells(self) -> dict[Place, Cell]:
        """All that is to run, in its order."""
        return {(c.method, c.x, c.trial): c for c in cells(self.scenario)}

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What has finished, in the order of `cells`, whenever it ran."""
        if not self._outcomes:
            return ()
        return tuple(self._outcomes[place] for place in self._cells if place in self._outcomes)

    def add(self, outcomes: Iterable[Outcome]) -> None:
        self._outcomes |= {(o.method, o.x, o.trial): o for o in outcomes}

    @property
    def finished(self) -> int:
        return sum(len(part._outcomes) for part in self.parts)

    @property
    def complete(self) -> bool:
        return self.finished == self.cells

    @property
    def so_far(self) -> str:
        return f"{self.finished:,} of {self.cells:,} runs"

    @property
    def can_be_drawn(self) -> bool:
        """Whether a trial of every point of every method has run, so that all lines are whole."""
        return all(
            sum(trial == 0 for _, _, trial in part._outcomes)
            >= len(part.scenario.methods) * max(1, len(part.scenario.grid))
            for part in self.parts
        )

    def shows(
        self,
        scenario: Scenario,
        second_scenario: Scenario | None = None,
        overlay: Scenario | None = None,
    ) -> bool:
        """Whether it is that of a scenario, with just these beside it."""
        companions = (None if p is None else p.scenario for p in (self.beside, self.overlay))
        return (self.scenario, *companions) == (scenario, second_scenario, overlay)

    def missing(self) -> list[Cell]:
        """Return the cells that have not run, in their order; a stored study may lack any."""
        return [cell for place, cell in self._cells.items() if place not in self._outcomes]

    def take_known(self) -> None:
        """Add what has run before, in any visit."""
        for part in self.parts:
            part.add(known_outcomes(part.missing()))

    def part_of(self, scenario: Scenario) -> Result:
        """Return the part that is the result of a scenario, without companions; or an empty one."""
        outcomes = next((part.outcomes for part in self.parts if part.scenario == scenario), ())
        return Result(scenario, outcomes)


class Growth:
    """The rest of a result's cells, in their order, and how long they take."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self._todo = deque(
            (part, cell, Kind(method=cell.method, key=(id(part), cell.x, work), predicted=work))
            for part in result.parts
            for cell in part.missing()
            for work in [predicted_seconds(cell)]
        )
        self._left = TimeLeft([kind for *_, kind in self._todo])
        self._cell_started: float | None = None  # when the cell before ended
        self._lock = Lock()

    @property
    def is_left(self) -> bool:
        return bool(self._todo)

    @property
    def so_far(self) -> str:
        return self.result.so_far

    @property
    def seconds_left(self) -> float:
        return self._left.seconds

    # A run of a page that is stopped may go on for a moment beside the next one.

    def _head(self) -> tuple[Result, Cell, Kind] | None:
        with self._lock:
            return self._todo[0] if self._todo else None

    def _end(self, cell: Cell) -> None:
        with self._lock:
            if self._todo and self._todo[0][1] is cell:
                self._todo.popleft()

    def work(self, is_over: Callable[[], bool]) -> bool:
        """Run cells until `is_over` says so, one at least; return whether there are more."""
        self._cell_started = self._cell_started or time.monotonic()
        while (head := self._head()) is not None:
            part, cell, kind = head
            part.add(
                [outcome_of(cell)]
            )  # a click may end the run here, and then the cell has not run
            self._end(cell)
            ended = time.monotonic()
            # With what was drawn since the cell before it.
            self._left.record(kind, ended - self._cell_started)
            self._cell_started = ended
            if is_over():
                break
        return bool(self._todo)
