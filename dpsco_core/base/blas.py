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


class _Limit:
    """Who is inside: the setting itself is one for the whole process."""

    lock = threading.Lock()
    inside = 0
    limiter: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread inside the block, in every thread of this process.

    When the last block is left, BLAS has as many threads as before the first.
    """
    with _Limit.lock:
        if _Limit.inside == 0:
            _take_control()
            _Limit.limiter = _libraries().limit(limits=1, user_api="blas")
        _Limit.inside += 1
    try:
        yield
    finally:
        with _Limit.lock:
            _Limit.inside -= 1
            if _Limit.inside == 0:
                _take_control()
                _Limit.limiter.restore_original_limits()
                _take_control()  # control is given up again


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def _take_control() -> None:
    """Let this thread set the limits: threadpoolctl 3.8 heeds one thread and ignores all others."""
    for library in _libraries().lib_controllers:
        if clear := getattr(library, "clear_controlling_thread", None):
            clear(force=True)
