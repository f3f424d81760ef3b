"""Every bound on mean estimation, in the order in which a catalogue lists them."""

from dpsco_core.base.law_classes import COORDINATE
from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.mean.adaptive import ADAPTIVE_BOUNDS
from dpsco_core.bounds.mean.below_two import BELOW_TWO_BOUNDS
from dpsco_core.bounds.mean.clipped import CLIPPED_BOUNDS
from dpsco_core.bounds.mean.coordinatewise import COORDINATEWISE_BOUNDS
from dpsco_core.bounds.mean.floors import FLOORS
from dpsco_core.bounds.mean.intervals import INTERVALS
from dpsco_core.bounds.mean.iterative import ITERATIVE_BOUNDS
from dpsco_core.bounds.mean.lower_information import INFORMATION_BOUNDS
from dpsco_core.bounds.mean.lower_kamath import OTHER_LOWER_BOUNDS, SPIKE_LOWER_BOUNDS
from dpsco_core.bounds.mean.lower_priors import PRIOR_BOUNDS
from dpsco_core.bounds.mean.runs import RUN_BOUNDS
from dpsco_core.bounds.mean.sampling import SAMPLING_BOUNDS
from dpsco_core.bounds.mean.smoothed import SMOOTHED_BOUNDS
from dpsco_core.bounds.mean.unseen import UNSEEN_BOUNDS
from dpsco_core.bounds.tools import root_sum_square
from dpsco_core.bounds.without_data import WITHOUT_DATA_MEANS

LOWER_MEAN_BOUNDS: tuple[Bound, ...] = (
    *INFORMATION_BOUNDS,
    *SPIKE_LOWER_BOUNDS,
    *PRIOR_BOUNDS,
    *OTHER_LOWER_BOUNDS,
    *UNSEEN_BOUNDS,
    *FLOORS,
)
UPPER_MEAN_BOUNDS: tuple[Bound, ...] = (
    *SAMPLING_BOUNDS,
    *COORDINATEWISE_BOUNDS,
    *SMOOTHED_BOUNDS,
    *CLIPPED_BOUNDS,
    *ITERATIVE_BOUNDS,
    *ADAPTIVE_BOUNDS,
    *RUN_BOUNDS,
    *BELOW_TWO_BOUNDS,
    *INTERVALS,
    *WITHOUT_DATA_MEANS,
)
MEAN_BOUNDS: tuple[Bound, ...] = (*UPPER_MEAN_BOUNDS, *LOWER_MEAN_BOUNDS)


def is_mean_square(row: Bound) -> bool:
    """Whether an upper bound is on a private mean's mean squared error over coordinate moments.

    The squares of its terms then add up to the bound on that error, from which bounds on the excess
    risk of gradient methods follow.
    """
    card = row.card
    proven = ("upper", "explicit", "expectation", COORDINATE)
    return (
        (card.kind, card.constant, card.guarantee, card.laws) == proven
        and row.combine is root_sum_square
        and card.privacy != "none"
    )
