"""The sets, widths and noise that the page Geometry draws, as plain arrays."""

from dpsco_core.explain.geometry.boundaries import (
    curve,
    outline,
)
from dpsco_core.explain.geometry.mean_widths import (
    DIMENSIONS,
    GUIDES,
    WidthRow,
    width_table,
)
from dpsco_core.explain.geometry.nearest import Nearest, line_across, nearest
from dpsco_core.explain.geometry.noise_shapes import (
    NOISES,
    SWEEP,
    DualSquare,
    dual_square,
    sweep,
)
from dpsco_core.explain.geometry.shapes import (
    LARGEST_SEED,
    Shape,
)

__all__ = [
    "DIMENSIONS",
    "GUIDES",
    "LARGEST_SEED",
    "NOISES",
    "SWEEP",
    "DualSquare",
    "Nearest",
    "Shape",
    "WidthRow",
    "curve",
    "dual_square",
    "line_across",
    "nearest",
    "outline",
    "sweep",
    "width_table",
]
