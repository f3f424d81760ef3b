r"""The (epsilon, delta) curve of exponential mechanisms together with Gaussian noise.

An exponential mechanism that is epsilon_1-DP is also :math:`\varepsilon_1^2/8`-zCDP. Converted as
zCDP, a few of them would cost a release 6 to 13 % of its noise; the two rules here cost almost
nothing (theory/adaptive-methods.md, 1.2). Both bound the curve from above, by cells.

* *Recursion*, if all Gaussian releases come after all exponential mechanisms, each of which has a
  privacy loss in :math:`[t-\varepsilon_1, t]` for some t that may depend on all earlier outputs.
* *Fixed pairs*, in any order: one pair of laws dominates an exponential mechanism for all t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import erfcx, ndtr

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.base.root import find_root
from dpsco_core.privacy.budget import (
    CURVE_ACCURACY,
    ZCDP,
    ApproxDP,
    gaussian_epsilon,
    gaussian_rho,
    zcdp_rho,
)
from dpsco_core.privacy.concentration import choice_epsilon_of
from dpsco_core.privacy.losses import CELLS, Choices, LossLaw

# Groups of equal exponential mechanisms in their order: the share of rho of each, and their number.
Shares = tuple[tuple[float, int], ...]

MOST_RECURSIVE = 2  # the largest recursion depth: the cost grows 48-fold with each level

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2


def choice_epsilon(rho: float, count: int = 1) -> float:
    r"""Return the epsilon of each of `count` exponential mechanisms that are jointly rho-zCDP.

    :math:`\sqrt{8\rho/k}` (Cesar and Rogers 2021, Rogers and Steinke 2021), or that of any pure
    release where it is larger: see `choice_rho`.
    """
    return choice_epsilon_of(rho / count)


def gaussian_deltas(rho: float, epsilons: Vector) -> Vector:
    r"""Return the delta of rho-zCDP Gaussian noise at many epsilons, which may be negative.

    See `gaussian_delta`; :math:`\delta(-x) = 1-e^{-x}+e^{-x}\delta(x)`. A rho of 0 releases
    nothing.
    """
    sizes = np.abs(epsilons)
    deltas = np.zeros_like(sizes) if rho == 0 else _positive_deltas(rho, sizes)
    return np.where(epsilons < 0, np.exp(-sizes) * deltas - np.expm1(-sizes), deltas)


def _positive_deltas(rho: float, epsilons: Vector) -> Vector:
    """Return the delta of rho-zCDP Gaussian noise at each epsilon of at least 0, shape (k,)."""
    nu = math.sqrt(2 * rho)
    low, high = (epsilons - rho) / nu, (epsilons + rho) / nu
    with np.errstate(under="ignore"):
        density = np.exp(-low * low / 2) / math.sqrt(2 * math.pi)
    if nu < 1:
        points = low[:, None] + nu * _NODES
        return np.asarray(density * nu * ((1 - points * _mills(points)) @ _WEIGHTS))
    central = np.where(low > 0, density * _mills(np.maximum(low, 0)), ndtr(-low))
    return np.asarray(central - density * _mills(high))


def _mills(x: Vector) -> Vector:
    """Return the Mills ratio (1 - cdf(x)) / pdf(x) of the normal law."""
    return math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))


@lru_cache(maxsize=4096)
def selection_delta(
    epsilon: float,  # the epsilon at which delta is sought, at least 0
    rho: float,  # the rho of all Gaussian releases together, at least 0
    choices: Choices,  # the exponential mechanisms in their order
    *,
    # Whether all Gaussian releases come after all exponential mechanisms; if not, the recursion is
    # not proven, and fixed pairs are used.
    choices_first: bool,
) -> float:
    """Return a delta, at most 1, at which all releases together are (epsilon, delta)-DP."""
    if choices_first and sum(count for _, count in choices) <= MOST_RECURSIVE:
        epsilons = [own for own, count in choices for _ in range(count)]
        return min(1.0, float(_recursive_curve(rho, epsilons)(np.array([epsilon]))[0]))
    law = LossLaw.of_choices(choices)
    expected_delta = law.weights @ gaussian_deltas(rho, epsilon - law.values)
    return min(1.0, float(expected_delta) + law.lost_mass)


def _recursive_curve(rho: float, epsilons: list[float]) -> Callable[[Vector], Vector]:
    """Return the privacy curve of exponential mechanisms, in order, before Gaussian noise.

    A cell of t from t0 to t1 has the two losses t1 and t0 - epsilon_1, with the probability that
    makes the mean of the likelihood ratio 1.
    """
    if not epsilons:
        return lambda epsilons_at: gaussian_deltas(rho, epsilons_at)
    epsilon, remaining_curve = epsilons[0], _recursive_curve(rho, epsilons[1:])
    ends = np.linspace(0.0, epsilon, CELLS + 1)
    high, low = ends[1:], ends[:-1] - epsilon
    likely = np.expm1(low) / np.expm1(low - high)

    def deltas(epsilons_at: Vector) -> Vector:
        """Return the delta at each epsilon if the next choice is the worst one."""
        points = np.concatenate([epsilons_at[:, None] - high, epsilons_at[:, None] - low], axis=1)
        later_deltas = remaining_curve(points.ravel()).reshape(len(epsilons_at), 2, CELLS)
        return np.asarray(
            (likely * later_deltas[:, 0] + (1 - likely) * later_deltas[:, 1]).max(axis=1)
        )

    return deltas


@lru_cache(maxsize=4096)
def selection_epsilon(delta: float, rho: float, choices: Choices, *, choices_first: bool) -> float:
    """Return the least epsilon of all releases together at delta, rounded up.

    The parameters are those of `selection_delta`.
    """
    safe = delta * (1 - CURVE_ACCURACY)

    def excess(epsilon: float) -> float:
        """Return (delta at this epsilon) / `safe` - 1: at most 0 where epsilon is enough."""
        return selection_delta(epsilon, rho, choices, choices_first=choices_first) / safe - 1

    # By basic composition, the epsilons of all exponential mechanisms add up.
    plain = math.fsum(epsilon * count for epsilon, count in choices)
    largest = plain + (gaussian_epsilon(rho, delta) if rho else 0.0)
    return _least_epsilon(excess, largest)


def _least_epsilon(excess: Callable[[float], float], largest: float) -> float:
    """Return the least epsilon in [0, `largest`] at which a decreasing `excess` is at most 0.

    It is rounded up to where the condition holds, and is `largest` if it holds nowhere.
    """
    if excess(0.0) <= 0:
        return 0.0
    if excess(largest) > 0:
        return largest
    root = float(find_root(excess, 0.0, largest, xtol=1e-300, rtol=1e-14))
    step = math.ulp(root)
    while excess(root) > 0:
        root, step = min(root + step, largest), 2 * step
    return root


def selection_rho(budget: ZCDP | ApproxDP, shares: Shares, *, choices_first: bool) -> float:
    r"""Return the largest total rho whose shares meet a zCDP or (epsilon, delta) budget.

    A share f of it in k exponential mechanisms makes each of them
    :math:`\sqrt{8f\rho/k}`-DP (`choice_epsilon`); the Gaussian releases get the rest. Rounded down.
    Raises `InvalidInput` unless the shares sum to at least 0 and less than 1.

    Parameters
    ----------
    shares : tuple of (float, int)
        For each group of equal exponential mechanisms, in order: its share, and their number.
    choices_first : bool
        As in `selection_delta`.

    Examples
    --------
    >>> from dpsco_core.privacy import ApproxDP
    >>> budget = ApproxDP(epsilon=1.0, delta=1e-6)
    >>> rho = selection_rho(budget, ((0.02, 1), (0.02, 1)), choices_first=True)
    >>> round(rho / gaussian_rho(1.0, 1e-6), 4) > 0.994
    True
    """
    choice_share = math.fsum(share for share, _ in shares)
    require(0 <= choice_share < 1, "shares", "at least 0 and below 1 in all", choice_share)
    if isinstance(budget, ZCDP):
        return budget.rho
    return _approximate_rho(budget, shares, choices_first)


@lru_cache(maxsize=4096)
def _approximate_rho(budget: ApproxDP, shares: Shares, choices_first: bool) -> float:
    """Return the total rho of choices and Gaussian noise that spends an (epsilon, delta) budget."""
    epsilon, delta = budget.epsilon, budget.delta
    rest = 1 - math.fsum(share for share, _ in shares)
    safe = delta * (1 - CURVE_ACCURACY)

    def excess(log_rho: float) -> float:
        """Return (delta at rho = e^log_rho) / `safe` - 1, which must be at most 0."""
        rho = math.exp(log_rho)
        choices = tuple((choice_epsilon(f * rho, count), count) for f, count in shares)
        return selection_delta(epsilon, rest * rho, choices, choices_first=choices_first) / safe - 1

    smallest_rho = zcdp_rho(epsilon, delta)
    low, high = math.log(smallest_rho), math.log(gaussian_rho(epsilon, delta))
    if excess(low) > 0:
        return smallest_rho
    if excess(high) <= 0:
        return math.exp(high) * (1 - 1e-15)
    root = float(find_root(excess, low, high, xtol=1e-15))
    step = 1e-15
    while excess(root) > 0:
        root, step = root - step, 2 * step
    return math.exp(root)
