"""When a figure that grows is drawn again."""

import time
from functools import partial

DRAW_EVERY_SECONDS = 1.0
WRITE_EVERY_SECONDS = 0.4
WORK_TO_DRAWING = 4.0  # seconds of cells, at least, for a second that the last figure took
PAST_TO_PAUSE = 1 / 3  # a figure that has grown for long changes little


class Pace:
    """Says when to draw: a browser that always draws never gets to controls that come late."""

    def __init__(
        self,
        first: float,  # seconds before the first time
        every: float = WRITE_EVERY_SECONDS,  # seconds at least between two
        # What comes between two drawings is at least so many times as long as the first of them: on
        # a busy server a figure takes long, and many would hold up the cells that they show.
        work: float = 0.0,
        past: float = 0.0,  # the pause is at least this share of the time that has passed
    ) -> None:
        self._every = every
        self._work = work
        self._past = past
        self._started = time.monotonic()
        self._next = self._started + first
        self._started_drawing: float | None = None

    def due(self) -> bool:
        """Whether it is time, which starts the next wait; drawing ends at the next question."""
        now = time.monotonic()
        if self._started_drawing is not None:
            self._next = max(self._next, now + self._work * (now - self._started_drawing))
            self._started_drawing = None
        if now < self._next:
            return False
        self._next = now + max(self._every, self._past * (now - self._started))
        self._started_drawing = now
        return True


# The pace of a figure that grows.
figure_pace = partial(Pace, every=DRAW_EVERY_SECONDS, work=WORK_TO_DRAWING, past=PAST_TO_PAUSE)
