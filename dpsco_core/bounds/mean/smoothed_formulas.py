r"""Smoothed truncation (Holland's estimator): Kamath et al. (2022), Algorithm 4.

Fixed-point bounds for laws whose coordinates have central second moments at most 1 (implied by a
k-th moment at most 1) and whose mean has norm at most R, so that :math:`v_j=E X_j^2` obeys
:math:`\sum v_j\le d+R^2` and :math:`\sum v_j^2\le d+2R^2+R^4`. Smoothing variance c; the noise is
what the sensitivity :math:`2\tau S_c\sqrt d/n` needs. See theory/kamath-liu-zhang.md, 2.3 and 3.3.
"""

from __future__ import annotations

import math

from scipy.special import ndtr

from dpsco_core.base.errors import require
from dpsco_core.bounds.conditions import check_sizes
from dpsco_core.bounds.mean.coordinatewise_formulas import Parts

SECOND_ORDER = 3 / (8 * math.sqrt(2))  # |phi(u) - u| <= SECOND_ORDER u^2


def supremum(smoothing_variance: float) -> float:
    r"""Return :math:`S_c=\sup|\psi|=\frac{2\sqrt2}3(2\Phi(1/\sqrt c)-1)`.

    Examples
    --------
    >>> round(supremum(1.0), 6)
    0.643646
    """
    require(smoothing_variance > 0, "smoothing_variance", "positive", smoothing_variance)
    normal = float(ndtr(1 / math.sqrt(smoothing_variance)))
    return 2 * math.sqrt(2) / 3 * (2 * normal - 1)


def mean_square(
    n: int,
    d: int,
    mean_bound: float,
    rho: float,
    *,
    smoothing_variance: float = 1.0,
    tau: float | None = None,
) -> Parts:
    r"""Explicit bound on :math:`(E\|\tilde\mu-\mu\|^2)^{1/2}`: form (v).

    See theory/kamath-liu-zhang.md, 3.3.

    .. math::
        \sum_j\Big(\frac{3(1+c)v_j}{8\sqrt2\,\tau}\Big)^2+\frac{1+c}n\sum_jv_j+
        \frac{2S_c^2\tau^2d^2}{\rho n^2}

    Parameters
    ----------
    n, d : int
    mean_bound : float
        R, in units of the moment.
    rho : float
        0 gives an infinite noise term.
    smoothing_variance : float
        c.
    tau : float or None
        None for the minimiser :math:`\tau^2=A/B` of :math:`A^2/\tau^2+B^2\tau^2`.

    Returns
    -------
    Parts
        `Parts.root_sum_square` is the bound.
    """
    check_sizes(n, d)
    factor = 1 + smoothing_variance
    bias = SECOND_ORDER * factor * _root_sum_of_squares(d, mean_bound)
    noise = supremum(smoothing_variance) * d / n * math.sqrt(2)
    sampling = math.sqrt(factor * (d + mean_bound**2) / n)
    return _at_best_level(sampling, bias, noise, rho, tau)


def high_probability(
    n: int,
    d: int,
    mean_bound: float,
    rho: float,
    beta: float,
    *,
    smoothing_variance: float = 1.0,
    tau: float | None = None,
) -> Parts:
    r"""Explicit bound with probability :math:`1-\beta`: form (i).

    See theory/kamath-liu-zhang.md, 3.3.

    .. math::
        \frac{1+c}{2\tau}\Big(\sum_jv_j^2\Big)^{1/2}+\frac{\sqrt d\,\tau\ln(4d/\beta)}n+
        \sigma\Big(\sqrt d+\sqrt{2\ln\tfrac2\beta}\Big)

    Half of beta for the noise, :math:`\beta/(2d)` for each coordinate. The first two terms hold
    bias and sampling together; they are reported as "bias" (falls with tau) and "sampling".
    """
    check_sizes(n, d)
    require(0 < beta < 1, "beta", "between 0 and 1", beta)
    bias = (1 + smoothing_variance) / 2 * _root_sum_of_squares(d, mean_bound)
    deviation = math.sqrt(d) * math.log(4 * d / beta) / n
    tail = math.sqrt(d) + math.sqrt(2 * math.log(2 / beta))
    if rho <= 0:
        return Parts(sampling=deviation, bias=bias, noise=math.inf)
    noise = supremum(smoothing_variance) * math.sqrt(2 * d / rho) / n * tail
    level = math.sqrt(bias / (deviation + noise)) if tau is None else tau
    if math.isinf(bias):
        return Parts(sampling=deviation, bias=math.inf, noise=noise)
    return Parts(sampling=deviation * level, bias=bias / level, noise=noise * level)


def _root_sum_of_squares(d: int, mean_bound: float) -> float:
    r"""Root of the bound on :math:`\sum_j(1+\mu_j^2)^2`."""
    square = mean_bound**2
    return math.sqrt(d + 2 * square + square**2)


def _at_best_level(
    sampling: float, bias: float, noise: float, rho: float, tau: float | None
) -> Parts:
    if rho <= 0:
        return Parts(sampling=sampling, bias=bias, noise=math.inf)
    noise = noise / math.sqrt(rho)
    if math.isinf(bias):
        return Parts(sampling=sampling, bias=math.inf, noise=noise)
    level = math.sqrt(bias / noise) if tau is None else tau
    return Parts(sampling=sampling, bias=bias / level, noise=noise * level)
