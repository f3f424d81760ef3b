"""Who computes next: whoever waits for a figure comes first, then the runs, a slice each in turn.

All visitors of a process share its processor, and Python runs one thread at a time. A page that is
being drawn takes 0.1 s alone, and seconds among twenty runs. So a run computes only while nobody
waits for a figure, no more runs compute at once than there are cores, and each hands on after a
slice. Runs are never stopped altogether: they keep a share however many figures are drawn.
"""

import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, local

SLICE_SECONDS = 0.4  # computing after which another run takes its turn: most runs end within
SHOW_SECONDS = 0.05  # computing after which a run shows how far it is, and can be stopped
WAIT_SECONDS = 0.1  # after which a run that waits shows that it is there, so that it can be stopped
# While figures are drawn a run may take a slice so long after the slice before.
SHARE_SECONDS = 0.3
# A page that has not drawn its figure by then computes something long itself, and counts no more.
DRAWING_SECONDS = 2.0
GIVE_WAY_SECONDS = 1.0  # at most, before the rest of a page is drawn
LOOK_SECONDS = 0.02
MOST_SLOTS = 2  # more threads than that wait for Python's lock


class Turns:
    """The turns of one process."""

    def __init__(self, slots: int) -> None:
        self._slots = slots  # runs that compute at the same time
        self._lock = Lock()
        self._waiting: deque[Event] = deque()
        self._computing = 0
        self._drawing: dict[object, float] = {}  # since when, of every page that is being drawn
        self._last = 0.0  # when the last slice began
        self._mine = local()

    @contextmanager
    def first_figure(self) -> Iterator[None]:
        """Whoever opened or changed a page waits for its figure, until it is `drawn`."""
        token = self._mine.token = object()
        with self._lock:
            self._drawing[token] = time.monotonic()
        try:
            yield
        finally:
            self._end(token)

    def drawn(self) -> None:
        """Say that this thread's page has its figure: what it does from now on can wait."""
        self._end(getattr(self._mine, "token", None))

    def give_way(self) -> None:
        """Wait a moment while others wait for a figure: what comes is not looked at yet."""
        self.drawn()
        until = time.monotonic() + GIVE_WAY_SECONDS
        while self._waits_for_figure() and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)

    @contextmanager
    def run(self) -> Iterator["Turn"]:
        """Yield the turn of one run, which is given back at its end."""
        self.drawn()
        turn = Turn(self)
        try:
            yield turn
        finally:
            turn.leave()

    @property
    def taken(self) -> bool:
        """Whether somebody else waits: for a figure, or for the turn of a run."""
        with self._lock:
            own = getattr(self._mine, "token", None)
            return bool(self._waiting) or self._figures(own)

    def _waits_for_figure(self) -> bool:
        with self._lock:
            return self._figures()

    def _end(self, token: object) -> None:
        with self._lock:
            if self._drawing.pop(token, None) is not None:
                self._serve()

    def _figures(self, own: object = None) -> bool:
        now = time.monotonic()
        others = (began for token, began in self._drawing.items() if token is not own)
        return any(now - began < DRAWING_SECONDS for began in others)

    def _serve(self) -> None:
        """Let those at the head of the queue compute; the lock is held."""
        now = time.monotonic()
        while self._waiting and self._computing < self._slots:
            if self._figures() and (self._computing or now - self._last < SHARE_SECONDS):
                return
            self._last = now
            self._computing += 1
            self._waiting.popleft().set()


class Turn:
    """The place of one run among the others."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._asked: Event | None = None
        self._began = 0.0
        self._left = SLICE_SECONDS  # seconds of the slice
        self._next = False  # whether it goes on before all others

    def come(self) -> bool:
        """Wait for a moment at most; whether it is this run's turn now."""
        turns = self._turns
        if self._asked is None:
            self._asked = Event()
            with turns._lock:
                (turns._waiting.appendleft if self._next else turns._waiting.append)(self._asked)
                turns._serve()
        elif not self._asked.is_set():
            with turns._lock:  # nobody else may be there to see that time has passed
                turns._serve()
        if not self._asked.wait(WAIT_SECONDS):
            return False
        if not self._began:
            self._began = time.monotonic()
        return True

    def over(self) -> bool:
        """Whether the run is to show what it has, and to come again.

        Its slice is used up, or somebody waits for a figure, or it has not shown itself for long.
        """
        return self._computed() > min(self._left, SHOW_SECONDS) or self._turns._figures()

    def _computed(self) -> float:
        return time.monotonic() - self._began if self._began else 0.0

    def hand_on(self) -> None:
        """Stop computing, and come again later: as the next one, but after a whole slice."""
        asked, turns = self._asked, self._turns
        if asked is None:
            return
        self._left -= self._computed()
        self._next = self._left > 0
        if not self._next:
            self._left = SLICE_SECONDS
        self._asked, self._began = None, 0.0
        with turns._lock:
            if asked.is_set():
                turns._computing -= 1
            else:
                turns._waiting.remove(asked)
            if not self._next:
                turns._serve()

    def leave(self) -> None:
        """Give the place up for good."""
        self._left = 0.0
        self.hand_on()


def cores() -> int:
    """Return the number of cores that this process may use."""
    known = getattr(os, "sched_getaffinity", None)
    return len(known(0)) if known is not None else os.cpu_count() or 1


TURNS = Turns(min(MOST_SLOTS, cores()))
