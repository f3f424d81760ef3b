"""Upper and lower bounds on the error of mean estimation and on excess population risk."""

from dpsco_core.bounds.base import Bound, Hypothesis, Letter, Terms
from dpsco_core.bounds.euclidean.rows import LOWER_SCO_BOUNDS, SCO_BOUNDS, UPPER_SCO_BOUNDS
from dpsco_core.bounds.instances.fano import decoding_error, fano_cdp, fano_coupling, fano_pure
from dpsco_core.bounds.instances.hardest import best_spike_probability, largest_spike_probability
from dpsco_core.bounds.mean.rows import LOWER_MEAN_BOUNDS, MEAN_BOUNDS, UPPER_MEAN_BOUNDS
from dpsco_core.bounds.user.rows import UPPER_USER_BOUNDS, USER_BOUNDS

__all__ = [
    "LOWER_MEAN_BOUNDS",
    "LOWER_SCO_BOUNDS",
    "MEAN_BOUNDS",
    "SCO_BOUNDS",
    "UPPER_MEAN_BOUNDS",
    "UPPER_SCO_BOUNDS",
    "UPPER_USER_BOUNDS",
    "USER_BOUNDS",
    "Bound",
    "Hypothesis",
    "Letter",
    "Terms",
    "best_spike_probability",
    "decoding_error",
    "fano_cdp",
    "fano_coupling",
    "fano_pure",
    "largest_spike_probability",
]
