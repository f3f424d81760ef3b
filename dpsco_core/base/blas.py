"""One BLAS thread per cell, so that sums are the same on every number of cores.

BLAS splits large products among its threads, and its order of additions depends on their number.
Cells already run in parallel, so more threads would not make them faster.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


class _Limit:
    """The process's one limit on BLAS threads, and the number of code blocks that now use it."""

    lock = threading.Lock()
    users = 0
    limiter: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread within the block, in every thread of this process.

    When the last block ends, BLAS gets back the number of threads that it had before the first.
    """
    with _Limit.lock:
        if _Limit.users == 0:
            _release_control()
            _Limit.limiter = _blas_controller().limit(limits=1, user_api="blas")
        _Limit.users += 1
    try:
        yield
    finally:
        with _Limit.lock:
            _Limit.users -= 1
            if _Limit.users == 0:
                _release_control()
                _Limit.limiter.restore_original_limits()
                _release_control()  # This call lets the next thread set the limits.


@lru_cache(maxsize=1)
def _blas_controller() -> ThreadpoolController:
    """Return the controller of the BLAS libraries that are loaded."""
    return ThreadpoolController()


def _release_control() -> None:
    """Let the next caller set BLAS limits from any thread.

    Otherwise threadpoolctl 3.8 obeys only the thread that set the limits first.
    """
    for library in _blas_controller().lib_controllers:
        if clear := getattr(library, "clear_controlling_thread", None):
            clear(force=True)
