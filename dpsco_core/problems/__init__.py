"""Problems: what is estimated, with certified constants."""

from dpsco_core.problems.base import Constants, Setting
from dpsco_core.problems.mean import MeanEstimation

__all__ = ["Constants", "MeanEstimation", "Setting"]
