"""The figure of a single point: every trial of every estimator, and the bounds beside them."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from dpsco_app.parts.charts import START
from dpsco_app.parts.look import (
    FADED,
    REGION,
    Look,
    bound_colour,
    colour_of,
    lay_out,
    log_axis,
    note,
    set_axes,
    symbol_of,
    translucent,
    wrapped,
)
from dpsco_app.parts.options import short_text
from dpsco_app.parts.problem_words import words_for
from dpsco_app.parts.traces import HERE, binds_here, bound_hover, bound_name, is_floor
from dpsco_core.catalogue import method_card
from dpsco_core.results.report import Evaluation
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

ROW_HEIGHT, ROW_HEIGHT_COMPACT = 34, 50  # pixels; names take up to three lines on a phone


def point_figure(
    scenario: Scenario,  # without an axis
    outcomes: Sequence[Outcome],  # what has finished
    # explicit lower bounds are lines across, with the region below shaded; every other bound has a
    # row of its own below the estimators
    bounds: Sequence[Evaluation],
    look: Look,
    start: float | None = None,  # the excess risk of the point at which optimisers start
    # the range of the errors, if not that of what is drawn: see `point_range`
    ends: tuple[float, float] | None = None,
) -> go.Figure:
    """Return one row an estimator: its trials as points, and a box of their quartiles."""
    figure = go.Figure()
    errors = {
        m: [o.error for o in outcomes if o.method == m and o.error > 0] for m in scenario.methods
    }
    low, high = ends or point_range(outcomes, bounds, start)
    shown = _near(bounds, outcomes)
    floors = [b for b in shown if is_floor(b.bound.card)]
    rows = []
    for method in (m for m in scenario.methods if errors[m]):
        name, colour = method_card(method).name, look.colour(colour_of(method))
        rows.append(_row_name(name, look))
        figure.add_box(
            x=errors[method],
            y=[rows[-1]] * len(errors[method]),
            name=name,
            orientation="h",
            boxpoints="all",
            boxmean=True,
            jitter=0.4,
            pointpos=0,
            marker={"color": colour, "symbol": symbol_of(method), "size": 6, "opacity": 0.7},
            line={"color": colour, "width": 1.5},
            fillcolor=translucent(colour, 0.15),
            hovertemplate=f"{name}<br>%{{x:.3g}}<extra></extra>",
        )
    for b in (b for b in shown if not is_floor(b.bound.card)):
        rows.append(_draw_marker(figure, b, look))
    for i, b in enumerate(sorted(floors, key=lambda b: -b.value)):
        _draw_floor(figure, b, i, look, (low, high), binds_here(b.bound.card, scenario))
    if start is not None and low < start < high:  # what an algorithm leaves that answers its start
        figure.add_vline(x=start, line={"color": look.quiet, "width": 1.2, "dash": "dot"})
        name = "start, no data" if look.compact else START
        at = {"yref": "paper", "yanchor": "bottom", "xanchor": "right"}
        figure.add_annotation(**note(name, math.log10(start), 0, look.quiet, **at))
    names = {
        "gridcolor": look.grid,
        "automargin": True,
        "categoryorder": "array",
        "categoryarray": rows,
        "autorange": "reversed",
    }
    error = log_axis(look, (low, high), words_for(scenario.problem).error_axis)
    del error["zeroline"]
    set_axes(figure, error, names)
    lay_out(figure, look)
    if any(binds_here(b.bound.card, scenario) for b in floors):
        at = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
        size = 12 if look.compact else 13
        region = note(HERE, 0.01, 0.01, look.colour(REGION), size, align="left", **at)
        figure.add_annotation(**region)
    head = 90 if look.compact else 60
    row_height = ROW_HEIGHT_COMPACT if look.compact else ROW_HEIGHT
    figure.update_layout(
        showlegend=False,
        height=max(figure.layout.height, head + 140 + row_height * len(rows)),
        margin={"l": 10, "r": 20, "t": head + 17 * len(floors), "b": 60},
    )
    return figure


def point_range(
    outcomes: Sequence[Outcome], bounds: Sequence[Evaluation], start: float | None = None
) -> tuple[float, float]:
    values = [o.error for o in outcomes if o.error > 0]
    top = max(values, default=1.0)
    values += [b.value for b in _near(bounds, outcomes)]
    if start is not None and start < 30 * top:
        values.append(start)
    return min(values, default=0.1) / 1.6, max(values, default=1.0) * 1.6


def _near(bounds: Sequence[Evaluation], outcomes: Sequence[Outcome]) -> list[Evaluation]:
    top = max((o.error for o in outcomes if o.error > 0), default=1.0)
    return [b for b in bounds if top * 1e-4 < b.value < 30 * top]


def _row_name(name: str, look: Look) -> str:
    return wrapped(name, 16 if look.compact else 40)


def _draw_marker(figure: go.Figure, evaluation: Evaluation, look: Look) -> str:
    """Draw a bound as a mark in a row of its own; return the row's name."""
    card = evaluation.bound.card
    colour, rate = look.colour(bound_colour(card)), card.constant == "rate"
    row = _row_name(bound_name(card), look)
    figure.add_scatter(
        x=[evaluation.value],
        y=[row],
        mode="markers",
        marker={
            "symbol": "diamond-tall-open" if rate else "line-ns-open",
            "size": 10 if rate else 13,
            "color": colour,
            "line": {"color": colour, "width": 2},
        },
        opacity=FADED if evaluation.failures else 1.0,
        hovertext=[bound_hover(evaluation)],
        hoverinfo="text",
        name=card.name,
    )
    return row


def _draw_floor(
    figure: go.Figure,
    evaluation: Evaluation,
    i: int,
    look: Look,
    ends: tuple[float, float],
    shaded: bool,
) -> None:
    """Draw a lower bound, `shaded` below where it binds; its name stands above, a line each."""
    value, colour = evaluation.value, look.colour(REGION)
    if shaded:
        figure.add_vrect(
            x0=ends[0] / 10,
            x1=value,
            fillcolor=translucent(colour, 0.13),
            line_width=0,
            layer="below",
        )
    figure.add_vline(x=value, line={"color": colour, "width": 1.4}, opacity=0.9)
    name = f"{evaluation.bound.card.name}{'' if shaded else ', worst case'}"
    side = "left" if value < math.sqrt(ends[0] * ends[1]) else "right"
    at = {"yref": "paper", "yshift": 17 * i, "yanchor": "bottom", "xanchor": side}
    text = f"{name}: {short_text(value, 2)}"
    figure.add_annotation(**note(text, math.log10(value), 1, colour, **at))
