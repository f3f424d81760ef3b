"""The parts of a figure: panels of areas and lines over axes, and a ladder of named numbers.

All values are plain data; a colour is a pair, for the light and the dark theme. The `key` of a line
or an area says what it stands for; its ladder row has the same key, so that pointing at one
highlights the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dpsco_app.figure.colours import Area, Pair

Dash = Literal["solid", "dot", "dash", "dashdot", "longdash"]
Kind = Literal["measured", "proven", "guide"]


@dataclass(frozen=True, kw_only=True)
class Axis:
    title: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    log: bool = True
    unit: str = ""  # The unit in words, written after the title where there is room.


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line through points in the order of x; y is NaN where the line has a gap."""

    key: str
    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: Pair
    kind: Kind = "measured"
    width: float = 1.9  # The width of the stroke; 0 draws marks only.
    dash: Dash = "solid"
    symbol: str = ""  # Plotly's name of the mark at each point; empty for no mark.
    size: float = 6.5  # The size of the marks.
    half: Sequence[float] = ()  # The upward half-width of the interval at each point.
    # The downward half-width of the interval, if it differs from the upward one.
    down: Sequence[float] = ()
    hover: Sequence[str] = ()  # The hover text of each point.
    opacity: float = 1.0
    fill: float = 0.0  # The opacity of the fill inside a closed line.
    label: str = ""  # The label beside the last point of the line.
    away: tuple[float, float] = (9, 9)  # The offset of the label from the last point, in pixels.
    is_small: bool = False  # Whether the label is in small, regular type.
    # These details are shown only while the pointer is on this line: the range of most trials, and
    # the points of a proven bound.
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    bound: Sequence[tuple[float, float]] = ()
    method: str = ""  # The slug of the method that the line measures.
    is_pinned: bool = False  # Whether the line is from the run that is kept for comparison.


@dataclass(frozen=True, kw_only=True)
class Region:
    """The area between two curves; an empty `lower` extends it down to the axis."""

    key: str
    name: str
    x: Sequence[float]
    upper: Sequence[float]
    lower: Sequence[float] = ()
    look: Area
    edge: float = 1.3  # The width of the region's edges.
    hover: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Cells:
    """A map: a grid of cells, each with the name and the colour of the kind that it shows."""

    # The middles of the columns and of the rows, in increasing order.
    x: Sequence[float]
    y: Sequence[float]
    kinds: Sequence[tuple[str, Pair]]
    # For each row and column: the index of the kind shown (-1 for none), whether two kinds tie, and
    # the hover text.
    shows: Sequence[Sequence[int]]
    hatched: Sequence[Sequence[bool]]
    hover: Sequence[Sequence[str]]
    chosen: tuple[float, float]


def without_bold(text: str) -> str:
    """Return a figure's text without the tags of its bold part.

    Examples
    --------
    >>> without_bold("<b>1,000</b> records")
    '1,000 records'
    """
    return text.replace("<b>", "").replace("</b>", "")


@dataclass(frozen=True, kw_only=True)
class Words:
    """Words inside a panel, placed clear of the lines; left out if no place is clear."""

    lines: Sequence[str]
    colour: Pair
    # The preferred place, as shares of the panel's width and height; a width share of 1
    # right-aligns the words at the right edge.
    want: tuple[float, float]
    below: str = ""  # The key of the region in which the words must stay.
    least: float = 0.0  # The lowest allowed place, as a share of the panel's height.
    is_small: bool = False  # Whether the words are a remark in small type.


@dataclass(frozen=True, kw_only=True)
class Gap:
    """The ratio of two points at the same x, drawn as a bracket with words."""

    x: float
    low: float
    high: float
    text: str
    colour: Pair
    key: str


@dataclass(frozen=True, kw_only=True)
class Panel:
    title: str
    x: Axis
    about: str = ""  # A line below the title, in place of the name of the vertical axis.
    regions: Sequence[Region] = ()
    lines: Sequence[Line] = ()
    cells: Cells | None = None
    words: Sequence[Words] = ()
    gap: Gap | None = None
    chosen: float | None = None  # The chosen value on the horizontal axis.


@dataclass(frozen=True, kw_only=True)
class LadderRow:
    """A row of the ladder: a name, and a number for each column."""

    key: str
    name: str
    colour: Pair
    values: Sequence[str]
    end: float  # The height of the line at the right edge of the last panel, in units of the axis.
    bold: bool = False
    swatch: Literal["line", "area", "edge", "none"] = "line"
    sign: str = ""  # The mark of the line, as a character.
    note: str = ""  # The note below the name in the table.


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """The list of named numbers at the right of a figure, one row for each line."""

    title: str
    columns: Sequence[str]
    rows: Sequence[LadderRow]
    room: int = 0  # The pixels that long names need beyond the usual width.
    leaders: bool = True  # Whether each row has a leader line to the end of its curve.
    caption: str = ""  # One or two lines of text below the ladder.


@dataclass(frozen=True, kw_only=True)
class RulerMark:
    """A line's entry on the ruler: its factor at the chosen value, and its name."""

    key: str
    text: str  # The factor as text; empty for a line that only has a name.
    name: str
    colour: Pair
    y: Sequence[float]  # The heights of the line, by x.
    x: Sequence[float]
    at: float = 0.0  # The height of the line at the chosen value.
    note: str = ""  # The lines of text below the name.
    aside: str = ""  # A last line of text below the note, smaller and without colour.
    short: str = ""  # The words beside the factor where names have no room.
    bold: bool = False
    opacity: float = 1.0
    is_tick: bool = False  # Whether only a stroke on the ruler is drawn, and no line.

    @property
    def end(self) -> float:
        """The height of the line at its right end."""
        return self.y[-1]


@dataclass(frozen=True, kw_only=True)
class RulerPart:
    """A section of the ruler's bar, between two heights."""

    low: float
    high: float
    colour: Pair
    opacity: float
    name: str = ""  # The name of the section, which is written beside it where there is room.


@dataclass(frozen=True, kw_only=True)
class Ruler:
    """The factors of several lines relative to one dot, at the chosen value of the axis."""

    x: float
    head: Sequence[str]  # The heading that says what the factors are, in lines of text.
    rungs: Sequence[RulerMark]
    parts: Sequence[RulerPart] = ()


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Panels that share the vertical axis, and their list of names and numbers."""

    panels: Sequence[Panel]
    y: Axis
    ladder: Ladder
    alt: str
    square: bool = False  # Whether a unit has the same length on both axes.
    # Whether the figure shows settings that have changed since it was computed.
    faded: bool = False
    ruler: Ruler | None = None  # The ruler, if the figure has one; the ladder is then only a table.
