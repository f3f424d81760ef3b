"""Hard instances whose hidden signs are in a true parameter, or in points far away."""

from dpsco_core.data.hidden.any_labels import AnyLabels
from dpsco_core.data.hidden.corner_labels import CornerLabels
from dpsco_core.data.hidden.far_points import FarPoints
from dpsco_core.data.hidden.one_hot import OneHot
from dpsco_core.data.hidden.parameter import HiddenParameter

__all__ = ["AnyLabels", "CornerLabels", "FarPoints", "HiddenParameter", "OneHot"]
