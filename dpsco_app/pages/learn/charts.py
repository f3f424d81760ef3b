"""The parts of the figures of lessons, and those of the experiments; no Streamlit in here."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dpsco_app.figure.axes import linear_axis, outline
from dpsco_app.figure.colours import (
    BIAS,
    IMPOSSIBLE,
    INK,
    METHODS,
    NOISE,
    PART_INKS,
    SAMPLING,
    Pair,
)
from dpsco_app.figure.methods import SIGNS, colour_of
from dpsco_app.figure.values import Figure, Ladder, LadderRow, Line, Panel, Region, Words
from dpsco_app.pages.first_screen import log_axis, thin, upright
from dpsco_app.pages.learn.findings import average, short
from dpsco_app.parts.error_parts import PART_NAMES
from dpsco_app.parts.options import number_text, rounded
from dpsco_core.explain import lessons as core
from dpsco_core.explain.budgets import guess_ceiling

LAWS = {core.GAUSSIAN: ("Gaussian", METHODS["grey"]), core.STUDENT: ("Heavy tail", INK)}
# The lines of the lessons about the clip radius: their names and colours.
PARTS = {core.BIAS: BIAS, core.SAMPLING: SAMPLING, core.NOISE: NOISE}
RADIUS = {core.PRIVATE: ("Private error", INK)} | {
    part: (PART_NAMES[part].capitalize(), colour) for part, colour in PARTS.items()
}
CHOOSES = {core.BLIND: "mean.clipped", core.ADAPTIVE: "mean.adaptive"}  # its own radius
SHOWN_BIAS = 200  # the largest bias over the smallest that is drawn, where it stands alone
NO, YES = "You answer no", "You answer yes"
Drawn = tuple[Figure, Callable[[], pd.DataFrame]]  # a figure, and the numbers behind it


def colour_named(source: str) -> Pair:
    """Return the colour of a method, or of a line of an experiment."""
    known = RADIUS | LAWS | {core.RIGHT: ("", METHODS["violet"])}
    return known[source][1] if source in known else colour_of(CHOOSES.get(source, source))


# -- the parts of a figure ----------------------------------------------------------------------


def impossible(
    key: str, x: Sequence[float], upper: Sequence[float], lower: Sequence[float] = ()
) -> Region:
    return Region(key=key, name="impossible", x=x, upper=upper, lower=lower, look=IMPOSSIBLE)


def edge(key: str, name: str, value: float) -> LadderRow:
    """Return the row of an edge of what is impossible."""
    return LadderRow(
        key=key,
        name=name,
        colour=IMPOSSIBLE.ink,
        values=[rounded(value)],
        end=value,
        swatch="edge",
    )


def row_of(line: Line, at: float | None = None, whole: float | None = None) -> LadderRow:
    """Return the row of a line in the ladder, with its number at x, or over all of its trials."""
    value = whole or line.y[-1 if at is None else list(line.x).index(at)]
    return LadderRow(
        key=line.key,
        name=line.name,
        colour=PART_INKS.get(line.colour, line.colour),
        values=[rounded(value)],
        end=whole or line.y[-1],
        sign=SIGNS.get(line.symbol, ""),
    )


NO_LADDER = Ladder(title="", columns=[""], rows=[])


def named(line: Line, x: float, y: float, away: tuple[float, float]) -> Line:
    """Return the name of a line, at a place of its own."""
    return Line(
        key=line.key,
        name=line.name,
        x=[x],
        y=[y],
        colour=line.colour,
        width=0,
        label=line.name,
        away=away,
    )


# -- experiments --------------------------------------------------------------------------------


def series_figure(
    table: pd.DataFrame,
    names: Mapping[str, tuple[str, Pair]],
    titles: tuple[str, str],
    title: str,
    room: Sequence[float] = (),
    column: str = "mean",
) -> Drawn:
    """Return the lines of an experiment; the best radius is marked. `room` are heights to hold."""
    shown = table[table["series"].isin(list(names))]
    lines = []
    for series in dict.fromkeys(shown["series"]):
        (name, colour), rows = names[series], shown[shown["series"] == series]
        single = series in CHOOSES
        lines.append(
            Line(
                key=series,
                name=name,
                x=rows["x"].tolist(),
                y=rows[column].tolist(),
                low=rows["q10"].tolist(),
                high=rows["q90"].tolist(),
                hover=[f"{name}: {rounded(y)}" for y in rows[column]],
                colour=colour,
                symbol="diamond" if single else "circle",
                size=13 if single else 6.5,
                width=0 if single else 2.2,
            )
        )
    # A bias falls to nothing, and leaves the figure on its way there.
    others = shown[shown["series"] != core.BIAS]["q10"]
    least = float(shown["q90"].max() / SHOWN_BIAS if others.empty else others.min())
    low, high = min([least, *room]) / 1.4, max([float(shown["q90"].max()), *room]) * 1.4
    xs = sorted({x for line in lines for x in line.x})
    at = f"At {titles[0].split()[-1]} = {number_text(xs[-1])}"
    best, marks = None, []
    for line in (line for line in lines if line.key == core.PRIVATE):
        best = line.x[int(np.argmin(line.y))]
        at = f"At R = {number_text(best)}, the best"
        marks = [replace(upright(best, low, high, ""), dash="dot")]
    rows = [
        row_of(line, whole=average(table, line.key)) if line.key in CHOOSES else row_of(line, best)
        for line in lines
    ]
    named = "error" if " error " in titles[1] else titles[1].split()[0].lower()
    if [line.key for line in lines] == [core.BIAS]:  # no radius is the best one yet
        at, named, rows = "", "", [replace(row, values=[""]) for row in rows]
    figure = Figure(
        panels=[Panel(title="", x=log_axis(titles[0], xs[0], xs[-1]), lines=[*lines, *marks])],
        y=log_axis(titles[1], low, high),
        ladder=Ladder(title=at, columns=[named], rows=rows),
        alt=title,
    )
    wide = table.pivot(index="x", columns="series", values=column).reset_index()
    heads = {"x": titles[0], core.CUT: "Share of the records that is clipped"}
    heads |= {series: name for series, (name, _) in names.items()}
    return figure, lambda: wide.rename(columns=heads)


def guesses_figure(rows: Sequence[core.LessonRow], title: str) -> Drawn:
    """Return the share of right guesses so far, below what epsilon allows; empty before a guess."""
    ceiling, expected = (100 * f(core.GAME_EPSILON) for f in (guess_ceiling, core.laplace_guess))
    counts, shares = core.running_share(rows) if rows else (np.array([]), np.array([]))
    end = core.LAST["neighbours"]
    lines = [replace(thin("", [0, end], [50.0, 50.0]), key="coin", name="Tossing a coin")]
    rows_of, regions, words = [], [], []
    if rows:
        measured = Line(
            key=core.RIGHT,
            name="Right guesses so far",
            x=counts.tolist(),
            y=(100 * shares).tolist(),
            colour=colour_named(core.RIGHT),
            width=2.4,
        )
        hope = thin("", [0, end], [expected, expected])
        hope = replace(hope, key="hope", name="Expected for Laplace noise", dash="dot")
        lines += [hope, measured]
        regions = [impossible("ceiling", [0, end], [100.0, 100.0], [ceiling, ceiling])]
        limit_text = ["no guess can be right more often:", "e^ε/(1 + e^ε)"]
        words = [Words(lines=limit_text, colour=IMPOSSIBLE.ink, want=(0.5, 0.8))]
        rows_of = [edge("ceiling", "What ε allows", ceiling)]
    figure = Figure(
        panels=[
            Panel(
                title="",
                x=linear_axis("Number of guesses", 0, end),
                regions=regions,
                lines=lines,
                words=words,
            )
        ],
        y=linear_axis("Right guesses so far", 45, 100, " %"),
        ladder=Ladder(title="", columns=["percent"], rows=[*map(row_of, lines), *rows_of]),
        alt=title,
    )
    return figure, lambda: pd.DataFrame({"Guesses": counts, "Share of right ones": shares})


def densities() -> Drawn:
    outputs, without, with_it = core.output_densities(core.GAME_EPSILON)
    ratio = np.maximum(without / with_it, with_it / without)
    top, lines = float(without.max()), []
    for name, y, side in ((NO, without, -12.0), (YES, with_it, 12.0)):
        colour = METHODS["grey"] if name == NO else METHODS["violet"]
        x = [100 * outputs[0], *(100 * outputs), 100 * outputs[-1], 100 * outputs[0]]
        line = Line(key=name, name=name, x=x, y=[0, *y, 0, 0], colour=colour, fill=0.13)
        peak = int(np.argmax(y))
        lines += [line, named(line, 100 * outputs[peak], 0.97 * top, (side, 0.0))]
    across = linear_axis("Published share of yes", 100 * outputs[0], 100 * outputs[-1], " %")
    figure = Figure(
        panels=[Panel(title="", x=across, lines=lines)],
        y=replace(linear_axis("How likely (density)", 0, 1.12 * top), ticks=[]),
        ladder=NO_LADDER,
        alt=f"The two heights differ by a factor of at most {math.exp(core.GAME_EPSILON):.2g}",
    )
    columns = {"Published share": outputs, NO: without, YES: with_it, "Factor": ratio}
    return figure, lambda: pd.DataFrame(columns)


def records() -> Drawn:
    samples = core.records_in_order()
    count = len(samples[core.STUDENT])
    places = np.arange(1, count + 1)
    heavy, light = (
        short(float(np.abs(samples[law]).max()) / count) for law in (core.STUDENT, core.GAUSSIAN)
    )
    title = (
        f"{number_text(count)} records in their order: the largest heavy-tailed one alone moves "
        f"the mean by {heavy}, the largest Gaussian one by {light}"
    )
    return _laws_figure(title, ("Number of the record", "Size"), places, samples, marks=True)


def bulk() -> Drawn:
    centres, shares = core.bulk_shares()
    title = "More of the heavy-tailed records are near 0: their largest tell them apart"
    percents = {law: 100 * share for law, share in shares.items()}
    titles = ("Size of a record", "Records, in percent")
    return _laws_figure(title, titles, centres, percents, marks=False)


def _laws_figure(
    title: str,
    titles: tuple[str, str],
    x: np.ndarray,
    values: Mapping[str, np.ndarray],
    *,
    marks: bool,
) -> Drawn:
    """Return the two laws: their records as marks, the Gaussian ones in front, or histograms."""
    lines, half = [], (x[1] - x[0]) / 2
    edges = [*(x - half), x[-1] + half]
    for law in (core.STUDENT, core.GAUSSIAN):
        name, colour = LAWS[law]
        heights = values[law].tolist()
        across, up = (x.tolist(), heights) if marks else outline(edges, heights)
        kind: dict[str, Any] = {"fill": 0.1}
        if marks:
            kind = {"symbol": "circle", "size": 4.5, "width": 0}
        lines.append(Line(key=law, name=name, x=across, y=up, colour=colour, **kind))
    ends = [float(y) for own in values.values() for y in (own.min(), own.max())]
    tops = {law: float(own.max()) for law, own in values.items()}
    rows = [
        LadderRow(key=law, name=name, colour=colour, values=[short(tops[law])], end=tops[law])
        for law, (name, colour) in LAWS.items()
    ]
    low = 1.1 * min(ends) if marks else 0.0
    figure = Figure(
        panels=[Panel(title="", x=linear_axis(titles[0], edges[0], edges[-1]), lines=lines)],
        y=linear_axis(titles[1], low, 1.1 * max(ends)),
        ladder=Ladder(title="", columns=["highest, %"], rows=rows),
        alt=title,
    )
    return figure, lambda: pd.DataFrame({titles[0]: x} | {LAWS[k][0]: v for k, v in values.items()})
