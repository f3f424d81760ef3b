"""Tidy frames and evaluated bounds become a Plotly figure; no Streamlit in here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from dpsco_app.look import (
    COLOURS,
    FADED,
    REGION,
    SYMBOLS,
    Label,
    Look,
    lay_out,
    log_ticks,
    place_labels,
    translucent,
    wrapped,
)
from dpsco_app.options import SYMBOL, number_text
from dpsco_app.problem_words import geometry_name, is_instance, words_for, worst_case
from dpsco_core.card import BoundCard
from dpsco_core.catalogue import method_card
from dpsco_core.report import Evaluation
from dpsco_core.scenario import Scenario

AXIS_TITLES = {
    "n": "Number of records n",
    "d": "Dimension d",
    "m": "Items a user m",
    "epsilon": "Privacy budget ε (epsilon)",
    "p": "Tail index p",
    "q": "Exponent q of the norm",
}

ROUNDING = 1e-6  # times the largest error: what is smaller is drawn below the figure
START = "Start, no data used"


@dataclass(frozen=True, kw_only=True)
class Line:
    """The line of a method: what it is called, and whether it is that of the set beside."""

    method: str
    name: str
    other: bool


def error_figure(
    scenario: Scenario,
    table: pd.DataFrame,
    bounds: Sequence[Evaluation],
    look: Look,
    start: Sequence[tuple[float, float]] = (),
    beside: tuple[Scenario, pd.DataFrame] | None = None,
) -> go.Figure:
    """Return the figure of a study: measured errors between their bounds.

    Parameters
    ----------
    scenario : Scenario
        With an axis; its own value on the axis is marked.
    table : DataFrame
        The `summary` of the cells that have finished; may be empty.
    bounds : sequence of Evaluation
        What to draw besides, at the points of the grid.
    look : Look
    start : sequence of (x, risk)
        The excess risk of the point at which optimisers start, if it is to be drawn.
    beside : (Scenario, DataFrame), optional
        The same study on another set, drawn dashed, with its summary.
    """
    assert scenario.axis is not None
    figure = go.Figure()
    curves = _group(bounds)
    methods = [m for m in scenario.methods if m in set(table["method"])]
    every = table if beside is None else pd.concat([table, beside[1]])
    low, high = _range(every, curves, [risk for _, risk in start])
    labels: list[Label] = []
    proven = [c for c in curves if not any(e.failures for e in c)]
    floors = [c for c in proven if is_floor(c[0].bound.card)]
    for curve in floors:
        _draw_region(figure, curve, look, low)
    _name_region(figure, floors, scenario, look, low)
    for curve in curves:
        _draw_bound(figure, curve, look, labels)
    if start:
        _draw_start(figure, start, look, labels)
    parts = [(scenario, table, False)]
    if beside is not None:
        parts.insert(0, (*beside, True))
    for shown, part, other in parts:
        where = "" if beside is None else f", {geometry_name(shown.geometry, shown.q)}"
        for method in [m for m in methods if m in set(part["method"])]:
            rows = part[part["method"] == method]
            drawn = Line(method=method, name=method_card(method).name + where, other=other)
            _draw_method(figure, scenario, rows, drawn, look, labels)
            _name_below(rows, drawn, look, low, labels)
    xs = scenario.grid
    if not look.compact:
        place_labels(figure, labels, low, high)
    _mark_chosen(figure, scenario, look)
    logarithmic = scenario.axis != "p"
    figure.update_xaxes(
        type="log" if logarithmic else "linear",
        title_text=AXIS_TITLES[scenario.axis] + (" (log)" if logarithmic else ""),
        tickvals=list(xs),
        ticktext=[number_text(x) for x in xs],
        range=_x_range(xs, logarithmic),
        gridcolor=look.grid,
        minor_ticks="",
        zeroline=False,
    )
    figure.update_yaxes(
        type="log",
        title_text=words_for(scenario.problem).error_axis,
        range=[math.log10(low), math.log10(high)],
        tickvals=log_ticks(low, high),
        ticktext=[number_text(t) for t in log_ticks(low, high)],
        gridcolor=look.grid,
        zeroline=False,
    )
    lay_out(figure, look)
    return figure


def _group(bounds: Sequence[Evaluation]) -> list[list[Evaluation]]:
    """Return the evaluations curve by curve; those without a positive value are left out."""
    curves: dict[str, list[Evaluation]] = {}
    for e in bounds:
        if e.x is not None and 0 < e.value < math.inf:
            curves.setdefault(e.bound.card.slug, []).append(e)
    return list(curves.values())


def is_floor(card: BoundCard) -> bool:
    """Whether the region below a bound is shaded."""
    return card.kind == "lower" and card.constant == "explicit"


def _range(
    table: pd.DataFrame, curves: list[list[Evaluation]], start: Sequence[float]
) -> tuple[float, float]:
    """Return the vertical range: all measured errors, and the bounds that are near them."""
    measured = [float(v) for c in ("q10", "q90", "median_error") for v in table[c] if v > 0]
    measured = [v for v in measured if v > ROUNDING * max(measured)]
    lower = [e.value for c in curves if c[0].bound.card.kind == "lower" for e in c]
    upper = [e.value for c in curves if c[0].bound.card.kind == "upper" for e in c]
    values = measured + lower
    if not values:
        values = upper or [0.01, 1.0]
    top = max(measured or values)
    above = [u for u in upper if u < 30 * top] + [s for s in start if s < 30 * top]
    low = min(min(measured, default=math.inf), max(min(lower, default=math.inf), top * 1e-4))
    low = low if math.isfinite(low) else min(values)
    return low / 1.8, max([top, *above, *(v for v in lower if v < 10 * top)]) * 1.6


def _x_range(xs: Sequence[float], logarithmic: bool) -> list[float]:
    a, b = (math.log10(xs[0]), math.log10(xs[-1])) if logarithmic else (xs[0], xs[-1])
    pad = 0.03 * (b - a) or 0.3
    return [a - pad, b + pad]


def _draw_region(figure: go.Figure, curve: list[Evaluation], look: Look, low: float) -> None:
    """Fill from below: where no private algorithm can be, on the hardest input."""
    colour = look.colour(REGION)
    x = [e.x for e in curve]
    y = [max(e.value, low * 1.0001) for e in curve]
    figure.add_trace(
        go.Scatter(
            x=[*x, *reversed(x)],
            y=[*y, *([low / 10] * len(y))],
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor=translucent(colour, 0.13),
            hoverinfo="skip",
            name=curve[0].bound.card.slug,
            showlegend=False,
        )
    )


def _name_region(
    figure: go.Figure, curves: list[list[Evaluation]], scenario: Scenario, look: Look, low: float
) -> None:
    """Write what the shaded region means into it, where it is high enough."""
    top = max((curve[0].value for curve in curves), default=0.0)
    if top < 1.6 * low:
        return
    figure.add_annotation(
        text=region_text(curves, scenario, look),
        xref="paper",
        x=0.04,
        y=math.log10(low) + 0.04 * math.log10(top / low),
        yanchor="bottom",
        xanchor="left",
        align="left",
        showarrow=False,
        font={"size": 12 if look.compact else 13, "color": look.colour(REGION)},
    )


def region_text(curves: Sequence[list[Evaluation]], scenario: Scenario, look: Look) -> str:
    """Return what the shaded region means; on the data of its highest edge it holds as it is."""
    who = "No private algorithm gets here"
    highest = max(curves, key=lambda c: c[0].value)[0].bound.card
    if is_instance(highest, scenario.problem, scenario.distribution):
        return who
    return who + ("<br>" if look.compact else " ") + worst_case(highest)


def _draw_bound(
    figure: go.Figure, curve: list[Evaluation], look: Look, labels: list[Label]
) -> None:
    card = curve[0].bound.card
    lower = card.kind == "lower"
    colour = look.colour(REGION) if lower else look.colour(COLOURS.get(card.method, REGION))
    failing = [bool(e.failures) for e in curve]
    rate = card.constant == "rate"
    hover = [bound_hover(e) for e in curve]
    # A line is drawn faded where a hypothesis fails at either end of a piece.
    for faded in (False, True):
        keep = [f == faded or _beside(failing, i, faded) for i, f in enumerate(failing)]
        if not any(f == faded for f in failing):
            continue
        figure.add_trace(
            go.Scatter(
                x=[e.x for e in curve],
                y=[e.value if k else None for e, k in zip(curve, keep, strict=True)],
                mode="lines",
                line={
                    "color": colour,
                    "width": 1.4,
                    "dash": "dash" if rate else "solid",
                },
                opacity=FADED if faded else 0.9,
                hovertext=hover,
                hoverinfo="text",
                name=bound_name(card),
                showlegend=faded == failing[-1],
            )
        )
    rank = 1 if is_floor(card) else 2
    labels.append(Label(text=bound_name(card), y=curve[-1].value, colour=colour, rank=rank))


def bound_name(card: BoundCard) -> str:
    """Return the name of a bound beside those of the estimators, which it must not repeat."""
    if card.constant == "rate":
        return f"{card.name} (constant 1)"
    own = method_card(card.method).name if card.method else ""
    return f"{card.name}, proven mean" if card.name == own else card.name


def _beside(failing: list[bool], i: int, faded: bool) -> bool:
    """Whether point i ends a faded piece that starts at a neighbour."""
    return faded and any(0 <= j < len(failing) and failing[j] != failing[i] for j in (i - 1, i + 1))


def bound_hover(e: Evaluation) -> str:
    """Return what a bound says of itself: value, source, terms, what fails."""
    card = e.bound.card
    lines = [
        f"<b>{card.name}</b>",
        card.summary,
        f"{card.paper}, {card.statement}",
        f"value {e.value:.3g} · {_constant(card.constant)} · {card.guarantee}",
    ]
    if len(e.terms) > 1:
        lines.append(", ".join(f"{k} {v:.3g}" for k, v in e.terms.items()))
    lines += [f"⚠ {failure}" for failure in e.failures]
    return "<br>".join(wrapped(line, 70) for line in lines)


def _constant(constant: str) -> str:
    return "explicit constant" if constant == "explicit" else "rate, drawn with constant 1"


def _draw_start(
    figure: go.Figure, start: Sequence[tuple[float, float]], look: Look, labels: list[Label]
) -> None:
    """Draw what an algorithm leaves that ignores the data and answers its starting point."""
    figure.add_trace(
        go.Scatter(
            x=[x for x, _ in start],
            y=[risk for _, risk in start],
            mode="lines",
            line={"color": look.quiet, "width": 1.2, "dash": "dot"},
            hovertext=[f"{START}<br>excess population risk {risk:.3g}" for _, risk in start],
            hoverinfo="text",
            name=START,
        )
    )
    labels.append(Label(text=START, y=start[-1][1], colour=look.quiet, rank=1))


def _draw_method(
    figure: go.Figure,
    scenario: Scenario,
    rows: pd.DataFrame,
    line: Line,
    look: Look,
    labels: list[Label],
) -> None:
    rows = rows[rows["median_error"] > 0].sort_values("x")
    if rows.empty:
        return
    name, method = line.name, line.method
    colour = look.colour(COLOURS[method])
    x, median = rows["x"].tolist(), rows["median_error"].tolist()
    upper, lower = rows["q90"].tolist(), rows["q10"].tolist()
    figure.add_trace(
        go.Scatter(
            x=[*x, *reversed(x)],
            y=[*upper, *reversed(lower)],
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor=translucent(colour, 0.16),
            hoverinfo="skip",
            name=f"{name}, 10-90 %",
            showlegend=False,
        )
    )
    hover = [
        f"<b>{name}</b><br>{SYMBOL[scenario.axis or 'n']} = {number_text(r.x)}"
        f"<br>median {r.median_error:.3g}"
        f"<br>mean {r.mean_error:.3g} ± {r.standard_error:.1g}"
        f"<br>10-90 % of trials {r.q10:.3g} to {r.q90:.3g}"
        f"<br>{r.trials} trials · {1000 * r.seconds:.2g} ms each"
        for r in rows.itertuples()
    ]
    private = method_card(method).privacy != "none"
    figure.add_trace(
        go.Scatter(
            x=x,
            y=median,
            mode="lines+markers",
            line={
                "color": colour,
                "width": 2.6 if private else 2,
                "dash": "7px,4px" if line.other else "solid",
            },
            marker={
                "symbol": opened(SYMBOLS[method]) if line.other else SYMBOLS[method],
                "size": 8,
                "color": colour,
            },
            hovertext=hover,
            hoverinfo="text",
            name=name,
        )
    )
    labels.append(Label(text=f"<b>{name}</b>", y=median[-1], colour=colour, rank=0))


def opened(symbol: str) -> str:
    """Return the open form of a marker; what is open already gets a dot."""
    return f"{symbol}-dot" if symbol.endswith("-open") else f"{symbol}-open"


def _name_below(
    rows: pd.DataFrame, line: Line, look: Look, low: float, labels: list[Label]
) -> None:
    """Name a method at the lower edge if its line ends below the figure: it is right, or nearly."""
    last = rows.sort_values("x")["median_error"].iloc[-1]
    if last < low:
        text = f"{line.name}, below (error {max(last, 0):.0g})"
        colour = look.colour(COLOURS[line.method])
        labels.append(Label(text=f"<b>{text}</b>", y=low, colour=colour, rank=0))


def _mark_chosen(figure: go.Figure, scenario: Scenario, look: Look) -> None:
    assert scenario.axis is not None
    value = getattr(scenario, scenario.axis)
    if value is None or not scenario.grid[0] <= value <= scenario.grid[-1]:
        return
    figure.add_vline(x=value, line={"color": look.ink, "width": 1, "dash": "dot"}, opacity=0.6)
    at_end = value == scenario.grid[-1] and len(scenario.grid) > 1
    figure.add_annotation(
        text=f"chosen {SYMBOL[scenario.axis]} = {number_text(value)}",
        xanchor="right" if at_end else "center",
        x=math.log10(value) if scenario.axis != "p" else value,
        y=1.0,
        yref="paper",
        yanchor="bottom",
        showarrow=False,
        font={"size": 12, "color": look.ink},
    )
