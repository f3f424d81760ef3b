"""Tidy frames and evaluated bounds become a Plotly figure; no Streamlit in here."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from dpsco_app.parts.look import (
    Label,
    Look,
    Part,
    log_ticks,
    placed,
    quiet_axis,
    shared_layout,
    stale_marks,
)
from dpsco_app.parts.options import SYMBOL, number_text
from dpsco_app.parts.problem_words import words_for
from dpsco_app.parts.traces import (
    PAD,
    Curves,
    bound_lines,
    curve_lines,
    curves_of,
    lines_of,
    region,
    region_names,
)
from dpsco_core.results.report import Evaluation
from dpsco_core.scenario import Scenario

AXIS_TITLES = {
    "n": "Number of records n",
    "d": "Dimension d",
    "m": "Items per user m",
    "epsilon": "Privacy budget ε (epsilon)",
    "p": "Tail index p",
    "q": "Exponent q of the norm",
    "diameter": "Diameter D of the public set",
}

ROUNDING = 1e-6  # times the largest error: what is smaller is drawn below the figure
START = "Answer without data"
# Pixels: beside and below the figure for an axis without its numbers, and for a digit of these.
BESIDE, BELOW, A_DIGIT = 56, 67, 6


@dataclass(frozen=True, kw_only=True)
class Overlay:
    """A line that a visitor asked for: (x, error) by points, and what each says of itself."""

    name: str
    points: tuple[tuple[float, float], ...]
    hover: tuple[str, ...]
    colour: tuple[str, str]
    dash: str


def error_figure(
    scenario: Scenario,  # with an axis; its own value on the axis is marked
    measured: pd.DataFrame | Curves,  # a frame is the table of curves without a suffix
    bounds: Sequence[Evaluation],  # what to draw besides, at the points of the grid
    look: Look,
    # (x, risk) of the point at which optimisers start, if it is to be drawn
    start: Sequence[tuple[float, float]] = (),
    beside: Curves | None = None,  # of another scenario with the same axis and quantity
    # the vertical range, if not that of what is drawn: see `error_range`
    ends: tuple[float, float] | None = None,
    overlays: Sequence[Overlay] = (),  # further lines, in the figure whatever their size
) -> go.Figure:
    """Return the figure of a study: measured errors between their bounds."""
    assert scenario.axis is not None
    own = measured if isinstance(measured, Curves) else Curves(table=measured)
    curves = curves_of(bounds)
    parts = [own] if beside is None else [beside, own]
    every = pd.concat([part.table for part in parts if not part.table.empty] or [own.table])
    low, high = ends or _range(every, curves, [risk for _, risk in start])
    asked = [y for overlay in overlays for _, y in overlay.points]
    low, high = min([low, *(0.6 * y for y in asked)]), max([high, *(1.6 * y for y in asked)])
    drawn = lines_of(bounds, scenario)
    filled = [line.curve for line in drawn if line.filled]
    traces = [region(curve, look, low) for curve in filled]
    labels: list[Label] = []
    for line in drawn:
        lines, label = bound_lines(line.curve, scenario, look, line.name)
        traces += lines
        labels.append(label)
    if start:
        traces.append(_start_line(start, look))
    for overlay in overlays:
        traces.append(_overlay_line(overlay, look))
        y, colour = overlay.points[-1][1], look.colour(overlay.colour)
        labels.append(Label(text=f"<b>{overlay.name}</b>", y=y, colour=colour, rank=0))
    for part in parts:
        lines, names = curve_lines(scenario, part, look, low)
        traces += lines
        labels += names
    shapes, chosen = _chosen(scenario, look)
    annotations = [
        *region_names(filled, scenario, look, low),
        *_start_name(start, look, low, high),
        *([] if look.compact else placed(labels, low, high)),
        *chosen,
        *stale_marks(look),
    ]
    shared, y_axis = shared_layout(look), _y_axis(scenario, low, high, look)
    # Room for the axes as it is known here: to find it out Plotly draws the figure twice.
    room = {"l": BESIDE + A_DIGIT * max(map(len, y_axis["ticktext"]), default=0), "b": BELOW}
    layout = shared | {
        "margin": shared["margin"] | room,
        "annotations": annotations,
        "shapes": shapes,
        "xaxis": _x_axis(scenario, sorted({*scenario.grid, *every["x"]}), look),
        "yaxis": y_axis,
    }
    return go.Figure({"data": traces, "layout": layout})


def _x_axis(scenario: Scenario, xs: Sequence[float], look: Look) -> Part:
    axis = scenario.axis or "n"
    logarithmic = axis != "p"
    quiet = quiet_axis(look)
    title = {"text": AXIS_TITLES[axis] + (" (log)" if logarithmic else "")}
    return quiet | {
        "automargin": False,
        "type": "log" if logarithmic else "linear",
        "title": quiet["title"] | title,
        "tickvals": list(scenario.grid),
        "ticktext": [number_text(x) for x in scenario.grid],
        "range": _x_range(xs, logarithmic),
        "gridcolor": look.grid,
        "minor": {"ticks": ""},
        "zeroline": False,
    }


def _y_axis(scenario: Scenario, low: float, high: float, look: Look) -> Part:
    quiet, ticks = quiet_axis(look), log_ticks(low, high)
    return quiet | {
        "automargin": False,
        "type": "log",
        "title": quiet["title"] | {"text": words_for(scenario.problem).error_axis},
        "range": [math.log10(low), math.log10(high)],
        "tickvals": ticks,
        "ticktext": [number_text(t) for t in ticks],
        "gridcolor": look.grid,
        "zeroline": False,
    }


def error_range(
    table: pd.DataFrame, bounds: Sequence[Evaluation], start: Sequence[tuple[float, float]] = ()
) -> tuple[float, float]:
    """Return the vertical range of a figure of its own, for several that are to share one."""
    return _range(table, curves_of(bounds), [risk for _, risk in start])


def _range(
    table: pd.DataFrame, curves: list[list[Evaluation]], start: Sequence[float]
) -> tuple[float, float]:
    """Return the vertical range: all measured errors, and the bounds that are near them."""
    measured = [float(v) for c in ("q10", "q90", "mean_error") for v in table[c] if v > 0]
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
    pad = PAD * (b - a) or 0.3
    return [a - pad, b + pad]


def _start_line(start: Sequence[tuple[float, float]], look: Look) -> Part:
    return {
        "type": "scatter",
        "x": [x for x, _ in start],
        "y": [risk for _, risk in start],
        "mode": "lines",
        "line": {"color": look.quiet, "width": 1.2, "dash": "dot"},
        "hovertext": [f"{START}<br>{risk:.3g}" for _, risk in start],
        "hoverinfo": "text",
        "name": START,
    }


def _start_name(
    start: Sequence[tuple[float, float]], look: Look, low: float, high: float
) -> list[Part]:
    if not start or look.compact or not low < start[-1][1] < high:
        return []
    name: Part = {
        "text": START,
        "xref": "paper",
        "x": 0.995,
        "y": math.log10(start[-1][1]),
        "xanchor": "right",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 12, "color": look.quiet},
    }
    return [name]


def _overlay_line(overlay: Overlay, look: Look) -> Part:
    return {
        "type": "scatter",
        "x": [x for x, _ in overlay.points],
        "y": [y for _, y in overlay.points],
        "mode": "lines",
        "line": {"color": look.colour(overlay.colour), "width": 2.4, "dash": overlay.dash},
        "hovertext": overlay.hover,
        "hoverinfo": "text",
        "name": overlay.name,
    }


def _chosen(scenario: Scenario, look: Look) -> tuple[list[Part], list[Part]]:
    """Return the line and the words that mark the scenario's own value on the axis."""
    assert scenario.axis is not None
    value = getattr(scenario, scenario.axis)
    if value is None or not scenario.grid[0] <= value <= scenario.grid[-1]:
        return [], []
    at_end = value == scenario.grid[-1] and len(scenario.grid) > 1
    line = {
        "type": "line",
        "x0": value,
        "x1": value,
        "y0": 0,
        "y1": 1,
        "yref": "y domain",
        "line": {"color": look.ink, "width": 1, "dash": "dot"},
        "opacity": 0.6,
    }
    words = {
        "text": f"chosen {SYMBOL[scenario.axis]} = {number_text(value)}",
        "xanchor": "right" if at_end else "center",
        "x": math.log10(value) if scenario.axis != "p" else value,
        "y": 1.0,
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 12, "color": look.ink},
    }
    return [line], [words]
