"""The figures of the page Users but the map; no Streamlit in here."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dpsco_app.pages.users.words import NEED_NAMES, ROW_COLOURS, ROW_NAMES
from dpsco_app.parts.curves import add_curve, finish
from dpsco_app.parts.look import (
    GREY,
    Label,
    Look,
    colour_of,
    mark_chosen,
    translucent,
)
from dpsco_app.parts.options import number_text
from dpsco_core.bounds.user.complexity import Curve
from dpsco_core.catalogue import method_card
from dpsco_core.explain.users.crossing import Crossing, Errors
from dpsco_core.explain.users.frontier import EPSILONS, NEEDS

HOVER = "%{{x:,.6g}}: %{{y:.3g}} {}"
SIZES = {"heights": (450, 580), "bottom": 44}


def crossing_figure(curves: Sequence[Errors], found: Crossing | None, look: Look) -> go.Figure:
    """Return the measured mean excess risks over m, and where the first two cross."""
    figure = go.Figure()
    labels: list[Label] = []
    positive = [float(v) for c in curves for v in c.mean if v > 0]
    low, high = min(positive) / 2, max(positive) * 2
    for rank, curve in enumerate(curves):
        _points(figure, curve, curve.mean, 2 * curve.standard_error, rank, look, labels)
    if found is not None:
        ends = [e if math.isfinite(e) else curves[0].items[-1] for e in found.interval]
        figure.add_vline(x=found.items, line={"color": look.ink, "width": 1.5, "dash": "dash"})
        if not math.isnan(ends[0]):
            figure.add_vrect(
                x0=ends[0], x1=ends[1], fillcolor=look.ink, opacity=0.08, line={"width": 0}
            )
        figure.add_annotation(
            text=f"<b>cross at m ≈ {number_text(float(f'{found.items:.2g}'))}</b>",
            x=math.log10(found.items),
            y=0.02,
            yref="paper",
            xanchor="left",
            yanchor="bottom",
            xshift=6,
            showarrow=False,
            font={"size": 12 if look.compact else 14, "color": look.ink},
        )
    titles = ("Items per user m (log)", "Mean excess risk (log)")
    return finish(figure, look, (0.7, 1.4e6), (low, high), titles, labels, **SIZES)


def law_figure(
    curves: Sequence[Errors], slopes: Mapping[str, float], start: float, look: Look
) -> go.Figure:
    """Return the root mean square distances over m with a 1/sqrt(m) guide from m = `start` on."""
    figure = go.Figure()
    labels: list[Label] = []
    values = [float(v) for c in curves for v in c.distance if v > 0]
    low, high = min(values) / 2, max(values) * 2
    for rank, curve in enumerate(curves):
        _points(figure, curve, curve.distance, None, rank, look, labels)
    first = curves[0]
    keep = first.items >= start
    x = first.items[keep]
    if len(x):
        y = first.distance[keep]
        middle = math.exp(float(np.mean(np.log(y) + 0.5 * np.log(x))))
        guide = middle / np.sqrt(x)
        name, hover = "1/√m, a guide", HOVER.format("")
        add_curve(figure, x, guide, name, look.colour(GREY), hover, dash="dot", width=2.0)
        labels.append(Label(text=name, y=float(guide[-1]), colour=look.quiet, rank=9))
    for curve in curves[:2]:
        before_last = max(len(curve.items) - 2, 0)
        figure.add_annotation(
            text=f"slope {slopes[curve.method]:.2f}".replace("-", "−"),
            x=math.log10(curve.items[before_last]),
            y=math.log10(float(curve.distance[before_last])),
            yshift=14,
            xanchor="right" if look.compact else "left",
            showarrow=False,
            font={"size": 13, "color": look.colour(colour_of(curve.method))},
        )
    titles = ("Items per user m (log)", "Root mean square distance (log)")
    return finish(figure, look, (0.7, 1.4e6), (low, high), titles, labels, **SIZES)


def frontier_figure(
    needs: Mapping[str, Sequence[float]],
    chosen: tuple[float, int],
    most: float,
    look: Look,
) -> go.Figure:
    """Return the least users over epsilon; `chosen` is (epsilon, n), `most` is 1/(delta m)."""
    figure = go.Figure()
    labels: list[Label] = []
    finite = [v for row in needs.values() for v in row if math.isfinite(v)]
    low, high = min(*finite, chosen[1]) / 1.7, max(*finite, chosen[1]) * 1.7
    for rank, need in enumerate(NEEDS):
        name, colour = NEED_NAMES[need.slug], look.colour(colour_of(need.method))
        y = np.array([v if math.isfinite(v) else np.nan for v in needs[need.slug]])
        dash = "solid" if need.printed else "dash"
        if need.slug in ("groups-printed", "recommended-c1"):
            dash = "dot" if need.printed else "dashdot"
        hover = HOVER.format("users")
        add_curve(figure, np.array(EPSILONS), y, name, colour, hover, dash=dash, width=2.6)
        if np.isfinite(y).any():
            last = float(y[np.isfinite(y)][-1])
            labels.append(Label(text=name, y=last, colour=colour, rank=rank))
    if low < most < high:
        figure.add_hline(y=most, line={"color": look.quiet, "width": 1.3, "dash": "longdash"})
        figure.add_annotation(
            text="n = 1/(δm): Theorem 3.2 needs fewer users",
            xref="paper",
            x=0.01,
            y=math.log10(most),
            xanchor="left",
            yanchor="bottom",
            showarrow=False,
            font={"size": 11 if look.compact else 12, "color": look.quiet},
        )
    mark_chosen(figure, [chosen[0]], [chosen[1]], look)
    ends = EPSILONS[0] / 1.1, EPSILONS[-1] * 1.1
    titles = ("Privacy budget ε (log)", "Least number of users n (log)")
    return finish(figure, look, ends, (low, high), titles, labels, **SIZES)


def gradients_figure(curves: Sequence[Curve], total: int, look: Look) -> go.Figure:
    """Return gradients over n m, faint where a row's assumptions fail; `total` marks n m."""
    figure = go.Figure()
    labels: list[Label] = []
    drawn = [c for c in curves if all(math.isfinite(g) for g in c.gradients)]
    low = min(c.gradients[0] for c in drawn) / 2
    high = max(c.gradients[-1] for c in drawn) * 2
    for rank, curve in enumerate(drawn):
        colour = look.colour(ROW_COLOURS[curve.slug])
        x, y = np.array(curve.items, dtype=float), np.array(curve.gradients)
        able = np.array(curve.applies)
        dash = "solid" if curve.loss == "smooth" else "dash"
        name = ROW_NAMES[curve.slug, curve.loss]
        add_curve(figure, x, y, name, translucent(colour, 0.35), "", dash="dot", width=1.6)
        figure.data[-1].update(showlegend=False, hoverinfo="skip")
        add_curve(
            figure, x, np.where(able, y, np.nan), name, colour, HOVER.format("gradients"), dash=dash
        )
        labels.append(Label(text=name, y=float(y[-1]), colour=colour, rank=rank))
    items = drawn[0].items
    if items[0] <= total <= items[-1]:
        figure.add_vline(x=total, line={"color": look.ink, "width": 1.2, "dash": "dash"})
    ends = items[0] / 1.3, items[-1] * 1.3
    titles = ("All items n·m (log)", "Gradients of an item (log)")
    return finish(figure, look, ends, (low, high), titles, labels, **SIZES)


def _points(
    figure: go.Figure,
    curve: Errors,
    y: NDArray[np.float64],
    bars: NDArray[np.float64] | None,
    rank: int,
    look: Look,
    labels: list[Label],
) -> None:
    colour = look.colour(colour_of(curve.method))
    name = method_card(curve.method).name
    # A bar that would leave the log axis ends at a tenth of its point.
    lower = None if bars is None else np.minimum(bars, 0.9 * y)
    figure.add_trace(
        go.Scatter(
            x=curve.items,
            y=y,
            mode="lines+markers",
            line={"color": colour, "width": 2.8},
            marker={"size": 8, "color": colour},
            error_y=None
            if bars is None
            else {"array": bars, "arrayminus": lower, "symmetric": False, "thickness": 1.3},
            name=name,
            hovertemplate=f"{name}<br>m = %{{x:,}}: %{{y:.3g}}<extra></extra>",
        )
    )
    known = y[np.isfinite(y)]
    if len(known):
        labels.append(Label(text=f"<b>{name}</b>", y=float(known[-1]), colour=colour, rank=rank))
