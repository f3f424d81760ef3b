"""The figure of One run: the parts of the error by clip radius; no Streamlit in here."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpsco_app.figure.methods import colour_of
from dpsco_app.parts.curves import named_line
from dpsco_app.parts.error_parts import PART_COLOURS, PART_NAMES
from dpsco_app.parts.look import Look, lay_out, log_axis, note, set_axes, translucent
from dpsco_app.parts.options import short_text
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.anatomy import ErrorParts
from dpsco_core.explain.error_parts import PARTS

SHOWN_ERROR = 5.0  # times the least error: what is higher leaves the figure
ROOM = 0.13  # of the height, below 0


def parts_figure(parts: ErrorParts, radius: float, look: Look) -> go.Figure:
    """Return the four parts of the error, stacked, by clip radius; negative parts hang below 0."""
    figure = go.Figure()
    x, total = parts.radii.tolist(), parts.total
    top = 1.08 * min(float(total.max()), SHOWN_ERROR * float(total.min()))
    values = {name: getattr(parts, name) for name in PARTS}
    for name, value in values.items():
        for sign in (1, -1):
            part = np.maximum(sign * value, 0.0)
            if sign == -1 and not part.any():
                continue
            colour = look.colour(PART_COLOURS[name])
            figure.add_scatter(
                x=x,
                y=sign * part,
                mode="lines",
                stackgroup="adds" if sign == 1 else "takes off",
                line={"width": 0.5, "color": colour},
                fillcolor=translucent(colour, 0.55),
                name=PART_NAMES[name] if sign == 1 else f"{PART_NAMES[name]}, reduces it",
                customdata=value,
                hovertemplate=f"{PART_NAMES[name]} %{{customdata:.3g}}<extra></extra>",
                showlegend=sign == 1,
            )
    figure.add_scatter(
        x=x,
        y=total,
        mode="lines",
        line={"color": look.ink, "width": 2.4},
        name="whole error",
        hovertemplate="whole error %{y:.3g}<extra></extra>",
    )
    if not look.compact:
        _name_parts(figure, x, values, top, look)
    named_line(figure, look, radius, f"radius {short_text(radius, 2)}", width=2)
    figure.add_hline(y=0, line={"color": look.ink, "width": 1}, opacity=0.5)
    bottom = max(float(np.min(sum(np.minimum(v, 0.0) for v in values.values()))), -top)
    error = {
        "title": {"text": "Excess population risk"},
        "range": [1.05 * bottom, top],
        "gridcolor": look.grid,
        "zeroline": False,
        "tickformat": "~g",
    }
    set_axes(figure, log_axis(look, (x[0], x[-1]), "Clip radius (log)"), error)
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
            y = float(min(below[k], top) + visible[k] / 2)
            figure.add_annotation(**note(PART_NAMES[name], math.log10(x[k]), y, look.ink, 13))
        below += part


def add_choices(figure: go.Figure, choices: Vector, parts: ErrorParts, look: Look) -> go.Figure:
    """Return the figure with a strip below it: a tick for every private choice of the radius."""
    if not len(choices):
        return figure
    low, high = figure.layout.yaxis.range
    bottom = min(low, 0.0) - ROOM * high
    radii, counts = np.unique(choices, return_counts=True)

    def mark(name: str, radii: Any, colour: str, symbol: str, size: Any, here: str = "") -> None:
        line = {"color": colour, "width": 2.5 if here else 0}
        figure.add_scatter(
            x=list(radii),
            y=[bottom + 0.45 * ROOM * high] * len(radii),
            mode="markers",
            marker={"symbol": symbol, "size": size, "color": colour, "line": line},
            name=name,
            customdata=counts if here else None,
            hovertemplate=f"{name}{here}<extra></extra>",
        )

    looked = f"what looking privately chose, {len(choices)} runs"
    private, fixed = (look.colour(colour_of(m)) for m in ("sco.adaptive", "sco.clipped"))
    sizes = 7 + 9 * counts / counts.max()
    mark(looked, radii, private, "line-ns", sizes, ": %{customdata} here")
    mark("radius from the setting", [parts.chosen], fixed, "square", 9)
    mark("best in hindsight", [best_radius(parts)], look.ink, "star", 11)
    figure.update_yaxes(range=[bottom, high])
    return figure


def best_radius(parts: ErrorParts) -> float:
    return float(parts.radii[int(parts.total.argmin())])
