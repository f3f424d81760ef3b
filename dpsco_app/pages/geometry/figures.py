"""Geometry's figures and the numbers behind them; no Streamlit in here."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpsco_app.figure.colours import INK, METHODS, QUIET, WINDOW
from dpsco_app.figure.values import Axis, Figure, Ladder, Line, Panel
from dpsco_app.pages.geometry.words import NOISE_NAMES
from dpsco_app.parts.options import rounded
from dpsco_app.parts.problem_words import geometry_name
from dpsco_app.parts.simple_figures import ladder_of, log_axis, upright_line
from dpsco_core.base.arrays import Matrix
from dpsco_core.explain.geometry import (
    GUIDES,
    DualSquare,
    Nearest,
    Shape,
    WidthRow,
    curve,
    line_across,
)

SET, POINT, REACH = WINDOW.edge, METHODS["magenta"], METHODS["green"]
NOISE_COLOURS = {"generalized gaussian": METHODS["violet"], "gaussian": METHODS["teal"]}
# The picture has one of two widths, for near and for far points.
NEAR_SPAN, SPANS = 1.42, (1.6, 2.25)
LONG = 8.0  # Half the length of a line that extends beyond the picture.
NO_POINTS = np.zeros((0, 2))


def set_figure(shape: Shape, projected: Nearest, alt: str) -> Figure:
    """Return the figure of a set, a point, its projection, and their normals and tangents.

    Each line that moves with the point has its own key, by which the browser finds it. A line with
    nothing to draw has no points.
    """
    boundary, x = curve(shape), projected.point
    span = max(1.12 * float(np.abs(boundary).max()), SPANS[bool(np.abs(x).max() > NEAR_SPAN)])
    reach = normal_line = touching = residual = NO_POINTS
    if len(projected.farthest):
        reach, normal_line = (
            np.stack([np.zeros(2), projected.foot]),
            line_across(projected.foot, x, LONG),
        )
    if projected.normal is not None:
        touching = line_across(projected.nearest, projected.normal, LONG)
        residual = np.stack([x, projected.nearest])
    lines = [
        _line("the set", boundary, colour=SET, width=2.5, fill=0.22),
        _line("across", normal_line, colour=REACH, width=1.2, dash="dot"),
        _line("reach", reach, colour=REACH, width=2),
        _line("touching", touching, colour=INK, width=1.2, dash="dot"),
        _line("residual", residual, colour=POINT, width=3),
        _line(
            "farthest",
            projected.farthest,
            colour=REACH,
            width=5,
            symbol="square",
            size=13,
            label="farthest",
            away=(-12, -14),
        ),
        _line(
            "nearest",
            projected.nearest[None],
            colour=POINT,
            width=0,
            symbol="diamond",
            size=10,
            label="P(x)",
            away=(12, -14),
        ),
        _line(
            "point",
            x[None],
            colour=INK,
            width=0,
            symbol="circle",
            size=9,
            label="x",
            away=(9, 9),
        ),
    ]
    x_axis, y_axis = (
        Axis(title=name, low=-span, high=span, ticks=_units(span), log=False)
        for name in ("w₁", "w₂")
    )
    return Figure(
        panels=[Panel(title="", x=x_axis, lines=lines)],
        y=y_axis,
        ladder=Ladder(title="", columns=[], rows=[]),
        alt=alt,
        square=True,
    )


def growth_figure(
    rows: Sequence[WidthRow], names: Mapping[str, str], kind: str, alt: str
) -> Figure:
    """Return the figure of every set's Gaussian width against d, with the set `kind` in colour."""
    dimensions = sorted({row.d for row in rows})
    lines = []
    for set_kind, name in names.items():
        widths = [row.width for row in rows if row.kind == set_kind]
        chosen = set_kind == kind
        notes = ["exact" if w.exact else f"at least {w.lower:.3g}, proven" for w in widths]
        lines.append(
            Line(
                key=set_kind,
                name=name,
                x=dimensions,
                y=[w.upper for w in widths],
                colour=METHODS["violet" if chosen else "grey"],
                width=4 if chosen else 1.6,
                hover=[f"{name}: {w.upper:.3g}, {a}" for w, a in zip(widths, notes, strict=True)],
                low=[w.lower for w in widths],
                high=[w.upper for w in widths],
            )
        )
    lines.sort(key=lambda line: line.width)
    ends = [y for line in lines for y in line.y]
    guides = [
        Line(
            key=name,
            name=name,
            x=dimensions,
            y=[guide(d) for d in dimensions],
            colour=QUIET,
            width=1.5,
            dash="dot",
        )
        for name, guide in GUIDES.items()
    ]
    exact = {row.kind: row.width.exact for row in rows if row.d == dimensions[-1]}
    values = [
        f"{'' if exact.get(line.key, True) else '≤ '}{rounded(line.y[-1])}"
        for line in [*lines, *guides]
    ]
    return Figure(
        panels=[
            Panel(
                title="",
                x=log_axis("Dimension d", dimensions[0], dimensions[-1]),
                lines=[*guides, *lines],
            )
        ],
        y=log_axis("Gaussian width at radius 1", min(ends) / 1.3, max(ends) * 1.3),
        ladder=ladder_of(f"At d = {dimensions[-1]:,}", "width", [*lines, *guides], values),
        alt=alt,
    )


def sweep_figure(rows: Sequence[DualSquare], q: float, alt: str) -> Figure:
    """Return the figure of both noises' squared dual norm against q, measured and bounded.

    `q` is one of the measured exponents; the ladder lists the values at it.
    """
    lines = []
    for noise, name in NOISE_NAMES.items():
        rows_of_noise = sorted((r for r in rows if r.noise == noise), key=lambda r: -r.q)
        exponents, mean = [r.q for r in rows_of_noise], [r.mean for r in rows_of_noise]
        hover = [
            f"{name}, q = {r.q:g}: {r.mean:.3g} ± {r.standard_error:.1g}" for r in rows_of_noise
        ]
        measured = Line(
            key=noise,
            name=name,
            x=exponents,
            y=mean,
            colour=NOISE_COLOURS[noise],
            symbol="circle" if noise == "gaussian" else "square",
            width=2.6,
            hover=hover,
            low=[r.low for r in rows_of_noise],
            high=[r.high for r in rows_of_noise],
        )
        bound = Line(
            key=f"{noise} bound",
            name=f"{name}, bound",
            x=exponents,
            y=[r.bound for r in rows_of_noise],
            colour=NOISE_COLOURS[noise],
            dash="dash",
        )
        lines += [measured, bound]
    high = 1.2 * max(max(r.bound, r.high) for r in rows)
    values = [rounded(line.y[list(line.x).index(q)]) for line in lines]
    ticks = [(x, f"{x:g}") for x in (1.0, 1.2, 1.4, 1.6, 1.8, 2.0)]
    # The axis runs down to q = 1 at the right, where the lines are far apart and have room for
    # names.
    axis = Axis(title="Exponent q of the parameters' norm", low=2, high=1, ticks=ticks, log=False)
    return Figure(
        panels=[Panel(title="", x=axis, lines=[*lines, upright_line(q, 0.55, high, f"q = {q:g}")])],
        y=log_axis("Squared dual norm, in d s²/2ρ", 0.55, high),
        ladder=ladder_of(f"At q = {q:g}", "squared norm", lines, values),
        alt=alt,
    )


# -- pictures of the plane --


def _units(span: float) -> list[tuple[float, str]]:
    """Return values and texts of an axis's ticks: 0 and a whole number on each side.

    `span` is half the length of the axis.
    """
    step = max(1, math.floor(span / 1.5))
    return [(float(v), f"{v}".replace("-", "−")) for v in (-step, 0, step)]


def _line(key: str, points: Matrix, **options: Any) -> Line:
    """Return the line through some points, shape (k, 2)."""
    x, y = points.T.tolist() if len(points) else ([], [])
    return Line(key=key, name=key, x=x, y=y, **options)


# -- tables --


def point_table(projected: Nearest) -> pd.DataFrame:
    """Return a table with one row per coordinate.

    Its columns are the point, its projection, their difference and, if there is one, a farthest
    point.
    """
    columns = {
        "Coordinate": ["1", "2"],
        "Point x": projected.point,
        "Projection P(x)": projected.nearest,
        "Residual": projected.point - projected.nearest,
    }
    if len(projected.farthest):
        columns["Farthest point"] = projected.farthest[0]
    return pd.DataFrame(columns)


def width_table_frame(rows: Sequence[WidthRow]) -> pd.DataFrame:
    """Return the table of Gaussian widths by set and d, each with its proven ends."""
    return pd.DataFrame(
        {
            "Set": [geometry_name(row.kind) for row in rows],
            "d": [row.d for row in rows],
            "At least": [row.width.lower for row in rows],
            "At most": [row.width.upper for row in rows],
            "Exact": [row.width.exact for row in rows],
        }
    )


def noise_table(rows: Sequence[DualSquare]) -> pd.DataFrame:
    """Return the table of squared dual norms by noise and q, as measured and as bounded."""
    return pd.DataFrame(
        {
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
    )
