"""Groups of tasks: each task runs once, and tasks that share work stay together."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

import pytest

from dpsco_core.base import dispatch
from dpsco_core.base.dispatch import WorkersLost, finished, in_groups, in_order

RUN = 4  # Number of consecutive tasks that share work.


def run_of(task: int) -> int:
    """Return the number of the group of RUN consecutive tasks to which a task belongs."""
    return task // RUN


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    """Yield an executor with two threads."""
    with ThreadPoolExecutor(2) as executor:
        yield executor


def test_tasks_that_are_alike_stay_with_one_worker(threads: Executor) -> None:
    tasks_by_thread: dict[int, list[int]] = defaultdict(list)

    def work(task: int) -> int:
        """Record which thread has a task, and return minus the task."""
        tasks_by_thread[threading.get_ident()].append(task)
        return -task

    results = dict(in_groups(threads, work, range(100 * RUN), run_of))
    assert results == {task: -task for task in range(100 * RUN)}
    runs = list(tasks_by_thread.values())
    assert sum(map(len, runs)) == 100 * RUN
    shared_count = sum(
        1 + sum(run_of(a) != run_of(b) for a, b in itertools.pairwise(o)) for o in runs
    )
    assert shared_count <= 150  # Shared work is done about once per group, not once per task.


def test_the_tasks_that_a_worker_has_not_begun_go_to_another_worker(
    threads: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    # There is no time for more than one task per call.
    monkeypatch.setattr(dispatch, "SHORT", 1e-9)
    monkeypatch.setattr(dispatch, "LONG", 1e-9)
    calls = list(in_groups(threads, abs, range(-50, 0), run_of))
    assert sorted(calls) == [(task, -task) for task in range(-50, 0)]


def test_finished_results_come_before_an_error_and_the_remaining_tasks_are_dropped(
    threads: Executor,
) -> None:
    gate = threading.Event()
    submitted: list[Future[float]] = []

    class Watched(Executor):
        def submit(self, fn, /, *args, **kwargs):
            """Submit a call to the threads, and keep its future."""
            submitted.append(threads.submit(fn, *args, **kwargs))
            return submitted[-1]

    def work(task: int) -> float:
        """Return 1/task; task 0 fails once another task has begun."""
        if task == 0:
            gate.wait(30)
        else:
            gate.set()
        return 1 / task

    calls = iter([(0, 0), (1, 1)])
    labels = []

    def read() -> None:
        """Append the label of each finished call to `labels`."""
        for label, _ in finished(Watched(), work, lambda: next(calls, None), 2):
            labels.append(label)

    with pytest.raises(ZeroDivisionError):
        read()
    assert labels == [1]
    assert all(future.done() for future in submitted)


def test_dropped_tasks_and_broken_executors_are_reported() -> None:
    class Closing(Executor):
        def submit(self, fn, /, *args, **kwargs):
            """Return a future that is cancelled."""
            future: Future[object] = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    with pytest.raises(WorkersLost, match="got calls that were dropped; what had finished is kept"):
        list(in_order(Closing(), abs, [1, 2]))
    assert list(in_order(Closing(), abs, [])) == []


class Deadly(Executor):
    """Runs calls as they come; one that ends its worker takes along what comes before a restart."""

    def __init__(self, *deadly: int) -> None:
        """Begin with working workers; each of the calls `deadly` will end its worker."""
        self.workers = 2
        self.deadly = deadly
        self.restarts = 0
        self.broken = False
        # Each inner list holds the calls since one start of the workers.
        self.calls_held: list[list[int]] = [[]]

    def submit(self, fn, /, *args, **kwargs):
        """Do a call at once, unless it is deadly or a worker has died."""
        self.calls_held[-1].append(args[0])
        self.broken |= args[0] in self.deadly
        future: Future[object] = Future()
        if self.broken:
            future.set_exception(BrokenExecutor("a worker has died"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future

    def restart(self) -> None:
        """Start new workers."""
        self.restarts += 1
        self.broken = False
        self.calls_held.append([])


def test_a_call_that_always_kills_its_worker_is_given_up_after_all_others() -> None:
    executor = Deadly(8)
    calls = iter([(number, number) for number in range(100)])
    labels: list[int] = []
    with pytest.raises(WorkersLost, match=r"got 4 deaths with the same call; what had finished is"):
        labels.extend(label for label, _ in finished(executor, abs, lambda: next(calls, None), 6))
    assert sorted(labels) == [number for number in range(100) if number != 8]
    assert executor.restarts == 3
    # The last task, which ends its worker, runs alone and at the end.
    assert executor.calls_held[-1][-1] == 8


def test_calls_of_a_dead_worker_run_again_until_workers_die_several_times_in_a_row() -> None:
    dies_once = Deadly(8)
    calls = iter([(number, number) for number in range(100)])
    labels: list[int] = []
    for label, _ in finished(dies_once, abs, lambda: next(calls, None), 6):
        labels.append(label)
        dies_once.deadly = () if dies_once.restarts else dies_once.deadly
    assert sorted(labels) == list(range(100))
    dies_always = Deadly(*range(100))
    with pytest.raises(WorkersLost, match="got 4 deaths in a row"):
        list(in_order(dies_always, abs, range(100)))
    assert dies_always.restarts == 3


def test_an_executor_that_cannot_be_restarted_is_reported() -> None:
    with ThreadPoolExecutor(1, initializer=divmod, initargs=(1, 0)) as failing:
        sentence = r"workers must stay alive, got .*initializer failed.*; what had finished is kept"
        with pytest.raises(WorkersLost, match=sentence):
            list(in_order(failing, abs, [1, 2]))
