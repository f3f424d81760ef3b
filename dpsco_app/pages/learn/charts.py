"""The figures of the lessons that are no study; no Streamlit in here."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpsco_app.parts.curves import named_line
from dpsco_app.parts.look import (
    BLUE,
    GREY,
    ORANGE,
    REGION,
    Label,
    Look,
    colour_of,
    lay_out,
    log_ticks,
    place_labels,
    translucent,
)
from dpsco_app.parts.options import number_text
from dpsco_core.base.arrays import Vector
from dpsco_core.catalogue import method_card
from dpsco_core.explain.lessons import (
    ADAPTIVE,
    BLIND,
    CLIPPED,
    GAUSSIAN,
    LAST,
    NOISE,
    PRIVATE,
    STUDENT,
)

Pair = tuple[str, str]
Curve = tuple[str, Pair, Sequence[float], Sequence[float]]  # name, colour, x, y

LAW_NAMES = {GAUSSIAN: "Gaussian", STUDENT: "Heavy-tailed"}
LAW_COLOURS = {GAUSSIAN: GREY, STUDENT: ORANGE}
RADIUS_NAMES = {
    PRIVATE: "Private: clipped, with noise",
    CLIPPED: "Clipped, no noise",
    NOISE: "The noise alone",
}
RADIUS_COLOURS = {PRIVATE: colour_of("mean.clipped"), CLIPPED: GREY, NOISE: REGION}
# What chose its own radius, by the names of the methods.
CHOICE_NAMES = {
    BLIND: method_card("mean.clipped").name,
    ADAPTIVE: method_card("mean.adaptive").name,
}
CHOICE_COLOURS = {BLIND: colour_of("mean.clipped"), ADAPTIVE: colour_of("mean.adaptive")}


def trial_colour(of: str) -> Pair:
    """Return the colour of a trial of a method, or of a line of an experiment."""
    return RADIUS_COLOURS.get(of) or colour_of(of)


NO, YES = "You answer no", "You answer yes"


def bulk_figure(centres: Vector, shares: Mapping[str, Vector], look: Look) -> go.Figure:
    """Return the shares of the records by size, as two outlines."""
    curves = [
        (LAW_NAMES[law], LAW_COLOURS[law], list(centres), list(100 * share))
        for law, share in shares.items()
    ]
    figure = _lines(curves, look, shape="hvh")
    top = 1.15 * max(float(100 * s.max()) for s in shares.values())
    _at_peaks(figure, curves, look)
    _finish(figure, look, "Size of a record", "Records, in percent", (-4, 4), (0, top))
    return figure


def largest_figure(table: pd.DataFrame, look: Look, room: Sequence[float] = ()) -> go.Figure:
    """Return the largest record over n, for both laws, with bands over the samples."""
    return _banded(
        table,
        LAW_NAMES,
        LAW_COLOURS,
        look,
        ("Number of records n (log)", "Largest record (log)"),
        "median",
        room,
    )


def records_figure(samples: Mapping[str, Vector], look: Look) -> go.Figure:
    """Return the records of one sample of each law in their order, the Gaussian ones in front."""
    figure = go.Figure()
    reach = 1.08 * max(float(np.abs(x).max()) for x in samples.values())
    count = max(len(x) for x in samples.values())
    for law, place in ((STUDENT, 0.45), (GAUSSIAN, -0.05)):
        name, colour = LAW_NAMES[law], look.colour(LAW_COLOURS[law])
        figure.add_trace(
            go.Scatter(
                x=list(range(1, len(samples[law]) + 1)),
                y=list(samples[law]),
                mode="markers",
                marker={"color": colour, "size": 4 if law == GAUSSIAN else 5},
                name=name,
                hovertemplate=f"{name}<br>record %{{x:,}}: %{{y:.3g}}<extra></extra>",
            )
        )
        if not look.compact:
            where = {"x": 1.005, "xref": "paper", "xanchor": "left"}
            _name(figure, name, colour, place * reach, **where)
    _finish(figure, look, "Number of the record", "Size", (0, count + 1), (-reach, reach))
    return figure


def exceedance_figure(errors: pd.DataFrame, look: Look, room: Sequence[float] = ()) -> go.Figure:
    """Return, for every method, the share of the samples whose error is larger than x.

    `room` are errors that the figure holds besides.
    """
    curves: list[Curve] = []
    for method in dict.fromkeys(errors["method"]):
        values = np.sort(errors.loc[errors["method"] == method, "error"].to_numpy())
        above = 100 * (1 - np.arange(len(values)) / len(values))
        card = method_card(str(method))
        curves.append((card.name, colour_of(card.slug), list(values), list(above)))
    figure = _lines(curves, look, shape="vh")
    for trace in figure.data[1:]:  # both are grey, as neither is private
        trace.line.dash = "6px,3px"
    every = [v for _, _, x, _ in curves for v in x]
    low = 100 / max(len(x) for _, _, x, _ in curves)
    labels = [
        Label(text=f"<b>{name}</b>", y=low * 1.3 * 1.6**i, colour=look.colour(colour), rank=i)
        for i, (name, colour, _, _) in enumerate(sorted(curves, key=lambda c: -c[2][-1]))
    ]
    if not look.compact:
        place_labels(figure, labels, low, 100)
    _finish(
        figure,
        look,
        "Error of the estimate, x",
        "Samples with a larger error, in percent (log)",
        (0, 1.03 * max([*every, *room])),
        (math.log10(low), 2.02),
        log_y=True,
    )
    ticks = [t for t in (0.5, 1, 5, 10, 50, 100) if t >= low]
    figure.update_yaxes(tickvals=ticks, ticktext=[f"{number_text(t)} %" for t in ticks])
    return figure


def densities_figure(outputs: Vector, without: Vector, with_it: Vector, look: Look) -> go.Figure:
    """Return the densities of what is released for two neighbours."""
    x = list(100 * outputs)
    curves: list[Curve] = [(NO, GREY, x, list(without)), (YES, BLUE, x, list(with_it))]
    figure = go.Figure()
    for name, colour, xs, ys in curves:
        figure.add_trace(
            go.Scatter(
                x=xs,
                y=ys,
                mode="lines",
                name=name,
                line={"color": look.colour(colour), "width": 2.4},
                fill="tozeroy",
                fillcolor=translucent(look.colour(colour), 0.13),
                hovertemplate=f"{name}<br>%{{x:.1f}} % yes<extra></extra>",
            )
        )
    top = float(without.max())
    if not look.compact:
        for name, colour, xs, ys in curves:
            peak = int(np.argmax(ys))
            left = name == NO
            _name(
                figure,
                name,
                look.colour(colour),
                top,
                x=xs[peak] + (-0.35 if left else 0.35),
                xanchor="right" if left else "left",
            )
    _finish(
        figure,
        look,
        "Published share of yes, in percent",
        "How likely (density)",
        (x[0], x[-1]),
        (0, 1.12 * top),
    )
    figure.update_yaxes(showticklabels=False, showgrid=False)
    return figure


def guesses_figure(
    counts: Vector, shares: Vector, ceiling: float, expected: float, look: Look
) -> go.Figure:
    """Return the share of right guesses so far, below what epsilon allows; empty before a guess."""
    figure = _lines([("Right guesses so far", BLUE, list(counts), list(100 * shares))], look)
    colour = look.colour(REGION)
    lines = [(50.0, "Tossing a coin", look.quiet)]
    if len(counts):
        figure.add_hrect(
            y0=100 * ceiling, y1=100, fillcolor=translucent(colour, 0.13), line={"width": 0}
        )
        lines += [
            (100 * ceiling, "No guess can be right more often: e^ε/(1 + e^ε)", colour),
            (100 * expected, "Expected for Laplace noise", look.colour(BLUE)),
        ]
    for value, text, ink in lines:
        figure.add_hline(y=value, line={"color": ink, "width": 1.3, "dash": "dot"})
        under = {"yanchor": "top", "yshift": -2} if value == 100 * expected else {"yshift": 2}
        _name(figure, text, ink, value, x=0.99, xref="paper", xanchor="right", **under)
    end = LAST["neighbours"] * 1.02
    _finish(figure, look, "Number of guesses", "Right guesses, in percent", (0, end), (45, 100))
    return figure


def radius_figure(table: pd.DataFrame, look: Look, room: Sequence[float] = ()) -> go.Figure:
    """Return the errors of a clipped average over its radius; the best private one is marked.

    `room` are heights that the figure holds besides; so do `largest_figure`'s.
    """
    figure = _banded(
        table,
        RADIUS_NAMES,
        RADIUS_COLOURS,
        look,
        ("Clip radius R (log)", "Error ‖μ̂ − μ‖₂ (log)"),
        "mean",
        room,
    )
    _add_choices(figure, table, look)
    private = table[table["series"] == PRIVATE]
    if not private.empty:
        best = private.loc[private["mean"].idxmin()]
        text = f"best: R = {number_text(best['x'])}"
        named_line(figure, look, best["x"], text, width=1, dash="dot")
    return figure


def _add_choices(figure: go.Figure, table: pd.DataFrame, look: Look) -> None:
    """Draw the radii that methods have chosen, each where its error stands."""
    for series, name in CHOICE_NAMES.items():
        rows = table[table["series"] == series]
        if rows.empty:
            continue
        colour = look.colour(CHOICE_COLOURS[series])
        figure.add_trace(
            go.Scatter(
                x=rows["x"].tolist(),
                y=rows["mean"].tolist(),
                mode="markers",
                name=name,
                marker={"size": 12, "symbol": "diamond", "color": colour},
                hovertemplate=f"<b>{name}</b><br>R = %{{x:.3g}}: %{{y:.3g}}<extra></extra>",
            )
        )
        if not look.compact:
            figure.add_annotation(
                text=f"<b>{name}</b>",
                x=math.log10(float(rows["x"].median())),
                y=math.log10(float(rows["mean"].max())),
                showarrow=False,
                yshift=18,
                font={"size": 13, "color": colour},
            )


def _banded(
    table: pd.DataFrame,
    names: Mapping[str, str],
    colours: Mapping[str, Pair],
    look: Look,
    axes: tuple[str, str],
    column: str,
    room: Sequence[float] = (),
) -> go.Figure:
    """Return lines with bands from 10 % to 90 % on two logarithmic axes."""
    shown = table[table["series"].isin(list(names))]
    curves: list[Curve] = []
    figure = go.Figure()
    for series in dict.fromkeys(shown["series"]):
        rows = shown[shown["series"] == series]
        x, colour = rows["x"].tolist(), look.colour(colours[series])
        figure.add_trace(
            go.Scatter(
                x=[*x, *reversed(x)],
                y=[*rows["q90"], *reversed(rows["q10"].tolist())],
                mode="lines",
                line={"width": 0},
                fill="toself",
                fillcolor=translucent(colour, 0.16),
                hoverinfo="skip",
                showlegend=False,
                name=f"{names[series]}, 10-90 %",
            )
        )
        curves.append((names[series], colours[series], x, rows[column].tolist()))
    figure.add_traces(_lines(curves, look, mode="lines+markers").data)
    low = min([float(shown["q10"].min()), *room]) / 1.4
    high = max([float(shown["q90"].max()), *room]) * 1.4
    if not look.compact:
        labels = [
            Label(text=f"<b>{name}</b>", y=y[-1], colour=look.colour(colour), rank=i)
            for i, (name, colour, _, y) in enumerate(curves)
        ]
        place_labels(figure, labels, low, high)
    xs = sorted(set(shown["x"]))
    ends = (math.log10(xs[0]) - 0.1, math.log10(xs[-1]) + 0.1)
    _finish(figure, look, *axes, ends, (math.log10(low), math.log10(high)), log_x=True, log_y=True)
    figure.update_xaxes(**_ticks(xs[0], xs[-1]))
    figure.update_yaxes(**_ticks(low, high))
    return figure


def _ticks(low: float, high: float) -> dict[str, list[float] | list[str]]:
    ticks = log_ticks(low, high)
    return {"tickvals": ticks, "ticktext": [number_text(t) for t in ticks]}


def _lines(
    curves: Sequence[Curve], look: Look, *, mode: str = "lines", shape: str = "linear"
) -> go.Figure:
    figure = go.Figure()
    for name, colour, x, y in curves:
        figure.add_trace(
            go.Scatter(
                x=list(x),
                y=list(y),
                mode=mode,
                name=name,
                line={"color": look.colour(colour), "width": 2.4, "shape": shape},
                marker={"size": 7, "color": look.colour(colour)},
                hovertemplate=f"<b>{name}</b><br>%{{x:,.4g}}: %{{y:.3g}}<extra></extra>",
            )
        )
    return figure


def _at_peaks(figure: go.Figure, curves: Sequence[Curve], look: Look) -> None:
    """Write the names beside the outlines, the higher one inside on the right of its peak."""
    if look.compact:
        return
    for name, colour, x, y in curves:
        peak = int(np.argmax(y))
        shift = 2 if y[peak] == max(v for c in curves for v in c[3]) else 8
        at = min(peak + shift, len(x) - 1)
        _name(figure, name, look.colour(colour), y[at], x=x[at], xanchor="left", xshift=8, yshift=8)


def _name(figure: go.Figure, text: str, colour: str, y: float, **place: object) -> None:
    figure.add_annotation(
        **{"text": f"<b>{text}</b>", "y": y, "showarrow": False, "yanchor": "bottom"}
        | {"font": {"size": 13, "color": colour}}
        | place
    )


def _finish(
    figure: go.Figure,
    look: Look,
    x_title: str,
    y_title: str,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    *,
    log_x: bool = False,
    log_y: bool = False,
) -> None:
    for update, title, ends, log in (
        (figure.update_xaxes, x_title, x_range, log_x),
        (figure.update_yaxes, y_title, y_range, log_y),
    ):
        update(
            title_text=title,
            range=list(ends),
            type="log" if log else "linear",
            gridcolor=look.grid,
            zeroline=False,
            minor_ticks="",
        )
    lay_out(figure, look)
