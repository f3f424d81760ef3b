"""The ruler of a figure: factors beside the dots at the chosen value, and names at the lines' ends.

All factors are relative to the same dot, whose factor is 1.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dpsco_app.figure.colours import INK, PAGE, QUIET, translucent
from dpsco_app.figure.labels import BOLD, LEADER, LETTER
from dpsco_app.figure.panel_box import PanelBox, Part
from dpsco_app.figure.place import Box, Path, box_outline, free_place, level_at, moved_apart
from dpsco_app.figure.values import Ruler, RulerMark

# Type sizes of the factors, names, notes, asides, the head and the names of the bar's sections.
FACTOR, NAME, NOTE, ASIDE, HEAD, SECTION = 18.0, 14.5, 13.0, 12.0, 13.0, 12.5
SMALL = 0.8  # The scale of type on a phone.
# The left and right edge of the ruler's bar, in pixels right of the chosen value.
BAR = (13.0, 19.0)
# The left and right end of the strokes on the bar, in pixels right of the chosen value.
TICK = (7.0, 25.0)
FACTOR_START = 29.0  # The left end of the factors, in pixels right of the chosen value.
PITCH = 22.0  # The least distance between two factors, in pixels.
LIFT = 4.0  # The height of a factor above its dot where the lines fall, in pixels.
SHORT = 11.0  # The type size of the factors above a phone's panel.
FACTORS_LIFT = 20.0  # The height of these factors above the panel, in pixels.
WIDE_SPACE = "\N{NO-BREAK SPACE}" * 3
HALO = 0.8  # The opacity of the background behind a factor.
LEFT = 9.0  # The gap between the chosen value and a factor at its left, in pixels.
# The largest distance of a factor at the left from its stroke, in multiples of its type size.
LEFT_REACH = 0.75
CLEAR = 0.6  # The least distance of a factor's centre from a curve, in multiples of its type size.
OUTSIDE = 34  # The gap between the panel and the names at its right, in pixels.
MARGIN = 10


def ruler_room(ruler: Ruler) -> int:
    """Return the width that the names at the right need, in pixels at the usual type size."""
    widths = [_text_width(r.name, NAME) * BOLD for r in ruler.rungs]
    widths += [_text_width(line, NOTE) for r in ruler.rungs for line in r.note.splitlines()]
    widths += [_text_width(line, ASIDE) for r in ruler.rungs for line in r.aside.splitlines()]
    return round(OUTSIDE + max(widths, default=0.0) + MARGIN)


def draw_ruler(ruler: Ruler, place: PanelBox) -> tuple[list[Part], list[Part]]:
    """Return the ruler of a figure as Plotly's shapes (the bar) and annotations (the words)."""
    shapes, notes = _bar_and_factors(ruler, place)
    notes += (
        _names_at_right(ruler, place) if place.theme.size.ladder else _names_inside(ruler, place)
    )
    return shapes, notes


def _text_width(text: str, height: float) -> float:
    """Return the approximate width of a text whose type has this height, in the same unit."""
    return len(text) * height * LETTER


def _scaled_type(place: PanelBox, height: float) -> float:
    """Return the height of type in pixels for a panel's theme; phones have smaller type."""
    return place.theme.px(height) * (1.0 if place.theme.size.ladder else SMALL)


# -- marks at the chosen value --------------------------------------------------------------------


def _bar_and_factors(ruler: Ruler, place: PanelBox) -> tuple[list[Part], list[Part]]:
    """Return the bar and its strokes as Plotly's shapes, and the factors beside it as annotations.

    The bar stands right of the chosen value, or left of it where the factors do not fit otherwise.
    On a phone the curves are so close that factors beside them would cover one another's curves, so
    that they stand above the panel.
    """
    theme = place.theme
    rungs = sorted((r for r in ruler.rungs if r.text), key=lambda r: r.at)
    if not rungs:
        return [], []
    x_pixel, size = place.x_pixel(ruler.x), _scaled_type(place, FACTOR)
    factors = {r.key: f"<b>{r.text}</b>" for r in rungs}
    longest = {r.key: _text_width(r.text, size) * 1.15 for r in rungs}
    widest = max(longest.values())
    right_room = place.theme.size.right if theme.size.ladder else 0
    # Right of the chosen value, factors may extend into the gap between the panel and the names.
    # Left of it there is always room.
    fits = x_pixel + theme.px(FACTOR_START) + widest <= place.width + min(right_room, OUTSIDE - 8)
    side = 1.0 if fits else -1.0
    shapes = [
        _shape_position(place, ruler, BAR, side)
        | {"type": "rect", "y0": part.low, "y1": part.high, "line": {"width": 0}}
        | {"fillcolor": theme.colour(part.colour), "opacity": part.opacity}
        for part in ruler.parts
    ]
    for tick in (r for r in ruler.rungs if r.is_tick):
        look = {"line": {"color": theme.colour(tick.colour), "width": theme.px(1), "dash": "dot"}}
        stroke = {"type": "line", "y0": tick.at, "y1": tick.at}
        shapes.append(_shape_position(place, ruler, TICK, side) | stroke | look)
    pitch = _scaled_type(place, PITCH)
    targets = [min(max(place.y_pixel(r.at), 0.0), place.height) for r in rungs]
    targets = [target + side * LIFT for target in targets]
    centres = moved_apart(targets, [pitch] * len(rungs), place.height)
    curves = [place.pixels(r.x, r.y) for r in ruler.rungs if len(r.x) > 1 and not r.is_tick]
    dotted = {line.key for line in place.panel.lines if line.symbol}
    heights = [place.y_pixel(r.at) for r in rungs]
    # A factor must stay nearer to its own stroke than to the neighbouring ones.
    fences = [-math.inf, *((a + b) / 2 for a, b in pairwise(heights)), math.inf]
    notes: list[Part] = []
    # The heights of the factors that stand right of the chosen value.
    right_centres: list[float] = []
    for i, (rung, preferred) in enumerate(zip(rungs, centres, strict=True)):
        colour = theme.colour(rung.colour)
        stroke = {"type": "line", "y0": rung.at, "y1": rung.at}
        look = {"line": {"color": colour, "width": theme.px(3 if rung.bold else 2)}}
        # Bounds have no dots, so their strokes begin at the axis line.
        ends = TICK if rung.key in dotted else (0.0, TICK[1])
        shapes.append(_shape_position(place, ruler, ends, side) | stroke | look)
        if not theme.size.ladder:
            continue
        shift = side * theme.px(FACTOR_START)
        width = longest[rung.key]
        start = x_pixel + shift - (width if side < 0 else 0)
        room = (start, start + width), (fences[i], fences[i + 1])
        clear = _clear_centre(preferred, size, curves, *room)
        centre = preferred if clear is None else clear
        is_left = side < 0
        if side > 0 and abs(centre - heights[i]) > size:
            # Below a falling line there is free space to the left of the stroke.
            left_start = x_pixel - theme.px(LEFT) - width
            left_room = (left_start, left_start + width), room[1]
            left = _clear_centre(heights[i], size, curves, *left_room)
            is_near = left is not None and 0 < abs(left - heights[i]) <= LEFT_REACH * size
            if left is not None and left_start > 0 and is_near:
                is_left, start, shift, centre = True, left_start, -theme.px(LEFT), left
        if not is_left:
            right_centres.append(centre)
        # A thin line connects a factor with its stroke if the factor has been moved.
        if abs(centre - heights[i]) > size:
            ends_up = (rung.at, place.value_at(centre + size / 3))
            shapes.append(_leader_line(place, ruler, ends_up, side) | {"line": {"color": colour}})
        corner = start, centre - size / 2
        place.paths.append(box_outline((*corner, width, size)))
        notes.append(
            {
                "x": place.on_axis(ruler.x),
                "y": place.at_pixel(0, centre)["y"],
                "xref": place.x_name,
                "yref": "y",
                "text": factors[rung.key],
                "font": {"size": size, "color": colour},
                "xanchor": "right" if is_left else "left",
                "xshift": shift,
                "showarrow": False,
                "name": rung.key,
                "bgcolor": _background_colour(
                    place, x_pixel, place.value_at(centre) if is_left else rung.at
                ),
                "borderpad": 0,
            }
        )
    if not theme.size.ladder:
        notes.append(_phone_factors(rungs, place))
    notes += _head_parts(ruler, place, x_pixel, side, centres[-1] + size)
    if theme.size.ladder and side > 0:
        notes += _section_names(ruler, place, curves, right_centres)
    return shapes, notes


def _phone_factors(rungs: Sequence[RulerMark], place: PanelBox) -> Part:
    """Return the factors with their short names above the panel of a phone, the largest first.

    They stand above the name of the axis, in as many lines as they need.
    """
    theme = place.theme
    size, room = theme.px(SHORT), place.width + theme.px(theme.size.left)
    lines, width = [""], 0.0
    for rung in reversed(rungs):
        words = f"{rung.text} {rung.short}".strip()
        word_width = _text_width(words, size) * BOLD + size
        if width and width + word_width > room:
            lines, width = [*lines, ""], 0.0
        style = f"color:{theme.colour(rung.colour)}"
        lines[-1] += f"{WIDE_SPACE * (width > 0)}<span style='{style}'><b>{words}</b></span>"
        width += word_width
    return {
        "text": "<br>".join(lines),
        "font": {"size": size, "color": theme.colour(INK)},
        "xref": "paper",
        "x": place.domain[0],
        "xanchor": "left",
        "xshift": -theme.px(theme.size.left),
        "yref": "paper",
        "y": 1,
        "yanchor": "bottom",
        "yshift": theme.px(FACTORS_LIFT),
        "align": "left",
        "showarrow": False,
    }


def _section_names(
    ruler: Ruler, place: PanelBox, curves: Sequence[Path], factor_centres: Sequence[float]
) -> list[Part]:
    """Return the names of the bar's sections, each beside its section if there is room.

    The names stand between the factors; `factor_centres` are the factors' heights in pixels, in
    increasing order.
    """
    size, start = (
        _scaled_type(place, SECTION),
        place.x_pixel(ruler.x) + place.theme.px(FACTOR_START),
    )
    # The distance between the centres of a factor and a name that just touch.
    reach = (_scaled_type(place, FACTOR) + size) / 2
    notes: list[Part] = []
    for part in ruler.parts:
        low, high = (min(max(place.y_pixel(y), 0.0), place.height) for y in (part.low, part.high))
        ends = [low - reach, *(c for c in factor_centres if low - reach < c < high + reach)]
        gaps = [(a + reach, b - reach) for a, b in pairwise([*ends, high + reach])]
        bottom, top = max(gaps, key=lambda gap: gap[1] - gap[0])
        x_range = start, start + _text_width(part.name, size)
        centre = _clear_centre((bottom + top) / 2, size, curves, x_range, (bottom, top))
        if not part.name or centre is None:
            continue
        place.paths.append(box_outline((start, centre - size / 2, x_range[1] - start, size)))
        notes.append(
            place.at_pixel(start, centre)
            | {
                "text": part.name,
                "font": {"size": size, "color": place.theme.colour(part.colour)},
                "xanchor": "left",
                "yanchor": "middle",
                "showarrow": False,
            }
        )
    return notes


def _clear_centre(
    preferred: float,
    size: float,
    curves: Sequence[Path],
    x_range: tuple[float, float],
    fences: tuple[float, float],
) -> float | None:
    """Return the height nearest to `preferred` at which a text covers no curve, in pixels.

    The text extends over `x_range`. Return None if no height between the fences, and within three
    heights of type, is free.
    """
    places = (x_range[0], sum(x_range) / 2, x_range[1])
    crossed = [[level_at(curve, a) for a in places] for curve in curves]
    steps = sorted(range(-round(3 * size), round(3 * size) + 1), key=abs)
    for centre in (preferred + step for step in steps):
        is_inside = fences[0] < centre < fences[1]
        if is_inside and all(
            centre < min(levels) - CLEAR * size or centre > max(levels) + CLEAR * size
            for levels in crossed
        ):
            return centre
    return None


def _leader_line(place: PanelBox, ruler: Ruler, ends: tuple[float, float], side: float) -> Part:
    """Return a thin slanted line from a stroke to its factor; `ends` are the heights of both.

    A negative `side` puts the line left of the chosen value.
    """
    shape = _shape_position(place, ruler, (TICK[1], FACTOR_START - 3), side)
    left, right = ends if side > 0 else ends[::-1]
    return shape | {"type": "line", "y0": left, "y1": right}


def _background_colour(place: PanelBox, x_pixel: float, value: float) -> str:
    """Return the colour behind a factor: that of the page, or of the region around it."""
    for region in place.panel.regions:
        edge = level_at(place.pixels(region.x, region.upper), x_pixel)
        if not region.lower and place.y_pixel(value) < edge - 1:
            return place.theme.colour(region.look.fill)
    return translucent(place.theme.colour(PAGE), HALO)


def _head_parts(
    ruler: Ruler, place: PanelBox, x_pixel: float, side: float, least_height: float
) -> list[Part]:
    """Return the words above the factors that say what these are relative to, if there is room.

    They begin at `least_height` pixels or above; a negative `side` puts them left of `x_pixel`.
    """
    theme, size = place.theme, _scaled_type(place, HEAD)
    width, height = (
        max(_text_width(line, size) for line in ruler.head),
        size * 1.3 * len(ruler.head),
    )
    start = x_pixel + theme.px(TICK[0]) if side > 0 else x_pixel - theme.px(TICK[0]) - width
    start = min(
        max(start, 4.0), place.width + 60 - width if theme.size.ladder else place.width - width - 4
    )

    def is_high_enough(box: Box) -> bool:
        """Return whether a box begins at `least_height` or above it, to within 4 pixels."""
        return box[1] >= least_height - 4

    want = (start, min(least_height + 10, place.height - height - 2))
    spot = free_place(
        (width, height), (place.width, place.height), place.paths, want, is_high_enough
    )
    if spot is None:
        return []
    place.paths.append(box_outline((*spot, width, height)))
    return [
        place.at_pixel(*spot)
        | {
            "text": "<br>".join([f"<b>{ruler.head[0]}</b>", *ruler.head[1:]]),
            "font": {"size": size, "color": theme.colour(INK)},
            "xanchor": "left",
            "yanchor": "bottom",
            "align": "left",
            "showarrow": False,
        }
    ]


def _shape_position(place: PanelBox, ruler: Ruler, ends: tuple[float, float], side: float) -> Part:
    """Return Plotly's fields for a shape between two distances from the chosen value, in pixels.

    A negative `side` puts the shape left of the chosen value.
    """
    left, right = sorted(side * place.theme.px(end) for end in ends)
    return {
        "xref": place.x_name,
        "yref": "y",
        "xsizemode": "pixel",
        "xanchor": ruler.x,
        "x0": left,
        "x1": right,
        "layer": "above",
    }


# -- names at the ends of the lines ---------------------------------------------------------------


def _names_at_right(ruler: Ruler, place: PanelBox) -> list[Part]:
    """Return the names right of the panel, each with a leader line to the end of its curve."""
    theme = place.theme
    rungs = sorted((r for r in ruler.rungs if r.name), key=lambda r: r.end)
    name, note = theme.px(NAME), theme.px(NOTE)
    lines = [len(r.note.splitlines()) + len(r.aside.splitlines()) for r in rungs]
    sizes = [name * 1.35 + note * 1.3 * count + theme.px(7) for count in lines]
    targets = [
        min(max(place.y_pixel(r.end), sizes[i] / 2), place.height) for i, r in enumerate(rungs)
    ]
    centres = moved_apart(targets, sizes, place.height + theme.px(14))
    notes: list[Part] = []
    for rung, centre, want in zip(rungs, centres, targets, strict=True):
        colour = theme.colour(rung.colour)
        line_end: Part = {"xref": "paper", "x": 1, "yref": "y", "showarrow": False}
        if rung.end >= place.y.low:
            leader_end = {"y": place.at_pixel(0, want)["y"], "name": rung.key}
            arrow = {"ax": theme.px(OUTSIDE - 8), "ay": want - centre}
            notes.append(
                line_end | leader_end | LEADER | arrow | {"arrowcolor": translucent(colour, 0.5)}
            )
        notes.append(
            line_end
            | _name_and_note(rung, place)
            | {
                "y": place.at_pixel(0, centre)["y"],
                "xanchor": "left",
                "xshift": theme.px(OUTSIDE - 4),
            }
        )
    return notes


def _name_and_note(rung: RulerMark, place: PanelBox) -> dict[str, Any]:
    """Return Plotly's annotation at the end of a line: its name, its note, and a small aside."""
    theme, lines = place.theme, "<br>".join(rung.note.splitlines())
    small = f"<br><span style='font-size:{theme.px(NOTE):.1f}px'>{lines}</span>" if lines else ""
    if rung.aside:
        look = f"font-size:{theme.px(ASIDE):.1f}px;color:{theme.colour(QUIET)}"
        aside = "<br>".join(rung.aside.splitlines())
        small += f"<br><span style='{look}'>{aside}</span>"
    return {
        "text": f"<b>{rung.name}</b>{small}",
        "align": "left",
        "font": {"size": theme.px(NAME), "color": theme.colour(rung.colour)},
        "name": rung.key,
        "captureevents": True,
        "opacity": rung.opacity,
    }


def _names_inside(ruler: Ruler, place: PanelBox) -> list[Part]:
    """Return the names for a phone, each beside its line and clear of the other lines.

    A name without room is left out.
    """
    theme, size = place.theme, place.theme.px(12.5)
    notes: list[Part] = []
    for rung in ruler.rungs:
        if not rung.name or rung.text or not rung.x:
            continue
        width, height = _text_width(rung.name, size) * BOLD, size * 1.25
        line = place.pixels(rung.x, rung.y)

        def is_beside(box: Box, line: Any = line) -> bool:
            """Return whether a box is close to a line, above or below it, without touching it."""
            left, bottom, wide, high = box
            levels = [level_at(line, a) for a in (left, left + wide / 2, left + wide)]
            gaps = (bottom - max(levels), min(levels) - bottom - high)
            return 2 <= max(gaps) <= 26

        want = (0.05 * place.width, level_at(line, 0.1 * place.width) + 4)
        panel = (place.width, place.height)
        spot = free_place((width, height), panel, place.paths, want, is_beside)
        if spot is None:
            continue
        place.paths.append(box_outline((*spot, width, height)))
        notes.append(
            place.at_pixel(*spot)
            | {
                "text": f"<b>{rung.name}</b>",
                "font": {"size": size, "color": theme.colour(rung.colour)},
                "xanchor": "left",
                "yanchor": "bottom",
                "showarrow": False,
                "name": rung.key,
            }
        )
    return notes
