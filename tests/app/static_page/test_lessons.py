"""The lessons of the page without a server: a plain class that runs lessons and shows a screen."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl

import pytest

from dpsco_app.figure.plotly_script import TRACES
from dpsco_app.lessons.lessons import BY_SLUG, LESSONS, SLUGS
from dpsco_app.lessons.measure import measure
from dpsco_app.lessons.verdict import judge
from dpsco_app.lessons.view import HAND_IN, STEPS, LessonsView
from dpsco_app.lessons.words import WORDS
from dpsco_app.pages.learn.state import STATE
from dpsco_app.static_page.lesson_parts import prose_html
from dpsco_app.static_page.lessons import SIDE_WIDTH, VIEW, KeptResults, Lessons, lesson_theme
from dpsco_app.static_page.page import OF_LESSONS, LivePage
from dpsco_app.static_page.words import CURVES
from dpsco_app.static_page.words import LESSONS as TAUGHT
from dpsco_core.base.errors import InvalidInput
from dpsco_core.explain import lessons as experiments
from dpsco_core.explain.lessons import Part
from dpsco_core.runs.study import Cell, study
from tests.app.places.test_learn import shorten_lesson

WIDE, PHONE = (lesson_theme(width, dark=False) for width in (SIDE_WIDTH + 1, SIDE_WIDTH))


@pytest.fixture
def short_lessons(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every lesson short."""
    for lesson in LESSONS:
        monkeypatch.setitem(BY_SLUG, lesson.slug, shorten_lesson(lesson))
        if lesson.experiment is not None:
            monkeypatch.setitem(experiments.TRIALS, lesson.experiment, 2)


def finish(lessons: Lessons) -> dict[str, Any]:
    """Work until all lessons are computed; return the screen."""
    while lessons.step(10.0):
        pass
    return lessons.screen(WIDE)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_lesson_is_predicted_run_and_judged_with_the_numbers_of_the_library(
    short_lessons: None, slug: str
) -> None:
    lesson, lessons = BY_SLUG[slug], Lessons()
    lessons.go(slug)
    unanswered = finish(lessons)
    assert (
        lesson.words.preview_title in unanswered["head"]
        and unanswered["verdict"] == unanswered["reason"] == ""
    )
    assert bool(unanswered["handle"]) == bool(lesson.numbers) != bool(unanswered["choices"])
    assert (unanswered["predicted"] is None and not unanswered["handle"]) or not unanswered[
        "handle"
    ]["trials"]
    assert bool(unanswered["spots"]) == bool(lesson.spots)
    lessons.run(slug, 1)
    answered = finish(lessons)
    assert answered["spots"] is None or answered["spots"]["chosen"] == 1
    results = KeptResults()
    for item in lessons._items_of_step:
        results.run(item)
    finding = lesson.find(measure(lesson, results))
    verdict = judge(lesson, lesson.answers[1], finding).sentence
    assert finding.headline in answered["head"].replace("&#x27;", "'")
    assert verdict.replace("**", "") in answered["verdict"].replace("<b>", "").replace("</b>", "")
    follower = STEPS[STEPS.index(slug) + 1]
    assert "Why." in answered["reason"] and f"data-step='{follower}'" in answered["reason"]
    assert answered["predicted"] == 1 and answered["done"] and "1 of 15" in answered["score"]
    if lesson.numbers:
        assert answered["handle"]["measured"] and answered["handle"]["trials"]


@pytest.mark.parametrize("slug", SLUGS)
def test_every_figure_of_a_lesson_has_only_traces_that_the_script_draws(
    short_lessons: None, slug: str
) -> None:
    lessons = Lessons()
    lessons.go(slug)
    finish(lessons)
    for answered in (False, True):
        if answered:
            lessons.run(slug, 0)
            finish(lessons)
        for theme in (WIDE, PHONE):
            figures = lessons.screen(theme)["figures"]
            types = {trace["type"] for figure in figures for trace in figure["data"]}
            assert len(figures) == 1 + (slug == "epsilon") and types and types <= set(TRACES)
            assert all(("heard" in figure["table"]) == (theme is WIDE) for figure in figures)


def test_before_its_run_a_lesson_shows_nothing_that_it_asks_for(short_lessons: None) -> None:
    for slug, lesson in BY_SLUG.items():
        lessons = Lessons()
        lessons.go(slug)
        finish(lessons)
        cells = [item for item in lessons._items_of_step if isinstance(item, Cell)]
        unseen = set(lesson.scenario.methods) - set(lesson.preview_methods)
        for cell in cells:
            is_start = lesson.start_method == cell.method and cell.x == lesson.scenario.grid[0]
            is_second_set = (
                lesson.second_scenario is not None
                and cell.point.geometry == lesson.second_scenario.geometry
            )
            assert cell.method not in unseen or is_start or is_second_set, (slug, cell)


class Canned:
    """Results that another host has already computed."""

    def __init__(self) -> None:
        """Begin without any item run."""
        self.items_run: list[Cell | Part] = []

    def has(self, item: Cell | Part) -> bool:
        """Say that every item has run."""
        return True

    def run(self, item: Cell | Part) -> None:
        """Note the item that would run."""
        self.items_run.append(item)

    def outcomes(self, scenario: Any) -> Sequence[Any]:
        """Run a scenario at once."""
        return list(study(scenario))

    def rows(self, part: Part) -> tuple[experiments.LessonRow, ...]:
        """Run a part of an experiment at once."""
        return experiments.run_part(part)


def test_the_results_can_come_from_another_host(short_lessons: None) -> None:
    results = Canned()
    lessons = Lessons(results)
    lessons.run("noise", 3)
    screen = lessons.screen(WIDE)
    assert screen["done"] and "You predicted" in screen["verdict"] and results.items_run == []
    assert lessons.todo == [] and not lessons.step(0.0)


def test_a_step_of_work_ends_in_time_and_keeps_its_results(short_lessons: None) -> None:
    lessons = Lessons()
    lessons.run("noise", 0)
    total = lessons.all
    assert lessons.step(0.0) and len(lessons.todo) == total - 1
    assert lessons.status() == f"1 of {total} runs"
    assert not lessons.screen(WIDE)["figures"] and not lessons.screen(WIDE)["done"]
    lessons.go("clipping")
    finish(lessons)
    lessons.go("noise")
    assert lessons.screen(WIDE)["verdict"] and lessons.todo == []


def test_the_step_that_is_shown_is_run_and_drawn_before_the_other_answers(
    short_lessons: None,
) -> None:
    lessons = Lessons()
    lessons.open("lesson=look&answers=noise:20,look:1.5")
    count_own, count_drawn = len(lessons._items_of_step), 0
    while not lessons.due():
        lessons.step(0.0)
        count_drawn += 1
    assert count_drawn == count_own < lessons.all
    screen = lessons.screen(WIDE)
    assert "You predicted" in screen["verdict"] and "1 of 15" in screen["score"]
    # Nothing is new until the other answers are measured.
    assert not screen["done"] and not lessons.due()
    assert "2 of 15" in finish(lessons)["score"] and lessons.due()


def test_an_address_opens_the_same_state_here_and_in_the_dashboard(short_lessons: None) -> None:
    lessons = Lessons()
    assert lessons.address == f"lesson={SLUGS[0]}"
    lessons.run("clipping", 1)
    lessons.say("Noise & bias; A. Student")
    lessons.go("noise")
    query = dict(parse_qsl(lessons.address))
    for address_kind in (VIEW, STATE):
        view, wrong = address_kind.from_query(query)
        assert (view, wrong) == (lessons.view, [])
    reopened = Lessons()
    reopened.open(lessons.address)
    assert reopened.view == lessons.view and reopened.address == lessons.address
    reopened.forget()
    assert reopened.address == "lesson=noise"


def test_the_doors_of_the_dashboard_are_the_first_lesson_here() -> None:
    lessons = Lessons()
    lessons.open("lesson=start")
    assert lessons.view == LessonsView(lesson=SLUGS[0]) and lessons.wrong == []
    assert (*SLUGS, HAND_IN) == STEPS


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda one: one.go("luck"), "lesson must be a number from 1 to 15"),
        (lambda one: one.run("luck", 0), "lesson must be the name of a lesson"),
        (lambda one: one.run("clipping", 3), "answer must be a number from 0 to 2, got answer=3."),
        (lambda one: one.say("x" * 301), "sentence must be at most 300 characters long"),
    ],
)
def test_an_invalid_action_is_refused_and_changes_nothing(act: Any, sentence: str) -> None:
    lessons = Lessons()
    with pytest.raises(InvalidInput, match=sentence):
        act(lessons)
    assert lessons.view == VIEW.default


def test_errors_in_a_lessons_address_are_reported() -> None:
    page = LivePage()
    page.handle(json.dumps([["open", "lesson=99&answers=clipping:never"]]))
    wrong = json.loads(page.shown(TAUGHT, 800, dark=False))["wrong"]
    assert len(wrong) == 2 and "lesson must be" in wrong[0] and "answers must be" in wrong[1]
    page.handle(json.dumps([["lesson", "go", "luck"]]))
    assert "lesson must be" in json.loads(page.shown(TAUGHT, 800, dark=False))["wrong"][0]


def test_the_student_hands_in_the_report_with_the_sentence(short_lessons: None) -> None:
    lessons = Lessons()
    lessons.run("clipping", 1)
    lessons.say("Noise <b>hides</b> one record")
    lessons.go(HAND_IN)
    screen = finish(lessons)
    assert "1 of 15 lessons answered" in screen["head"] and screen["figures"] == []
    assert screen["report"].count("Noise &lt;b&gt;hides&lt;/b&gt; one record") == 2
    assert "4. Clipping" in screen["report"] and "6. Error" not in screen["report"]


def test_the_lessons_and_the_visit_keep_their_own_state(short_lessons: None) -> None:
    page = LivePage()
    page.handle(json.dumps([["open", "epsilon=2&lesson=noise"], ["change", "d", 5]]))
    curves, taught = page.visit.address, page.lessons.address
    assert "d=5" in curves and taught == "lesson=noise"
    screen = json.loads(page.shown(TAUGHT, 800, dark=False))
    # The parameters of both views stay in the address.
    assert screen["address"] == f"{taught}&{curves}"
    page.handle(json.dumps([["open", "d=10"]]))  # A lesson links to its curves.
    assert page.visit.scenario.d == 10 and page.lessons.address == taught
    assert page.is_working(CURVES) and page.is_working(TAUGHT) and not page.is_working("picture")
    page.handle(json.dumps([["start", "the-hardest-data-known"]]))
    assert json.loads(page.shown(TAUGHT, 800, dark=False))["address"] == taught
    assert VIEW.names == OF_LESSONS


class Tags(HTMLParser):
    """Collects the tags that are open."""

    def __init__(self) -> None:
        """Begin without an open tag."""
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Note that a tag is open."""
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Check that the tag which ends is the last that was opened."""
        assert self.open.pop() == tag


@pytest.mark.parametrize("slug", SLUGS)
def test_the_words_of_a_lesson_are_shown_without_marks_of_a_formula(slug: str) -> None:
    words = WORDS[slug]
    for text in (words.text, words.explanation):
        html, tags = prose_html(text), Tags()
        tags.feed(html)
        assert tags.open == [] and not set("$\\{}^*") & set(html)


def test_the_lessons_need_neither_streamlit_nor_plotly_nor_pandas() -> None:
    script = (
        "import sys, json; from dpsco_app.static_page.page import *; page = LivePage()\n"
        "before = 'dpsco_app.static_page.lessons' in sys.modules\n"
        "page.handle(json.dumps([['lesson', 'run', 'heavy-tails', 0]]))\n"
        "while page.step('learn', 9): pass\n"
        "page.shown('learn', 700, dark=True)\n"
        "print(before, *sorted({'streamlit', 'plotly', 'pandas'} & set(sys.modules)))"
    )
    process = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (process.returncode, process.stdout.strip()) == (0, "False"), process.stderr


def test_the_path_is_that_of_the_session_as_on_the_dashboard(short_lessons: None) -> None:
    page = LivePage()
    page.handle(json.dumps([["lesson", "run", "noise", 3]]))
    finish(page.lessons)
    session = page.visit.session
    assert page.lessons.path is session.lessons and session.lessons.measured == 1
    assert session.lessons.prediction("noise", VIEW.default) == BY_SLUG["noise"].answers[3]
    page.handle(json.dumps([["lesson", "forget"]]))
    assert session.lessons.prediction("noise", page.lessons.view) is None
