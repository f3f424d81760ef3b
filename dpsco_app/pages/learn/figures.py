"""Which figures a lesson shows, before its run and after it."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpsco_app.pages.learn import charts
from dpsco_app.pages.learn.findings import LessonEvidence, short
from dpsco_app.pages.learn.lessons import Lesson
from dpsco_app.pages.learn.state import LessonRun, evidence_before, other_set
from dpsco_app.parts.charts import error_figure
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.figures import responsive
from dpsco_app.parts.look import Look
from dpsco_app.parts.options import SYMBOL, number_text
from dpsco_app.parts.problem_words import geometry_name, words_for
from dpsco_app.parts.running import evaluations
from dpsco_app.parts.traces import Curves
from dpsco_core.explain.budgets import guess_ceiling
from dpsco_core.explain.lessons import (
    CUT,
    GAME_EPSILON,
    GAUSSIAN,
    STUDENT,
    LessonRow,
    bulk_shares,
    laplace_guess,
    output_densities,
    records_in_order,
    running_share,
)
from dpsco_core.runs.study import Outcome

BULK_TITLE = "More of the heavy-tailed records are near 0: their largest tell them apart"


def before(lesson: Lesson, outcomes: list[Outcome], beside: list[Outcome] | None) -> None:
    """Draw what a lesson shows before its run: pictures, or the methods that are given."""
    title = lesson.words.before
    found = evidence_before(lesson, outcomes, beside)
    if lesson.experiment is None:
        _study(lesson, found, title)
    else:
        _experiment(lesson, found, title, ())
    below(lesson)


def after(lesson: Lesson, run: LessonRun) -> None:
    """Draw what the run has measured."""
    title = run.finding.headline
    if lesson.experiment is None:
        _study(lesson, run.evidence, title)
        return
    _experiment(lesson, run.evidence, title, run.rows)
    if lesson.experiment == "tails":
        _records()


def below(lesson: Lesson) -> None:
    """Draw the picture that the text speaks of, under the figure."""
    if lesson.experiment == "tails":
        _bulk(BULK_TITLE)
    elif lesson.experiment == "neighbours":
        _densities(_density_title())


def _experiment(
    lesson: Lesson, found: LessonEvidence, title: str, rows: Sequence[LessonRow]
) -> None:
    """Draw the figure of an experiment; what is not in the evidence is not in the figure."""
    if lesson.experiment == "neighbours":
        _guesses(rows, title)
        return
    table = found.table
    places = _places(lesson, found)
    draw, shown = {
        "tails": (charts.largest_figure, table.replace({"series": charts.LAW_NAMES})),
        "radius": (charts.radius_figure, radius_table(table)),
        "look": (charts.radius_figure, table.replace({"series": charts.RADIUS_NAMES})),
    }[str(lesson.experiment)]
    responsive(
        "learn", title, lambda look: draw(table, look, places), bar=False, table=lambda: shown
    )


def _places(lesson: Lesson, found: LessonEvidence) -> list[float]:
    """Return the heights that a prediction can have, for which the figure leaves room."""
    if lesson.draw is None or lesson.draw.base is None:
        return []
    return [lesson.draw.place(found, value, lesson.last)[1] for value in lesson.numbers]


def _density_title() -> str:
    return f"The two heights differ by a factor of at most {math.exp(GAME_EPSILON):.2g}"


def radius_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return the errors by radius, a column a line."""
    wide = table.pivot(index="x", columns="series", values="mean").reset_index()
    names = {"x": "Clip radius R", CUT: "Share of the records that is cut"}
    return wide.rename(columns=names | charts.RADIUS_NAMES)


def _study(lesson: Lesson, found: LessonEvidence, title: str) -> None:
    scenario = lesson.scenario
    if scenario.axis is None:
        errors = found.errors
        assert errors is not None and lesson.stand is not None
        room = [x for points in lesson.stand.places(found).values() for x, _ in points]
        responsive(
            "learn",
            title,
            lambda look: charts.exceedance_figure(errors, look, room),
            bar=False,
            table=lambda: study_table(lesson, found),
            setting=setting_line(scenario),
        )
        return
    bounds = evaluations(scenario, (lesson.floor,)) if lesson.floor else []
    ends = _ends(lesson, found)
    measured, beside = Curves(table=found.table), None
    other = other_set(lesson)
    if other is not None and found.beside is not None:
        here, there = (f", {geometry_name(s.geometry, s.q)}" for s in (scenario, other))
        measured = Curves(table=found.table, suffix=here)
        beside = Curves(table=found.beside, suffix=there, other=True)
    start = sorted((found.start or {}).items())

    def draw(look: Look) -> go.Figure:
        figure = error_figure(scenario, measured, bounds, look, start, beside, ends)
        # A mark at the scenario's own value could give the answer away.
        names = [a for a in figure.layout.annotations if not a.text.startswith("chosen ")]
        figure.update_layout(shapes=(), annotations=names, overwrite=True)
        if lesson.floor:  # over the shaded region, a band would look like a part of it
            figure.data = [t for t in figure.data if not str(t.name).endswith(", 10-90 %")]
        return figure

    responsive(
        "learn",
        title,
        draw,
        bar=False,
        table=lambda: study_table(lesson, found),
        setting=setting_line(scenario),
    )


def _ends(lesson: Lesson, found: LessonEvidence) -> tuple[float, float] | None:
    """Return the ends of the vertical axis: all that is measured, and every prediction."""
    if lesson.draw is None:
        return None
    places = _places(lesson, found)
    tables = [t for t in (found.table, found.beside) if t is not None]
    heights = [*places, *(found.floor or {}).values(), *(found.start or {}).values()]
    low = min([*heights, *(float(t["q10"].min()) for t in tables)])
    return low / 1.3, 1.3 * max([*heights, *(float(t["q90"].max()) for t in tables)])


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
        "learn_third",
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


def _densities(title: str) -> None:
    outputs, without, with_it = output_densities(GAME_EPSILON)
    ratio = np.maximum(without / with_it, with_it / without)
    responsive(
        "learn_second",
        title,
        lambda look: charts.densities_figure(outputs, without, with_it, look),
        bar=False,
        table=lambda: pd.DataFrame(
            {"Published share": outputs, charts.NO: without, charts.YES: with_it, "Factor": ratio}
        ),
    )


def _guesses(rows: Sequence[LessonRow], title: str) -> None:
    counts, shares = running_share(rows) if rows else (np.array([]), np.array([]))
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
