"""Work handed to an executor: a bounded number of calls at a time, and those that are lost again.

Nothing here knows what the work is. Any `concurrent.futures.Executor` will do; one that can say
how many workers it has (``workers``), start again after a loss (``restart``) or find that those it
waits for have gone (``check``) is asked to.
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
Runs: TypeAlias = tuple[tuple[Task, ...], ...]  # tasks; those of a run share something

RESTARTS = 3  # broken executors, with one call or in a row, after which the work is given up
CHECK_EVERY = 5.0  # seconds without a result, before an executor is asked for its workers
A_WORKER = 3  # calls that are waiting or running, for each worker
SHORT, LONG = 0.1, 10.0  # seconds that a call with several tasks should take, and may take


class WorkersLost(InvalidInput):
    """Those who worked are gone; what had finished is in the store."""


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back for a short block; it is raised at the block's end.

    An exception that comes out of the first line of a ``with`` statement can leave a lock of a
    future or a queue taken, and a thread that waits for it would keep the process from ending. It
    does nothing outside the main thread, the only one in which Ctrl-C is raised, or where the
    program does something else at a Ctrl-C than to call a function of Python's.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came: list[FrameType | None] = []
    signal.signal(signal.SIGINT, lambda _, frame: came.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(signal.SIGINT, came[0])


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def workers_of(executor: Executor) -> int:
    """Return how many workers an executor says it has, or this machine's cores."""
    return int(getattr(executor, "workers", 0)) or cores()


def finished(
    executor: Executor,
    function: Callable[[Argument], Result],  # importable by name: it reaches other processes
    # Returns the next label and argument, or None while there is none. The end is when nothing runs
    # and it returns None.
    take: Callable[[], tuple[Label, Argument] | None],
    ahead: int,  # the most calls that the executor holds at a time
) -> Generator[tuple[Label, Result], None, None]:
    """Yield what a function gives as it finishes, with the label of its argument.

    What was running when a worker died runs again if the executor can restart: together with other
    calls once, after that alone, when all others have finished. Raises `WorkersLost` if the
    executor breaks more than `RESTARTS` times with the same call or without a result between,
    cannot restart, or drops what it was given. Results that were there by then have been yielded.
    """
    calls = _Calls(executor, function, take, ahead)
    in_a_row = 0
    try:
        while True:
            try:
                if not calls.submit():
                    return
                for future in calls.some_done():
                    with uninterrupted():
                        result = future.result()
                    in_a_row = 0
                    yield calls.running.pop(future).label, result
            except BrokenExecutor as problem:
                in_a_row += 1
                _restart(executor, in_a_row, calls.lose(), problem)
            except CancelledError:
                must = "executor must run what it is given"
                raise _given_up(must, "calls that were dropped") from None
    finally:  # whoever stops reading has no use for the rest
        with uninterrupted():
            for future in calls.running:
                future.cancel()


@dataclass(eq=False)
class _Call(Generic[Label, Argument]):
    label: Label
    argument: Argument
    losses: int = 0  # how often the executor broke while it held this call


@dataclass(eq=False)
class _Calls(Generic[Label, Argument, Result]):
    """The calls that an executor holds, and those that it lost.

    Which of the lost calls ended its worker is not known. One that does so every time would take
    others with it again and again, and one that lacks memory may have it when it is alone:
    therefore calls that were lost twice are set aside until nothing else is left.
    """

    executor: Executor
    function: Callable[[Argument], Result]
    take: Callable[[], tuple[Label, Argument] | None]
    ahead: int
    running: dict[Future[Result], _Call[Label, Argument]] = field(default_factory=dict)
    again: deque[_Call[Label, Argument]] = field(default_factory=deque)
    aside: deque[_Call[Label, Argument]] = field(default_factory=deque)
    done: SimpleQueue[Future[Result]] = field(default_factory=SimpleQueue)  # done, maybe lost since

    def submit(self) -> bool:
        """Give the executor what it may hold; False if it holds nothing and nothing is left."""
        while len(self.running) < self.ahead and (call := self._next()):
            try:
                with uninterrupted():
                    future = self.executor.submit(self.function, call.argument)
                    self.running[future] = call
                    future.add_done_callback(self.done.put)
            except BrokenExecutor:
                self._keep(call)
                if not self.running:
                    raise
                break  # those that run will say so, after what has finished
        return bool(self.running)

    def some_done(self) -> list[Future[Result]]:
        """Wait for results; return what has finished, then what has failed."""
        check = getattr(self.executor, "check", None)
        while True:
            try:  # a Ctrl-C may come here: this queue has no lock to lose
                ready = {self.done.get(timeout=CHECK_EVERY if check else None)}
            except Empty:
                assert check is not None
                check()  # raises if nobody is left to wait for
                continue
            while not self.done.empty():
                ready.add(self.done.get())
            with uninterrupted():
                done = sorted(ready & self.running.keys(), key=_failed)
            if done:
                return done

    def lose(self) -> int:
        """Keep the calls without a result for later; return how often one of them was lost."""
        with uninterrupted():
            lost = [future for future in self.running if not future.done() or _failed(future)]
        calls = [self.running.pop(future) for future in lost]
        for call in calls:
            call.losses += 1
            self._keep(call)
        return max((call.losses for call in calls), default=0)

    def _next(self) -> _Call[Label, Argument] | None:
        if self.again:
            return self.again.popleft()
        if (taken := self.take()) is not None:
            return _Call(*taken)
        return self.aside.popleft() if self.aside and not self.running else None

    def _keep(self, call: _Call[Label, Argument]) -> None:
        (self.aside if call.losses > 1 else self.again).append(call)


def _failed(future: Future[Result]) -> bool:
    return future.cancelled() or future.exception() is not None


def _restart(executor: Executor, in_a_row: int, same: int, problem: BrokenExecutor) -> None:
    must = "workers must stay alive"
    if not hasattr(executor, "restart"):
        raise _given_up(must, str(problem).rstrip(".") or type(problem).__name__) from problem
    if max(in_a_row, same) > RESTARTS:
        row = f"{in_a_row} deaths in a row" if in_a_row > RESTARTS else ""
        raise _given_up(must, row or f"{same} deaths with the same call") from None
    with uninterrupted():
        executor.restart()


def _given_up(must: str, actual: str) -> WorkersLost:
    return WorkersLost(f"{must}, got {actual}; what had finished is kept.")


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

    with closing(finished(executor, function, take, ahead)) as results:
        for number, result in results:
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
    workers = workers_of(executor)
    runs = deque(_in_runs(tasks, alike))
    left, seen, seconds = sum(map(len, runs)), 0.0, 0.0  # what is long ago counts less

    def take() -> tuple[Runs[Task], Runs[Task]] | None:
        """Return the next group, as its own label."""
        nonlocal left
        fair = -(-left // (2 * workers))
        wanted = SHORT * seen / seconds if seconds else 1
        group: list[tuple[Task, ...]] = []
        size = 0
        while runs and size < min(wanted, fair):
            run = runs.popleft()
            if len(run) > fair - size:
                runs.appendleft(run[fair - size :])
                run = run[: fair - size]
            group.append(run)
            size += len(run)
        left -= size
        return (tuple(group), tuple(group)) if group else None

    with closing(finished(executor, partial(_worked, function), take, A_WORKER * workers)) as done:
        for group, (results, took) in done:
            given = [task for run in group for task in run]
            rest = given[len(results) :]  # comes before the others
            runs.extendleft(reversed(_in_runs(rest, alike)))
            left += len(rest)
            seen, seconds = 0.9 * seen + len(results), 0.9 * seconds + took
            yield from zip(given, results, strict=False)


def _in_runs(tasks: Iterable[Task], alike: Callable[[Task], Hashable]) -> list[tuple[Task, ...]]:
    return [tuple(run) for _, run in groupby(tasks, alike)]


def _worked(function: Callable[[Task], Result], runs: Runs[Task]) -> tuple[list[Result], float]:
    """Work on runs of tasks until the time is up, at least on one task; return the time too."""
    results: list[Result] = []
    started = time.perf_counter()
    for run in runs:
        begun = time.perf_counter()
        until = started + SHORT
        for place, task in enumerate(run):
            if results and time.perf_counter() > until:
                return results, time.perf_counter() - started
            results.append(function(task))
            if place == 0:  # it made what the run shares: that should serve a few more
                first = time.perf_counter() - begun
                until = max(until, begun + min(3 * first, LONG))
    return results, time.perf_counter() - started
