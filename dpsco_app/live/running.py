"""Running a study inside a Streamlit script: cells from the core, cached one by one.

The loop calls Streamlit at every cell, so that a click on Cancel or on any control stops it there;
finished cells stay in the cache and in the result. A cell that takes long asks between its steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import get_run_yield_check

from dpsco_app.live.turns import TURNS
from dpsco_core.base.interrupt import asked_between_steps
from dpsco_core.runs.cost import Cost, cost
from dpsco_core.runs.study import Cell, Outcome, cells, run_cell
from dpsco_core.runs.time_left import Kind, TimeLeft
from dpsco_core.scenario import Scenario

KEPT_CELLS = 20_000
DRAW_EVERY_SECONDS = 1.0
WRITE_EVERY_SECONDS = 0.4
HEAD_START_SECONDS = 0.08
AT_ONCE_SECONDS = 0.4  # a run of no more is drawn once
ASK_EVERY_SECONDS = 0.2  # a click on Cancel ends a long cell about so soon
CACHED_SECONDS = 3e-4  # the time of a cell that has run before
WORK_TO_DRAWING = 4.0  # seconds of cells, at least, for a second that the last figure took
PAST_TO_PAUSE = 1 / 3  # a figure that has grown for long changes little


@dataclass
class Result:
    """What has been run of a scenario; kept in the session."""

    scenario: Scenario
    # what has finished, in the order of `cells` but for what a stored study lacked
    outcomes: list[Outcome] = field(default_factory=list)
    beside: Result | None = None  # the result of the second panel
    role: str = "hardest"  # what the second panel was when it was asked for
    overlay: Result | None = None  # the result of a pinned run, which is drawn into the first panel

    @property
    def named(self) -> dict[str, Result]:
        every = {"shown": self, "beside": self.beside, "pinned": self.overlay}
        return {name: part for name, part in every.items() if part is not None}

    @property
    def parts(self) -> tuple[Result, ...]:
        return tuple(self.named.values())

    @property
    def cells(self) -> int:
        return sum(part.scenario.cells for part in self.parts)

    @property
    def finished(self) -> int:
        return sum(len(part.outcomes) for part in self.parts)

    @property
    def complete(self) -> bool:
        return self.finished == self.cells

    def shows(
        self, scenario: Scenario, second: Scenario | None = None, overlay: Scenario | None = None
    ) -> bool:
        others = (None if p is None else p.scenario for p in (self.beside, self.overlay))
        return (self.scenario, *others) == (scenario, second, overlay)

    def own(self) -> Result:
        """Return a copy for one run of the page to add cells to.

        A run of the page that is stopped goes on until it next writes to the page, beside the run
        that has taken its place: what both added to one list would be there twice.
        """
        beside, overlay = (part and part.own() for part in (self.beside, self.overlay))
        return replace(self, outcomes=list(self.outcomes), beside=beside, overlay=overlay)

    def missing(self) -> list[Cell]:
        """Return the cells that have not run, in their order; a stored study may lack any."""
        there = {(o.method, o.x, o.trial) for o in self.outcomes}
        return [c for c in cells(self.scenario) if (c.method, c.x, c.trial) not in there]

    def of(self, scenario: Scenario) -> Result:
        """Return the part that is the result of a scenario, alone; or an empty one."""
        outcomes = next((part.outcomes for part in self.parts if part.scenario == scenario), [])
        return Result(scenario, outcomes)


@lru_cache(maxsize=KEPT_CELLS)
def cached_cell(cell: Cell) -> Outcome:
    """Return the outcome of a cell, from the cache if any session has run it before."""
    with asked_between_steps(stopper()):
        return run_cell(cell)


def stopper() -> Callable[[], None]:
    """Return what ends this run of the page where the visitor has clicked, asked now and then."""
    check, pace = get_run_yield_check(), Pace(ASK_EVERY_SECONDS, every=ASK_EVERY_SECONDS)

    def ask() -> None:
        if check is not None and pace.due():
            check()

    return ask


@lru_cache(maxsize=KEPT_CELLS)
def _trials(point: Scenario, method: str, x: float | None) -> list[int]:
    return [0]


def estimate(scenarios: tuple[Scenario, ...]) -> Cost:
    """Return the work of scenarios without the cells that have run before, by any session."""
    costs = [
        cost(scenario, known=lambda *at: _trials(*at)[0], exact=False) for scenario in scenarios
    ]
    return Cost(
        cells=sum(c.cells for c in costs),
        seconds=sum(c.seconds for c in costs),
        largest_cell=max(c.largest_cell for c in costs),
    )


def run(result: Result) -> Iterator[tuple[int, str]]:
    """Run what `result` lacks, in turn with other runs; yield how many are done, and the time left.

    It is yielded after every slice of cells, and while the run waits for its turn.
    """
    steps = _steps(_left(result))
    with TURNS.run() as turn:
        left = ""
        while True:
            while not turn.come():
                yield result.finished, left or f"{so_far(result)}, waiting for a turn"
            time_left = next(steps, None)
            while time_left is not None and not turn.over():
                time_left = next(steps, None)
            if time_left is None:
                break
            turn.hand_on()
            left = f"{so_far(result)}, about {time_left.seconds:.0f} s left"
            yield result.finished, left
    yield result.finished, so_far(result)


Todo = list[tuple[Result, Cell, Kind]]


def _left(result: Result) -> Todo:
    """Return what `result` lacks: the part, the cell, and how long it is predicted to take."""
    return [
        (part, cell, Kind(method=cell.method, at=(id(part), cell.x, work), predicted=work))
        for part in result.parts
        for cell in part.missing()
        for work in [_work(cell)]
    ]


def _steps(todo: Todo) -> Iterator[TimeLeft]:
    """Run what a result lacks, into its outcomes, a cell at a time."""
    left = TimeLeft([kind for *_, kind in todo])
    before = time.monotonic()
    for part, cell, kind in todo:
        part.outcomes.append(cached_cell(cell))
        now = time.monotonic()
        left.took(kind, now - before)  # with what was drawn since the cell before
        before = now
        ran = _trials(cell.point, cell.method, cell.x)
        ran[0] = max(ran[0], cell.trial + 1)
        yield left


def run_here(scenario: Scenario) -> list[Outcome]:
    """Run a study in the middle of a page, and say how far it is."""
    place, pace, result = st.empty(), Pace(0.3), Result(scenario)
    for done, _ in run(result):
        if pace.due():
            place.progress(done / scenario.cells, f"{done} of {scenario.cells} runs")
    place.empty()
    return result.outcomes


def _work(cell: Cell) -> float:
    """Return the seconds that a cell is predicted to take: next to none from the cache."""
    if cell.trial < _trials(cell.point, cell.method, cell.x)[0]:
        return CACHED_SECONDS
    return _cell_cost(cell.point, cell.method)


@lru_cache(maxsize=KEPT_CELLS)
def _cell_cost(point: Scenario, method: str) -> float:
    alone = replace(point, axis=None, grid=(), methods=(method,), trials=1)
    return max(cost(alone, exact=False).seconds, CACHED_SECONDS)


def so_far(result: Result) -> str:
    return f"{result.finished:,} of {result.cells:,} runs"


def head_start(result: Result) -> None:
    """Run for a moment before anything is drawn, or to the end where that is near.

    Where others wait only for what is known already.
    """
    start = time.monotonic()
    if estimate(tuple(part.scenario for part in result.parts)).cells == 0:
        for part in result.parts:
            for cell in part.missing():
                part.outcomes.append(cached_cell(cell))
                if time.monotonic() > start + AT_ONCE_SECONDS:  # the cache had lost some
                    return
        return
    if TURNS.taken:
        return
    for left in _steps(_left(result)):
        spent = time.monotonic() - start
        if spent > HEAD_START_SECONDS and spent + left.seconds > AT_ONCE_SECONDS:
            return


class Pace:
    """Says when to draw: a browser that always draws never gets to controls that come late."""

    def __init__(
        self,
        first: float,  # seconds before the first time
        every: float = WRITE_EVERY_SECONDS,  # seconds at least between two
        # What comes between two drawings is at least so many times as long as the first of them: on
        # a busy server a figure takes long, and many would hold up the cells that they show.
        work: float = 0.0,
        past: float = 0.0,  # the pause is at least this share of the time that has passed
    ) -> None:
        self._every = every
        self._work = work
        self._past = past
        self._started = time.monotonic()
        self._next = self._started + first
        self._started_drawing: float | None = None

    def due(self) -> bool:
        """Whether it is time, which starts the next wait; drawing ends at the next question."""
        now = time.monotonic()
        if self._started_drawing is not None:
            self._next = max(self._next, now + self._work * (now - self._started_drawing))
            self._started_drawing = None
        if now < self._next:
            return False
        self._next = now + max(self._every, self._past * (now - self._started))
        self._started_drawing = now
        return True


# The pace of a figure that grows.
figure_pace = partial(Pace, every=DRAW_EVERY_SECONDS, work=WORK_TO_DRAWING, past=PAST_TO_PAUSE)
