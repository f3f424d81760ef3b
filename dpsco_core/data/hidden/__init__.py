"""Hard instances that hide a corner, a block, a true parameter, or the side of points far away."""

from dpsco_core.data.hidden.any_labels import AnyLabels
from dpsco_core.data.hidden.corner_labels import CornerLabels
from dpsco_core.data.hidden.far_points import FarPoints
from dpsco_core.data.hidden.one_hot import OneHot
from dpsco_core.data.hidden.parameter import HiddenParameter
from dpsco_core.data.hidden.words import Corners, SignBlocks

__all__ = [
    "AnyLabels",
    "CornerLabels",
    "Corners",
    "FarPoints",
    "HiddenParameter",
    "OneHot",
    "SignBlocks",
]
