"""The three figures of One run: path, gradients, parts of the error; no Streamlit in here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dpsco_app.parts.look import Label, Look, lay_out, log_ticks, place_labels, translucent
from dpsco_app.parts.options import number_text
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.anatomy import PARTS, ErrorParts, RiskPath

BINS = 40
SHORT_LINES = 16  # of text that fit beside a short figure
SHOWN_ERROR = 5.0  # times the least error: what is higher leaves the figure
PART_NAMES = {
    "optimisation": "optimisation",
    "bias": "clipping",
    "sampling": "sampling",
    "noise": "privacy noise",
}
PART_COLOURS = {
    "optimisation": ("#3f5a78", "#9fb9d3"),
    "bias": ("#0b57d0", "#7fb1ff"),
    "sampling": ("#5f6368", "#b8bcc2"),
    "noise": ("#b8510a", "#ffab66"),
}
assert tuple(PART_NAMES) == PARTS
CLIPPED = ("#0b7285", "#5cc8e8")


@dataclass(frozen=True, kw_only=True)
class RiskLine:
    """A path with how it is drawn."""

    name: str
    path: RiskPath
    colour: tuple[str, str]
    dash: str = "solid"
    relative: bool = False

    @property
    def x(self) -> list[float]:
        """Steps, or the share of the run in percent."""
        steps = self.path.steps.astype(float)
        return list(100 * steps / max(steps[-1], 1.0) if self.relative else steps)


def path_figure(lines: Sequence[RiskLine], look: Look) -> go.Figure:
    """Return the excess risk along each run; the first line is the private one."""
    figure = go.Figure()
    positive = [
        float(r) for line in lines for r in (*line.path.risks, line.path.final) if r > 0
    ] or [1.0]
    high = max(positive) * 1.7
    low = max(min(positive), high * 1e-6) / 1.7
    labels = []
    for i, line in reversed(list(enumerate(lines))):
        colour = look.colour(line.colour)
        y = [float(r) if r > low else None for r in line.path.risks]
        figure.add_trace(
            go.Scatter(
                x=line.x,
                y=y,
                mode="lines+markers" if len(y) <= 15 else "lines",
                line={"color": colour, "width": 2.8 if i == 0 else 1.8, "dash": line.dash},
                marker={"size": 6},
                name=line.name,
                hovertemplate=f"<b>{line.name}</b><br>%{{x:.3g}}: %{{y:.3g}}<extra></extra>",
            )
        )
        end = max(float(line.path.risks[-1]), low)
        labels.append(Label(text=f"<b>{line.name}</b>", y=end, colour=colour, rank=i))
    first = lines[0]
    if first.path.final > 0:
        _mark_release(figure, first, look)
    if not look.compact:
        place_labels(figure, labels, low, high, lines=SHORT_LINES)
    relative = first.relative
    figure.update_xaxes(
        title_text="Share of the run in %" if relative else "Steps done",
        gridcolor=look.grid,
        zeroline=False,
        rangemode="tozero",
        tickformat=",d",
    )
    _log_y(figure, low, high, "Excess population risk (log)", look)
    lay_out(figure, replace(look, short=True))
    return figure


def _mark_release(figure: go.Figure, line: RiskLine, look: Look) -> None:
    colour = look.colour(line.colour)
    figure.add_trace(
        go.Scatter(
            x=[line.x[-1]],
            y=[line.path.final],
            mode="markers",
            marker={"symbol": "star", "size": 15, "color": colour, "line": {"width": 1}},
            name="the point that is released",
            hovertemplate="<b>released</b><br>%{y:.3g}<extra></extra>",
        )
    )
    figure.add_annotation(
        x=line.x[-1],
        y=math.log10(line.path.final),
        text="released",
        showarrow=False,
        xanchor="right",
        xshift=-10,
        yshift=-12,
        font={"size": 12, "color": colour},
    )


def norm_bins(norms: Vector, radius: float) -> tuple[Vector, NDArray[np.intp]]:
    """Return the edges, shape (BINS + 1,), and counts, shape (BINS,), of the norms above 0.

    What is outside the edges counts in the first or the last bin.
    """
    positive = norms[norms > 0]
    shown = positive if len(positive) else np.array([radius])
    low, high = float(np.quantile(shown, 0.01)), float(shown.max())
    low, high = min(low, radius) / 1.5, max(high, radius) * 1.5
    edges = np.geomspace(low, high, BINS + 1)
    counts, _ = np.histogram(np.clip(positive, edges[0], edges[-1]), edges)
    return edges, counts


def norms_figure(norms: Vector, radius: float, look: Look) -> go.Figure:
    """Return the histogram of gradient norms, with the clip radius as a line."""
    figure = go.Figure()
    colour = look.colour(CLIPPED)
    edges, counts = norm_bins(norms, radius)
    low, high = float(edges[0]), float(edges[-1])
    middles = np.sqrt(edges[:-1] * edges[1:])
    figure.add_trace(
        go.Bar(
            x=middles,
            y=100 * counts / max(len(norms), 1),
            width=np.diff(edges),
            marker={
                "color": [translucent(colour, 1.0 if m > radius else 0.45) for m in middles],
                "line": {"width": 0},
            },
            hovertemplate="norm about %{x:.2g}: %{y:.2g} % of the gradients<extra></extra>",
            name="gradients",
            showlegend=False,
        )
    )
    _radius_line(figure, radius, look)
    figure.add_vrect(
        x0=radius, x1=high, fillcolor=translucent(colour, 0.1), line_width=0, layer="below"
    )
    _log_x(figure, low, high, "Norm of one record's gradient (log)", look)
    figure.update_yaxes(title_text="% of the records", gridcolor=look.grid, zeroline=False)
    lay_out(figure, replace(look, short=True, narrow=True))
    figure.update_layout(bargap=0)
    return figure


def parts_figure(parts: ErrorParts, radius: float, look: Look) -> go.Figure:
    """Return the four parts of the error, stacked, by clip radius; negative parts hang below 0."""
    figure = go.Figure()
    x = parts.radii.tolist()
    total = parts.total
    top = 1.08 * min(float(total.max()), SHOWN_ERROR * float(total.min()))
    values = {name: getattr(parts, name) for name in PARTS}
    for name in PARTS:
        for sign in (1, -1):
            part = np.maximum(sign * values[name], 0.0)
            if sign == -1 and not part.any():
                continue
            colour = look.colour(PART_COLOURS[name])
            figure.add_trace(
                go.Scatter(
                    x=x,
                    y=sign * part,
                    mode="lines",
                    stackgroup="adds" if sign == 1 else "takes off",
                    line={"width": 0.5, "color": colour},
                    fillcolor=translucent(colour, 0.55),
                    name=PART_NAMES[name] if sign == 1 else f"{PART_NAMES[name]}, reduces it",
                    customdata=values[name],
                    hovertemplate=f"{PART_NAMES[name]} %{{customdata:.3g}}<extra></extra>",
                    showlegend=sign == 1,
                )
            )
    figure.add_trace(
        go.Scatter(
            x=x,
            y=total,
            mode="lines",
            line={"color": look.ink, "width": 2.4},
            name="whole error",
            hovertemplate="whole error %{y:.3g}<extra></extra>",
        )
    )
    negative = sum(np.minimum(v, 0.0) for v in values.values())
    bottom = max(float(np.min(negative)), -top)
    if not look.compact:
        _name_parts(figure, x, values, top, look)
    _radius_line(figure, radius, look)
    figure.add_hline(y=0, line={"color": look.ink, "width": 1}, opacity=0.5)
    _log_x(figure, x[0], x[-1], "Clip radius (log)", look)
    figure.update_yaxes(
        title_text="Excess population risk",
        range=[1.05 * bottom, top],
        gridcolor=look.grid,
        zeroline=False,
        tickformat="~g",
    )
    lay_out(figure, replace(look, short=True, narrow=True))
    figure.update_layout(hovermode="x unified")
    return figure


def _name_parts(
    figure: go.Figure, x: list[float], values: dict[str, Vector], top: float, look: Look
) -> None:
    """Write each part's name where it is thickest, if a line of text fits into it there."""
    below = np.zeros(len(x))
    for name in PARTS:
        part = np.maximum(values[name], 0.0)
        visible = np.minimum(below + part, top) - np.minimum(below, top)
        around = np.minimum(np.minimum(visible[:-2], visible[1:-1]), visible[2:])
        k = 1 + int(around.argmax())
        if around[k - 1] > 0.05 * top:
            figure.add_annotation(
                x=math.log10(x[k]),
                y=float(min(below[k], top) + visible[k] / 2),
                text=PART_NAMES[name],
                showarrow=False,
                font={"size": 13, "color": look.ink},
            )
        below += part


def _radius_line(figure: go.Figure, radius: float, look: Look) -> None:
    figure.add_vline(x=radius, line={"color": look.ink, "width": 2, "dash": "dash"})
    figure.add_annotation(
        text=f"radius {radius_text(radius)}",
        x=math.log10(radius),
        y=1.0,
        yref="paper",
        yanchor="bottom",
        showarrow=False,
        font={"size": 12, "color": look.ink},
    )


def _log_x(figure: go.Figure, low: float, high: float, title: str, look: Look) -> None:
    ticks = log_ticks(low, high)
    figure.update_xaxes(
        type="log",
        range=[math.log10(low), math.log10(high)],
        title_text=title,
        tickvals=ticks,
        ticktext=[number_text(t) for t in ticks],
        gridcolor=look.grid,
        zeroline=False,
    )


def _log_y(figure: go.Figure, low: float, high: float, title: str, look: Look) -> None:
    ticks = log_ticks(low, high)
    figure.update_yaxes(
        type="log",
        range=[math.log10(low), math.log10(high)],
        title_text=title,
        tickvals=ticks,
        ticktext=[number_text(t) for t in ticks],
        gridcolor=look.grid,
        zeroline=False,
    )


def percent(share: float) -> str:
    """Return a share as people write it: 3 %, 0.02 %, none."""
    if share == 0:
        return "none"
    value = 100 * share
    return f"{value:.0f} %" if value >= 0.95 else f"{value:.1g} %"


def radius_text(radius: float) -> str:
    """Return a radius to two digits."""
    return number_text(float(f"{radius:.2g}"))
