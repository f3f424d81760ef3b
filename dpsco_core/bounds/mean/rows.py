"""Every bound on mean estimation, in the order in which a catalogue lists them."""

from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.mean.lower import LOWER_MEAN_BOUNDS
from dpsco_core.bounds.mean.upper import UPPER_MEAN_BOUNDS

MEAN_BOUNDS: tuple[Bound, ...] = (*UPPER_MEAN_BOUNDS, *LOWER_MEAN_BOUNDS)
