"""What the page Learn holds: step and answers in its address, measurements in the session."""

from collections.abc import Sequence

import streamlit as st

from dpsco_app.lessons import measure as lessons
from dpsco_app.lessons.findings import LessonEvidence, LessonFinding
from dpsco_app.lessons.lessons import BY_SLUG, SLUGS, Answer, Lesson, judge
from dpsco_app.lessons.report import Answered
from dpsco_app.lessons.view import LessonsView, answers_text
from dpsco_app.live.running import run_here
from dpsco_app.shell.page_state import PageState
from dpsco_core.explain.lessons import LessonRow, Part, run_part
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

MEASURED, PREDICTIONS = "learn_measured", "learn_predictions"
STATE = PageState(name="learn", default=LessonsView())


# -- measuring ----------------------------------------------------------------------------------

# The rows of a part, from the cache if any session has run it before.
_rows_of = st.cache_data(max_entries=1000, show_spinner=False, hash_funcs={Part: repr})(run_part)


class RunHere:
    """Runs what a lesson asks for, in the middle of a page."""

    def outcomes(self, scenario: Scenario) -> Sequence[Outcome]:
        return run_here(scenario)

    def rows(self, part: Part) -> tuple[LessonRow, ...]:
        return _rows_of(part)


def measure(lesson: Lesson, *, before: bool = False) -> LessonEvidence:
    """Run a lesson, or what it shows `before` its run, in the middle of a page."""
    return lessons.measure(lesson, RunHere(), before=before)


# -- the session --------------------------------------------------------------------------------


def measured() -> dict[str, tuple[LessonEvidence, LessonFinding]]:
    kept: dict[str, tuple[LessonEvidence, LessonFinding]] = st.session_state.setdefault(
        MEASURED, {}
    )
    return kept


def answered(slug: str, prediction: Answer) -> Answered:
    """Return what a lesson measured, which is measured here if this session has not yet."""
    lesson, kept = BY_SLUG[slug], measured()
    if slug not in kept:
        evidence = measure(lesson)
        kept[slug] = evidence, lesson.find(evidence)
    evidence, finding = kept[slug]
    return Answered(
        lesson=lesson,
        prediction=prediction,
        evidence=evidence,
        finding=finding,
        verdict=judge(lesson, prediction, finding),
    )


def all_answered(view: LessonsView) -> list[Answered]:
    """Return every lesson that has been run, in the order of the lessons."""
    given = view.given()
    return [answered(slug, given[slug]) for slug in SLUGS if slug in given]


def prediction_of(slug: str) -> Answer | None:
    """Return what is predicted of a lesson, whether it has been run or not."""
    predictions: dict[str, Answer] = st.session_state.get(PREDICTIONS, {})
    return predictions.get(slug, STATE.current().given().get(slug))


def predict(slug: str, answer: Answer) -> None:
    st.session_state.setdefault(PREDICTIONS, {})[slug] = answer


def press_run(slug: str) -> None:
    """Run a lesson with the prediction that stands; a callback."""
    prediction = prediction_of(slug)
    assert prediction is not None, "the button is off until there is one"
    given = STATE.current().given() | {slug: prediction}
    STATE.change({"answers": answers_text(given)})


def choose(slug: str) -> None:
    """Take over what was chosen from a list; a callback."""
    predict(slug, st.session_state[prediction_key(slug)])


def take_answer(slug: str) -> None:
    """Take over what was answered in the figure; a callback."""
    predict(slug, BY_SLUG[slug].answers[int(st.session_state[prediction_key(slug)]["answer"])])


def forget() -> None:
    st.session_state.pop(MEASURED, None)
    st.session_state.pop(PREDICTIONS, None)
    STATE.change({"answers": "", "sentence": ""})


def prediction_key(slug: str) -> str:
    return f"learn_predict_{slug}"
