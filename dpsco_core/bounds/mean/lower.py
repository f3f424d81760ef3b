"""The lower bounds on mean estimation."""

from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.mean.assouad import ASSOUAD_BOUNDS
from dpsco_core.bounds.mean.lower_other import OTHER_LOWER_BOUNDS
from dpsco_core.bounds.mean.lower_spikes import SPIKE_LOWER_BOUNDS
from dpsco_core.bounds.mean.rate_distortion import RATE_DISTORTION_BOUNDS
from dpsco_core.bounds.mean.tracing import TRACING_BOUNDS

LOWER_MEAN_BOUNDS: tuple[Bound, ...] = (
    *SPIKE_LOWER_BOUNDS,
    *TRACING_BOUNDS,
    *ASSOUAD_BOUNDS,
    *RATE_DISTORTION_BOUNDS,
    *OTHER_LOWER_BOUNDS,
)
