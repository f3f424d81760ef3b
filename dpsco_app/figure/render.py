"""The renderer: turns a figure's plain values into Plotly's JSON, as plain dictionaries."""

from collections.abc import Sequence
from dataclasses import replace

from dpsco_app.figure.colours import FADED, FAINT, GRID, INK, PAGE, QUIET
from dpsco_app.figure.labels import LETTER, extra_name_width, heads_of, ladder_notes, placed_words
from dpsco_app.figure.marks import cells_of, chosen_marks, labels_of, lines_of, regions_of
from dpsco_app.figure.panel_box import PanelBox, Part
from dpsco_app.figure.ruler import draw_ruler, ruler_room
from dpsco_app.figure.theme import FONT, Theme
from dpsco_app.figure.values import Axis, Figure, without_bold

RULER_TOP = 30  # The height in pixels of the space above a panel without a title.
# A figure with a ruler is PICTURES pixels shorter, to leave room for the pictures above it, unless
# it is already shorter than LOW.
PICTURES, LOW = 52, 420
FACTORS = 26  # The room in pixels of the factors above the panel of a phone.
DOT = 6  # The length in pixels by which the dot on the axis extends below the axis.


def plotly(figure: Figure, theme: Theme) -> Part:
    """Return the traces and the layout with which Plotly draws a figure in a theme."""
    if figure.ruler is not None:
        size = replace(theme.size, top=RULER_TOP)
        # A figure with a ladder leaves the room that its names need, scaled to the type size.
        if theme.size.ladder:
            right = ruler_room(figure.ruler)
            height = size.height - PICTURES if size.height > LOW else size.height
            size = replace(size, right=right, height=height)
        else:
            # On a phone two lines of factors stand above the panel.
            size = replace(size, top=size.top + FACTORS, height=size.height + FACTORS)
        theme = replace(theme, size=size)
    elif theme.size.ladder:
        right = theme.size.right + extra_name_width(figure.ladder, theme.size.right)
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
        # The remaining words must not overlap the ruler.
        if figure.ruler is not None and place is places[-1]:
            shapes, words = draw_ruler(figure.ruler, place)
            notes += words
        notes += [note for words in place.panel.words if (note := placed_words(place, words))]
        notes += labels_of(place)
        notes += heads_of(place, figure, is_leftmost=i == 0)
    if figure.ruler is None and theme.size.ladder and figure.ladder.rows:
        notes += ladder_notes(figure.ladder, places[-1])
    if figure.faded:
        data, notes, shapes = _faded_parts(data), _faded_parts(notes), _faded_parts(shapes)
    layout = _figure_layout(figure, places, theme, notes)
    return {"data": data, "layout": layout | ({"shapes": shapes} if shapes else {})}


def _faded_parts(parts: Sequence[Part]) -> list[Part]:
    """Return all traces and annotations in pale colours, which mark an outdated figure."""
    return [part | {"opacity": part.get("opacity", 1.0) * FADED} for part in parts]


# -- areas and lines --------------------------------------------------------------------------


def _figure_layout(
    figure: Figure, places: Sequence[PanelBox], theme: Theme, notes: list[Part]
) -> Part:
    """Return Plotly's layout of a figure: its axes, their domains, margins and annotations."""
    size, quiet = theme.size, theme.colour(QUIET)
    axes: Part = {}
    for place in places:
        name = "xaxis" + place.x_name[1:]
        axes[name] = _axis_fields(_axis_without_overlaps(place), [place.low, place.high], theme) | {
            "domain": place.domain,
            "anchor": "y",
            "showgrid": False,
            "ticklabelstandoff": round(theme.px(DOT)),
            "title": {
                "text": _fitting_title(place.panel.x.title, place),
                "standoff": 8,
                "font": {"size": theme.px(12.5), "color": quiet},
            },
        }
    axes["yaxis"] = _axis_fields(figure.y, [places[0].bottom, places[0].top], theme) | {
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


def _fitting_title(title: str, place: PanelBox) -> str:
    """Return the title of an axis, without its part in brackets if the space is too short."""
    has_room = len(title) * LETTER * place.theme.px(12.5) <= place.width
    return title if has_room else title.partition(" (")[0]


def _axis_without_overlaps(place: PanelBox) -> Axis:
    """Return the axis without the numbers that overlap; the chosen value and the ends are kept."""
    axis, chosen = place.panel.x, place.panel.chosen
    letter = LETTER * place.theme.px(12.5)

    def are_apart(a: tuple[float, str], b: tuple[float, str]) -> bool:
        """Return whether the texts of two ticks do not overlap."""
        letters = sum(len(without_bold(text)) for _, text in (a, b))
        return abs(place.x_pixel(a[0]) - place.x_pixel(b[0])) >= letter * letters / 2 + 8

    def rank(tick: tuple[float, str]) -> tuple[bool, bool]:
        """Return a sort key that puts the tick of the chosen value first and both ends next."""
        return tick[0] != chosen, tick not in (axis.ticks[0], axis.ticks[-1])

    ticks_with_room: list[tuple[float, str]] = []
    for tick in sorted(axis.ticks, key=rank):
        if all(are_apart(tick, other) for other in ticks_with_room):
            ticks_with_room.append(tick)
    return replace(axis, ticks=sorted(ticks_with_room))


def _axis_fields(axis: Axis, ends: list[float], theme: Theme) -> Part:
    """Return Plotly's fields of an axis; its `ends` are logarithms if the axis is logarithmic."""
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
