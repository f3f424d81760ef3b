"""The page without a server, inside its engine: the visit, the lessons and their messages."""

import json
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from dpsco_app.front import links
from dpsco_app.parts.presets import FIRST
from dpsco_app.static_page import visit as curves
from dpsco_app.static_page.visit import Visit
from dpsco_app.static_page.words import CURVES, LESSONS
from dpsco_core.base.errors import InvalidInput

if TYPE_CHECKING:
    from dpsco_app.static_page.lessons import Lessons

# The address of a visit in which nothing was changed.
UNTOUCHED = urlencode(links.query(FIRST.scenario), safe=",")
# The address parameters that lessons read.
OF_LESSONS = ("lesson", "answers", "sentence", "tasks", "questions", "replies")


class LivePage:
    """All views of the page; each one runs its own cells, and keeps them while another is shown."""

    def __init__(self) -> None:
        """Begin with a visit of the curves; the lessons are made when they are opened."""
        self.visit = Visit()

    @cached_property
    def lessons(self) -> "Lessons":
        """The lessons, whose modules are loaded when one is opened."""
        from dpsco_app.static_page.lessons import Lessons

        return Lessons(path=self.visit.session.lessons)

    # -- the visitor's actions ------------------------------------------------------------------

    def handle(self, message: str) -> None:
        """Do what the page's messages ask for; the next screen says what is not allowed.

        `message` is a JSON list of actions, each a list of its name and its arguments.
        """
        for name, *values in json.loads(message):
            if name == "lesson":
                self._teach(*values)
                continue
            curves.handle_messages(self.visit, json.dumps([[name, *values]]))
            if name == "open" and not links.parameters(values[0]).keys().isdisjoint(OF_LESSONS):
                self.lessons.open(values[0])

    def _teach(self, name: str, *values: Any) -> None:
        """Do the action of the lessons with this name; an error is shown by the next screen."""
        acts: dict[str, Callable[..., None]] = {
            "go": self.lessons.go,
            "run": self.lessons.run,
            "say": self.lessons.say,
            "reply": self.lessons.reply,
            "forget": self.lessons.forget,
        }
        try:
            acts[name](*values)
        except InvalidInput as problem:
            self.lessons.wrong = [str(problem)]

    # -- the runs ---------------------------------------------------------------------------

    def _worker(self, view: str) -> "Visit | Lessons":
        """Return the object whose runs a view shows: the lessons or the visit."""
        return self.lessons if view == LESSONS else self.visit

    def is_working(self, view: str) -> bool:
        """Return whether a view has something to run; the picture never has."""
        return view in (CURVES, LESSONS) and self._worker(view).is_running

    def step(self, view: str, seconds: float) -> bool:
        """Run the cells of a view for some seconds; return whether there are more."""
        return self._worker(view).step(seconds)

    def due(self, view: str) -> bool:
        """Return whether the page must draw a view again, since its results have changed."""
        return self._worker(view).due()

    def status(self, view: str) -> str:
        """Return a sentence on how far the runs of a view are."""
        return self._worker(view).status()

    # -- the screen -----------------------------------------------------------------------------

    def shown(self, view: str, width: float, *, dark: bool) -> str:
        """Return the screen of a view as JSON, for a place `width` pixels wide."""
        if view != LESSONS:
            return curves.screen_json(self.visit, curves.theme_of(width, dark=dark), view)
        from dpsco_app.static_page.lessons import lesson_theme

        screen = self.lessons.screen(lesson_theme(width, dark=dark))
        address = self.visit.address
        if address != UNTOUCHED:
            screen["address"] += f"&{address}"  # The other views keep the settings.
        return json.dumps(screen, ensure_ascii=False, allow_nan=False)

    def file(self, kind: str) -> str:
        """Return the results of the curves as JSON, or the script that computes them."""
        return self.visit.json() if kind == "json" else self.visit.python()
