"""Tidy frames and evaluated bounds become a Plotly figure; no Streamlit in here."""

import math
from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from dpsco_app.parts.look import (
    Label,
    Look,
    line_part,
    log_axis,
    note,
    placed,
    quiet_axis,
    shared_layout,
)
from dpsco_app.parts.options import number_text
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
from dpsco_core.fields import is_linear
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
    "decay": "Decay a of the scales",
}

ROUNDING = 1e-6  # times the largest error: what is smaller is drawn below the figure
START = "Answer without data"
# Pixels: beside and below the figure for an axis without its numbers, and for a digit of these.
BESIDE, BELOW, A_DIGIT = 56, 67, 6


def error_figure(
    scenario: Scenario,  # with an axis
    measured: pd.DataFrame | Curves,  # a frame is the table of curves without a suffix
    bounds: Sequence[Evaluation],  # what to draw besides, at the points of the grid
    look: Look,
    # (x, risk) of the point at which optimisers start, if it is to be drawn
    start: Sequence[tuple[float, float]] = (),
    beside: Curves | None = None,  # of another scenario with the same axis and quantity
    # the vertical range, if not that of what is drawn
    ends: tuple[float, float] | None = None,
) -> go.Figure:
    """Return the figure of a study: measured errors between their bounds."""
    assert scenario.axis is not None
    own = measured if isinstance(measured, Curves) else Curves(table=measured)
    curves = curves_of(bounds)
    parts = [own] if beside is None else [beside, own]
    every = pd.concat([part.table for part in parts if not part.table.empty] or [own.table])
    low, high = ends or _range(every, curves, [risk for _, risk in start])
    drawn = lines_of(bounds, scenario)
    filled = [line.curve for line in drawn if line.filled]
    traces = [region(curve, look, low) for curve in filled]
    labels: list[Label] = []
    for line in drawn:
        lines, label = bound_lines(line.curve, scenario, look, line.name)
        traces += lines
        labels.append(label)
    names = []  # inside the figure
    if start:
        x, risks = zip(*start, strict=True)
        line = {"color": look.quiet, "width": 1.2, "dash": "dot"}
        traces.append(line_part(x, risks, line, START, [f"{START}<br>{r:.3g}" for r in risks]))
        if not look.compact and low < risks[-1] < high:  # at the right, where errors are small
            at = {"xref": "paper", "xanchor": "right", "yanchor": "bottom"}
            names.append(note(START, 0.995, math.log10(risks[-1]), look.quiet, **at))
    for part in parts:
        lines, ends_of_lines = curve_lines(scenario, part, look, low)
        traces += lines
        labels += ends_of_lines
    annotations = [
        *region_names(filled, scenario, look, low),
        *names,
        *([] if look.compact else placed(labels, low, high)),
    ]
    shared, quiet = shared_layout(look), quiet_axis(look)
    y_title, logarithmic = words_for(scenario.problem).error_axis, not is_linear(scenario.axis)
    y_axis = quiet | log_axis(look, (low, high), y_title) | {"automargin": False}
    y_axis["title"] |= quiet["title"]
    xs = sorted({*scenario.grid, *every["x"]})
    a, b = (math.log10(x) if logarithmic else x for x in (xs[0], xs[-1]))
    pad = PAD * (b - a) or 0.3
    x_title = AXIS_TITLES[scenario.axis] + (" (log)" if logarithmic else "")
    x_axis = quiet | {
        "automargin": False,
        "type": "log" if logarithmic else "linear",
        "title": quiet["title"] | {"text": x_title},
        "tickvals": list(scenario.grid),
        "ticktext": [number_text(x) for x in scenario.grid],
        "range": [a - pad, b + pad],
        "gridcolor": look.grid,
        "minor": {"ticks": ""},
        "zeroline": False,
    }
    # Room for the axes as it is known here: to find it out Plotly draws the figure twice.
    room = {"l": BESIDE + A_DIGIT * max(map(len, y_axis["ticktext"]), default=0), "b": BELOW}
    layout = shared | {
        "margin": shared["margin"] | room,
        "annotations": annotations,
        "xaxis": x_axis,
        "yaxis": y_axis,
    }
    return go.Figure({"data": traces, "layout": layout})


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
