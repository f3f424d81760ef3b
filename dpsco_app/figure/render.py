"""The renderer: a figure's plain values become Plotly's form of them, as plain dictionaries."""

from collections.abc import Sequence
from dataclasses import replace

from dpsco_app.figure.colours import FADED, FAINT, GRID, INK, PAGE, QUIET
from dpsco_app.figure.labels import LETTER, heads_of, ladder_notes, placed_words, room_of
from dpsco_app.figure.marks import cells_of, chosen_marks, labels_of, lines_of, regions_of
from dpsco_app.figure.panel_box import PanelBox, Part
from dpsco_app.figure.ruler import draw_ruler, ruler_room
from dpsco_app.figure.theme import FONT, Theme
from dpsco_app.figure.values import Axis, Figure, without_bold

RULER_TOP = 30  # pixels above a panel without a title
# A figure with a ruler is so many pixels lower, for the pictures above it; one in a low window,
# whose height is less than the second number, is low enough.
PICTURES, LOW = 52, 420
DOT = 6  # pixels that the dot on the axis reaches below it


def plotly(figure: Figure, theme: Theme) -> Part:
    """Return a figure's traces and layout."""
    if figure.ruler is not None:
        size = replace(theme.size, top=RULER_TOP)
        if theme.size.ladder:  # the room is that of the names, in pixels of this size of type
            right = ruler_room(figure.ruler)
            height = size.height - PICTURES if size.height > LOW else size.height
            size = replace(size, right=right, height=height)
        theme = replace(theme, size=size)
    elif theme.size.ladder:
        right = theme.size.right + room_of(figure.ladder, theme.size.right)
        theme = replace(theme, size=replace(theme.size, right=right))
    places = [
        PanelBox(panel, figure.y, i, len(figure.panels), theme)
        for i, panel in enumerate(figure.panels)
    ]
    data: list[Part] = []
    notes: list[Part] = []
    shapes: list[Part] = []
    for i, place in enumerate(places):
        data += cells_of(place)
        data += regions_of(place)
        data += lines_of(place)
        marks, words = chosen_marks(place, figure)
        data += marks
        notes += words
        if figure.ruler is not None and place is places[-1]:  # the other words keep clear of it
            shapes, words = draw_ruler(figure.ruler, place)
            notes += words
        notes += [note for words in place.panel.words if (note := placed_words(place, words))]
        notes += labels_of(place)
        notes += heads_of(place, figure, is_leftmost=i == 0)
    if figure.ruler is None and theme.size.ladder and figure.ladder.rows:
        notes += ladder_notes(figure.ladder, places[-1])
    if figure.faded:
        data, notes, shapes = _faded(data), _faded(notes), _faded(shapes)
    layout = _layout(figure, places, theme, notes)
    return {"data": data, "layout": layout | ({"shapes": shapes} if shapes else {})}


def _faded(parts: Sequence[Part]) -> list[Part]:
    """Return all that is drawn and written pale: no part of an old figure looks like a new one."""
    return [part | {"opacity": part.get("opacity", 1.0) * FADED} for part in parts]


# -- areas and lines --------------------------------------------------------------------------


def _layout(figure: Figure, places: Sequence[PanelBox], theme: Theme, notes: list[Part]) -> Part:
    size, quiet = theme.size, theme.colour(QUIET)
    axes: Part = {}
    for place in places:
        name = "xaxis" + place.x_name[1:]
        axes[name] = _axis(_thinned(place), [place.low, place.high], theme) | {
            "domain": place.domain,
            "anchor": "y",
            "showgrid": False,
            "ticklabelstandoff": round(theme.px(DOT)),
            "title": {
                "text": _fitting(place.panel.x.title, place),
                "standoff": 8,
                "font": {"size": theme.px(12.5), "color": quiet},
            },
        }
    axes["yaxis"] = _axis(figure.y, [places[0].bottom, places[0].top], theme) | {
        "anchor": "x",
        "gridcolor": theme.colour(GRID),
        "domain": [0, 1],
    }
    if figure.square:
        for name, axis in axes.items():
            axis |= {"constrain": "domain", "scaleanchor": "x" if name == "yaxis" else "y"}
    return axes | {
        "height": size.height,
        "margin": {
            "l": theme.px(size.left),
            "r": theme.px(size.right) if size.ladder else size.right,
            "t": theme.px(size.top),
            "b": theme.px(size.bottom),
            "autoexpand": False,
        },
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "color": quiet},
        "showlegend": False,
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": theme.colour(PAGE),
            "bordercolor": theme.colour(FAINT),
            "align": "left",
            "font": {"size": theme.px(13), "color": theme.colour(INK)},
        },
        "annotations": notes,
    }


def _fitting(title: str, place: PanelBox) -> str:
    """Return the name of an axis; what it adds in brackets goes where there is no room."""
    has_room = len(title) * LETTER * place.theme.px(12.5) <= place.width
    return title if has_room else title.partition(" (")[0]


def _thinned(place: PanelBox) -> Axis:
    """Return the axis without the numbers that have no room; the chosen one and the ends stay."""
    axis, chosen = place.panel.x, place.panel.chosen
    letter = LETTER * place.theme.px(12.5)

    def are_apart(a: tuple[float, str], b: tuple[float, str]) -> bool:
        letters = sum(len(without_bold(text)) for _, text in (a, b))
        return abs(place.x_pixel(a[0]) - place.x_pixel(b[0])) >= letter * letters / 2 + 8

    def rank(tick: tuple[float, str]) -> tuple[bool, bool]:
        return tick[0] != chosen, tick not in (axis.ticks[0], axis.ticks[-1])

    ticks_with_room: list[tuple[float, str]] = []
    for tick in sorted(axis.ticks, key=rank):
        if all(are_apart(tick, other) for other in ticks_with_room):
            ticks_with_room.append(tick)
    return replace(axis, ticks=sorted(ticks_with_room))


def _axis(axis: Axis, ends: list[float], theme: Theme) -> Part:
    return {
        "type": "log" if axis.log else "linear",
        "range": ends,
        "tickvals": [value for value, _ in axis.ticks],
        "ticktext": [text for _, text in axis.ticks],
        "tickangle": 0,
        "tickfont": {"size": theme.px(12.5), "color": theme.colour(QUIET)},
        "zeroline": False,
        "fixedrange": False,
    }
