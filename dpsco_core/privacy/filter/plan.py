r"""Plans of private means of concentrated points, made without the data.

A single release (one group's average each) has a single test; a phase of T releases of the same
users' points has AboveThreshold (theory/lowy-liu-asi.md, 2.0 and 2.2, Mode A).
Neighbours replace one of the K points by anything.
"""

import math
from dataclasses import dataclass, replace

from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.base.search import least_count
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.checks import check_count
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.privacy.filter.sensitivity import (
    SCORE_SENSITIVITY,
    check_size,
    coins_sensitivity,
    member_floor,
    sharp_weights_sensitivity,
    sure_members,
    weight_floor,
    weights_sensitivity,
)
from dpsco_core.privacy.mechanisms.tested import NoisyTest, TestedGaussian, TestKind

MOST_POINTS = 10**9  # the largest number of points that a search considers


@dataclass(frozen=True, kw_only=True)
class Tuning:
    r"""The free parameters of a plan, which is private for all their values."""

    test_share: float = 0.4  # the share :math:`\varepsilon_1/\varepsilon` of the test, in (0, 1)
    # :math:`\gamma` in (0, 1/2], the probability that perfectly concentrated points fail the test;
    # it determines the threshold.
    false_halt: float = 0.005
    # A share in (0, 1]: a plan is refused unless this share of the points is certain to be in every
    # released mean. Lower values allow fewer points, with more noise.
    least_kept: float = 1 / 3
    # Whether the noise of a weighted mean is scaled to `sharp_weights_sensitivity`, half as large
    # for many points, instead of the sensitivity in F6 (theory/lowy-liu-asi.md, 2.0).
    sharp: bool = False

    def __post_init__(self) -> None:
        """Refuse shares and probabilities outside their ranges."""
        is_valid = 0 < self.test_share < 1
        require(is_valid, "test_share", "strictly between 0 and 1", self.test_share)
        is_valid = 0 < self.false_halt <= 0.5
        require(is_valid, "false_halt", "above 0 and at most 1/2", self.false_halt)
        require(0 < self.least_kept <= 1, "least_kept", "above 0 and at most 1", self.least_kept)


DEFAULT_TUNING = Tuning()


@dataclass(frozen=True, kw_only=True)
class FilteredRelease:
    """The filter, test and noise for K points, chosen independently of the points' values."""

    keep: RobustFilter
    count: int  # K, the number of points
    smallest_weight: float  # the smallest total weight, or number of members, of a released mean
    release: TestedGaussian  # the release as the ledger accounts for it


def single_test_plan(
    count: int, epsilon: float, delta: float, *, keep: RobustFilter, tuning: Tuning = DEFAULT_TUNING
) -> FilteredRelease:
    r"""Return the calibrated release with a single test.

    Test: Laplace noise of scale :math:`b = 2/\varepsilon_1`, threshold
    :math:`\theta = K - b\log\frac1{2\gamma}`, floor
    :math:`s_{min} = \theta - b\log\frac1{2\zeta_E} - 2`. Release: :math:`\sigma = \Delta g`, with
    :math:`\Delta` of F6 (weights) or F5 (coins) at that floor.

    Delta is divided equally between :math:`\zeta_E`, :math:`\delta_2`, with coins
    :math:`\zeta_B`, and with coins in form B :math:`2\zeta_S`.

    Raises `NotApplicable`, with a sufficient number, if there are too few points for a floor.

    Examples
    --------
    >>> keep = RobustFilter(score_radius=1.0, filter_radius=1.0)
    >>> plan = single_test_plan(302, 1.0, 1e-6, keep=keep)
    >>> round(plan.release.noise_std * 302)
    149
    """
    return _plan("single", count, 1, epsilon, delta, keep, tuning)


def phase_plan(
    count: int,
    steps: int,
    epsilon: float,
    delta: float,
    *,
    keep: RobustFilter,
    tuning: Tuning = DEFAULT_TUNING,
    advice: bool = True,
) -> FilteredRelease:
    r"""Return the plan of T full-batch releases (Mode A of theory/lowy-liu-asi.md, 2.2).

    :math:`\xi \sim Lap(4/\varepsilon_1)` once, :math:`v_t \sim Lap(8/\varepsilon_1)`, threshold
    :math:`\theta = K - \frac4{\varepsilon_1}\log\frac1\gamma -
    \frac8{\varepsilon_1}\log\frac T\gamma`, and :math:`\sigma = \Delta\sqrt T g`. Coins fail at
    every step, and their part of delta is divided among the steps.

    Raises `NotApplicable` if there are too few points for a floor. It names a sufficient number
    unless `advice` is False, because finding it takes a search.
    """
    return _plan("sequence", count, steps, epsilon, delta, keep, tuning, advice)


def least_phase_count(
    steps: int, epsilon: float, delta: float, *, keep: RobustFilter, tuning: Tuning = DEFAULT_TUNING
) -> int | None:
    """Return the least number of points for which `phase_plan` has a plan; None above a billion."""

    def holds(points: int) -> bool:
        """Return whether a plan for this many points exists."""
        return _try_plan("sequence", points, steps, epsilon, delta, keep, tuning) is not None

    return least_count(holds, 2, 4, MOST_POINTS)


def recommended_count(epsilon: float, delta: float, tuning: Tuning = DEFAULT_TUNING) -> int:
    r"""Return the number of groups for calibrated Algorithm 1 (theory/lowy-liu-asi.md, 2.1).

    :math:`C = \lceil3.2(sl + b\log\frac1{2\gamma} + 2)\rceil`, for form B by weights.

    Examples
    --------
    >>> [recommended_count(epsilon, 1e-6) for epsilon in (1.0, 2.0, 4.0, 8.0)]
    [302, 154, 81, 44]
    """
    ApproxDP(epsilon=epsilon, delta=delta)
    test = NoisyTest(
        kind="single",
        steps=1,
        threshold=0.0,
        epsilon=tuning.test_share * epsilon,
        failure=delta / 2,
        sensitivity=SCORE_SENSITIVITY,
    )
    return math.ceil(3.2 * (test.reach(tuning.false_halt) - test.score_floor))


def _plan(
    kind: TestKind,
    count: int,
    steps: int,
    epsilon: float,
    delta: float,
    keep: RobustFilter,
    tuning: Tuning,
    advice: bool = True,
) -> FilteredRelease:
    """Return a plan whose test and noise spend (epsilon, delta) together.

    Raises `NotApplicable` if there is none; `advice` says whether its message names a sufficient
    number of points.
    """
    check_size(count)
    check_count("steps", steps)
    ApproxDP(epsilon=epsilon, delta=delta)

    def plan_for(points: int) -> FilteredRelease | None:
        """Return the plan for this many points, or None if F5 and F6 prove none."""
        return _try_plan(kind, points, steps, epsilon, delta, keep, tuning)

    plan = plan_for(count)
    if plan is None:
        problem = (
            f"A test that hides one of {count} points leaves too few of them sure to be in the mean"
        )
        if not advice:
            raise NotApplicable(f"{problem}.")
        required_count = least_count(
            lambda k: plan_for(k) is not None, count, 2 * count, MOST_POINTS
        )
        raise NotApplicable(
            f"{problem}; it needs {required_count or 'more than a billion'}.",
            nearest=f"{required_count} points, or a larger epsilon" if required_count else "",
        )
    return plan


def _try_plan(
    kind: TestKind,
    count: int,
    steps: int,
    epsilon: float,
    delta: float,
    keep: RobustFilter,
    tuning: Tuning,
) -> FilteredRelease | None:
    """Return a plan for `count` points; None if F5 or F6 prove nothing, or few points remain."""
    coins, form_b = keep.inclusion == "coins", keep.form == "B"
    parts = 2 + coins + (coins and form_b)
    # Delta is split between the test and the noise; with coins, also the memberships that differ
    # between neighbours; and in form B with coins, also the number of members.
    failure = delta / parts
    epsilon_test = tuning.test_share * epsilon
    unshifted = NoisyTest(
        kind=kind,
        steps=steps,
        threshold=0.0,
        epsilon=epsilon_test,
        failure=failure,
        sensitivity=SCORE_SENSITIVITY,
    )
    threshold = count - unshifted.reach(tuning.false_halt)
    floor = threshold + unshifted.score_floor
    if coins:
        if not form_b and not sure_members(keep, count, floor):
            return None
        size_failure = failure / steps / 2 if form_b else None
        members = member_floor(keep, count, floor, size_failure)
        sensitivity = coins_sensitivity(
            keep, count, floor, failure=failure / steps, size_failure=size_failure
        )
    else:
        members = weight_floor(keep, count, floor)
        proven = sharp_weights_sensitivity if tuning.sharp else weights_sensitivity
        sensitivity = proven(keep, count, floor)
    if members < tuning.least_kept * count or math.isinf(sensitivity):
        return None
    release = TestedGaussian(
        test=replace(unshifted, threshold=threshold),
        l2_sensitivity=sensitivity,
        epsilon=epsilon - epsilon_test,
        delta=failure,
        failure=(parts - 2) * failure,
    )
    return FilteredRelease(keep=keep, count=count, smallest_weight=members, release=release)
