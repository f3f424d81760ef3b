"""Algorithm 1 of Lowy, Liu and Asi (2024) as printed: its groups, radius and noise, repaired."""

import math

from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.user.level import UserLevel, gaussian_multiplier
from dpsco_core.methods.user.printed_schedules import printed_groups, printed_release
from dpsco_core.privacy.filter.noisy_test import NoisyTest, TestedGaussian
from dpsco_core.privacy.filter.plan import FilterPlan
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.privacy.filter.sensitivity import SCORE_SENSITIVITY, coins_sensitivity

ROOM = 1e-9  # relative, of the slack: keeps the floor of the score above 2C/3 in rounding


def printed_count(at: UserLevel) -> int:
    r"""Return C of Algorithm 1, rounded up, and large enough for its own proof.

    .. math:: C = \Big\lceil\frac1\varepsilon\max\Big\{100\log\frac{20nme^\varepsilon}\delta,\
        150\log\frac{20e^\varepsilon}\delta\Big\}\Big\rceil

    The second entry is not printed. It makes
    :math:`2e^{-C\varepsilon/150} \le \delta/(10e^\varepsilon)`, which the proof uses and the first
    gives only where :math:`(nm)^2 \ge 20e^\varepsilon/\delta` (theory/lowy-liu-asi.md, 2.1).

    Examples
    --------
    >>> at = UserLevel(n=10**6, m=100, d=10, epsilon=1.0, delta=1e-9)
    >>> printed_count(at), printed_count(UserLevel(n=100, m=1, d=1, epsilon=1.0, delta=1e-6))
    (4314, 2672)
    """
    repaired = 150 * (math.log(20) + at.epsilon + at.log_delta) / at.epsilon
    return math.ceil(max(printed_groups(at), repaired))


def printed_plan(at: UserLevel, groups: int, step_size: float, steps: int) -> FilterPlan:
    r"""Return the test, filter and noise of one phase as printed.

    The accounting is that of theory/lowy-liu-asi.md, 2.1.

    Test: :math:`s + Lap(20/\varepsilon) \ge 4C/5`, :math:`\varepsilon/10`-DP. A draw beyond
    :math:`2C/15 - 2` has probability :math:`\frac12e^{\varepsilon/10}e^{-C\varepsilon/150}`;
    otherwise both neighbours have :math:`s \ge 2C/3`, so that the filter's mean moves by at most
    :math:`6\tau_i(2+Q)/C` but for :math:`\zeta = \delta/(10e^\varepsilon)` (F5). The Gaussian noise
    is accounted at :math:`(\varepsilon/4, \delta/n)`. Together that is :math:`0.35\varepsilon`, and
    less than delta for n >= 2.

    The sensitivity on record is the one that the printed noise covers, at least the proven one.

    Raises `NotApplicable` if the printed noise is below what the proof needs.
    """
    radius, noise_std = printed_release(at, groups, step_size, steps)
    keep = RobustFilter(
        score_radius=radius, filter_radius=2 * radius, upper=2 / 3, inclusion="coins"
    )
    epsilon_test = at.epsilon / 10
    slack = (2 * groups / 15 - SCORE_SENSITIVITY) * (1 - ROOM)
    test = NoisyTest(
        kind="single",
        steps=1,
        threshold=4 * groups / 5,
        epsilon=epsilon_test,
        failure=0.5 * math.exp(-slack * epsilon_test / SCORE_SENSITIVITY),
        sensitivity=SCORE_SENSITIVITY,
    )
    coins = at.delta / 10 * math.exp(-at.epsilon)
    proven = coins_sensitivity(keep, groups, test.score_floor, failure=coins)
    covered = noise_std / gaussian_multiplier(at.epsilon / 4, at.delta / at.n)
    release = TestedGaussian(
        test=test,
        l2_sensitivity=covered,
        epsilon=at.epsilon / 4,
        delta=at.delta / at.n,
        failure=coins,
    )
    if covered < proven or release.total_delta > at.delta:
        raise NotApplicable(
            f"The printed noise covers a sensitivity of {covered:.4g}, and its proof needs "
            f"{proven:.4g} with delta={release.total_delta:.3g} in all.",
            calibration="tight",
        )
    return FilterPlan(keep=keep, count=groups, kept=test.score_floor, release=release)
