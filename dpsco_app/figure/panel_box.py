"""The position of a panel on the screen, and the conversion from its values to pixels."""

import math
from collections.abc import Sequence
from typing import Any

from dpsco_app.figure.place import Path, Point, extended
from dpsco_app.figure.theme import Theme
from dpsco_app.figure.values import Axis, Panel

Part = dict[str, Any]
# The margins at the left and right of the data, as shares of the axis.
PAD_LEFT, PAD_RIGHT = 0.03, 0.02


class PanelBox:
    """The box of one panel: converts values to pixels, and pixels to Plotly's units."""

    def __init__(self, panel: Panel, y: Axis, index: int, count: int, theme: Theme) -> None:
        """Compute the place and size in pixels of panel `index` of `count` panels in a row."""
        self.panel, self.y, self.theme = panel, y, theme
        size = theme.size
        right = theme.px(size.right) if size.ladder else size.right
        plot = size.width - theme.px(size.left) - right
        self.width = (plot - size.gap * (count - 1)) / count
        self.height = size.height - theme.px(size.top) - theme.px(size.bottom)
        start = (self.width + size.gap) * index
        self.domain = [start / plot, min((start + self.width) / plot, 1.0)]
        self.x_name = "x" if index == 0 else f"x{index + 1}"
        low, high = self.on_axis(panel.x.low), self.on_axis(panel.x.high)
        span = (high - low) or 1.0
        self.low, self.high = low - PAD_LEFT * span, high + PAD_RIGHT * span
        self.bottom, self.top = self.on_y(y.low), self.on_y(y.high)
        self.paths: list[Path] = []  # The curves that words must not cross.

    def on_axis(self, x: float) -> float:
        """Return x in the axis's units: its logarithm on a logarithmic axis, otherwise x itself."""
        return math.log10(x) if self.panel.x.log else x

    def on_y(self, y: float) -> float:
        """Return y in the axis's units: its logarithm on a logarithmic axis, otherwise y itself."""
        return math.log10(y) if self.y.log else y

    def x_pixel(self, x: float) -> float:
        """Return the horizontal position of a value, in pixels from the left of the panel."""
        return (self.on_axis(x) - self.low) / (self.high - self.low) * self.width

    def y_pixel(self, y: float) -> float:
        """Return the vertical position of a value, in pixels from the bottom of the panel."""
        return (
            (self.on_y(max(y, self.y.low)) - self.bottom) / (self.top - self.bottom) * self.height
        )

    def value_at(self, y_pixel: float) -> float:
        """Return the value at a height in pixels, the inverse of `y_pixel`."""
        place = self.bottom + y_pixel / self.height * (self.top - self.bottom)
        return 10**place if self.y.log else place

    def at_pixel(self, x_pixel: float, y_pixel: float) -> Part:
        """Return Plotly's annotation fields for a position given in pixels."""
        return {
            "x": self.low + x_pixel / self.width * (self.high - self.low),
            "y": self.bottom + y_pixel / self.height * (self.top - self.bottom),
            "xref": self.x_name,
            "yref": "y",
        }

    def keep_clear(self, x: Sequence[float], y: Sequence[float]) -> None:
        """Register a curve that words must not cross."""
        path = [(self.x_pixel(a), self.y_pixel(b)) for a, b in zip(x, y, strict=True) if b > 0]
        if len(path) > 1:
            self.paths.append(path)

    def extended(self, x: Sequence[float], y: Sequence[float]) -> tuple[list[float], list[float]]:
        """Return a curve extended in straight lines to both edges of the panel."""
        axis = self.panel.x
        low, high = (10**end if axis.log else end for end in (self.low, self.high))
        ends = low if x[0] <= axis.low else x[0], high if x[-1] >= axis.high else x[-1]
        return extended(x, y, ends, log=axis.log)

    def pixels(self, x: Sequence[float], y: Sequence[float]) -> list[Point]:
        """Return a curve, extended to both edges of the panel, in pixels from its lower left."""
        return [
            (self.x_pixel(a), self.y_pixel(b)) for a, b in zip(*self.extended(x, y), strict=True)
        ]


def trace(place: PanelBox, **fields: Any) -> Part:
    """Return the fields that put a Plotly trace into this panel."""
    return {
        "type": "scatter",
        "mode": "lines",
        "xaxis": place.x_name,
        "yaxis": "y",
        "showlegend": False,
        "hoverinfo": "skip",
        **fields,
    }
