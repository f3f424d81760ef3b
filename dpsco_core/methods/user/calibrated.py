r"""The recommended schedules at user level: calibrated Algorithms 1 and 3, and two baselines.

The users halve from phase to phase, the first phase has the full step size, and the noise is from
`dpsco_core.privacy.filter.plan` (theory/lowy-liu-asi.md, 2.1 to 2.3). The baselines spend no budget
on a test: N1 is phased SGD with one chain, N2 phased ERM with full batches, each with the
sensitivity of a user's whole block (theory/lowy-liu-asi.md, 2.7). No parameter looks at data.
"""

import math
from typing import Literal

from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.methods.user.level import (
    UserLevel,
    gaussian_multiplier,
    group_spread,
    uniform_gradient_spread,
)
from dpsco_core.methods.user.printed_schedules import (
    ErmPhase,
    ErmSchedule,
    SgdPhase,
    SgdSchedule,
    balanced_regulariser,
    erm_steps,
    printed_regulariser,
    printed_step,
    regularised_steps,
)
from dpsco_core.privacy.filter.plan import (
    Tuning,
    least_phase_count,
    phase_plan,
    recommended_count,
    single_test_plan,
)
from dpsco_core.privacy.filter.robust_mean import RobustFilter

# How a filter's radius is chosen. "proven": a point is removed only with a stated probability.
# "typical": the radius is usually large enough.
Radius = Literal["proven", "typical"]
SPREAD_FAILURE = 0.01  # the probability that a proven radius is too small
# The probabilities that a phase halts although all its points are equal: for groups, and for users.
GROUPS_HALT = 0.005
USERS_HALT = 0.01
DECAY = 3.0  # p of `full_batch`, which must exceed 2
# The filter at score radius 1, whose noise is scaled to the radius of a phase.
UNIT_FILTER = RobustFilter(score_radius=1.0, filter_radius=1.0)
ANY_SHARE = 1e-9  # Any share of the points may remain for which a sensitivity is proven.


def halving_users(n: int, phases: int) -> tuple[int, ...]:
    r"""Return :math:`n_i=\lfloor n2^{-i}\rfloor` users of phase i; the last phase has all others.

    Examples
    --------
    >>> halving_users(100, 3), halving_users(5, 1)
    ((50, 25, 25), (5,))
    """
    require(phases >= 1, "phases", "a positive integer", phases)
    if n < 1 << (phases - 1):
        raise NotApplicable(
            f"Every phase needs a user: {phases} phases that halve need {1 << (phases - 1)} users.",
            changes=(("n", 1 << (phases - 1)),),
        )
    early = [n >> i for i in range(1, phases)]
    return (*early, n - sum(early))


def plain_sensitivity(case: UserLevel, step: float, groups: int) -> float:
    r"""Return :math:`\min(R,2\eta_iLm)/C`, the sensitivity of the average of C average iterates.

    `step` is the step size eta_i, and `groups` the number C of groups. A user owns m of the steps
    of one group, and no other step increases distances, because :math:`\eta_i\le2/\beta`.
    """
    return min(case.diameter, 2 * step * case.lipschitz * case.m) / groups


def calibrated_sgd(
    case: UserLevel,
    *,
    phases: int = 3,  # l, the number of phases
    decay: float = 1.25,  # p, the decay of the step sizes from phase to phase
    # :math:`\eta`, at most :math:`2/\beta`; None for
    # :math:`\min\{R/(L\sqrt{dmn\varepsilon}),1/\beta\}`.
    step: float | None = None,
    halt: float = GROUPS_HALT,  # the failure probability of a phase's test
    spread_failure: float = SPREAD_FAILURE,  # the failure probability of a phase's proven radius
) -> SgdSchedule:
    r"""Return the schedule of calibrated Algorithm 1 (theory/lowy-liu-asi.md, 2.1).

    :math:`\eta_i=\eta2^{-p(i-1)}`, C groups of :math:`N_i=\lfloor n_i/C\rfloor` users, the
    proven :math:`\tau_i` of `group_spread`, and
    :math:`\sigma_i=\tau_i\Delta g` of the single-test release.

    Raises `NotApplicable` if a phase has fewer users than groups.
    """
    tuning = Tuning(false_halt=halt, least_kept=ANY_SHARE)
    groups = recommended_count(case.epsilon, case.delta, tuning)
    plan = single_test_plan(groups, case.epsilon, case.delta, keep=UNIT_FILTER, tuning=tuning)
    size = _step(case, step)
    schedule = []
    for i, users in enumerate(halving_users(case.n, phases)):
        members = users // groups
        if members < 1:
            fewest_users = groups << (phases - 1)
            raise NotApplicable(
                f"Phase {i + 1} has {users} users for C={groups} groups.", n=fewest_users
            )
        eta, steps = size * math.pow(2, -decay * i), members * case.m
        tau = group_spread(eta, case.lipschitz, steps, groups, spread_failure)
        schedule.append(_sgd_phase(users, members, steps, eta, tau, plan.release.noise_std * tau))
    return SgdSchedule(groups=groups, items=case.m, phases=tuple(schedule))


def one_chain(
    case: UserLevel, *, phases: int = 3, decay: float = 1.25, step: float | None = None
) -> SgdSchedule:
    r"""Return the schedule of the baseline N1: one-pass SGD on all users of a phase, untested.

    Its noise is :math:`\sigma_i=\min(R,2\eta_iLm)\,g`, with g of `gaussian_multiplier`; the other
    parameters are those of `calibrated_sgd`.
    """
    size, multiplier = _step(case, step), gaussian_multiplier(case.epsilon, case.delta)
    schedule = []
    for i, users in enumerate(halving_users(case.n, phases)):
        eta = size * math.pow(2, -decay * i)
        noise = plain_sensitivity(case, eta, 1) * multiplier
        schedule.append(_sgd_phase(users, users, users * case.m, eta, math.inf, noise))
    return SgdSchedule(groups=1, items=case.m, phases=tuple(schedule))


def _step(case: UserLevel, step: float | None) -> float:
    """Return the step size: the printed one, at most 1/beta, or a given one, at most 2/beta."""
    if step is None:
        step = printed_step(case)
        return min(step, 1 / case.smoothness) if case.smoothness > 0 else step
    require(step > 0, "step", "positive", step)
    require(step * case.smoothness <= 2 * (1 + 1e-9), "step", "at most 2/beta", step)
    return step


def _sgd_phase(
    users: int, members: int, steps: int, eta: float, tau: float, noise: float
) -> SgdPhase:
    """Return a phase of a schedule, from its numbers in the order of `SgdPhase`."""
    return SgdPhase(
        users=users,
        group_users=members,
        steps=steps,
        step_size=eta,
        score_radius=tau,
        noise_std=noise,
    )


def erm_radius(case: UserLevel, radius: Radius, failure: float = SPREAD_FAILURE) -> float:
    r"""Return the score radius tau of a filter of users' mean gradients.

    The "proven" radius holds for all users and points at once but with probability `failure`
    (R1); the "typical" one is :math:`3L/\sqrt m`.
    """
    if radius == "typical":
        return 3 * case.lipschitz / math.sqrt(case.m)
    return uniform_gradient_spread(case, failure)


def full_batch(
    case: UserLevel,  # the constants of the problem, with a finite smoothness
    *,
    phases: int = 3,  # l, the number of phases
    # :math:`\lambda`; None for :math:`\frac1R\sqrt{\frac{L^2}{nm}+\frac{d\sigma_1^2}{T_1}}`
    regulariser: float | None = None,
    steps_factor: float = 1.0,  # :math:`c_T`, which multiplies every number of steps
    # the choice of the radius (see `erm_radius`); None for the baseline without a filter
    radius: Radius | None = "typical",
    halt: float = USERS_HALT,  # the failure probability of a phase's test
    # The failure probability of the proven radius of all phases.
    spread_failure: float = SPREAD_FAILURE,
    # whether an error names the number of users that would suffice, which takes a search
    advice: bool = True,
) -> ErmSchedule:
    r"""Return calibrated Algorithm 3 on full batches; `radius` None gives the baseline N2.

    :math:`K_i=n_i`, :math:`\lambda_i=\lambda2^{p(i-1)}` and
    :math:`\sigma_i=2\tau\Delta\sqrt{T_i}g` from `phase_plan`; without a filter
    :math:`\sigma_i=\frac{2L}{n_i}\sqrt{T_i}\,g(\varepsilon,\delta)` (theory/lowy-liu-asi.md, 2.2
    and 2.7).

    Raises `NotApplicable` if the loss is not smooth, or a phase has too few users for the test.
    """
    if not math.isfinite(case.smoothness):
        raise NotApplicable("Accelerated steps need a smooth loss; smooth it first (Theorem 4.1).")
    tau = math.inf if radius is None else erm_radius(case, radius, spread_failure)

    def noise_of(users: int, steps: int) -> float:
        """Return the noise of a release over the root of the number of steps."""
        if radius is None:
            multiplier = gaussian_multiplier(case.epsilon, case.delta)
            return 2 * case.lipschitz / users * multiplier
        if users < 2:
            raise NotApplicable("A test of one user alone hides nothing.")
        tuning = phase_tuning(halt)
        plan = phase_plan(
            users, steps, case.epsilon, case.delta, keep=UNIT_FILTER, tuning=tuning, advice=advice
        )
        return 2 * tau * plan.release.noise_std / math.sqrt(steps)

    def phase(users: int, weight: float) -> ErmPhase:
        """Return a phase with its number of steps and its noise, for users and a regulariser."""
        steps = regularised_steps(case, weight, steps_factor)
        std = noise_of(users, steps) * math.sqrt(steps)
        return ErmPhase(users=users, regulariser=weight, steps=steps, batch=users, noise_std=std)

    split = halving_users(case.n, phases)
    base = printed_regulariser(case) if regulariser is None else regulariser
    guess = erm_steps(case, base, steps_factor)
    try:
        if regulariser is None:
            private = case.d * noise_of(split[0], guess) ** 2
            base = balanced_regulariser(case, private, case.diameter)
        schedule = tuple(phase(k, base * math.pow(2, DECAY * i)) for i, k in enumerate(split))
    except NotApplicable as refused:
        if radius is None or not advice:
            raise
        fewest_users = full_batch_users(case, phases=phases, steps=2 * guess, halt=halt)
        raise NotApplicable(refused.reason, n=fewest_users) from refused
    return ErmSchedule(tau=tau, items=case.m, phases=schedule)


def full_batch_users(case: UserLevel, *, phases: int, steps: int, halt: float = USERS_HALT) -> int:
    """Return the least number of users with which every phase of `full_batch` can have a test."""
    tuning = phase_tuning(halt)
    fewest_users = least_phase_count(
        steps, case.epsilon, case.delta, keep=UNIT_FILTER, tuning=tuning
    )
    if fewest_users is None:
        raise NotApplicable("The filter needs more than a billion users a phase.")
    return fewest_users << (phases - 1)


def phase_tuning(halt: float) -> Tuning:
    """Return the settings of a phase's test: 0.3 of epsilon, and its halting probability."""
    return Tuning(test_share=0.3, false_halt=halt, least_kept=ANY_SHARE)
