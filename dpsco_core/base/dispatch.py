"""Calls to an executor: a bounded number at a time, repeated if they are lost.

The module knows nothing about the work itself. Any `concurrent.futures.Executor` will do. If it has
them, its number of workers (``workers``), its restart after a loss (``restart``) and its check for
lost workers (``check``) are used.
"""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Generic, TypeAlias, TypeVar

from dpsco_core.base.errors import InvalidInput

Label = TypeVar("Label")
Argument = TypeVar("Argument")
Task = TypeVar("Task")
Result = TypeVar("Result")
# The tasks, grouped into runs; the tasks of a run share some preparation.
Runs: TypeAlias = tuple[tuple[Task, ...], ...]

RESTARTS = 3  # the number of executor failures that are tolerated, in a row or for the same call
CHECK_EVERY = 5.0  # the seconds without a result after which the executor's workers are checked
CALLS_PER_WORKER = 3  # the number of calls per worker that wait or run at a time
# the intended and the longest duration, in seconds, of a call with several tasks
SHORT, LONG = 0.1, 10.0


class WorkersLost(InvalidInput):
    """The workers are gone; finished results are in the store."""


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C during a short block; it is raised at the block's end.

    An exception raised inside the standard library can leave a lock of a future or a queue taken,
    and a thread that waits for the lock would keep the process from ending. Nothing is done outside
    the main thread, the only one in which Ctrl-C is raised, or if the program handles Ctrl-C by
    anything but a Python function.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    frames: list[FrameType | None] = []
    signal.signal(signal.SIGINT, lambda _, frame: frames.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if frames:
            handler(signal.SIGINT, frames[0])


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def workers_of(executor: Executor) -> int:
    """Return the number of workers of an executor, or of this machine's cores if unknown."""
    return int(getattr(executor, "workers", 0)) or cores()


def finished(
    executor: Executor,
    # a function that other processes can import by its name
    function: Callable[[Argument], Result],
    # A function that returns the next label and argument, or None if there is none at the moment.
    # The work ends when it returns None while no call is running.
    take: Callable[[], tuple[Label, Argument] | None],
    most_calls: int,  # the largest number of calls that the executor holds at a time
) -> Generator[tuple[Label, Result], None, None]:
    """Yield the results of a function as they finish, with the labels of their arguments.

    If the executor can restart, the calls that were running when a worker died run again: once
    together with other calls, then alone after all others. Raises `WorkersLost` if the executor
    breaks more than `RESTARTS` times with the same call or without a result in between, cannot
    restart, or drops calls. Results that existed by then have been yielded.
    """
    calls = _Calls(executor, function, take, most_calls)
    breaks_in_a_row = 0
    try:
        while True:
            try:
                if not calls.submit():
                    return
                for future in calls.wait_for_some():
                    with uninterrupted():
                        result = future.result()
                    breaks_in_a_row = 0
                    yield calls.running.pop(future).label, result
            except BrokenExecutor as problem:
                breaks_in_a_row += 1
                _restart(executor, breaks_in_a_row, calls.take_back(), problem)
            except CancelledError:
                condition = "executor must run what it is given"
                raise _work_lost_error(condition, "calls that were dropped") from None
    finally:  # If the caller stops reading, nobody needs the remaining calls.
        with uninterrupted():
            for future in calls.running:
                future.cancel()


@dataclass(eq=False)
class _Call(Generic[Label, Argument]):
    label: Label
    argument: Argument
    losses: int = 0  # the number of times that the executor broke while it held this call


@dataclass(eq=False)
class _Calls(Generic[Label, Argument, Result]):
    """The calls that an executor holds, and the calls that it lost.

    It is unknown which of the lost calls ended its worker. A call that always does so would take
    others with it again and again, and a call that lacks memory may succeed alone. Calls that were
    lost twice are therefore set aside until nothing else is left.
    """

    executor: Executor
    function: Callable[[Argument], Result]
    take: Callable[[], tuple[Label, Argument] | None]
    most_calls: int
    running: dict[Future[Result], _Call[Label, Argument]] = field(default_factory=dict)
    retries: deque[_Call[Label, Argument]] = field(default_factory=deque)
    suspects: deque[_Call[Label, Argument]] = field(default_factory=deque)
    # A call that finished before the executor broke keeps its result in this queue.
    finished: SimpleQueue[Future[Result]] = field(default_factory=SimpleQueue)

    def submit(self) -> bool:
        """Submit as many calls as allowed; return whether any call is now running."""
        while len(self.running) < self.most_calls and (call := self._next_call()):
            try:
                with uninterrupted():
                    future = self.executor.submit(self.function, call.argument)
                    self.running[future] = call
                    future.add_done_callback(self.finished.put)
            except BrokenExecutor:
                self._keep_for_retry(call)
                if not self.running:
                    raise
                # The running calls report the broken executor, after the finished calls.
                break
        return bool(self.running)

    def wait_for_some(self) -> list[Future[Result]]:
        """Wait until a call ends; return the calls that ended, the failed ones last."""
        check = getattr(self.executor, "check", None)
        while True:
            try:  # Ctrl-C is safe here, because this queue has no lock.
                ready = {self.finished.get(timeout=CHECK_EVERY if check else None)}
            except Empty:
                assert check is not None
                check()  # The check raises an error if no worker is left.
                continue
            while not self.finished.empty():
                ready.add(self.finished.get())
            with uninterrupted():
                ready_in_order = sorted(ready & self.running.keys(), key=_has_failed)
            if ready_in_order:
                return ready_in_order

    def take_back(self) -> int:
        """Take back the calls that a broken executor had not finished, to submit them again.

        Return how often the executor has broken with the same call, at most over these calls.
        """
        with uninterrupted():
            lost_futures = [
                future for future in self.running if not future.done() or _has_failed(future)
            ]
        calls = [self.running.pop(future) for future in lost_futures]
        for call in calls:
            call.losses += 1
            self._keep_for_retry(call)
        return max((call.losses for call in calls), default=0)

    def _next_call(self) -> _Call[Label, Argument] | None:
        """Return the call to submit next, or None if there is none at the moment."""
        if self.retries:
            return self.retries.popleft()
        if (next_item := self.take()) is not None:
            return _Call(*next_item)
        return self.suspects.popleft() if self.suspects and not self.running else None

    def _keep_for_retry(self, call: _Call[Label, Argument]) -> None:
        """Keep a lost call, to submit it again; after its second loss, when no other is left."""
        (self.suspects if call.losses > 1 else self.retries).append(call)


def _has_failed(future: Future[Result]) -> bool:
    """Return whether the future of a call has no result, because its executor broke."""
    return future.cancelled() or future.exception() is not None


def _restart(
    executor: Executor, breaks_in_a_row: int, losses_of_a_call: int, problem: BrokenExecutor
) -> None:
    """Restart a broken executor, or raise `WorkersLost` after too many breaks."""
    condition = "workers must stay alive"
    if not hasattr(executor, "restart"):
        raise _work_lost_error(
            condition, str(problem).rstrip(".") or type(problem).__name__
        ) from problem
    if max(breaks_in_a_row, losses_of_a_call) > RESTARTS:
        row = f"{breaks_in_a_row} deaths in a row" if breaks_in_a_row > RESTARTS else ""
        raise _work_lost_error(
            condition, row or f"{losses_of_a_call} deaths with the same call"
        ) from None
    with uninterrupted():
        executor.restart()


def _work_lost_error(condition: str, actual: str) -> WorkersLost:
    """Return the error for work that was lost with its workers."""
    return WorkersLost(f"{condition}, got {actual}; what had finished is kept.")


def in_order(
    executor: Executor, function: Callable[[Argument], Result], arguments: Iterable[Argument]
) -> Generator[Result, None, None]:
    """Yield the results of a function in the order of its arguments, whichever finishes first.

    At most a few results per worker wait for an earlier one that is late.
    """
    most_calls = CALLS_PER_WORKER * workers_of(executor)
    numbered = enumerate(arguments)
    early: dict[int, Result] = {}
    next_number = started = 0

    def take() -> tuple[int, Argument] | None:
        """Return the next position and argument; None after the last, or if too many wait."""
        nonlocal started
        if started >= next_number + 2 * most_calls:
            return None
        call = next(numbered, None)
        started += call is not None
        return call

    with closing(finished(executor, function, take, most_calls)) as results:
        for number, result in results:
            early[number] = result
            while next_number in early:
                yield early.pop(next_number)
                next_number += 1


def in_groups(
    executor: Executor,
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    alike: Callable[[Task], Hashable],
) -> Generator[tuple[Task, Result], None, None]:
    """Yield each task with the result of a function for it, as they finish.

    Consecutive tasks with equal `alike` go to one worker, which can cache what they share. A call
    takes about `SHORT` seconds or one task, and leaves the tasks that it did not reach to later
    calls. Towards the end the remaining tasks are divided evenly.
    """
    workers = workers_of(executor)
    runs = deque(_group_runs(tasks, alike))
    remaining = sum(map(len, runs))
    # Both sums decay with every result, so that recent durations of tasks count more.
    recent_tasks, recent_seconds = 0.0, 0.0

    def take() -> tuple[Runs[Task], Runs[Task]] | None:
        """Return the next group of tasks twice, as label and as argument; None if none is left."""
        nonlocal remaining
        fair = -(-remaining // (2 * workers))
        wanted_size = SHORT * recent_tasks / recent_seconds if recent_seconds else 1
        group: list[tuple[Task, ...]] = []
        size = 0
        while runs and size < min(wanted_size, fair):
            run = runs.popleft()
            if len(run) > fair - size:
                runs.appendleft(run[fair - size :])
                run = run[: fair - size]
            group.append(run)
            size += len(run)
        remaining -= size
        return (tuple(group), tuple(group)) if group else None

    with closing(
        finished(executor, partial(_run_tasks, function), take, CALLS_PER_WORKER * workers)
    ) as calls:
        for group, (results, seconds) in calls:
            group_tasks = [task for run in group for task in run]
            # The unfinished tasks go to the front of the queue.
            unfinished = group_tasks[len(results) :]
            runs.extendleft(reversed(_group_runs(unfinished, alike)))
            remaining += len(unfinished)
            recent_tasks, recent_seconds = (
                0.9 * recent_tasks + len(results),
                0.9 * recent_seconds + seconds,
            )
            yield from zip(group_tasks, results, strict=False)


def _group_runs(tasks: Iterable[Task], alike: Callable[[Task], Hashable]) -> list[tuple[Task, ...]]:
    """Return tasks in tuples of consecutive tasks that are alike."""
    return [tuple(run) for _, run in groupby(tasks, alike)]


def _run_tasks(function: Callable[[Task], Result], runs: Runs[Task]) -> tuple[list[Result], float]:
    """Run tasks in order until the time is up, but at least one.

    Return the results of the tasks that were run, and the seconds that they took together.
    """
    results: list[Result] = []
    started = time.perf_counter()
    for run in runs:
        begun = time.perf_counter()
        deadline = started + SHORT
        for place, task in enumerate(run):
            if results and time.perf_counter() > deadline:
                return results, time.perf_counter() - started
            results.append(function(task))
            # The first task has prepared what the run shares, so a few more tasks should use it.
            if place == 0:
                first_seconds = time.perf_counter() - begun
                deadline = max(deadline, begun + min(3 * first_seconds, LONG))
    return results, time.perf_counter() - started
