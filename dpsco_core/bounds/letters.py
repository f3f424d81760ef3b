"""Letters of formulas that several files share; the papers use one letter for several things."""

from dpsco_core.bounds.base import Letter
from dpsco_core.bounds.conditions import moment_scale

SCALE = Letter("g", "root of the coordinates' moment", moment_scale)
LOWER = (
    SCALE,
    # This letter is an index inside the formula.
    Letter("D", ""),
    Letter("N", "number of words of the packing"),
    Letter("B", "number of spiked records, at random"),
)
SIGNS = (*LOWER, Letter(r"\delta", "bias of the signs, the best one"))
MOMENT = Letter(
    "M",
    "directional moment of the gradients (its root)",
    lambda s: s.constants.directional_moment,
)
CLIPPING = (MOMENT, Letter("R", "clip radius, the best one"))
BLOCKS = (Letter("m", "number of blocks"), Letter("b", "records a block"))
SMOOTH = Letter("L", "smoothness of the population risk", lambda s: s.constants.smoothness)
ESTIMATED = (
    SMOOTH,
    Letter("G", "deviation of the estimated gradient"),
    Letter("B", "bias of the estimated gradient"),
    *BLOCKS,
)

# The letters of lower bounds over spikes: the number of spikes, and the share of wrong signs.
BINOMIAL = r"B\sim\mathrm{Bin}(n,q)"
WRONG_SIGNS = (
    r",\ g_d(t)=\tfrac12\min_s\frac{1+(e^t-1)F_{d-1}(s-1)}{1+(e^t-1)F_d(s)},\ "
    r"F_D\text{ the cdf of }\mathrm{Bin}(D,\tfrac12)"
)
