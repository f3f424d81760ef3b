"""The figures of the page Users but the map, and their numbers; no Streamlit in here."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dpsco_app.figure.methods import colour_of
from dpsco_app.pages.users.words import NEED_NAMES, ROW_COLOURS, ROW_NAMES
from dpsco_app.parts.curves import add_curve, finish
from dpsco_app.parts.look import GREY, Label, Look, mark_chosen, note, translucent
from dpsco_app.parts.options import short_text
from dpsco_core.bounds.user.complexity import Curve
from dpsco_core.catalogue import method_card
from dpsco_core.explain.users.crossing import Crossing, Errors
from dpsco_core.explain.users.frontier import EPSILONS, NEEDS
from dpsco_core.results.slopes import FittedSlope

HOVER = "%{{x:,.6g}}: %{{y:.3g}} {}"
OVER_ITEMS = "Items per user m (log)"
SIZES = {"heights": (450, 580), "bottom": 44}


def crossing_figure(curves: Sequence[Errors], found: Crossing | None, look: Look) -> go.Figure:
    """Return the measured mean excess risks over m, and where the first two cross."""
    figure = go.Figure()
    positive = [float(v) for c in curves for v in c.mean if v > 0]
    ends = min(positive) / 2, max(positive) * 2
    labels: list[Label] = []
    for rank, c in enumerate(curves):
        labels += _points(figure, c, c.mean, 2 * c.standard_error, rank, look)
    if found is not None:
        low, high = (e if math.isfinite(e) else curves[0].items[-1] for e in found.interval)
        figure.add_vline(x=found.items, line={"color": look.ink, "width": 1.5, "dash": "dash"})
        if not math.isnan(low):
            figure.add_vrect(x0=low, x1=high, fillcolor=look.ink, opacity=0.08, line={"width": 0})
        text = f"<b>cross at m ≈ {short_text(found.items, 2)}</b>"
        at = {"yref": "paper", "xanchor": "left", "yanchor": "bottom", "xshift": 6}
        size = 12 if look.compact else 14
        figure.add_annotation(**note(text, math.log10(found.items), 0.02, look.ink, size, **at))
    titles = (OVER_ITEMS, "Mean excess risk (log)")
    return finish(figure, look, (0.7, 1.4e6), ends, titles, labels, **SIZES)


def law_figure(
    curves: Sequence[Errors], slopes: Mapping[str, FittedSlope], start: float, look: Look
) -> go.Figure:
    """Return the root mean square distances over m with a 1/sqrt(m) guide from m = `start` on."""
    figure = go.Figure()
    values = [float(v) for c in curves for v in c.distance if v > 0]
    labels: list[Label] = []
    for rank, c in enumerate(curves):
        labels += _points(figure, c, c.distance, None, rank, look)
    keep = curves[0].items >= start
    x, y = curves[0].items[keep], curves[0].distance[keep]
    if len(x):
        middle = math.exp(float(np.mean(np.log(y) + 0.5 * np.log(x))))
        guide = middle / np.sqrt(x)
        name, hover = "1/√m, a guide", HOVER.format("")
        add_curve(figure, x, guide, name, look.colour(GREY), hover, dash="dot", width=2.0)
        labels.append(Label(text=name, y=float(guide[-1]), colour=look.quiet, rank=9))
    for curve in curves[:2]:
        before_last = max(len(curve.items) - 2, 0)
        x_at, y_at = (math.log10(float(v[before_last])) for v in (curve.items, curve.distance))
        text = f"slope {slopes[curve.method].fitted:.2f}".replace("-", "−")
        colour, side = look.colour(colour_of(curve.method)), "right" if look.compact else "left"
        figure.add_annotation(**note(text, x_at, y_at, colour, 13, yshift=14, xanchor=side))
    titles = (OVER_ITEMS, "Root mean square distance (log)")
    y_ends = min(values) / 2, max(values) * 2
    return finish(figure, look, (0.7, 1.4e6), y_ends, titles, labels, **SIZES)


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
        y = np.array([v if math.isfinite(v) else math.nan for v in needs[need.slug]])
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
        at = {"xref": "paper", "xanchor": "left", "yanchor": "bottom"}
        text, size = "n = 1/(δm): Theorem 3.2 needs fewer users", 11 if look.compact else 12
        figure.add_annotation(**note(text, 0.01, math.log10(most), look.quiet, size, **at))
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
        faint = {"dash": "dot", "width": 1.6, "showlegend": False, "hoverinfo": "skip"}
        add_curve(figure, x, y, name, translucent(colour, 0.35), "", **faint)
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
) -> list[Label]:
    """Draw a method's points; return the name at their end, if any is known."""
    colour = look.colour(colour_of(curve.method))
    name, error = method_card(curve.method).name, None
    if bars is not None:  # one that would leave the log axis ends at a tenth of its point
        lower = np.minimum(bars, 0.9 * y)
        error = {"array": bars, "arrayminus": lower, "symmetric": False, "thickness": 1.3}
    figure.add_scatter(
        x=curve.items,
        y=y,
        mode="lines+markers",
        line={"color": colour, "width": 2.8},
        marker={"size": 8, "color": colour},
        error_y=error,
        name=name,
        hovertemplate=f"{name}<br>m = %{{x:,}}: %{{y:.3g}}<extra></extra>",
    )
    known = y[np.isfinite(y)]
    return [Label(text=f"<b>{name}</b>", y=float(v), colour=colour, rank=rank) for v in known[-1:]]


# -- the numbers behind them --


def law_table(curves: Sequence[Errors]) -> pd.DataFrame:
    """Return the measured errors, a method and an m a row."""
    parts = [
        pd.DataFrame(
            {
                "Method": method_card(c.method).name,
                "m": c.items.astype(int),
                "Mean excess risk": c.mean,
                "Standard error": c.standard_error,
                "RMS distance": c.distance,
                "Trials": c.risks.shape[1],
            }
        )
        for c in curves
    ]
    return pd.concat(parts, ignore_index=True)


def frontier_table(needs: Mapping[str, Sequence[float]]) -> pd.DataFrame:
    columns = {
        NEED_NAMES[n.slug]: [v if math.isfinite(v) else None for v in needs[n.slug]] for n in NEEDS
    }
    return pd.DataFrame({"ε": EPSILONS} | columns)


def gradients_table(curves: Sequence[Curve]) -> pd.DataFrame:
    """Return the counts, a row of the comparison and an n a row."""
    parts = [
        pd.DataFrame(
            {
                "Method": ROW_NAMES[c.slug, c.loss],
                "Losses": c.loss,
                "n·m": c.items,
                "Gradients": [g if math.isfinite(g) else None for g in c.gradients],
                "Assumptions hold": c.applies,
            }
        )
        for c in curves
    ]
    return pd.concat(parts, ignore_index=True)
