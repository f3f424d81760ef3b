"""The texts in a figure: labels of guides and regions, heads of panels, and the ladder."""

import math
import textwrap
from typing import Any

from dpsco_app.figure.colours import INK, QUIET, translucent
from dpsco_app.figure.panel_box import PanelBox, Part
from dpsco_app.figure.place import (
    Box,
    Point,
    box_outline,
    free_place,
    level_at,
    moved_apart,
)
from dpsco_app.figure.theme import Theme
from dpsco_app.figure.values import Figure, Ladder, LadderRow, Words, without_bold

LETTER = 0.49  # The mean width of a letter, as a multiple of its type size.
BOLD = 1.06  # The width of a bold letter, as a multiple of a regular one.
TYPE = 14  # The type size of the ladder, the list of names and numbers at the right of a figure.
# The gap in pixels between the panel and a name, and between the name and its number.
NAME_GAP = 30
LEADER = {"text": "", "showarrow": True, "arrowhead": 0, "arrowwidth": 1, "standoff": 1}
CAPTION = 11.5  # The type size of the caption below the ladder.
MOST_LINES = 2  # The largest number of caption lines below the ladder.
MOST_ROOM = 64  # The most pixels by which panels shrink to make room for long names.


def placed_words(place: PanelBox, words: Words) -> Part | None:
    """Return words as Plotly's annotation inside a panel, clear of every line.

    The place is kept clear of later words; the answer is None if no place is clear.
    """
    theme = place.theme
    type_size = theme.px((12 if words.is_small else 13.5) if theme.size.ladder else 12)
    plain = [without_bold(text) for text in words.lines]
    size = (max(map(len, plain)) * type_size * LETTER, len(plain) * type_size * 1.3)
    corner = _corner_inside(place, words, size)
    if corner is None:
        return None  # No place is clear, and the ladder already shows this name.
    place.paths.append(box_outline((*corner, *size)))
    align = "right" if words.want[0] == 1 else "left"
    x_pixel = corner[0] + (size[0] if align == "right" else 0)
    return place.at_pixel(x_pixel, corner[1]) | {
        "text": "<br>".join(words.lines),
        "xanchor": align,
        "yanchor": "bottom",
        "align": align,
        "showarrow": False,
        "font": {"size": type_size, "color": theme.colour(words.colour)},
    }


def _corner_inside(place: PanelBox, words: Words, size: Point) -> Point | None:
    """Return the lower left corner, in pixels, of words of this size; None if no place is clear.

    Words that label a region lie inside the region.
    """
    edge = [r for r in place.panel.regions if r.key == words.below and words.below]
    ceiling = place.pixels(edge[0].x, edge[0].upper) if edge else []

    def is_inside_region(box: Box) -> bool:
        """Return whether a box is high enough, and below the region's upper edge.

        Its bottom must be at or above the height `words.least`, a share of the panel's. If there is
        a region, its top must be more than 5 pixels below the region's upper edge.
        """
        left, bottom, width, height = box
        ends = [level_at(ceiling, x) for x in (left, left + width) if ceiling]
        return bottom >= words.least * place.height and bottom + height + 5 < min(
            ends, default=math.inf
        )

    want = (words.want[0] * (place.width - size[0]), words.want[1] * (place.height - size[1]))
    return free_place(size, (place.width, place.height), place.paths, want, is_inside_region)


def heads_of(place: PanelBox, figure: Figure, *, is_leftmost: bool) -> list[Part]:
    """Return the texts above a panel as Plotly's annotations: its title, its axis and its note."""
    theme, title = place.theme, place.panel.title
    # A phone has no room for the unit of the vertical axis.
    has_unit = figure.y.unit and theme.size.ladder
    axis = f"{figure.y.title} ({figure.y.unit})" if has_unit else figure.y.title
    subtitle = " · ".join(filter(None, (axis * is_leftmost, place.panel.about)))
    heads = (
        (f"<b>{title}</b>" if title else "", 15 if theme.size.ladder else 14, INK, 22),
        (subtitle, 12, QUIET, 4),
    )
    return [
        {
            "text": text,
            "font": {"size": theme.px(size), "color": theme.colour(colour)},
            "xref": "paper",
            "x": place.domain[0],
            "xanchor": "left",
            "xshift": -theme.px(theme.size.left) if is_leftmost else 0,
            "yref": "paper",
            "y": 1,
            "yanchor": "bottom",
            "yshift": theme.px(lift),
            "showarrow": False,
            "align": "left",
        }
        for text, size, colour, lift in heads
        if text
    ]


# -- the ladder of names and numbers ----------------------------------------------------------


def extra_name_width(ladder: Ladder, usual: int) -> int:
    """Return how many pixels, beyond the usual width, the names of a ladder need at most."""
    free_room = (
        _column_ends(ladder, usual, TYPE, 1)[_first_value_column(row)]
        - TYPE * LETTER * (len(row.values[_first_value_column(row)]) + len(row.name) * BOLD)
        - NAME_GAP
        for row in ladder.rows
    )
    return max(
        ladder.room, min(MOST_ROOM, math.ceil(max((-free for free in free_room), default=0)))
    )


def _column_ends(ladder: Ladder, right: float, type_size: float, scale: float) -> list[float]:
    """Return the right end of each column of numbers, in pixels from the panel's right edge."""
    count = len(ladder.columns)
    longest = max((len(v) for row in ladder.rows for v in row.values[1:]), default=0)
    step = max(66 * scale, 0.5 * type_size * longest)
    return [right - 8 * scale - step * (count - 1 - j) for j in range(count)]


def _first_value_column(row: LadderRow) -> int:
    """Return the index of the first column with a value in a row of the ladder, or of the last."""
    return next((j for j, value in enumerate(row.values) if value), len(row.values) - 1)


def ladder_notes(ladder: Ladder, panel: PanelBox) -> list[Part]:
    """Return the names and numbers right of a panel, with leader lines, as Plotly's annotations."""
    theme = panel.theme
    pitch, type_size = theme.px(22), theme.px(TYPE)
    rows = sorted(ladder.rows, key=lambda row: row.end)
    wanted_centres = [min(max(panel.y_pixel(row.end), 6.0), panel.height) for row in rows]
    centres = moved_apart(wanted_centres, [pitch] * len(rows), panel.height)
    columns = _column_ends(ladder, theme.px(theme.size.right), type_size, theme.size.scale)
    notes: list[Part] = []

    def add_note(y_pixel: float, **fields: Any) -> None:
        """Append a note at this height on the right edge of the panel."""
        place = {"xref": "paper", "x": 1, "yref": "y", "y": panel.at_pixel(0, y_pixel)["y"]}
        notes.append(place | {"showarrow": False} | fields)

    for row, centre, want in zip(rows, centres, wanted_centres, strict=True):
        colour = theme.colour(row.colour)
        column = _first_value_column(row)
        free = columns[column] - theme.px(NAME_GAP) - LETTER * type_size * len(row.values[column])
        font = {"size": type_size, "color": colour}
        if ladder.leaders and row.end >= panel.y.low:
            add_note(
                want,
                ax=theme.px(18),
                ay=want - centre,
                name=row.key,
                arrowcolor=translucent(colour, 0.5),
                **LEADER,
            )
        name = _shortened_name(row.name, free / (LETTER * type_size * (BOLD if row.bold else 1)))
        row_fields = {"name": row.key, "captureevents": True, "font": font}
        add_note(
            centre, text=_bold_text(row, name), xshift=theme.px(22), xanchor="left", **row_fields
        )
        for value, shift in zip(row.values, columns, strict=True):
            if value:
                add_note(
                    centre, text=_bold_text(row, value), xshift=shift, xanchor="right", **row_fields
                )
    head = (centres[-1] if centres else 0.0) + theme.px(20)
    font = {"size": theme.px(12), "color": theme.colour(QUIET)}
    # Names above the panel are shifted in pixels, since Plotly hides positions beyond an axis.
    head_fields = {"yanchor": "bottom", "yshift": max(0.0, head - panel.height), "font": font}
    head = min(head, panel.height)
    add_note(head, text=ladder.title, xshift=theme.px(22), xanchor="left", **head_fields)
    for name, shift in zip(ladder.columns, columns, strict=True):
        add_note(head, text=name, xshift=shift, xanchor="right", **head_fields)
    if ladder.caption:
        notes.append(_caption_part(ladder.caption, theme))
    return notes


def _caption_part(text: str, theme: Theme) -> Part:
    """Return the caption below the ladder, cut to the number of lines that fit."""
    type_size = theme.px(CAPTION)
    letters = int((theme.px(theme.size.right) - theme.px(NAME_GAP)) / (LETTER * type_size))
    lines = textwrap.wrap(text, letters, max_lines=MOST_LINES, placeholder=" …")
    return {
        "text": "<br>".join(lines),
        "font": {"size": type_size, "color": theme.colour(QUIET)},
        "xref": "paper",
        "x": 1,
        "xanchor": "left",
        "xshift": theme.px(22),
        "yref": "paper",
        "y": 0,
        "yanchor": "top",
        "yshift": -theme.px(8),
        "align": "left",
        "showarrow": False,
    }


def _shortened_name(name: str, letters: float) -> str:
    """Return a name cut to a number of letters; the hover text of its line has the full name."""
    return name if len(name) <= letters else f"{name[: max(1, int(letters) - 1)].rstrip(' ,(')}…"


def _bold_text(row: LadderRow, text: str) -> str:
    """Return a text as HTML, in bold if the row of the ladder is bold."""
    return f"<b>{text}</b>" if row.bold else text
