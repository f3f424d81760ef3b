"""Parameters of a run: given, those of a theorem, or those that a model of accuracy predicts best.

None of them looks at data. A practical tuning lists candidates and predicts the error of each.
`dpsco_core.base.search` finds the best of them, and `choose_cheapest` the cheapest that is nearly
as good.
"""

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import smallest
from dpsco_core.methods.base import Tuning

Parameter = TypeVar("Parameter")

MOST_STEPS = 100_000  # Beyond this many steps a run takes more than minutes on any machine.


def choose_parameter(
    parameter: Parameter | None,
    tuning: Tuning,
    *,
    theory: Callable[[], Parameter],
    practical: Callable[[], Parameter],
) -> Parameter:
    """Return a parameter as given, or else as the tuning chooses it."""
    if parameter is not None:
        return parameter
    return theory() if tuning == "theory" else practical()


def choose_cheapest(
    candidates: Sequence[Parameter],
    risk: Callable[[Parameter], float],  # the model's prediction of the risk of a candidate
    cost: Callable[[Parameter], float],  # the running time of a candidate, in any unit
    *,
    # A function of the least risk that returns the largest risk that is good enough.
    risk_limit: Callable[[float], float],
    what: str,  # the candidates in words, for the error message
) -> Parameter:
    """Return the cheapest candidate within the risk limit; ties go to the lower risk.

    Raises `NotApplicable` where no candidate has a finite predicted risk.
    """
    largest_risk = risk_limit(risk(smallest(candidates, risk, what=what)))
    good = [candidate for candidate in candidates if risk(candidate) <= largest_risk]
    return min(good, key=lambda candidate: (cost(candidate), risk(candidate)))


def whole_steps(steps: float) -> int:
    """Return a theorem's real number of steps, rounded down to an integer of at least 1.

    Raises `NotApplicable` if it is too large to run.
    """
    if not steps <= MOST_STEPS:
        raise NotApplicable(
            f"The theorem's number of steps is {steps:,.0f}, and at most {MOST_STEPS:,} can run.",
            tuning="practical",
        )
    return max(1, math.floor(steps))


def require_finite(value: float, what: str) -> float:
    """Return `value`, a constant that a theorem's parameters need and the problem certifies.

    Raises `NotApplicable` if it is infinite or 0, because the problem then does not certify it.
    """
    if not 0 < value < math.inf:
        raise NotApplicable(
            f"The theorem's parameters need {what}, which the problem does not certify.",
            tuning="practical",
        )
    return value
