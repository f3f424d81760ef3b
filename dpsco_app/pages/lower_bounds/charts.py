"""The curves of the page Lower bounds, and their axes; no Streamlit in here."""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dpsco_app.pages.lower_bounds.words import VOID, brief
from dpsco_app.parts.curves import add_curve, finish
from dpsco_app.parts.look import CLAY, GREY, PURPLE, TEAL, Label, Look
from dpsco_core.explain.fano.builder import Builder
from dpsco_core.explain.fano.instance import FanoCurve

Floats = NDArray[np.float64]
CLASS_COLOURS = {"zcdp": TEAL, "pure": CLAY, "approx": PURPLE}
DASHES = {
    "hypercube-cdp": "solid",
    "rate-distortion-cdp": "dashdot",
    "tracing-cdp": "longdash",
    "fano-cdp-gilbert": "dash",
    "fano-cdp": "dot",
    "hypercube-pure": "solid",
    "fano-pure": "dot",
    "approx-tracing": "longdash",
    "approx-packing": "solid",
}
FREE_POINTS = 121
HOVER = "%{x:,.3g}: %{y:.3g}"
FREE_SPAN = (1.0, 1e7)


def curve_figure(
    drawn: Sequence[FanoCurve],
    sampling: float,  # the floor without privacy
    # the spike probability of the proof, and the slug of the bound that it is about
    chosen: tuple[float, str],
    printed: float,  # the paper's spike probability with constant 1
    look: Look,
) -> go.Figure:
    """Return the bounds over the spike probability, each with its best one marked."""
    figure = go.Figure()
    labels: list[Label] = []
    top = max([c.best for c in drawn] + [sampling])
    low, high = top / 300, top * 2
    for rank, one in enumerate(drawn):
        if one.best <= VOID:
            continue
        colour, name = look.colour(CLASS_COLOURS[one.binds]), one.name
        y = np.where(one.values > low / 3, one.values, np.nan)
        dash = DASHES[one.slug]
        add_curve(figure, one.q, y, name, colour, HOVER + " at q", dash=dash)
        figure.add_scatter(
            x=[one.best_q],
            y=[one.best],
            mode="markers",
            marker={"symbol": "diamond", "size": 11, "color": colour},
            name=f"best q, {name}",
            hovertemplate=f"{name}<br>best q %{{x:.3g}}: %{{y:.3g}}<extra></extra>",
            showlegend=False,
        )
        labels.append(Label(text=f"{name} {brief(one.best)}", y=one.best, colour=colour, rank=rank))
    ends = (float(drawn[0].q[0]), max(float(c.q[-1]) for c in drawn))
    _across(figure, ends, sampling, f"Sampling alone {brief(sampling)}", look, labels)
    q, slug = chosen
    line = next(c for c in drawn if c.slug == slug)
    figure.add_vline(x=q, line={"color": look.ink, "width": 1.2, "dash": "dash"})
    _note(figure, q, 0.99, "the proof's q", look, ends)
    if ends[0] < printed < ends[1] and line.binds == "zcdp":
        figure.add_vline(x=printed, line={"color": look.quiet, "width": 1, "dash": "dot"})
        _note(figure, printed, 0.03, "the printed q", look, ends)
    titles = ("Spike probability q (log)", "Least error (log)")
    return finish(figure, look, ends, (low, high), titles, labels, right=200)


def trade_figure(q: Floats, ceiling: Floats, values: Floats, at: float, look: Look) -> go.Figure:
    """Return a bound over q below what it would be if the output told nothing.

    The gap between the two is what the output tells; `at` is the spike probability of the proof.
    """
    figure = go.Figure()
    labels: list[Label] = []
    known = values > values.max() / 100
    q, ceiling, values = q[known], ceiling[known], values[known]
    low = float(values.min()) / 1.5
    high = float(ceiling.max()) * 1.5
    colour = look.colour(TEAL)
    names = ("If the output told nothing", "What is proven")
    add_curve(figure, q, ceiling, names[0], look.colour(GREY), HOVER, dash="dash")
    add_curve(figure, q, values, names[1], colour, HOVER)
    figure.add_vline(x=at, line={"color": look.ink, "width": 1.2, "dash": "dash"})
    ends = (min(float(q[0]), at) / 1.1, max(float(q[-1]), at) * 1.1)
    _note(figure, at, 0.99, "the proof's q", look, ends)
    for name, line, tone in zip(names, (ceiling, values), (look.colour(GREY), colour), strict=True):
        labels.append(Label(text=name, y=float(line[-1]), colour=tone, rank=len(labels)))
    titles = ("Spike probability q (log)", "Error (log)")
    return finish(figure, look, ends, (low, high), titles, labels, right=200)


def free_grid(at: Builder) -> list[int]:
    """Return the n at which the bound of a packing is drawn."""
    grid = np.unique(np.round(np.geomspace(*FREE_SPAN, FREE_POINTS)).astype(int))
    return sorted({*(int(n) for n in grid), at.n})


def free_figure(at: Builder, look: Look) -> go.Figure:
    """Return the terms of Fano's bound over n, on a packing of one's own."""
    figure = go.Figure()
    grid = free_grid(at)
    points = [at.at(n) for n in grid]
    x = np.array(grid, dtype=float)
    high = at.separation / 2
    rows = (
        ("Statistics: every algorithm", [p.sampling_bound for p in points], GREY, "dash"),
        ("Privacy: ρ-zCDP", [p.privacy_bound for p in points], TEAL, "solid"),
        ("Pure DP at ε", [p.pure_bound for p in points], CLAY, "dot"),
    )
    for rank, (name, values, pair, dash) in enumerate(rows):
        y = np.array(values)
        colour = look.colour(pair)
        add_curve(figure, x, np.where(y > VOID, y, 0.0), name, colour, HOVER, dash=dash)
        height = (0.62 - 0.17 * rank) * high  # of its name, right of where it falls below
        above = x[y > height]
        falls = float(above[-1]) if len(above) else FREE_SPAN[0]
        if not look.compact and y.max() > VOID:
            figure.add_annotation(
                text=name,
                x=math.log10(min(falls, 1e6)),
                y=height,
                xanchor="left",
                xshift=14,
                showarrow=False,
                font={"color": colour, "size": 13},
            )
    figure.add_scatter(
        x=[at.n],
        y=[at.bound],
        mode="markers",
        marker={"symbol": "diamond", "size": 13, "color": look.ink},
        name="Fano's bound at the chosen n",
        hovertemplate="n = %{x:,}: %{y:.4g}<extra></extra>",
    )
    titles = ("Records n (log)", "Least expected error")
    finish(figure, look, FREE_SPAN, (1e-3 * high, high), titles, (), right=20)
    ends = [-0.02 * high, 1.08 * high]
    return figure.update_yaxes(type="linear", range=ends, tickvals=None, ticktext=None)


# -- shared -------------------------------------------------------------------------------------


def _across(
    figure: go.Figure,
    ends: tuple[float, float],
    value: float,
    name: str,
    look: Look,
    labels: list[Label],
) -> None:
    if value <= VOID:
        return
    colour = look.colour(GREY)
    x = np.array(ends)
    add_curve(figure, x, np.full(2, value), name, colour, HOVER, dash="longdash")
    labels.append(Label(text=name, y=value, colour=colour, rank=1))


def _note(
    figure: go.Figure, x: float, y: float, text: str, look: Look, ends: tuple[float, float]
) -> None:
    """Write beside a vertical line, on the side that has more room."""
    right = math.log(x / ends[0]) < 0.6 * math.log(ends[1] / ends[0])
    figure.add_annotation(
        text=text,
        x=math.log10(x),
        y=y,
        yref="paper",
        xanchor="left" if right else "right",
        xshift=5 if right else -5,
        showarrow=False,
        font={"size": 12, "color": look.quiet},
    )
