"""A visit of the page without a server: what its controls say, what has run, what is drawn.

The same class runs in the browser's engine, cell by cell between two moves of the visitor, and
where the page is built, for the prepared figures.
"""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import Any
from urllib.parse import parse_qsl, urlencode

from dpsco_app.figure.theme import SIZES, WIDTHS, Theme
from dpsco_app.front import links
from dpsco_app.front.answer import question
from dpsco_app.front.changes import changed, none_chosen
from dpsco_app.front.picture import WHY, fit
from dpsco_app.front.screen import front_screen
from dpsco_app.front.second import beside
from dpsco_app.front.study import Study
from dpsco_app.front.view import ADDRESS, View
from dpsco_app.parts.differences import apart
from dpsco_app.parts.evaluations import hardest
from dpsco_app.parts.presets import DEFAULT, PRESETS
from dpsco_app.parts.touch import picture
from dpsco_app.site.controls import controls
from dpsco_app.site.screen import bold, notes, panel_switch, plain
from dpsco_app.site.words import CURVES, LIMITS, LIVE, PICTURE, PICTURE_LIVE, RUNNING
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD, Limits
from dpsco_core.catalogue import METHOD_SLUGS
from dpsco_core.explain.hardest import is_hard
from dpsco_core.fields import NAMES
from dpsco_core.results.intervals import runs_json
from dpsco_core.results.notebook import run_script
from dpsco_core.runs.allowed import refusal
from dpsco_core.runs.study import Cell, Outcome, cells, run_cell
from dpsco_core.scenario import Scenario

DRAW_EVERY_SECONDS = 0.8
WORK_TO_DRAWING = 4.0  # seconds of cells, at least, for a second that the last drawing took
KEPT_CELLS = 20_000
PAGE = replace(DASHBOARD, where=LIMITS)
OF_VIEW = ("against", "measure", "panel")


class Visit:
    """What somebody has set, with every cell that has run since the page was opened."""

    def __init__(self, limits: Limits = PAGE) -> None:
        self.limits = limits
        self.known: dict[Cell, Outcome] = {}
        self.before: list[Study] = []  # what was drawn before the last change
        self.wrong: list[str] = []
        self._next = 0.0  # when the figure may grow
        self.show(DEFAULT.scenario, ADDRESS.default)

    # -- what a visitor does ----------------------------------------------------------------

    def open(self, query: str) -> None:
        """Show what an address says."""
        given = dict(parse_qsl(query, keep_blank_values=True))
        scenario, wrong = links.read(given)
        view, more = ADDRESS.from_query(given)
        self.show(scenario, view)
        self.wrong = [*wrong, *more, *self.wrong]

    def show(self, scenario: Scenario, view: View) -> None:
        self._set(scenario, view)
        self.sweep = scenario.grid, scenario.grid  # what fits, and what was asked for

    def start(self, slug: str) -> None:
        """Show a preset."""
        preset = next(p for p in PRESETS if p.slug == slug)
        view = replace(ADDRESS.default, against=preset.against, measure=preset.measure)
        self.show(preset.scenario, view)

    def change(self, field: str, value: Any) -> None:
        """Set a field of the scenario, or of what the page shows; the others fit it."""
        if field in OF_VIEW:
            self._set(self.scenario, replace(self.view, **{field: value}).validate())
            return
        if field == "methods":
            value = tuple(m for m in METHOD_SLUGS if m in value)
        if field == "axis" and value not in NAMES:
            value = None
        scenario, self.sweep, words = changed(self.scenario, field, value, self.sweep, self.limits)
        self._set(scenario, self.view)
        self.wrong += [words] if words else []

    def _set(self, scenario: Scenario, view: View) -> None:
        self.scenario, self.view = scenario, view
        others = beside(scenario, view.against, view.pin)
        problem = refusal(scenario, self.limits, lambda _: others.scenarios)
        problem = problem or none_chosen(scenario)
        self.refused = [problem] if problem else []
        self.wrong = [*self.refused]
        if problem:
            self.parts: list[Study] = []
            self.todo: list[Cell] = []
            return
        alone = is_hard(scenario) and hardest(scenario) is None
        over = None if others.overlay is None else Study(scenario=others.overlay, role="pin")
        self.parts = [Study(scenario=scenario, role="hardest" if alone else "own", overlay=over)]
        if others.second is not None and view.panel != "first":
            self.parts.append(Study(scenario=others.second, role=others.role))
        every = [
            c for part in (*self.parts, *([over] if over else [])) for c in cells(part.scenario)
        ]
        self.all = len(every)
        missing = dict.fromkeys(c for c in every if c not in self.known)
        self.todo = sorted(missing, key=lambda c: c.trial)

    # -- the runs ---------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        return bool(self.todo)

    def step(self, seconds: float) -> bool:
        """Run cells for so long, one at least; return whether there are more."""
        until = time.monotonic() + seconds
        while self.todo:
            cell = self.todo[0]
            if len(self.known) >= KEPT_CELLS:
                self.known.pop(next(iter(self.known)))
            self.known[cell] = run_cell(cell)
            self.todo.pop(0)
            if time.monotonic() > until:
                break
        return bool(self.todo)

    def due(self) -> bool:
        """Whether the figure is to grow."""
        return not self.todo or time.monotonic() > self._next

    # -- what is drawn ----------------------------------------------------------------------

    @property
    def address(self) -> str:
        return urlencode(links.query(self.scenario) | ADDRESS.to_query(self.view), safe=",")

    def _measured(self, part: Study) -> Study:
        """Return a panel with what has run of it."""
        over = None if part.overlay is None else self._measured(part.overlay)
        outcomes = (self.known[c] for c in cells(part.scenario) if c in self.known)
        return replace(part, outcomes=tuple(outcomes), overlay=over)

    def _studies(self) -> tuple[list[Study], bool]:
        """Return the panels, and whether they are older than the last change.

        They are of one moment: what is not yet measured of the present settings is not mixed with
        what was measured of others.
        """
        firsts = [c for part in self.parts for c in cells(part.scenario) if c.trial == 0]
        if firsts and all(c in self.known for c in firsts):  # enough to be drawn
            self.before = self.parts
            return [self._measured(part) for part in self.parts], False
        if self.before:
            return [self._measured(part) for part in self.before], True
        made = [self._measured(part) for part in self.parts]
        return made or [Study(scenario=self.scenario)], False

    def screen(self, theme: Theme) -> dict[str, Any]:
        """Return all that the page shows, as plain values."""
        began = time.monotonic()
        studies, stale = self._studies()
        several = theme.size.several and self.view.panel != "second"
        only = None if several else len(studies) - 1 if self.view.panel == "second" else 0
        made = front_screen(tuple(studies), self.view, theme, only, before=stale)
        values = {
            "head": made.head,
            "figure": plain(made.charts),
            "alt": made.answer.plain.strip() or question(studies),
            "table": made.table,
            "panels": panel_switch(self.scenario, studies, self.view, several=theme.size.several),
            "notes": notes(studies[0].scenario, self.view, studies),
        }
        now = time.monotonic()
        self._next = now + max(DRAW_EVERY_SECONDS, WORK_TO_DRAWING * (now - began))
        return values | self._around(theme, self.wrong, self.status(), done=not self.todo)

    def picture(self, theme: Theme) -> dict[str, Any]:
        """Return all that the page shows where it shows the picture, as plain values."""
        wrong = [sentence for sentence in self.wrong if sentence not in self.refused]
        made: dict[str, Any] = {}
        try:
            scenario = fit(self.scenario).validate(self.limits)
            remark = bold(apart(scenario, self.scenario, WHY))
            made = {
                "picture": picture.picture_data(scenario, dark=theme.dark),
                "head": f"<h1>{escape(picture.TITLE)}</h1>" + f"<p>{remark}</p>" * bool(remark),
                "sample": escape(picture.sample_words(scenario)),
            }
        except InvalidInput as problem:
            wrong.append(str(problem))
        return made | self._around(theme, wrong, PICTURE_LIVE, done=True)

    def _around(self, theme: Theme, wrong: list[str], status: str, *, done: bool) -> dict[str, Any]:
        return {
            "address": self.address,
            "controls": controls(self.scenario, self.view, theme),
            "wrong": wrong,
            "status": status,
            "done": done,
        }

    def status(self) -> str:
        """Return how far the runs are."""
        if not self.parts:
            return ""
        if self.todo:
            return RUNNING.format(done=f"{self.all - len(self.todo):,}", all=f"{self.all:,}")
        runs = (self.known.get(c) for part in self.parts for c in cells(part.scenario))
        seconds = sum(run.seconds for run in runs if run is not None)
        return LIVE.format(runs=f"{self.all:,}", seconds=f"{seconds:.2g}")

    def json(self) -> str:
        """Return results and bounds as `dpsco run --json` prints them."""
        made = zip(("shown", "beside"), map(self._measured, self.parts), strict=False)
        return runs_json({name: (study.scenario, study.outcomes) for name, study in made})

    def python(self) -> str:
        return run_script([part.scenario for part in self.parts])


# -- messages of the page --------------------------------------------------------------------------


def theme_of(width: float, *, dark: bool) -> Theme:
    """Return the theme and the size of figures for a place of so many pixels."""
    size = next((name for name, most in WIDTHS.items() if width <= most), "wide")
    return Theme(dark=dark, size=SIZES[size])


def handled(visit: Visit, message: str) -> None:
    """Do what messages of the page ask for; what is not allowed is said on the next screen."""
    acts: dict[str, Callable[..., None]] = {
        "open": visit.open,
        "start": visit.start,
        "change": visit.change,
    }
    for name, *values in json.loads(message):
        try:
            acts[name](*values)
        except InvalidInput as problem:
            visit.wrong = [str(problem)]


def shown(visit: Visit, theme: Theme, view: str = CURVES) -> str:
    """Return the screen of a view as JSON."""
    screen = visit.picture(theme) if view == PICTURE else visit.screen(theme)
    return json.dumps(screen, ensure_ascii=False, allow_nan=False)
