"""Geometry's pictures of sets, in the plane and in space; no Streamlit in here."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dpsco_app.parts.look import (
    BLUE,
    GREEN,
    MAGENTA,
    ORANGE,
    Look,
    Pair,
    lay_out,
    note,
    set_axes,
    translucent,
)
from dpsco_core.base.arrays import Matrix
from dpsco_core.explain.geometry import (
    Directions,
    Mesh,
    Nearest,
    Shape,
    curve,
    line_across,
    mesh,
    polar_curve,
    polar_mesh,
)
from dpsco_core.geometry import row_norms

SET, POLAR, POINT, NEEDLE = BLUE, ORANGE, MAGENTA, GREEN
LARGEST_SPAN = 2.6  # what is further out leaves the picture
NEAR, ROOM = 1.42, (1.6, 2.25)  # the picture is as wide for every point that is near, or is not
LONG = 8.0  # half the length of a line that leaves the picture
AXES = ("w₁", "w₂", "w₃")


def set_figure(shape: Shape, found: Nearest, look: Look) -> go.Figure:
    """Return a set of the plane, its polar, a point, its projection and what belongs to them.

    What moves with the point says so in its `meta`, or a name of it in its `name`: so the browser
    finds it. Where there is nothing to draw it has no points.
    """
    figure, x = go.Figure(), found.point
    boundary, polar = curve(shape), polar_curve(shape)
    _outline(figure, polar, "its polar set", look.colour(POLAR), dash="dash", fill=0.07)
    _outline(figure, boundary, "the set", look.colour(SET), fill=0.22)
    inside = np.clip(polar, -LARGEST_SPAN, LARGEST_SPAN) / 1.1  # decides what is shown
    span = max(_span(boundary, inside), ROOM[bool(np.abs(x).max() > NEAR)])
    centre, nothing = np.zeros(2), np.zeros((0, 2))
    ink, needle, orange, magenta = look.ink, *map(look.colour, (NEEDLE, POLAR, POINT))
    reach = across = touching = residual = ray = nothing
    if len(found.farthest):
        reach, across = np.stack([centre, found.foot]), line_across(found.foot, x, LONG)
    if found.normal is not None:
        touching = line_across(found.nearest, found.normal, LONG)
        residual = np.stack([x, found.nearest])
    if found.dual_point is not None:
        ray = np.stack([centre, found.dual_point])
    for role, points, name, colour, width, dash in (
        ("across", across, "supporting line at the farthest point", needle, 1.2, "dot"),
        ("reach", reach, "reach in the direction of x", needle, 2, "solid"),
        ("touching", touching, "supporting line at P(x)", ink, 1.2, "dot"),
        ("ray", ray, "direction of the residual", orange, 1.5, "solid"),
        ("residual", residual, "residual x − P(x)", magenta, 3, "solid"),
        ("farthest", found.farthest, "farthest edge", needle, 5, "solid"),
    ):
        _line(figure, points, name, colour, width=width, dash=dash, meta=role)
    for role, points, name, colour, symbol, size in (
        ("farthest", found.farthest, "farthest point", needle, "square", 13),
        ("dual", ray[1:], "dual point y", orange, "circle", 10),
        ("nearest", found.nearest[None], "projection P(x)", magenta, "diamond", 9),
        ("point", x[None], "point x", ink, "circle", 9),
    ):
        _dots(figure, points, name, colour, symbol=symbol, size=size, meta=role)
    for role, text, points, colour, anchor, up in (
        ("point", "x", x[None], ink, "left", 9),
        ("", "the set", boundary.mean(axis=0)[None], look.colour(SET), "right", 12),
        ("", "its polar set", _at_top(polar, span)[None], orange, "center", 10),
        ("farthest", "farthest", found.farthest, needle, "right", -14),
        ("dual", "y", ray, orange, "left", 14),
        ("residual", "P(x)", residual, magenta, "left", -9),
    ):
        at_x, at_y = map(float, points[-1] if len(points) else centre)
        figure.add_annotation(
            **note(f"<b>{text}</b>", at_x, at_y, colour, 14),
            name=role or None,
            visible=len(points) > 0,
            xanchor=anchor,
            xshift={"right": -9, "left": 9}.get(anchor, 0),
            yshift=up,
        )
    _plane(figure, span, look, narrow=False)
    figure.update_layout(showlegend=False, height=460 if look.compact else 510)
    return figure


def _at_top(points: Matrix, span: float) -> Matrix:
    """Return the highest point of an outline in the picture, the middle of a side at the top."""
    seen = np.clip(points, -0.92 * span, 0.92 * span)
    high = np.concatenate([seen, (seen[1:] + seen[:-1]) / 2])
    return high[(high[:, 1] - 0.01 * np.abs(high[:, 0])).argmax()]


def reach_figure(shape: Shape, found: Directions, look: Look) -> go.Figure:
    """Return a few random directions with the lines that support the set there; or needles."""
    figure = go.Figure()
    colour = look.colour(NEEDLE)
    if shape.d == 3:
        surface = mesh(shape)
        _surface(figure, surface, "the set", look.colour(SET))
        for k, foot in enumerate(found.feet):
            needle = np.stack([np.zeros(3), foot])
            _line(figure, needle, "as far as the set reaches", colour, width=4, first=not k)
        _dots(figure, found.feet, "foot on the supporting plane", colour)
        _space(figure, _span(surface.points, found.feet), look)
        return figure
    boundary = curve(shape)
    _outline(figure, boundary, "the set", look.colour(SET), fill=0.22)
    for k, (xi, foot) in enumerate(zip(found.directions, found.feet, strict=True)):
        touching = line_across(foot, xi, LONG)
        _line(figure, touching, "supporting lines", look.ink, dash="dot", width=1, first=not k)
        arrow = np.stack([np.zeros(2), xi])
        _line(figure, arrow, "random directions ξ", colour, width=2, first=not k)
    _dots(figure, found.directions, "their ends", colour, symbol="triangle-up", hover=found.heights)
    _dots(figure, found.feet, "how far the set reaches", look.ink, size=6)
    _plane(figure, _span(boundary, found.feet, found.directions), look)
    return figure


def space_figure(shape: Shape, found: Nearest, turn: float, look: Look) -> go.Figure:
    """Return a set of the space, a point and its projection; one can turn it."""
    figure, surface = go.Figure(), mesh(shape)
    _surface(figure, surface, "the set", look.colour(SET))
    if found.normal is not None:
        residual = np.stack([found.point, found.nearest])
        _line(figure, residual, "residual x − P(x)", look.colour(POINT), width=7)
    _dots(figure, found.farthest, "farthest point", look.colour(NEEDLE), symbol="square")
    _dots(figure, found.nearest[None], "projection P(x)", look.colour(POINT), symbol="diamond")
    _dots(figure, found.point[None], "point x", look.ink)
    _space(figure, _span(surface.points, found.point[None]), look, turn)
    return figure


def polar_figure(shape: Shape, found: Nearest, turn: float, look: Look) -> go.Figure:
    """Return the polar of a set of the space, with the direction of the residual."""
    figure, surface = go.Figure(), polar_mesh(shape)
    _surface(figure, surface, "its polar set", look.colour(POLAR))
    if found.dual_point is not None:
        ray = np.stack([np.zeros(3), found.dual_point])
        _line(figure, ray, "direction of the residual", look.colour(POINT), width=7)
        _dots(figure, found.dual_point[None], "dual point y", look.colour(POINT))
    _space(figure, _span(surface.points), look, turn)
    return figure


def cloud_figure(
    draws: Matrix,
    contours: Sequence[tuple[str, Matrix, Pair]],
    colour: Pair,
    span: float,
    look: Look,
) -> go.Figure:
    """Return draws of noise; in the plane with the curves that hold 90 % of either kind."""
    figure = go.Figure()
    plain = look.colour(colour)
    flat = draws.shape[1] == 2
    shade = translucent(plain, 0.4) if flat else plain
    _dots(figure, draws, "one draw of the noise", shade, size=4 if flat else 2.6)
    for k, (name, points, pair) in enumerate(contours):
        dash = "dash" if k else "solid"
        _line(figure, points, name, look.colour(pair), dash=dash, width=2.5)
    if flat:
        _plane(figure, span, look, ("z₁", "z₂"))
    else:
        _space(figure, span, look, names=("z₁", "z₂", "z₃"))
    return figure


def _span(*groups: Matrix) -> float:
    """Return how far the axes go; in space also so far that no corner leaves the picture."""
    every = np.concatenate(groups)
    reach = float(np.abs(every).max())
    if every.shape[1] == 3:
        reach = max(reach, 0.85 * float(row_norms(every, 2.0).max()))
    return min(LARGEST_SPAN, 1.12 * reach)


def _outline(
    figure: go.Figure, points: Matrix, name: str, colour: str, *, fill: float, dash: str = "solid"
) -> None:
    figure.add_scatter(
        x=points[:, 0],
        y=points[:, 1],
        mode="lines",
        line={"color": colour, "width": 2.5, "dash": dash},
        fill="toself" if len(points) > 2 else None,
        fillcolor=translucent(colour, fill),
        name=name,
        hoverinfo="skip",
    )


def _line(
    figure: go.Figure,
    points: Matrix,
    name: str,
    colour: str,
    *,
    width: float,
    dash: str = "solid",
    first: bool = True,
    **more: Any,  # of the trace
) -> None:
    _add(
        figure,
        points,
        mode="lines",
        line={"color": colour, "width": width, "dash": dash},
        name=name,
        legendgroup=name,
        showlegend=first,
        hoverinfo="skip",
        **more,
    )


def _dots(
    figure: go.Figure,
    points: Matrix,
    name: str,
    colour: str,
    *,
    symbol: str = "circle",
    size: float = 9,
    hover: NDArray[np.float64] | None = None,
    **more: Any,
) -> None:
    places = ", ".join(f"%{{{axis}:.2f}}" for axis in "xyz"[: points.shape[1]])
    reach = "" if hover is None else "<br>reach h(ξ) %{customdata:.2f}"
    _add(
        figure,
        points,
        mode="markers",
        marker={
            "color": colour,
            "size": size if points.shape[1] == 2 else 0.5 * size,
            "symbol": symbol,
            "line": {"width": 0},
        },
        name=name,
        customdata=hover,
        hovertemplate=f"{name}<br>({places}){reach}<extra></extra>",
        **more,
    )


def _add(figure: go.Figure, points: Matrix, **shared: Any) -> None:
    add = figure.add_scatter if points.shape[1] == 2 else figure.add_scatter3d
    add(**dict(zip("xyz", points.T, strict=False)), **shared)


def _surface(figure: go.Figure, surface: Mesh, name: str, colour: str) -> None:
    figure.add_mesh3d(
        **dict(zip("xyz", surface.points.T, strict=True)),
        **dict(zip("ijk", surface.faces.T, strict=True)),
        color=colour,
        opacity=0.5,
        flatshading=surface.flat,
        lighting={"ambient": 0.6, "diffuse": 0.6, "specular": 0.15, "roughness": 0.7},
        lightposition={"x": 1000, "y": -600, "z": 2000},
        name=name,
        showlegend=True,
        hoverinfo="skip",
    )
    gap = np.full((1, 3), np.nan)
    edges = np.concatenate([part for line in surface.lines for part in (line, gap)])
    _line(figure, edges, "its edges", colour, width=4 if surface.flat else 2, first=False)


def _plane(
    figure: go.Figure,
    span: float,
    look: Look,
    names: Sequence[str] = AXES,
    *,
    narrow: bool = True,
) -> None:
    lay_out(figure, replace(look, short=True, narrow=narrow))
    axis = {
        "range": [-span, span],
        "gridcolor": look.grid,
        "zeroline": True,
        "zerolinecolor": translucent("#808080", 0.7),
        "zerolinewidth": 1,
        "tickformat": "~g",
        "constrain": "domain",
    }
    x, y = (axis | {"title": {"text": name}} for name in names[:2])
    # The picture is square whatever its place: a unit set fills it.
    set_axes(figure, x, y | {"scaleanchor": "x", "scaleratio": 1})
    _finish(figure, look, 460 if look.compact else 440)


def _space(
    figure: go.Figure, span: float, look: Look, turn: float = 35, names: Sequence[str] = AXES
) -> None:
    lay_out(figure, replace(look, short=True, narrow=True))
    angle = math.radians(turn)
    for j, name in enumerate(names):  # the axes through 0, with the places of −1 and 1
        ends = np.zeros((4, 3))
        ends[:, j] = (-span, -1, 1, span)
        _line(figure, ends, "axes", translucent("#808080", 0.9), width=2, first=False)
        _add(
            figure,
            ends[1:],
            mode="markers+text",
            marker={"size": [2.5, 2.5, 0.01], "color": "#808080"},
            text=["−1", "1", name],
            textfont={"color": look.ink, "size": [10, 10, 14]},
            showlegend=False,
            hoverinfo="skip",
        )
    hidden = {"range": [-span, span], "visible": False}
    figure.update_layout(
        scene={
            **{f"{axis}axis": hidden for axis in "xyz"},
            "aspectmode": "cube",
            "bgcolor": "rgba(0,0,0,0)",
            "camera": {
                "eye": {"x": 1.5 * math.cos(angle), "y": 1.5 * math.sin(angle), "z": 0.75},
                "center": {"x": 0, "y": 0, "z": -0.04},
            },
            # On a phone a finger on the picture scrolls the page; the slider turns it.
            "dragmode": False if look.compact else "turntable",
        },
        # A view that was turned by hand stays while the point moves.
        uirevision=f"{turn:g}",
    )
    _finish(figure, look, 400 if look.compact else 460)
    figure.update_layout(
        title=None, margin={"l": 0, "r": 0, "t": 0, "b": 10}, legend={"y": -0.02, "yanchor": "top"}
    )


def _finish(figure: go.Figure, look: Look, height: int) -> None:
    figure.update_layout(
        height=height,
        showlegend=True,
        legend={"orientation": "h", "yanchor": "top", "y": -0.2, "x": 0, "itemsizing": "constant"},
        margin={"t": 62, "b": 40, "r": 10},
    )
