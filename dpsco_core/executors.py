"""Where cells run: here, or in processes of this machine; `dask_cluster` has the third place.

Every cell's numbers follow from its scenario alone, so that all of these give the same frame.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

from dpsco_core.costing import cost
from dpsco_core.dispatch import cores
from dpsco_core.limits import streamed
from dpsco_core.memory import memory_problem, require_memory
from dpsco_core.parsing import whole
from dpsco_core.scenario import Scenario
from dpsco_core.study import CellStore, Outcome, study

MOST_WORKERS = 256
WORTH_IT = 4.0  # predicted seconds below which starting processes costs more than they save
BLAS_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


class Processes(Executor):
    """Worker processes with one BLAS thread each, which can be started again when one has died.

    Python's own pool ends as a whole with its first dead worker. See `processes`.

    Parameters
    ----------
    workers : int
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = _new_pool(workers)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand a call to the workers; raises `BrokenProcessPool` once one of them has died."""
        return self._pool.submit(fn, *args, **kwargs)

    def restart(self) -> None:
        """End what is left of the workers and start new ones; what they held is lost."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = _new_pool(self.workers)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)


@contextmanager
def processes(workers: int) -> Iterator[Processes]:
    """Open so many worker processes; none outlives the block.

    Like every use of Python's processes it needs a main module that can be imported: a script
    keeps what it runs under ``if __name__ == "__main__"``.

    Parameters
    ----------
    workers : int
        From 1 to 256.

    Raises
    ------
    InvalidInput
    """
    whole("workers", workers, 1, MOST_WORKERS)
    pool = Processes(workers)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def workers_for(scenario: Scenario, asked: object = None) -> int:
    """Return how many processes a study is run in.

    As asked; otherwise all cores, if the study is long enough and as far as the memory goes.

    Raises
    ------
    InvalidInput
    """
    if asked is not None:
        whole("workers", asked, 1, MOST_WORKERS)
        assert isinstance(asked, int)
        return asked
    shared = any(streamed(point.n, point.m, point.d) for _, point in scenario.points())
    most = min(cores(), MOST_WORKERS, MOST_WORKERS if shared else scenario.cells)
    if most == 1 or cost(scenario).seconds < WORTH_IT:
        return 1
    while most > 1 and memory_problem(scenario, most):
        most -= 1
    return most


def run_study(
    scenario: Scenario, workers: int, store: CellStore | None = None
) -> Iterator[Outcome]:
    """Run a study here (1 worker) or in so many processes; see `dpsco_core.study.study`.

    A worker that dies costs only the cells that ran at that moment, which run again.

    Raises
    ------
    InvalidInput
        If the study is not allowed, or so many workers would need more memory than there is.
    WorkersLost
        If workers die again and again without a cell between.
    """
    if workers == 1:
        yield from study(scenario, store=store)
        return
    require_memory(scenario.validate(), workers)
    with processes(workers) as pool:
        yield from study(scenario, pool, store)


def _new_pool(workers: int) -> ProcessPoolExecutor:
    before = {name: os.environ.get(name) for name in BLAS_THREADS}
    os.environ |= dict.fromkeys(BLAS_THREADS, "1")  # read by a worker when it starts
    try:
        # Spawned, not forked: a fork copies locks that threads of this process may hold.
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin)
        for _ in range(workers):
            pool.submit(os.getpid)  # starts them all now, with these settings
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    return pool


def _begin() -> None:
    """Leave Ctrl-C to the process that waits for the results; it ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
