"""The figures of the lessons that are no study; no Streamlit in here."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpsco_app.figure.methods import colour_of
from dpsco_app.parts.curves import named_line
from dpsco_app.parts.error_parts import PART_COLOURS, PART_NAMES
from dpsco_app.parts.look import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    REGION,
    Ends,
    Label,
    Look,
    Pair,
    area_part,
    lay_out,
    log_ticks,
    note,
    place_labels,
    translucent,
)
from dpsco_app.parts.options import number_text
from dpsco_core.base.arrays import Vector
from dpsco_core.catalogue import method_card
from dpsco_core.explain.lessons import (
    ADAPTIVE,
    BIAS,
    BLIND,
    GAUSSIAN,
    LAST,
    NOISE,
    PRIVATE,
    SAMPLING,
    STUDENT,
)

Curve = tuple[str, Pair, Sequence[float], Sequence[float]]  # name, colour, x, y

LAW_NAMES = {GAUSSIAN: "Gaussian", STUDENT: "Heavy-tailed"}
LAW_COLOURS = {GAUSSIAN: GREY, STUDENT: ORANGE}
RADIUS_PARTS = (BIAS, SAMPLING, NOISE)
RADIUS_NAMES = {PRIVATE: "Private error"} | {p: PART_NAMES[p].capitalize() for p in RADIUS_PARTS}
RADIUS_COLOURS = {PRIVATE: INK} | {p: PART_COLOURS[p] for p in RADIUS_PARTS}
CHOOSES = {BLIND: "mean.clipped", ADAPTIVE: "mean.adaptive"}  # its own radius
SHOWN_BIAS = 200  # the largest bias over the smallest that is drawn, where it stands alone
NO, YES = "You answer no", "You answer yes"


def trial_colour(of: str) -> Pair:
    """Return the colour of a trial of a method, or of a line of an experiment."""
    return RADIUS_COLOURS.get(of) or colour_of(of)


def bulk_figure(centres: Vector, shares: Mapping[str, Vector], look: Look) -> go.Figure:
    """Return the shares of the records by size, as two outlines."""
    curves = [
        (LAW_NAMES[law], LAW_COLOURS[law], list(centres), list(100 * share))
        for law, share in shares.items()
    ]
    figure = _lines(curves, look, shape="hvh")
    top = max(max(y) for *_, y in curves)
    for name, colour, x, y in () if look.compact else curves:
        # Beside the outlines, the name of the higher one inside on the right of its peak.
        peak = int(np.argmax(y))
        at = min(peak + (2 if y[peak] == top else 8), len(x) - 1)
        shift = {"xanchor": "left", "xshift": 8, "yshift": 8}
        _name(figure, name, look.colour(colour), x[at], y[at], **shift)
    return _finish(
        figure, look, "Size of a record", "Records, in percent", (-4, 4), (0, 1.15 * top)
    )


def largest_figure(table: pd.DataFrame, look: Look, room: Sequence[float] = ()) -> go.Figure:
    titles = ("Number of records n (log)", "Largest record (log)")
    return _banded(table, LAW_NAMES, LAW_COLOURS, look, titles, "median", room)


def records_figure(samples: Mapping[str, Vector], look: Look) -> go.Figure:
    """Return the records of one sample of each law in their order, the Gaussian ones in front."""
    figure = go.Figure()
    reach = 1.08 * max(float(np.abs(x).max()) for x in samples.values())
    count = max(len(x) for x in samples.values())
    for law, place, size in ((STUDENT, 0.45, 5), (GAUSSIAN, -0.05, 4)):
        name, colour = LAW_NAMES[law], look.colour(LAW_COLOURS[law])
        figure.add_scatter(
            x=list(range(1, len(samples[law]) + 1)),
            y=list(samples[law]),
            mode="markers",
            marker={"color": colour, "size": size},
            name=name,
            hovertemplate=f"{name}<br>record %{{x:,}}: %{{y:.3g}}<extra></extra>",
        )
        if not look.compact:
            _name(figure, name, colour, 1.005, place * reach, xref="paper", xanchor="left")
    return _finish(figure, look, "Number of the record", "Size", (0, count + 1), (-reach, reach))


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
    low = 100 / max(len(x) for _, _, x, _ in curves)
    labels = [
        Label(text=f"<b>{name}</b>", y=low * 1.3 * 1.6**i, colour=look.colour(colour), rank=i)
        for i, (name, colour, _, _) in enumerate(sorted(curves, key=lambda c: -c[2][-1]))
    ]
    if not look.compact:
        place_labels(figure, labels, low, 100)
    ticks = [t for t in (0.5, 1, 5, 10, 50, 100) if t >= low]
    figure.update_yaxes(tickvals=ticks, ticktext=[f"{number_text(t)} %" for t in ticks])
    return _finish(
        figure,
        look,
        "Error of the estimate, x",
        "Samples with a larger error, in percent (log)",
        (0, 1.03 * max([*errors["error"], *room])),
        (math.log10(low), 2.02),
        log_y=True,
    )


def densities_figure(outputs: Vector, without: Vector, with_it: Vector, look: Look) -> go.Figure:
    x, top = list(100 * outputs), float(without.max())
    figure = go.Figure()
    for name, pair, y, side, anchor in (
        (NO, GREY, without, -0.35, "right"),
        (YES, BLUE, with_it, 0.35, "left"),
    ):
        colour = look.colour(pair)
        figure.add_scatter(
            x=x,
            y=list(y),
            mode="lines",
            name=name,
            line={"color": colour, "width": 2.4},
            fill="tozeroy",
            fillcolor=translucent(colour, 0.13),
            hovertemplate=f"{name}<br>%{{x:.1f}} % yes<extra></extra>",
        )
        if not look.compact:
            _name(figure, name, colour, x[int(np.argmax(y))] + side, top, xanchor=anchor)
    figure.update_yaxes(showticklabels=False, showgrid=False)
    titles = ("Published share of yes, in percent", "How likely (density)")
    return _finish(figure, look, *titles, (x[0], x[-1]), (0, 1.12 * top))


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
        _name(figure, text, ink, 0.99, value, xref="paper", xanchor="right", **under)
    end = LAST["neighbours"] * 1.02
    titles = ("Number of guesses", "Right guesses, in percent")
    return _finish(figure, look, *titles, (0, end), (45, 100))


def radius_figure(table: pd.DataFrame, look: Look, room: Sequence[float] = ()) -> go.Figure:
    """Return the errors of a clipped average over its radius; the best private one is marked.

    `room` are heights that the figure holds besides; so do `largest_figure`'s.
    """
    titles = ("Clip radius R (log)", "Error ‖μ̂ − μ‖₂ (log)")
    figure = _banded(table, RADIUS_NAMES, RADIUS_COLOURS, look, titles, "mean", room)
    for series, method in CHOOSES.items():  # each radius chosen, where its error stands
        rows = table[table["series"] == series]
        if rows.empty:
            continue
        name, colour = method_card(method).name, look.colour(colour_of(method))
        figure.add_scatter(
            x=rows["x"].tolist(),
            y=rows["mean"].tolist(),
            mode="markers",
            name=name,
            marker={"size": 12, "symbol": "diamond", "color": colour},
            hovertemplate=f"<b>{name}</b><br>R = %{{x:.3g}}: %{{y:.3g}}<extra></extra>",
        )
        if not look.compact:
            x, y = (math.log10(value) for value in (rows["x"].median(), rows["mean"].max()))
            figure.add_annotation(**note(f"<b>{name}</b>", x, y, colour, 13, yshift=18))
    private = table[table["series"] == PRIVATE]
    if not private.empty:
        best = private.loc[private["mean"].idxmin()]
        text = f"best: R = {number_text(best['x'])}"
        named_line(figure, look, best["x"], text, width=1, dash="dot")
    return figure


def _banded(
    table: pd.DataFrame,
    names: Mapping[str, str],
    colours: Mapping[str, Pair],
    look: Look,
    titles: tuple[str, str],
    column: str,
    room: Sequence[float],
) -> go.Figure:
    """Return lines with bands from 10 % to 90 % on two logarithmic axes."""
    shown = table[table["series"].isin(list(names))]
    curves: list[Curve] = []
    figure = go.Figure()
    for series in dict.fromkeys(shown["series"]):
        rows = shown[shown["series"] == series]
        x, y, q10, q90 = (rows[name].tolist() for name in ("x", column, "q10", "q90"))
        colour = translucent(look.colour(colours[series]), 0.16)
        figure.add_trace(area_part(x, q90, q10, colour, f"{names[series]}, 10-90 %"))
        curves.append((names[series], colours[series], x, y))
    figure.add_traces(_lines(curves, look, mode="lines+markers").data)
    # A bias falls to nothing, and leaves the figure on its way there.
    others = shown[shown["series"] != BIAS]["q10"]
    least = float(shown["q90"].max() / SHOWN_BIAS if others.empty else others.min())
    low = min([least, *room]) / 1.4
    high = max([float(shown["q90"].max()), *room]) * 1.4
    if not look.compact:
        labels = [
            Label(
                text=f"<b>{name}</b>", y=max(y[-1], 1.1 * low), colour=look.colour(colour), rank=i
            )
            for i, (name, colour, _, y) in enumerate(curves)
        ]
        place_labels(figure, labels, low, high)
    xs = sorted(set(shown["x"]))
    for update, ends in (
        (figure.update_xaxes, (xs[0], xs[-1])),
        (figure.update_yaxes, (low, high)),
    ):
        ticks = log_ticks(*ends)
        update(tickvals=ticks, ticktext=[number_text(t) for t in ticks])
    x_range = (math.log10(xs[0]) - 0.1, math.log10(xs[-1]) + 0.1)
    y_range = (math.log10(low), math.log10(high))
    return _finish(figure, look, *titles, x_range, y_range, log_x=True, log_y=True)


def _lines(
    curves: Sequence[Curve], look: Look, *, mode: str = "lines", shape: str = "linear"
) -> go.Figure:
    figure = go.Figure()
    for name, pair, x, y in curves:
        colour = look.colour(pair)
        figure.add_scatter(
            x=x,
            y=y,
            mode=mode,
            name=name,
            line={"color": colour, "width": 2.4, "shape": shape},
            marker={"size": 7, "color": colour},
            hovertemplate=f"<b>{name}</b><br>%{{x:,.4g}}: %{{y:.3g}}<extra></extra>",
        )
    return figure


def _name(figure: go.Figure, text: str, colour: str, x: float, y: float, **place: object) -> None:
    figure.add_annotation(
        **note(f"<b>{text}</b>", x, y, colour, 13, **{"yanchor": "bottom"} | place)
    )


def _finish(
    figure: go.Figure,
    look: Look,
    x_title: str,
    y_title: str,
    x_range: Ends,
    y_range: Ends,
    *,
    log_x: bool = False,
    log_y: bool = False,
) -> go.Figure:
    for update, title, ends, log in (
        (figure.update_xaxes, x_title, x_range, log_x),
        (figure.update_yaxes, y_title, y_range, log_y),
    ):
        update(
            title_text=title,
            range=ends,
            type="log" if log else "linear",
            gridcolor=look.grid,
            zeroline=False,
            minor_ticks="",
        )
    lay_out(figure, look)
    return figure
