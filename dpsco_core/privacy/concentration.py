r"""The zero-concentrated DP of pure releases, exactly (theory/pure-releases.md, 1 to 4).

Every function here is for one release. Releases compose by adding their rho, so that many small
ones cost less than one release whose epsilon is their sum.
"""

import math
from collections.abc import Callable
from functools import lru_cache

from dpsco_core.base.root import find_root

# Below this epsilon the closed form of `laplace_rho` loses digits, and its series is used.
SERIES_BELOW = 0.5
SERIES_TERMS = 18


def laplace_rho(epsilon: float) -> float:
    r"""Return the least rho of Laplace noise that satisfies epsilon-DP.

    :math:`\rho=\varepsilon+e^{-\varepsilon}-1` for independent noise of scale
    :math:`\Delta_1/\varepsilon` on every entry of a value of l1 sensitivity :math:`\Delta_1`
    (theory/pure-releases.md, 1). It is between :math:`\varepsilon^2/2-\varepsilon^3/6` and
    :math:`\varepsilon^2/2`.

    Examples
    --------
    >>> round(laplace_rho(0.1), 8), round(laplace_rho(1.0), 6)
    (0.00483742, 0.367879)
    """
    if epsilon >= SERIES_BELOW:
        return epsilon + math.expm1(-epsilon)
    total = 1.0
    for k in range(SERIES_TERMS, 2, -1):  # The loop evaluates 1 - e/3 (1 - e/4 (1 - ...)).
        total = 1.0 - epsilon / k * total
    return epsilon * epsilon / 2 * total


def pure_rho(epsilon: float) -> float:
    r"""Return the least rho that bounds every epsilon-DP release.

    :math:`\rho=\varepsilon\tanh(\varepsilon/2)`, which randomised response attains
    (theory/pure-releases.md, 2). It is below :math:`\varepsilon^2/2`, Proposition 1.4 of Bun and
    Steinke (2016).

    Examples
    --------
    >>> round(pure_rho(0.1), 8), round(pure_rho(1.0), 6)
    (0.00499584, 0.462117)
    """
    return epsilon * math.tanh(epsilon / 2)


def choice_rho(epsilon: float) -> float:
    r"""Return a rho of one epsilon-DP exponential mechanism.

    It is the smaller one of :math:`\varepsilon^2/8`, as its log-ratios span at most epsilon (Cesar
    and Rogers 2021, Rogers and Steinke 2021; theory/adaptive-methods.md, 1.2), and of `pure_rho`,
    from :math:`\varepsilon\approx8` on.
    """
    return min(epsilon**2 / 8, pure_rho(epsilon))


@lru_cache(maxsize=4096)
def laplace_epsilon(rho: float) -> float:
    """Return the largest epsilon at which one Laplace release is rho-zCDP, rounded down.

    Examples
    --------
    >>> round(laplace_epsilon(0.5), 6)
    1.19829
    """
    return _largest_epsilon(laplace_rho, rho)


@lru_cache(maxsize=4096)
def pure_epsilon_of(rho: float, shares: tuple[float, ...] = (1.0,)) -> float:
    """Return the largest epsilon at which every epsilon-DP release is rho-zCDP, rounded down.

    With several shares, which sum to 1, it is that of so many releases, each of which has its share
    of epsilon: together they cost less than one release does.

    Examples
    --------
    >>> round(pure_epsilon_of(0.5), 6)
    1.043627
    """
    return _largest_epsilon(
        lambda epsilon: math.fsum(pure_rho(s * epsilon) for s in shares), rho, shares
    )


def choice_epsilon_of(rho: float) -> float:
    """Return the largest epsilon at which an exponential mechanism is rho-zCDP; see `choice_rho`.

    Examples
    --------
    >>> choice_epsilon_of(0.5)
    2.0
    """
    return max(math.sqrt(8 * rho), pure_epsilon_of(rho))


def _largest_epsilon(
    cost: Callable[[float], float], rho: float, shares: tuple[float, ...] = (1.0,)
) -> float:
    r"""Return the largest epsilon whose `cost`, the rho of releases at it, is at most `rho`.

    The cost of one release is between :math:`\varepsilon-1` and :math:`\varepsilon^2/2`. `shares`
    are the parts of epsilon of several releases.
    """
    low, high = math.sqrt(2 * rho), rho + len(shares)
    low = min(low, high)
    # For so small a rho the cost equals half the square of epsilon, up to rounding.
    if cost(low) >= rho:
        epsilon = low
    elif cost(high) <= rho:  # For so large a rho, epsilon - 1 rounds to rho.
        return high
    else:
        epsilon = float(
            find_root(lambda x: cost(x) / rho - 1, low, high, xtol=1e-300, rtol=1e-14, steps=300)
        )
    while cost(epsilon) > rho:
        epsilon = math.nextafter(epsilon, 0.0)
    return epsilon
