"""Letters of formulas that several files share; the papers use one letter for several things."""

from __future__ import annotations

from dpsco_core.bounds.base import Letter
from dpsco_core.bounds.conditions import moment_scale

SCALE = Letter("g", "root of the coordinates' moment", moment_scale)
LOWER = (
    SCALE,
    Letter("D", ""),  # an index inside the formula
    Letter("N", "number of words of the packing"),
    Letter("B", "number of spiked records, at random"),
)
SIGNS = (*LOWER, Letter(r"\delta", "bias of the signs, the best one"))
CLIPPING = (
    Letter(
        "M",
        "directional moment of the gradients (its root)",
        lambda s: s.constants.directional_moment,
    ),
    Letter("R", "clip radius, the best one"),
)
BLOCKS = (Letter("m", "number of blocks"), Letter("b", "records a block"))
SMOOTH = Letter("L", "smoothness of the population risk", lambda s: s.constants.smoothness)
ESTIMATED = (
    SMOOTH,
    Letter("G", "deviation of the estimated gradient"),
    Letter("B", "bias of the estimated gradient"),
    *BLOCKS,
)
