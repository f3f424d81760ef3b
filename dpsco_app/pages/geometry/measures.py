"""Geometry's numbers: charts of means, widths and norms of noise, and tables; no Streamlit."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpsco_app.pages.geometry.words import NOISE_NAMES
from dpsco_app.parts.curves import add_band, add_curve, named_line
from dpsco_app.parts.look import (
    CYAN,
    GREEN,
    GREY,
    PURPLE,
    ROLES,
    Label,
    Look,
    Pair,
    lay_out,
    log_axes,
    log_axis,
    log_ticks,
    place_labels,
)
from dpsco_app.parts.options import number_text
from dpsco_core.base.arrays import Matrix
from dpsco_core.explain.geometry import COMPARED, GUIDES, DualSquare, Nearest, RunningMean, WidthRow
from dpsco_core.geometry import Width

NOISE_COLOURS: dict[str, Pair] = {"generalized gaussian": PURPLE, "gaussian": CYAN}
COLOURS = "blue orange purple green gold brown magenta cyan lime slate"  # of `COMPARED`, in order
SET_COLOURS = {kind: ROLES[name] for kind, name in zip(COMPARED, COLOURS.split(), strict=True)}
TALL_LINES = 22  # of text that fit beside a tall figure


def running_figure(running: RunningMean, width: Width, look: Look) -> go.Figure:
    """Return the running mean of the support function, its interval, and the width."""
    figure = go.Figure()
    colour = look.colour(GREEN)
    x = running.draws
    add_band(figure, x, running.low, running.high, colour, "95 % interval")
    figure.add_scatter(
        x=x,
        y=running.means,
        mode="lines",
        line={"color": colour, "width": 2.8},
        name="mean of the draws so far",
        customdata=np.stack([running.low, running.high], axis=1),
        hovertemplate="%{x:,} draws: mean %{y:.3f}<br>interval %{customdata[0]:.3f} to "
        "%{customdata[1]:.3f}<extra></extra>",
    )
    ends = [float(x[0]), float(x[-1])]
    levels = (width.value,) if width.exact else (width.lower, width.upper)
    for k, level in enumerate(levels):
        name = "the width, exact" if width.exact else "proven bounds of the width"
        said = {"showlegend": k == 0, "hovertemplate": "%{y:.4g}<extra></extra>"}
        _curve(figure, ends, [level, level], name, look.ink, width=1.8, dash="dash", **said)
    shown = running.draws >= min(5, x[-1])
    values = [*running.low[shown], *running.high[shown], *running.means, *levels]
    low, high = max(0.0, min(values)), max(values)
    figure.update_yaxes(
        title_text="Mean of h(ξ)",
        range=[low - 0.05 * (high - low), high + 0.05 * (high - low)],
        gridcolor=look.grid,
        zeroline=False,
    )
    ticks = log_ticks(1, ends[1])
    figure.update_xaxes(
        type="log",
        title_text="Random directions drawn (log)",
        tickvals=ticks,
        ticktext=[number_text(t) for t in ticks],
        gridcolor=look.grid,
    )
    lay_out(figure, replace(look, short=True, narrow=True))
    figure.update_layout(
        height=520 if look.compact else 500,
        showlegend=True,
        legend={"orientation": "h", "yanchor": "top", "y": -0.2, "x": 0},
        margin={"t": 62},
    )
    return figure


def growth_figure(
    rows: Sequence[WidthRow], names: Mapping[str, str], chosen: str, look: Look
) -> go.Figure:
    """Return the width of every set against the dimension; `chosen` is drawn thick."""
    figure = go.Figure()
    labels = []
    values = [row.width.value for row in rows]
    low, high = min(values) / 1.5, max(values) * 1.5
    x = sorted({row.d for row in rows})
    for rank, (name, guide) in enumerate(GUIDES.items()):
        y = [guide(d) for d in x]
        name = f"{name}, a guide"
        _curve(figure, x, y, name, look.colour(GREY), dash="dot", width=1.5)
        labels.append(Label(text=name, y=y[-1], colour=look.quiet, rank=10 + rank))
    for kind, name in sorted(names.items(), key=lambda item: item[0] == chosen):
        mine = [row for row in rows if row.kind == kind]
        colour, bold = look.colour(SET_COLOURS[kind]), kind == chosen
        upper, lower = [r.width.upper for r in mine], [r.width.lower for r in mine]
        if not all(r.width.exact for r in mine):
            add_band(figure, x, lower, upper, colour)
        _curve(
            figure,
            x,
            upper,
            name,
            colour,
            width=4.5 if bold else 1.8,
            about=["exact" if r.width.exact else f"at least {r.width.lower:.3g}" for r in mine],
        )
        text = f"<b>{name}</b>" if bold else name
        labels.append(Label(text=text, y=upper[-1], colour=colour, rank=0 if bold else 5))
    if not look.compact:
        place_labels(figure, labels, low, high, lines=TALL_LINES)
    titles = ("Dimension d (log)", "Gaussian width at radius 1 (log)")
    log_axes(figure, look, (x[0], x[-1]), (low, high), *titles)
    lay_out(figure, look)
    if look.compact:
        figure.update_layout(height=680, legend={"y": -0.2})
    return figure


def _curve(
    figure: go.Figure,
    x: Sequence[float],
    y: Sequence[float],
    name: str,
    colour: str,
    *,
    about: Sequence[str] = (),
    **style: Any,
) -> None:
    hover = "%{x:,}: %{y:.3g}" + (" (%{customdata})" if about else "")
    data = {
        "customdata": list(about) or None,
        "hovertemplate": f"<b>{name}</b><br>{hover}<extra></extra>",
    }
    add_curve(figure, list(x), list(y), name, colour, hover, **data | style)


def sweep_figure(rows: Sequence[DualSquare], q: float, look: Look) -> go.Figure:
    """Return the squared dual norm of both kinds of noise against q, measured and bounded."""
    figure = go.Figure()
    labels = []
    for rank, (noise, name) in enumerate(NOISE_NAMES.items()):
        mine = sorted((r for r in rows if r.noise == noise), key=lambda r: r.q)
        colour = look.colour(NOISE_COLOURS[noise])
        x = [r.q for r in mine]
        add_band(figure, x, [r.low for r in mine], [r.high for r in mine], colour)
        bound, mean = [r.bound for r in mine], [r.mean for r in mine]
        _curve(figure, x, bound, f"{name}: proven bound", colour, width=1.8, dash="dash")
        spread = [f"80 % of the draws: {r.low:.2g} to {r.high:.2g}" for r in mine]
        more = {"about": spread, "mode": "lines+markers"}
        _curve(figure, x, mean, f"{name}: measured", colour, width=3.2, **more)
        labels += [
            Label(text=f"<b>{name}</b>", y=mean[0], colour=colour, rank=rank),
            Label(text="its bound", y=bound[0], colour=colour, rank=4 + rank),
        ]
    low, high = 0.55, 1.2 * max(max(r.bound, r.high) for r in rows)
    named_line(figure, look, q, f"q = {q:g}", log=False)
    figure.update_yaxes(log_axis(look, (low, high), "Squared dual norm, in d s²/2ρ (log)"))
    # q = 1 on the right, where the lines end apart and have room for their names.
    figure.update_xaxes(
        range=[2.02, 1.0],
        title_text="Exponent q of the parameters' norm",
        gridcolor=look.grid,
        zeroline=False,
    )
    if not look.compact:
        place_labels(figure, labels, low, high, lines=16)
    lay_out(figure, replace(look, short=True))
    figure.update_layout(height=560 if look.compact else 440, margin={"t": 76})
    return figure


# -- tables --


def projection_table(found: Nearest) -> pd.DataFrame:
    """Return the point, its projection and the residual, a coordinate a row."""
    columns = {
        "Coordinate": [f"{j + 1}" for j in range(len(found.point))],
        "Point x": found.point,
        "Projection P(x)": found.nearest,
        "Residual": found.point - found.nearest,
    }
    if found.dual_point is not None:
        columns["Dual point y"] = found.dual_point
    if len(found.farthest):
        columns["Farthest point"] = found.farthest[0]
    return pd.DataFrame(columns)


def width_frame(rows: Sequence[WidthRow], names: Mapping[str, str]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Set": [names[row.kind] for row in rows],
            "d": [row.d for row in rows],
            "At least": [row.width.lower for row in rows],
            "At most": [row.width.upper for row in rows],
            "Exact": [row.width.exact for row in rows],
        }
    )


def noise_table(rows: Sequence[DualSquare]) -> pd.DataFrame:
    columns = {
        "Noise": [NOISE_NAMES[row.noise] for row in rows],
        "q": [row.q for row in rows],
        "Measured": [row.mean for row in rows],
        "Standard error": [row.standard_error for row in rows],
        "10 %": [row.low for row in rows],
        "90 %": [row.high for row in rows],
        "Exact": [row.exact for row in rows],
        "Proven bound": [row.bound for row in rows],
        "Draws": [row.draws for row in rows],
    }
    if all(math.isnan(value) for value in columns["Exact"]):
        del columns["Exact"]
    return pd.DataFrame(columns)


def short_noise_table(rows: Sequence[DualSquare]) -> pd.DataFrame:
    """Return the same for a few rows, narrow enough for a phone."""
    return pd.DataFrame(
        {
            "Noise": [NOISE_NAMES[row.noise] for row in rows],
            "Measured": [f"{row.mean:.2f} ± {row.standard_error:.2f}" for row in rows],
            "Exact": [row.exact for row in rows],
            "Bound": [row.bound for row in rows],
        }
    )


def columns(name: str, points: Matrix) -> pd.DataFrame:
    """Return points, a point a row."""
    return pd.DataFrame(points, columns=[f"{name} {j + 1}" for j in range(points.shape[1])])
