"""Kamath, Liu and Zhang (2022): see theory/kamath-liu-zhang.md, 2.2 to 2.4."""

import math
from typing import Literal

Noise = Literal["gaussian", "laplace"]
LEMMA_B1_CONSTANT = 14.0  # the constant C of the bias bound in Lemma B.1
SMALLEST_THRESHOLD = 10.0  # Theorem 4.1 and Algorithms 3 and 4 assume tau >= 10.


def algorithm_3_blocks(d: int, beta: float) -> float:
    r"""Return the number of blocks :math:`m=4\ln(2d/\beta)` of Algorithm 3, not rounded."""
    return 4 * math.log(2 * d / beta)


def algorithm_3_sensitivity(threshold: float, blocks: float, n: int) -> float:
    r"""Return the sensitivity of Appendix B.3, :math:`12\tau m/n`.

    Here m is the number of blocks. For whole m no more is needed, and 2 or 4 times less is enough.
    """
    return 12 * threshold * blocks / n


def corollary_4_2_threshold(n: int, d: int, level: float, noise: Noise, order: float) -> float:
    r"""Return the threshold tau of Corollary 4.2, in units of the moment, at moment order p.

    :math:`(\sqrt\rho n/\sqrt d)^{1/p}` (Gaussian) or :math:`(\varepsilon n/d)^{1/p}` (Laplace);
    `level` is rho or epsilon.
    """
    signal = math.sqrt(level / d) * n if noise == "gaussian" else level * n / d
    return math.pow(signal, 1 / order)


def lemma_b1_bias(threshold: float, order: float) -> float:
    r"""Return the printed bias :math:`3(C/\tau)^{p-1}` of clipping to :math:`[-3\tau,3\tau]`."""
    return 3 * math.pow(LEMMA_B1_CONSTANT / threshold, order - 1)


def theorem_5_5_power(d: int, rho: float) -> float:
    r"""Return the q of Theorem 5.5, at which its two terms are equal, kept in [1/2, 2].

    For d = 1 the terms do not depend on q, and the value is 1.
    """
    if d == 1 or rho <= 0:
        return 1.0
    return min(2.0, max(0.5, 1 + math.log(rho) / (4 * math.log(d))))
