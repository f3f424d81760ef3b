"""Every bound at user level, in the order of a catalogue: risks, item gradients, then means.

A slug names the method, then the form: nothing for the rate, ``-proof`` for the proof's own rate,
``-paper`` as printed, ``-explicit`` with every constant proven, ``-gradients`` for the number of
item gradients.
"""

from dpsco_core.bounds.base import Bound, set_letters
from dpsco_core.bounds.euclidean.one_step import one_step
from dpsco_core.bounds.euclidean.projected import projected
from dpsco_core.bounds.user.below_two import USER_BELOW_TWO
from dpsco_core.bounds.user.explicit import EXPLICIT_RISKS
from dpsco_core.bounds.user.gradients import USER_GRADIENTS
from dpsco_core.bounds.user.lower_spikes import USER_SPIKES
from dpsco_core.bounds.user.lower_tracing import USER_TRACING
from dpsco_core.bounds.user.means import USER_MEAN_BOUNDS
from dpsco_core.bounds.user.quoted import QUOTED_RATES, USER_LOWER
from dpsco_core.bounds.user.rates import USER_LETTERS, USER_RATES

_UPPER = (*USER_RATES, *QUOTED_RATES, *EXPLICIT_RISKS, *USER_GRADIENTS)
UPPER_USER_BOUNDS: tuple[Bound, ...] = set_letters(USER_LETTERS, _UPPER)
USER_BOUNDS: tuple[Bound, ...] = (*UPPER_USER_BOUNDS, *set_letters(USER_LETTERS, USER_LOWER))
# Of the pure bounds those at their own parameters suffice, which never exceed those on a run.
_PRIVATE_MEANS = tuple(
    b
    for b in (*USER_MEAN_BOUNDS, *USER_BELOW_TWO)
    if b.card.privacy != "pure" or b.parameters == "own"
)
USER_ONE_STEP_RISKS = one_step(_PRIVATE_MEANS, "user")
ALL_USER_BOUNDS: tuple[Bound, ...] = (
    *USER_BOUNDS,
    *USER_MEAN_BOUNDS,
    *USER_BELOW_TWO,
    *projected(_PRIVATE_MEANS, "user"),
    *USER_ONE_STEP_RISKS,
    *USER_SPIKES,
    *USER_TRACING,
)
