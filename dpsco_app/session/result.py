"""The outcomes of a scenario and of its companions, which accumulate as cells finish."""

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

# The key of an outcome within a scenario: method, value on the axis, trial.
Place = tuple[str, float | None, int]


class Result:
    """The outcomes of a scenario so far; outcomes are only ever added."""

    def __init__(
        self,
        scenario: Scenario,
        outcomes: Iterable[Outcome] = (),
        *,
        second_panel: Result | None = None,
        role: Role = "hardest",
        overlay: Result | None = None,
    ) -> None:
        """Join a scenario's outcomes with the results drawn beside it or over it.

        `role` says what the second panel shows, and `overlay` is the result of the pinned run,
        which is drawn in the first panel.
        """
        self.scenario, self.beside, self.role, self.overlay = scenario, second_panel, role, overlay
        parts = {"shown": self, "beside": second_panel, "pinned": overlay}
        self.parts_by_name = {name: part for name, part in parts.items() if part is not None}
        self.parts = tuple(self.parts_by_name.values())
        self.scenarios = tuple(part.scenario for part in self.parts)
        self.cells = sum(one.cells for one in self.scenarios)
        # A stopped run of a page may overlap for a moment with its successor, so the outcomes are
        # keyed: a cell that both have run is stored once.
        self._outcomes: dict[Place, Outcome] = {}
        self.add(outcomes)

    @cached_property
    def _cells(self) -> dict[Place, Cell]:
        """All cells that are to run, in order."""
        return {(c.method, c.x, c.trial): c for c in cells(self.scenario)}

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The finished outcomes in the order of `cells`, whatever the order in which they ran."""
        if not self._outcomes:
            return ()
        return tuple(self._outcomes[place] for place in self._cells if place in self._outcomes)

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Add outcomes; one of the same cell replaces an older one."""
        self._outcomes |= {(o.method, o.x, o.trial): o for o in outcomes}

    @property
    def finished(self) -> int:
        """The number of cells that have run, in all panels."""
        return sum(len(part._outcomes) for part in self.parts)

    @property
    def complete(self) -> bool:
        """Whether all cells of all panels have run."""
        return self.finished == self.cells

    @property
    def so_far(self) -> str:
        """The progress in words, such as "3 of 12 runs"."""
        return f"{self.finished:,} of {self.cells:,} runs"

    @property
    def can_be_drawn(self) -> bool:
        """Whether every method has a trial at every point, so that all lines are complete."""
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
        """Whether this is the result of a scenario with exactly these companions."""
        companions = (None if p is None else p.scenario for p in (self.beside, self.overlay))
        return (self.scenario, *companions) == (scenario, second_scenario, overlay)

    def missing(self) -> list[Cell]:
        """Return the cells that have not run, in order; a stored study may lack any of them."""
        return [cell for place, cell in self._cells.items() if place not in self._outcomes]

    def take_known(self) -> None:
        """Add the outcomes of cells that have already run in any visit."""
        for part in self.parts:
            part.add(known_outcomes(part.missing()))

    def part_of(self, scenario: Scenario) -> Result:
        """Return the part that belongs to a scenario, without companions; it may be empty."""
        outcomes = next((part.outcomes for part in self.parts if part.scenario == scenario), ())
        return Result(scenario, outcomes)


class Growth:
    """The unfinished cells of a result, in order, with their predicted durations.

    The first trial runs in all parts, then the rest part by part: every line is there early.
    """

    def __init__(self, result: Result) -> None:
        """Put the cells that a result lacks into a queue."""
        self.result = result
        missing = [(part, cell) for part in result.parts for cell in part.missing()]
        self._todo = deque(
            (part, cell, Kind(method=cell.method, key=(id(part), cell.x, work), predicted=work))
            for part, cell in sorted(missing, key=lambda pair: pair[1].trial > 0)
            for work in [predicted_seconds(cell)]
        )
        self._left = TimeLeft([kind for *_, kind in self._todo])
        self._cell_started: float | None = None  # The time at which the previous cell ended.
        # A stopped run of a page may continue for a moment beside the next one.
        self._lock = Lock()

    @property
    def is_left(self) -> bool:
        """Whether cells are still to be run."""
        return bool(self._todo)

    @property
    def so_far(self) -> str:
        """The progress in words, such as "3 of 12 runs"."""
        return self.result.so_far

    @property
    def seconds_left(self) -> float:
        """The predicted time that is left, in seconds."""
        return self._left.seconds

    def _next_cell(self) -> tuple[Result, Cell, Kind] | None:
        """Return the cell that runs next, after its result and before its kind; None at the end."""
        with self._lock:
            return self._todo[0] if self._todo else None

    def _note_end(self, cell: Cell) -> None:
        """Remove a cell that has run from the queue."""
        with self._lock:
            if self._todo and self._todo[0][1] is cell:
                self._todo.popleft()

    def work(self, is_over: Callable[[], bool]) -> bool:
        """Run cells, at least one, until `is_over` returns True; return whether any are left."""
        self._cell_started = self._cell_started or time.monotonic()
        while (head := self._next_cell()) is not None:
            part, cell, kind = head
            # A click may stop the run at this call, and the cell then counts as not run.
            part.add([outcome_of(cell)])
            self._note_end(cell)
            ended = time.monotonic()
            # The time includes the drawing done since the previous cell.
            self._left.record(kind, ended - self._cell_started)
            self._cell_started = ended
            if is_over():
                break
        return bool(self._todo)
