"""The runs of a lesson, and the evidence in their results, which the lessons' host computes."""

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
    """The results of cells and of parts of experiments, stored or computed on demand."""

    def outcomes(self, scenario: Scenario) -> Sequence[Outcome]:
        """Return the outcomes of the cells of a study."""

    def rows(self, part: Part) -> tuple[LessonRow, ...]:
        """Return the rows of a part of an experiment."""


def _studies(lesson: Lesson, *, is_preview: bool) -> Iterator[Scenario]:
    """Yield the studies on a lesson's first set: one, or up to two smaller ones for a preview."""
    scenario = lesson.scenario
    yield replace(scenario, methods=lesson.preview_methods) if is_preview else scenario
    if is_preview and lesson.start_method:
        yield replace(scenario, methods=(lesson.start_method,), grid=scenario.grid[:1])


def work(lesson: Lesson, *, is_preview: bool = False) -> list[Cell | Part]:
    """Return the cells of a lesson's studies by trial, or the parts of its experiment.

    A preview of a study has fewer cells.
    """
    if lesson.experiment is not None:
        return list(parts(lesson.experiment))
    studies = [
        *_studies(lesson, is_preview=is_preview),
        *([lesson.second_scenario] if lesson.second_scenario else []),
    ]
    return sorted((c for study in studies for c in cells(study)), key=lambda c: c.trial)


def measure(lesson: Lesson, results: LessonResults, *, is_preview: bool = False) -> LessonEvidence:
    """Return the measurements of a lesson, or only those that its preview shows.

    `results` computes or looks up the outcomes.
    """
    if lesson.experiment is not None:
        rows = tuple(row for part in parts(lesson.experiment) for row in results.rows(part))
        points = series_points(rows)
        points_shown = (
            tuple(p for p in points if p.series in lesson.preview_methods) if is_preview else points
        )
        return LessonEvidence(points=points_shown, rows=rows)
    scenario, second_scenario = lesson.scenario, lesson.second_scenario
    outcomes = tuple(
        o for s in _studies(lesson, is_preview=is_preview) for o in results.outcomes(s)
    )
    learning = scenario.problem != MeanEstimation.card.slug
    floors = evaluations(scenario, (lesson.floor,)) if lesson.floor else []
    return LessonEvidence(
        points=study_points(outcomes),
        outcomes=outcomes,
        second_points=()
        if second_scenario is None
        else study_points(results.outcomes(second_scenario)),
        floor={e.x: e.value for e in floors if e.x is not None},
        start={x: r for x, r in starting_risks(scenario) if x is not None} if learning else {},
    )
