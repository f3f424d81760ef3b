r"""The rates of private stochastic convex optimisation, each as its terms with constants set to 1.

Gradients are in moment units (coordinate-wise central moments of 1, or a raw directional moment of
1), M is the diameter, :math:`a=1-1/p`, and :math:`\varepsilon` of the tables is
:math:`\sqrt\rho`. What does not say otherwise drops logarithms. Upper rates are not capped by the
trivial risk, and are infinite at rho = 0.
"""

from __future__ import annotations

import math

from dpsco_core.base.errors import require
from dpsco_core.bounds.conditions import check_sizes
from dpsco_core.bounds.mean.rates import clipped_rate, mean_rate_cdp


def _private(n: int, d: int, moment_order: float, top: float, rho: float) -> float:
    r"""Return :math:`\sqrt d(\text{top}/(\sqrt\rho n))^{1-1/p}`."""
    check_sizes(n, d)
    require(2 <= moment_order < math.inf, "moment_order", "at least 2", moment_order)
    if rho <= 0:
        return math.inf
    return math.sqrt(d) * math.pow(top / (math.sqrt(rho) * n), 1 - 1 / moment_order)


def coordinatewise(
    n: int, d: int, moment_order: float, rho: float, diameter: float
) -> tuple[float, float]:
    r"""Theorem 5.2 of Kamath et al. (2022), linear in M.

    .. math:: M\frac d{\sqrt n},\quad M\sqrt d\Big(\frac{d^{3/2}}{\sqrt\rho\,n}\Big)^{1-1/p}

    With :math:`\tau=(\sqrt\rho n/d^{3/2})^{1/p}`; at M = 1 it is the printed rate. Method 1 of
    Table I of Zhao et al. (2024). See theory/kamath-liu-zhang.md, 3.4.
    """
    private = _private(n, d, moment_order, d**1.5, rho)
    return diameter * d / math.sqrt(n), diameter * private


def coordinatewise_printed(
    n: int, d: int, moment_order: float, rho: float, diameter: float
) -> tuple[float, float]:
    r"""Theorem 5.2 as printed.

    .. math::
        \frac{Md}{\sqrt n},\quad\frac{Md^2}{n\sqrt\rho}\Big(\frac{\sqrt\rho\,n}{Md^{3/2}}\Big)^{1/p}
    """
    private = _private(n, d, moment_order, diameter * d**1.5, rho)
    return diameter * d / math.sqrt(n), private


def coordinatewise_probability(
    n: int,
    d: int,
    moment_order: float,
    rho: float,
    diameter: float,
    smoothness: float,
    beta: float,
) -> tuple[float, float, float]:
    r"""Theorem B.8, with its logarithms.

    .. math::
        \frac{Md\sqrt\ell}{\sqrt n},\quad
        \ell\,\frac{Md^2}{n\sqrt\rho}\Big(\frac{\sqrt\rho\,n}{Md^{3/2}}\Big)^{1/p},\quad
        \ell\,\frac{MLd^{3/2}}{n^3},\qquad\ell=\max\Big(1,\ln\frac{Mdn}\beta\Big)
    """
    require(0 < beta < 1, "beta", "between 0 and 1", beta)
    sampling, private = coordinatewise_printed(n, d, moment_order, rho, diameter)
    size = max(1.0, math.log(diameter) + math.log(d) + math.log(n) - math.log(beta))
    covering = diameter * smoothness * d**1.5 / float(n) ** 3
    return sampling * math.sqrt(size), private * size, covering * size


def smoothed(n: int, d: int, rho: float, diameter: float) -> tuple[float, float]:
    r"""Smoothed truncation at the best level: the roots of the two terms of the optimum.

    .. math:: 2M\Big(\frac{d^2}n+\frac{d^{3/2}}{\sqrt\rho\,n}\Big)^{1/2}

    From Kamath et al. (2022), Lemma B.4, at :math:`\tau^2=n/(d+\sqrt{d/\rho})`; see
    theory/kamath-liu-zhang.md, 3.4. The rate is the root of the sum of squares of the two terms.
    """
    check_sizes(n, d)
    if rho <= 0:
        return math.inf, math.inf
    private = d**0.75 / (math.pow(rho, 0.25) * math.sqrt(n))
    return 2 * diameter * d / math.sqrt(n), 2 * diameter * private


def best_power(d: int, rho: float) -> float:
    r"""Return the q of Theorem 5.5: :math:`1+\frac{\ln\rho}{4\ln d}`, kept in [1/2, 2].

    Where the two terms are equal; for d = 1 they do not depend on q.
    """
    if d == 1 or rho <= 0:
        return 1.0
    return min(2.0, max(0.5, 1 + math.log(rho) / (4 * math.log(d))))


def smoothed_printed(
    n: int, d: int, rho: float, diameter: float, power: float | None = None
) -> tuple[float, float]:
    r"""Theorem 5.5 of Kamath et al. (2022), as printed, at its best q.

    .. math::
        \sqrt M\frac{d^{(3-q)/2}}{\sqrt n},\quad
        \sqrt M\frac{d^{(1+q)/2}}{\rho^{1/4}\sqrt n},\qquad\tfrac12\le q\le2

    Method 2 of Table I of Zhao et al. (2024).
    """
    check_sizes(n, d)
    if rho <= 0:
        return math.inf, math.inf
    q = best_power(d, rho) if power is None else power
    require(0.5 <= q <= 2, "power", "between 1/2 and 2", q)
    root = math.sqrt(diameter / n)
    return root * d ** ((3 - q) / 2), root * d ** ((1 + q) / 2) / math.pow(rho, 0.25)


def strong(n: int, d: int, moment_order: float, rho: float) -> tuple[float, float]:
    r"""Squares of the mean rate: Theorem 5.7 of Kamath et al. (2022) without its factor.

    .. math:: \frac dn,\quad d\Big(\frac{\sqrt d}{\sqrt\rho\,n}\Big)^{2-2/p}
    """
    sampling, private = mean_rate_cdp(n, d, moment_order, rho)
    return sampling**2, private**2


def strong_factor(diameter: float, strong_convexity: float, smoothness: float) -> float:
    r"""Return :math:`\frac{(M+1)^2(\lambda+L)^2}{\lambda^2L}`, the factor of Theorem 5.7."""
    total = (strong_convexity + smoothness) / strong_convexity
    return (diameter + 1) ** 2 * total**2 / smoothness


def wang(n: int, d: int, rho: float) -> float:
    r"""Wang et al. (2020), convex, as corrected: :math:`(d^3/(\rho n))^{1/3}`.

    Kamath et al. (2022), section 1.1, footnote 4: the analysis that was printed had :math:`d^2`.
    Table I of Zhao et al. (2024).
    """
    check_sizes(n, d)
    return d / math.pow(rho * n, 1 / 3) if rho > 0 else math.inf


def wang_strong(n: int, d: int, rho: float) -> float:
    r"""Wang et al. (2020), strongly convex, as corrected: :math:`d^3/(\rho n)`."""
    check_sizes(n, d)
    return float(d) ** 3 / (rho * n) if rho > 0 else math.inf


def clipped_logs(n: int, d: int, moment_order: float, rho: float) -> tuple[float, float, float]:
    r"""Theorem 4 of Zhao et al. (2024), (20) with (73).

    .. math::
        \sqrt{\frac{d\ln n}n},\quad\sqrt d\Big(\frac{\sqrt d}{n\sqrt\rho}\Big)^{1-1/p},\quad
        \frac{d^{3/2-1/p}}{n^{1-1/p}}\ln n
    """
    sampling, private, tail = clipped_rate(n, d, moment_order, rho)
    size = math.log(n)
    return sampling * math.sqrt(size), private, tail * size


def clipped_directional(
    n: int, d: int, moment_order: float, rho: float
) -> tuple[float, float, float]:
    r"""Simple clipping with the clipping bias of directional moments.

    .. math::
        \sqrt{\frac dn},\quad\Big(\frac d{n\sqrt\rho}\Big)^{1-1/p},\quad
        \Big(\frac{d^{3/2}}n\Big)^{1-1/p}

    The last two are :math:`d^{1/(2p)}` below Theorem 4's: theory/zhao-et-al.md, 3.6.
    """
    sampling, private, tail = clipped_rate(n, d, moment_order, rho)
    gain = math.pow(d, -1 / (2 * moment_order))
    return sampling, private * gain, tail * gain


def iterative_logs(
    n: int, d: int, moment_order: float, epsilon: float, delta: float
) -> tuple[float, float]:
    r"""Theorem 7 of Zhao et al. (2024), (36), which is claimed and not proven.

    .. math::
        \sqrt{\frac dn},\quad
        \sqrt d\Big(\frac{\sqrt d}{n\varepsilon}\Big)^{1-1/p}\ln\frac1\delta\,\ln(nd)
    """
    sampling, private = mean_rate_cdp(n, d, moment_order, epsilon**2)
    return sampling, private * -math.log(delta) * (math.log(n) + math.log(d))


def quoted_lower(
    n: int, d: int, moment_order: float, epsilon: float, delta: float
) -> tuple[float, float]:
    r"""Theorem 1 of Zhao et al. (2024), (6), as quoted there.

    .. math::
        \sqrt{\frac dn},\quad\sqrt d\Big(\frac{\sqrt d}{n\varepsilon}\Big)^{1-1/p}\ln\frac1\delta
    """
    sampling, private = mean_rate_cdp(n, d, moment_order, epsilon**2)
    return sampling, private * -math.log(delta)


def lipschitz(n: int, d: int, rho: float) -> tuple[float, float]:
    r"""Bassily et al. (2019) and Feldman et al. (2020).

    .. math:: \frac1{\sqrt n},\quad\frac{\sqrt d}{\sqrt\rho\,n}

    In units of L D; the optimum for Lipschitz losses, and the larger of the two terms as printed.
    """
    check_sizes(n, d)
    private = math.sqrt(d / rho) / n if rho > 0 else math.inf
    return 1 / math.sqrt(n), private


def uniform_convergence(n: int, d: int, rho: float) -> tuple[float, float]:
    r"""Bassily et al. (2014), for the population risk.

    .. math:: \frac{d^{1/4}}{\sqrt n},\quad\frac{\sqrt d}{\sqrt\rho\,n}

    In units of L D; the larger of the two.
    """
    sampling, private = lipschitz(n, d, rho)
    return sampling * math.pow(d, 0.25), private


def chaudhuri(n: int, d: int, epsilon: float, smoothness: float) -> tuple[float, float, float]:
    r"""Chaudhuri et al. (2011), output perturbation, in units of L D; the largest term counts.

    .. math::
        \frac1{\sqrt n},\quad\frac d{n\varepsilon},\quad\frac{d\sqrt\beta}{n^{2/3}\varepsilon}

    As Arora et al. (2020) quote it, with a smoothness beta that is not in the units of the rest.
    """
    check_sizes(n, d)
    private = d / (n * epsilon)
    return 1 / math.sqrt(n), private, private * math.sqrt(smoothness) * math.pow(n, 1 / 3)
