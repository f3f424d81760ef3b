"""Tidy frames and evaluated bounds become a Plotly figure; no Streamlit in here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from dpsco_app.bound_traces import curves_of, draw_bound, draw_region, is_floor, name_region
from dpsco_app.look import (
    COLOURS,
    SYMBOLS,
    Label,
    Look,
    lay_out,
    log_ticks,
    place_labels,
    translucent,
)
from dpsco_app.options import SYMBOL, number_text
from dpsco_app.problem_words import words_for
from dpsco_core.catalogue import method_card
from dpsco_core.report import Evaluation
from dpsco_core.scenario import Scenario

AXIS_TITLES = {
    "n": "Number of records n",
    "d": "Dimension d",
    "m": "Items a user m",
    "epsilon": "Privacy budget ε (epsilon)",
    "p": "Tail index p",
    "q": "Exponent q of the norm",
}

ROUNDING = 1e-6  # times the largest error: what is smaller is drawn below the figure
START = "Start, no data used"
PREVIOUS = 0.4  # opacity of the lines of settings that have changed since


@dataclass(frozen=True, kw_only=True, eq=False)
class Curves:
    """The measured curves of one scenario.

    Parameters
    ----------
    table : DataFrame
        The `summary` of the cells that have finished; may be empty.
    suffix : str
        What the curves' names end with; empty where there is nothing to tell apart.
    other : bool
        Whether they are those that are drawn beside: dashed, with open points.
    previous : bool
        Whether they are of settings that have changed since: faded.
    """

    table: pd.DataFrame
    suffix: str = ""
    other: bool = False
    previous: bool = False


@dataclass(frozen=True, kw_only=True)
class Line:
    """The line of one method: its name, and how it is drawn; see `Curves`."""

    method: str
    name: str
    other: bool
    previous: bool


def error_figure(
    scenario: Scenario,
    measured: pd.DataFrame | Curves,
    bounds: Sequence[Evaluation],
    look: Look,
    start: Sequence[tuple[float, float]] = (),
    beside: Curves | None = None,
    ends: tuple[float, float] | None = None,
) -> go.Figure:
    """Return the figure of a study: measured errors between their bounds.

    Parameters
    ----------
    scenario : Scenario
        With an axis; its own value on the axis is marked.
    measured : Curves or DataFrame
        What has been measured; a frame is the table of curves without a suffix.
    bounds : sequence of Evaluation
        What to draw besides, at the points of the grid.
    look : Look
    start : sequence of (x, risk)
        The excess risk of the point at which optimisers start, if it is to be drawn.
    beside : Curves, optional
        Those of another scenario with the same axis and quantity.
    ends : (float, float), optional
        The vertical range, if not that of what is drawn: see `error_range`.
    """
    assert scenario.axis is not None
    own = measured if isinstance(measured, Curves) else Curves(table=measured)
    figure = go.Figure()
    curves = curves_of(bounds)
    parts = [own] if beside is None else [beside, own]
    every = pd.concat([part.table for part in parts if not part.table.empty] or [own.table])
    low, high = ends or _range(every, curves, [risk for _, risk in start])
    labels: list[Label] = []
    proven = [c for c in curves if not any(e.failures for e in c)]
    floors = [c for c in proven if is_floor(c[0].bound.card)]
    for curve in floors:
        draw_region(figure, curve, look, low)
    name_region(figure, floors, scenario, look, low)
    for curve in curves:
        draw_bound(figure, curve, look, labels)
    if start:
        _draw_start(figure, start, look, labels)
    for part in parts:
        _draw_curves(figure, scenario, part, look, low, labels)
    xs = sorted({*scenario.grid, *every["x"]})
    if not look.compact:
        place_labels(figure, labels, low, high)
    _mark_chosen(figure, scenario, look)
    logarithmic = scenario.axis != "p"
    figure.update_layout(
        xaxis={
            "type": "log" if logarithmic else "linear",
            "title": {"text": AXIS_TITLES[scenario.axis] + (" (log)" if logarithmic else "")},
            "tickvals": list(scenario.grid),
            "ticktext": [number_text(x) for x in scenario.grid],
            "range": _x_range(xs, logarithmic),
            "gridcolor": look.grid,
            "minor": {"ticks": ""},
            "zeroline": False,
        },
        yaxis={
            "type": "log",
            "title": {"text": words_for(scenario.problem).error_axis},
            "range": [math.log10(low), math.log10(high)],
            "tickvals": log_ticks(low, high),
            "ticktext": [number_text(t) for t in log_ticks(low, high)],
            "gridcolor": look.grid,
            "zeroline": False,
        },
        overwrite=True,
    )
    lay_out(figure, look)
    return figure


def error_range(
    table: pd.DataFrame, bounds: Sequence[Evaluation], start: Sequence[tuple[float, float]] = ()
) -> tuple[float, float]:
    """Return the vertical range of a figure of its own, for several that are to share one."""
    return _range(table, curves_of(bounds), [risk for _, risk in start])


def _range(
    table: pd.DataFrame, curves: list[list[Evaluation]], start: Sequence[float]
) -> tuple[float, float]:
    """Return the vertical range: all measured errors, and the bounds that are near them."""
    measured = [float(v) for c in ("q10", "q90", "median_error") for v in table[c] if v > 0]
    measured = [v for v in measured if v > ROUNDING * max(measured)]
    lower = [e.value for c in curves if c[0].bound.card.kind == "lower" for e in c]
    upper = [e.value for c in curves if c[0].bound.card.kind == "upper" for e in c]
    values = measured + lower
    if not values:
        values = upper or [0.01, 1.0]
    top = max(measured or values)
    above = [u for u in upper if u < 30 * top] + [s for s in start if s < 30 * top]
    low = min(min(measured, default=math.inf), max(min(lower, default=math.inf), top * 1e-4))
    low = low if math.isfinite(low) else min(values)
    return low / 1.8, max([top, *above, *(v for v in lower if v < 10 * top)]) * 1.6


def _x_range(xs: Sequence[float], logarithmic: bool) -> list[float]:
    a, b = (math.log10(xs[0]), math.log10(xs[-1])) if logarithmic else (xs[0], xs[-1])
    pad = 0.03 * (b - a) or 0.3
    return [a - pad, b + pad]


def _draw_start(
    figure: go.Figure, start: Sequence[tuple[float, float]], look: Look, labels: list[Label]
) -> None:
    """Draw what an algorithm leaves that ignores the data and answers its starting point."""
    figure.add_trace(
        go.Scatter(
            x=[x for x, _ in start],
            y=[risk for _, risk in start],
            mode="lines",
            line={"color": look.quiet, "width": 1.2, "dash": "dot"},
            hovertext=[f"{START}<br>excess population risk {risk:.3g}" for _, risk in start],
            hoverinfo="text",
            name=START,
        )
    )
    labels.append(Label(text=START, y=start[-1][1], colour=look.quiet, rank=1))


def _draw_curves(
    figure: go.Figure,
    scenario: Scenario,
    part: Curves,
    look: Look,
    low: float,
    labels: list[Label],
) -> None:
    """Draw every method of a table, those of settings that have changed since included."""
    for method in part.table["method"].unique():
        rows = part.table[part.table["method"] == method]
        line = Line(
            method=method,
            name=method_card(method).name + part.suffix,
            other=part.other,
            previous=part.previous,
        )
        _draw_method(figure, scenario, rows, line, look, labels)
        _name_below(rows, line, look, low, labels)


def _draw_method(
    figure: go.Figure,
    scenario: Scenario,
    rows: pd.DataFrame,
    line: Line,
    look: Look,
    labels: list[Label],
) -> None:
    rows = rows[rows["median_error"] > 0].sort_values("x")
    if rows.empty:
        return
    name, method = line.name, line.method
    colour = look.colour(COLOURS[method])
    x, median = rows["x"].tolist(), rows["median_error"].tolist()
    upper, lower = rows["q90"].tolist(), rows["q10"].tolist()
    figure.add_trace(
        go.Scatter(
            x=[*x, *reversed(x)],
            y=[*upper, *reversed(lower)],
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor=translucent(colour, 0.07 if line.other or line.previous else 0.16),
            hoverinfo="skip",
            name=f"{name}, 10-90 %",
            showlegend=False,
        )
    )
    hover = [
        f"<b>{name}</b><br>{SYMBOL[scenario.axis or 'n']} = {number_text(r.x)}"
        f"<br>median {r.median_error:.3g}"
        f"<br>mean {r.mean_error:.3g} ± {r.standard_error:.1g}"
        f"<br>10-90 % of trials {r.q10:.3g} to {r.q90:.3g}"
        f"<br>{r.trials} trials · {1000 * r.seconds:.2g} ms each"
        for r in rows.itertuples()
    ]
    private = method_card(method).privacy != "none"
    figure.add_trace(
        go.Scatter(
            x=x,
            y=median,
            mode="lines+markers",
            line={
                "color": colour,
                "width": 2.6 if private else 2,
                "dash": "7px,4px" if line.other else "solid",
            },
            marker={
                "symbol": opened(SYMBOLS[method]) if line.other else SYMBOLS[method],
                "size": 8,
                "color": colour,
            },
            opacity=PREVIOUS if line.previous else 1,
            hovertext=hover,
            hoverinfo="text",
            name=name,
        )
    )
    text = name if line.other else f"<b>{name}</b>"
    labels.append(Label(text=text, y=median[-1], colour=colour, rank=1 if line.other else 0))


def opened(symbol: str) -> str:
    """Return the open form of a marker; what is open already gets a dot."""
    return f"{symbol}-dot" if symbol.endswith("-open") else f"{symbol}-open"


def _name_below(
    rows: pd.DataFrame, line: Line, look: Look, low: float, labels: list[Label]
) -> None:
    """Name a method at the lower edge if its line ends below the figure: it is right, or nearly."""
    last = rows.sort_values("x")["median_error"].iloc[-1]
    if last < low:
        text = f"{line.name}, below (error {max(last, 0):.0g})"
        colour = look.colour(COLOURS[line.method])
        labels.append(Label(text=f"<b>{text}</b>", y=low, colour=colour, rank=0))


def _mark_chosen(figure: go.Figure, scenario: Scenario, look: Look) -> None:
    assert scenario.axis is not None
    value = getattr(scenario, scenario.axis)
    if value is None or not scenario.grid[0] <= value <= scenario.grid[-1]:
        return
    figure.add_shape(
        type="line",
        x0=value,
        x1=value,
        y0=0,
        y1=1,
        yref="y domain",
        line={"color": look.ink, "width": 1, "dash": "dot"},
        opacity=0.6,
    )
    at_end = value == scenario.grid[-1] and len(scenario.grid) > 1
    figure.add_annotation(
        text=f"chosen {SYMBOL[scenario.axis]} = {number_text(value)}",
        xanchor="right" if at_end else "center",
        x=math.log10(value) if scenario.axis != "p" else value,
        y=1.0,
        yref="paper",
        yanchor="bottom",
        showarrow=False,
        font={"size": 12, "color": look.ink},
    )
