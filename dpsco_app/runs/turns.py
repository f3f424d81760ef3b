"""The order of computing: pages that wait for a figure first, then the runs in turn, by slices.

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

SLICE_SECONDS = 0.4  # a run hands on after this much computing; most runs end within it
SHOW_SECONDS = 0.05  # a run shows its progress after this much computing, and can then be stopped
WAIT_SECONDS = 0.1  # a waiting run calls Streamlit after this time, so that it can be stopped
# While figures are drawn a run may take a slice so long after the slice before.
SHARE_SECONDS = 0.3
# A page that has not drawn its figure by then computes something long itself, and counts no more.
DRAWING_SECONDS = 2.0
GIVE_WAY_SECONDS = 1.0  # at most, before the rest of a page is drawn
LOOK_SECONDS = 0.02
MOST_SLOTS = 2  # more threads would wait for Python's lock


class Turns:
    """The turns of one process."""

    def __init__(self, slots: int) -> None:
        self._slots = slots  # how many runs compute at the same time: the first ones of the queue
        self._lock = Lock()
        self._queue: list[Turn] = []
        self._drawing: dict[
            object, float
        ] = {}  # the start of the drawing of every page that has no figure yet
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
        """Wait a moment while others wait for a figure, as the rest of the page is less urgent."""
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
        """Whether another page waits for its figure, or another run for its turn."""
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
        """Put a run into the queue if it is not there; return whether it is its turn."""
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
        """Remove a run from the queue, if it is there."""
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
        """Wait for a moment at most; return whether it is this run's turn."""
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
        """Stop computing: come next if the slice is not used up, and otherwise after all others."""
        self._left -= time.monotonic() - self._began
        if self._left <= 0:
            self.leave()

    def leave(self) -> None:
        self._turns.go(self)
        self._left = SLICE_SECONDS


TURNS = Turns(min(MOST_SLOTS, cores()))
