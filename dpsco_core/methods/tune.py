"""Parameters of a run: given, those of a theorem, or those that a model of accuracy predicts best.

None of them looks at data. A practical tuning names its candidates and what it predicts for each;
`dpsco_core.base.search` finds the best.
"""

import math
from collections.abc import Callable
from typing import TypeVar

from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.base import Tuning

Parameter = TypeVar("Parameter")

MOST_STEPS = 100_000  # beyond, a run is no longer a matter of minutes anywhere


def chosen(
    given: Parameter | None,
    tuning: Tuning,
    *,
    theory: Callable[[], Parameter],
    practical: Callable[[], Parameter],
) -> Parameter:
    """Return a parameter as it is given, or else as the tuning chooses it from the setting."""
    if given is not None:
        return given
    return theory() if tuning == "theory" else practical()


def whole_steps(steps: float) -> int:
    """Return the printed real number of steps as an integer of at least 1.

    Raises `NotApplicable` if it is too large to run.
    """
    if not steps <= MOST_STEPS:
        raise NotApplicable(
            f"The theorem's number of steps is {steps:,.0f}, and at most {MOST_STEPS:,} can run.",
            tuning="practical",
        )
    return max(1, math.floor(steps))


def finite(value: float, what: str) -> float:
    """Return `value`, a certified constant that a theorem's parameters need.

    Raises `NotApplicable` if it is infinite or 0: the problem does not certify it.
    """
    if not 0 < value < math.inf:
        raise NotApplicable(
            f"The theorem's parameters need {what}, which the problem does not certify.",
            tuning="practical",
        )
    return value
