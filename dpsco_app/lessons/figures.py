"""Which figures a lesson shows, before its run and after; no Streamlit in here."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpsco_app.figure.axes import linear_axis
from dpsco_app.figure.colours import IMPOSSIBLE, INK, METHODS, PART_INKS, Pair
from dpsco_app.figure.methods import SIGNS, colour_of, is_dashed, short_names, symbol_of
from dpsco_app.figure.values import Figure, Ladder, LadderRow, Line, Panel, Region, Words
from dpsco_app.front.titles import axis_title
from dpsco_app.lessons.findings import (
    LessonEvidence,
    average_value,
    curve,
    errors_of,
    short,
    worst_of_a_hundred,
)
from dpsco_app.lessons.lessons import Lesson
from dpsco_app.lessons.odds import COLOUR, plane_of_errors
from dpsco_app.lessons.plane import candidates
from dpsco_app.parts.error_parts import PART_COLOURS, PART_NAMES
from dpsco_app.parts.options import SYMBOL, number_text, rounded
from dpsco_app.parts.problem_words import geometry_name, words_for
from dpsco_app.parts.simple_figures import ladder_of, log_axis, thin_line, upright_line
from dpsco_core.audit.attacker import MISSED
from dpsco_core.catalogue import method_card
from dpsco_core.explain import lessons as core
from dpsco_core.explain.budgets import guess_ceiling

PARTS = (core.BIAS, core.SAMPLING, core.NOISE)
# The names and colours of the lines of experiments.
SERIES: dict[str, tuple[str, Pair]] = {
    core.GAUSSIAN: ("Gaussian", METHODS["grey"]),
    core.STUDENT: ("Heavy tail", INK),
    core.PRIVATE: ("Private error", INK),
    core.RIGHT: ("Right guesses", METHODS["violet"]),
    core.ADDED: ("ε added up", METHODS["grey"]),
    core.SUMMED: ("ρ added up", METHODS["violet"]),
    MISSED: ("Missed members", COLOUR),
    **{part: (PART_NAMES[part].capitalize(), PART_COLOURS[part]) for part in PARTS},
}
UNSEEN = (core.CUT, core.EXACT)  # These lines are not drawn; only sentences mention them.
# The methods that choose their own radius, by the name of their line.
CHOOSES = {core.BLIND: "mean.clipped", core.ADAPTIVE: "mean.adaptive"}
OVER_RADIUS = ("Clip radius R", "R", "Root mean square error ‖μ̂ − μ‖₂ (log)", "error")
AXES = {
    "tails": ("Number of records n", "n", "Largest record (log)", "largest"),
    "radius": OVER_RADIUS,
    "look": OVER_RADIUS,
    "budgets": ("Number of releases k", "k", "ε of all of them together (log)", "ε"),
}
# The height in pixels of a single figure, and of each of two stacked figures.
HEIGHT, LOWER_HEIGHT = 420, 160
TOP = 34  # The pixels above a figure's panel, which has no title.
# The largest ratio of two biases that is drawn if the figure has no lines besides the bias.
SHOWN_BIAS = 200


def figures(lesson: Lesson, evidence: LessonEvidence, title: str, *, has_run: bool) -> list[Figure]:
    """Return the figures of a lesson; the first one answers its question."""
    if lesson.experiment == "neighbours":
        return [guesses(evidence.rows if has_run else (), title), densities()]
    if lesson.experiment == "packing":
        return [candidates(evidence.rows, title, has_run=has_run)]
    if lesson.experiment == "attacker":
        return [plane_of_errors(evidence, title, has_run=has_run)]
    if lesson.experiment is None and lesson.scenario.axis is None:
        return [exceedance(evidence, title)]
    return [curves(lesson, evidence, title)]


def heights(count: int) -> tuple[int, ...]:
    """Return the heights in pixels of a lesson's figures; two of them share the height of one."""
    return (HEIGHT,) if count == 1 else (HEIGHT - LOWER_HEIGHT, LOWER_HEIGHT)


def room_for_names(figure: Figure) -> int:
    """Return the width in pixels of the names and numbers (the ladder) beside a figure."""
    return 110 + 7 * max((len(row.name) for row in figure.ladder.rows), default=0)


def colour_named(key: str) -> Pair:
    """Return the colours of the line with this key: a method's slug, or a name of `SERIES`."""
    return SERIES[key][1] if key in SERIES else colour_of(CHOOSES.get(key, key))


def impossible_region(
    x: Sequence[float], upper: Sequence[float], lower: Sequence[float] = ()
) -> Region:
    """Return the red region below `upper`, which no private algorithm reaches.

    It ends at `lower` if that is given, and otherwise at the axis.
    """
    return Region(key="limit", name="impossible", x=x, upper=upper, lower=lower, look=IMPOSSIBLE)


def edge_row(name: str, value: float, end: float) -> LadderRow:
    """Return the row, beside the figure, of the edge of the red region; `end` is its height."""
    return LadderRow(
        key="limit",
        name=name,
        colour=IMPOSSIBLE.ink,
        swatch="edge",
        values=[rounded(value)],
        end=end,
    )


# -- curves -------------------------------------------------------------------------------------


def curves(lesson: Lesson, evidence: LessonEvidence, title: str) -> Figure:
    """Return the measured errors over the axis, with the proven limit and the error without data.

    The lines of the second set are dashed.
    """
    x_title, symbol, y_title, measured = _names_of_axes(lesson)
    lines = _lines(lesson, evidence)
    start, floor = (
        [list(v) for v in zip(*sorted(d.items()), strict=True)]
        for d in (evidence.start, evidence.floor)
    )
    blind = (
        [replace(thin_line("", *start), key="start", name="Answer without data", dash="dot")]
        if start
        else []
    )
    regions = [impossible_region(*floor)] if floor else []
    low, high = _vertical_range(lesson, evidence, [*lines, *blind], floor[1] if floor else [])
    # In a preview, a line may end early or leave the figure at the bottom.
    mark_x = max(x for line in lines for x, y in zip(line.x, line.y, strict=True) if y >= low)
    best, marks = "", []
    for line in (line for line in lines if line.key == core.PRIVATE):
        mark_x, best = line.x[int(np.argmin(line.y))], ", the best"
        marks = [replace(upright_line(mark_x, low, high, ""), dash="dot")]
    rows = [_ladder_row_of_line(line, mark_x, symbol, evidence) for line in [*lines, *blind]]
    place = f"At {symbol} = {number_text(mark_x)}{best}"
    if lesson.experiment == "look":  # Every row of this experiment has its own radius.
        place, name = "", f"Best fixed radius ({number_text(mark_x)})"
        rows = [
            replace(row, name=name, end=min(lines[0].y)) if row.key == core.PRIVATE else row
            for row in rows
        ]
    # The rows of this experiment end at the marked radius, not at the largest one.
    elif lesson.experiment == "radius":
        rows = [
            replace(row, end=_value_at(line, mark_x)) for row, line in zip(rows, lines, strict=True)
        ]
    rows += (
        [edge_row("Proven limit", floor[1][floor[0].index(mark_x)], floor[1][-1])] if floor else []
    )
    limit_words = Words(
        lines=["no private algorithm", "has a mean error here"],
        colour=IMPOSSIBLE.ink,
        want=(0.05, 0.02),
        below="limit",
    )
    grid = sorted({x for line in lines for x in line.x})
    panel = Panel(
        title="",
        x=log_axis(x_title, grid[0], grid[-1]),
        regions=regions,
        lines=[*lines, *blind, *marks],
        words=[limit_words] * bool(floor),
    )
    return Figure(
        panels=[panel],
        y=log_axis(y_title, low, high),
        ladder=Ladder(
            title=place,
            columns=[measured],
            rows=rows,
            leaders=lesson.experiment != "radius",
        ),
        alt=title,
    )


def _value_at(line: Line, x: float) -> float:
    """Return the height of a line at x, or at its last point if it has none at x."""
    return line.y[list(line.x).index(x) if x in line.x else -1]


def _names_of_axes(lesson: Lesson) -> tuple[str, str, str, str]:
    """Return the title and the symbol of the horizontal axis, the title of the vertical one, and
    a word for what is measured.
    """
    if lesson.experiment is not None:
        return AXES[lesson.experiment]
    words, symbol = words_for(lesson.scenario.problem), SYMBOL[str(lesson.scenario.axis)]
    return axis_title(lesson.scenario), symbol, words.error_axis, words.error.split()[-1]


def _lines(lesson: Lesson, evidence: LessonEvidence) -> list[Line]:
    """Return the measured lines of a lesson: one for each method, or for each experiment's series.

    With a second set there are two of each.
    """
    scenario, second_scenario = lesson.scenario, lesson.second_scenario
    names = short_names(scenario.methods)
    sets = {"": evidence.points}
    if second_scenario is not None:
        places = (f", {geometry_name(s.geometry, s.q)}" for s in (scenario, second_scenario))
        sets = dict(zip(places, (evidence.points, evidence.second_points), strict=True))
    column = "median" if lesson.experiment == "tails" else "mean"
    lines = []
    for (suffix, points), dash in zip(sets.items(), ("solid", "dash"), strict=False):
        for key in dict.fromkeys(p.series for p in points if p.series not in UNSEEN):
            look = _line_style(key, names)
            name = f"{look['name']}{suffix}"
            heights, low, high = (curve(points, key, c) for c in (column, "q10", "q90"))
            lines.append(
                Line(
                    key=f"{key}{suffix}",
                    x=list(heights),
                    y=list(heights.values()),
                    low=list(low.values()),
                    high=list(high.values()),
                    hover=[f"{name}: {rounded(y)}" for y in heights.values()],
                    **({"dash": dash} | look | {"name": name}),
                )
            )
    return lines


def _line_style(key: str, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the name, colour, symbol and dash of the line with this key, as fields of `Line`.

    `names` has the short names of methods.
    """
    look: dict[str, Any] = {"colour": colour_named(key)}
    if key in SERIES:
        return look | {"name": SERIES[key][0], "symbol": "circle"}
    if key in CHOOSES:
        name = method_card(CHOOSES[key]).name
        return look | {"name": name, "symbol": "diamond", "size": 13, "width": 0}
    dash = {"dash": "dash"} if is_dashed(key) else {}
    return look | dash | {"name": names[key], "symbol": symbol_of(key)}


def _vertical_range(
    lesson: Lesson, evidence: LessonEvidence, lines: Sequence[Line], floor: Sequence[float]
) -> tuple[float, float]:
    """Return the low and the high end of the vertical axis, with room for every prediction."""
    heights = list(floor)
    if lesson.height is not None:
        heights += [lesson.height(evidence, value) for value in lesson.numbers]
    for line in (line for line in lines if line.key != core.BIAS):
        heights += line.y
    # The bias falls towards 0, so its line leaves the figure at the bottom.
    top = max(max(line.y) for line in lines)
    return min(heights, default=top / SHOWN_BIAS) / 1.3, 1.3 * max([top, *heights])


def _ladder_row_of_line(line: Line, x: float, symbol: str, evidence: LessonEvidence) -> LadderRow:
    """Return the row of a line in the ladder: its value at x, or its mean over all trials."""
    name, value = line.name, _value_at(line, x)
    if line.key in CHOOSES:
        value = average_value(evidence.points, line.key)
    elif x not in line.x:
        name = f"{name} at {symbol} = {number_text(line.x[-1])}"
    return LadderRow(
        key=line.key,
        name=name,
        colour=PART_INKS.get(line.colour, line.colour),
        values=[rounded(value)],
        end=value if line.key in CHOOSES else line.y[-1],
        sign=SIGNS.get(line.symbol, ""),
    )


# -- other figures ------------------------------------------------------------------------------


def exceedance(evidence: LessonEvidence, title: str) -> Figure:
    """Return the figure of each method's percentage of samples whose error is larger than x."""
    lines: list[Line] = []
    for method, errors in errors_of(evidence.outcomes).items():
        values = np.sort(errors)
        shares_above = 100 * (1 - np.arange(len(values)) / len(values))
        lines.append(
            Line(
                key=method,
                name=method_card(method).name,
                x=values.tolist(),
                y=shares_above.tolist(),
                colour=INK if lines else METHODS["grey"],
            )
        )
    low = min(line.y[-1] for line in lines)
    y = log_axis("Samples with a larger error (log)", low, 105)
    x_axis = linear_axis("Error of the estimate, x", 0, 1.03 * max(line.x[-1] for line in lines))
    worst = worst_of_a_hundred(evidence.outcomes).values()
    return Figure(
        panels=[Panel(title="", x=x_axis, lines=lines)],
        y=replace(y, ticks=[(t, f"{t:g} %") for t in (0.5, 1, 5, 10, 50, 100) if t >= low]),
        ladder=ladder_of("Worst of a hundred", "error", lines, [short(x) for x in worst]),
        alt=title,
    )


def guesses(rows: Sequence[core.LessonRow], title: str) -> Figure:
    """Return the figure of the share of right guesses so far, and of the limit set by epsilon.

    Without rows of the experiment only the share of a tossed coin is drawn.
    """
    ceiling, end = 100 * guess_ceiling(core.GAME_EPSILON), core.LAST_POINTS["neighbours"]
    lines = [replace(thin_line("", [0, end], [50.0, 50.0]), key="coin", name="Tossing a coin")]
    regions, limits, words = [], [], []
    if rows:
        counts, shares = core.running_share(rows)
        name, colour = SERIES[core.RIGHT]
        lines.append(
            Line(
                key=core.RIGHT,
                name=name,
                x=counts.tolist(),
                y=(100 * shares).tolist(),
                colour=colour,
                width=2.4,
            )
        )
        regions = [impossible_region([0, end], [100.0, 100.0], [ceiling, ceiling])]
        words = [
            Words(
                lines=["no guess can be right more often"],
                colour=IMPOSSIBLE.ink,
                want=(0.5, 0.8),
            )
        ]
        limits = [edge_row("What ε allows", ceiling, ceiling)]
    ladder = ladder_of("", "percent", lines, [rounded(line.y[-1]) for line in lines])
    return Figure(
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
        ladder=replace(ladder, rows=[*ladder.rows, *limits]),
        alt=title,
    )


def densities() -> Figure:
    """Return the figure of the densities of the published share of yes, for either own answer."""
    outputs, without_it, with_it = core.output_densities(core.GAME_EPSILON)
    percent = (100 * outputs).tolist()
    looks = (
        ("You answer no", METHODS["grey"], without_it),
        ("You answer yes", METHODS["violet"], with_it),
    )
    lines = [
        Line(key=name, name=name, x=percent, y=y.tolist(), colour=colour, fill=0.13)
        for name, colour, y in looks
    ]
    peaks = [f"{percent[int(np.argmax(line.y))]:.0f} %" for line in lines]
    return Figure(
        panels=[
            Panel(
                title="",
                x=linear_axis("Published share of yes", percent[0], percent[-1], " %"),
                lines=lines,
            )
        ],
        y=replace(linear_axis("How likely (density)", 0, 1.12 * float(without_it.max())), ticks=[]),
        ladder=ladder_of("", "likeliest", lines, peaks),
        alt=f"The two heights differ by a factor of at most {math.exp(core.GAME_EPSILON):.2g}",
    )
