"""The figures of the window between proven bounds; no Streamlit in here."""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dpsco_app.pages.lower_bounds.gap_words import (
    BOUND_LINE,
    LINE_NAMES,
    NO_DATA,
    SYMBOLS,
    axis_name,
    ranked,
)
from dpsco_app.pages.lower_bounds.words import brief
from dpsco_app.parts.curves import add_band, add_curve
from dpsco_app.parts.look import (
    GREY,
    REGION,
    SLATE,
    Label,
    Look,
    lay_out,
    log_axes,
    log_rows,
    place_labels,
    wrapped,
)
from dpsco_app.parts.options import number_text
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.window import Notion, Standing
from dpsco_core.scenario import Scenario

DASHES: dict[Notion, str] = {"approx": "dash", "zcdp": "solid", "pure": "solid"}


def sweep_figure(
    values: Vector, found: Sequence[Standing], here: Standing, field: str, look: Look
) -> go.Figure:
    """Return the best proven bounds over a field, the window between them shaded."""
    figure = go.Figure()
    upper = np.array([min(next(iter(s.windows.values())).ceiling, s.start) for s in found])
    floors = {k: np.array([s.windows[k].floor for s in found]) for k in here.windows}
    start = np.array([s.start for s in found])
    top = list(floors.values())[-1]
    add_band(figure, values, top, upper, look.colour(SLATE), alpha=0.12)
    lines = [(NO_DATA, start, GREY, "dot"), (BOUND_LINE, upper, SLATE, "solid")]
    lines += [(LINE_NAMES[k], y, REGION, DASHES[k]) for k, y in floors.items()]
    labels = []
    for rank, (name, y, pair, dash) in enumerate(lines):
        colour = look.colour(pair)
        about = [
            ", ".join(f"{brief(s.ratio(k))} times {LINE_NAMES[k]}" for k in s.windows)
            for s in found
        ]
        hover = f"{SYMBOLS[field]} = %{{x:,.4g}}: %{{y:.3g}}"
        hover += "<br>%{customdata}" if name == BOUND_LINE else ""
        add_curve(figure, values, y, name, colour, hover, width=2.4, dash=dash, customdata=about)
        labels.append(Label(text=name, y=float(y[-1]), colour=colour, rank=rank))
    own = float(getattr(here.point, field))
    figure.add_vline(x=own, line={"color": look.ink, "width": 1.2, "dash": "dot"})
    low = min(float(y[y > 0].min()) for y in floors.values() if (y > 0).any()) / 1.5
    high = float(start.max()) * 1.5
    ends = float(values[0]), float(values[-1])
    log_axes(figure, look, ends, (low, high), f"{axis_name(field)} (log)", "Worst-case error (log)")
    if not look.compact:
        place_labels(figure, labels, low, high, lines=20)
    lay_out(figure, look)
    figure.update_layout(height=520 if look.compact else 430, margin={"t": 56, "b": 50})
    return figure


def ranks_figure(here: Standing, look: Look) -> go.Figure:
    """Return every proven bound that holds, one a row, from the largest to the smallest."""
    rows = ranked(here)
    names = [wrapped(r.name, 20) if look.compact else r.name for r in rows]
    figure = go.Figure()
    for row, name in zip(rows, names, strict=True):
        colour = look.colour(SLATE if row.upper else REGION)
        figure.add_scatter(
            x=[row.value],
            y=[name],
            mode="markers+text",
            marker={"symbol": "diamond" if row.best else "circle", "size": 11, "color": colour},
            text=[f"  {brief(row.value)}"],
            textposition="middle right",
            textfont={"color": colour},
            hovertemplate=f"{name}: {brief(row.value)}, {row.about}<extra></extra>",
            cliponaxis=False,
            name=row.name,
        )
    values = [r.value for r in rows]
    ends = min(values) / 1.6, max(values) * 2.5
    log_rows(figure, look, ends, "Worst-case error (log)", names)
    lay_out(figure, look)
    figure.update_layout(
        height=(40 if look.compact else 28) * len(names) + 130,
        showlegend=False,
        margin={"t": 64, "b": 54, "l": 135 if look.compact else 300, "r": 16},
    )
    return figure


def map_figure(
    x: Vector, y: Vector, ratios: Vector, point: Scenario, field: str, look: Look
) -> go.Figure:
    """Return upper over lower on a plane of n and a field, the number in each cell."""
    across, up = (
        [number_text(float(f"{v:.3g}")) for v in x],
        [number_text(float(f"{v:.3g}")) for v in y],
    )
    page, ink = ("#171614", "#f2b8b5") if look.dark else ("#ffffff", "#b3261e")
    logs = np.log(np.maximum(ratios, 1.0))
    figure = go.Figure(
        go.Heatmap(
            x=across,
            y=up,
            z=logs,
            zmin=0.0,
            zmax=math.log(20.0),
            text=[[brief(float(f"{v:.2g}")) for v in row] for row in ratios],
            texttemplate="%{text}",
            textfont={"size": 10 if look.compact else 13},
            colorscale=[[0, page], [1, ink]],
            showscale=False,
            hovertemplate=f"n = %{{x}}, {SYMBOLS[field]} = %{{y}}: %{{text}} times<extra></extra>",
            xgap=1,
            ygap=1,
        )
    )
    column = int(np.argmin(abs(x - point.n)))
    row = int(np.argmin(abs(y - float(getattr(point, field)))))
    figure.add_shape(
        type="rect",
        x0=column - 0.5,
        x1=column + 0.5,
        y0=row - 0.5,
        y1=row + 0.5,
        line={"color": look.ink, "width": 2.5},
    )
    figure.update_xaxes(type="category", title_text=axis_name("n"), showgrid=False)
    figure.update_yaxes(type="category", title_text=axis_name(field), showgrid=False)
    lay_out(figure, look)
    figure.update_layout(height=460 if look.compact else 440, showlegend=False)
    if not look.compact:
        figure.update_layout(margin={"r": 20, "t": 56})
    return figure
