"""The figure of One run: the parts of the error by clip radius; no Streamlit in here."""

import math
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from dpsco_app.parts.look import Look, lay_out, log_ticks, translucent
from dpsco_app.parts.options import number_text
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.anatomy import PARTS, ErrorParts

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


def percent(share: float) -> str:
    """Return a share as people write it: 3 %, 0.02 %, none."""
    if share == 0:
        return "none"
    value = 100 * share
    return f"{value:.0f} %" if value >= 0.95 else f"{value:.1g} %"


def radius_text(radius: float) -> str:
    """Return a radius to two digits."""
    return number_text(float(f"{radius:.2g}"))
