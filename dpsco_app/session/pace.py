"""When a figure that grows is drawn again."""

import time
from functools import partial

DRAW_EVERY_SECONDS = 1.0
WRITE_EVERY_SECONDS = 0.4
PAUSE_PER_DRAWING = 4.0  # cells run for at least this multiple of the time of the last drawing
SHARE_OF_ELAPSED = 1 / 3  # a figure that has grown for a long time changes little


class Pace:
    """Says when to draw: a browser that always draws never finishes controls that come late."""

    def __init__(
        self,
        delay: float,  # seconds before the first drawing
        interval: float = WRITE_EVERY_SECONDS,  # the least seconds between the starts of two
        # The least pause after a drawing, in times of what it took: on a busy server a figure takes
        # long, and many would hold up the cells that they show.
        pause_per_drawing: float = 0.0,
        # The least interval, as a share of the time since the pace began.
        share_of_elapsed: float = 0.0,
    ) -> None:
        self._interval = interval
        self._pause_per_drawing = pause_per_drawing
        self._share_of_elapsed = share_of_elapsed
        self._started = time.monotonic()
        self._due_time = self._started + delay
        self._started_drawing: float | None = None

    def due(self) -> bool:
        """Whether it is time to draw, which starts the next wait.

        Whoever is told so draws at once: the next question comes when that drawing has ended.
        """
        time_now = time.monotonic()
        if self._started_drawing is not None:
            pause = self._pause_per_drawing * (time_now - self._started_drawing)
            self._due_time = max(self._due_time, time_now + pause)
            self._started_drawing = None
        if time_now < self._due_time:
            return False
        elapsed = time_now - self._started
        self._due_time = time_now + max(self._interval, self._share_of_elapsed * elapsed)
        self._started_drawing = time_now
        return True


# The pace of a figure that grows.
figure_pace = partial(
    Pace,
    interval=DRAW_EVERY_SECONDS,
    pause_per_drawing=PAUSE_PER_DRAWING,
    share_of_elapsed=SHARE_OF_ELAPSED,
)
