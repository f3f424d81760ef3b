"""The figure of a single point: every trial of every estimator."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from dpsco_app.figure.methods import colour_of, symbol_of
from dpsco_app.parts.charts import START
from dpsco_app.parts.look import (
    Look,
    lay_out,
    log_axis,
    note,
    set_axes,
    translucent,
    wrapped,
)
from dpsco_app.parts.problem_words import words_for
from dpsco_core.catalogue import method_card
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

ROW_HEIGHT, ROW_HEIGHT_COMPACT = 34, 50  # pixels; names take up to three lines on a phone


def point_figure(
    scenario: Scenario,  # without an axis
    outcomes: Sequence[Outcome],  # what has finished
    look: Look,
    start: float | None = None,  # the excess risk of the point at which optimisers start
) -> go.Figure:
    """Return one row an estimator: its trials as points, and a box of their quartiles."""
    figure = go.Figure()
    errors = {
        m: [o.error for o in outcomes if o.method == m and o.error > 0] for m in scenario.methods
    }
    low, high = _range(outcomes, start)
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
    head = 90 if look.compact else 60
    row_height = ROW_HEIGHT_COMPACT if look.compact else ROW_HEIGHT
    figure.update_layout(
        showlegend=False,
        height=max(figure.layout.height, head + 140 + row_height * len(rows)),
        margin={"l": 10, "r": 20, "t": head, "b": 60},
    )
    return figure


def _range(outcomes: Sequence[Outcome], start: float | None) -> tuple[float, float]:
    values = [o.error for o in outcomes if o.error > 0]
    top = max(values, default=1.0)
    if start is not None and start < 30 * top:
        values.append(start)
    return min(values, default=0.1) / 1.6, max(values, default=1.0) * 1.6


def _row_name(name: str, look: Look) -> str:
    return wrapped(name, 16 if look.compact else 40)
