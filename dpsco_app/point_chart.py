"""The figure of a single point: every trial of every estimator, and the bounds across."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from dpsco_app.charts import is_floor
from dpsco_app.look import COLOURS, REGION, SYMBOLS, Look, lay_out, log_ticks, translucent, wrapped
from dpsco_app.options import number_text
from dpsco_core.catalogue import method_card
from dpsco_core.report import Evaluation
from dpsco_core.scenario import Scenario
from dpsco_core.study import Outcome


def point_figure(
    scenario: Scenario, outcomes: Sequence[Outcome], bounds: Sequence[Evaluation], look: Look
) -> go.Figure:
    """Return one row an estimator: its trials as points, and a box of their quartiles.

    Parameters
    ----------
    scenario : Scenario
        Without an axis.
    outcomes : sequence of Outcome
        What has finished.
    bounds : sequence of Evaluation
        Drawn as vertical lines, lower bounds with the region below shaded.
    look : Look
    """
    figure = go.Figure()
    shown = [b for b in bounds if 0 < b.value < math.inf]
    errors = {
        m: [o.error for o in outcomes if o.method == m and o.error > 0] for m in scenario.methods
    }
    values = [e for row in errors.values() for e in row]
    top = max(values, default=1.0)
    shown = [b for b in shown if top * 1e-4 < b.value < 30 * top]
    values += [b.value for b in shown]
    low, high = min(values, default=0.1) / 1.6, max(values, default=1.0) * 1.6
    for method in reversed(scenario.methods):
        if errors[method]:
            _draw_trials(figure, method, errors[method], look)
    for i, b in enumerate(sorted(shown, key=lambda b: b.value)):
        _draw_line(figure, b, i, look, (low, high))
    figure.update_xaxes(
        type="log",
        title_text="Error ‖μ̂ − μ‖₂ (log)",
        range=[math.log10(low), math.log10(high)],
        tickvals=log_ticks(low, high),
        ticktext=[number_text(t) for t in log_ticks(low, high)],
        gridcolor=look.grid,
    )
    figure.update_yaxes(gridcolor=look.grid, automargin=True)
    lay_out(figure, look)
    figure.update_layout(
        showlegend=False, margin={"l": 10, "r": 20, "t": 130, "b": 60}, title_y=0.97
    )
    return figure


def _draw_trials(figure: go.Figure, method: str, errors: list[float], look: Look) -> None:
    name = method_card(method).name
    colour = look.colour(COLOURS[method])
    figure.add_trace(
        go.Box(
            x=errors,
            name=wrapped(name, 14 if look.compact else 40),
            orientation="h",
            boxpoints="all",
            jitter=0.4,
            pointpos=0,
            marker={"color": colour, "symbol": SYMBOLS[method], "size": 6, "opacity": 0.7},
            line={"color": colour, "width": 1.5},
            fillcolor=translucent(colour, 0.15),
            hovertemplate=f"{name}<br>%{{x:.3g}}<extra></extra>",
        )
    )


def _draw_line(
    figure: go.Figure, evaluation: Evaluation, i: int, look: Look, ends: tuple[float, float]
) -> None:
    low, high = ends
    card = evaluation.bound.card
    colour = look.colour(REGION if card.kind == "lower" else COLOURS.get(card.method, REGION))
    if is_floor(card):
        figure.add_vrect(
            x0=low / 10,
            x1=evaluation.value,
            fillcolor=translucent(colour, 0.13),
            line_width=0,
            layer="below",
        )
    figure.add_vline(
        x=evaluation.value,
        line={
            "color": colour,
            "width": 1.4,
            "dash": "dash" if card.constant == "rate" else "solid",
        },
        opacity=0.33 if evaluation.failures else 0.9,
    )
    figure.add_annotation(
        text=f"{card.name}: {number_text(float(f'{evaluation.value:.2g}'))}",
        x=math.log10(evaluation.value),
        y=1.01 + 0.05 * (i % 4),
        yref="paper",
        yanchor="bottom",
        xanchor="left" if evaluation.value < math.sqrt(low * high) else "right",
        showarrow=False,
        font={"size": 12, "color": colour},
    )
