"""A map of the best method over two fields: its figure, its words and its numbers."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from dpsco_app.figure.colours import PALE, QUIET
from dpsco_app.figure.marks import cell_edges
from dpsco_app.figure.methods import colour_of, short_names
from dpsco_app.figure.values import Cells, Figure, Ladder, LadderRow, Panel
from dpsco_app.front.titles import axis_title
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.parts import controls
from dpsco_app.parts.options import SYMBOL, rounded, short_text
from dpsco_app.parts.simple_figures import log_axis
from dpsco_app.session.curves import HEAD_START_SECONDS
from dpsco_app.session.pace import figure_pace
from dpsco_core.catalogue import method_card
from dpsco_core.explain.contest import TRIALS, Contest, Reading
from dpsco_core.explain.regimes import Plane
from dpsco_core.fields import is_whole
from dpsco_core.scenario import Scenario

READING_NAMES: dict[Reading, str] = {
    "measured": "Measured",
    "proven": "Proven bounds",
    "rates": "Rates that hold",
}
SMALLEST: dict[Reading, str] = {
    "measured": "measured error",
    "proven": "proven bound",
    "rates": "rate that holds",
}
READING_NOTES: dict[Reading, str] = {
    "measured": f"Mean errors of {TRIALS} runs on the same data. Hatched: a tie, the 95 % interval "
    "of the paired differences holds 0.",
    "proven": "Upper bounds on the mean error, every constant proven. In brackets: a condition "
    "fails. Blank: no theorem holds.",
    "rates": "Every constant is 1: rates compare growth; near a border another may be better. "
    "In brackets: a condition fails. Blank: no theorem holds.",
}


IDLE, BLIND = "no better than ignoring the data", "an answer without data"


def nearest_cell(plane: Plane, point: Scenario) -> tuple[int, int]:
    """Return row and column of the map's cell that is nearest to the point, on log scales."""
    x, y = float(getattr(point, plane.x_axis)), float(getattr(point, plane.y_axis))
    return int(np.abs(np.log(plane.y / y)).argmin()), int(np.abs(np.log(plane.x / x)).argmin())


def cell_text(plane: Plane, row: int, column: int) -> str:
    """Return the values of both axes at a cell of the map, in words."""
    places = ((plane.x_axis, plane.x[column]), (plane.y_axis, plane.y[row]))
    return ", ".join(f"{SYMBOL[axis]}\xa0=\xa0{short_text(value)}" for axis, value in places)


def winner(contest: Contest, point: Scenario, reading: Reading) -> str:
    """Return the sentence on the best method in the cell of a point and on its share of the map."""
    row, column = nearest_cell(contest.plane, point)
    best, cell = int(contest.smallest[row, column]), cell_text(contest.plane, row, column)
    if not contest.has_value[row, column]:
        return f"Measuring, from {cell} outwards"
    if best < 0:
        absence = "No method runs" if reading == "measured" else "No theorem of the methods holds"
        return f"{absence} at {cell}"
    name, idle = method_card(contest.methods[best]).name, len(contest.methods)
    if contest.winners[row, column] == idle:
        return f"At {cell}, no method of this map beats {BLIND}; {name} comes nearest"
    smallest = f"The smallest {SMALLEST[reading]} at {cell}: {name}"
    if not contest.has_value.all():
        return smallest
    tie = "in a tie, best" if contest.ties[row, column] else "as"
    ties = contest.share(best, tied=True)
    tied_share = f" (tied on {100 * ties:.0f} %)" if ties else ""
    return f"{smallest}, {tie} on {best_on(contest, best)} of the map{tied_share}"


def best_on(contest: Contest, method: int) -> str:
    """Return the share of the map on which a method is best, in percent.

    `method` is its index; that after the last method is the answer without data.
    """
    return f"{100 * contest.share(method):.0f} %"


def value_text(value: float, *, holds: bool) -> str:
    """Return a value of the map as text, in brackets unless its conditions hold."""
    if math.isnan(value):
        return "not run yet"
    if math.isinf(value):
        return "none"
    return rounded(value) if holds else f"({rounded(value)})"


def contest_figure(contest: Contest, point: Scenario, reading: Reading) -> Figure:
    """Return the map; the table beside it has each method's value at the point and its share."""
    plane = contest.plane
    ends = [cell_edges(list(values)) for values in (plane.x, plane.y)]
    x, y = (
        log_axis(axis_title(replace(point, axis=axis)), edges[0], edges[-1])
        for axis, edges in zip((plane.x_axis, plane.y_axis), ends, strict=True)
    )
    names = list(short_names(contest.methods).values())

    def texts(row: int, column: int) -> list[str]:
        """Return the value of each method in a cell, as text."""
        pairs = zip(contest.values[:, row, column], contest.holds[:, row, column], strict=True)
        return [value_text(float(value), holds=bool(holds)) for value, holds in pairs]

    def hover_text(row: int, column: int) -> str:
        """Return the hover text of a cell: its place on both axes, and each method's value."""
        values = zip(names, texts(row, column), strict=True)
        idle = [IDLE] if contest.winners[row, column] == len(names) else []
        return "<br>".join([cell_text(plane, row, column), *map(" ".join, values), *idle])

    cells = Cells(
        x=list(plane.x),
        y=list(plane.y),
        kinds=[
            *((name, colour_of(m)) for name, m in zip(names, contest.methods, strict=True)),
            (IDLE, PALE),
        ],
        shows=contest.winners.tolist(),
        hatched=(contest.ties & contest.has_value & (contest.winners < len(names))).tolist(),
        hover=[[hover_text(i, j) for j in range(len(plane.x))] for i in range(len(plane.y))],
        chosen=(float(getattr(point, plane.x_axis)), float(getattr(point, plane.y_axis))),
    )
    return Figure(
        panels=[Panel(title="", x=x, cells=cells)],
        y=y,
        ladder=_ladder(contest, point, texts),
        alt=winner(contest, point, reading),
    )


def _ladder(contest: Contest, point: Scenario, texts: Callable[[int, int], list[str]]) -> Ladder:
    """Return the table of the methods in the visitor's cell, the best one first."""
    cell = nearest_cell(contest.plane, point)
    best = np.where(contest.holds[:, *cell], contest.values[:, *cell], np.inf)
    names = short_names(contest.methods)
    rows = [
        (contest.methods[k], names[contest.methods[k]], texts(*cell)[k], best_on(contest, int(k)))
        for k in np.argsort(best, kind="stable")
    ]
    if contest.start is not None and contest.share(len(names)):
        rows.append(
            ("idle", BLIND, rounded(float(contest.start[cell])), best_on(contest, len(names)))
        )
    listed = [
        LadderRow(
            key=key,
            name=f"■ {name}",
            colour=QUIET if key == "idle" else colour_of(key),
            values=[value, share],
            # Heights below the axis keep the rows in this order and give them no leader lines.
            end=-float(i),
            swatch="none",
        )
        for i, (key, name, value, share) in enumerate(rows)
    ]
    return Ladder(
        title=f"At {cell_text(contest.plane, *cell)}", columns=["value", "best on"], rows=listed
    )


def contest_table(contest: Contest) -> pd.DataFrame:
    """Return every method's value over the map, one row for each point, and the best method."""
    x, y = np.meshgrid(contest.plane.x, contest.plane.y)
    names = [method_card(m).name for m in contest.methods]
    columns: dict[str, object] = {
        SYMBOL[contest.plane.x_axis]: x.ravel(),
        SYMBOL[contest.plane.y_axis]: y.ravel(),
        "Best": [[*names, BLIND, "none"][i] for i in contest.winners.ravel()],
        "Tied": contest.ties.ravel(),
    }
    for k, name in enumerate(names):
        values = contest.values[k].ravel()
        columns[name] = np.where(np.isfinite(values), values, np.nan)
        columns[f"{name}, holds"] = contest.holds[k].ravel()
    return pd.DataFrame(columns)


def draw_contest(
    screen: FirstScreen,
    question: str,
    small: str,
    stages: Iterator[Contest],
    point: Scenario,
    reading: Reading,
    *,
    limits: Mapping[str, tuple[float, float]] | None = None,
    setting: str = "",
) -> None:
    """Draw the map repeatedly while it fills in, and then its numbers below it.

    `stages` yields the successive maps, the last of which is complete. A click moves the `point`,
    on each axis at most to the smallest and the largest value in `limits`. `small` is the small
    print below the answer, and `setting` the text at the foot of the map's files.
    """
    status = screen.foot.empty()
    pace = figure_pace(HEAD_START_SECONDS)
    contest = next(stages)
    whole = bool(contest.has_value.all())

    def draw(on_click: Callable[[str], None] | None = None) -> Figure:
        """Draw the map with its question and its answer, and return it."""
        figure = contest_figure(contest, point, reading)
        screen.say(
            question, figure.alt, f"{small}{READING_NOTES[reading]} A click moves the point."
        )
        screen.draw(figure, on_click)
        return figure

    for later in stages:
        # A complete map is drawn at once; a growing map is redrawn only now and then.
        if whole or pace.due():
            draw()
            status.progress(
                float(contest.has_value.mean()),
                f"{int(contest.has_value.sum())} of {contest.has_value.size} cells",
            )
        contest, whole = later, False
    status.empty()
    figure = draw(lambda key: move_point(key, contest.plane, limits or {}))
    screen.draw_files(figure, lambda: contest_table(contest), setting=setting)


def move_point(key: str, plane: Plane, limits: Mapping[str, tuple[float, float]]) -> None:
    """Move the scenario's point to the cell that was clicked, within the limits of each axis.

    This is a callback; `key` is that of the clicked figure.
    """
    points = st.session_state[key].selection.points
    if not points:
        return
    for axis, value in zip((plane.x_axis, plane.y_axis), points[0]["customdata"], strict=False):
        low, high = limits.get(axis, (value, value))
        allowed = float(f"{min(max(value, low), high):.2g}")
        controls.choose(axis, int(allowed) if is_whole(axis) else allowed)
