"""The lower bounds on mean estimation."""

from __future__ import annotations

from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.mean.lower_other import OTHER_LOWER_BOUNDS
from dpsco_core.bounds.mean.lower_spikes import SPIKE_LOWER_BOUNDS

LOWER_MEAN_BOUNDS: tuple[Bound, ...] = (*SPIKE_LOWER_BOUNDS, *OTHER_LOWER_BOUNDS)
