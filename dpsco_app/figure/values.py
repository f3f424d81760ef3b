"""The grammar of figures: panels of areas and lines over axes, and a ladder of named numbers.

All values are plain; colours are pairs, for the light and the dark theme. What a line or an area is
about stands in its `key`: the same key in the ladder, so that pointing at one finds the other.
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
    unit: str = ""  # in words, after the title where there is room


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line through points, in the order of x; y may be NaN where there is nothing to draw."""

    key: str
    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: Pair
    kind: Kind = "measured"
    width: float = 1.9  # none if 0: marks alone
    dash: Dash = "solid"
    symbol: str = ""  # Plotly's name of the mark at each point; none if empty
    size: float = 6.5  # the size of the marks
    half: Sequence[float] = ()  # half of the interval at each point, upwards
    down: Sequence[float] = ()  # the same downwards, where that is another one
    hover: Sequence[str] = ()  # what each point says
    opacity: float = 1.0
    fill: float = 0.0  # opacity of the area inside a line that returns to its beginning
    label: str = ""  # beside its last point
    away: tuple[float, float] = (9, 9)  # where the label is, in pixels from there
    is_small: bool = False  # whether the label is in small and plain type
    # what is shown only while this line is pointed at: where most trials lie, and a proven bound
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    bound: Sequence[tuple[float, float]] = ()
    method: str = ""  # the slug of the method that is measured
    is_pinned: bool = False  # whether it is of the run that is kept for comparison


@dataclass(frozen=True, kw_only=True)
class Region:
    """What lies between two curves; `lower` empty: down to the axis."""

    key: str
    name: str
    x: Sequence[float]
    upper: Sequence[float]
    lower: Sequence[float] = ()
    look: Area
    edge: float = 1.3  # width of its edges
    hover: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Cells:
    """A map: cells over a grid, each with the name and the colour of what it shows."""

    # the middles of the columns and the rows, increasing
    x: Sequence[float]
    y: Sequence[float]
    kinds: Sequence[tuple[str, Pair]]
    # row by row: which of the kinds, -1 for none; where two are tied; and what each cell says
    shows: Sequence[Sequence[int]]
    hatched: Sequence[Sequence[bool]]
    hover: Sequence[Sequence[str]]
    chosen: tuple[float, float]


def without_bold(text: str) -> str:
    """Return a text of a figure without the tags of its bold part.

    Examples
    --------
    >>> without_bold("<b>1,000</b> records")
    '1,000 records'
    """
    return text.replace("<b>", "").replace("</b>", "")


@dataclass(frozen=True, kw_only=True)
class Words:
    """Words inside a panel, put where they keep clear of the lines; dropped if nowhere."""

    lines: Sequence[str]
    colour: Pair
    # the wished place, as shares of the panel's width and height; at 1 they end at the right
    want: tuple[float, float]
    below: str = ""  # the key of the region inside which they must stay
    least: float = 0.0  # the least height, as a share of the panel
    is_small: bool = False  # whether they are a remark


@dataclass(frozen=True, kw_only=True)
class Gap:
    """The factor between two points above one another, as a bracket with its words."""

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
    about: str = ""  # below the title, in the place of the name of the vertical axis
    regions: Sequence[Region] = ()
    lines: Sequence[Line] = ()
    cells: Cells | None = None
    words: Sequence[Words] = ()
    gap: Gap | None = None
    chosen: float | None = None  # the chosen value on the axis


@dataclass(frozen=True, kw_only=True)
class LadderRow:
    """A line of the ladder: a name and a number for each column."""

    key: str
    name: str
    colour: Pair
    values: Sequence[str]
    end: float  # the height at the right edge of the last panel, in units of the axis
    bold: bool = False
    swatch: Literal["line", "area", "edge", "none"] = "line"
    sign: str = ""  # the mark of the line, as a letter
    note: str = ""  # what the table says below the name


@dataclass(frozen=True, kw_only=True)
class Ladder:
    title: str
    columns: Sequence[str]
    rows: Sequence[LadderRow]
    room: int = 0  # pixels that long names need beyond the usual
    leaders: bool = True  # whether its rows lead to the ends of their lines
    caption: str = ""  # one or two lines below it, about all that is measured


@dataclass(frozen=True, kw_only=True)
class RulerMark:
    """A line of a figure on its ruler: its factor at the chosen value, and its name at its end."""

    key: str
    text: str  # the factor; empty for a line that has a name only
    name: str
    colour: Pair
    y: Sequence[float]  # the line
    x: Sequence[float]
    at: float = 0.0  # its height at the chosen value
    note: str = ""  # below the name, in lines
    aside: str = ""  # a last line below it, smaller and without a colour
    short: str = ""  # what stands beside the factor where names have no room
    bold: bool = False
    opacity: float = 1.0
    is_tick: bool = False  # Whether its line is not drawn, only a stroke on the ruler.

    @property
    def end(self) -> float:
        """The height at the right end of the line."""
        return self.y[-1]


@dataclass(frozen=True, kw_only=True)
class RulerPart:
    """A part of the ruler's bar, between two heights."""

    low: float
    high: float
    colour: Pair
    opacity: float


@dataclass(frozen=True, kw_only=True)
class Ruler:
    """Factors over one dot, at the chosen value of the axis."""

    x: float
    head: Sequence[str]  # what the factors are, in lines
    rungs: Sequence[RulerMark]
    parts: Sequence[RulerPart] = ()


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Panels that share the vertical axis, and the ladder at their right."""

    panels: Sequence[Panel]
    y: Axis
    ladder: Ladder
    alt: str
    square: bool = False  # whether a unit is as long on both axes
    faded: bool = False  # what is measured is of settings that have changed since
    ruler: Ruler | None = None  # in the place of the ladder, which is then a table alone
