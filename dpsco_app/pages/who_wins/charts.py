"""The two maps of Who wins: whose rate is smallest, which term is largest; no Streamlit in here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dpsco_app.parts.charts import AXIS_TITLES
from dpsco_app.parts.look import Look, colour_of, lay_out, translucent, wrapped
from dpsco_app.parts.options import OPTIONS, SYMBOL, number_text
from dpsco_core.catalogue import method_card
from dpsco_core.explain.regimes import Plane, Regimes
from dpsco_core.scenario import Scenario

Indices = NDArray[np.intp]

# Terms are few; their colours are those of no method.
TERM_COLOURS = (
    ("#8fb8de", "#2f5d8a"),
    ("#e8b98a", "#8a5a2b"),
    ("#a9cfae", "#37704a"),
    ("#d3b3dc", "#6d4a80"),
    ("#c9c9c9", "#5a5a5a"),
    ("#e6d98f", "#7a6d22"),
    ("#e5a9ad", "#85424a"),
    ("#9ed3d6", "#2b6c70"),
)
LEAST_SHARE = 0.02  # of the map, for a region to get its name


def smallest_figure(found: Regimes, point: Scenario, look: Look) -> go.Figure:
    """Return the map of which method's rate is smallest."""
    colours = [look.colour(colour_of(b.card.method)) for b in found.bounds]
    names = [method_card(b.card.method).name for b in found.bounds]
    smallest = found.smallest
    figure = _map(found, smallest, [translucent(c, 0.45) for c in colours], names, look)
    _fade(figure, found, look)
    _click_targets(figure, found)
    _frontier(figure, found, point, look)
    _finish(figure, found.plane, point, look)
    return figure


def terms_figure(found: Regimes, point: Scenario, look: Look) -> go.Figure:
    """Return the map of which term of the first bound is largest."""
    colours = [look.colour(TERM_COLOURS[i % len(TERM_COLOURS)]) for i in range(len(found.terms))]
    figure = _map(found, found.dominant, colours, list(found.terms), look)
    _click_targets(figure, found)
    _frontier(figure, found, point, look)
    _finish(figure, found.plane, point, look)
    return figure


def _map(
    found: Regimes, index: Indices, colours: Sequence[str], names: Sequence[str], look: Look
) -> go.Figure:
    x, y = _place(found.plane.x), _place(found.plane.y)
    figure = go.Figure(
        go.Heatmap(
            x=x,
            y=y,
            z=np.where(index < 0, np.nan, index),
            zmin=-0.5,
            zmax=len(colours) - 0.5,
            colorscale=_steps(colours),
            showscale=False,
            hoverinfo="skip",
        )
    )
    for i, name in enumerate(names):
        where = np.argwhere(index == i)
        if len(where) < LEAST_SHARE * index.size:
            continue
        row, column = where[_inmost(index == i)]
        figure.add_annotation(
            x=x[column],
            y=y[row],
            text=f"<b>{wrapped(name, 16)}</b>",
            showarrow=False,
            font={"size": 12 if look.compact else 14, "color": look.ink},
        )
    return figure


def _inmost(inside: NDArray[np.bool_]) -> int:
    """Return which of the cells inside a region is farthest from its edge, widths counting more."""
    cells = np.argwhere(inside)
    outside = np.argwhere(~np.pad(inside, 1)) - 1
    scale = np.array([2.0, 1.0])  # names are wide: room to the left and right matters
    gaps = ((cells[:, None, :] - outside[None, :, :]) * scale) ** 2
    return int(gaps.sum(axis=2).min(axis=1).argmax())


def holding(found: Regimes) -> NDArray[np.bool_]:
    """Return where all hypotheses of the smallest bound hold, shape (rows, columns)."""
    smallest = found.smallest
    rows, columns = np.indices(smallest.shape)
    holds: NDArray[np.bool_] = found.holds[np.maximum(smallest, 0), rows, columns]
    return holds & (smallest >= 0)


def _fade(figure: go.Figure, found: Regimes, look: Look) -> None:
    """Fade the cells in which a hypothesis of the smallest bound fails."""
    holds = holding(found)
    if holds.all() or not holds.any():  # nothing to tell apart
        return
    page = "rgba(23,22,20,0.6)" if look.dark else "rgba(255,255,255,0.6)"
    figure.add_trace(
        go.Heatmap(
            x=_place(found.plane.x),
            y=_place(found.plane.y),
            z=np.where(holds, np.nan, 1.0),
            colorscale=[[0, page], [1, page]],
            showscale=False,
            hoverinfo="skip",
        )
    )


def _click_targets(figure: go.Figure, found: Regimes) -> None:
    """Lay invisible points over the map: they carry the hover's words and take clicks."""
    plane = found.plane
    x, y = _place(plane.x), _place(plane.y)
    grid_x, grid_y = np.meshgrid(x, y)
    data = [
        [float(plane.x[j]), float(plane.y[i]), *_values(found, i, j)]
        for i in range(len(plane.y))
        for j in range(len(plane.x))
    ]
    hidden = {"marker": {"opacity": 0}}
    figure.add_trace(
        go.Scatter(
            x=grid_x.ravel(),
            y=grid_y.ravel(),
            mode="markers",
            marker={"size": 14, "opacity": 0, "symbol": "square"},
            selected=hidden,
            unselected=hidden,
            customdata=data,
            hovertemplate=_hover(found),
            name="values",
            showlegend=False,
        )
    )


def _hover(found: Regimes) -> str:
    """Return what a point says: names once for all points, which hold their values alone."""
    names = [
        method_card(b.card.method).name if b.card.method else b.card.name for b in found.bounds
    ]
    if len(found.bounds) == 1:
        names.append("largest term")
    axes = (found.plane.x_axis, found.plane.y_axis)
    first = ", ".join(f"{SYMBOL[axis]} = %{{customdata[{2 + k}]}}" for k, axis in enumerate(axes))
    others = [f"{name}: %{{customdata[{4 + k}]}}" for k, name in enumerate(names)]
    return "<br>".join([first, *others]) + "<extra></extra>"


def _values(found: Regimes, row: int, column: int) -> list[str]:
    """Return the place, every bound's value, and the largest term of a single bound, as texts."""
    plane = found.plane
    texts = [axis_text(plane.x[column]), axis_text(plane.y[row])]
    for k in range(len(found.bounds)):
        value = found.values[k, row, column]
        number = f"{value:.2g}" if math.isfinite(value) else "no bound"
        texts.append(number + ("" if found.holds[k, row, column] else ", a condition fails"))
    if len(found.bounds) == 1:
        largest = int(found.dominant[row, column])
        texts.append(found.terms[largest] if largest >= 0 else "none")
    return texts


def _frontier(figure: go.Figure, found: Regimes, point: Scenario, look: Look) -> None:
    """Draw up to which epsilon one of the bounds is known to be optimal."""
    optimal = next((b.optimal for b in found.bounds if b.optimal), None)
    plane = found.plane
    if optimal is None or plane.y_axis != "epsilon":
        return
    d = plane.x if plane.x_axis == "d" else np.full(len(plane.x), float(point.d))
    epsilon = np.array([optimal.epsilon(float(value)) for value in d])
    inside = (epsilon >= plane.y[0]) & (epsilon <= plane.y[-1])
    if not inside.any():
        return
    x, y = _place(plane.x)[inside], _place(epsilon)[inside]
    figure.add_trace(
        go.Scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": look.ink, "width": 1.6, "dash": "dash"},
            hoverinfo="skip",
            name=optimal.text,
            showlegend=False,
        )
    )
    figure.add_annotation(
        x=float(x[len(x) // 3]),
        y=float(y[len(x) // 3]),
        text=optimal.text,
        showarrow=False,
        xanchor="left",
        yanchor="bottom",
        font={"size": 12, "color": look.ink},
    )


def _finish(figure: go.Figure, plane: Plane, point: Scenario, look: Look) -> None:
    """Mark the chosen point, and lay the figure out."""
    for axis, values, update in zip(
        (plane.x_axis, plane.y_axis),
        (plane.x, plane.y),
        (figure.update_xaxes, figure.update_yaxes),
        strict=True,
    ):
        ticks = [t for t in _ticks(axis) if 0.999 * values[0] <= t <= 1.001 * values[-1]]
        update(
            title_text=AXIS_TITLES[axis] + " (log)",
            tickvals=_place(np.array(ticks, dtype=float)).tolist(),
            ticktext=[number_text(t) for t in ticks],
            showgrid=False,
            zeroline=False,
            ticklabeloverflow="allow",
            range=[float(v) for v in _place(values[[0, -1]])],
        )
    here = [getattr(point, plane.x_axis), getattr(point, plane.y_axis)]
    figure.add_trace(
        go.Scatter(
            x=_place(np.array([float(here[0])])),
            y=_place(np.array([float(here[1])])),
            mode="markers",
            marker={
                "symbol": "circle-x-open",
                "size": 16,
                "color": look.ink,
                "line": {"width": 2.5},
            },
            hoverinfo="skip",
            name="chosen point",
            showlegend=False,
        )
    )
    lay_out(figure, replace(look, narrow=True))
    figure.update_layout(showlegend=False, clickmode="event+select", dragmode=False)
    figure.update_layout(height=460 if look.compact else 500)


def _ticks(axis: str) -> list[float]:
    """Return powers of ten, or a few round numbers on the short axis p."""
    if axis == "p":
        return [2, 3, 4, 6, 10, 20]
    return [v for v in OPTIONS[axis] if f"{v:e}".startswith("1.0")]


def _place(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where values lie on the figure: every axis is logarithmic, by hand, for the map."""
    placed: NDArray[np.float64] = np.log10(values)
    return placed


def _steps(colours: Sequence[str]) -> list[list[object]]:
    """Return a colour scale of flat steps."""
    count = len(colours)
    return [[edge, c] for i, c in enumerate(colours) for edge in (i / count, (i + 1) / count)]


def axis_text(value: float) -> str:
    """Return a value of an axis to three digits."""
    return number_text(float(f"{value:.3g}"))
