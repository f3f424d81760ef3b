"""Visitors of one server share its processor: a run gives way to whom waits for a first figure."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

MOST_SECONDS = 1.0  # that a run gives way in all, however many visitors there are
STEP_SECONDS = 0.005

_lock = Lock()
_waiting = 0


@contextmanager
def haste() -> Iterator[None]:
    """Somebody waits for what is done within."""
    global _waiting
    with _lock:
        _waiting += 1
    try:
        yield
    finally:
        with _lock:
            _waiting -= 1


class GivingWay:
    """What a run that is on the screen already owes those who wait."""

    def __init__(self) -> None:
        self._left = MOST_SECONDS

    def pause(self) -> None:
        """Wait while somebody is in haste."""
        while _waiting and self._left > 0:
            time.sleep(STEP_SECONDS)
            self._left -= STEP_SECONDS
