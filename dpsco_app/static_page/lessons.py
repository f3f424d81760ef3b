"""The lessons of the page without a server: predict, run in the browser, verdict.

A plain class: its host passes on the visitor's actions, lets it work between them, and shows its
screen. Results come from a `Results`, by default from runs in this process.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any, Protocol
from urllib.parse import urlencode

from dpsco_app.figure.head import head_html
from dpsco_app.figure.render import plotly
from dpsco_app.figure.table import ladder_table
from dpsco_app.figure.theme import COMPACT, WIDE, Theme
from dpsco_app.figure.values import Figure
from dpsco_app.front.address import Address
from dpsco_app.front.links import parameters
from dpsco_app.lessons.figures import HEIGHT, TOP, figures, heights, room_for_names
from dpsco_app.lessons.findings import LessonEvidence
from dpsco_app.lessons.handle import choices_in_figure, handle, handle_colours
from dpsco_app.lessons.lessons import BY_SLUG, SLUGS, Lesson, step_name
from dpsco_app.lessons.measure import LessonResults, measure, work
from dpsco_app.lessons.path import LessonPath
from dpsco_app.lessons.report import HANDED_IN, Answered, progress_text
from dpsco_app.lessons.view import ASSIGN, HAND_IN, START, LessonsView
from dpsco_app.static_page import lesson_parts as parts
from dpsco_app.static_page.screen import json_value
from dpsco_app.static_page.words import LESSON_LIVE, LESSON_PREDICT, RUNNING
from dpsco_core.base.errors import require
from dpsco_core.explain.lessons import LessonRow, Part, run_part
from dpsco_core.runs.study import Cell, Outcome, cells, run_cell
from dpsco_core.scenario import Scenario

FIGURE = "learn_figure"  # The name of the figure's place, to which its handle is attached.
# A figure beside the text has less room than one that fills the page.
SIDE = replace(WIDE, width=780, height=HEIGHT, left=58, top=TOP)
PHONE = replace(COMPACT, left=54)
SIDE_WIDTH = 560  # A place narrower than this many pixels gets the figures for phones.
VIEW = Address(default=LessonsView(lesson=SLUGS[0]))


class Results(LessonResults, Protocol):
    """A store of results of cells and of parts of experiments, which can also run them."""

    def has(self, item: Cell | Part) -> bool:
        """Return whether a cell or a part has been run."""

    def run(self, item: Cell | Part) -> None:
        """Run a cell or a part, and store its result."""


class KeptResults:
    """All results since the page was opened."""

    def __init__(self) -> None:
        """Begin without results."""
        self._outcomes: dict[Cell, Outcome] = {}
        self._rows: dict[Part, tuple[LessonRow, ...]] = {}

    def has(self, item: Cell | Part) -> bool:
        """Return whether a cell or a part has been run."""
        return item in (self._rows if isinstance(item, Part) else self._outcomes)

    def run(self, item: Cell | Part) -> None:
        """Run a cell or a part of an experiment, and store its outcome."""
        if isinstance(item, Part):
            self._rows[item] = run_part(item)
        else:
            self._outcomes[item] = run_cell(item)

    def outcomes(self, scenario: Scenario) -> Sequence[Outcome]:
        """Return the outcomes of all cells of a scenario, which must have run."""
        return [self._outcomes[cell] for cell in cells(scenario)]

    def rows(self, part: Part) -> tuple[LessonRow, ...]:
        """Return the rows of a part, which must have run."""
        return self._rows[part]


class Lessons:
    """The lessons of a visit: the current step, the answers, and the results."""

    def __init__(self, results: Results | None = None, path: LessonPath | None = None) -> None:
        """Begin at the first step, with the given results and path or empty ones."""
        self.results: Results = KeptResults() if results is None else results
        self.path = path or LessonPath()
        self.view = VIEW.default
        self.wrong: list[str] = []
        self._queue_runs()

    # -- the visitor's actions ------------------------------------------------------------------

    def open(self, query: str) -> None:
        """Show the step that an address's query names, and keep the query's errors."""
        view, wrong = VIEW.from_query(parameters(query))
        self._set(view)
        self.wrong = wrong

    def go(self, step: str) -> None:
        """Show the step with this slug."""
        self._set(replace(self.view, lesson=step))

    def run(self, slug: str, answer: int) -> None:
        """Record a prediction, given by the index of an answer, and queue its lesson's runs.

        Raises `InvalidInput` for an unknown lesson or index.
        """
        require(slug in SLUGS, "lesson", "the name of a lesson", slug)
        answers = BY_SLUG[slug].answers
        must = f"a number from 0 to {len(answers) - 1}"
        require(0 <= answer < len(answers), "answer", must, answer)
        self.path.predict(slug, answers[answer])
        self._set(replace(self.path.answer(slug, self.view), lesson=slug))

    def say(self, sentence: str) -> None:
        """Store the sentence that the visitor will hand in."""
        self._set(replace(self.view, sentence=sentence))

    def reply(self, number: int, text: str) -> None:
        """Store the visitor's text as the reply to the assignment's question of this index."""
        last_number = len(self.view.question_texts) - 1
        require(0 <= number <= last_number, "question", f"a number from 0 to {last_number}", number)
        self._set(self.view.reply(number, text))

    def forget(self) -> None:
        """Remove all answers and texts of the visitor, but not the results of runs."""
        self._set(self.path.forget(self.view))

    def _set(self, view: LessonsView) -> None:
        """Show a view of the lessons, and queue the runs that it needs."""
        view = view.validate()
        # The links of the start page are views of this page, and assignments cannot be made here,
        # so both steps are replaced by the first lesson.
        is_lesson = view.lesson not in (START, ASSIGN)
        self.view = view if is_lesson else replace(view, lesson=SLUGS[0]).validate()
        self.wrong = []
        self._queue_runs()

    def _queue_runs(self) -> None:
        """Queue the runs: those of the current step first, then those of the other answers."""
        answers, step = self.view.predictions(), self.view.lesson
        items_of_step: list[Cell | Part] = (
            [] if step == HAND_IN else work(BY_SLUG[step], is_preview=True)
        )
        items_of_step += work(BY_SLUG[step]) if step in answers else []
        other_items = [item for slug in answers if slug != step for item in work(BY_SLUG[slug])]
        every_item = dict.fromkeys([*items_of_step, *other_items])
        self.all, self._items_of_step = len(every_item), dict.fromkeys(items_of_step)
        self.todo = [item for item in every_item if not self.results.has(item)]
        self._is_drawn = False

    # -- the runs ---------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether cells or parts of experiments are still to be run."""
        return bool(self.todo)

    def step(self, seconds: float) -> bool:
        """Run cells for some seconds, at least one; return whether any are left."""
        deadline = time.monotonic() + seconds
        while self.todo:
            self.results.run(self.todo.pop(0))
            if time.monotonic() > deadline:
                break
        return bool(self.todo)

    def due(self) -> bool:
        """Return whether there is something new to draw; a lesson shows only complete runs."""
        return not self.todo or not (self._is_drawn or self._is_incomplete())

    def _is_incomplete(self) -> bool:
        """Return whether cells or parts of the current step have not run yet."""
        return any(item in self._items_of_step for item in self.todo)

    # -- the screen -----------------------------------------------------------------------------

    @property
    def address(self) -> str:
        """The parameters of a link to the step, which is named even if it is the first."""
        query = {"lesson": self.view.lesson} | VIEW.to_query(self.view)
        return urlencode(query, safe=",:")

    def _measured(self, lesson: Lesson, *, is_before: bool) -> LessonEvidence | None:
        """Return the evidence of a lesson, or of its preview if it `is_before` the lesson's run.

        The answer is None while cells are missing.
        """
        if not all(map(self.results.has, work(lesson, is_preview=is_before))):
            return None
        return measure(lesson, self.results, is_preview=is_before)

    def answered(self, slug: str) -> Answered | None:
        """Return a lesson with its verdict; None unless it was answered and all of it has run."""
        is_whole = all(map(self.results.has, work(BY_SLUG[slug])))
        return self.path.answered(slug, self.view, self.results) if is_whole else None

    def screen(self, theme: Theme) -> dict[str, Any]:
        """Return everything that the page shows, as plain values."""
        step, self._is_drawn = self.view.lesson, not self._is_incomplete()
        parts_of_step = (
            self._hand_in_screen(theme)
            if step == HAND_IN
            else self._lesson_screen(BY_SLUG[step], theme)
        )
        frame = {
            "lesson": step,
            "steps": parts.steps(self.view),
            "forget": bool(self.view.answers),
            "address": self.address,
            "wrong": self.wrong,
            "status": self.status(),
            "done": not self.todo,
        }
        values: dict[str, Any] = json_value(parts_of_step | frame)
        return values

    def _lesson_screen(self, lesson: Lesson, theme: Theme) -> dict[str, Any]:
        """Return the parts of a lesson's screen by name, before or after its run."""
        slug, words = lesson.slug, lesson.words
        run, answers = self.answered(slug), self.view.predictions()
        evidence = self._measured(lesson, is_before=True) if run is None else run.evidence
        finding = None if run is None else run.finding
        title = words.preview_title if finding is None else finding.headline
        charts, handle_data = [], None
        if evidence is not None:
            charts_shown = figures(lesson, evidence, title, has_run=run is not None)
            places = zip(charts_shown, heights(len(charts_shown)), strict=True)
            charts = [_chart(figure, theme, height) for figure, height in places]
        if evidence is not None and lesson.numbers:
            handle_data = handle(lesson, evidence, answers.get(slug), finding)
            handle_data |= {"figure": FIGURE, "colours": handle_colours(lesson, theme)}
        spots = None
        if evidence is not None and lesson.spots:
            spots = choices_in_figure(lesson, answers.get(slug), theme) | {"figure": FIGURE}
        return {
            "head": head_html(step_name(slug), [title], [], theme),
            "figures": charts,
            "text": f"<p>{parts.prose_html(words.text)}</p>",
            "choices": parts.choices_html(lesson, answers.get(slug)),
            "handle": handle_data,
            "spots": spots,
            "predicted": None if slug not in answers else lesson.answers.index(answers[slug]),
            "verdict": "" if run is None else parts.verdict(run),
            "reason": "" if run is None else parts.reason(lesson, self._next_step),
            "links": parts.ways_on(lesson),
            "score": escape(progress_text(self.all_answered(), self.view)),
            "report": "",
        }

    def _hand_in_screen(self, theme: Theme) -> dict[str, Any]:
        """Return the parts of the screen of handing in by name, the same as those of a lesson."""
        answered = self.all_answered()
        return {
            "head": head_html(HANDED_IN, [progress_text(answered, self.view)], [], theme),
            "figures": [],
            "text": "",
            "choices": "",
            "handle": None,
            "spots": None,
            "predicted": None,
            "verdict": "",
            "reason": "",
            "links": "",
            "score": "",
            "report": parts.handed_in(answered, self.view),
        }

    @property
    def _next_step(self) -> str:
        """The slug of the step that follows the current one."""
        return self.view.steps[self.view.steps.index(self.view.lesson) + 1]

    def all_answered(self) -> list[Answered]:
        """Return every lesson of the path that was answered and has run, in its order."""
        return [run for slug in self.view.lessons if (run := self.answered(slug)) is not None]

    def status(self) -> str:
        """Return the status line: how many runs have finished, or what the visitor can do next."""
        if self.todo:
            return RUNNING.format(done=f"{self.all - len(self.todo):,}", all=f"{self.all:,}")
        answered = self.view.lesson == HAND_IN or self.view.lesson in self.view.predictions()
        return LESSON_LIVE if answered else LESSON_PREDICT


def _chart(figure: Figure, theme: Theme, height: int) -> dict[str, Any]:
    """Return a figure in the page's form, with its ladder of numbers as a table.

    `height` is the height in pixels in a wide place; a phone has its own.
    """
    size = theme.size
    if size.ladder:
        right = room_for_names(figure) if figure.ladder.rows else 20
        theme = replace(theme, size=replace(size, right=right, height=height))
    table = ladder_table(figure, theme) if figure.ladder.rows else ""
    return {"alt": figure.alt, "table": table, **plotly(figure, theme)}


def lesson_theme(width: float, *, dark: bool) -> Theme:
    """Return the theme and size of a lesson's figures for a place `width` pixels wide."""
    return Theme(dark=dark, size=SIDE if width > SIDE_WIDTH else PHONE)
