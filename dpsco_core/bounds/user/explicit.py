r"""Explicit bounds on the mean excess risk at user level, every constant in place.

**Proven**, for convex L-Lipschitz losses of i.i.d. items and a set of diameter R: the two baselines
N1 and N2 (theory/lowy-liu-asi.md, 2.7); calibrated Algorithm 1 and Mode A of Algorithm 3 at radii
that no user leaves but with a stated probability (`iterate_spread`, `uniform_gradient_spread`).
**Not covered**: smaller radii that work in practice, subsampling (Mode B), and the paper's own
constants, whose proof hides them. Each bound holds for the schedule that it is given, so that the
best of some schedules is one too: none of them looks at data.

*A filter costs what it removes.* Run the same method with plain means and without a test on the
same data and noise. Off an event B (a test that fails on points that are all close, or points that
are not) both runs agree, and L R bounds the excess risk: it is at most that of the plain run plus
P(B) L R. For the radii of (R1) at all points at once B does not depend on the run.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from dpsco_core.base.cards import BoundCard
from dpsco_core.bounds.base import Bound, Hypothesis
from dpsco_core.bounds.conditions import GAUSSIAN_BUDGET
from dpsco_core.bounds.euclidean.conditions import SAMPLE_SMOOTH, named
from dpsco_core.bounds.euclidean.tools import OTHER_PARAMETERS
from dpsco_core.bounds.user.conditions import user_level
from dpsco_core.bounds.user.rates import ANY_EPSILON, LOSSES, NEEDS
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.methods.user.printed_schedules import ErmSchedule, SgdSchedule
from dpsco_core.problems.base import Setting

Terms5 = tuple[float, float, float, float, float]
VOID: Terms5 = (math.inf, math.inf, math.inf, math.inf, math.inf)
TERMS = ("start", "sampling", "noise between phases", "last noise", "failure of the filter")
SMOOTH_NEEDS = (*NEEDS, "sample_smoothness")
PHASES = tuple(range(1, 13))
FAILURE = r"+P(B)LR,\ P(B)=\frac1{10\sqrt{nm}}"
START = r",\ D=\tfrac R2"
BEST = (
    "The mean excess risk with every constant proven, from the centre of the set and at the "
    "schedule that makes this bound smallest on a grid. " + OTHER_PARAMETERS
)
PLAIN = (GAUSSIAN_BUDGET, *LOSSES, SAMPLE_SMOOTH)
FILTERED = (ANY_EPSILON, *LOSSES, SAMPLE_SMOOTH)


@dataclass(frozen=True, kw_only=True)
class ExplicitRisk:
    """The smallest bound over the schedules tried, and the schedule that has it."""

    # start, sampling, noise between phases, noise of the last phase, failure of the filter; all
    # infinite where no schedule can run
    terms: Terms5
    schedule: SgdSchedule | ErmSchedule | None

    @property
    def value(self) -> float:
        """The bound."""
        return math.fsum(self.terms)


Risk = Callable[[UserLevel], ExplicitRisk]


def allowed_failure(at: UserLevel) -> float:
    r"""Return the P(B) that the proven radii and tests are set to: :math:`\frac1{10\sqrt{nm}}`.

    It costs logarithms in the radii, and a tenth of the sampling error in the bound.
    """
    return 0.1 / math.sqrt(at.total)


def value(found: ExplicitRisk) -> float:
    return found.value


def from_centre(risk: Callable[..., ExplicitRisk]) -> Risk:
    """Return `risk` for a start at the centre, half the diameter from every point; kept."""

    @lru_cache(maxsize=2000)
    def at_centre(at: UserLevel) -> ExplicitRisk:
        found: ExplicitRisk = risk(at, distance=at.diameter / 2)
        return found

    return at_centre


def fits(risk: Risk) -> Hypothesis:
    """Return the condition that the filter's test can pass in some schedule."""

    def check(setting: Setting) -> str:
        at = user_level(setting)
        if at is None or not math.isfinite(at.smoothness) or risk(at).schedule is not None:
            return ""
        return (
            f"The filter's test needs more users to pass than n={at.n} at epsilon={at.epsilon:g} "
            f"and delta={at.delta:g}, even in a single phase of few steps."
        )

    return Hypothesis(text="enough users for the filter's test", check=check)


def row(
    card: BoundCard,
    risk: Risk,
    level_of: Callable[[Setting], UserLevel | None],
    hypotheses: tuple[Hypothesis, ...],
) -> Bound:
    def terms(setting: Setting) -> tuple[float, ...]:
        at = level_of(setting)
        return VOID if at is None else risk(at).terms

    return Bound(card=card, evaluate=named(TERMS, SMOOTH_NEEDS, terms), hypotheses=hypotheses)
