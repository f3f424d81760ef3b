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
    symbol_of,
    translucent,
    wrapped,
)
from dpsco_app.parts.options import number_text
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
    others = [b for b in shown if not is_floor(b.bound.card)]
    rows = [_row_name(method_card(m).name, look) for m in scenario.methods if errors[m]]
    for method in scenario.methods:
        if errors[method]:
            _draw_trials(figure, method, errors[method], look)
    for b in others:
        rows.append(_draw_marker(figure, b, look))
    for i, b in enumerate(sorted(floors, key=lambda b: -b.value)):
        _draw_floor(figure, b, i, look, (low, high), binds_here(b.bound.card, scenario))
    if start is not None and low < start < high:
        _draw_start(figure, start, look)
    figure.update_xaxes(log_axis(look, (low, high), words_for(scenario.problem).error_axis))
    figure.update_yaxes(
        gridcolor=look.grid,
        automargin=True,
        categoryorder="array",
        categoryarray=rows,
        autorange="reversed",
    )
    lay_out(figure, look)
    if any(binds_here(b.bound.card, scenario) for b in floors):
        _name_region(figure, look)
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


def _draw_trials(figure: go.Figure, method: str, errors: list[float], look: Look) -> None:
    name = method_card(method).name
    colour = look.colour(colour_of(method))
    row = _row_name(name, look)
    figure.add_trace(
        go.Box(
            x=errors,
            y=[row] * len(errors),
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
    )


def _draw_marker(figure: go.Figure, evaluation: Evaluation, look: Look) -> str:
    """Draw a bound as a mark in a row of its own; return the row's name."""
    card = evaluation.bound.card
    colour = look.colour(bound_colour(card))
    row = _row_name(bound_name(card), look)
    rate = card.constant == "rate"
    figure.add_trace(
        go.Scatter(
            x=[evaluation.value],
            y=[row],
            mode="markers",
            marker={
                "symbol": "line-ns-open" if not rate else "diamond-tall-open",
                "size": 13 if not rate else 10,
                "color": colour,
                "line": {"color": colour, "width": 2},
            },
            opacity=FADED if evaluation.failures else 1.0,
            hovertext=[bound_hover(evaluation)],
            hoverinfo="text",
            name=card.name,
        )
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
    low, high = ends
    card = evaluation.bound.card
    colour = look.colour(REGION)
    if shaded:
        figure.add_vrect(
            x0=low / 10,
            x1=evaluation.value,
            fillcolor=translucent(colour, 0.13),
            line_width=0,
            layer="below",
        )
    figure.add_vline(x=evaluation.value, line={"color": colour, "width": 1.4}, opacity=0.9)
    figure.add_annotation(
        text=f"{card.name}{'' if shaded else ', worst case'}: "
        f"{number_text(float(f'{evaluation.value:.2g}'))}",
        x=math.log10(evaluation.value),
        y=1,
        yref="paper",
        yshift=17 * i,
        yanchor="bottom",
        xanchor="left" if evaluation.value < math.sqrt(low * high) else "right",
        showarrow=False,
        font={"size": 12, "color": colour},
    )


def _draw_start(figure: go.Figure, start: float, look: Look) -> None:
    figure.add_vline(x=start, line={"color": look.quiet, "width": 1.2, "dash": "dot"})
    figure.add_annotation(
        text="start, no data" if look.compact else START,
        x=math.log10(start),
        y=0,
        yref="paper",
        yanchor="bottom",
        xanchor="right",
        showarrow=False,
        font={"size": 12, "color": look.quiet},
    )


def _name_region(figure: go.Figure, look: Look) -> None:
    figure.add_annotation(
        text=HERE,
        xref="paper",
        yref="paper",
        x=0.01,
        y=0.01,
        xanchor="left",
        yanchor="bottom",
        align="left",
        showarrow=False,
        font={"size": 12 if look.compact else 13, "color": look.colour(REGION)},
    )
