"""What the page Learn holds: step and answers in its address, measurements in the session."""

from dataclasses import dataclass, replace
from typing import Self

import pandas as pd
import streamlit as st

from dpsco_app.live.running import run_here
from dpsco_app.pages.learn.findings import LessonEvidence, LessonFinding
from dpsco_app.pages.learn.lessons import BY_SLUG, SLUGS, Answer, Lesson, Verdict, judge
from dpsco_app.parts.evaluations import evaluations, starting_risks
from dpsco_app.shell.page_state import PageState, PageView
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import shorten, to_text
from dpsco_core.explain.lessons import Part, parts, run_part, series_table
from dpsco_core.problems import MeanEstimation
from dpsco_core.results.tables import frame, summary

MEASURED, PREDICTIONS = "learn_measured", "learn_predictions"
START, HAND_IN = "start", "hand-in"  # before the first lesson, and after the last
MOST = 300  # letters of a sentence


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    # the slug of a lesson, or its number from 1, which becomes the slug; or `START` or `HAND_IN`
    lesson: str = START
    answers: str = ""  # the predictions that have been run, as "clipping:some,noise:20"
    sentence: str = ""  # a sentence of the visitor, to be handed in

    def validate(self) -> Self:
        self.given()
        most = f"at most {MOST} letters long"
        require(len(self.sentence) <= MOST, "sentence", most, shorten(self.sentence))
        if self.lesson in (START, HAND_IN, *SLUGS):
            return self
        numbered = {str(i): slug for i, slug in enumerate(SLUGS, start=1)}
        must = f"a number from 1 to {len(SLUGS)}, or the name of a step"
        require(self.lesson in numbered, "lesson", must, shorten(self.lesson))
        return replace(self, lesson=numbered[self.lesson])

    def given(self) -> dict[str, Answer]:
        """Return the answers by lesson; raises `InvalidInput` for one that cannot be given."""
        answers: dict[str, Answer] = {}
        for part in filter(None, self.answers.split(",")):
            slug, _, text = part.partition(":")
            offered = {to_text(a): a for a in BY_SLUG[slug].answers} if slug in SLUGS else {}
            require(text in offered, "answers", "lessons with their answers", shorten(part))
            answers[slug] = offered[text]
        return answers


STATE = PageState(name="learn", default=View())


# -- measuring ----------------------------------------------------------------------------------

# The rows of a part, from the cache if any session has run it before.
_rows_of = st.cache_data(max_entries=1000, show_spinner=False, hash_funcs={Part: repr})(run_part)


def measure(lesson: Lesson, *, before: bool = False) -> LessonEvidence:
    """Run a lesson, or what it shows `before` its run, in the middle of a page."""
    if lesson.experiment is not None:
        rows = tuple(row for part in parts(lesson.experiment) for row in _rows_of(part))
        table = series_table(rows)
        shown = table[table["series"].isin(lesson.given)] if before else table
        return LessonEvidence(table=shown, rows=rows)
    scenario, other = lesson.scenario, lesson.other
    studies = [replace(scenario, methods=lesson.given) if before else scenario]
    if before and lesson.first:
        studies.append(replace(scenario, methods=(lesson.first,), grid=scenario.grid[:1]))
    errors = frame([outcome for study in studies for outcome in run_here(study)])
    learning = scenario.problem != MeanEstimation.card.slug
    floors = evaluations(scenario, (lesson.floor,)) if lesson.floor else []
    return LessonEvidence(
        table=_table(errors),
        errors=errors,
        beside=pd.DataFrame() if other is None else _table(frame(run_here(other))),
        floor={e.x: e.value for e in floors if e.x is not None},
        start={x: r for x, r in starting_risks(scenario) if x is not None} if learning else {},
    )


def _table(errors: pd.DataFrame) -> pd.DataFrame:
    """Return the summary of a study with the columns of an experiment's table."""
    columns = {"method": "series", "mean_error": "mean", "median_error": "median"}
    return summary(errors).rename(columns=columns)


# -- the session --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A lesson that has been run, for one prediction."""

    lesson: Lesson
    prediction: Answer
    evidence: LessonEvidence
    finding: LessonFinding
    verdict: Verdict


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


def all_answered(view: View) -> list[Answered]:
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
    given = STATE.current().given() | {slug: prediction_of(slug)}
    STATE.change({"answers": ",".join(f"{s}:{to_text(a)}" for s, a in given.items())})


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
