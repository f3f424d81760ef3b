"""Which figures a lesson shows, before its run and after it."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpsco_app.pages.learn import charts
from dpsco_app.pages.learn.drawing import Choosing
from dpsco_app.pages.learn.findings import LessonEvidence, short
from dpsco_app.pages.learn.lessons import Lesson
from dpsco_app.pages.learn.state import other_set
from dpsco_app.parts.charts import error_figure
from dpsco_app.parts.evaluations import evaluations
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.figures import responsive
from dpsco_app.parts.look import Look
from dpsco_app.parts.options import SYMBOL, number_text
from dpsco_app.parts.problem_words import geometry_name, words_for
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

_draw = partial(responsive, bar=False)


def draw_figures(lesson: Lesson, found: LessonEvidence, title: str, *, done: bool) -> None:
    """Draw what is known before the run of a lesson, or what it has measured; then pictures."""
    if lesson.experiment is None:
        _study(lesson, found, title)
        return
    if lesson.experiment == "neighbours":
        _guesses(found.rows if done else (), title)
        _densities()
        return
    table, places = found.table, _places(lesson, found)
    draw = charts.largest_figure if lesson.experiment == "tails" else charts.radius_figure
    shown = table.replace({"series": charts.LAW_NAMES | charts.RADIUS_NAMES})
    if lesson.experiment == "radius":
        wide = table.pivot(index="x", columns="series", values="mean").reset_index()
        names = {"x": "Clip radius R", CUT: "Share of the records that is cut"}
        shown = wide.rename(columns=names | charts.RADIUS_NAMES)
    _draw("learn", title, lambda look: draw(table, look, places), table=lambda: shown)
    if lesson.experiment == "tails":
        if done:
            _records()
        centres, shares = bulk_shares()
        _draw(
            "learn_third",
            "More of the heavy-tailed records are near 0: their largest tell them apart",
            lambda look: charts.bulk_figure(centres, shares, look),
            table=lambda: _columns("Size of a record", centres, shares),
        )


def _places(lesson: Lesson, found: LessonEvidence) -> list[float]:
    """Return the heights that a prediction can have, for which the figure leaves room."""
    if isinstance(lesson.draw, Choosing) or lesson.draw.height is None:
        return []
    return [lesson.draw.place(found, value, lesson.last)[1] for value in lesson.numbers]


def _study(lesson: Lesson, found: LessonEvidence, title: str) -> None:
    scenario = lesson.scenario
    files: dict[str, Any] = {
        "table": lambda: study_table(lesson, found),
        "setting": setting_line(scenario),
    }
    if scenario.axis is None:
        assert isinstance(lesson.draw, Choosing)
        room = [x for points in lesson.draw.places(found).values() for x, _ in points]
        _draw(
            "learn", title, lambda look: charts.exceedance_figure(found.errors, look, room), **files
        )
        return
    bounds = evaluations(scenario, (lesson.floor,)) if lesson.floor else []
    ends = _ends(lesson, found)
    measured, beside = Curves(table=found.table), None
    other = other_set(lesson)
    if other is not None and not found.beside.empty:
        here, there = (f", {geometry_name(s.geometry, s.q)}" for s in (scenario, other))
        measured = Curves(table=found.table, suffix=here)
        beside = Curves(table=found.beside, suffix=there, other=True)
    start = sorted(found.start.items())

    def draw(look: Look) -> go.Figure:
        figure = error_figure(scenario, measured, bounds, look, start, beside, ends)
        if lesson.floor:  # over the shaded region, a band would look like a part of it
            figure.data = [t for t in figure.data if not str(t.name).endswith(", 10-90 %")]
        return figure

    _draw("learn", title, draw, **files)


def _ends(lesson: Lesson, found: LessonEvidence) -> tuple[float, float] | None:
    """Return the ends of the vertical axis: all that is measured, and every prediction."""
    if isinstance(lesson.draw, Choosing):
        return None
    tables = [t for t in (found.table, found.beside) if not t.empty]
    heights = [*_places(lesson, found), *found.floor.values(), *found.start.values()]
    low = min([*heights, *(float(t["q10"].min()) for t in tables)])
    return low / 1.3, 1.3 * max([*heights, *(float(t["q90"].max()) for t in tables)])


def study_table(lesson: Lesson, found: LessonEvidence) -> pd.DataFrame:
    """Return the measured errors in words; the set beside below."""
    words, axis = words_for(lesson.scenario.problem), lesson.scenario.axis
    tables = {"": found.table}
    if not found.beside.empty:
        tables = {"on the ℓ₁ ball": found.table, "on the ℓ₂ ball": found.beside}
    shown = []
    for where, table in tables.items():
        columns = {words.method.capitalize(): table["name"]}
        columns |= {"Set": where} if where else {}
        columns |= {SYMBOL[axis]: table["x"]} if axis is not None else {}
        columns |= {
            f"Mean {words.error}": table["mean_error"],
            "Median": table["median_error"],
            "10 %": table["q10"],
            "90 %": table["q90"],
            "Trials": table["trials"],
        }
        shown.append(pd.DataFrame(columns))
    return pd.concat(shown, ignore_index=True)


def _records() -> None:
    samples = records_in_order()
    count = len(samples[STUDENT])
    heavy, light = (short(float(np.abs(samples[law]).max()) / count) for law in (STUDENT, GAUSSIAN))
    _draw(
        "learn_second",
        f"{number_text(count)} records in their order: the largest heavy-tailed one alone moves "
        f"the mean by {heavy}, the largest Gaussian one by {light}",
        lambda look: charts.records_figure(samples, look),
        table=lambda: _columns("Record", np.arange(1, count + 1), samples),
    )


def _columns(name: str, x: np.ndarray, lines: dict[str, np.ndarray]) -> pd.DataFrame:
    return pd.DataFrame({name: x} | {charts.LAW_NAMES[k]: v for k, v in lines.items()})


def _densities() -> None:
    outputs, without, with_it = output_densities(GAME_EPSILON)
    ratio = np.maximum(without / with_it, with_it / without)
    _draw(
        "learn_second",
        f"The two heights differ by a factor of at most {math.exp(GAME_EPSILON):.2g}",
        lambda look: charts.densities_figure(outputs, without, with_it, look),
        table=lambda: pd.DataFrame(
            {"Published share": outputs, charts.NO: without, charts.YES: with_it, "Factor": ratio}
        ),
    )


def _guesses(rows: Sequence[LessonRow], title: str) -> None:
    counts, shares = running_share(rows) if rows else (np.array([]), np.array([]))
    ceiling, expected = guess_ceiling(GAME_EPSILON), laplace_guess(GAME_EPSILON)
    _draw(
        "learn",
        title,
        lambda look: charts.guesses_figure(counts, shares, ceiling, expected, look),
        table=lambda: pd.DataFrame({"Guesses": counts, "Share of right ones": shares}),
    )
