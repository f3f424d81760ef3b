"""Arora, Marinov and Ullah (2020): see theory/arora-marinov-ullah.md, 2.1 and 3."""

import math


def theorem_4_step(n: int, d: int, lipschitz: float, noise_std: float, distance: float) -> float:
    r"""Return the step size of Theorem 4, :math:`\eta=\frac D{\sqrt n(L+\sigma\sqrt d)}`.

    D is `distance`, the size of the constraint set, L the Lipschitz constant, and sigma the
    standard deviation of the noise in each of d coordinates.
    """
    return distance / (math.sqrt(n) * (lipschitz + noise_std * math.sqrt(d)))


def remark_1_epsilon(n: int, delta: float) -> float:
    r"""Return :math:`4\sqrt{\ln(3/\delta)/n}`, the largest epsilon of Theorem 6; 0 at delta > 3."""
    return 4 * math.sqrt(max(0.0, math.log(3 / delta)) / n)
