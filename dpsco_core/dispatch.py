"""Work handed to an executor: a bounded number of calls at a time, and those that are lost again.

Nothing here knows what the work is. Any `concurrent.futures.Executor` will do; one that can say
how many workers it has (``workers``), start again after a loss (``restart``) or find that nobody
works any more (``check``) is asked to.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterable
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from typing import Generic, TypeVar

from dpsco_core.errors import InvalidInput

Label = TypeVar("Label")
Argument = TypeVar("Argument")
Task = TypeVar("Task")
Result = TypeVar("Result")

RESTARTS = 3  # of an executor that broke, without a result between, before the work is given up
CHECK_EVERY = 5.0  # seconds without a result, before an executor is asked for its workers
A_WORKER = 3  # calls that are waiting or running, for each worker
SHORT, LONG = 0.1, 10.0  # seconds that a call with several tasks should take, and may take


class WorkersLost(InvalidInput):
    """Those who worked are gone; what had finished is in the store."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def workers_of(executor: Executor) -> int:
    """Return how many workers an executor says it has; this machine's cores if it does not."""
    return int(getattr(executor, "workers", 0)) or cores()


def finished(
    executor: Executor,
    function: Callable[[Argument], Result],
    take: Callable[[], tuple[Label, Argument] | None],
    ahead: int,
) -> Generator[tuple[Label, Result], None, None]:
    """Yield what a function gives as it finishes, with the label of its argument.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        Where it runs. What was running when a worker died runs again if the executor can restart.
    function : callable
        Importable by name, so that it reaches other processes.
    take : callable
        Returns the next label and argument, or None while there is none. The end is when nothing
        runs and it returns None.
    ahead : int
        The most calls that the executor holds at a time.

    Raises
    ------
    WorkersLost
        If the executor breaks more than `RESTARTS` times without a result between, cannot restart,
        or drops what it was given. Results that were there by then have been yielded.
    """
    waiting: dict[Future[Result], tuple[Label, Argument]] = {}
    again: deque[tuple[Label, Argument]] = deque()
    losses = 0
    try:
        while True:
            broken: BrokenExecutor | None = None
            while len(waiting) < ahead and broken is None:
                call = again.popleft() if again else take()
                if call is None:
                    break
                try:
                    waiting[executor.submit(function, call[1])] = call
                except BrokenExecutor as problem:
                    again.appendleft(call)
                    broken = problem
            if not waiting and broken is None:
                return
            done = set() if broken else _some_done(executor, waiting)
            for future in sorted(done, key=_failed):  # what there is, before what failed
                call = waiting.pop(future)
                try:
                    result = future.result()
                except BrokenExecutor as problem:
                    again.append(call)
                    broken = problem
                except CancelledError:
                    raise WorkersLost(
                        "executor must run what it is given, got calls that were dropped; "
                        "what had finished is kept."
                    ) from None
                else:
                    losses = 0
                    yield call[0], result
            if broken is not None:
                losses += 1
                again.extend(waiting.values())
                waiting.clear()
                _restart(executor, losses, broken)
    finally:  # whoever stops reading has no use for the rest
        for future in waiting:
            future.cancel()


def _some_done(executor: Executor, waiting: Collection[Future[Result]]) -> set[Future[Result]]:
    check = getattr(executor, "check", None)
    while True:
        done, _ = wait(waiting, CHECK_EVERY if check else None, return_when=FIRST_COMPLETED)
        if done:
            return done
        assert check is not None
        check()  # raises if nobody is left to wait for


def _failed(future: Future[Result]) -> bool:
    return future.cancelled() or future.exception() is not None


def _restart(executor: Executor, losses: int, problem: BrokenExecutor) -> None:
    restart = getattr(executor, "restart", None)
    if restart is None:
        raise problem
    if losses > RESTARTS:
        raise WorkersLost(
            f"workers must stay alive, got {losses} deaths in a row; what had finished is kept."
        ) from None
    restart()


def in_order(
    executor: Executor, function: Callable[[Argument], Result], arguments: Iterable[Argument]
) -> Generator[Result, None, None]:
    """Yield what a function gives for every argument, in their order, whatever finishes first.

    At most a few results a worker are held back for an earlier one that is late.
    """
    ahead = A_WORKER * workers_of(executor)
    numbered = enumerate(arguments)
    early: dict[int, Result] = {}
    following = taken = 0

    def take() -> tuple[int, Argument] | None:
        nonlocal taken
        if taken >= following + 2 * ahead:
            return None
        call = next(numbered, None)
        taken += call is not None
        return call

    with closing(finished(executor, function, take, ahead)) as found:
        for number, result in found:
            early[number] = result
            while following in early:
                yield early.pop(following)
                following += 1


def in_groups(
    executor: Executor,
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    alike: Callable[[Task], Hashable],
) -> Generator[tuple[Task, Result], None, None]:
    """Yield tasks and what a function gives for each, as they finish.

    Consecutive tasks with the same `alike` go to one worker, which can keep what they share. A
    call takes about `SHORT` seconds or one task: a worker hands back what it did not come to.
    What is left is shared out evenly towards the end.
    """
    queue = _Queue(tasks, alike, workers_of(executor))
    ahead = A_WORKER * queue.workers
    with closing(finished(executor, _Group(function), queue.take, ahead)) as found:
        for runs, (results, seconds) in found:
            given = [task for run in runs for task in run]
            queue.put_back(given[len(results) :])
            queue.seen(len(results), seconds)
            yield from zip(given, results, strict=False)


class _Queue(Generic[Task]):
    """Tasks in runs that share something, handed out in groups of about the same time."""

    def __init__(
        self, tasks: Iterable[Task], alike: Callable[[Task], Hashable], workers: int
    ) -> None:
        self._alike = alike
        self.workers = workers
        self._runs = deque(self._in_runs(tasks))
        self._left = sum(map(len, self._runs))
        self._seen = self._seconds = 0.0

    def _in_runs(self, tasks: Iterable[Task]) -> list[tuple[Task, ...]]:
        return [tuple(run) for _, run in groupby(tasks, self._alike)]

    def take(self) -> tuple[tuple[tuple[Task, ...], ...], tuple[tuple[Task, ...], ...]] | None:
        if not self._runs:
            return None
        fair = -(-self._left // (2 * self.workers))
        wanted = SHORT * self._seen / self._seconds if self._seconds else 1
        group: list[tuple[Task, ...]] = []
        size = 0
        while self._runs and size < min(wanted, fair):
            run = self._runs.popleft()
            if len(run) > fair - size:
                self._runs.appendleft(run[fair - size :])
                run = run[: fair - size]
            group.append(run)
            size += len(run)
        self._left -= size
        return tuple(group), tuple(group)

    def put_back(self, tasks: list[Task]) -> None:
        self._runs.extendleft(reversed(self._in_runs(tasks)))
        self._left += len(tasks)

    def seen(self, tasks: int, seconds: float) -> None:
        """Note the time of some tasks; what is long ago counts less."""
        self._seen = 0.9 * self._seen + tasks
        self._seconds = 0.9 * self._seconds + seconds


@dataclass(frozen=True)
class _Group(Generic[Task, Result]):
    """Runs of tasks, one after the other, until the time is up; at least one task."""

    function: Callable[[Task], Result]

    def __call__(self, runs: tuple[tuple[Task, ...], ...]) -> tuple[list[Result], float]:
        results: list[Result] = []
        started = time.perf_counter()
        for run in runs:
            begun = time.perf_counter()
            until = started + SHORT
            for place, task in enumerate(run):
                if results and time.perf_counter() > until:
                    return results, time.perf_counter() - started
                results.append(self.function(task))
                if place == 0:  # it made what the run shares: that should serve a few more
                    first = time.perf_counter() - begun
                    until = max(until, begun + min(3 * first, LONG))
        return results, time.perf_counter() - started
