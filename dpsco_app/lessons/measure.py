"""What a lesson runs, and what its results show: whoever has run them hands them in."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from dpsco_app.lessons.findings import LessonEvidence
from dpsco_app.lessons.lessons import Lesson
from dpsco_app.parts.evaluations import evaluations, starting_risks
from dpsco_core.explain.lessons import LessonRow, Part, parts, series_points, study_points
from dpsco_core.problems import MeanEstimation
from dpsco_core.runs.study import Cell, Outcome, cells
from dpsco_core.scenario import Scenario


class LessonResults(Protocol):
    """Who has run the cells of a study and the parts of an experiment, or runs them when asked."""

    def outcomes(self, scenario: Scenario) -> Sequence[Outcome]:
        """Return what every cell of a study gave."""

    def rows(self, part: Part) -> tuple[LessonRow, ...]:
        """Return what a part of an experiment gave."""


def _studies(lesson: Lesson, *, before: bool) -> Iterator[Scenario]:
    """Yield what runs on the lesson's own set."""
    scenario = lesson.scenario
    yield replace(scenario, methods=lesson.given) if before else scenario
    if before and lesson.first:
        yield replace(scenario, methods=(lesson.first,), grid=scenario.grid[:1])


def work(lesson: Lesson, *, before: bool = False) -> list[Cell | Part]:
    """Return all that a lesson runs, or what it shows `before` its run, trial after trial."""
    if lesson.experiment is not None:
        return list(parts(lesson.experiment))
    studies = [*_studies(lesson, before=before), *([lesson.other] if lesson.other else [])]
    return sorted((c for study in studies for c in cells(study)), key=lambda c: c.trial)


def measure(lesson: Lesson, results: LessonResults, *, before: bool = False) -> LessonEvidence:
    """Return what a lesson has measured, or what it shows `before` its run."""
    if lesson.experiment is not None:
        rows = tuple(row for part in parts(lesson.experiment) for row in results.rows(part))
        points = series_points(rows)
        shown = tuple(p for p in points if p.series in lesson.given) if before else points
        return LessonEvidence(points=shown, rows=rows)
    scenario, other = lesson.scenario, lesson.other
    outcomes = tuple(o for s in _studies(lesson, before=before) for o in results.outcomes(s))
    learning = scenario.problem != MeanEstimation.card.slug
    floors = evaluations(scenario, (lesson.floor,)) if lesson.floor else []
    return LessonEvidence(
        points=study_points(outcomes),
        outcomes=outcomes,
        beside=() if other is None else study_points(results.outcomes(other)),
        floor={e.x: e.value for e in floors if e.x is not None},
        start={x: r for x, r in starting_risks(scenario) if x is not None} if learning else {},
    )
