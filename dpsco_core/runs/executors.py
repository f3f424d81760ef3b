"""Where cells run: in this process or in worker processes (for Dask see `dask_cluster`).

The numbers of a cell follow from its scenario alone, so all executors give the same frame, to the
last bit on the same linear algebra library and kind of processor. Workers inherit the environment,
which may choose the library's kernels (``OPENBLAS_CORETYPE``).
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
LEAST_SECONDS = 4.0  # a study with a shorter predicted time runs without worker processes
BLAS_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


class Processes(Executor):
    """Worker processes with one BLAS thread each, which can be restarted after one has died.

    Python's own pool breaks as a whole with its first dead worker. See `processes`.
    """

    def __init__(self, workers: int) -> None:
        """Start a pool of worker processes."""
        self.workers = workers
        self._pool = _new_pool(workers)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call to the workers; raises `BrokenProcessPool` once one of them has died."""
        return self._pool.submit(fn, *args, **kwargs)

    def check(self) -> None:
        """Raise `BrokenProcessPool` if a worker died: its half-sent result would never arrive."""
        if not all(worker.is_alive() for worker in _workers_of(self._pool)):
            raise BrokenProcessPool("a worker has died")

    def restart(self) -> None:
        """Kill the remaining workers and start new ones; the calls that were running are lost."""
        self.kill()
        self._pool = _new_pool(self.workers)

    def kill(self) -> None:
        """Kill the worker processes at once; their running calls are lost."""
        _kill(self._pool)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers once their running calls are done."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)


@contextmanager
def processes(
    workers: int,  # the number of worker processes, from 1 to 256
) -> Iterator[Processes]:
    """Open a pool of worker processes; none outlives the block or the process that opened it.

    A block that is left through an exception, such as Ctrl-C, does not wait for its workers.

    As with any use of Python's processes, the main module must be importable: a script keeps its
    code under ``if __name__ == "__main__"``.

    Raises `InvalidInput` if the number of workers is not allowed.
    """
    whole("workers", workers, 1, MOST_WORKERS)
    pool = Processes(workers)
    try:
        yield pool
        pool.shutdown(wait=True, cancel_futures=True)
    finally:
        pool.kill()  # After a regular shutdown no worker is left to kill.


def workers_for(scenario: Scenario, requested: object = None) -> int:
    """Return the number of processes for a study.

    Unless a number is requested: all cores, if the study is long enough, as far as memory allows.

    Raises `InvalidInput` if the requested number is not allowed.
    """
    if requested is not None:
        whole("workers", requested, 1, MOST_WORKERS)
        assert isinstance(requested, int)
        return requested
    shared = any(spreads(point, slug) for _, point in scenario.points() for slug in point.methods)
    count = min(cores(), MOST_WORKERS, MOST_WORKERS if shared else scenario.cells)
    if count <= 1 or cost(scenario).seconds < LEAST_SECONDS:
        return 1
    while count > 1 and memory_problem(scenario, count):
        count -= 1
    return count


def run_study(
    scenario: Scenario, workers: int, store: CellStore | None = None
) -> Iterator[Outcome]:
    """Run a study in this process (1 worker) or in several; see `dpsco_core.runs.study.study`.

    A worker that dies costs only the cells that it was running, and they run again.

    Raises `InvalidInput` if the study is not allowed or its workers need more memory than there
    is; `WorkersLost` if workers keep dying with no cell finished in between, or if the same cell
    kills them (it is then tried alone, after all others).
    """
    if workers == 1:
        yield from study(scenario, store=store)
        return
    require_memory(scenario.validate(), workers)
    with processes(workers) as pool:
        yield from study(scenario, pool, store)


def _new_pool(workers: int) -> ProcessPoolExecutor:
    """Return a pool of new worker processes."""
    # Spawn rather than fork: a fork copies locks that threads of this process may hold.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(
        workers,
        mp_context=context,
        initializer=_initialise_worker,
        initargs=(extend.loaded_files(),),
    )
    with ExitStack() as undo:
        undo.callback(_kill, pool)
        with _block_interrupts(), _one_blas_thread_in_new_processes():
            for _ in range(workers):
                pool.submit(os.getpid)  # The first calls start all workers, with these settings.
        undo.pop_all()
    return pool


def _workers_of(pool: ProcessPoolExecutor) -> list[BaseProcess]:
    """Return the processes of a pool."""
    return list((pool._processes or {}).values())


def _kill(pool: ProcessPoolExecutor) -> None:
    """Kill a pool's workers at once; Python itself would wait for their calls."""
    workers = _workers_of(pool)
    results: Any = pool._result_queue
    # The pool is told first, so that it does not report dead workers.
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.kill()
    for worker in workers:
        worker.join()
    if results is not None:  # The thread of `results` may wait for the rest of a half-sent result.
        results._writer.close()


@contextmanager
def _one_blas_thread_in_new_processes() -> Iterator[None]:
    """Limit BLAS to one thread in processes that start within the block, by the environment."""
    old_values = {name: os.environ.get(name) for name in BLAS_THREADS}
    os.environ |= dict.fromkeys(BLAS_THREADS, "1")
    try:
        yield
    finally:
        for name, value in old_values.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _block_interrupts() -> Iterator[None]:
    """Block Ctrl-C; a process started here keeps it blocked until it is initialised."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows has no signal masks.
        yield
        return
    old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)


def _initialise_worker(plugins: tuple[extend.OwnFile, ...]) -> None:
    """Ignore Ctrl-C, which the parent handles, and end when the parent ends.

    `plugins` are the files that the parent has added to its catalogue.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()
    extend.load_installed()
    extend.load_text(*plugins)


def _end_with_parent() -> None:
    """Wait for the parent process to end, and then end this one."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)  # The exit happens even during a call, because nobody is left to read its result.
