r"""Privacy amplification by shuffling, for iterative updating.

k records sit in uniformly random, secret order; position j applies a randomiser that is
:math:`(\varepsilon_0, \delta_0)`-DP between any two records. Then all k outputs together are
:math:`(\varepsilon, \delta)`-DP (Feldman, McMillan and Talwar 2021, the "clones" argument).

For groups of m records the same holds with k the number of *groups*, provided that the assignment
of records to the k x m slots is uniformly random, freshly drawn for this release, independent of
the data, and never released. (This is the conclusion of Zhao et al. 2024, Theorem 6. Their own
proof uses only that the estimate is symmetric in the groups, which is not enough.)
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import scipy

from dpsco_core.base.errors import require
from dpsco_core.base.parsing import one_of
from dpsco_core.base.root import find_root
from dpsco_core.privacy.budget import EPSILON_MAX, _check_delta, _check_range, gaussian_rho

Route = Literal["printed", "closed", "numerical"]

ROUNDING = 1e-7  # the relative rounding error of the divergence for up to 10^9 groups
LARGEST_EPSILON = 600.0  # e^epsilon overflows beyond 709; 600 leaves room for products.


@dataclass(frozen=True, kw_only=True)
class ShuffleAmplification:
    """A certificate that k groups at `rho_group`-zCDP each are (epsilon, delta)-DP after shuffling.

    Create it with `amplify`, never by hand.

    Parameters
    ----------
    groups : int
        Number k of groups.
    rho_group : float
        The share of each group's release.
    epsilon, delta : float
        The guarantee of all of them together.
    epsilon_group, delta_group : float
        The local guarantee that the argument uses.
    route : {"printed", "closed", "numerical"}
    """

    groups: int
    rho_group: float
    epsilon: float
    delta: float
    epsilon_group: float
    delta_group: float
    route: Route


def clones_epsilon(epsilon_group: float, groups: int, delta: float) -> float:
    r"""Return the closed-form epsilon after shuffling k pure randomisers; enforce its condition.

    .. math:: \min\Big\{\ln\Big[1 + \tfrac{e^{\varepsilon_0}-1}{e^{\varepsilon_0}+1}
        \Big(8\sqrt{e^{\varepsilon_0}\ln(4/\delta)/k} + 8e^{\varepsilon_0}/k\Big)\Big],
        \varepsilon_0\Big\}

    Raises `InvalidInput` unless :math:`\varepsilon_0 \le \ln\frac{k}{16\ln(2/\delta)}`.

    Notes
    -----
    Feldman, McMillan and Talwar (2021), Theorem 3.1.
    """
    _check_groups(groups)
    _check_range("epsilon_group", epsilon_group, EPSILON_MAX)
    _check_delta(delta)
    require(
        _meets_clones_condition(epsilon_group, groups, delta),
        "epsilon_group",
        f"at most ln(k / (16 ln(2/delta))) with k={groups}, delta={delta:g}",
        epsilon_group,
    )
    return min(_clones_formula(epsilon_group, groups, delta), epsilon_group)


def _check_groups(groups: int) -> None:
    """Raise an error unless a number of groups is a positive integer."""
    is_valid = isinstance(groups, (int, np.integer)) and groups >= 1
    require(is_valid, "groups", "a positive integer", groups)


def _meets_clones_condition(epsilon_group: float, groups: int, delta: float) -> bool:
    """Return whether `epsilon_group` meets the condition of `clones_epsilon`."""
    return epsilon_group + math.log(16 * math.log(2 / delta)) <= math.log(groups)


def _clones_formula(epsilon_group: float, groups: int, delta: float) -> float:
    """Return the formula of `clones_epsilon`, without its minimum and without its condition."""
    grown = math.exp(epsilon_group)
    inner = 8 * math.sqrt(grown * math.log(4 / delta) / groups) + 8 * grown / groups
    return math.log1p(math.tanh(epsilon_group / 2) * inner)


def clones_delta(epsilon_group: float, groups: int, epsilon: float) -> float:
    r"""Return the exact delta of the clones' divergence :math:`H(k, \varepsilon_0, \varepsilon)`.

    Pure :math:`\varepsilon_0`-DP randomisers in uniformly random order are
    :math:`(\varepsilon, H)`-DP, for every k, without a side condition. The sum over the number of
    clones is truncated, and the omitted probability is added.

    Raises `InvalidInput` unless there is a group, the local epsilon is in (0, 1e6], and `epsilon`
    is finite and at least 0.
    """
    _check_groups(groups)
    _check_range("epsilon_group", epsilon_group, EPSILON_MAX)
    require(0 <= epsilon < math.inf, "epsilon", "a number of at least 0", epsilon)
    if epsilon >= epsilon_group:
        return 0.0
    # The divergence decreases in epsilon, so a smaller epsilon is safe.
    epsilon = min(epsilon, LARGEST_EPSILON)
    share = 1 / (1 + math.exp(-epsilon_group))  # the share a in the paper's notation
    a_term = -math.expm1(epsilon - epsilon_group) * share  # A = a - e^epsilon (1 - a)
    # B = e^epsilon a - (1 - a), and A - B = 1 - e^epsilon. Neither is computed as a difference of
    # nearly equal numbers.
    b_term = (math.expm1(epsilon) - math.expm1(-epsilon_group)) * share
    q = math.exp(-epsilon_group)
    trials = groups - 1
    mean, std = trials * q, math.sqrt(trials * q * (1 - q))
    low = max(0, math.floor(mean - 10 * std - 80))
    high = min(trials, math.ceil(mean + 10 * std + 80))
    clones = np.arange(low, high + 1, dtype=np.int64)
    binom = scipy.stats.binom
    weights = binom.pmf(clones, trials, q)
    # i_c = floor((c+1) B/(A+B)) + 1 uses A/(A+B), because B/(A+B) rounds to 1 at large epsilon.
    start = clones + 2 - np.ceil((clones + 1) * (a_term / (a_term + b_term)))
    # This equals A P(i >= i_c - 1) - B P(i >= i_c), without cancellation between the two large
    # terms.
    tail_term = math.expm1(epsilon) * binom.sf(start - 1, clones, 0.5)
    inner = a_term * binom.pmf(start - 1, clones, 0.5) - tail_term
    total = float(np.sum(weights * np.maximum(inner, 0.0)))
    left_out = float(binom.cdf(low - 1, trials, q)) + float(binom.sf(high, trials, q))
    return min(1.0, total + left_out)


@lru_cache(maxsize=1024)
def amplify(groups: int, epsilon: float, delta: float, route: Route) -> ShuffleAmplification | None:
    r"""Return the certificate of k shuffled groups that are (epsilon, delta)-DP together.

    Its rho per group is the largest that the route allows.

    None if epsilon exceeds 600 or a condition of the route fails, so that nothing is amplified.
    The conditions of ``"printed"`` are
    :math:`\varepsilon \le 8e^2\sqrt{\ln(4/\delta)/k}` (Theorem 6) and
    :math:`k \ge 16e^{\varepsilon_0}\ln(4/\delta)`, which the paper omits.

    Raises `InvalidInput` if a value is outside its range.

    Parameters
    ----------
    groups : int
        Number k of groups, at least 1.
    epsilon, delta : float
        The target; epsilon in (0, 1e6], delta in (0, 1).
    route : {"printed", "closed", "numerical"}
        ``"printed"``: Zhao et al. (2024), equation (24). ``"closed"``: the clones' closed form
        solved for the group's epsilon. ``"numerical"``: the exact two-binomial divergence.
    """
    _check_groups(groups)
    _check_range("epsilon", epsilon, EPSILON_MAX)
    _check_delta(delta)
    one_of("route", route, get_args(Route))
    if epsilon > LARGEST_EPSILON:
        return None
    if route == "printed":
        return _printed_amplification(groups, epsilon, delta)
    delta_shuffle = delta / 2
    target = _largest_group_epsilon(groups, epsilon, delta_shuffle, route)
    if target is None:
        return None
    # The other half of delta pays for the failure of k approximate randomisers.
    delta_group = (delta - delta_shuffle) / (
        (math.exp(epsilon) + 1) * (1 + 0.5 * math.exp(-target)) * groups
    )
    if not 0 < delta_group < 1:
        return None
    return ShuffleAmplification(
        groups=groups,
        rho_group=gaussian_rho(target, delta_group),
        epsilon=epsilon,
        delta=delta,
        epsilon_group=target,
        delta_group=delta_group,
        route=route,
    )


def largest_clones_epsilon(groups: int, epsilon: float, delta: float) -> float | None:
    """Return the largest local epsilon whose exact clones divergence is at most `delta`.

    The search ends at about 700. It is at least `epsilon`, at which the divergence is 0, and so
    never None.
    """
    return _largest_group_epsilon(groups, epsilon, delta, "numerical")


def _largest_group_epsilon(groups: int, epsilon: float, delta: float, route: Route) -> float | None:
    """Return the largest epsilon of a group that shuffling brings to (epsilon, delta).

    None if the route allows no epsilon; ``"closed"`` has a condition that may fail.
    """

    def meets(group: float) -> bool:
        """Return whether this epsilon of a group meets the budget after shuffling."""
        if route == "closed":
            holds = _meets_clones_condition(group, groups, delta)
            return holds and min(_clones_formula(group, groups, delta), group) <= epsilon
        return clones_delta(group, groups, epsilon) * (1 + ROUNDING) <= delta

    low, high = 0.0, epsilon
    if not meets(min(epsilon, 1e-6) if route == "closed" else epsilon):
        return None
    while high < 700 and meets(high):
        low, high = high, high + 1.0
    holds_up_to, fails_from = low, high
    if route == "numerical" and high < 700:
        # A divergence is slow to compute, so a few steps of Brent's method bracket the root first.
        # Most bisection steps then need no divergence.
        def height(group: float) -> float:
            """Return ln(delta reached / delta wanted), and remember on which side the group is."""
            nonlocal holds_up_to, fails_from
            reached = clones_delta(group, groups, epsilon) * (1 + ROUNDING)
            holds_up_to, fails_from = (
                (max(holds_up_to, group), fails_from)
                if reached <= delta
                else (holds_up_to, min(fails_from, group))
            )
            return math.log(max(reached / delta, 1e-3))

        find_root(height, low, high, xtol=1e-15)
    for _ in range(50):
        middle = (low + high) / 2
        holds = middle <= holds_up_to or (middle < fails_from and meets(middle))
        low, high = (middle, high) if holds else (low, middle)
    return low if low > 0 else None


def _printed_amplification(
    groups: int, epsilon: float, delta: float
) -> ShuffleAmplification | None:
    """Return the amplification of Zhao et al., equation (24); None where it does not hold."""
    if epsilon > 8 * math.e**2 * math.sqrt(math.log(4 / delta) / groups):
        return None
    spread = 1 + 2 * math.sqrt(math.log(12 * groups / delta))
    rho = epsilon**2 * groups / (64 * math.e**4 * math.log(8 / delta) * spread**2)
    delta_group = delta / (12 * groups)
    epsilon_group = rho + 2 * math.sqrt(rho * math.log(1 / delta_group))
    if groups < 16 * math.exp(epsilon_group) * math.log(4 / delta):
        return None
    return ShuffleAmplification(
        groups=groups,
        rho_group=rho,
        epsilon=epsilon,
        delta=delta,
        epsilon_group=epsilon_group,
        delta_group=delta_group,
        route="printed",
    )
