"""The phases of user-level phased SGD, chosen or printed: users, step sizes, filter and noise."""

import math
from functools import lru_cache

from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.user.chains import step_limit
from dpsco_core.methods.user.level import UserLevel, gaussian_multiplier
from dpsco_core.methods.user.phased_risk import best_phases
from dpsco_core.methods.user.printed_schedules import (
    best_decay,
    phase_count,
    phase_users,
    printed_decay,
    printed_groups,
    printed_release,
    printed_step,
)
from dpsco_core.privacy.filter.plan import FilteredRelease, single_test_plan
from dpsco_core.privacy.filter.plan import Tuning as TestTuning
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.privacy.filter.sensitivity import SCORE_SENSITIVITY, coins_sensitivity
from dpsco_core.privacy.mechanisms.tested import NoisyTest, TestedGaussian

SHARP = TestTuning(sharp=True)
# The typical radius of a filter, in units of step size times gradient noise times the square root
# of the number of steps.
TYPICAL_RADIUS = 2.5
# The smallest number of phases, and the decay, if printed noise is combined with practical tuning.
FEWEST_PRINTED_PHASES, PRINTED_DECAY = 3, 1.25
# For each phase: its first user, the number of users per group, and the step size.
Shape = tuple[tuple[int, int, float], ...]


@lru_cache(maxsize=4096)
def practical_shape(case: UserLevel, groups: int, noise_scale: float) -> Shape:
    """Return the phases that minimise the sum of `phased_terms`; () if a group has no user.

    `noise_scale` is the root mean square distance of a gradient from its mean. Raises
    `NotApplicable` if the sum is infinite for all candidates.
    """
    if case.n < groups:
        return ()
    per_radius = tight_plan(case, groups, 1.0).release.noise_std

    def noise(step: float, steps: int) -> float:
        """Return the noise of a phase at the typical radius."""
        return per_radius * TYPICAL_RADIUS * step * noise_scale * math.sqrt(steps)

    phases = best_phases(
        case.n,
        case.m,
        groups,
        lipschitz=case.lipschitz,
        diameter=case.diameter,
        d=case.d,
        largest_step=step_limit(case.n, case.m, case.d, case.smoothness),
        noise=noise,
    )
    return _place_phases(groups, [(int(p.group_users), p.step_size) for p in phases])


def recommended_shape(case: UserLevel, groups: int) -> Shape:
    """Return up to three phases, each with half the users of the one before.

    The step size of the first phase is the printed one, but at most the limit of `step_limit`.
    """
    step = min(printed_step(case), step_limit(case.n, case.m, case.d, case.smoothness))
    phases = [
        ((case.n >> i) // groups, step * 2.0 ** (-PRINTED_DECAY * (i - 1)))
        for i in range(1, FEWEST_PRINTED_PHASES + 1)
    ]
    return _place_phases(groups, [(members, size) for members, size in phases if members])


def theorem_shape(case: UserLevel, groups: int) -> Shape:
    r"""Return the phases of Lowy et al. (2024), Theorem B.1, that fill all groups.

    :math:`p = J + 3/2`, :math:`\eta = R/(L\sqrt{dmn\varepsilon})`, and q with the largest last
    phase; :math:`n_i = (1-2^{-q})n2^{-iq}`, :math:`\eta_i = \eta2^{-pi}`.

    Raises `NotApplicable` if :math:`\eta > 1/\beta`.
    """
    if case.n < 2:
        return ()
    step, limit = printed_step(case), step_limit(case.n, case.m, case.d, case.smoothness)
    if step > limit * (1 + 1e-12):
        fewest_users = math.ceil(case.n * (step / limit) ** 2)
        raise NotApplicable(
            f"The theorem's step size is {step:.3g}, and steps above {limit:.3g} may move points "
            "apart.",
            n=fewest_users,
            otherwise="tuning=practical",
        )
    q, decay = best_decay(case.n), printed_decay(case)
    phases = []
    for i in range(1, phase_count(case.n) + 1):
        members = math.floor(phase_users(case.n, i, q)) // groups
        if members < 1:
            break
        phases.append((members, step * math.pow(2, -decay * i)))
    return _place_phases(groups, phases)


def _place_phases(groups: int, phases: list[tuple[int, float]]) -> Shape:
    """Return consecutive phases with their first users, from pairs of group size and step size."""
    shape, start = [], 0
    for members, step in phases:
        shape.append((start, members, step))
        start += groups * members
    return tuple(shape)


@lru_cache(maxsize=4096)
def tight_plan(case: UserLevel, groups: int, radius: float) -> FilteredRelease:
    """Return the single-test release of C points, with weights and the sharper sensitivity.

    `radius` is the radius of the score and of the filter.
    """
    keep = RobustFilter(score_radius=radius, filter_radius=radius)
    return single_test_plan(groups, case.epsilon, case.delta, keep=keep, tuning=SHARP)


ROOM = 1e-9  # the relative slack that keeps the floor of the score above 2C/3 despite rounding


def printed_count(case: UserLevel) -> int:
    r"""Return C of Algorithm 1, rounded up and large enough for the paper's own proof.

    .. math:: C = \Big\lceil\frac1\varepsilon\max\Big\{100\log\frac{20nme^\varepsilon}\delta,\
        150\log\frac{20e^\varepsilon}\delta\Big\}\Big\rceil

    The second entry is not printed. It ensures
    :math:`2e^{-C\varepsilon/150} \le \delta/(10e^\varepsilon)`, which the proof needs. The first
    entry ensures that only where :math:`(nm)^2 \ge 20e^\varepsilon/\delta` (theory/lowy-liu-asi.md,
    2.1).

    Examples
    --------
    >>> case = UserLevel(n=10**6, m=100, d=10, epsilon=1.0, delta=1e-9)
    >>> printed_count(case), printed_count(UserLevel(n=100, m=1, d=1, epsilon=1.0, delta=1e-6))
    (4314, 2672)
    """
    repaired = 150 * (math.log(20) + case.epsilon + case.log_delta) / case.epsilon
    return math.ceil(max(printed_groups(case), repaired))


def printed_plan(case: UserLevel, groups: int, step_size: float, steps: int) -> FilteredRelease:
    r"""Return the test, filter and noise of one phase as printed.

    The accounting is that of theory/lowy-liu-asi.md, 2.1.

    The test :math:`s + Lap(20/\varepsilon) \ge 4C/5` is :math:`\varepsilon/10`-DP. A draw beyond
    :math:`2C/15 - 2` has probability :math:`\frac12e^{\varepsilon/10}e^{-C\varepsilon/150}`.
    Otherwise both neighbours have :math:`s \ge 2C/3`, so that the filter's mean moves by at most
    :math:`6\tau_i(2+Q)/C` except with probability :math:`\zeta = \delta/(10e^\varepsilon)` (F5).
    The Gaussian noise is accounted for at :math:`(\varepsilon/4, \delta/n)`. Together these are
    :math:`0.35\varepsilon`, and less than delta for n >= 2.

    The ledger states the sensitivity that the printed noise covers, which is at least the proven
    one.

    Raises `NotApplicable` if the printed noise is below what the proof needs.
    """
    radius, noise_std = printed_release(case, groups, step_size, steps)
    keep = RobustFilter(
        score_radius=radius, filter_radius=2 * radius, upper=2 / 3, inclusion="coins"
    )
    epsilon_test = case.epsilon / 10
    slack = (2 * groups / 15 - SCORE_SENSITIVITY) * (1 - ROOM)
    test = NoisyTest(
        kind="single",
        steps=1,
        threshold=4 * groups / 5,
        epsilon=epsilon_test,
        failure=0.5 * math.exp(-slack * epsilon_test / SCORE_SENSITIVITY),
        sensitivity=SCORE_SENSITIVITY,
    )
    coins = case.delta / 10 * math.exp(-case.epsilon)
    proven = coins_sensitivity(keep, groups, test.score_floor, failure=coins)
    covered = noise_std / gaussian_multiplier(case.epsilon / 4, case.delta / case.n)
    release = TestedGaussian(
        test=test,
        l2_sensitivity=covered,
        epsilon=case.epsilon / 4,
        delta=case.delta / case.n,
        failure=coins,
    )
    if covered < proven or release.total_delta > case.delta:
        raise NotApplicable(
            f"The printed noise covers a sensitivity of {covered:.4g}, and its proof needs "
            f"{proven:.4g} with delta={release.total_delta:.3g} in all.",
            calibration="tight",
        )
    return FilteredRelease(
        keep=keep, count=groups, smallest_weight=test.score_floor, release=release
    )
