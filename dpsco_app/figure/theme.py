"""The colours and the size that figures are drawn with."""

from dataclasses import dataclass

from dpsco_app.figure.colours import Pair

FONT = "'Source Sans', 'Source Sans 3', 'Source Sans Pro', Arial, sans-serif"


@dataclass(frozen=True, kw_only=True)
class Size:
    """How large a figure is drawn, in pixels: Plotly fits its width to the page."""

    width: int = 1000
    height: int = 560
    left: int = 46
    right: int = 292  # the room of the ladder; without one, a margin
    top: int = 58
    bottom: int = 44
    gap: int = 26  # between panels
    ladder: bool = True  # a phone has it below the figure, as a table
    several: bool = True  # whether two panels have room beside one another
    scale: float = 1.0  # the scale of type and marks, for a projector


COMPACT = Size(
    width=358, height=330, left=40, right=14, top=40, bottom=40, ladder=False, several=False
)
WIDE = Size()
SIZES = {
    "compact": COMPACT,
    "medium": Size(width=700, several=False),
    "wide": WIDE,
    "large": Size(width=1440, height=700, scale=1.2),
}
NARROW = 760  # pixels; where a page has at most this width it gets the figures for phones
WIDTHS = {"compact": NARROW, "medium": 960, "wide": 1500}  # the widest page of each size


@dataclass(frozen=True, kw_only=True)
class Theme:
    """The colours and the size of one drawing."""

    dark: bool = False
    size: Size = WIDE

    def colour(self, pair: Pair) -> str:
        return pair[self.dark]

    def px(self, length: float) -> float:
        """Return a length of type or of marks."""
        return length * self.size.scale
