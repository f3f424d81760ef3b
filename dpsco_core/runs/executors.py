"""Where cells run: here, or in processes of this machine; `dask_cluster` has the third place.

Every cell's numbers follow from its scenario alone, so that all of these give the same frame: to
the last bit where they have the same linear algebra library and the same kind of processor. Workers
inherit the environment, which may choose the library's kernels (``OPENBLAS_CORETYPE``).
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from multiprocessing.process import BaseProcess
from typing import Any

from dpsco_core.base.dispatch import cores
from dpsco_core.base.parsing import whole
from dpsco_core.plugins import extend
from dpsco_core.runs.cost import cost
from dpsco_core.runs.memory import memory_problem, require_memory
from dpsco_core.runs.study import CellStore, Outcome, spreads, study
from dpsco_core.scenario import Scenario

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
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = _new_pool(workers)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand a call to the workers; raises `BrokenProcessPool` once one of them has died."""
        return self._pool.submit(fn, *args, **kwargs)

    def check(self) -> None:
        """Raise `BrokenProcessPool` if a worker has died; a pool waits for a result half sent."""
        if not all(worker.is_alive() for worker in _workers_of(self._pool)):
            raise BrokenProcessPool("a worker has died")

    def restart(self) -> None:
        """End what is left of the workers and start new ones; what they held is lost."""
        self.kill()
        self._pool = _new_pool(self.workers)

    def kill(self) -> None:
        """End the workers at once, whatever they are doing."""
        _kill(self._pool)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers once they have done what they run."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)


@contextmanager
def processes(
    workers: int,  # from 1 to 256
) -> Iterator[Processes]:
    """Open so many worker processes; none outlives the block, or the process that opened it.

    A block that is left through an exception, as by Ctrl-C, waits for none of them.

    Like every use of Python's processes it needs a main module that can be imported: a script
    keeps what it runs under ``if __name__ == "__main__"``.

    Raises `InvalidInput` for a number of workers that is not allowed.
    """
    whole("workers", workers, 1, MOST_WORKERS)
    pool = Processes(workers)
    try:
        yield pool
        pool.shutdown(wait=True, cancel_futures=True)
    finally:
        pool.kill()  # nothing is left to kill after a shutdown


def workers_for(scenario: Scenario, asked: object = None) -> int:
    """Return how many processes a study is run in.

    As asked; otherwise all cores, if the study is long enough and as far as the memory goes.

    Raises `InvalidInput` for a number of workers that is not allowed.
    """
    if asked is not None:
        whole("workers", asked, 1, MOST_WORKERS)
        assert isinstance(asked, int)
        return asked
    shared = any(spreads(point, slug) for _, point in scenario.points() for slug in point.methods)
    most = min(cores(), MOST_WORKERS, MOST_WORKERS if shared else scenario.cells)
    if most <= 1 or cost(scenario).seconds < WORTH_IT:
        return 1
    while most > 1 and memory_problem(scenario, most):
        most -= 1
    return most


def run_study(
    scenario: Scenario, workers: int, store: CellStore | None = None
) -> Iterator[Outcome]:
    """Run a study here (1 worker) or in so many processes; see `dpsco_core.runs.study.study`.

    A worker that dies costs only the cells that ran at that moment, which run again.

    Raises `InvalidInput` if the study is not allowed, or so many workers would need more memory
    than there is; `WorkersLost` if workers die again and again, without a cell between or with the
    same one: that one runs alone, after all others.
    """
    if workers == 1:
        yield from study(scenario, store=store)
        return
    require_memory(scenario.validate(), workers)
    with processes(workers) as pool:
        yield from study(scenario, pool, store)


def _new_pool(workers: int) -> ProcessPoolExecutor:
    # Spawned, not forked: a fork copies locks that threads of this process may hold.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=_begin, initargs=(extend.loaded(),)
    )
    with ExitStack() as undo:
        undo.callback(_kill, pool)
        with _without_interrupts(), _one_blas_thread_in_new_processes():
            for _ in range(workers):
                pool.submit(os.getpid)  # starts them all now, with these settings
        undo.pop_all()
    return pool


def _workers_of(pool: ProcessPoolExecutor) -> list[BaseProcess]:
    return list((pool._processes or {}).values())


def _kill(pool: ProcessPoolExecutor) -> None:
    """End a pool's workers at once; Python itself would wait for what they run."""
    workers = _workers_of(pool)
    results: Any = pool._result_queue
    pool.shutdown(wait=False, cancel_futures=True)  # first: a dead worker is then no surprise
    for worker in workers:
        worker.kill()
    for worker in workers:
        worker.join()
    if results is not None:  # its thread may wait for the rest of a result that was half sent
        results._writer.close()


@contextmanager
def _one_blas_thread_in_new_processes() -> Iterator[None]:
    """Set what a worker reads when it starts, for the time of the block."""
    before = {name: os.environ.get(name) for name in BLAS_THREADS}
    os.environ |= dict.fromkeys(BLAS_THREADS, "1")
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back; a process that starts here does so until it has begun."""
    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(own: tuple[extend.OwnFile, ...]) -> None:
    """Leave Ctrl-C to the process that waits for the results, and end when it has ended.

    `own`: the files that the parent has added to its catalogue.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()
    extend.load_installed()
    for file in own:
        extend.load_text(file)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)  # also from within a call, whose result nobody wants any more
