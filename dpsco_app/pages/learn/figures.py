"""Which figures a lesson shows, before its run and after; no Streamlit in here."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from dpsco_app.figure.axes import linear_axis
from dpsco_app.figure.colours import IMPOSSIBLE, INK, METHODS
from dpsco_app.figure.methods import colour_of, is_dashed, short_names, symbol_of
from dpsco_app.figure.values import Figure, Ladder, Line, Panel, Words
from dpsco_app.front.titles import axis_title
from dpsco_app.pages.first_screen import log_axis, thin
from dpsco_app.pages.learn import charts
from dpsco_app.pages.learn.charts import CHOOSES, LAWS, RADIUS, Drawn
from dpsco_app.pages.learn.drawing import Choosing
from dpsco_app.pages.learn.findings import LessonEvidence
from dpsco_app.pages.learn.lessons import Lesson
from dpsco_app.pages.learn.state import other_set
from dpsco_app.parts.options import SYMBOL, number_text, rounded
from dpsco_app.parts.problem_words import geometry_name, words_for
from dpsco_core.catalogue import method_card


def figures(lesson: Lesson, evidence: LessonEvidence, title: str, *, done: bool) -> list[Drawn]:
    """Return the figures of what is known: the first one is that of the lesson's question."""
    places = _places(lesson, evidence)
    if lesson.experiment is None:
        draw = exceedance_figure if lesson.scenario.axis is None else study_figure
        return [(draw(lesson, evidence, title, places), partial(study_table, lesson, evidence))]
    if lesson.experiment == "neighbours":
        rows = evidence.rows if done else ()
        return [charts.guesses_figure(rows, title), charts.densities()]
    table = evidence.table
    if lesson.experiment == "tails":
        titles = ("Number of records n", "Largest record (log)")
        first = charts.series_figure(table, LAWS, titles, title, places, "median")
        return [first, *[charts.records()] * done, charts.bulk()]
    own = {series: (method_card(m).name, colour_of(m)) for series, m in CHOOSES.items()}
    axis = words_for("mean").error_axis
    titles = ("Clip radius R", f"Root mean square {axis[:1].lower()}{axis[1:]}")
    return [charts.series_figure(table, RADIUS | own, titles, title, places)]


def _places(lesson: Lesson, evidence: LessonEvidence) -> list[float]:
    """Return the heights, or the errors, that a prediction can have: the figure has room."""
    if isinstance(lesson.draw, Choosing):
        points = [p for shape in lesson.draw.places(evidence).values() for p in shape]
        return [p[lesson.scenario.axis is not None] for p in points] * (not lesson.draw.band)
    if lesson.draw.height is None:
        return []
    return [lesson.draw.place(evidence, value, lesson.last)[1] for value in lesson.numbers]


# -- studies ------------------------------------------------------------------------------------


def study_figure(
    lesson: Lesson, evidence: LessonEvidence, title: str, places: Sequence[float]
) -> Figure:
    """Return the mean errors over the axis; the set beside dashed, and what is proven or blind."""
    scenario, other = lesson.scenario, other_set(lesson)
    names = short_names(scenario.methods)
    tables = [(evidence.table, "")]
    if other is not None and not evidence.beside.empty:
        here, there = (f", {geometry_name(s.geometry, s.q)}" for s in (scenario, other))
        tables = [(evidence.table, here), (evidence.beside, there)]
    lines = [
        Line(
            key=f"{method}{where}",
            name=f"{names[method]}{where}",
            x=rows["x"].tolist(),
            y=rows["mean_error"].tolist(),
            low=rows["q10"].tolist(),
            high=rows["q90"].tolist(),
            hover=[f"{names[method]}{where}: {rounded(y)}" for y in rows["mean_error"]],
            colour=colour_of(method),
            symbol=symbol_of(method),
            dash="dash" if i or is_dashed(method) else "solid",
        )
        for i, (table, where) in enumerate(tables)
        for method in dict.fromkeys(table["method"])
        for rows in [table[table["method"] == method].sort_values("x")]
    ]
    start, floor = (
        [list(v) for v in zip(*sorted(d.items()), strict=True)]
        for d in (evidence.start, evidence.floor)
    )
    dotted = [thin("", *start)] if start else []
    blind = [replace(d, key="start", name="Answer without data", dash="dot") for d in dotted]
    regions = [charts.impossible("floor", *floor)] if floor else []
    inside = Words(
        lines=["no private algorithm", "has a mean error here"],
        colour=IMPOSSIBLE.ink,
        want=(0.05, 0.02),
        below="floor",
    )
    heights = [*places, *(floor[1] if floor else []), *(start[1] if start else [])]
    heights += [y for line in lines for y in line.y]
    grid = scenario.grid
    axis = str(scenario.axis)
    # Before the measurement the lines are not drawn to their ends.
    last = max((line.x[-1] for line in lines), default=grid[-1])
    rows = []
    for line in [*lines, *blind]:
        row = charts.row_of(line, last if last in line.x else None)
        where = "" if last in line.x else f" at {SYMBOL[axis]} = {number_text(line.x[-1])}"
        rows.append(replace(row, name=f"{row.name}{where}"))
    floors = [(r, r.upper[list(r.x).index(last)] if last in r.x else r.upper[-1]) for r in regions]
    rows += [
        replace(charts.edge(r.key, "Proven limit", value), end=r.upper[-1]) for r, value in floors
    ]
    at = f"At {SYMBOL[axis]} = {number_text(last)}"
    words = words_for(scenario.problem)
    return Figure(
        panels=[
            Panel(
                title="",
                x=log_axis(axis_title(scenario), grid[0], grid[-1]),
                regions=regions,
                lines=[*lines, *blind],
                words=[inside] * bool(regions),
            )
        ],
        y=log_axis(words.error_axis, min(heights) / 1.3, 1.3 * max(heights)),
        ladder=Ladder(title=at, columns=[words.error.split()[-1]], rows=rows),
        alt=title,
    )


def exceedance_figure(
    lesson: Lesson, evidence: LessonEvidence, title: str, room: Sequence[float]
) -> Figure:
    """Return, for every method, the percentage of the samples whose error is larger than x."""
    lines: list[Line] = []
    names = []
    for method, group in evidence.errors.groupby("method", sort=False)["error"]:
        values = np.sort(group.to_numpy())
        above = 100 * (1 - np.arange(len(values)) / len(values))
        card = method_card(str(method))
        colour = METHODS["grey"] if not lines else INK  # neither of the two is private
        places = {"x": values.tolist(), "y": above.tolist()}
        lines.append(Line(key=card.slug, name=card.name, colour=colour, **places))
    low = min(line.y[-1] for line in lines)
    rare = max(2.0, low)  # where the names stand: in the bad luck that tells the two apart
    at = {line.key: float(np.interp(-rare, -np.asarray(line.y), line.x)) for line in lines}
    # Before the run there is one line, which the headline names.
    for i, line in enumerate(sorted(lines[: 2 * (len(lines) > 1)], key=lambda line: -at[line.key])):
        away = (12.0, 10.0) if i == 0 else (-12.0, -10.0)
        names.append(charts.named(line, at[line.key], rare, away))
    right = 1.03 * max([*(line.x[-1] for line in lines), *room])
    ticks = [t for t in (0.5, 1, 5, 10, 50, 100) if t >= low]
    y = log_axis("Samples with a larger error (log)", low, 105)
    return Figure(
        panels=[
            Panel(
                title="", x=linear_axis("Error of the estimate, x", 0, right), lines=lines + names
            )
        ],
        y=replace(y, ticks=[(t, f"{t:g} %") for t in ticks]),
        ladder=charts.NO_LADDER,
        alt=title,
    )


def study_table(lesson: Lesson, evidence: LessonEvidence) -> pd.DataFrame:
    """Return the measured errors in words; those on the set beside below."""
    words, axis = words_for(lesson.scenario.problem), lesson.scenario.axis
    heads = {"name": words.method.capitalize()}
    heads |= {"set": "Set"} if not evidence.beside.empty else {}
    heads |= {"x": SYMBOL[axis]} if axis is not None else {}
    heads |= {"mean_error": f"Mean {words.error}", "median_error": "Median"}
    heads |= {"q10": "10 %", "q90": "90 %", "trials": "Trials"}
    both = [
        evidence.table.assign(set="on the ℓ₁ ball"),
        evidence.beside.assign(set="on the ℓ₂ ball"),
    ]
    every = pd.concat([table for table in both if not table.empty], ignore_index=True)
    return every[list(heads)].rename(columns=heads)
