"""One BLAS thread a cell: sums come out the same on every number of cores.

BLAS splits large products among its threads, and so adds in an order that depends on their number.
Cells run beside each other, so that its threads would only get in their way.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread inside the block, in every thread of this process.

    When the last block is left, BLAS has as many threads as before the first.
    """
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """The BLAS libraries that this process has loaded: numpy's and scipy's."""
    return ThreadpoolController()


def _take_control() -> None:
    """Let this thread set the limits: threadpoolctl 3.8 heeds one thread and ignores all others."""
    for library in _libraries().lib_controllers:
        clear = getattr(library, "clear_controlling_thread", None)
        if clear is not None:
            clear(force=True)


class _Limit:
    """Counts who is inside; the setting itself is one for the whole process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limiter: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                _take_control()
                self._limiter = _libraries().limit(limits=1, user_api="blas")
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                _take_control()
                self._limiter.restore_original_limits()
                _take_control()  # and give it up


_limit = _Limit()
