"""Where cells run: here, or in processes of this machine.

Every cell's numbers follow from its scenario alone, so that both give the same frame.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from dpsco_core.errors import InvalidInput
from dpsco_core.parsing import whole
from dpsco_core.scenario import Scenario
from dpsco_core.study import CellStore, Outcome, study

MOST_WORKERS = 256
RESTARTS = 3  # of a pool whose worker died, before the study gives up
BLAS_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


class WorkersLost(InvalidInput):
    """Workers died again and again; what had finished is in the store."""


@contextmanager
def processes(workers: int) -> Iterator[Executor]:
    """Open so many worker processes, each with one BLAS thread; none outlives the block.

    Parameters
    ----------
    workers : int
        From 1 to 256.

    Raises
    ------
    InvalidInput
    """
    whole("workers", workers, 1, MOST_WORKERS)
    before = {name: os.environ.get(name) for name in BLAS_THREADS}
    os.environ |= dict.fromkeys(BLAS_THREADS, "1")  # read by a worker when it starts
    # Spawned, not forked: a fork copies locks that threads of this process may hold.
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    try:
        for _ in range(workers):
            pool.submit(os.getpid)  # starts them all now, with these settings
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def study_in_processes(scenario: Scenario, workers: int, store: CellStore) -> Iterator[Outcome]:
    """Run a study in worker processes; a worker that dies costs only the cells it was running.

    Those run again in new workers, because a store keeps all others.

    Raises
    ------
    WorkersLost
        If workers die more than `RESTARTS` times without a cell between.
    """
    yielded: set[tuple[str, float | None, int]] = set()
    lost = 0
    while True:
        try:
            with processes(workers) as pool:
                for outcome in study(scenario, pool, store):
                    place = (outcome.method, outcome.x, outcome.trial)
                    if place not in yielded:
                        yielded.add(place)
                        lost = 0
                        yield outcome
            return
        except BrokenProcessPool:
            lost += 1
            if lost > RESTARTS:
                raise WorkersLost(
                    f"workers must stay alive, got {lost} deaths in a row after "
                    f"{len(yielded)} cells, which are kept."
                ) from None
