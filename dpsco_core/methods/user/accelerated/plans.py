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
from dpsco_core.methods.user.accelerated.model import STEP_COUNTS, Choice, Landscape, Layout, choose
from dpsco_core.methods.user.accelerated.run import AcceleratedPhases
from dpsco_core.methods.user.accelerated.schedule import (
    MOST_PHASES,
    MOST_USERS,
    AcceleratedPhase,
    calibrated_filter,
    chosen_phases,
    practical_tau,
    recommended_phases,
    too_few,
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
from dpsco_core.privacy.filter.plan import FilterPlan
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.privacy.filter.sensitivity import SCORE_SENSITIVITY, coins_sensitivity, member_floor
from dpsco_core.privacy.mechanisms.tested import NoisyTest, TestedGaussian
from dpsco_core.problems.base import Setting


def filter_of(
    calibration: Calibration, at: UserLevel, tau: float, users: int, steps: int
) -> FilterPlan | None:
    """Return the test, filter and noise of a phase; None where there is none."""
    make = calibrated_filter if calibration == "tight" else printed_filter
    return make(at, tau, users, steps)


def practical_plan(
    setting: Setting,
    at: UserLevel,
    land: Landscape,
    losses: Losses,
    calibration: Calibration,
    layouts: tuple[Layout, ...],
) -> AcceleratedPhases:
    """Return the plan of the least modelled risk over some layouts.

    Raises `NotApplicable` where no phase can have a test, with the number of users that it needs.
    """
    filters = partial(filter_of, calibration, at, practical_tau(at))
    choice = practical_choice(at, land, calibration, layouts)
    if choice is None:
        raise too_few(at.n, least_in_a_phase(filters, 1))
    phases = chosen_phases(choice, filters)
    return AcceleratedPhases(
        setting=setting,
        losses=losses,
        smoothness=land.smoothness,
        strong_convexity=land.strong_convexity,
        phases=phases,
        modelled_risk=choice.risk,
        notes=(capped_note(at, phases[0]),) if calibration == "paper" else (),
    )


@lru_cache(maxsize=1024)
def practical_choice(
    at: UserLevel, land: Landscape, calibration: Calibration, layouts: tuple[Layout, ...]
) -> Choice | None:
    """Return the practical layout, steps and regulariser; None without any test."""
    tau = practical_tau(at)

    def noise(users: int, steps: int) -> float:
        plan = filter_of(calibration, at, tau, users, steps)
        return math.inf if plan is None else plan.release.noise_std

    if at.n < 2 or math.isinf(noise(at.n, STEP_COUNTS[0])):
        return None
    return choose(land, layouts, noise)


def theory_plan(
    setting: Setting, at: UserLevel, losses: Losses, calibration: Calibration
) -> AcceleratedPhases:
    """Return the recommended schedule, or the printed one with ``calibration="paper"``.

    Raises `NotApplicable` where two phases cannot have tests, or the printed constants cannot run.
    """
    if calibration == "paper":
        return planned(setting, at, losses, calibration, printed_phases(at))
    convex = replace(at, strong_convexity=0.0)
    for count in range(min(MOST_PHASES, at.n.bit_length() - 1), 1, -1):
        phases = recommended_phases(convex, partial(calibrated_filter, at), count)
        if phases is not None:
            return planned(setting, at, losses, calibration, phases)
    raise _no_theory(at)


def planned(
    setting: Setting,
    at: UserLevel,
    losses: Losses,
    calibration: Calibration,
    phases: tuple[AcceleratedPhase, ...],
) -> AcceleratedPhases:
    """Return the plan of the theory's phases, where AC-SA knows of the regulariser alone."""
    return AcceleratedPhases(
        setting=setting,
        losses=losses,
        smoothness=at.smoothness,
        strong_convexity=0.0,
        phases=phases,
        notes=(capped_note(at, phases[0]),) if calibration == "paper" else (),
    )


def _no_theory(at: UserLevel) -> NotApplicable:
    """Return the refusal of the recommended schedule, with the users that it needs."""

    def runs(n: int) -> bool:
        where = replace(at.with_users(n), strong_convexity=0.0)
        filters = partial(calibrated_filter, where)
        return n >= 4 and recommended_phases(where, filters, 2) is not None

    needed = least_count(runs, at.n, max(8, 2 * at.n), MOST_USERS)
    if needed is None:
        return too_few(at.n, None)
    return NotApplicable(
        f"The recommended schedule has two phases at least, and the tests that hide one of their "
        f"users need {needed} users; n={at.n}.",
        n=needed,
        otherwise="tuning=practical",
    )


MOST_EPSILON = 10.0


def printed_filter(at: UserLevel, tau: float, users: int, steps: int) -> FilterPlan | None:
    r"""Return the printed test and noise of a phase; None where they are not proven private.

    Half of epsilon for the tests, half for the noise. Delta goes in quarters to the floor of the
    tests, the noise, the coins' changes and their number. The certificate's sensitivity is the one
    that makes its noise the printed one: at least the one that F5 proves.
    """
    if users < 2:
        return None
    keep = RobustFilter(score_radius=2 * tau, filter_radius=2 * tau, upper=2 / 3, inclusion="coins")
    part = at.delta / 4
    test = NoisyTest(
        kind="sequence",
        steps=steps,
        threshold=0.8 * users,
        epsilon=at.epsilon / 2,
        failure=part,
        sensitivity=SCORE_SENSITIVITY,
    )
    size_failure = part / steps / 2
    floor = test.score_floor
    proven = coins_sensitivity(keep, users, floor, failure=part / steps, size_failure=size_failure)
    if math.isinf(proven):
        return None
    needed = TestedGaussian(
        test=test, l2_sensitivity=proven, epsilon=at.epsilon / 2, delta=part, failure=2 * part
    )
    room = printed_noise(at, tau, users, steps) / needed.noise_std
    if room < 1:
        return None
    return FilterPlan(
        keep=keep,
        count=users,
        smallest_weight=member_floor(keep, users, floor, size_failure),
        release=replace(needed, l2_sensitivity=room * proven),
    )


def printed_phases(at: UserLevel) -> tuple[AcceleratedPhase, ...]:
    r"""Return all :math:`\lfloor\log_2n\rfloor` phases of Algorithm 3 with Theorem C.3's numbers.

    q is the one with the most users in the last phase, and users, steps are rounded down and up.

    Raises `NotApplicable` where Theorems C.1 and C.3 do not hold, or their proof does not cover a
    phase; with the number of users that it would need.
    """
    if at.epsilon > MOST_EPSILON:
        raise NotApplicable(
            f"The printed constants are for epsilon of at most 10, and epsilon={at.epsilon:g}.",
            nearest="set epsilon=10, or calibration=tight",
            changes=(("epsilon", MOST_EPSILON),),
        )
    if at.delta * at.total >= 1:
        raise NotApplicable(
            f"The theorem needs delta below 1/(nm), and delta={at.delta:g} with nm={at.total}.",
            calibration="tight",
        )
    if at.n < 2:
        raise NotApplicable(
            f"The phases are log2(n) in number, and n={at.n}.", n=2, otherwise="calibration=tight"
        )
    schedule = printed_erm(at, best_decay(at.n))
    phases = _phases(at, schedule)
    left, right = erm_condition(at, best_decay(at.n))
    if left <= right or phases is None:
        enough = least_users(lambda n: _runs(at.with_users(n)))
        if enough * at.m * at.delta >= 1:
            enough = math.inf
        more = (
            f"set n={enough:.0f}, or calibration=tight"
            if math.isfinite(enough)
            else "set calibration=tight"
        )
        raise NotApplicable(
            f"Theorem C.1 needs n^(1-q) above {right:.4g}, and it is {left:.4g} at n={at.n}; the "
            f"first phase would draw K={schedule.phases[0].batch:.4g} of its "
            f"{schedule.phases[0].users:.4g} users.",
            nearest=more,
            changes=(("n", int(enough)),) if math.isfinite(enough) else (("calibration", "tight"),),
        )
    return phases


def _runs(at: UserLevel) -> bool:
    """Whether Theorem C.1 holds and every phase is proven private."""
    q = best_decay(at.n)
    left, right = erm_condition(at, q)
    return left > right and _phases(at, printed_erm(at, q)) is not None


def _phases(at: UserLevel, schedule: ErmSchedule) -> tuple[AcceleratedPhase, ...] | None:
    phases, start = [], 0
    for phase in schedule.phases:
        users, steps = math.floor(phase.users), math.ceil(phase.steps)
        chosen = printed_filter(at, schedule.tau, users, steps)
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


def capped_note(at: UserLevel, phase: AcceleratedPhase) -> str:
    """Return the sentence on the printed batch, which is larger than a phase."""
    wanted = printed_batch(at, phase.users, phase.steps)
    return (
        f"As printed a step draws K={wanted:.3g} users, and the first phase has {phase.users}: "
        "every step uses all users of its phase, which needs no subsampling."
    )
