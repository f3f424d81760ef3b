"""The figures of the page Lower bounds that have a row for every item; no Streamlit in here."""

import math
from collections.abc import Sequence
from dataclasses import replace

import plotly.graph_objects as go

from dpsco_app.figure.methods import colour_of, symbol_of
from dpsco_app.pages.lower_bounds.charts import CLASS_COLOURS
from dpsco_app.pages.lower_bounds.words import RUNG_NAMES, VOID, brief
from dpsco_app.parts.look import GREY, REGION, TEAL, Look, lay_out, log_rows, translucent, wrapped
from dpsco_core.catalogue import method_card
from dpsco_core.explain.fano.builder import Builder
from dpsco_core.explain.fano.instance import Rung
from dpsco_core.explain.fano.measured import Measured

RUNG_SYMBOLS = {"paper": "circle-open", "optimised": "circle", "hypercube": "diamond"}
SHORT_NAMES = {"zcdp": "zCDP", "pure": "pure"}
ANSWER_ZERO = "Answer 0"


def information_figure(at: Builder, look: Look) -> go.Figure:
    """Return what there is to know beside what the output may hold, in nats."""
    names = ["To know: ln N", "In the records: n·KL", "Past the privacy: ρ·E B²"]
    if look.compact:
        names = ["To know", "In the records", "Past privacy"]
    values = [at.log_size, at.sampling_information, at.privacy_information]
    most = 1.6 * at.log_size
    colours = [look.ink, look.colour(GREY), look.colour(TEAL)]
    figure = go.Figure(
        go.Bar(
            y=names,
            x=[min(v, most) for v in values],
            orientation="h",
            marker={"color": colours},
            text=[f" {brief(v)} nats" for v in values],
            textposition="outside",
            textfont={"color": look.ink},
            cliponaxis=False,
            hovertemplate="%{y}: %{text}<extra></extra>",
        )
    )
    figure.add_vline(x=at.log_size, line={"color": look.ink, "width": 1.2, "dash": "dash"})
    figure.update_xaxes(range=[0, 1.35 * most], title_text="Nats", gridcolor=look.grid)
    figure.update_yaxes(autorange="reversed")
    lay_out(figure, replace(look, short=True))
    left = 100 if look.compact else 200
    figure.update_layout(
        height=290 if look.compact else 270,
        showlegend=False,
        margin={"t": 84 if look.compact else 60, "b": 50, "l": left, "r": 20},
        bargap=0.45,
    )
    return figure


def ladder_figure(rungs: Sequence[Rung], look: Look) -> go.Figure:
    """Return the forms of the bound, one a row, by whose constants they have."""
    figure = go.Figure()
    known = [r.value for r in rungs if r.value > VOID]
    high = max(known, default=1.0)
    low = min(known, default=high / 100) / 2.5
    high *= 3 * (high / low) ** (0.25 if look.compact else 0.1)  # room for the number of the last
    names = [_rung_name(r, look) for r in rungs]
    for rung, name in zip(rungs, names, strict=True):
        colour = look.colour(CLASS_COLOURS[rung.binds])
        void = rung.value <= VOID
        figure.add_scatter(
            x=[low if void else rung.value],
            y=[name],
            mode="markers+text",
            marker={
                "symbol": "x-thin-open" if void else RUNG_SYMBOLS[rung.source],
                "size": 12,
                "color": colour,
                "line": {"width": 2.5},
            },
            text=["  proves nothing" if void else f"  {brief(rung.value)}"],
            textposition="middle right",
            textfont={"color": colour},
            name=name,
            hovertemplate=f"{name}<br>q {brief(rung.q)}: {brief(rung.value)}<extra></extra>",
            cliponaxis=False,
        )
    log_rows(figure, look, (low / 1.15, high), "Least error (log)", names)
    _rows_layout(figure, len(names), look, left=290)
    return figure


def _rung_name(rung: Rung, look: Look) -> str:
    name = RUNG_NAMES[rung.key]
    return wrapped(name, 18) if look.compact else name


def run_figure(
    rows: Sequence[Measured], trivial: float, floor: tuple[str, float], look: Look
) -> go.Figure:
    """Return every trial and the mean of every method right of the floors.

    `trivial` is what the answer 0 errs by, `floor` the class, ``"zcdp"`` or ``"pure"``, and the
    value of the floor on this instance; a method that another class binds has a mark of its own.
    """
    figure = go.Figure()
    names = {r.method: _method_name(r.method, look) for r in rows if r.errors}
    values = [e for r in rows for e in r.errors if e > 0] + [trivial]
    values += [v for v in (floor[1], *(r.floor for r in rows)) if v > VOID]
    low, high = min(values) / 1.7, max(values) * 1.7
    for row in rows:
        if not row.errors:
            continue
        colour, name = look.colour(colour_of(row.method)), names[row.method]
        figure.add_scatter(
            x=list(row.errors),
            y=[name] * len(row.errors),
            mode="markers",
            marker={"size": 8, "color": translucent(colour, 0.3)},
            name=f"trials, {name}",
            hovertemplate="one trial: %{x:.3g}<extra></extra>",
            showlegend=False,
        )
        bars = 2 * row.standard_error if len(row.errors) > 1 else 0.0
        figure.add_scatter(
            x=[row.mean],
            y=[name],
            mode="markers",
            error_x={
                "array": [bars],
                "arrayminus": [min(bars, 0.9 * row.mean)],
                "symmetric": False,
            },
            marker={"size": 15, "color": colour, "symbol": symbol_of(row.method)},
            name=name,
            hovertemplate=f"{name}<br>mean error %{{x:.4g}}<extra></extra>",
        )
    figure.add_scatter(
        x=[trivial],
        y=[ANSWER_ZERO],
        mode="markers",
        marker={"size": 13, "color": look.ink, "symbol": "line-ns-open", "line": {"width": 3}},
        name=ANSWER_ZERO,
        hovertemplate="the answer 0, without a look at the data: %{x:.4g}<extra></extra>",
    )
    every = [*names.values(), ANSWER_ZERO]
    kind, value = floor
    if value > VOID:
        colour = look.colour(CLASS_COLOURS[kind])
        figure.add_vline(x=value, line={"color": colour, "width": 2.5})
        figure.add_annotation(
            text=f"<b>{SHORT_NAMES[kind]} floor {brief(value)}</b>",
            x=math.log10(value),
            y=len(every) - 0.45,
            xanchor="left",
            xshift=6,
            showarrow=False,
            font={"color": colour, "size": 12},
        )
        figure.add_vrect(
            x0=low,
            x1=value,
            fillcolor=look.colour(REGION),
            opacity=0.12,
            line={"width": 0},
            layer="below",
        )
    for row in rows:
        if row.errors and row.floor > VOID and row.floor != value:
            _own_floor(figure, row.floor, names[row.method], look)
    log_rows(figure, look, (low, high), "Error of the mean (log)", every, above=0.9)
    _rows_layout(figure, len(every), look, left=230)
    return figure


def _own_floor(figure: go.Figure, value: float, name: str, look: Look) -> None:
    figure.add_scatter(
        x=[value],
        y=[name],
        mode="markers",
        marker={
            "size": 17,
            "symbol": "line-ns-open",
            "color": look.colour(REGION),
            "line": {"width": 3},
        },
        name=f"floor of {name}",
        hovertemplate=f"{name}: its own floor %{{x:.3g}}<extra></extra>",
    )


def _method_name(slug: str, look: Look) -> str:
    name = method_card(slug).name
    return wrapped(name, 14) if look.compact else name


def _rows_layout(figure: go.Figure, rows: int, look: Look, *, left: int) -> None:
    lay_out(figure, replace(look, short=True))
    step = 44 if look.compact else 28
    figure.update_layout(
        height=step * rows + (180 if look.compact else 140),
        showlegend=False,
        margin={
            "t": 90 if look.compact else 64,
            "b": 54,
            "l": 118 if look.compact else left,
            "r": 16,
        },
    )
