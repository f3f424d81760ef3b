"""Every bound at user level, in the order of a catalogue: risks, then item gradients.

The slug names the method, then the form: nothing for the rate, ``-proof`` as the proof has it,
``-paper`` as printed, ``-explicit`` with every constant proven, ``-gradients`` for the number of
item gradients.
"""

from __future__ import annotations

from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.user.explicit import USER_EXPLICIT
from dpsco_core.bounds.user.gradients import USER_GRADIENTS
from dpsco_core.bounds.user.rates import USER_LOWER, USER_RATES

UPPER_USER_BOUNDS: tuple[Bound, ...] = (*USER_RATES, *USER_EXPLICIT, *USER_GRADIENTS)
USER_BOUNDS: tuple[Bound, ...] = (*UPPER_USER_BOUNDS, *USER_LOWER)
