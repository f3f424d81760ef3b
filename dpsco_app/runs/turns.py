"""Who computes next: whoever waits for a figure comes first, then the runs, a slice each in turn.

All visitors of a process share its processor, and Python runs one thread at a time. A page that is
being drawn takes 0.1 s alone, and seconds among twenty runs. So a run computes only while nobody
waits for a figure, no more runs compute at once than there are cores, and each hands on after a
slice. Runs are never stopped altogether: they keep a share however many figures are drawn.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, local

from dpsco_core.base.dispatch import cores

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
        self._slots = slots  # runs that compute at the same time: the first ones of the queue
        self._lock = Lock()
        self._queue: list[Turn] = []
        self._drawing: dict[object, float] = {}  # since when, of every page that is being drawn
        self._slice_start = 0.0  # when the last slice began
        self._local = local()

    @contextmanager
    def first_figure(self) -> Iterator[None]:
        """Whoever opened or changed a page waits for its figure, until it is `drawn`."""
        token = self._local.token = object()
        self._drawing[token] = time.monotonic()
        try:
            yield
        finally:
            self._drawing.pop(token, None)

    def end_drawing(self) -> None:
        """Say that this thread's page has its figure: what it does from now on can wait."""
        self._drawing.pop(getattr(self._local, "token", None), None)

    def give_way(self) -> None:
        """Wait a moment while others wait for a figure: what comes is not looked at yet."""
        self.end_drawing()
        deadline = time.monotonic() + GIVE_WAY_SECONDS
        while self.figures() and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)

    @contextmanager
    def run(self) -> Iterator["Turn"]:
        """Yield the turn of one run, which is given back at its end."""
        self.end_drawing()
        turn = Turn(self)
        try:
            yield turn
        finally:
            turn.leave()

    @property
    def is_contested(self) -> bool:
        """Whether somebody else waits: for a figure, or for the turn of a run."""
        token = getattr(self._local, "token", None)
        return len(self._queue) > self._slots or self.figures(token)

    def figures(self, exempt_token: object = None) -> bool:
        """Whether a page, but for one's `own`, waits for its figure."""
        present = time.monotonic()
        other_starts = (
            began for token, began in self._drawing.copy().items() if token is not exempt_token
        )
        return any(present - began < DRAWING_SECONDS for began in other_starts)

    def enter(self, turn: "Turn") -> bool:
        """Put a run into the queue, or find it there; whether it is its turn to compute."""
        with self._lock:
            if turn not in self._queue:
                self._queue.append(turn)
            present = time.monotonic()
            waits = self.figures() and present - self._slice_start < SHARE_SECONDS
            if waits or self._queue.index(turn) >= self._slots:
                return False
            self._slice_start = present
            return True

    def go(self, turn: "Turn") -> None:
        """Take a run out of the queue, if it is there."""
        with self._lock:
            if turn in self._queue:
                self._queue.remove(turn)


class Turn:
    """The place of one run among the others."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._began = 0.0
        self._left = SLICE_SECONDS  # seconds of the slice

    def wait_for_slice(self) -> bool:
        """Wait for a moment at most; whether it is this run's turn now."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not self._turns.enter(self):
            if time.monotonic() >= deadline:
                return False
            time.sleep(LOOK_SECONDS)
        self._began = time.monotonic()
        return True

    def is_over(self) -> bool:
        """Whether the run is to show what it has, and to come again.

        Its slice is used up, or somebody waits for a figure, or it has not shown itself for long.
        """
        computed = time.monotonic() - self._began
        return computed > min(self._left, SHOW_SECONDS) or self._turns.figures()

    def hand_on(self) -> None:
        """Stop computing, and come again later: as the next one, but after a whole slice."""
        self._left -= time.monotonic() - self._began
        if self._left <= 0:
            self.leave()

    def leave(self) -> None:
        self._turns.go(self)
        self._left = SLICE_SECONDS


TURNS = Turns(min(MOST_SLOTS, cores()))
