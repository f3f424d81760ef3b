"""The order of computing: pages that wait for a figure come first, then runs take turns.

All visitors of a process share its processor, and Python runs one thread at a time. Drawing a page
takes 0.1 s alone, but seconds among twenty runs. So a run computes only while no page waits for a
figure, no more runs compute at once than there are cores, and each run yields after a slice. Runs
are never stopped altogether: they keep a share however many figures are drawn.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, local

from dpsco_core.base.dispatch import cores

SLICE_SECONDS = 0.4  # A run yields after this much computing; most runs finish within it.
SHOW_SECONDS = 0.05  # A run shows its progress, and can be stopped, after this much computing.
WAIT_SECONDS = 0.1  # A waiting run calls Streamlit this often, so that it can be stopped.
# While figures are drawn, a run may take a slice this long after the previous slice.
SHARE_SECONDS = 0.3
# A page that has not drawn its figure within this time is computing something long itself and no
# longer has priority.
DRAWING_SECONDS = 2.0
GIVE_WAY_SECONDS = 1.0  # The longest wait before the rest of a page is drawn.
LOOK_SECONDS = 0.02
MOST_SLOTS = 2  # More threads than this would only wait for Python's global lock.


class Turns:
    """The turns of all runs of one process."""

    def __init__(self, slots: int) -> None:
        """Let at most `slots` runs compute at once; none waits yet."""
        # The number of runs that compute at the same time: the first ones in the queue.
        self._slots = slots
        self._lock = Lock()
        self._queue: list[Turn] = []
        # For every page without a figure yet, the time at which its drawing began.
        self._drawing: dict[object, float] = {}
        self._slice_start = 0.0  # The time at which the last slice began.
        self._local = local()

    @contextmanager
    def first_figure(self) -> Iterator[None]:
        """Give a page that was opened or changed priority until its figure is drawn."""
        token = self._local.token = object()
        self._drawing[token] = time.monotonic()
        try:
            yield
        finally:
            self._drawing.pop(token, None)

    def end_drawing(self) -> None:
        """Declare that this thread's page has its figure, so that its further work can wait."""
        self._drawing.pop(getattr(self._local, "token", None), None)

    def give_way(self) -> None:
        """Wait a moment while other pages wait for a figure, which is more urgent."""
        self.end_drawing()
        deadline = time.monotonic() + GIVE_WAY_SECONDS
        while self.figures() and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)

    @contextmanager
    def run(self) -> Iterator["Turn"]:
        """Yield a new turn for one run, and remove it from the queue at the end."""
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
        """Whether a page other than that of `exempt_token` waits for its figure."""
        present = time.monotonic()
        other_starts = (
            began for token, began in self._drawing.copy().items() if token is not exempt_token
        )
        return any(present - began < DRAWING_SECONDS for began in other_starts)

    def enter(self, turn: "Turn") -> bool:
        """Put a run into the queue unless it is there; return whether the run may compute now."""
        with self._lock:
            if turn not in self._queue:
                self._queue.append(turn)
            present = time.monotonic()
            waits = self.figures() and present - self._slice_start < SHARE_SECONDS
            if waits or self._queue.index(turn) >= self._slots:
                return False
            self._slice_start = present
            return True

    def remove(self, turn: "Turn") -> None:
        """Remove a run from the queue, if it is in it."""
        with self._lock:
            if turn in self._queue:
                self._queue.remove(turn)


class Turn:
    """The place of one run in the queue."""

    def __init__(self, turns: Turns) -> None:
        """Make a turn that is not in the queue yet."""
        self._turns = turns
        self._began = 0.0
        self._left = SLICE_SECONDS  # The seconds left of the slice.

    def wait_for_slice(self) -> bool:
        """Wait at most `WAIT_SECONDS` for this run's turn; return whether the turn has come."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not self._turns.enter(self):
            if time.monotonic() >= deadline:
                return False
            time.sleep(LOOK_SECONDS)
        self._began = time.monotonic()
        return True

    def is_over(self) -> bool:
        """Whether the run must show its progress and queue again.

        This is so if its slice is used up, a page waits for a figure, or it has shown nothing for
        long.
        """
        computed = time.monotonic() - self._began
        return computed > min(self._left, SHOW_SECONDS) or self._turns.figures()

    def hand_on(self) -> None:
        """Stop computing: the run goes to the end of the queue if its slice is used up."""
        self._left -= time.monotonic() - self._began
        if self._left <= 0:
            self.leave()

    def leave(self) -> None:
        """End the turn, so that another visitor's run may go on."""
        self._turns.remove(self)
        self._left = SLICE_SECONDS


TURNS = Turns(min(MOST_SLOTS, cores()))
