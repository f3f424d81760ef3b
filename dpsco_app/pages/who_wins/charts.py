"""The two maps of Who wins: which method is best, which term is largest; no Streamlit in here."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dpsco_app.figure.methods import colour_of
from dpsco_app.parts.charts import AXIS_TITLES
from dpsco_app.parts.look import Look, lay_out, mark_chosen, note, translucent, wrapped
from dpsco_app.parts.options import OPTIONS, SYMBOL, number_text, short_text
from dpsco_core.catalogue import method_card
from dpsco_core.explain.contest import Contest
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
LEAST_SHARE = 0.05  # of the map, for a region to get its name
NEAR_EDGE = 0.2  # of the width: a name that would leave the map ends at its edge
NO_BOUND, TIED = "no theorem holds", "tied"


def winners_figure(found: Contest, point: object, look: Look) -> go.Figure:
    """Return the map of which method is best, ties hatched; the point has the axes' values."""
    colours = [translucent(look.colour(colour_of(m)), 0.55) for m in found.methods]
    names = [method_card(m).name for m in found.methods]
    figure = _map(found.plane, found.smallest, colours, names, look)
    _hatch(figure, found, look)
    nobody = (found.smallest < 0) & found.known
    if nobody.mean() >= LEAST_SHARE:
        _name(figure, found.plane, nobody, NO_BOUND, look.quiet, look)

    def texts(i: int, j: int) -> list[str]:
        return [
            value_text(*pair)
            for pair in zip(found.values[:, i, j], found.holds[:, i, j], strict=True)
        ]

    _click_targets(figure, found.plane, names, texts)
    _finish(figure, found.plane, point, look)
    return figure


def terms_figure(found: Regimes, point: Scenario, look: Look) -> go.Figure:
    """Return the map of which term of the first bound is largest."""
    colours = [look.colour(TERM_COLOURS[i % len(TERM_COLOURS)]) for i in range(len(found.terms))]
    figure = _map(found.plane, found.dominant, colours, found.terms, look)
    card = found.bounds[0].card
    names = [method_card(card.method).name if card.method else card.name, "largest term"]

    def texts(i: int, j: int) -> list[str]:
        largest = int(found.dominant[i, j])
        value = value_text(found.values[0, i, j], found.holds[0, i, j])
        return [value, found.terms[largest] if largest >= 0 else "none"]

    _click_targets(figure, found.plane, names, texts)
    _frontier(figure, found, point, look)
    _finish(figure, found.plane, point, look)
    return figure


def _map(
    plane: Plane, index: Indices, colours: Sequence[str], names: Sequence[str], look: Look
) -> go.Figure:
    count = len(colours)
    figure = go.Figure(
        go.Heatmap(
            x=np.log10(plane.x),
            y=np.log10(plane.y),
            z=np.where(index < 0, np.nan, index),
            zmin=-0.5,
            zmax=count - 0.5,
            colorscale=[
                [edge, c] for i, c in enumerate(colours) for edge in (i / count, (i + 1) / count)
            ],
            showscale=False,
            hoverinfo="skip",
            xgap=1,  # cells are seen to be cells
            ygap=1,
        )
    )
    for i, name in enumerate(names):
        if (index == i).mean() >= LEAST_SHARE:
            _name(figure, plane, index == i, f"<b>{wrapped(name, 16)}</b>", look.ink, look)
    return figure


def _name(
    figure: go.Figure, plane: Plane, inside: NDArray[np.bool_], text: str, colour: str, look: Look
) -> None:
    """Write a name into a region; near an edge of the map it ends there."""
    row, column = np.argwhere(inside)[_inmost(inside)]
    edges, at = _edges(plane.x), np.log10(plane.x)
    share = (at[column] - edges[0]) / (edges[-1] - edges[0])
    anchor = "left" if share < NEAR_EDGE else "right" if share > 1 - NEAR_EDGE else "center"
    place = {"left": edges[column], "right": edges[column + 1], "center": at[column]}
    size, y = 12 if look.compact else 14, float(np.log10(plane.y)[row])
    figure.add_annotation(**note(text, float(place[anchor]), y, colour, size, xanchor=anchor))


def _edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where the cells of a map begin and end, as it is drawn."""
    at = np.log10(values)
    if len(at) < 2:
        return np.array([at[0] - 0.5, at[0] + 0.5])
    middle = (at[1:] + at[:-1]) / 2
    ends = (at[0] - (middle[0] - at[0]), at[-1] + (at[-1] - middle[-1]))
    return np.concatenate([ends[:1], middle, ends[1:]])


def _hatch(figure: go.Figure, found: Contest, look: Look) -> None:
    """Draw diagonals through the cells whose best methods are tied."""
    x, y = _edges(found.plane.x), _edges(found.plane.y)
    lines: tuple[list[float | None], list[float | None]] = ([], [])
    for i, j in np.argwhere(found.ties & found.known):
        wide, high = x[j + 1] - x[j], y[i + 1] - y[i]
        for a, b, c, d in ((0, 0.5, 0.5, 1), (0, 0, 1, 1), (0.5, 0, 1, 0.5)):
            lines[0].extend([x[j] + a * wide, x[j] + c * wide, None])
            lines[1].extend([y[i] + b * high, y[i] + d * high, None])
    if lines[0]:
        figure.add_scatter(
            x=lines[0],
            y=lines[1],
            mode="lines",
            line={"color": look.ink, "width": 0.8},
            opacity=0.55,
            hoverinfo="skip",
            name=TIED,
            showlegend=False,
        )


def _inmost(inside: NDArray[np.bool_]) -> int:
    """Return which of the cells inside a region is farthest from its edge, widths counting more."""
    cells = np.argwhere(inside)
    outside = np.argwhere(~np.pad(inside, 1)) - 1
    scale = np.array([2.0, 1.0])  # names are wide: room to the left and right matters
    gaps = ((cells[:, None, :] - outside[None, :, :]) * scale) ** 2
    return int(gaps.sum(axis=2).min(axis=1).argmax())


def _click_targets(
    figure: go.Figure, plane: Plane, names: Sequence[str], texts: Callable[[int, int], list[str]]
) -> None:
    """Lay invisible points over the map: they carry the hover's words and take clicks."""
    grid_x, grid_y = np.meshgrid(np.log10(plane.x), np.log10(plane.y))
    data = [
        [float(x), float(y), short_text(x), short_text(y), *texts(i, j)]
        for i, y in enumerate(plane.y)
        for j, x in enumerate(plane.x)
    ]
    axes = (plane.x_axis, plane.y_axis)
    first = ", ".join(f"{SYMBOL[axis]} = %{{customdata[{2 + k}]}}" for k, axis in enumerate(axes))
    others = [f"{name}: %{{customdata[{4 + k}]}}" for k, name in enumerate(names)]
    hidden = {"marker": {"opacity": 0}}
    figure.add_scatter(
        x=grid_x.ravel(),
        y=grid_y.ravel(),
        mode="markers",
        marker={"size": 14, "opacity": 0, "symbol": "square"},
        selected=hidden,
        unselected=hidden,
        customdata=data,
        hovertemplate="<br>".join([first, *others]) + "<extra></extra>",
        name="values",
        showlegend=False,
    )


def value_text(value: float, holds: bool) -> str:
    if math.isnan(value):
        return "not run yet"
    number = f"{value:.2g}" if math.isfinite(value) else "none"
    return number + ("" if holds or not math.isfinite(value) else ", a condition fails")


def _frontier(figure: go.Figure, found: Regimes, point: Scenario, look: Look) -> None:
    """Draw up to which epsilon the first bound is known to be optimal."""
    plane, optimal = found.plane, found.bounds[0].optimal
    if optimal is None or plane.y_axis != "epsilon":
        return
    d = plane.x if plane.x_axis == "d" else np.full(len(plane.x), float(point.d))
    epsilon = np.array([optimal.epsilon(float(value)) for value in d])
    inside = (epsilon >= plane.y[0]) & (epsilon <= plane.y[-1])
    if not inside.any():
        return
    x, y = np.log10(plane.x)[inside], np.log10(epsilon)[inside]
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": look.ink, "width": 1.6, "dash": "dash"},
        hoverinfo="skip",
        name=optimal.text,
        showlegend=False,
    )
    at = optimal.text, float(x[len(x) // 3]), float(y[len(x) // 3]), look.ink
    figure.add_annotation(**note(*at, xanchor="left", yanchor="bottom"))


def _finish(figure: go.Figure, plane: Plane, point: object, look: Look) -> None:
    """Mark the chosen point, and lay the figure out: all axes are logarithmic, by hand."""
    titles = AXIS_TITLES | ({"n": "Users n"} if plane.x_axis == "m" else {})
    for axis, values, update in (
        (plane.x_axis, plane.x, figure.update_xaxes),
        (plane.y_axis, plane.y, figure.update_yaxes),
    ):
        powers = [v for v in OPTIONS[axis] if f"{v:e}".startswith("1.0")]
        round_values = [2, 3, 4, 6, 10, 20] if axis == "p" else powers  # p has few of them
        ticks = [t for t in round_values if 0.999 * values[0] <= t <= 1.001 * values[-1]]
        update(
            title_text=titles[axis] + " (log)",
            tickvals=[math.log10(t) for t in ticks],
            ticktext=[number_text(t) for t in ticks],
            showgrid=False,
            zeroline=False,
            ticklabeloverflow="allow",
            range=[float(v) for v in _edges(values)[[0, -1]]],
        )
    x, y = (np.log10([float(getattr(point, axis))]) for axis in (plane.x_axis, plane.y_axis))
    mark_chosen(figure, x, y, look)
    lay_out(figure, replace(look, narrow=True))
    figure.update_layout(showlegend=False, clickmode="event+select", dragmode=False)
    figure.update_layout(height=460 if look.compact else 500)
