"""Which figures a lesson shows, before its run and after it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpsco_app.pages.learn import charts
from dpsco_app.pages.learn.findings import LessonEvidence, short
from dpsco_app.pages.learn.lessons import Lesson
from dpsco_app.pages.learn.state import LessonRun, evidence, other_set
from dpsco_app.parts.charts import error_figure
from dpsco_app.parts.curve_traces import Curves
from dpsco_app.parts.figures import responsive
from dpsco_app.parts.look import Look
from dpsco_app.parts.options import SYMBOL, number_text
from dpsco_app.parts.problem_words import geometry_name, words_for
from dpsco_app.parts.running import evaluations
from dpsco_core.explain.lessons import (
    CLIPPED,
    CUT,
    GAME_EPSILON,
    GAUSSIAN,
    STUDENT,
    LessonRow,
    bulk_shares,
    guess_ceiling,
    laplace_guess,
    output_densities,
    parts,
    records_in_order,
    run_part,
    running_share,
    series_table,
)
from dpsco_core.runs.study import Outcome

DENSITY_TITLE = "What may be published: two neighbours can hardly be told apart"


def before(lesson: Lesson, outcomes: list[Outcome], beside: list[Outcome] | None) -> None:
    """Draw what a lesson shows before its run: pictures, or the methods that are given."""
    title = lesson.words.before
    if lesson.experiment == "tails":
        _bulk(title)
    elif lesson.experiment == "neighbours":
        _densities(title)
    elif lesson.experiment == "radius":
        table = _clipped_alone()
        responsive(
            "learn",
            title,
            lambda look: charts.radius_figure(table, look),
            bar=False,
            table=lambda: table,
        )
    else:
        _study(lesson, evidence(lesson, outcomes, beside), title)


def after(lesson: Lesson, run: LessonRun) -> None:
    """Draw what the run has measured."""
    found = run.evidence
    title = run.finding.headline
    if lesson.experiment == "tails":
        responsive(
            "learn",
            title,
            lambda look: charts.largest_figure(found.table, look),
            bar=False,
            table=lambda: found.table.replace({"series": charts.LAW_NAMES}),
        )
        _records()
    elif lesson.experiment == "neighbours":
        _guesses(run.rows, title)
        _densities(DENSITY_TITLE, "learn_second")
    elif lesson.experiment == "radius":
        responsive(
            "learn",
            title,
            lambda look: charts.radius_figure(found.table, look),
            bar=False,
            table=lambda: radius_table(found.table),
        )
    else:
        _study(lesson, found, title)


def radius_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return the errors by radius, a column a line."""
    wide = table.pivot(index="x", columns="series", values="mean").reset_index()
    names = {"x": "Clip radius R", CUT: "Share of the records that is cut"}
    return wide.rename(columns=names | charts.RADIUS_NAMES)


def _study(lesson: Lesson, found: LessonEvidence, title: str) -> None:
    scenario = lesson.scenario
    if scenario.axis is None:
        errors = found.errors
        assert errors is not None
        responsive(
            "learn",
            title,
            lambda look: charts.exceedance_figure(errors, look),
            bar=False,
            table=lambda: study_table(lesson, found),
        )
        return
    bounds = evaluations(scenario, (lesson.floor,)) if lesson.floor else []
    measured, beside = Curves(table=found.table), None
    other = other_set(lesson)
    if other is not None and found.beside is not None:
        here, there = (f", {geometry_name(s.geometry, s.q)}" for s in (scenario, other))
        measured = Curves(table=found.table, suffix=here)
        beside = Curves(table=found.beside, suffix=there, other=True)
    start = sorted((found.start or {}).items())
    responsive(
        "learn",
        title,
        lambda look: error_figure(scenario, measured, bounds, look, start, beside),
        bar=False,
        table=lambda: study_table(lesson, found),
    )


def study_table(lesson: Lesson, found: LessonEvidence) -> pd.DataFrame:
    """Return the measured errors in words; the set beside below."""
    words = words_for(lesson.scenario.problem)
    axis = lesson.scenario.axis
    tables = [("", found.table)]
    if found.beside is not None:
        tables = [("on the ℓ₁ ball", found.table), ("on the ℓ₂ ball", found.beside)]
    shown = []
    for where, table in tables:
        columns = {words.method.capitalize(): table["name"]}
        if where:
            columns["Set"] = pd.Series([where] * len(table), index=table.index)
        if axis is not None:
            columns[SYMBOL[axis]] = table["x"]
        columns |= {
            f"Mean {words.error}": table["mean_error"],
            "Median": table["median_error"],
            "10 %": table["q10"],
            "90 %": table["q90"],
            "Trials": table["trials"],
        }
        shown.append(pd.DataFrame(columns))
    return pd.concat(shown, ignore_index=True)


def _bulk(title: str) -> None:
    centres, shares = bulk_shares()
    responsive(
        "learn",
        title,
        lambda look: charts.bulk_figure(centres, shares, look),
        bar=False,
        table=lambda: _columns("Size of a record", centres, shares),
    )


def _records() -> None:
    samples = records_in_order()
    largest = {law: float(np.abs(x).max()) for law, x in samples.items()}
    count = len(samples[STUDENT])
    heavy, light = (short(largest[law] / count) for law in (STUDENT, GAUSSIAN))
    responsive(
        "learn_second",
        f"{number_text(count)} records in their order: the largest heavy-tailed one alone moves "
        f"the mean by {heavy}, the largest Gaussian one by {light}",
        lambda look: charts.records_figure(samples, look),
        bar=False,
        table=lambda: _columns("Record", np.arange(1, count + 1), samples),
    )


def _columns(name: str, x: np.ndarray, lines: dict[str, np.ndarray]) -> pd.DataFrame:
    return pd.DataFrame({name: x} | {charts.LAW_NAMES[k]: v for k, v in lines.items()})


def _densities(title: str, name: str = "learn") -> None:
    outputs, without, with_it = output_densities(GAME_EPSILON)
    ratio = np.maximum(without / with_it, with_it / without)
    responsive(
        name,
        title,
        lambda look: charts.densities_figure(outputs, without, with_it, look),
        bar=False,
        table=lambda: pd.DataFrame(
            {"Published share": outputs, charts.NO: without, charts.YES: with_it, "Factor": ratio}
        ),
    )


def _guesses(rows: Sequence[LessonRow], title: str) -> None:
    counts, shares = running_share(rows)
    ceiling, expected = guess_ceiling(GAME_EPSILON), laplace_guess(GAME_EPSILON)

    def draw(look: Look) -> go.Figure:
        return charts.guesses_figure(counts, shares, ceiling, expected, look)

    responsive(
        "learn",
        title,
        draw,
        bar=False,
        table=lambda: pd.DataFrame({"Guesses": counts, "Share of right ones": shares}),
    )


@lru_cache(maxsize=1)
def _clipped_alone() -> pd.DataFrame:
    """Return the errors of clipping without noise, which the lesson shows before its run."""
    rows = [row for part in parts("radius") for row in run_part(part)]
    table = series_table(rows)
    return table[table["series"] == CLIPPED]
