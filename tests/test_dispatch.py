"""Tasks in groups: each once, those that share something together, whoever is quick or late."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest

from dpsco_core import dispatch
from dpsco_core.dispatch import WorkersLost, finished, in_groups, in_order

RUN = 4  # tasks that are alike


def alike(task: int) -> int:
    return task // RUN


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as executor:
        yield executor


def test_tasks_that_are_alike_stay_with_one_worker(threads: Executor) -> None:
    seen: dict[int, list[int]] = defaultdict(list)

    def work(task: int) -> int:
        seen[threading.get_ident()].append(task)
        return -task

    found = dict(in_groups(threads, work, range(100 * RUN), alike))
    assert found == {task: -task for task in range(100 * RUN)}
    ran = list(seen.values())
    assert sum(map(len, ran)) == 100 * RUN
    drawn = sum(1 + sum(alike(a) != alike(b) for a, b in itertools.pairwise(o)) for o in ran)
    assert drawn <= 150  # what is shared is made about once a run, not once a task


def test_what_a_worker_did_not_come_to_goes_to_another(
    threads: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "SHORT", 1e-9)  # no time for more than one task a call
    monkeypatch.setattr(dispatch, "LONG", 1e-9)
    calls = list(in_groups(threads, abs, range(-50, 0), alike))
    assert sorted(calls) == [(task, -task) for task in range(-50, 0)]


def test_what_had_finished_comes_before_what_failed_and_the_rest_is_dropped(
    threads: Executor,
) -> None:
    gate = threading.Event()
    submitted: list[Future[float]] = []

    class Watched(Executor):
        def submit(self, fn, /, *args, **kwargs):
            submitted.append(threads.submit(fn, *args, **kwargs))
            return submitted[-1]

    def work(task: int) -> float:
        if task == 0:
            gate.wait(30)
        else:
            gate.set()
        return 1 / task

    calls = iter([(0, 0), (1, 1)])
    found = []

    def read() -> None:
        for label, _ in finished(Watched(), work, lambda: next(calls, None), 2):
            found.append(label)

    with pytest.raises(ZeroDivisionError):
        read()
    assert found == [1]
    assert all(future.done() for future in submitted)


def test_dropped_work_and_broken_executors_are_said() -> None:
    class Closing(Executor):
        def submit(self, fn, /, *args, **kwargs):
            future: Future[object] = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    with pytest.raises(WorkersLost, match="got calls that were dropped; what had finished is kept"):
        list(in_order(Closing(), abs, [1, 2]))
    assert list(in_order(Closing(), abs, [])) == []
