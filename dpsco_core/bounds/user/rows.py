"""Every bound at user level, in the order of a catalogue: risks, then item gradients.

The slug names the method, then the form: nothing for the rate, ``-proof`` as the proof has it,
``-paper`` as printed, ``-explicit`` with every constant proven, ``-gradients`` for the number of
item gradients.
"""

from dpsco_core.bounds.base import Bound, lettered
from dpsco_core.bounds.user.gradients import USER_GRADIENTS
from dpsco_core.bounds.user.phased_erm import FULL_BATCH_RISK, MODE_A_RISK
from dpsco_core.bounds.user.phased_sgd import ONE_CHAIN_RISK, PHASED_SGD_RISK
from dpsco_core.bounds.user.quoted import QUOTED_RATES, USER_LOWER
from dpsco_core.bounds.user.rates import LETTERS, USER_RATES

_PROVEN = (ONE_CHAIN_RISK, FULL_BATCH_RISK, PHASED_SGD_RISK, MODE_A_RISK)
UPPER_USER_BOUNDS: tuple[Bound, ...] = (
    *USER_RATES,
    *QUOTED_RATES,
    *lettered(LETTERS, _PROVEN),
    *USER_GRADIENTS,
)
USER_BOUNDS: tuple[Bound, ...] = (*UPPER_USER_BOUNDS, *USER_LOWER)
