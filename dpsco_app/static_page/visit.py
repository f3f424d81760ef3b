"""The host of a session in the page without a server: its events and screens as plain values.

The same class runs in the browser's engine, cell by cell between the visitor's actions, and during
the build, for the prepared figures.
"""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import Any
from urllib.parse import urlencode

from dpsco_app.figure.head import coloured_words
from dpsco_app.figure.theme import SIZES, WIDTHS, Theme
from dpsco_app.front.answer import question
from dpsco_app.front.links import parameters
from dpsco_app.front.picture import FIT_REASON, fit
from dpsco_app.front.view import View
from dpsco_app.parts.differences import difference_text
from dpsco_app.parts.options import CARD
from dpsco_app.parts.presets import FIRST, PRESETS
from dpsco_app.parts.touch import picture
from dpsco_app.session.session import CURVES as PAGE
from dpsco_app.session.session import Session
from dpsco_app.static_page.controls import controls
from dpsco_app.static_page.screen import bold_html, cards, json_value, notes, panel_switch, records
from dpsco_app.static_page.words import CURVES, LIMITS, LIVE, PICTURE, PICTURE_LIVE, RUNNING
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD, Limits
from dpsco_core.results.intervals import runs_json
from dpsco_core.results.notebook import run_script
from dpsco_core.scenario import Scenario

OF_VIEW = ("against", "measure", "panel")
GUESS = "guess"  # The prefix of the buttons for guesses.


class Visit:
    """A session whose runs all start by themselves."""

    def __init__(self, limits: Limits | None = None) -> None:
        """Open a session of the page, and show the first preset."""
        self.session = Session(limits or replace(DASHBOARD, where=LIMITS), runs_all=True)
        self.words: list[str] = []  # The messages about the last event.
        self.session.open(PAGE, {})
        self.start(FIRST.slug)

    # -- the visitor's actions ------------------------------------------------------------------

    def open(self, query: str) -> None:
        """Show the scenario of an address, given by its query."""
        self.words = []
        self.session.open(PAGE, parameters(query))

    def show(self, scenario: Scenario, view: View) -> None:
        """Show a scenario with a view of the front page."""
        self.words = []
        self.session.look(PAGE, view)
        self.session.show(scenario)

    def start(self, slug: str) -> None:
        """Show the preset with a slug, and begin its run."""
        self.words = []
        self.session.start_preset(next(p for p in PRESETS if p.slug == slug))

    def change(self, field: str, value: Any) -> None:
        """Set a field of the scenario or of the view; other fields that must follow do.

        A message says which fields have followed.
        """
        self.words = []
        if field == CARD:
            self.session.open_card(value)
        elif field == GUESS:
            self.session.answer_guess(int(value))
        elif field in OF_VIEW:
            changes: dict[str, Any] = {field: value}
            self.session.look(PAGE, replace(self.session.view, **changes).validate())
        elif words := self.session.change(field, value):
            self.words = [words]

    # -- the runs ---------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether a run is under way."""
        return self.session.curves.is_running

    def step(self, seconds: float) -> bool:
        """Run cells for some seconds, at least one; return whether any are left."""
        deadline = time.monotonic() + seconds
        return self.session.work(lambda: time.monotonic() > deadline)

    def due(self) -> bool:
        """Return whether it is time to redraw the growing figure."""
        return self.session.curves.is_due()

    # -- the screen -----------------------------------------------------------------------------

    @property
    def scenario(self) -> Scenario:
        """The scenario of the session."""
        return self.session.scenario

    @property
    def wrong(self) -> list[str]:
        """The errors in the address, why nothing can run, and the messages about the last event."""
        refused = self.session.curves.refused
        return [*self.session.wrong, *([refused] if refused else []), *self.words]

    @property
    def address(self) -> str:
        """The query of the address at which the last allowed settings are shown."""
        return urlencode(self.session.address, safe=",")

    def screen(self, theme: Theme) -> dict[str, Any]:
        """Return everything that the page shows, as plain values."""
        screen = self.session.screen(theme)
        front = screen.front
        values = {
            "head": front.head,
            "figure": json_value(front.charts),
            "alt": front.answer.plain.strip() or question(screen.studies),
            "table": front.table,
            "panels": panel_switch(screen),
            "cards": cards(screen),
            "records": records(screen, theme),
            "whose": coloured_words(front.answer.small, theme),
            "notes": notes(screen),
        }
        frame = self._frame(
            theme, self.wrong, self.status(), is_done=not screen.is_running, lead=front.lead
        )
        return values | frame

    def picture(self, theme: Theme) -> dict[str, Any]:
        """Return everything that the page shows in the view of the picture, as plain values."""
        wrong = [*self.session.wrong, *self.words]
        values: dict[str, Any] = {}
        try:
            scenario = fit(self.scenario).validate(self.session.curves.limits)
            remark = bold_html(difference_text(scenario, self.scenario, FIT_REASON))
            values = {
                "picture": picture.picture_data(scenario, dark=theme.dark),
                "head": f"<h1>{escape(picture.TITLE)}</h1>" + f"<p>{remark}</p>" * bool(remark),
                "sample": escape(picture.sample_words(scenario)),
            }
        except InvalidInput as problem:
            wrong.append(str(problem))
        return values | self._frame(theme, wrong, PICTURE_LIVE, is_done=True)

    def _frame(
        self, theme: Theme, wrong: list[str], status: str, *, is_done: bool, lead: str = ""
    ) -> dict[str, Any]:
        """Return the parts of the page around the figure: address, controls and status."""
        return {
            "address": self.address,
            "controls": controls(self.scenario, self.session.view, theme, lead),
            "wrong": wrong,
            "status": status,
            "done": is_done,
        }

    def status(self) -> str:
        """Return a sentence on how many runs have finished; empty without a result."""
        result = self.session.curves.result
        if result is None or self.session.curves.refused:
            return ""
        runs = f"{result.cells:,}"
        if self.is_running:
            return RUNNING.format(done=f"{result.finished:,}", all=runs)
        return LIVE.format(runs=runs)

    def json(self) -> str:
        """Return results and bounds in the format of `dpsco run --json`."""
        result, _ = self.session.curves.result_to_draw()
        return runs_json(
            {name: (p.scenario, p.outcomes) for name, p in result.parts_by_name.items()}
        )

    def python(self) -> str:
        """Return the Python script that makes the drawn result again."""
        result, _ = self.session.curves.result_to_draw()
        return run_script(list(result.scenarios))


# -- messages of the page --------------------------------------------------------------------------


def theme_of(width: float, *, dark: bool) -> Theme:
    """Return the theme and size of figures for a place `width` pixels wide."""
    size = next((name for name, most in WIDTHS.items() if width <= most), "wide")
    return Theme(dark=dark, size=SIZES[size])


def handle_messages(visit: Visit, message: str) -> None:
    """Do what the page's messages ask for; the next screen shows their errors.

    `message` is a JSON list of actions, each a list of its name and its arguments.
    """
    acts: dict[str, Callable[..., None]] = {
        "open": visit.open,
        "start": visit.start,
        "change": visit.change,
    }
    for name, *values in json.loads(message):
        try:
            acts[name](*values)
        except InvalidInput as problem:
            visit.words = [str(problem)]


def screen_json(visit: Visit, theme: Theme, view: str = CURVES) -> str:
    """Return everything that the view of the curves or of the picture shows, as JSON."""
    screen = visit.picture(theme) if view == PICTURE else visit.screen(theme)
    return json.dumps(screen, ensure_ascii=False, allow_nan=False)
