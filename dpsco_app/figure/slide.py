"""A figure as a PDF slide in the ratio 16:9, or as an SVG picture for a printed page."""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas
from matplotlib.typing import RcKeyType

from dpsco_app.figure.colours import INK, PAGE, QUIET, Pair
from dpsco_app.figure.place import Path, box_outline, extended, free_place, level_at, moved_apart
from dpsco_app.figure.printed import (
    DASHES,
    MARKS,
    pdf_bytes,
    set_scales,
    svg_text,
    thinned_axis,
    write_ticks,
)
from dpsco_app.figure.values import Axis, Figure, Line, Panel, Ruler, Words, without_bold

WIDTH, HEIGHT = 13.333, 7.5  # The width and height of a 16:9 slide, in inches.
# The space left of the panels, and the space right of them for names, in inches.
LEFT, NAMES = 0.95, 3.5
BOTTOM, TOP = 1.35, 1.9  # The space below and above the panels, in inches.
# A picture for print has a smaller page, and less space around the panels.
PRINT_WIDTH, PRINT_HEIGHT = 10.2, 4.0
PRINT_NAMES, PRINT_BOTTOM, PRINT_TOP = 3.3, 0.65, 0.62
GAP = 0.35  # The gap between two panels, in inches.
MARGIN = 0.5  # The margin around the texts of the slide, in inches.
# The type sizes of the slide's texts, in points.
HEADLINE, TYPE, SMALL, FACTOR = 26.0, 14.0, 11.0, 17.0
BOLD = 1.12  # The width of a bold letter, as a multiple of a regular one.
LINE = 1.3  # The height of a line of text, as a multiple of its type size.
# The largest number of letters in a line of the headline and of the source.
HEADLINE_LETTERS, SOURCE_LETTERS = 85, 140
LETTER = 0.62  # The mean width of a letter, as a multiple of its type size.
NAME_LETTERS = 23  # The largest number of letters in a line of a name.
FACTOR_GAP = 20  # The distance of the factors from the chosen value, in points.
# The distance from a panel to its names, and to the ends of the leader lines, in points.
NAME_GAP, LEADER = 34, 28
STYLE: dict[RcKeyType, Any] = {
    "pdf.fonttype": 42,  # Fonts are embedded, so that the text of the slide can be selected.
    "font.family": ["DejaVu Sans"],
    "font.size": TYPE,
}


@dataclass(frozen=True, kw_only=True)
class _Name:
    """A name, with its note, at the right end of a line."""

    end: float
    name: str
    note: tuple[str, ...]
    colour: Pair


def slide(figure: Figure, headline: Sequence[str], source: str, *, dark: bool = False) -> bytes:
    """Return a figure as a PDF file with one slide, with the same bytes each time.

    `headline` has one text for each line; `source`, at the foot, says where the figure comes from.
    """
    with rc_context(STYLE):
        canvas = Canvas(figsize=(WIDTH, HEIGHT), facecolor=PAGE[dark])
        _draw_panels(canvas, figure, NAMES, BOTTOM, TOP, dark=dark)
        _write_around(canvas, figure, headline, source, dark=dark)
        return pdf_bytes([canvas], " ".join(headline), source)


def picture(figure: Figure) -> str:
    """Return a figure as an SVG element for a printed page, with the same text each time.

    It has no headline, is light, and is as wide as the place that it is given; its type is meant
    for a width of 17 cm. The identifiers in it begin with a name that its content determines, so
    that several pictures fit in one page.
    """
    with rc_context(STYLE | {"svg.hashsalt": "dpsco"}):
        canvas = Canvas(figsize=(PRINT_WIDTH, PRINT_HEIGHT), facecolor="none")
        _draw_panels(canvas, figure, PRINT_NAMES, PRINT_BOTTOM, PRINT_TOP, dark=False)
        canvas.text(
            0.1 / PRINT_WIDTH, 0.97, _name_of_y(figure), size=SMALL, color=QUIET[0], va="top"
        )
        return svg_text(canvas, without_bold(figure.alt))


def _draw_panels(
    canvas: Canvas, figure: Figure, names: float, bottom: float, top: float, *, dark: bool
) -> None:
    """Draw the panels of a figure side by side, with the names of its lines at the right.

    `names` is the room for these names, `bottom` and `top` the space below and above the panels, in
    inches.
    """
    page_width, page_height = canvas.get_figwidth(), canvas.get_figheight()
    count = len(figure.panels)
    longest = max((len(text) for _, text in figure.y.ticks), default=0)
    # The left edge of the first panel leaves room for the numbers of its axis.
    begin = max(LEFT, 0.25 + LETTER * SMALL * longest / 72 + MARGIN)
    width, height = (
        (page_width - begin - names - GAP * (count - 1)) / count,
        page_height - top - bottom,
    )
    for i, panel in enumerate(figure.panels):
        left = begin + i * (width + GAP)
        sides = (left / page_width, bottom / page_height, width / page_width, height / page_height)
        ax = canvas.add_axes(sides)
        _draw_panel(panel, figure.y, ax, dark=dark, is_first=i == 0, is_alone=count == 1)
        if i == count - 1:
            _write_names(_line_end_names(figure), figure, ax, dark=dark)
            if figure.ruler is not None:
                _draw_ruler(figure.ruler, ax, dark=dark)


def _name_of_y(figure: Figure) -> str:
    """Return the title of the vertical axis with its unit."""
    unit = f" ({figure.y.unit})" if figure.y.unit else ""
    return f"{figure.y.title}{unit}"


def _write_around(
    canvas: Canvas, figure: Figure, headline: Sequence[str], source: str, *, dark: bool
) -> None:
    """Write the headline and the name of the vertical axis above the panels, the source below."""
    lines = [part for text in headline for part in textwrap.wrap(text, HEADLINE_LETTERS)]
    longest = max([1, *map(len, lines)])
    size = min(
        HEADLINE,
        (WIDTH - 2 * MARGIN) * 72 / (LETTER * longest),
        2.2 * HEADLINE / max(1, len(lines)),
    )
    left, top = MARGIN / WIDTH, 1 - 0.42 / HEIGHT
    canvas.text(
        left, top, "\n".join(lines), size=size, weight="bold", color=INK[dark], va="top", ha="left"
    )
    canvas.text(
        left,
        0.32 / HEIGHT,
        "\n".join(textwrap.wrap(source, SOURCE_LETTERS)),
        size=SMALL,
        color=QUIET[dark],
        va="bottom",
    )
    canvas.text(
        left,
        1 - (TOP - (0.12 if not any(panel.title for panel in figure.panels) else 0.4)) / HEIGHT,
        _name_of_y(figure),
        size=SMALL,
        color=QUIET[dark],
        va="bottom",
    )


# -- a panel --------------------------------------------------------------------------------------


def _draw_panel(
    panel: Panel, y: Axis, ax: Any, *, dark: bool, is_first: bool, is_alone: bool
) -> None:
    """Draw a panel on Matplotlib axes, in the style of a slide.

    Only the first panel has numbers on its vertical axis, and only a panel alone has all those on
    its horizontal axis, if they have room there.
    """
    ax.set_facecolor("none")
    ends, log = set_scales(ax, panel.x, y), panel.x.log
    for area in panel.regions:
        x, upper = extended(area.x, area.upper, ends, log=log)
        lower = extended(area.x, area.lower, ends, log=log)[1] if area.lower else [y.low] * len(x)
        ax.fill_between(x, lower, upper, color=area.look.fill[dark], lw=0, zorder=0)
        for edge in (upper, lower) if area.lower else (upper,):
            ax.plot(x, edge, color=area.look.edge[dark], lw=area.edge, zorder=1.5)
    for line in panel.lines:
        _draw_line(line, ends, ax, log=log, dark=dark)
    # Guides without a name have no key.
    paths = {
        line.key or f"guide {i}": _curve_points(line.x, line.y, y, ax)
        for i, line in enumerate(panel.lines)
    }
    paths |= {area.key: _curve_points(area.x, area.upper, y, ax) for area in panel.regions}
    paths = {key: path for key, path in paths.items() if len(path) > 1}
    for words in panel.words:
        _write_words(words, paths, ax, dark=dark)
    for line in panel.lines:
        if line.label:
            offset = {"textcoords": "offset points", "xytext": line.away, "size": SMALL}
            ax.annotate(line.label, (line.x[-1], line.y[-1]), color=line.colour[dark], **offset)
    if panel.title:
        ax.set_title(panel.title, loc="left", size=TYPE, weight="bold", color=INK[dark], pad=8)
    fits = is_alone and _have_numbers_room(panel.x, ax)
    write_ticks(ax.xaxis, panel.x if fits else thinned_axis(panel.x))
    write_ticks(ax.yaxis, y)
    ax.tick_params(colors=QUIET[dark], length=0, pad=6, labelleft=is_first, labelsize=SMALL + 1)
    ax.grid(visible=True, axis="y", color=QUIET[dark], alpha=0.15, lw=0.8)
    ax.set_xlabel(panel.x.title.partition(" (")[0], color=QUIET[dark], labelpad=6, size=TYPE - 1)
    for side in ax.spines.values():
        side.set_visible(False)


def _panel_size(ax: Any) -> tuple[float, float]:
    """Return the width and the height of a panel, in typographic points."""
    box, page = ax.get_position(), ax.figure
    return 72 * box.width * page.get_figwidth(), 72 * box.height * page.get_figheight()


def _have_numbers_room(x: Axis, ax: Any) -> bool:
    """Return whether all numbers of a horizontal axis stand apart."""
    to_share = ax.transData + ax.transAxes.inverted()
    middles = [to_share.transform((value, ax.get_ylim()[0]))[0] for value, _ in x.ticks]
    places = [middle * _panel_size(ax)[0] for middle in middles]
    halves = [LETTER * (SMALL + 1) * len(text) / 2 for _, text in x.ticks]
    pairs = pairwise(zip(places, halves, strict=True))
    return all(right - left > a + b + 4 for (left, a), (right, b) in pairs)


def _curve_points(x: Sequence[float], y: Sequence[float], axis: Axis, ax: Any) -> Path:
    """Return a curve in typographic points from the lower left corner of its panel."""
    width, height = _panel_size(ax)
    to_share = ax.transData + ax.transAxes.inverted()
    lefts = [to_share.transform((a, axis.high))[0] * width for a in x]
    points = [(a, _share_of_height(b, axis) * height) for a, b in zip(lefts, y, strict=True)]
    return [point for point in points if all(map(math.isfinite, point))]


def _write_words(words: Words, paths: dict[str, Path], ax: Any, *, dark: bool) -> None:
    """Write words where they are clear of the curves, and below the upper edge of their region."""
    panel = _panel_size(ax)
    plain = [without_bold(text) for text in words.lines]
    size = SMALL if words.is_small else TYPE - 1
    is_bold = plain != list(words.lines)
    letter = size * LETTER * (BOLD if is_bold else 1)
    extent = max(map(len, plain)) * letter, len(plain) * size * LINE
    edge = paths.get(words.below)

    def is_inside(place: tuple[float, float, float, float]) -> bool:
        """Return whether a box lies inside the region, with a margin above it."""
        left, bottom, width, height = place
        ends = [level_at(edge, a) for a in (left, left + width)] if edge else [math.inf]
        return bottom >= words.least * panel[1] and bottom + height + 5 < min(ends)

    want = words.want[0] * (panel[0] - extent[0]), words.want[1] * (panel[1] - extent[1])
    corner = free_place(extent, panel, list(paths.values()), want, is_inside)
    if corner is None:
        return
    paths["\n".join(plain)] = box_outline((*corner, *extent))
    ax.text(
        corner[0] / panel[0],
        corner[1] / panel[1],
        "\n".join(plain),
        transform=ax.transAxes,
        color=words.colour[dark],
        size=size,
        weight="bold" if is_bold else "normal",
        va="bottom",
        zorder=6,
    )


def _draw_line(line: Line, ends: tuple[float, float], ax: Any, *, log: bool, dark: bool) -> None:
    """Draw a line with its marks; lines that are not measured extend to the ends of the axis."""
    x, y = list(line.x), list(line.y)
    if line.kind != "measured":
        x, y = extended(x, y, ends, log=log)
    colour, is_open = line.colour[dark], line.symbol.endswith("-open")
    ax.plot(
        x,
        y,
        color=colour,
        alpha=line.opacity,
        lw=1.1 * line.width,
        ls=DASHES[line.dash],
        marker=MARKS.get(line.symbol.removesuffix("-open"), ""),
        markersize=line.size,
        markerfacecolor=PAGE[dark] if is_open else colour,
        zorder=2 + line.width,
    )
    if line.half:
        bars = [list(line.down or line.half), list(line.half)]
        ax.errorbar(x, y, yerr=bars, fmt="none", ecolor=colour, elinewidth=1, zorder=2)


# -- the ruler and the ladder ---------------------------------------------------------------------


def _line_end_names(figure: Figure) -> list[_Name]:
    """Return the names at the ends of lines: those of the ruler, or the rows of the ladder."""
    if figure.ruler is not None:
        return [
            _Name(
                end=r.end,
                name=r.name,
                note=tuple(f"{r.note}\n{r.aside}".strip().splitlines()),
                colour=r.colour,
            )
            for r in figure.ruler.rungs
            if r.name
        ]
    return [
        _Name(
            end=row.end,
            name=row.name,
            note=(", ".join(filter(None, row.values)),),
            colour=row.colour,
        )
        for row in figure.ladder.rows
    ]


def _write_names(names: Sequence[_Name], figure: Figure, ax: Any, *, dark: bool) -> None:
    """Write the names right of the last panel, moved apart, each with a leader line to its curve.

    The heading of a ladder's numbers stands above them.
    """
    y, ladder = figure.y, figure.ladder
    height = _panel_size(ax)[1]
    rows = sorted((row for row in names if math.isfinite(row.end)), key=lambda row: row.end)
    called = [textwrap.wrap(row.name, NAME_LETTERS) or [""] for row in rows]
    sizes = [
        LINE * (TYPE * len(name) + SMALL * len(row.note)) + 6
        for name, row in zip(called, rows, strict=True)
    ]
    scale = min(1.0, height / max(1.0, sum(sizes)))  # Many names are set in smaller type.
    sizes = [scale * size for size in sizes]
    levels = [min(max(_share_of_height(row.end, y), 0.0), 1.0) * height for row in rows]
    if figure.ruler is None and rows:
        head = f"{ladder.title}\n{', '.join(ladder.columns)}".strip()
        corner = {"xy": (1, 1), "xycoords": "axes fraction", "textcoords": "offset points"}
        ax.annotate(head, xytext=(NAME_GAP, 14), size=SMALL, color=QUIET[dark], **corner)
    centres = moved_apart(levels, sizes, height)
    for row, name, size, level, centre in zip(rows, called, sizes, levels, centres, strict=True):
        colour = row.colour[dark]
        top = centre + size / 2 - 3 * scale
        right = {"xy": (1, 0), "xycoords": "axes fraction", "textcoords": "offset points"}
        look = {"color": colour, "va": "top", "ha": "left", "annotation_clip": False}
        bold = {"weight": "bold", "size": scale * TYPE}
        ax.annotate("\n".join(name), xytext=(NAME_GAP, top), **bold, **right, **look)
        note_place = (NAME_GAP, top - LINE * TYPE * scale * len(name))
        ax.annotate("\n".join(row.note), xytext=note_place, size=scale * SMALL, **right, **look)
        if row.end >= y.low and (figure.ruler is not None or ladder.leaders):
            stroke = {"arrowstyle": "-", "color": colour, "alpha": 0.5, "shrinkA": 0, "shrinkB": 0}
            ax.annotate(
                "",
                xy=(1, level / height),
                xycoords="axes fraction",
                xytext=(LEADER, centre - level),
                textcoords="offset points",
                arrowprops=stroke,
                annotation_clip=False,
            )


def _draw_ruler(ruler: Ruler, ax: Any, *, dark: bool) -> None:
    """Write the factors beside the chosen value, and above them what they are relative to."""
    low, high = ax.get_ylim()
    y = Axis(title="", low=low, high=high, ticks=())
    height = _panel_size(ax)[1]
    rungs = sorted((r for r in ruler.rungs if r.text), key=lambda r: r.at)
    if not rungs:
        return
    ax.axvline(ruler.x, color=QUIET[dark], lw=0.8, alpha=0.5, zorder=1)
    levels = [_share_of_height(rung.at, y) * height + 4 for rung in rungs]
    centres = moved_apart(levels, [LINE * FACTOR] * len(rungs), height)
    is_right = ax.transAxes.inverted().transform(ax.transData.transform((ruler.x, low)))[0] < 0.8
    side = 1 if is_right else -1
    plate = {"boxstyle": "round,pad=0.1", "fc": PAGE[dark], "ec": "none", "alpha": 0.8}
    for rung, centre in zip(rungs, centres, strict=True):
        ax.plot([ruler.x], [rung.at], marker="o", ms=8, color=rung.colour[dark], zorder=8)
        ax.annotate(
            rung.text,
            xy=(ruler.x, rung.at),
            xytext=(side * FACTOR_GAP, centre - _share_of_height(rung.at, y) * height),
            textcoords="offset points",
            color=rung.colour[dark],
            size=FACTOR,
            weight="bold",
            va="center",
            ha="left" if is_right else "right",
            bbox=plate,
            zorder=9,
        )
    ax.annotate(
        "\n".join(ruler.head),
        xy=(ruler.x, rungs[-1].at),
        xytext=(
            side * FACTOR_GAP,
            centres[-1] - _share_of_height(rungs[-1].at, y) * height + 0.9 * FACTOR,
        ),
        textcoords="offset points",
        color=INK[dark],
        size=SMALL,
        va="bottom",
        ha="left" if is_right else "right",
        zorder=9,
    )


def _share_of_height(value: float, y: Axis) -> float:
    """Return the height of a value as a share of the panel's height."""
    if not y.log:
        return (value - y.low) / (y.high - y.low)
    return math.log(max(value, y.low) / y.low) / math.log(y.high / y.low)
