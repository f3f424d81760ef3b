"""Visitors of one server share its processor: figures first, then runs in turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.front.view import View
from dpsco_app.runs import running, turns
from dpsco_app.runs.turns import Turn, Turns
from dpsco_app.session import cells, curves
from dpsco_app.session.result import Growth, Result
from dpsco_app.session.session import CURVES, Session
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.runs.study import Cell, Outcome, run_cell
from dpsco_core.runs.study import cells as all_cells
from dpsco_core.scenario import Scenario

SMALL = Scenario(methods=("mean.sample", "mean.clipped"), n=100, d=2, trials=10)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a clock that a test moves; every wait ends at once, without its condition."""
    time_now = [1000.0]
    monkeypatch.setattr(turns.time, "monotonic", lambda: time_now[0])
    monkeypatch.setattr(turns, "WAIT_SECONDS", 0.0)
    return time_now


def test_a_run_computes_at_once_where_nobody_waits(clock: list[float]) -> None:
    with Turns(1).run() as turn:
        assert turn.wait_for_slice() and not turn.is_over()
        clock[0] += 2 * turns.SHOW_SECONDS
        assert turn.is_over()  # The run must show its progress.


def test_a_page_that_waits_for_a_figure_comes_before_every_run(clock: list[float]) -> None:
    shared = Turns(2)
    with shared.run() as turn:
        assert turn.wait_for_slice()
        with shared.first_figure():
            assert turn.is_over()  # The run stops after the cell that is being computed.
            turn.hand_on()
            assert not turn.wait_for_slice()
        assert turn.wait_for_slice()


def test_a_page_that_has_its_figure_delays_no_run(clock: list[float]) -> None:
    shared = Turns(1)
    with shared.first_figure():
        turn = Turn(shared)
        shared._slice_start = clock[0]
        assert not turn.wait_for_slice()
        shared.end_drawing()
        assert turn.wait_for_slice()


def test_runs_keep_a_share_of_the_time_however_many_figures_are_drawn(clock: list[float]) -> None:
    shared, worked = Turns(1), 0
    turn = Turn(shared)
    for _ in range(1000):  # During these 10 s a figure is always being drawn.
        shared._drawing["another visitor"] = clock[0]
        if turn.wait_for_slice():
            worked += 1
            turn.hand_on()
        clock[0] += 0.01
    assert 10 / turns.SHARE_SECONDS * 0.8 < worked < 10 / turns.SHARE_SECONDS * 1.2


def test_a_page_that_computes_for_long_loses_its_priority(clock: list[float]) -> None:
    shared = Turns(1)
    turn = Turn(shared)
    with shared.first_figure():
        shared._slice_start = clock[0]
        assert not turn.wait_for_slice()
        clock[0] += turns.DRAWING_SECONDS
        assert turn.wait_for_slice() and not turn.is_over()


def test_runs_take_turns_in_their_order(clock: list[float]) -> None:
    shared = Turns(1)
    turn_a, turn_b, turn_c = (Turn(shared) for _ in range(3))
    assert [turn.wait_for_slice() for turn in (turn_a, turn_b, turn_c)] == [True, False, False]
    turn_a.hand_on()
    assert [turn.wait_for_slice() for turn in (turn_a, turn_b, turn_c)] == [True, False, False]
    clock[0] += 2 * turns.SLICE_SECONDS  # Until then the run continues before all others.
    turn_a.hand_on()
    assert [turn.wait_for_slice() for turn in (turn_c, turn_b, turn_a)] == [False, True, False]
    clock[0] += 2 * turns.SLICE_SECONDS
    turn_b.hand_on()
    assert [turn.wait_for_slice() for turn in (turn_a, turn_b, turn_c)] == [False, False, True]


@pytest.mark.parametrize("computing", [True, False])
def test_a_stopped_run_gives_its_turn_to_the_next_run(clock: list[float], computing: bool) -> None:
    shared = Turns(1)
    next_turn = Turn(shared)
    assert computing or next_turn.wait_for_slice()

    def run() -> None:
        """Take a turn, and fail during it."""
        with shared.run() as turn:
            assert turn.wait_for_slice() == computing
            raise KeyError

    with pytest.raises(KeyError):
        run()
    next_turn.leave()
    assert not shared._queue and Turn(shared).wait_for_slice()


def test_no_more_runs_compute_at_once_than_there_are_slots(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "TURNS", Turns(2))
    computing, peak, lock = [0], [0], threading.Lock()

    def counted(cell: Cell) -> Outcome:
        """Run a cell, and update the largest number of cells that have run at once."""
        with lock:
            computing[0] += 1
            peak[0] = max(peak[0], computing[0])
        time.sleep(0.01)
        outcome = run_cell(cell)
        with lock:
            computing[0] -= 1
        return outcome

    monkeypatch.setattr("dpsco_app.session.result.outcome_of", counted)
    results = [Result(SMALL) for _ in range(6)]
    threads = [threading.Thread(target=lambda r=r: list(run(r))) for r in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all(result.complete for result in results)
    assert peak[0] == 2


def test_a_run_that_is_dropped_in_the_middle_gives_its_slot_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared = Turns(1)
    monkeypatch.setattr(running, "TURNS", shared)
    monkeypatch.setattr(turns, "SHOW_SECONDS", 0.0)
    steps: Iterator[object] | None = run(Result(SMALL))
    assert steps is not None
    next(steps)
    steps = None
    result = Result(SMALL)
    assert list(run(result)) and result.complete
    assert not shared._queue


@pytest.mark.parametrize(("at_once", "goes_on"), [(60.0, True), (0.0, False)])
def test_a_head_start_continues_if_the_end_is_near(
    monkeypatch: pytest.MonkeyPatch, at_once: float, goes_on: bool
) -> None:
    monkeypatch.setattr(curves, "HEAD_START_SECONDS", 0.0)
    monkeypatch.setattr(curves, "AT_ONCE_SECONDS", at_once)
    session = open_session(SMALL)
    session.curves.start_ahead()
    assert session.curves.is_running != goes_on
    assert session.curves.finished


def test_cells_that_any_visit_has_run_are_available_at_once() -> None:
    first_visit = open_session(SMALL)
    while first_visit.work(lambda: False):
        pass
    second_visit = open_session(SMALL)
    assert second_visit.curves.finished == SMALL.cells and not second_visit.curves.is_running
    cells.forget_outcomes()
    assert open_session(SMALL).curves.finished == 0


def test_no_more_cells_are_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dropped outcome is computed again, although the cell counts as having run."""
    monkeypatch.setattr(cells, "KEPT_CELLS", 3)
    session = open_session(SMALL)
    while session.work(lambda: False):
        pass
    assert session.curves.finished == SMALL.cells and len(cells._outcomes) == 3
    reopened = open_session(SMALL)
    assert reopened.curves.finished == 3
    while reopened.work(lambda: False):
        pass
    assert reopened.curves.finished == SMALL.cells


def open_session(scenario: Scenario) -> Session:
    """Return a session that was told to run a scenario."""
    session = Session(DASHBOARD)
    session.open(CURVES, {"methods": "mean.sample", "n": "50", "trials": "1", "axis": "none"})
    session.look(CURVES, View(against="none"))
    session.start(scenario)
    return session


def run(result: Result) -> Iterator[str]:
    """Yield the texts of progress of a run that grows this result."""
    return running.run(Growth(result))


class Clicked(BaseException):
    """The exception with which Streamlit stops a page; it is not an `Exception`."""


def test_a_click_ends_a_cell_of_the_dashboard_and_leaves_nothing_in_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario = Scenario(
        problem="logistic", methods=("sco.private-sgd",), n=1234, d=3, trials=1, seed=49
    )
    (cell,) = all_cells(scenario)
    checks: list[str] = []

    class State:
        def get(self, key: str) -> None:
            """Record the key that was asked for, and stop the page."""
            checks.append(key)
            raise Clicked

    monkeypatch.setattr(running, "ASK_EVERY_SECONDS", 0.0)
    with monkeypatch.context() as clicked:
        clicked.setattr(running.st, "session_state", State())
        with pytest.raises(Clicked):
            running.cached_cell(cell)
    assert checks == [running.STOP_POINT]
    assert running.cached_cell(cell).error == run_cell(cell).error


ASKING = """
from streamlit.runtime.scriptrunner import get_script_run_ctx
from dpsco_app.runs import running
asked = []
state = get_script_run_ctx().session_state
object.__setattr__(state, "_yield_callback", lambda: asked.append("asked"))
running.ASK_EVERY_SECONDS = 0.0
running.stopper()()
assert asked and running.STOP_POINT not in state
"""


def test_reading_a_value_of_the_session_state_lets_streamlit_check_for_a_click() -> None:
    assert not AppTest.from_string(ASKING).run().exception


def test_two_threads_that_work_on_one_result_run_every_cell_and_keep_each_once() -> None:
    """A stopped run of a page may continue for a moment beside its successor."""
    result = Result(SMALL)
    growth = Growth(result)

    def work() -> None:
        """Work on the result until no cell is left."""
        while growth.work(lambda: True):
            pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert result.complete and len(result.outcomes) == SMALL.cells == 20
    assert [(o.trial, o.method) for o in result.outcomes] == [
        (trial, method) for trial in range(10) for method in SMALL.methods
    ]
