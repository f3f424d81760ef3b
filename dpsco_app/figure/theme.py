"""The colours and sizes in which figures are drawn."""

from dataclasses import dataclass

from dpsco_app.figure.colours import Pair

FONT = "'Source Sans', 'Source Sans 3', 'Source Sans Pro', Arial, sans-serif"


@dataclass(frozen=True, kw_only=True)
class Size:
    """The size of a figure, in pixels; Plotly fits its width to the page."""

    width: int = 1000
    height: int = 560
    left: int = 46
    right: int = 292  # The width reserved for the ladder, or a plain margin without one.
    top: int = 58
    bottom: int = 44
    gap: int = 26  # The gap between panels.
    # Whether the figure contains the ladder; on a phone the ladder is a table below the figure.
    ladder: bool = True
    several: bool = True  # Whether two panels fit side by side.
    scale: float = 1.0  # The scale of type and marks; larger for a projector.


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
NARROW = 760  # The widest page, in pixels, that gets the figures for phones.
# The widest page of each figure size, in pixels.
WIDTHS = {"compact": NARROW, "medium": 960, "wide": 1500}


@dataclass(frozen=True, kw_only=True)
class Theme:
    """The colours and the size of one drawing of a figure."""

    dark: bool = False
    size: Size = WIDE

    def colour(self, pair: Pair) -> str:
        """Return the colour that a pair of a light and a dark one has in this theme."""
        return pair[self.dark]

    def px(self, length: float) -> float:
        """Return a length of type or marks in pixels, enlarged by the scale of the theme's size."""
        return length * self.size.scale
