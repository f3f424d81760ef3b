"""The figures of the page Privacy: budgets and their composition; no Streamlit in here."""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dpsco_app.pages.privacy.words import CONVERSION_NAMES, ROUTE_NAMES, accounting_names
from dpsco_app.parts.curves import add_curve
from dpsco_app.parts.look import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    Label,
    Look,
    lay_out,
    log_axis,
    place_labels,
)
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.budgets import BudgetCurves, Composed, Shuffled

CONVERSION_COLOURS = {"paper": ORANGE, "tight": PURPLE, "gaussian": BLUE}
ACCOUNTING_COLOURS = {"basic": GREY, "advanced": ORANGE, "zcdp": PURPLE, "exact": BLUE}
ROUTE_COLOURS = {
    "none": GREY,
    "printed": ORANGE,
    "closed": PURPLE,
    "numerical": BLUE,
    "steps": GREEN,
}
DASHES = {"paper": "dash", "tight": "dot", "gaussian": "solid"} | {
    "basic": "longdash",
    "advanced": "dash",
    "zcdp": "dot",
    "exact": "solid",
    "none": "longdash",
    "printed": "dash",
    "closed": "dot",
    "numerical": "solid",
    "steps": "dashdot",
}
Line = tuple[str, str, Vector, Vector, tuple[str, str], str]


def conversions_figure(
    curves: BudgetCurves, chosen: Sequence[tuple[str, float, float]], look: Look
) -> go.Figure:
    """Return epsilon over rho; `chosen` are (conversion, rho, epsilon) of the present point."""
    lines: list[Line] = [
        (key, name, curves.rho, getattr(curves, key), CONVERSION_COLOURS[key], "ρ")
        for key, name in CONVERSION_NAMES.items()
    ]
    marks = [(rho, epsilon, CONVERSION_COLOURS[key]) for key, rho, epsilon in chosen]
    return _figure(lines, marks, look, "zCDP parameter ρ (log)", "ε at the chosen δ (log)")


def composed_figure(
    rows: Sequence[Composed], at: Composed, look: Look, *, pure: bool = False
) -> go.Figure:
    """Return epsilon over the number of releases; `at` is marked."""
    x = np.array([float(row.releases) for row in rows])
    lines: list[Line] = []
    marks = []
    for key, name in accounting_names(pure=pure).items():
        y = np.array([getattr(row, key) for row in rows])
        lines.append((key, name, x, y, ACCOUNTING_COLOURS[key], "releases"))
        marks.append((float(at.releases), float(getattr(at, key)), ACCOUNTING_COLOURS[key]))
    return _figure(lines, marks, look, "Releases k (log)", "ε of all of them (log)")


def shuffled_figure(
    rows: Sequence[tuple[int, Sequence[Shuffled]]], at: tuple[int, Sequence[Shuffled]], look: Look
) -> go.Figure:
    """Return the noise of a record over the number of records, by argument; `at` is marked."""
    x = np.array([float(count) for count, _ in rows])
    lines: list[Line] = []
    marks = []
    for key, name in ROUTE_NAMES.items():
        noises = [_noise_of(found, key) for _, found in rows]
        lines.append((key, name, x, np.array(noises), ROUTE_COLOURS[key], "records"))
        marks.append((float(at[0]), _noise_of(at[1], key), ROUTE_COLOURS[key]))
    return _figure(lines, marks, look, "Shuffled records (log)", "Noise over sensitivity (log)")


def subsampled_figure(
    curve: tuple[Vector, Vector, Vector, Vector],
    at: tuple[float, float, float],
    releases: int,
    look: Look,
) -> go.Figure:
    """Return epsilon over the size of the batch; `at` is (batch, epsilon, that of all releases)."""
    sizes, exact, linear, many = curve
    what = "records in the batch"
    lines: list[Line] = [
        ("gaussian", "one release on a secret batch", sizes, exact, BLUE, what),
        ("paper", "linear bound q(e^ε − 1)", sizes, linear, ORANGE, what),
        ("steps", f"{releases:,} Gaussian releases, a new batch each", sizes, many, GREEN, what),
    ]
    marks = [(at[0], at[1], BLUE), (at[0], at[2], GREEN)]
    return _figure(lines, marks, look, "Records in the batch (log)", "ε (log)")


def _noise_of(found: Sequence[Shuffled], key: str) -> float:
    value = next(s.noise_multiplier for s in found if s.name == key)
    return math.nan if value is None else value


def _figure(
    lines: Sequence[Line],
    marks: Sequence[tuple[float, float, tuple[str, str]]],
    look: Look,
    x_title: str,
    y_title: str,
) -> go.Figure:
    """Return lines with their names at the right edge, and the present point on each."""
    figure = go.Figure()
    drawn = np.concatenate([y for _, _, _, y, _, _ in lines] + [np.array([m[1] for m in marks])])
    drawn = drawn[np.isfinite(drawn) & (drawn > 0)]
    low, high = float(drawn.min()) / 1.5, min(float(drawn.max()) * 1.5, 1e6)
    labels = []
    for rank, (key, name, x, y, pair, what) in enumerate(lines):
        colour = look.colour(pair)
        shown = np.isfinite(y) & (y > 0)
        hover = f"{what} %{{x:.4g}}: %{{y:.4g}}"
        seen = np.where(shown, y, np.nan)
        add_curve(figure, x, seen, name, colour, hover, width=2.6, dash=DASHES[key])
        if shown.any():
            last = min(float(y[shown][-1]), high)
            labels.append(Label(text=name, y=last, colour=colour, rank=rank))
    for x_mark, y_mark, pair in marks:
        if not (math.isfinite(y_mark) and y_mark > 0):
            continue
        figure.add_scatter(
            x=[x_mark],
            y=[y_mark],
            mode="markers",
            marker={
                "symbol": "circle",
                "size": 11,
                "color": look.colour(pair),
                "line": {"width": 2, "color": look.ink},
            },
            name="present point",
            showlegend=False,
            hovertemplate="present point: %{x:.4g}, %{y:.4g}<extra></extra>",
        )
    every = np.concatenate([x for _, _, x, _, _, _ in lines])
    left, right = float(every.min()), float(every.max())
    lay_out(figure, look)
    figure.update_xaxes(log_axis(look, (left, right), x_title))
    figure.update_yaxes(log_axis(look, (low, high), y_title))
    if not look.compact:
        place_labels(figure, labels, low, high)
    return figure
