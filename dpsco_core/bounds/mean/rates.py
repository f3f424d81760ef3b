r"""The rates of mean estimation, each as its terms with hidden constants set to 1.

Moments are scaled to 1 and :math:`a=1-1/p`. Upper rates are not capped by the trivial error.
"""

from __future__ import annotations

import math

from dpsco_core.base.errors import require
from dpsco_core.bounds.conditions import check_sizes


def mean_rate_cdp(n: int, d: int, moment_order: float, rho: float) -> tuple[float, float]:
    r"""Coordinate-wise moments, concentrated DP.

    .. math:: \sqrt{\tfrac dn},\quad\sqrt d\Big(\frac{\sqrt d}{\sqrt\rho\,n}\Big)^{1-1/p}

    Kamath et al. (2022), Corollary 4.2; with the second term capped at :math:`\sqrt d`, Lemma 6.3.
    Infinite second term at rho = 0.

    Examples
    --------
    >>> [round(t, 5) for t in mean_rate_cdp(10_000, 200, 4, 0.5)]
    [0.14142, 0.13375]
    """
    return _rate(n, d, moment_order, math.sqrt(d), math.sqrt(max(rho, 0.0)))


def mean_rate_pure(n: int, d: int, moment_order: float, epsilon: float) -> tuple[float, float]:
    r"""Coordinate-wise moments, pure DP.

    .. math:: \sqrt{\tfrac dn},\quad\sqrt d\Big(\frac d{\varepsilon n}\Big)^{1-1/p}

    Kamath et al. (2022), Corollary 4.2 and Lemma 6.3.
    """
    return _rate(n, d, moment_order, float(d), epsilon)


def _rate(n: int, d: int, order: float, top: float, level: float) -> tuple[float, float]:
    check_sizes(n, d)
    require(2 <= order < math.inf, "moment_order", "at least 2", order)
    require(level >= 0, "rho" if top < d else "epsilon", "at least 0", level)
    private = math.sqrt(d) * (top / (level * n)) ** (1 - 1 / order) if level > 0 else math.inf
    return math.sqrt(d / n), private


def smoothed_rate(n: int, d: int, rho: float) -> tuple[float, float]:
    r"""Smoothed truncation at one point: the rate of second moments, whatever the order.

    .. math:: \sqrt{\tfrac dn},\quad\frac{d^{3/4}}{\rho^{1/4}\sqrt n}

    From Kamath et al. (2022), Lemma B.4 in its fixed-point form, with the truncation level that
    balances bias and noise: Corollary 4.2 at p = 2.
    """
    return mean_rate_cdp(n, d, 2.0, rho)


def clipped_rate(n: int, d: int, moment_order: float, rho: float) -> tuple[float, float, float]:
    r"""Norm clipping, the balance of Zhao et al. (2024), Theorem 2; in units of M.

    .. math::
        \sqrt{\tfrac dn},\quad\sqrt d\Big(\frac{\sqrt d}{n\sqrt\rho}\Big)^{1-1/p},\quad
        \sqrt d\Big(\frac dn\Big)^{1-1/p}

    The third term, :math:`d^{3/2-1/p}n^{-(1-1/p)}`, is the sub-exponential part of the sample.
    """
    sampling, private = mean_rate_cdp(n, d, moment_order, rho)
    tail = math.sqrt(d) * (d / n) ** (1 - 1 / moment_order)
    return sampling, private, tail


def directional_rate(n: int, d: int, moment_order: float, rho: float) -> tuple[float, float]:
    r"""Directional moments: the rate of Kamath, Singhal and Ullman (2020), in units of M.

    .. math:: \sqrt{\tfrac dn},\quad\Big(\frac d{n\sqrt\rho}\Big)^{1-1/p}

    Norm clipping attains it with the sharp clipping bias (theory/zhao-et-al.md, 3.6).
    """
    sampling, private = _rate(n, d, moment_order, float(d), math.sqrt(max(rho, 0.0)))
    return sampling, private / math.sqrt(d)


def iterative_rate(
    n: int, d: int, moment_order: float, rho: float, beta: float
) -> tuple[float, float, float]:
    r"""Iterative updating: Zhao et al. (2024), Theorem 5 in its form (31), at the balancing radius.

    .. math::
        \sqrt{\frac{d+\ln\frac1\beta}n},\quad \sqrt d\,c^{1-1/p},\quad \sqrt d\,c^{1-1/p},\qquad
        c=\frac{\sqrt{d+\ln(1/\beta)}}{n\sqrt\rho}

    Sampling, bias and noise, in units of M; the number of groups is a hidden constant.
    """
    check_sizes(n, d)
    require(0 < beta < 1, "beta", "between 0 and 1", beta)
    dimension = d - math.log(beta)
    if rho <= 0:
        return math.sqrt(dimension / n), math.inf, math.inf
    slope = math.sqrt(dimension) / (n * math.sqrt(rho))
    private = math.sqrt(d) * slope ** (1 - 1 / moment_order)
    return math.sqrt(dimension / n), private, private


def iterative_amplified_rate(
    n: int, d: int, moment_order: float, epsilon: float, delta: float, beta: float
) -> tuple[float, float, float]:
    r"""Iterative updating under (epsilon, delta)-DP: Zhao et al. (2024), Theorem 5, (21).

    As `iterative_rate` with
    :math:`c=\frac{\sqrt{d+\ln(1/\beta)}}{n\varepsilon}(\ln\frac1\delta+
    \sqrt{\ln\frac1\delta\,\ln\ln\frac1\beta})`.
    """
    check_sizes(n, d)
    require(0 < beta < math.exp(-1), "beta", "between 0 and 1/e", beta)
    require(0 < delta < 1, "delta", "between 0 and 1", delta)
    log_delta = -math.log(delta)
    logs = log_delta + math.sqrt(log_delta * math.log(-math.log(beta)))
    return iterative_rate(n, d, moment_order, (epsilon / logs) ** 2, beta)
