"""Optimisers at item level."""

from dpsco_core.sco.base import Optimiser
from dpsco_core.sco.clipped import ClippedDescent
from dpsco_core.sco.cwme import CoordinatewiseDescent
from dpsco_core.sco.cwme_strong import StrongCoordinatewiseDescent
from dpsco_core.sco.iterative import IterativeDescent
from dpsco_core.sco.smoothed import SmoothedDescent

__all__ = [
    "ClippedDescent",
    "CoordinatewiseDescent",
    "IterativeDescent",
    "Optimiser",
    "SmoothedDescent",
    "StrongCoordinatewiseDescent",
]
