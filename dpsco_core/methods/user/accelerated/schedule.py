r"""The phases of user-level accelerated descent: users, regulariser, steps, filter and noise.

Algorithm 3 of Lowy, Liu and Asi (2024) with the recommended parameters of theory/lowy-liu-asi.md,
2.3: :math:`n_i = \lfloor n2^{-i}\rfloor` users (the last phase takes the rest), :math:`\lambda_i =
\lambda2^{p(i-1)}` at p = 3, full batches, or in the tight calibration a half or a quarter of the
users where that takes less noise. None of it looks at data.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import least_count, smallest_or
from dpsco_core.methods.user.accelerated.batches import batch_plan
from dpsco_core.methods.user.accelerated.model import DECAY, Choice, Layout
from dpsco_core.methods.user.accelerated.sgd import Curvature, stage_lengths
from dpsco_core.methods.user.calibrated import halving_users
from dpsco_core.methods.user.level import UserLevel, gradient_spread
from dpsco_core.methods.user.printed_schedules import (
    balanced_regulariser,
    printed_regulariser,
    regularised_steps,
)
from dpsco_core.privacy.filter.plan import FilteredRelease, Tuning, phase_plan
from dpsco_core.privacy.filter.robust_mean import RobustFilter

SHARES = (0.2, 0.3, 0.4, 0.5)  # candidate shares of epsilon for the tests; the best is chosen
FALSE_HALT = 0.01  # the probability that a phase halts although all users' gradients are equal
SPREAD_FAILURE = 0.01  # gamma_0, the failure probability in condition (R1)
PRACTICAL_RADIUS = 3.0  # tau, the practical score radius, in units of L/sqrt(m)
ROOM = 1e-9  # the relative margin for rounding in `widest_radius`
MOST_PHASES = 4  # the largest number of phases that are tried
MOST_USERS = 1 << 30  # the largest number of users that is considered
MOST_SEPARATE = 8  # Beyond this many steps AboveThreshold has less noise than separate tests.

# A function of the numbers of users and steps that returns the filter of a phase, or None if no
# filter is private.
Filters = Callable[[int, int], FilteredRelease | None]


@dataclass(frozen=True, kw_only=True)
class AcceleratedPhase:
    """One phase: a run of Algorithm 2."""

    start: int  # the index of the first user
    stop: int  # one more than the index of the last user
    regulariser: float  # λ_i, the weight of the regulariser
    stages: tuple[int, ...]  # the number of steps in each restart of AC-SA
    filter: FilteredRelease  # the test, filter and noise of all steps of the phase

    @property
    def users(self) -> int:
        """The number of users of the phase."""
        return self.stop - self.start

    @property
    def steps(self) -> int:
        """The total number of steps over all restarts, which determines the privacy cost."""
        return sum(self.stages)

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise on every coordinate of every gradient."""
        return self.filter.release.noise_std


def halving_layouts(n: int) -> tuple[Layout, ...]:
    """Return layouts of one to four phases for n users: users halve, and regularisers grow."""
    largest_count = min(MOST_PHASES, n.bit_length() - 1)
    return tuple(
        Layout(users=halving_users(n, count), exponents=tuple(DECAY * i for i in range(count)))
        for count in range(1, largest_count + 1)
    )


def theory_radius(case: UserLevel, steps: int) -> float:
    r"""Return the score radius tau of condition (R1) for T steps, at most `widest_radius`.

    A user's mean gradient is farther than tau from the common mean with probability at most
    :math:`\gamma = \gamma_0/(nT)`.
    """
    proven = gradient_spread(case.m, case.lipschitz, SPREAD_FAILURE / (case.n * steps))
    return min(proven, widest_radius(case))


def practical_tau(case: UserLevel) -> float:
    r"""Return the practical score radius :math:`\tau = 3L/\sqrt m`, at most `widest_radius`."""
    return min(PRACTICAL_RADIUS * case.lipschitz / math.sqrt(case.m), widest_radius(case))


def widest_radius(case: UserLevel) -> float:
    r"""Return the largest useful radius tau: L, with a margin for rounding.

    Gradients of norm L differ by at most 2L = 2 tau, so that a larger radius filters nothing. L is
    at most :math:`3L/\sqrt m` (theory/lowy-liu-asi.md, 2.2, item 7) for up to nine items per user.
    """
    return case.lipschitz * (1 + ROOM)


def gradient_filter(tau: float) -> RobustFilter:
    """Return the filter of the tight calibration, at a score radius tau.

    It has form B with weights, b = 1, and a filter radius of 2 tau.
    """
    return RobustFilter(score_radius=2 * tau, filter_radius=2 * tau)


def calibrated_filter(
    case: UserLevel, tau: float, users: int, steps: int
) -> FilteredRelease | None:
    """Return the test, filter and noise of a phase with the least noise; None if none is possible.

    AboveThreshold over full batches (Mode A) is compared with separate tests on batches of all,
    half or a quarter of the users (Mode B), at several divisions of epsilon between test and noise.
    """
    chosen = _best_division(users, steps, case.epsilon, case.delta)
    if chosen is None:
        return None
    share, batch = chosen
    return _plan_filter(users, steps, case.epsilon, case.delta, share, batch, gradient_filter(tau))


@lru_cache(maxsize=65536)
def _best_division(
    users: int, steps: int, epsilon: float, delta: float
) -> tuple[float, int] | None:
    """Return the tests' share of epsilon and the batch size with the least noise, or None.

    A batch size of 0 stands for AboveThreshold over all users. None: no division is private.
    """
    if users < 2:
        return None
    candidates: list[tuple[float, float, int]] = []
    batches = {users, users // 2, users // 4} if steps <= MOST_SEPARATE else set()
    for share in SHARES:
        for batch in (0, *sorted(batches)):
            plan = _plan_filter(users, steps, epsilon, delta, share, batch, gradient_filter(0.5))
            if plan is not None:
                candidates.append((plan.release.noise_std, share, batch))
    chosen = smallest_or(candidates, lambda candidate: candidate[0], None)
    return None if chosen is None else (chosen[1], chosen[2])


def _plan_filter(
    users: int,
    steps: int,
    epsilon: float,
    delta: float,
    share: float,
    batch: int,
    keep: RobustFilter,
) -> FilteredRelease | None:
    """Return the filter plan whose tests have the given share of epsilon; None if not private.

    The plan is in Mode B if `batch` is positive, and otherwise in Mode A.
    """
    tuning = Tuning(test_share=share, false_halt=FALSE_HALT, sharp=True)
    if batch:
        return batch_plan(users, batch, steps, epsilon, delta, keep=keep, tuning=tuning)
    try:
        return phase_plan(users, steps, epsilon, delta, keep=keep, tuning=tuning)
    except NotApplicable:
        return None


def least_users(filters: Filters, steps: int) -> int | None:
    """Return the least number of users for which a phase has a filter; None beyond `MOST_USERS`."""
    return least_count(lambda users: filters(users, steps) is not None, 1, 2, MOST_USERS)


def too_few_users_error(n: int, fewest_users: int | None) -> NotApplicable:
    """Return the error that n users are too few for a test; `fewest_users` would be enough."""
    if fewest_users is None:
        return NotApplicable(
            f"A test that hides one of {n} users leaves too few sure to be in the mean, and so "
            "does one of a billion.",
            nearest="raise epsilon or delta",
        )
    return NotApplicable(
        f"A test that hides one of {n} users leaves too few sure to be in the mean; it needs "
        f"{fewest_users}.",
        n=fewest_users,
        otherwise="raise epsilon",
    )


def recommended_phases(
    case: UserLevel,
    # a function of tau, users and steps
    filters: Callable[[float, int, int], FilteredRelease | None],
    phases: int,
    *,
    # D, the distance of the start from the minimiser; by default the diameter R
    distance: float | None = None,
    first_user: int = 0,  # index of the first user
) -> tuple[AcceleratedPhase, ...] | None:
    r"""Return `phases` phases with the recommended schedule; None if one has no filter.

    .. math:: \lambda = \frac1D\sqrt{\frac{L^2}{nm}+\frac{d\sigma_1^2}{T_1}}, \qquad
        T_i = \Big\lceil\Big(1+\sqrt{\tfrac{\beta+\lambda_i}{\lambda_i}}\Big)\ln(ndm)\Big\rceil

    and stages of `stage_lengths` at :math:`V_0 = LR`, :math:`V^2 = d\sigma_i^2`. The radius of each
    phase is `theory_radius` at its own number of steps.
    """
    reach = case.diameter if distance is None else distance
    split = halving_users(case.n, phases)
    base = printed_regulariser(case) * case.diameter / reach
    guess = regularised_steps(case, base)
    opening = filters(theory_radius(case, guess), split[0], guess)
    if opening is None:
        return None
    private = case.d * opening.release.noise_std**2 / guess
    base = balanced_regulariser(case, private, reach)
    schedule, start = [], first_user
    for i, users in enumerate(split):
        regulariser = base * 2.0 ** (DECAY * i)
        steps = regularised_steps(case, regulariser)
        chosen = filters(theory_radius(case, steps), users, steps)
        if chosen is None:
            return None
        mu = regulariser + case.strong_convexity
        objective = Curvature(
            strong_convexity=mu, smoothness=max(mu, regulariser + case.smoothness)
        )
        variance = case.d * chosen.release.noise_std**2
        schedule.append(
            AcceleratedPhase(
                start=start,
                stop=start + users,
                regulariser=regulariser,
                stages=stage_lengths(steps, objective, case.unit, variance),
                filter=chosen,
            )
        )
        start += users
    return tuple(schedule)


def build_phases(choice: Choice, filters: Filters) -> tuple[AcceleratedPhase, ...]:
    """Return the phases of the practical tuning's choice, each of one stage.

    Each phase reads the users after those of the phase before it. `filters` returns the filter for
    a number of users and of steps.
    """
    phases, start = [], 0
    for users, exponent in zip(choice.layout.users, choice.layout.exponents, strict=True):
        chosen = filters(users, choice.steps)
        assert chosen is not None
        phases.append(
            AcceleratedPhase(
                start=start,
                stop=start + users,
                regulariser=choice.regulariser * 2.0**exponent,
                stages=(choice.steps,),
                filter=chosen,
            )
        )
        start += users
    return tuple(phases)
