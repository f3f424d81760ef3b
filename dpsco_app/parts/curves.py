"""Curves with names at their ends, on logarithmic axes: what the figures of several pages share."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go

from dpsco_app.parts.look import Ends, Label, Look, lay_out, log_axes, place_labels


def add_curve(
    figure: go.Figure,
    x: Sequence[float],
    y: Sequence[float],
    name: str,
    colour: str,
    hover: str,  # what follows the name
    *,
    width: float = 2.8,
    dash: str = "solid",
    **more: Any,  # of the trace
) -> None:
    """Draw a line."""
    trace = {
        "mode": "lines",
        "line": {"color": colour, "width": width, "dash": dash},
        "hovertemplate": f"{name}<br>{hover}<extra></extra>",
    }
    figure.add_scatter(x=x, y=y, name=name, **trace | more)


def named_line(
    figure: go.Figure, look: Look, x: float, text: str, *, log: bool = True, **line: Any
) -> None:
    """Draw a vertical line with its name at the top; the axis may be logarithmic."""
    line = {"color": look.ink, "width": 1.5, "dash": "dash"} | line
    figure.add_vline(x=x, line=line)
    figure.add_annotation(
        text=text,
        x=math.log10(x) if log else x,
        y=1.0,
        yref="paper",
        yanchor="bottom",
        showarrow=False,
        font={"size": 12, "color": line["color"]},
    )


def finish(
    figure: go.Figure,
    look: Look,
    x: Ends,
    y: Ends,
    titles: tuple[str, str],
    labels: Sequence[Label],
    *,
    heights: tuple[int, int] = (450, 560),  # on a screen, and on a phone
    bottom: int = 48,
    right: int | None = None,  # room for the names; None leaves it to `lay_out`
) -> go.Figure:
    """Return the figure with both axes logarithmic, and the names at the right edge."""
    log_axes(figure, look, x, y, *titles)
    if not look.compact:
        place_labels(figure, list(labels), *y, lines=20)
    lay_out(figure, replace(look, short=True))
    figure.update_layout(height=heights[look.compact], margin={"t": 76, "b": bottom})
    if right is not None and not look.compact:
        figure.update_layout(margin={"r": right})
    return figure
