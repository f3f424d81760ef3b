"""Bounds' figure: every bound of a table as a mark on one log axis; no Streamlit in here."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from dpsco_app.pages.bounds.words import marked, short
from dpsco_app.parts.curves import named_line
from dpsco_app.parts.look import FADED, GREY, Look, bound_colour, lay_out, log_ticks, wrapped
from dpsco_app.parts.options import in_print, number_text
from dpsco_core.base.cards import BoundCard
from dpsco_core.explain.tables.table import Row

LINE = 26  # height of a row
MOST = 40  # rows that a figure shows


def ordered(rows: Sequence[Row]) -> list[Row]:
    """Return the rows as the figure shows them: upper above lower ones, by value, valid first."""
    best = sorted(rows, key=lambda r: (not r.holds, r.value))[:MOST]
    return sorted(best, key=lambda r: (r.bound.card.kind != "upper", not r.holds, -r.value))


def dots_figure(
    rows: Sequence[Row], axis: str, chosen: str, look: Look, start: float = math.nan
) -> go.Figure:
    """Return the marks of the rows, one a line.

    The rows have positive, finite values of one quantity, of which `axis` is the title; that with
    the slug `chosen` is marked. `start` is the error of an answer that ignores the data, if it is
    to be drawn.
    """
    figure = go.Figure()
    shown = ordered(rows)
    names = [wrapped(marked(r), 22 if look.compact else 44) for r in shown]
    places, total = _places(names)
    for place, row in zip(places, shown, strict=True):
        card = row.bound.card
        colour = look.colour(bound_colour(card, GREY))
        figure.add_scatter(
            x=[row.value],
            y=[place],
            mode="markers",
            name=card.name,
            customdata=[card.slug],
            opacity=1.0 if row.holds else FADED,
            marker={
                "symbol": symbol_of(card),
                "size": 15 if card.slug == chosen else 12,
                "color": colour,
                "line": {"width": 2, "color": colour},
            },
            hovertemplate=_hover(row),
            showlegend=False,
        )
    lay_out(figure, look)
    figure.update_layout(
        height=round((165 if look.compact else 120) + LINE * max(total, 4.0)),
        margin={"l": 10, "r": 20, "t": 84 if look.compact else 64, "b": 55},
        showlegend=False,
        # A mark behind the chosen row, so that it is found again.
        shapes=[
            {
                "type": "rect",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": place - 0.5,
                "y1": place + 0.5,
                "fillcolor": look.grid,
                "line": {"width": 0},
                "layer": "below",
            }
            for place, row in zip(places, shown, strict=True)
            if row.bound.card.slug == chosen
        ],
    )
    low, high = min(r.value for r in shown), max(r.value for r in shown)
    if 0 < start < math.inf:
        low, high = min(low, start), max(high, start)
        named_line(figure, look, start, "without data", color=look.quiet, dash="dot")
    low, high = low / 1.6, high * 1.6
    ticks = log_ticks(low, high) or [low, high]
    if len(ticks) > (5 if look.compact else 10):
        ticks = ticks[:: math.ceil(len(ticks) / (5 if look.compact else 10))]
    figure.update_xaxes(
        type="log",
        title=axis,
        range=[math.log10(low), math.log10(high)],
        tickvals=ticks,
        ticktext=[number_text(float(f"{t:.3g}")) for t in ticks],
        gridcolor=look.grid,
        zeroline=False,
    )
    figure.update_yaxes(
        tickvals=places,
        ticktext=names,
        range=[total, 0.0],
        gridcolor=look.grid,
        zeroline=False,
        automargin=True,
        tickfont={"size": 11 if look.compact else 13},
    )
    return figure


def _places(names: Sequence[str]) -> tuple[list[float], float]:
    """Return the middle of every row, in rows of one line, and the height of all of them."""
    places, total = [], 0.0
    for name in names:
        height = 1 + 0.55 * name.count("<br>")
        places.append(total + height / 2)
        total += height
    return places, total


def symbol_of(card: BoundCard) -> str:
    """Return its mark: which way it bounds, filled where every constant is proven."""
    shape = "triangle-down" if card.kind == "upper" else "triangle-up"
    return shape if card.constant == "explicit" else f"{shape}-open"


def _hover(row: Row) -> str:
    laws = row.bound.card.laws.words
    whom = in_print(f"binds every {row.binds}, over {laws}" if row.binds else f"for {laws}")
    lines = [f"<b>{wrapped(short(row.bound.card), 50)}</b>", f"{row.value:.3g}", wrapped(whom, 60)]
    lines += [wrapped(in_print(sentence), 60) for sentence in row.failures[:2]]
    return "<br>".join(lines) + "<extra></extra>"
