"""The lessons of the page without a server: predict, run in the browser, verdict.

A plain class: whoever hosts it tells it what a visitor does, lets it work between two moves, and
shows its screen. Results come from a `Results`, by default those that are run here.
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
from dpsco_app.lessons.report import HANDED_IN, Answered, progress
from dpsco_app.lessons.view import ASSIGN, HAND_IN, START, LessonsView
from dpsco_app.static_page import lesson_parts as parts
from dpsco_app.static_page.screen import plain
from dpsco_app.static_page.words import LESSON_LIVE, LESSON_PREDICT, RUNNING
from dpsco_core.base.errors import require
from dpsco_core.explain.lessons import LessonRow, Part, run_part
from dpsco_core.runs.study import Cell, Outcome, cells, run_cell
from dpsco_core.scenario import Scenario

FIGURE = "learn_figure"  # names the place of the figure, for the handle in it
# A figure beside the text has less room than one that fills the page.
SIDE = replace(WIDE, width=780, height=HEIGHT, left=58, top=TOP)
PHONE = replace(COMPACT, left=54)
SIDE_WIDTH = 560  # pixels; a narrower place gets the figures for phones
VIEW = Address(default=LessonsView(lesson=SLUGS[0]))


class Results(LessonResults, Protocol):
    """The results of cells and parts, which an implementation stores."""

    def has(self, item: Cell | Part) -> bool:
        """Whether a cell or a part has been run."""

    def run(self, item: Cell | Part) -> None:
        """Run a cell or a part, and keep what it gives."""


class KeptResults:
    """The results since the page was opened."""

    def __init__(self) -> None:
        self._outcomes: dict[Cell, Outcome] = {}
        self._rows: dict[Part, tuple[LessonRow, ...]] = {}

    def has(self, item: Cell | Part) -> bool:
        return item in (self._rows if isinstance(item, Part) else self._outcomes)

    def run(self, item: Cell | Part) -> None:
        if isinstance(item, Part):
            self._rows[item] = run_part(item)
        else:
            self._outcomes[item] = run_cell(item)

    def outcomes(self, scenario: Scenario) -> Sequence[Outcome]:
        return [self._outcomes[cell] for cell in cells(scenario)]

    def rows(self, part: Part) -> tuple[LessonRow, ...]:
        return self._rows[part]


class Lessons:
    """The lessons of a visit: which step is shown, what was answered, and what has run."""

    def __init__(self, results: Results | None = None, path: LessonPath | None = None) -> None:
        self.results: Results = KeptResults() if results is None else results
        self.path = path or LessonPath()
        self.view = VIEW.default
        self.wrong: list[str] = []
        self._ask()

    # -- what a visitor does ----------------------------------------------------------------

    def open(self, query: str) -> None:
        """Show what an address says."""
        view, wrong = VIEW.from_query(parameters(query))
        self._set(view)
        self.wrong = wrong

    def go(self, step: str) -> None:
        """Show another step."""
        self._set(replace(self.view, lesson=step))

    def run(self, slug: str, answer: int) -> None:
        """Take over a prediction, the number of one of the answers, and run its lesson."""
        require(slug in SLUGS, "lesson", "the name of a lesson", slug)
        answers = BY_SLUG[slug].answers
        must = f"a number from 0 to {len(answers) - 1}"
        require(0 <= answer < len(answers), "answer", must, answer)
        self.path.predict(slug, answers[answer])
        self._set(replace(self.path.answer(slug, self.view), lesson=slug))

    def say(self, sentence: str) -> None:
        """Keep the sentence that is handed in."""
        self._set(replace(self.view, sentence=sentence))

    def reply(self, number: int, text: str) -> None:
        """Keep the answer to a question of the assignment."""
        last_number = len(self.view.question_texts) - 1
        require(0 <= number <= last_number, "question", f"a number from 0 to {last_number}", number)
        self._set(self.view.reply(number, text))

    def forget(self) -> None:
        """Forget all answers and the sentence; what has run stays known."""
        self._set(self.path.forget(self.view))

    def _set(self, view: LessonsView) -> None:
        view = view.validate()
        # The doors of the dashboard are the other views of this page; it makes no assignments.
        is_lesson = view.lesson not in (START, ASSIGN)
        self.view = view if is_lesson else replace(view, lesson=SLUGS[0]).validate()
        self.wrong = []
        self._ask()

    def _ask(self) -> None:
        """Note what is to be run: for the step that is shown first, then for the other answers."""
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
        return bool(self.todo)

    def step(self, seconds: float) -> bool:
        """Run cells for some seconds, at least one; return whether there are more."""
        deadline = time.monotonic() + seconds
        while self.todo:
            self.results.run(self.todo.pop(0))
            if time.monotonic() > deadline:
                break
        return bool(self.todo)

    def due(self) -> bool:
        """Whether there is something new to draw: a lesson shows whole runs only."""
        return not self.todo or not (self._is_drawn or self._is_incomplete())

    def _is_incomplete(self) -> bool:
        """Whether cells of the step that is shown are missing."""
        return any(item in self._items_of_step for item in self.todo)

    # -- what is drawn ----------------------------------------------------------------------

    @property
    def address(self) -> str:
        """The parameters of a link to the step; it is named where the first one is shown, too."""
        query = {"lesson": self.view.lesson} | VIEW.to_query(self.view)
        return urlencode(query, safe=",:")

    def _measured(self, lesson: Lesson, *, is_before: bool) -> LessonEvidence | None:
        """Return the evidence of a lesson or of its preview; None while cells are missing."""
        if not all(map(self.results.has, work(lesson, is_preview=is_before))):
            return None
        return measure(lesson, self.results, is_preview=is_before)

    def answered(self, slug: str) -> Answered | None:
        """Return a lesson that was answered and has run."""
        is_whole = all(map(self.results.has, work(BY_SLUG[slug])))
        return self.path.answered(slug, self.view, self.results) if is_whole else None

    def screen(self, theme: Theme) -> dict[str, Any]:
        """Return all that the page shows, as plain values."""
        step, self._is_drawn = self.view.lesson, not self._is_incomplete()
        parts_of_step = (
            self._hand_in(theme) if step == HAND_IN else self._lesson(BY_SLUG[step], theme)
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
        values: dict[str, Any] = plain(parts_of_step | frame)
        return values

    def _lesson(self, lesson: Lesson, theme: Theme) -> dict[str, Any]:
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
            "text": f"<p>{parts.prose(words.text)}</p>",
            "choices": parts.choices(lesson, answers.get(slug)),
            "handle": handle_data,
            "spots": spots,
            "predicted": None if slug not in answers else lesson.answers.index(answers[slug]),
            "verdict": "" if run is None else parts.verdict(run),
            "reason": "" if run is None else parts.reason(lesson, self._follower),
            "links": parts.ways_on(lesson),
            "score": escape(progress(self.all_answered(), self.view)),
            "report": "",
        }

    def _hand_in(self, theme: Theme) -> dict[str, Any]:
        answered = self.all_answered()
        return {
            "head": head_html(HANDED_IN, [progress(answered, self.view)], [], theme),
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
    def _follower(self) -> str:
        """The step after the one that is shown."""
        return self.view.steps[self.view.steps.index(self.view.lesson) + 1]

    def all_answered(self) -> list[Answered]:
        """Return every lesson of the path that was answered and has run, in its order."""
        return [run for slug in self.view.lessons if (run := self.answered(slug)) is not None]

    def status(self) -> str:
        """Return how far the runs are, or what comes next."""
        if self.todo:
            return RUNNING.format(done=f"{self.all - len(self.todo):,}", all=f"{self.all:,}")
        answered = self.view.lesson == HAND_IN or self.view.lesson in self.view.predictions()
        return LESSON_LIVE if answered else LESSON_PREDICT


def _chart(figure: Figure, theme: Theme, height: int) -> dict[str, Any]:
    """Return a figure as the page draws it, with its ladder as a table.

    `height` is that of a wide place, in pixels; a phone has its own.
    """
    size = theme.size
    if size.ladder:
        right = room_for_names(figure) if figure.ladder.rows else 20
        theme = replace(theme, size=replace(size, right=right, height=height))
    table = ladder_table(figure, theme) if figure.ladder.rows else ""
    return {"alt": figure.alt, "table": table, **plotly(figure, theme)}


def lesson_theme(width: float, *, dark: bool) -> Theme:
    """Return the theme and the size of a lesson's figures for a place of so many pixels."""
    return Theme(dark=dark, size=SIDE if width > SIDE_WIDTH else PHONE)
