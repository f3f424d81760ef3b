"""Visitors of one server share its processor: figures first, then runs in turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from dpsco_app.live import running, turns
from dpsco_app.live.running import Result
from dpsco_app.live.turns import Turn, Turns
from dpsco_core.runs.study import Cell, Outcome, run_cell
from dpsco_core.scenario import Scenario

SMALL = Scenario(methods=("mean.sample", "mean.clipped"), n=100, d=2, trials=10)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which a test moves; whoever waits is told at once that it was in vain."""
    now = [1000.0]
    monkeypatch.setattr(turns.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(turns, "WAIT_SECONDS", 0.0)
    return now


def test_a_run_computes_at_once_where_nobody_waits(clock: list[float]) -> None:
    with Turns(1).run() as turn:
        assert turn.come() and not turn.over()
        clock[0] += 2 * turns.SHOW_SECONDS
        assert turn.over()  # it shows how far it is


def test_whoever_waits_for_a_figure_comes_before_every_run(clock: list[float]) -> None:
    shared = Turns(2)
    with shared.run() as turn:
        assert turn.come()
        with shared.first_figure():
            assert turn.over()  # after the cell that is being computed
            turn.hand_on()
            assert not turn.come()
        assert turn.come()


def test_a_page_that_has_its_figure_holds_no_run_up(clock: list[float]) -> None:
    shared = Turns(1)
    with shared.first_figure():
        turn = Turn(shared)
        shared._last = clock[0]
        assert not turn.come()
        shared.drawn()
        assert turn.come()


def test_runs_keep_a_share_however_many_figures_are_drawn(clock: list[float]) -> None:
    shared, worked = Turns(1), 0
    turn = Turn(shared)
    for _ in range(1000):  # 10 s in which a new figure is always being drawn
        shared._drawing["another visitor"] = clock[0]
        if turn.come():
            worked += 1
            turn.hand_on()
        clock[0] += 0.01
    assert 10 / turns.SHARE_SECONDS * 0.8 < worked < 10 / turns.SHARE_SECONDS * 1.2


def test_a_page_that_computes_long_counts_no_more(clock: list[float]) -> None:
    shared = Turns(1)
    turn = Turn(shared)
    with shared.first_figure():
        shared._last = clock[0]
        assert not turn.come()
        clock[0] += turns.DRAWING_SECONDS
        assert turn.come() and not turn.over()


def test_runs_take_turns_in_their_order(clock: list[float]) -> None:
    shared = Turns(1)
    first, second, third = (Turn(shared) for _ in range(3))
    assert [turn.come() for turn in (first, second, third)] == [True, False, False]
    first.hand_on()
    assert [turn.come() for turn in (first, second, third)] == [True, False, False]
    clock[0] += 2 * turns.SLICE_SECONDS  # until then it goes on before all others
    first.hand_on()
    assert [turn.come() for turn in (third, second, first)] == [False, True, False]
    clock[0] += 2 * turns.SLICE_SECONDS
    second.hand_on()
    assert [turn.come() for turn in (first, second, third)] == [False, False, True]


@pytest.mark.parametrize("computing", [True, False])
def test_a_run_that_is_stopped_leaves_its_place_to_the_next(
    clock: list[float], computing: bool
) -> None:
    shared = Turns(1)
    other = Turn(shared)
    assert computing or other.come()

    def run() -> None:
        with shared.run() as turn:
            assert turn.come() == computing
            raise KeyError

    with pytest.raises(KeyError):
        run()
    other.leave()
    assert not shared._queue and Turn(shared).come()


def test_no_more_runs_compute_at_once_than_there_are_slots(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "TURNS", Turns(2))
    inside, most, lock = [0], [0], threading.Lock()

    def counted(cell: Cell) -> Outcome:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        time.sleep(0.01)
        outcome = run_cell(cell)
        with lock:
            inside[0] -= 1
        return outcome

    monkeypatch.setattr(running, "cached_cell", counted)
    results = [Result(SMALL) for _ in range(6)]
    threads = [threading.Thread(target=lambda r=r: list(running.run(r))) for r in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all(result.complete for result in results)
    assert most[0] == 2


def test_a_run_that_is_dropped_in_the_middle_gives_its_slot_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared = Turns(1)
    monkeypatch.setattr(running, "TURNS", shared)
    monkeypatch.setattr(turns, "SHOW_SECONDS", 0.0)
    steps: Iterator[object] | None = running.run(Result(SMALL))
    assert steps is not None
    next(steps)
    steps = None
    result = Result(SMALL)
    assert list(running.run(result)) and result.complete
    assert not shared._queue


@pytest.mark.parametrize(("at_once", "goes_on"), [(60.0, True), (0.0, False)])
def test_a_head_start_goes_on_to_an_end_that_is_near(
    monkeypatch: pytest.MonkeyPatch, at_once: float, goes_on: bool
) -> None:
    monkeypatch.setattr(running, "HEAD_START_SECONDS", 0.0)
    monkeypatch.setattr(running, "AT_ONCE_SECONDS", at_once)
    result = Result(SMALL)
    running.head_start(result)
    assert result.complete == goes_on
    assert result.outcomes


def test_a_head_start_waits_where_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Turns(1)
    monkeypatch.setattr(running, "TURNS", shared)
    alone = Result(SMALL)
    running.head_start(alone)
    assert alone.outcomes
    other = Turn(shared)
    assert other.come()
    waits = Turn(shared)
    monkeypatch.setattr(turns, "WAIT_SECONDS", 0.0)
    assert not waits.come()
    busy = Result(Scenario(methods=SMALL.methods, n=101, d=2, trials=10))
    running.head_start(busy)
    assert not busy.outcomes
    assert alone.complete
    known = Result(alone.scenario)
    running.head_start(known)
    assert known.outcomes == alone.outcomes and known.complete
    # Should the cache have lost them, the visitor waits no longer than for what is new.
    monkeypatch.setattr(running, "AT_ONCE_SECONDS", -1.0)
    lost = Result(alone.scenario)
    running.head_start(lost)
    assert lost.finished == 1


class Clicked(BaseException):
    """What Streamlit raises to stop a page: no `Exception`."""


def test_a_click_ends_a_cell_of_the_dashboard_and_leaves_nothing_in_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = Scenario(problem="logistic", methods=("sco.private-sgd",), n=1234, d=3, trials=1, seed=49)
    (cell,) = running.cells(one)
    checks: list[int] = []

    def check() -> None:
        checks.append(1)
        raise Clicked

    monkeypatch.setattr(running, "ASK_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(running, "get_run_yield_check", lambda: check)
    with pytest.raises(Clicked):
        running.cached_cell(cell)
    assert len(checks) == 1
    monkeypatch.setattr(running, "get_run_yield_check", lambda: None)
    assert running.cached_cell(cell).error == run_cell(cell).error
