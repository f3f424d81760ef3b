"""The state of the page Learn: step and answers in its address, the path in the session."""

from collections.abc import Callable, Sequence

import streamlit as st

from dpsco_app.lessons import measure as lessons
from dpsco_app.lessons.findings import LessonEvidence
from dpsco_app.lessons.lessons import BY_SLUG, Answer, Lesson
from dpsco_app.lessons.path import LessonPath
from dpsco_app.lessons.report import Answered
from dpsco_app.lessons.view import START, LessonsView
from dpsco_app.runs.running import run_here
from dpsco_app.session.computed import rows_of
from dpsco_app.shell import visit
from dpsco_app.shell.page_state import PageState
from dpsco_core.explain.lessons import LessonRow, Part
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

STATE = PageState(name="learn", default=LessonsView(), lists=("tasks",))
CLICKED = "learn_clicked"  # The session key of the choice that was clicked in a figure.


class RunHere:
    """Run the cells and experiments of a lesson while a page is drawn."""

    def outcomes(self, scenario: Scenario) -> Sequence[Outcome]:
        """Return the outcomes of a scenario, which is run here if it has not been."""
        return run_here(scenario)

    def rows(self, part: Part) -> tuple[LessonRow, ...]:
        """Return the rows of a part of a lesson, which is run here if it has not been."""
        return rows_of(part)


def measure(lesson: Lesson, *, is_preview: bool = False) -> LessonEvidence:
    """Run a lesson, or only its preview, while a page is drawn."""
    return lessons.measure(lesson, RunHere(), is_preview=is_preview)


def path() -> LessonPath:
    """Return the visitor's path through the lessons."""
    return visit.current().lessons


def answered(slug: str, view: LessonsView) -> Answered | None:
    """Return a lesson that was answered, running it if need be; None if it was not answered."""
    return path().answered(slug, view, RunHere())


def all_answered(view: LessonsView) -> list[Answered]:
    """Return every lesson that was answered, in the order of the lessons."""
    return path().all_answered(view, RunHere())


def prediction_of(slug: str) -> Answer | None:
    """Return the prediction for a lesson, run or not; None if there is none."""
    return path().prediction(slug, STATE.current())


def press_run(slug: str) -> None:
    """Run a lesson with the present prediction; a callback."""
    _apply(lambda view: path().answer(slug, view))


def choose(slug: str) -> None:
    """Store the choice that the visitor made in the list of a lesson; a callback."""
    path().predict(slug, st.session_state[prediction_key(slug)])


def click(slug: str) -> None:
    """Store the choice that was clicked in a lesson's figure as the prediction; a callback."""
    _take(slug, st.session_state[CLICKED]["choice"])


def take_answer(slug: str) -> None:
    """Store the number that was chosen in a lesson's figure as the prediction; a callback."""
    _take(slug, st.session_state[prediction_key(slug)]["answer"])


def _take(slug: str, number: float) -> None:
    """Store the answer with this index as the prediction for a lesson."""
    path().predict(slug, BY_SLUG[slug].answers[int(number)])


def leave_assignment() -> None:
    """Leave an assignment, so that all lessons are shown again; a callback."""
    STATE.change({"tasks": "", "questions": "", "replies": "", "lesson": START})


def forget() -> None:
    """Remove all predictions, findings and texts of the visitor; a callback."""
    _apply(path().forget)


def _apply(change: Callable[[LessonsView], LessonsView]) -> None:
    """Replace the view of the lessons by what the function `change` makes of the present one."""
    view = change(STATE.current())
    STATE.change({name: getattr(view, name) for name in STATE.names})


def prediction_key(slug: str) -> str:
    """Return the key of the widget for a lesson's prediction."""
    return f"learn_predict_{slug}"
