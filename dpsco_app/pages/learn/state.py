"""What the page Learn holds: the step in its address, predictions and runs in the session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import pandas as pd
import streamlit as st

from dpsco_app.live.running import Result, cached_cell, run
from dpsco_app.pages.learn.findings import LessonEvidence, LessonFinding
from dpsco_app.pages.learn.lessons import BY_SLUG, SLUGS, Answer, Lesson, Verdict, judge
from dpsco_app.parts.evaluations import evaluations, starting_risks
from dpsco_app.parts.options import HARDEST
from dpsco_app.shell.page_state import PageState, PageView
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import shorten, to_text
from dpsco_core.explain.lessons import LessonRow, Part, parts, run_part, series_table
from dpsco_core.problems import MeanEstimation
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.study import Outcome, cells
from dpsco_core.scenario import Scenario

RUNS, RUNNING, PREDICTIONS = "learn_runs", "learn_running", "learn_predictions"
LANDED = "learn_landed"  # how many runs have ended in this session
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
        must = f"a number from 1 to {len(SLUGS)}, or one of {', '.join((START, HAND_IN, *SLUGS))}"
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


@dataclass
class LessonRun:
    """What has been run of a lesson, for one prediction; kept in the session."""

    lesson: Lesson
    prediction: Answer
    measured: LessonEvidence | None = None
    landing: int = 0  # the number of this run while its trials have yet to be seen landing
    taken_up: bool = False  # from an address

    @property
    def done(self) -> bool:
        return self.measured is not None

    def steps(self) -> Iterator[tuple[float, str]]:
        """Run what no run has left in the cache; yield the share that is done, and what is left."""
        if self.lesson.experiment is None:
            other = other_set(self.lesson)
            beside = None if other is None else Result(other)
            result = Result(self.lesson.scenario, beside=beside)
            for done, left in run(result):
                yield done / result.cells, left
            second = [] if beside is None else beside.outcomes
            self.measured = evidence(self.lesson, result.outcomes, second)
            return
        todo, rows = parts(self.lesson.experiment), list[LessonRow]()
        for i, part in enumerate(todo, start=1):
            rows += _rows_of(part)
            yield i / len(todo), f"{i} of {len(todo)} repetitions"
        self.measured = LessonEvidence(table=series_table(rows), rows=tuple(rows))

    @property
    def evidence(self) -> LessonEvidence:
        """What the finished run has measured."""
        assert self.measured is not None
        return self.measured

    @cached_property
    def finding(self) -> LessonFinding:
        return self.lesson.find(self.evidence)

    @property
    def verdict(self) -> Verdict:
        return judge(self.lesson, self.prediction, self.finding)


def evidence(
    lesson: Lesson, outcomes: Sequence[Outcome], beside: Sequence[Outcome]
) -> LessonEvidence:
    """Return what the outcomes of a lesson's study say."""
    errors, scenario = frame(outcomes), lesson.scenario
    learning = scenario.problem != MeanEstimation.card.slug
    floors = evaluations(scenario, (lesson.floor,)) if lesson.floor else []
    return LessonEvidence(
        table=summary(errors),
        errors=errors,
        beside=summary(frame(beside)) if beside else pd.DataFrame(),
        floor={e.x: e.value for e in floors if e.x is not None},
        start={x: r for x, r in starting_risks(scenario) if x is not None} if learning else {},
    )


def evidence_before(
    lesson: Lesson, outcomes: Sequence[Outcome], beside: Sequence[Outcome] = ()
) -> LessonEvidence:
    if lesson.experiment is None:
        return evidence(lesson, outcomes, beside)
    rows = tuple(row for part in parts(lesson.experiment) for row in _rows_of(part))
    table = series_table(rows)
    return LessonEvidence(table=table[table["series"].isin(lesson.given)], rows=rows)


def other_set(lesson: Lesson) -> Scenario | None:
    """Return the scenario on the set that is drawn beside, if there is one."""
    if lesson.against == HARDEST:
        return None
    return replace(lesson.scenario, geometry=lesson.against, q=None)


# The rows of a part, from the cache if any session has run it before.
_rows_of = st.cache_data(max_entries=1000, show_spinner=False, hash_funcs={Part: repr})(run_part)


def given(lesson: Lesson) -> Iterator[tuple[list[Outcome], list[Outcome]]]:
    """Run the methods that a lesson shows before its run; yield what is there after each cell."""
    scenario, other = lesson.scenario, other_set(lesson)
    own, beside = list(cells(replace(scenario, methods=lesson.given))), []
    if lesson.first:
        first = cells(replace(scenario, methods=(lesson.first,)))
        own += [cell for cell in first if cell.x == scenario.grid[0]]
    if other is not None:
        beside = list(cells(replace(other, methods=lesson.given_beside)))
    outcomes: tuple[list[Outcome], list[Outcome]] = ([], [])
    for into, todo in zip(outcomes, (own, beside), strict=True):
        for cell in todo:
            into.append(cached_cell(cell))
            yield outcomes


# -- the session --------------------------------------------------------------------------------


def answered() -> list[LessonRun]:
    """Return the runs that are done, in the order of the lessons."""
    return [run for slug in SLUGS if (run := runs().get(slug)) is not None and run.done]


def runs() -> dict[str, LessonRun]:
    kept: dict[str, LessonRun] = st.session_state.setdefault(RUNS, {})
    return kept


def predictions() -> dict[str, Any]:
    kept: dict[str, Any] = st.session_state.setdefault(PREDICTIONS, {})
    return kept


def press_run(slug: str) -> None:
    """Start the run of a lesson with the prediction that stands; a callback."""
    prediction = predictions()[slug]
    started = runs().setdefault(slug, LessonRun(lesson=BY_SLUG[slug], prediction=prediction))
    started.prediction = prediction  # what has run stays
    st.session_state[RUNNING] = slug
    given = {s: run.prediction for s, run in runs().items()}
    STATE.change({"answers": ",".join(f"{s}:{to_text(a)}" for s, a in given.items())})


def take_up(view: View) -> None:
    """Take up the answers of the address that this session does not know, as after a reload."""
    for slug, answer in view.given().items():
        if slug not in runs():
            predictions()[slug] = answer
            runs()[slug] = LessonRun(lesson=BY_SLUG[slug], prediction=answer, taken_up=True)
            if slug == view.lesson:
                st.session_state[RUNNING] = slug


def choose(slug: str) -> None:
    """Take over what was chosen beside the figure; a callback."""
    predictions()[slug] = st.session_state[prediction_key(slug)]


def take_answer(slug: str, key: str) -> None:
    """Take over what was answered in the figure; a callback."""
    predictions()[slug] = BY_SLUG[slug].answers[int(st.session_state[key]["answer"])]


def press_cancel() -> None:
    st.session_state[RUNNING] = None


def forget() -> None:
    for name in (RUNS, PREDICTIONS, RUNNING):
        st.session_state.pop(name, None)
    STATE.change({"answers": "", "sentence": ""})


def prediction_key(slug: str) -> str:
    return f"learn_predict_{slug}"
