"""Sets, widths and noise as plain arrays, for pictures: what the page Geometry draws."""

from dpsco_core.explain.geometry.boundaries import (
    curve,
    outline,
)
from dpsco_core.explain.geometry.mean_widths import (
    GUIDES,
    MANY,
    Directions,
    RunningMean,
    WidthRow,
    few_directions,
    plane_width,
    running_mean,
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
    support_values,
)

__all__ = [
    "GUIDES",
    "LARGEST_SEED",
    "MANY",
    "NOISES",
    "SWEEP",
    "Directions",
    "DualSquare",
    "Nearest",
    "RunningMean",
    "Shape",
    "WidthRow",
    "curve",
    "dual_square",
    "few_directions",
    "line_across",
    "nearest",
    "outline",
    "plane_width",
    "running_mean",
    "support_values",
    "sweep",
    "width_table",
]
