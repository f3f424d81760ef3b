r"""What the printed algorithms need of users: the conditions of their theorems.

Lowy, Liu and Asi (2024), Theorems B.1 and C.1, and what their proofs use of the constants
(theory/lowy-liu-asi.md, 2.1 to 2.3 and 8, items 3 to 12).
"""

import math
from collections.abc import Callable

from dpsco_core.methods.user.level import UserLevel
from dpsco_core.methods.user.printed_schedules import (
    phase_count,
    phase_users,
    printed_erm,
    printed_groups,
)

# No number of users with more binary digits is looked at.
MOST_DIGITS = 200


def least_users(works: Callable[[int], bool]) -> float:
    r"""Return the least n >= 2 at which a condition holds; infinite beyond :math:`2^{200}`.

    It has to hold from somewhere on in every interval :math:`[2^l,2^{l+1})` or nowhere there: the
    number of phases :math:`\lfloor\log_2n\rfloor` jumps in between.
    """
    for digits in range(1, MOST_DIGITS):
        low, high = 1 << digits, (1 << (digits + 1)) - 1
        if not works(high):
            continue
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if works(middle) else (middle + 1, high)
        return low
    return math.inf


def best_decay(n: int) -> float:
    r"""Return the q that maximises :math:`n_l=(1-2^{-q})n2^{-lq}`: :math:`2^{-q}=\frac l{l+1}`."""
    phases = phase_count(n)
    return math.log2((phases + 1) / phases)


def fills_groups(at: UserLevel, q: float | None = None) -> bool:
    r"""Whether :math:`n_l\ge C`, so that every group of the last phase has a user; None: best q."""
    chosen = best_decay(at.n) if q is None else q
    return phase_users(at.n, phase_count(at.n), chosen) >= printed_groups(at)


def laplace_tail(at: UserLevel) -> float:
    r"""Return :math:`e^{-C\varepsilon/150}=(20nme^\varepsilon/\delta)^{-2/3}`.

    The probability that the noise of Algorithm 1's test exceeds 2C/15.

    Examples
    --------
    >>> at = UserLevel(n=10**6, m=100, d=10, epsilon=1.0, delta=1e-9)
    >>> f"{laplace_tail(at):.5g}"
    '3.2343e-13'
    """
    return math.exp(-printed_groups(at) * at.epsilon / 150)


def users_condition(at: UserLevel, q: float) -> tuple[float, float]:
    r"""Return both sides of Theorem B.1: :math:`n^{1-q}\ge\frac{100\ln(n/\delta)}{\varepsilon
    (1-2^{-q})}`.

    Examples
    --------
    >>> at = UserLevel(n=10**6, m=100, d=10, epsilon=1.0, delta=1e-9)
    >>> [round(side, 1) for side in users_condition(at, 0.1)]
    [251188.6, 51575.8]
    """
    share = -math.expm1(-q * math.log(2))
    right = 100 * (math.log(at.n) + at.log_delta) / (at.epsilon * share)
    return math.pow(at.n, 1 - q), right


def erm_condition(at: UserLevel, q: float) -> tuple[float, float]:
    r"""Return both sides of Theorem C.1: :math:`n^{1-q}>\frac{100\ln(20nmde^\varepsilon/\delta)}
    {\varepsilon(1-2^{-q})}`.
    """
    share = -math.expm1(-q * math.log(2))
    logarithm = math.log(20) + at.log_size + at.epsilon + at.log_delta
    return math.pow(at.n, 1 - q), 100 * logarithm / (at.epsilon * share)


def batch_ratio(at: UserLevel, q: float, phase: int | None = None) -> float:
    r"""Return :math:`K_i/n_i` of Algorithm 3 as printed; None: the largest of all phases."""
    phases = printed_erm(at, q).phases
    chosen = phases if phase is None else phases[phase - 1 : phase]
    return max(p.batch / p.users for p in chosen)
