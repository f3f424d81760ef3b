"""The pace at which a growing figure is drawn again."""

import time
from functools import partial

DRAW_EVERY_SECONDS = 1.0
WRITE_EVERY_SECONDS = 0.4
# The pause after a drawing, during which cells run, is at least this multiple of its duration.
PAUSE_PER_DRAWING = 4.0
# Redrawing becomes rarer over time, since a figure that has grown for long changes little.
SHARE_OF_ELAPSED = 1 / 3


class Pace:
    """Decides when to redraw: redrawing all the time would delay the controls in the browser."""

    def __init__(
        self,
        delay: float,
        interval: float = WRITE_EVERY_SECONDS,
        pause_per_drawing: float = 0.0,
        share_of_elapsed: float = 0.0,
    ) -> None:
        """Start the clock; the first drawing is due after `delay` seconds.

        Between the starts of two drawings are at least `interval` seconds, and at least
        `share_of_elapsed` of the time since the clock was started. After a drawing there is a pause
        of at least `pause_per_drawing` times its duration, since slow drawings on a busy server
        would hold up the cells that run.
        """
        self._interval = interval
        self._pause_per_drawing = pause_per_drawing
        self._share_of_elapsed = share_of_elapsed
        self._started = time.monotonic()
        self._due_time = self._started + delay
        self._started_drawing: float | None = None

    def due(self) -> bool:
        """Return whether it is time to draw, and if so, start the next wait.

        The caller must then draw at once: the wait begins when that drawing ends.
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


# The pace of a growing figure.
figure_pace = partial(
    Pace,
    interval=DRAW_EVERY_SECONDS,
    pause_per_drawing=PAUSE_PER_DRAWING,
    share_of_elapsed=SHARE_OF_ELAPSED,
)
