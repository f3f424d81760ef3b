"""Zhao, Wu, Liu, Wang, Fan and Li (2024): see theory/zhao-et-al.md, 2.2 to 2.4."""

import math


def equation_14_covering(d: int, beta: float, net: float = 6.0) -> float:
    r"""Return the logarithm :math:`\Lambda=\ln(2\cdot6^d/\beta)` in Theorem 2.

    A net of :math:`6^d` directions covers the sphere; beta is the failure probability. ``net=5``
    stands for the smaller net of :math:`5^d`.
    """
    return d * math.log(net) + math.log(2 / beta)


def equation_14_slope(n: int, rho: float, covering: float) -> float:
    r"""Return the factor of the radius R in the bound (14).

    It is :math:`\frac{4\sqrt\Lambda}{n\sqrt\rho}+\frac{8\Lambda}n`, Lambda the `covering` of
    `equation_14_covering`. Of the maximum in (14), the second entry is taken.
    """
    return 4 * math.sqrt(covering / rho) / n + 8 * covering / n


def equation_15_rho(epsilon: float, delta: float) -> float:
    r"""Return the rho that a budget allows by (15).

    It is :math:`\rho=\varepsilon^2/(1+2\sqrt{\ln(1/\delta)})^2`.
    """
    return (epsilon / equation_15_reach(delta)) ** 2


def equation_15_reach(delta: float) -> float:
    r"""Return :math:`1+2\sqrt{\ln(1/\delta)}`, the largest epsilon for which (15) is valid."""
    return 1 + 2 * math.sqrt(-math.log(delta))


def equation_19_radius(n: int, d: int, rho: float, order: float, moment: float = 1.0) -> float:
    r"""Return the radius R of (19) times the moment bound M, a factor that the paper leaves out.

    :math:`M\sqrt d\min\{n\sqrt{\rho/d},\,n/d\}^{1/p}`.
    """
    signal = min(n * math.sqrt(rho / d), n / d)
    return moment * math.sqrt(d) * math.pow(signal, 1 / order)


def lemma_6_groups(beta: float) -> float:
    r"""Return the least number of groups of Lemma 6, :math:`800\ln(1/\beta)`."""
    return 800 * math.log(1 / beta)
