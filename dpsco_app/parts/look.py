"""How figures look: colours, labels at the lines' ends, layout; no Streamlit in here."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from dpsco_app.figure.methods import colour_of
from dpsco_app.parts.options import number_text
from dpsco_core.base.cards import BoundCard

Pair = tuple[str, str]
Ends = tuple[float, float]
# The colours that a method may name, one everywhere: (light theme, dark theme). A family has one
# colour: an estimator and the optimisers that use it, and the two levels, which no figure shows
# together.
ROLES: dict[str, Pair] = {
    "grey": ("#5f6368", "#b8bcc2"),
    "pale grey": ("#7b828a", "#8a9199"),
    "blue": ("#0b57d0", "#7fb1ff"),
    "cyan": ("#0b7285", "#5cc8e8"),
    "green": ("#0a7d4f", "#3ddc97"),
    "lime": ("#55800a", "#b6d94c"),
    "orange": ("#b8510a", "#ffab66"),
    "purple": ("#7b3fb3", "#c59bff"),
    "magenta": ("#b0307e", "#ff9bd2"),
    "gold": ("#85680f", "#e3c25a"),
    "brown": ("#7a4a2b", "#d8a987"),
    "slate": ("#3f5a78", "#9fb9d3"),
    "teal": ("#006d77", "#64d8c8"),
    "indigo": ("#4a4fc4", "#aab2ff"),
    "olive": ("#66701a", "#cfd96a"),
    "crimson": ("#b3264a", "#ff9aa8"),
    "plum": ("#86458f", "#e0a8e8"),
    "clay": ("#9a4a2a", "#f0a583"),
    "moss": ("#3d5a1e", "#a8c686"),
}
INK = ("#1f1f1f", "#e3e3e3")
GREY = ROLES["grey"]
BLUE = ROLES["blue"]
CYAN = ROLES["cyan"]
GREEN = ROLES["green"]
ORANGE = ROLES["orange"]
PURPLE = ROLES["purple"]
SLATE = ROLES["slate"]
TEAL = ROLES["teal"]
CRIMSON = ROLES["crimson"]
CLAY = ROLES["clay"]
REGION = ("#b3261e", "#f2b8b5")
FADED = 0.33
MOST_NAMES = 9  # at the ends of lines; the others are on hover and in the table
BESIDE = 1.005  # where the names of lines begin, in widths of the figure
LINES = 23  # of text that fit into the height of a figure


def bound_colour(card: BoundCard, other: Pair = REGION) -> Pair:
    """Return the colour of a bound: its method's, `other` without one, the region's if lower."""
    if card.kind == "lower":
        return REGION
    return colour_of(card.method) if card.method else other


@dataclass(frozen=True, kw_only=True)
class Look:
    dark: bool = False  # colours for a dark page
    title: str = ""  # what the figure shows for this run
    compact: bool = False  # for a phone: names in a legend below instead of at the lines' ends
    # less high, as one of several on a page; without room for names at the right edge
    short: bool = False
    narrow: bool = False

    def colour(self, pair: tuple[str, str]) -> str:
        return pair[1] if self.dark else pair[0]

    @property
    def ink(self) -> str:
        return self.colour(INK)

    @property
    def quiet(self) -> str:
        """Colour of the axes' text: still 7:1 on the page."""
        return "#c4c7c5" if self.dark else "#444746"

    @property
    def grid(self) -> str:
        return "rgba(255,255,255,0.09)" if self.dark else "rgba(0,0,0,0.07)"


@dataclass(frozen=True, kw_only=True)
class Label:
    """A name at the end of a line; the lower its rank, the sooner it gets a place."""

    text: str
    y: float
    colour: str
    rank: int


# What makes a figure, as plain values: Plotly checks them once, when the figure is made of them.
# To add them one by one to a figure takes it three times as long.
Part = dict[str, Any]


def line_part(
    x: Sequence[Any], y: Sequence[Any], line: Part, name: str, hover: Sequence[str], **more: Any
) -> Part:
    """Return the trace of a line, whose points say in `hover` what they are."""
    own = {"type": "scatter", "x": x, "y": y, "mode": "lines", "line": line, "name": name}
    return own | {"hovertext": hover, "hoverinfo": "text"} | more


def area_part(
    x: Sequence[Any], upper: Sequence[Any], lower: Sequence[Any], colour: str, name: str
) -> Part:
    """Return the trace that fills what is between two lines."""
    return {
        "type": "scatter",
        "x": [*x, *reversed(x)],
        "y": [*upper, *reversed(lower)],
        "mode": "lines",
        "line": {"width": 0},
        "fill": "toself",
        "fillcolor": colour,
        "hoverinfo": "skip",
        "name": name,
        "showlegend": False,
    }


def note(text: str, x: float, y: float, colour: str, size: int = 12, **more: Any) -> Part:
    """Return words in a figure."""
    font = {"size": size, "color": colour}
    return {"text": text, "x": x, "y": y, "showarrow": False, "font": font} | more


def lay_out(figure: go.Figure, look: Look) -> None:
    """Set what all figures share: title, margins, fonts, legend."""
    # To merge with what is there takes Plotly seven times as long.
    figure.update_layout(**shared_layout(look), overwrite=True)
    set_axes(figure, quiet_axis(look), quiet_axis(look))


def mark_chosen(figure: go.Figure, x: Sequence[float], y: Sequence[float], look: Look) -> None:
    line = {"width": 2.5}
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers",
        marker={"symbol": "circle-x-open", "size": 16, "color": look.ink, "line": line},
        name="chosen point",
        hoverinfo="skip",
        showlegend=False,
        cliponaxis=False,
    )


def set_axes(figure: go.Figure, x: Part, y: Part) -> None:
    """Add to what every axis of a figure has: an eighth of the time of Plotly's own updates."""
    for axes, part in ((figure.select_xaxes(), x), (figure.select_yaxes(), y)):
        for axis in list(axes):
            figure.layout[axis.plotly_name] = _merged(axis.to_plotly_json(), part)


def _merged(held: Part, part: Part) -> Part:
    both = {
        name: _merged(held[name], value)
        for name, value in part.items()
        if isinstance(value, dict) and name in held
    }
    return held | part | both


def quiet_axis(look: Look) -> Part:
    """Return what every axis has: the colour and the size of its words."""
    quiet = {"color": look.quiet}
    return {"tickfont": quiet | {"size": 12}, "title": {"font": quiet | {"size": 14}}}


def above_title(title: str) -> int:
    """Return the pixels above: Plotly sets the first of several lines on the top's own line."""
    return 22 if "<br>" in title else 10


def shared_layout(look: Look) -> Part:
    """Return what the layout of every figure has: title, margins, fonts, legend."""
    # On a screen of 1280 pixels a longer line runs under the buttons of the figure.
    width = 40 if look.compact else 52 if look.narrow else 80
    height = (420 if look.short else 560) if look.compact else (400 if look.short else 540)
    title = wrapped(look.title, width)
    sides = {"l": 60, "r": 20 if look.narrow else 185, "t": 84 if look.narrow else 70, "b": 60}
    if look.compact:  # a title of more than three lines needs more
        sides = {"l": 50, "r": 10, "t": 84 + 20 * max(title.count("<br>") - 2, 0), "b": 60}
    return {
        "title": {
            "text": title,
            "x": 0,
            "xanchor": "left",
            "y": 1,
            "yanchor": "top",
            "pad": {"t": above_title(title)},
            "font": {"size": 15 if look.compact or look.narrow else 17},
        },
        "showlegend": look.compact,
        "legend": {"orientation": "h", "yanchor": "top", "y": -0.3 if look.short else -0.2, "x": 0},
        "height": height,
        "margin": sides,
        "hovermode": "closest",
        "font": {"size": 12 if look.compact else 14},
    }


def place_labels(
    figure: go.Figure, labels: list[Label], low: float, high: float, lines: int = LINES
) -> None:
    # All at once: every single one that is added is checked again with each of the others.
    named = placed(labels, low, high, lines)
    figure.layout.annotations = [*figure.layout.annotations, *named]


def placed(labels: list[Label], low: float, high: float, lines: int = LINES) -> list[Part]:
    """Return the names at the right edge as annotations, moved apart where they would overlap.

    `lines` of text fit into the figure's height. No more than `MOST_NAMES` get a place, the lowest
    ranks first: what is more than that cannot be read.
    """
    span = math.log(high / low)
    # A bound's name that does not fit is left to its hover.
    room = lines - 1
    fitting = []
    for label in sorted(labels, key=lambda label: label.rank):
        text = wrapped(label.text, 26)
        needed = 1 + text.count("<br>")
        if len(fitting) < MOST_NAMES and needed <= room and low <= label.y <= high:
            room -= needed
            fitting.append((label, text, span / lines * needed))
    fitting.sort(key=lambda row: row[0].y)
    heights = [min(max(math.log(label.y / low), 0.0), span) for label, _, _ in fitting]
    heights = moved_apart(heights, [size for _, _, size in fitting], span)
    at_edge = {"xref": "paper", "yref": "y", "xanchor": "left", "align": "left"}
    return [
        note(text, BESIDE, math.log10(low) + height / math.log(10), label.colour, **at_edge)
        for (label, text, _), height in zip(fitting, heights, strict=True)
    ]


def moved_apart(heights: Sequence[float], sizes: Sequence[float], ceiling: float) -> list[float]:
    """Return ascending heights of names of these sizes, moved so that none overlaps another."""
    out = list(heights)
    for i in range(1, len(out)):
        out[i] = max(out[i], out[i - 1] + (sizes[i] + sizes[i - 1]) / 2)
    for i in range(len(out) - 1, -1, -1):
        out[i] = min(out[i], ceiling)
        ceiling = out[i] - (sizes[i] + sizes[i - 1]) / 2
    return out


def log_ticks(low: float, high: float) -> list[float]:
    """Return the 1-2-5 numbers between two positive ends, or the powers of ten if those suffice."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    digits = (1,) if last - first > 3 else (1, 2, 5)
    ticks = [float(f"{d}e{e}") for e in range(first, last + 1) for d in digits]
    return [t for t in ticks if low <= t <= high]


def log_axes(figure: go.Figure, look: Look, x: Ends, y: Ends, x_title: str, y_title: str) -> None:
    """Make both axes logarithmic between their ends, with as many ticks as there is room for."""
    most = 4 if look.compact else 9
    set_axes(figure, log_axis(look, x, x_title, most), log_axis(look, y, y_title, 9))


def log_rows(
    figure: go.Figure, look: Look, x: Ends, title: str, names: Sequence[str], above: float = 0.6
) -> None:
    """Make the horizontal axis logarithmic, and the vertical one rows with these names."""
    rows = {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": names[::-1],
        "range": [-0.6, len(names) - 1 + above],
        "gridcolor": look.grid,
        "zeroline": False,
    }
    set_axes(figure, log_axis(look, x, title, 4 if look.compact else 9), rows)


def log_axis(look: Look, ends: Ends, title: str, most: int = 100) -> Part:
    """Return a logarithmic axis between its ends, with at most so many ticks."""
    ticks = log_ticks(*ends)
    ticks = ticks[:: max(1, math.ceil(len(ticks) / most))]
    return {
        "type": "log",
        "range": [math.log10(e) for e in ends],
        "title": {"text": title},
        "tickvals": ticks,
        "ticktext": [number_text(t) for t in ticks],
        "gridcolor": look.grid,
        "zeroline": False,
    }


def translucent(colour: str, alpha: float) -> str:
    r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({r},{g},{b},{alpha})"


def wrapped(line: str, width: int = 90) -> str:
    """Return `line` with breaks for Plotly, which does not wrap."""
    out: list[str] = []
    length = 0
    for word in line.split(" "):
        if length + len(word) > width and out:
            out.append("<br>")
            length = 0
        out.append(word + " ")
        length += len(word) + 1
    return "".join(out).strip()
