r"""Constants of the robust-mean filter at user level: its test, its sensitivity, its noise.

K points have the concentration score :math:`s=\frac1K\#\{(j,j'):\|q_j-q_{j'}\|\le\rho_s\}`; point j
enters the mean with probability or weight :math:`\mathrm{clip}(\frac{h_j-aK}{(b-a)K},0,1)`, where
:math:`h_j` counts neighbours within :math:`\rho_h`. Lowy, Liu and Asi (2024), Algorithms 1 and 2;
the facts F1 to F6 and both releases are proven in the note, sections 2.0 and 2.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.special import bdtrc

from dpsco_core.errors import NotApplicable, require
from dpsco_core.problems.user_level import gaussian_multiplier


@dataclass(frozen=True, kw_only=True)
class Filter:
    r"""How points enter the mean.

    Parameters
    ----------
    low, high : float
        a and b: :math:`\frac12\le a<b\le1`.
    radius_ratio : float
        :math:`\rho_h/\rho_s`, at least 1. From 2 on it is form A of the note, below form B.
    coins : bool
        Points enter by coin flips, as in the paper, or with their probability as their weight.
    """

    low: float = 0.5
    high: float = 1.0
    radius_ratio: float = 1.0
    coins: bool = False

    def __post_init__(self) -> None:
        require(0.5 <= self.low < 1, "low", "from 1/2 to below 1", self.low)
        require(self.low < self.high <= 1, "high", "above low and at most 1", self.high)
        require(self.radius_ratio >= 1, "radius_ratio", "at least 1", self.radius_ratio)

    @property
    def slope(self) -> float:
        r""":math:`\frac1{b-a}`: K times the most that one neighbour changes an inclusion (F4)."""
        return 1 / (self.high - self.low)

    def least_weight(self, score_min: float, count: int) -> float:
        r"""Return :math:`W_{\min}`, which the sum of the inclusions is at least (F3, F3').

        Form A: :math:`s_{\min}` if it is at least bK; otherwise
        :math:`\frac{s_{\min}-aK}{1-a}`, never below 0.
        """
        if self.radius_ratio >= 2 and score_min >= self.high * count:
            return score_min
        return max(0.0, (score_min - self.low * count) / (1 - self.low))

    def weighted_sensitivity(self, score_min: float, count: int) -> float:
        r"""(F6) in units of :math:`\rho_s`, deterministic; infinite where its proviso fails.

        .. math:: \frac{2\rho_h}{W_{\min}}\Big(2+\frac{K-1}{(b-a)K}\Big),\qquad
            W_{\min}>1+\frac{K-1}{2(b-a)K}
        """
        changes = 2 + (count - 1) / count * self.slope
        weight = self.least_weight(score_min, count)
        return 2 * self.radius_ratio / weight * changes if weight > changes / 2 else math.inf

    def coin_sensitivity(
        self, score_min: float, count: int, failure: float, kept_failure: float | None = None
    ) -> float:
        r"""(F5) in units of :math:`\rho_s`, up to a coupling that fails with `failure`.

        .. math:: \frac{2\rho_h}{|S|_{\min}}(2+Q),\qquad|S|_{\min}>1+\frac Q2

        :math:`|S|_{\min}` is :math:`s_{\min}` in form A, and in form B
        :math:`W_{\min}-\sqrt{K\ln(1/\zeta_S)/2}` in each world but for :math:`\zeta_S`
        (Hoeffding). `kept_failure` is :math:`\zeta_S`; None leaves the fluctuation out.
        """
        changes = 2 + coin_changes(count, self.slope, failure)
        kept = self.least_weight(score_min, count)
        sure = self.radius_ratio >= 2 and score_min >= self.high * count
        if not sure and kept_failure is not None:
            kept -= math.sqrt(-count * math.log(kept_failure) / 2)
        return 2 * self.radius_ratio / kept * changes if kept > changes / 2 else math.inf


# What the paper's two algorithms do, and the recommended reading of both.
ITERATE_FILTER = Filter(high=2 / 3, radius_ratio=2.0, coins=True)
GRADIENT_FILTER = Filter(high=2 / 3, radius_ratio=1.0, coins=True)
WEIGHTS = Filter()


def coin_changes(count: int, slope: float, failure: float) -> int:
    r"""Return the least Q with :math:`P[\mathrm{Bin}(K-1,\frac1{(b-a)K})>Q]\le\zeta` (F4, F5).

    Found by stepping: inverse survival functions are wrong far in the tail.

    Examples
    --------
    >>> [coin_changes(3000, 6.0, z) for z in (1e-4, 1e-6, 1e-7, 1e-8, 1e-10)]
    [17, 21, 22, 24, 27]
    """
    require(count >= 1, "count", "a positive integer", count)
    require(failure > 0, "failure", "positive", failure)
    probability = min(1.0, slope / count)
    found = 0
    while found < count - 1 and float(bdtrc(found, count - 1, probability)) > failure:
        found += 1
    return found


@dataclass(frozen=True, kw_only=True)
class FilterPlan:
    r"""A calibrated test and filter on K points, for a number of releases.

    Parameters
    ----------
    count, releases : int
        K and T.
    filter : Filter
        How points enter the mean.
    epsilon, delta : float
        What all of it spends.
    score_scale, threshold_scale : float
        Scales of the Laplace noise of a score and of the threshold; 0 where it has none.
    threshold : float
        :math:`\theta`: go on while :math:`s+v\ge\theta+\xi`.
    score_min : float
        What the score of both worlds is at least, where noise does not fail.
    sensitivity : float
        :math:`\Delta/\rho_s`, of one release.
    gaussian_epsilon, gaussian_delta : float
        The share of the Gaussian noise.
    halt : float
        What the probability to halt on perfectly concentrated points is at most.
    """

    count: int
    releases: int
    filter: Filter
    epsilon: float
    delta: float
    score_scale: float
    threshold_scale: float
    threshold: float
    score_min: float
    sensitivity: float
    gaussian_epsilon: float
    gaussian_delta: float
    halt: float

    @property
    def total_noise(self) -> float:
        r""":math:`\sigma/(\rho_s\sqrt T)`: the noise of the mean of all releases."""
        multiplier = gaussian_multiplier(self.gaussian_epsilon, self.gaussian_delta)
        return self.sensitivity * multiplier

    @property
    def noise(self) -> float:
        r""":math:`\sigma/\rho_s` of one release."""
        return self.total_noise * math.sqrt(self.releases)


def group_count(epsilon: float, delta: float, share: float = 0.4, halt: float = 0.005) -> int:
    r"""Return :math:`C=\lceil3.2(\mathrm{sl}+b_L\ln\frac1{2\gamma}+2)\rceil` of section 2.1.

    Examples
    --------
    >>> [group_count(e, 1e-6) for e in (1.0, 2.0, 4.0, 8.0)]
    [302, 154, 81, 44]
    """
    _, slack, room = _single(epsilon, delta / 2, share, halt)
    return math.ceil(3.2 * (slack + room + 2))


def _single(
    epsilon: float, slack_delta: float, share: float, halt: float
) -> tuple[float, float, float]:
    """Return the scale of the score's noise, the slack and the room below K for the threshold."""
    scale = 2 / (share * epsilon)
    return scale, -scale * math.log(2 * slack_delta), -scale * math.log(2 * halt)


def single_test(
    count: int,
    epsilon: float,
    delta: float,
    *,
    share: float = 0.4,
    halt: float = 0.005,
    filter: Filter = WEIGHTS,
) -> FilterPlan:
    r"""Plan one test and one release: the calibrated single-test release of section 2.0.

    :math:`b_L=2/\varepsilon_1`, :math:`\mathrm{sl}=b_L\ln\frac1{2\zeta_E}`,
    :math:`\theta=K-b_L\ln\frac1{2\gamma}`, :math:`s_{\min}=\theta-\mathrm{sl}-2`. Delta is split
    evenly between the slack, the Gaussian noise and, with coins, the coupling.

    Raises
    ------
    NotApplicable
        If K points are too few for the test and a proven sensitivity.

    Examples
    --------
    >>> [round(single_test(group_count(e, 1e-6), e, 1e-6).noise * group_count(e, 1e-6))
    ...  for e in (1.0, 2.0, 4.0, 8.0)]
    [149, 78, 40, 21]
    """
    part = delta / _parts(filter)
    scale, slack, room = _single(epsilon, part, share, halt)
    threshold = count - room
    return _plan(
        count,
        1,
        filter,
        (epsilon, delta, share, part),
        (scale, 0.0, threshold, threshold - slack - 2, halt),
    )


def sparse_test(
    count: int,
    releases: int,
    epsilon: float,
    delta: float,
    *,
    share: float = 0.3,
    halt: float = 0.01,
    filter: Filter = WEIGHTS,
) -> FilterPlan:
    r"""Plan T releases of the full batch under one noisy threshold: Mode A of section 2.2.

    :math:`\xi\sim\mathrm{Lap}(4/\varepsilon_1)` once and :math:`v_t\sim\mathrm{Lap}(8/
    \varepsilon_1)`, :math:`\theta=K-\frac4{\varepsilon_1}\ln\frac1\gamma-\frac8{\varepsilon_1}
    \ln\frac T\gamma`, :math:`s_{\min}=\theta-\frac4{\varepsilon_1}\ln\frac1{\zeta_E}-
    \frac8{\varepsilon_1}\ln\frac T{\zeta_E}-2`, :math:`\sigma=\Delta\sqrt T\,g`.

    Raises
    ------
    NotApplicable
        If K users are too few for the test and a proven sensitivity.
    """
    require(releases >= 1, "releases", "a positive integer", releases)
    part = delta / _parts(filter)
    scale = 4 / (share * epsilon)

    def slack(failure: float) -> float:
        return scale * (2 * math.log(releases) - 3 * math.log(failure))

    threshold = count - slack(halt)
    return _plan(
        count,
        releases,
        filter,
        (epsilon, delta, share, part),
        (2 * scale, scale, threshold, threshold - slack(part) - 2, halt),
    )


def _parts(filter: Filter) -> int:
    """Into how many equal parts delta goes: slack, noise, coupling, what coins keep."""
    if not filter.coins:
        return 2
    return 3 if filter.radius_ratio >= 2 else 4


def _plan(
    count: int,
    releases: int,
    filter: Filter,
    budget: tuple[float, float, float, float],
    test: tuple[float, float, float, float, float],
) -> FilterPlan:
    epsilon, delta, share, part = budget
    score_scale, threshold_scale, threshold, score_min, halt = test
    require(count >= 1, "count", "a positive integer", count)
    require(0 < share < 1, "share", "strictly between 0 and 1", share)
    require(0 < halt < 0.5, "halt", "strictly between 0 and 1/2", halt)
    if filter.coins:
        kept = part / (2 * releases) if filter.radius_ratio < 2 else None
        sensitivity = filter.coin_sensitivity(score_min, count, part / releases, kept)
        if kept is None and score_min < filter.high * count:
            sensitivity = math.inf
    else:
        sensitivity = filter.weighted_sensitivity(score_min, count)
    if math.isinf(sensitivity):
        raise NotApplicable(
            f"The test of concentration on {count} points cannot pass safely: it ensures a score "
            f"of {score_min:.4g} only, which proves no sensitivity of the filtered mean."
        )
    return FilterPlan(
        count=count,
        releases=releases,
        filter=filter,
        epsilon=epsilon,
        delta=delta,
        score_scale=score_scale,
        threshold_scale=threshold_scale,
        threshold=threshold,
        score_min=score_min,
        sensitivity=sensitivity,
        gaussian_epsilon=(1 - share) * epsilon,
        gaussian_delta=part,
        halt=halt,
    )


def least_points(plan: Callable[[int], FilterPlan], most: int = 1 << 60) -> int:
    """Return the least number of points for which `plan` has one, above `most` none is tried."""

    def works(count: int) -> bool:
        try:
            plan(count)
        except NotApplicable:
            return False
        return True

    high = 1
    while not works(high):
        if high >= most:
            raise NotApplicable(f"The filter cannot be planned for up to {most} points.")
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return high
