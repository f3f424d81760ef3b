"""A figure for a paper, as PDF: one column wide, and readable in black and white by its marks."""

import math
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas
from matplotlib.typing import RcKeyType

from dpsco_app.figure.place import extended, moved_apart
from dpsco_app.figure.printed import DASHES, MARKS, pdf_bytes, set_scales, thinned_axis, write_ticks
from dpsco_app.figure.values import Axis, Figure, Line, Panel, Region

WIDTH, HEIGHT = 3.35, 2.05  # The width of the column and the height of a panel, in inches.
FOOT = 0.2  # The space below a panel for its own axis numbers and title, in inches.
MORE_NAMES = 0.15  # The extra space for names when panels stand side by side, in inches.
NAMES = 0.98  # The space at the right for the names of the lines, in inches.
TYPE = 7.0  # The type size, in points.
PLATE = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8}
STYLE: dict[RcKeyType, Any] = {
    "pdf.fonttype": 42,  # Fonts are embedded as TrueType, as journals require.
    # DejaVu Serif sets the characters that STIX lacks.
    "font.family": ["STIXGeneral", "DejaVu Serif"],
    "font.size": TYPE,
    "axes.linewidth": 0.5,
    "hatch.linewidth": 0.35,
}


def pdf(figure: Figure, setting: str, *, columns: int = 1) -> bytes:
    """Return a figure as a PDF file about `setting`, with its panels in rows of `columns`.

    Panels with their own axes leave room for the numbers of each axis.
    """
    with rc_context(STYLE):
        count = len(figure.panels)
        rows = math.ceil(count / columns)
        is_shared = len({panel.x.title for panel in figure.panels}) == 1
        pitch = HEIGHT if is_shared else HEIGHT + FOOT
        cell = WIDTH if columns == 1 else WIDTH + MORE_NAMES
        width, height = cell * columns, pitch * rows + HEIGHT - pitch + 0.38
        canvas = Canvas(figsize=(width, height))
        for i, panel in enumerate(figure.panels):
            row, column = divmod(i, columns)
            place = (
                (0.42 + column * cell) / width,
                (0.36 + (rows - 1 - row) * pitch) / height,
                (WIDTH - 0.42 - NAMES) / width,
                (HEIGHT - 0.24) / height,
            )
            has_x_title = not is_shared or i + columns >= count
            _draw_panel(panel, figure.y, canvas.add_axes(place), has_x_title=has_x_title)
        return pdf_bytes([canvas], figure.alt, setting)


def _draw_panel(panel: Panel, y: Axis, ax: Any, *, has_x_title: bool) -> None:
    """Draw a panel on Matplotlib axes, in the style of a printed paper."""
    ends, log = set_scales(ax, panel.x, y), panel.x.log
    for area in panel.regions:
        _draw_region(area, ends, log, y, ax)
    for line in panel.lines:
        _draw_line(line, ends, log, ax)
    if panel.gap is not None and panel.gap.high > panel.gap.low:
        gap = panel.gap
        ax.plot([gap.x, gap.x], [gap.low, gap.high], color=gap.colour[0], lw=1.6, zorder=5)
        ax.annotate(
            gap.text,
            (gap.x, math.sqrt(gap.low * gap.high)),
            (4, 0),
            textcoords="offset points",
            color=gap.colour[0],
            weight="bold",
            va="center",
            bbox=PLATE,
            zorder=6,
        )
    _write_names(panel, y, ax)
    ax.set_title(panel.title, loc="left", fontsize=TYPE + 0.5, weight="bold", pad=3)
    ax.set_ylabel(y.title, labelpad=1)
    write_ticks(ax.xaxis, thinned_axis(panel.x))
    write_ticks(ax.yaxis, y)
    ax.tick_params(width=0.4, length=2, pad=1.5)
    if has_x_title:
        ax.set_xlabel(panel.x.title, labelpad=1)
    else:
        ax.tick_params(labelbottom=False)


def _draw_region(area: Region, ends: tuple[float, float], log: bool, y: Axis, ax: Any) -> None:
    """Draw a region between two curves in grey, or hatched if it has no lower curve."""
    x, upper = extended(area.x, area.upper, ends, log=log)
    lower = [y.low] * len(x)
    if area.lower:
        lower = extended(area.x, area.lower, ends, log=log)[1]
        ax.fill_between(x, lower, upper, color="0.9", lw=0, zorder=0)
        ax.plot(x, lower, color=area.look.edge[0], lw=0.5, zorder=1)
    else:
        ax.fill_between(x, lower, upper, facecolor="none", edgecolor="0.7", hatch="////", lw=0)
    ax.plot(x, upper, color=area.look.edge[0], lw=0.5 if area.lower else 1.0, zorder=1)


def _draw_line(line: Line, ends: tuple[float, float], log: bool, ax: Any) -> None:
    """Draw a line with its marks; lines that are not measured extend to the ends of the axis."""
    x, y = list(line.x), list(line.y)
    if line.kind != "measured":
        x, y = extended(x, y, ends, log=log)
    colour = line.colour[0]
    is_open = line.symbol.endswith("-open")
    marks = {
        "marker": MARKS.get(line.symbol.removesuffix("-open"), ""),
        "markersize": 0.42 * line.size,
        "markerfacecolor": "white" if is_open else colour,
        "markeredgewidth": 0.6,
    }
    width = 0.45 * line.width
    ax.plot(x, y, color=colour, lw=width, ls=DASHES[line.dash], **marks, zorder=2 + width)
    if line.half:
        lower_half = line.down or line.half
        ax.errorbar(
            x,
            y,
            yerr=[list(lower_half), list(line.half)],
            fmt="none",
            ecolor=colour,
            elinewidth=0.4,
        )


def _write_names(panel: Panel, y: Axis, ax: Any) -> None:
    """Write the names of the lines at their ends, moved apart where they would overlap."""
    ends = [(line.y[-1], line.name, line.colour[0]) for line in panel.lines if line.kind != "guide"]
    ends += [(area.upper[-1], area.name, area.look.ink[0]) for area in panel.regions]
    ends_inside = sorted((end, name, ink) for end, name, ink in ends if y.low < end < y.high)
    height = ax.get_position().height * ax.figure.get_figheight() * 72
    scale = height / math.log(y.high / y.low)
    pitch = 1.25 * TYPE
    wanted_centres = [math.log(end / y.low) * scale for end, _, _ in ends_inside]
    sizes = [pitch * (1 + name.count("\n")) for _, name, _ in ends_inside]
    centres = moved_apart(wanted_centres, sizes, height)
    for (end, name, ink), centre in zip(ends_inside, centres, strict=True):
        ax.annotate(
            name,
            (1, end),
            (1.06, centre / height),
            xycoords=("axes fraction", "data"),
            textcoords="axes fraction",
            color=ink,
            va="center",
            arrowprops={
                "arrowstyle": "-",
                "color": ink,
                "lw": 0.4,
                "shrinkA": 0,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
            fontsize=TYPE - 0.5,
        )
