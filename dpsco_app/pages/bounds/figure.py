"""Bounds' figure: the best bounds of a table as marks on one log axis; no Streamlit in here."""

import math
from collections.abc import Sequence
from dataclasses import replace

from dpsco_app.figure.colours import IMPOSSIBLE, WINDOW
from dpsco_app.figure.methods import SIGNS, colour_of
from dpsco_app.figure.values import Axis, Figure, Ladder, LadderRow, Line, Panel
from dpsco_app.pages.bounds.words import in_digits, marked, title
from dpsco_app.parts.options import in_print
from dpsco_app.parts.simple_figures import log_axis, upright
from dpsco_core.base.cards import BoundCard
from dpsco_core.explain.tables.best import by_value, counts
from dpsco_core.explain.tables.table import Row

MOST = 17  # rows that the figure has room for
FADED = 0.35  # opacity where a condition fails


def bounds_figure(rows: Sequence[Row], axis: str, chosen: str, start: float = math.nan) -> Figure:
    """Return the marks of the rows, one a line.

    The rows have positive, finite values of one quantity, of which `axis` is the title; that with
    the slug `chosen` is marked. `start` is the worst-case error of an answer that ignores the
    data, if it is to be drawn.
    """
    shown = by_value(rows, MOST)
    values = [r.value for r in shown] + [start] * (0 < start < math.inf)
    # From a power of ten on, so that there is a number beside the smallest bounds.
    low, high = 10.0 ** math.floor(math.log10(min(values) / 1.6)), max(values) * 1.6
    lines, names = [], []
    for rank, row in zip(range(len(shown), 0, -1), shown, strict=True):
        card, colour = row.bound.card, IMPOSSIBLE.edge
        if card.kind == "upper":
            colour = colour_of(card.method) if card.method else WINDOW.ink
        mark = Line(
            key=card.slug,
            name=card.name,
            x=[row.value],
            y=[float(rank)],
            colour=colour,
            width=0,
            symbol=symbol_of(card),
            size=15 if card.slug == chosen else 11,
            opacity=1.0 if counts(row) else FADED,
            hover=[_hover(row)],
        )
        thread = replace(mark, x=[row.value, high], y=[float(rank)] * 2, width=0.5, symbol="")
        lines += [replace(thread, opacity=0.4), mark]
        names.append(
            LadderRow(
                key=card.slug,
                name=marked(row) if counts(row) else f"({marked(row)})",
                colour=colour,
                values=[in_digits(row.value)],
                end=float(rank),
                bold=card.slug == chosen,
                sign=SIGNS["triangle-down" if card.kind == "upper" else "triangle-up"],
            )
        )
    top = len(shown) + 0.6
    if 0 < start < math.inf:
        side = 9 if start < math.sqrt(low * high) else -9
        lines.append(replace(upright(start, 0, top, "without data, worst case"), away=(side, 9)))
    more = f"{len(shown)} of {len(rows)}, the others below" if len(rows) > len(shown) else "Bounds"
    return Figure(
        panels=[Panel(title="", x=log_axis(axis, low, high), lines=lines)],
        y=Axis(title="", low=0, high=top, ticks=(), log=False),
        ladder=Ladder(title=more, columns=["value"], rows=names, room=140),
        alt=title(rows),
    )


def symbol_of(card: BoundCard) -> str:
    """Return its mark: which way it bounds, filled where every constant is proven."""
    shape = "triangle-down" if card.kind == "upper" else "triangle-up"
    return shape if card.constant == "explicit" else f"{shape}-open"


def _hover(row: Row) -> str:
    laws = row.bound.card.laws.words
    whom = in_print(f"binds every {row.binds}, over {laws}" if row.binds else f"for {laws}")
    lines = [f"<b>{marked(row)}</b>", in_digits(row.value), whom]
    return "<br>".join([*lines, *map(in_print, row.failures[:2])])
