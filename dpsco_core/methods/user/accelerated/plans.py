r"""The plans of user-level accelerated descent under each calibration and tuning.

As printed, Algorithms 2 and 3 test at the threshold :math:`\frac45K` with Laplace noise of scales
:math:`8/\varepsilon` and :math:`16/\varepsilon`, let points enter by coins, and have
:math:`\sigma_i = 1000\,\tau\sqrt{T_i}\ln(nde^\varepsilon/\delta)/(\varepsilon n_i)`. The printed
:math:`K_i` exceeds :math:`n_i` at every practical size, and a subsampled run of these constants has
no proof (theory/lowy-liu-asi.md, 2.2, items 4 and 8): every step uses all users of its phase. That
is private where the printed noise is at least what F5 requires at the floor of the printed test,
which is checked.
"""

import math
from dataclasses import replace
from functools import lru_cache, partial

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import least_count
from dpsco_core.methods.base import Calibration
from dpsco_core.methods.euclidean.lipschitz import Losses
from dpsco_core.methods.user.accelerated.model import (
    STEP_COUNTS,
    Choice,
    Landscape,
    Layout,
    choose_layout,
)
from dpsco_core.methods.user.accelerated.run import AcceleratedPhases
from dpsco_core.methods.user.accelerated.schedule import (
    MOST_PHASES,
    MOST_USERS,
    AcceleratedPhase,
    build_phases,
    calibrated_filter,
    practical_tau,
    recommended_phases,
    too_few_users_error,
)
from dpsco_core.methods.user.accelerated.schedule import least_users as least_in_a_phase
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.methods.user.printed_schedules import (
    ErmSchedule,
    best_decay,
    erm_condition,
    least_users,
    printed_batch,
    printed_erm,
    printed_noise,
)
from dpsco_core.privacy.filter.plan import FilteredRelease
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.privacy.filter.sensitivity import SCORE_SENSITIVITY, coins_sensitivity, member_floor
from dpsco_core.privacy.mechanisms.tested import NoisyTest, TestedGaussian
from dpsco_core.problems.base import Setting


def filter_of(
    calibration: Calibration, case: UserLevel, tau: float, users: int, steps: int
) -> FilteredRelease | None:
    """Return the test, filter and noise of a phase in a calibration; None if none is private."""
    make = calibrated_filter if calibration == "tight" else printed_filter
    return make(case, tau, users, steps)


def practical_plan(
    setting: Setting,
    case: UserLevel,
    land: Landscape,
    losses: Losses,
    calibration: Calibration,
    layouts: tuple[Layout, ...],
) -> AcceleratedPhases:
    """Return the plan with the least modelled risk over the given layouts.

    Raises `NotApplicable`, with a number of users that is enough, if no phase can have a test.
    """
    filters = partial(filter_of, calibration, case, practical_tau(case))
    choice = practical_choice(case, land, calibration, layouts)
    if choice is None:
        raise too_few_users_error(case.n, least_in_a_phase(filters, 1))
    phases = build_phases(choice, filters)
    return AcceleratedPhases(
        setting=setting,
        losses=losses,
        smoothness=land.smoothness,
        strong_convexity=land.strong_convexity,
        phases=phases,
        modelled_risk=choice.risk,
        notes=(capped_note(case, phases[0]),) if calibration == "paper" else (),
    )


@lru_cache(maxsize=1024)
def practical_choice(
    case: UserLevel, land: Landscape, calibration: Calibration, layouts: tuple[Layout, ...]
) -> Choice | None:
    """Return the practical layout, steps and regulariser; None if no test is possible."""
    tau = practical_tau(case)

    def noise(users: int, steps: int) -> float:
        """Return the noise's standard deviation in a phase; infinite if it can have no test."""
        plan = filter_of(calibration, case, tau, users, steps)
        return math.inf if plan is None else plan.release.noise_std

    if case.n < 2 or math.isinf(noise(case.n, STEP_COUNTS[0])):
        return None
    return choose_layout(land, layouts, noise)


def theory_plan(
    setting: Setting, case: UserLevel, losses: Losses, calibration: Calibration
) -> AcceleratedPhases:
    """Return the recommended schedule, or the printed one with ``calibration="paper"``.

    Raises `NotApplicable` if two phases cannot have tests, or the printed constants cannot run.
    """
    if calibration == "paper":
        return plan_phases(setting, case, losses, calibration, printed_phases(case))
    convex = replace(case, strong_convexity=0.0)
    for count in range(min(MOST_PHASES, case.n.bit_length() - 1), 1, -1):
        phases = recommended_phases(convex, partial(calibrated_filter, case), count)
        if phases is not None:
            return plan_phases(setting, case, losses, calibration, phases)
    raise _no_theory_error(case)


def plan_phases(
    setting: Setting,
    case: UserLevel,
    losses: Losses,
    calibration: Calibration,
    phases: tuple[AcceleratedPhase, ...],
) -> AcceleratedPhases:
    """Return the plan of given phases, whose steps use the convexity of the regularisers alone."""
    return AcceleratedPhases(
        setting=setting,
        losses=losses,
        smoothness=case.smoothness,
        strong_convexity=0.0,
        phases=phases,
        notes=(capped_note(case, phases[0]),) if calibration == "paper" else (),
    )


def _no_theory_error(case: UserLevel) -> NotApplicable:
    """Return the error of the recommended schedule, with the number of users that it needs."""

    def runs(n: int) -> bool:
        """Return whether the recommended schedule runs for n users."""
        part = replace(case.with_users(n), strong_convexity=0.0)
        filters = partial(calibrated_filter, part)
        return n >= 4 and recommended_phases(part, filters, 2) is not None

    fewest_users = least_count(runs, case.n, max(8, 2 * case.n), MOST_USERS)
    if fewest_users is None:
        return too_few_users_error(case.n, None)
    return NotApplicable(
        f"The recommended schedule has two phases at least, and the tests that hide one of their "
        f"users need {fewest_users} users; n={case.n}.",
        n=fewest_users,
        otherwise="tuning=practical",
    )


MOST_EPSILON = 10.0  # the largest epsilon for which the printed constants are stated


def printed_filter(case: UserLevel, tau: float, users: int, steps: int) -> FilteredRelease | None:
    r"""Return the printed test and noise of a phase; None if they are not proven private.

    The tests have half of epsilon, and the noise the other half. A quarter of delta each goes to
    the floor of the tests, the noise, the coins' changes and their number. The certificate states
    the sensitivity at which its noise is the printed one, which is at least the sensitivity that F5
    (theory/lowy-liu-asi.md, 2.0) proves.
    """
    if users < 2:
        return None
    keep = RobustFilter(score_radius=2 * tau, filter_radius=2 * tau, upper=2 / 3, inclusion="coins")
    part = case.delta / 4
    test = NoisyTest(
        kind="sequence",
        steps=steps,
        threshold=0.8 * users,
        epsilon=case.epsilon / 2,
        failure=part,
        sensitivity=SCORE_SENSITIVITY,
    )
    size_failure = part / steps / 2
    floor = test.score_floor
    proven = coins_sensitivity(keep, users, floor, failure=part / steps, size_failure=size_failure)
    if math.isinf(proven):
        return None
    proven_release = TestedGaussian(
        test=test, l2_sensitivity=proven, epsilon=case.epsilon / 2, delta=part, failure=2 * part
    )
    room = printed_noise(case, tau, users, steps) / proven_release.noise_std
    if room < 1:
        return None
    return FilteredRelease(
        keep=keep,
        count=users,
        smallest_weight=member_floor(keep, users, floor, size_failure),
        release=replace(proven_release, l2_sensitivity=room * proven),
    )


def printed_phases(case: UserLevel) -> tuple[AcceleratedPhase, ...]:
    r"""Return all :math:`\lfloor\log_2n\rfloor` phases of Algorithm 3 with Theorem C.3's numbers.

    The decay q of the numbers of users is that with the most users in the last phase. Numbers of
    users are rounded down, and numbers of steps up.

    Raises `NotApplicable`, with a number of users that is enough, if Theorems C.1 and C.3 do not
    hold or their proof does not cover a phase.
    """
    if case.epsilon > MOST_EPSILON:
        raise NotApplicable(
            f"The printed constants are for epsilon of at most 10, and epsilon={case.epsilon:g}.",
            nearest="set epsilon=10, or calibration=tight",
            changes=(("epsilon", MOST_EPSILON),),
        )
    if case.delta * case.total >= 1:
        raise NotApplicable(
            f"The theorem needs delta below 1/(nm), and delta={case.delta:g} with nm={case.total}.",
            calibration="tight",
        )
    if case.n < 2:
        raise NotApplicable(
            f"The phases are log2(n) in number, and n={case.n}.", n=2, otherwise="calibration=tight"
        )
    schedule = printed_erm(case, best_decay(case.n))
    phases = _phases(case, schedule)
    left, right = erm_condition(case, best_decay(case.n))
    if left <= right or phases is None:
        fewest_users = least_users(lambda n: _can_run(case.with_users(n)))
        if fewest_users * case.m * case.delta >= 1:
            fewest_users = math.inf
        nearest = (
            f"set n={fewest_users:.0f}, or calibration=tight"
            if math.isfinite(fewest_users)
            else "set calibration=tight"
        )
        raise NotApplicable(
            f"Theorem C.1 needs n^(1-q) above {right:.4g}, and it is {left:.4g} at n={case.n}; the "
            f"first phase would draw K={schedule.phases[0].batch:.4g} of its "
            f"{schedule.phases[0].users:.4g} users.",
            nearest=nearest,
            changes=(("n", int(fewest_users)),)
            if math.isfinite(fewest_users)
            else (("calibration", "tight"),),
        )
    return phases


def _can_run(case: UserLevel) -> bool:
    """Return whether Theorem C.1 holds and every phase is proven private."""
    q = best_decay(case.n)
    left, right = erm_condition(case, q)
    return left > right and _phases(case, printed_erm(case, q)) is not None


def _phases(case: UserLevel, schedule: ErmSchedule) -> tuple[AcceleratedPhase, ...] | None:
    """Return the phases of a printed schedule in whole numbers; None if one is not private."""
    phases, start = [], 0
    for phase in schedule.phases:
        users, steps = math.floor(phase.users), math.ceil(phase.steps)
        chosen = printed_filter(case, schedule.tau, users, steps)
        if chosen is None:
            return None
        phases.append(
            AcceleratedPhase(
                start=start,
                stop=start + users,
                regulariser=phase.regulariser,
                stages=(steps,),
                filter=chosen,
            )
        )
        start += users
    return tuple(phases)


def capped_note(case: UserLevel, phase: AcceleratedPhase) -> str:
    """Return the note on a printed batch that is larger than its phase."""
    batch = printed_batch(case, phase.users, phase.steps)
    return (
        f"As printed a step draws K={batch:.3g} users, and the first phase has {phase.users}: "
        "every step uses all users of its phase, which needs no subsampling."
    )
