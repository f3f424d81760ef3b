"""Bounds' figure: the best bounds of a table as marks on one log axis; no Streamlit in here."""

import math
from collections.abc import Sequence
from dataclasses import replace

from dpsco_app.figure.colours import IMPOSSIBLE, WINDOW, Pair
from dpsco_app.figure.labels import BOLD, LETTER, TYPE
from dpsco_app.figure.methods import SIGNS, colour_of
from dpsco_app.figure.values import Axis, Figure, Ladder, LadderRow, Line, Panel
from dpsco_app.pages.bounds.groups import Group, grouped, select
from dpsco_app.pages.bounds.words import in_digits, marked, title
from dpsco_app.parts.options import in_print
from dpsco_app.parts.problem_words import wider_name
from dpsco_app.parts.simple_figures import log_axis, upright_line
from dpsco_core.base.cards import BoundCard
from dpsco_core.explain.tables.best import counts
from dpsco_core.explain.tables.table import Row
from dpsco_core.results.report import Evaluation

FEW_ROWS = 5  # The number of rows that are shown at first.
MOST_ROWS = 17  # The largest number of rows that fit in the figure.
# The pixels of the ladder besides its names: the ends of leader lines, and the numbers.
ROOM = 90
MOST_ROOM = 400
PITCH = 22  # The pixels from one row to the next.
LEAST_HEIGHT = 400
LETTERS = 54  # The number of small letters that fit in the width of a phone's figure.
THIN = 0.7  # The width in pixels of the line for a bound over a wider class of losses.
FADED = 0.35  # The opacity of a bound with a failing condition.


def bounds_figure(
    rows: Sequence[Row],
    axis: str,
    chosen: str,
    start: float = math.nan,
    *,
    most_rows: int = MOST_ROWS,
    has_names: bool = False,
    wider: Evaluation | None = None,
) -> Figure:
    """Return the marks of the rows, one per line, below the names of their groups.

    The rows have positive, finite values of one quantity, whose title is `axis`; the row with the
    slug `chosen` is marked. `start` is the worst-case error of an answer that ignores the data, if
    it is to be drawn. At most `most_rows` rows are drawn. With `has_names` each mark carries its
    name, for a phone, where the ladder is a screen below. `wider` is a bound over a wider class of
    losses, drawn as a thin line with that class's name.
    """
    drawn_rows = select(rows, most_rows, chosen)
    groups = grouped(drawn_rows, rows)
    values = [r.value for r in drawn_rows] + [start] * (0 < start < math.inf)
    # The axis begins at a power of ten, so that it has a number near the smallest bounds.
    low, high = 10.0 ** math.floor(math.log10(min(values) / 1.6)), max(values) * 1.6
    limit = 0.0 if wider is None else wider.value
    upright_at = start if 0 < start < math.inf else limit
    # The groups' names stand at the left, unless the vertical guide is in the left half.
    is_left = not 0 < upright_at < math.sqrt(low * high)
    lines, names = [], []
    rank = top = len(drawn_rows) + len(groups)
    for group in groups:
        head = _group_heading(group, low if is_left else high, rank)
        lines.append(head)
        rank -= 1
        for row, name in zip(group.rows, group.names, strict=True):
            mark = _row_mark(row, rank, is_chosen=row.bound.card.slug == chosen)
            if has_names:
                mark = _named_mark(mark, name, math.log(row.value / low) / math.log(high / low))
            thread = replace(
                mark, x=[row.value, high], y=[float(rank)] * 2, width=0.5, symbol="", label=""
            )
            lines += [replace(thread, opacity=0.4), mark]
            is_bold = row.bound.card.slug == chosen
            names.append(_ladder_row(row, name, mark, note=group.title, is_bold=is_bold))
            rank -= 1
    if 0 < start < math.inf:
        side = 9 if start < math.sqrt(low * high) else -9
        guide = upright_line(start, 0, top + 0.6, "without data, worst case")
        lines.append(replace(guide, away=(side, 9)))
    if wider is not None and low <= limit <= high:
        # The name of this guide stands above all rows, at the end where the other guide has no
        # name.
        guide = upright_line(limit, top + 0.6, 0, wider_name(wider.bound.card))
        side = 9 if limit < math.sqrt(low * high) else -9
        colour = _bound_colour(wider.bound.card)
        lines.append(replace(guide, colour=colour, width=THIN, dash="solid", away=(side, 9)))
    return Figure(
        panels=[Panel(title="", x=log_axis(axis, low, high), lines=lines)],
        y=Axis(title="", low=0, high=top + 0.6, ticks=(), log=False),
        ladder=Ladder(title=count_shown(drawn_rows, rows), columns=["value"], rows=names),
        alt=title(rows, wider),
    )


def count_shown(drawn_rows: Sequence[Row], rows: Sequence[Row]) -> str:
    """Return the title of the table beside the figure, such as "5 of 12 bounds"."""
    return f"{len(drawn_rows)} of {len(rows)} bounds" if len(rows) > len(drawn_rows) else "Bounds"


def room_for_names(figure: Figure) -> int:
    """Return the width in pixels of the table beside the figure; the plot has the rest."""
    longest = max((len(row.name) for row in figure.ladder.rows), default=0)
    return min(MOST_ROOM, ROOM + math.ceil(longest * TYPE * LETTER * BOLD))


def height_of(figure: Figure) -> int:
    """Return the height in pixels of the figure on a wide screen, which grows with its rows."""
    return max(LEAST_HEIGHT, 110 + math.ceil(figure.y.high) * PITCH)


def _group_heading(group: Group, x: float, rank: int) -> Line:
    """Return the line above the rows of a group, which carries its name."""
    return Line(
        key=f"group:{group.key}",
        name=group.title,
        label=group.title,
        x=[x],
        y=[float(rank)],
        colour=_bound_colour(group.rows[0].bound.card),
        kind="guide",
        width=0,
        away=(1, 0) if x < group.rows[0].value else (-1, 0),
    )


def _bound_colour(card: BoundCard) -> Pair:
    """Return the colour of a bound: that of its method, or red for a lower bound."""
    if card.kind == "lower":
        return IMPOSSIBLE.edge
    return colour_of(card.method) if card.method else WINDOW.ink


def _row_mark(row: Row, rank: int, *, is_chosen: bool) -> Line:
    """Return the mark of a bound: its value is the x, and its rank from the bottom the y."""
    card = row.bound.card
    return Line(
        key=card.slug,
        name=card.name,
        x=[row.value],
        y=[float(rank)],
        colour=_bound_colour(card),
        width=0,
        symbol=symbol_of(card),
        size=15 if is_chosen else 11,
        opacity=1.0 if counts(row) else FADED,
        hover=[_hover_text(row)],
    )


def _ladder_row(row: Row, name: str, mark: Line, *, note: str, is_bold: bool) -> LadderRow:
    """Return the row of a bound beside the figure; brackets say that it does not hold."""
    upper = row.bound.card.kind == "upper"
    return LadderRow(
        key=mark.key,
        name=name if counts(row) else f"({name})",
        colour=mark.colour,
        values=[in_digits(row.value)],
        end=mark.y[0],
        bold=is_bold,
        sign=SIGNS["triangle-down" if upper else "triangle-up"],
        note=note,
    )


def _named_mark(mark: Line, name: str, share: float) -> Line:
    """Return a mark with its name on the side that has room; `share` is its place on the axis."""
    most_letters = int(LETTERS * max(share, 1 - share)) - 2
    text = name if len(name) <= most_letters else f"{name[: most_letters - 1].rstrip(' ,')}…"
    side = 8 if share <= 0.5 else -8
    return replace(mark, label=text, away=(side, 7), is_small=True)


def symbol_of(card: BoundCard) -> str:
    """Return Plotly's name of a bound's symbol: a triangle, hollow unless all constants are proven.

    The triangle points down for an upper bound.
    """
    shape = "triangle-down" if card.kind == "upper" else "triangle-up"
    return shape if card.constant == "explicit" else f"{shape}-open"


def _hover_text(row: Row) -> str:
    """Return the hover text of a bound's mark: its name, value, scope and first failures."""
    laws = row.bound.card.laws.words
    scope = in_print(f"binds every {row.binds}, over {laws}" if row.binds else f"for {laws}")
    lines = [f"<b>{marked(row)}</b>", in_digits(row.value), scope]
    return "<br>".join([*lines, *map(in_print, row.failures[:2])])
