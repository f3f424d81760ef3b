"""Ctrl-C while Python's own locks are held."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back for a short block; it is raised at the block's end.

    An exception that comes out of the first line of a ``with`` statement can leave a lock taken
    that nobody gives back, and futures and queues are made of such statements: a thread that waits
    for one of their locks would keep the process from ending.

    It does nothing outside the main thread, the only one in which Ctrl-C is raised, or where the
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
