r"""Iterative updating: Zhao et al. (2024), Algorithm 3, Lemmas 6-8 and Theorem 5.

The data are clipped to radius R and split into k groups, and each group's mean gets Gaussian noise.
One record touches one group, so the vector of noisy means costs the rho of one of them (parallel
composition). For an exactly solved inner program the error is at most :math:`6r_0` plus the
clipping bias (theory/zhao-et-al.md, 2.4, 2.6 and 3.5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from dpsco_core.base.errors import require
from dpsco_core.base.search import smallest_index
from dpsco_core.bounds.conditions import check_sizes
from dpsco_core.bounds.mean.clipped_formulas import ClippingBias, directional_bias, printed_bias


def printed_groups(beta: float) -> int:
    r"""Return :math:`k=\lceil800\ln(1/\beta)\rceil` (Lemma 6).

    Examples
    --------
    >>> printed_groups(0.05)
    2397
    """
    require(0 < beta < 1, "beta", "between 0 and 1", beta)
    return math.ceil(-800 * math.log(beta))


def group_radius(
    n: int, d: int, moment: float, rho: float, radius: float, groups: int, *, tau: float = 0.1
) -> float:
    r"""Return :math:`r_0` of Lemma 6 in its explicit form (91), at quantile level tau.

    .. math::
        \max\Big\{\tfrac{16}\tau M\sqrt{\tfrac dn},\
        \tfrac{16\sqrt2}\tau\tfrac{R\sqrt k}n\sqrt{\tfrac d\rho},\
        \tfrac4\tau\sqrt{\tfrac{2R^2k^2}{\rho n^2}+\tfrac{M^2k}n}\Big\}

    tau = 0.1 is the paper's; it needs :math:`k\ge8\ln(1/\beta)/\tau^2`.

    Examples
    --------
    >>> round(group_radius(10_000, 10, 1.0, 0.0140588188106, 22.802972962, 2397), 6)
    2607.788255
    """
    check_sizes(n, d)
    first = 16 / tau * moment * math.sqrt(d / n)
    second = 16 * math.sqrt(2) / tau * radius * math.sqrt(groups * d / rho) / n
    third = (
        4
        / tau
        * math.hypot(math.sqrt(2 / rho) * radius * groups / n, moment * math.sqrt(groups / n))
    )
    return max(first, second, third)


def unsplit_radius(
    n: int,
    d: int,
    moment: float,
    rho: float,
    radius: float,
    groups: int,
    beta: float,
    *,
    tau: float,
) -> float:
    r"""Return :math:`r_0` without the equal split of the budget, for any tau below one half.

    .. math::
        r_0=\frac{4\sqrt{d\big(\frac{M^2}n+\frac{2R^2k}{\rho n^2}\big)}+
        \sqrt{\frac{2R^2k^2}{\rho n^2}+\frac{M^2k}n}}{\tau-\sqrt{\ln(1/\beta)/(2k)}}

    See theory/zhao-et-al.md, 2.6. Infinite unless :math:`k>\ln(1/\beta)/(2\tau^2)`.
    """
    check_sizes(n, d)
    require(0 < tau < 0.5, "tau", "between 0 and 1/2", tau)
    margin = tau - math.sqrt(-math.log(beta) / (2 * groups))
    if margin <= 0:
        return math.inf
    spread = math.hypot(moment / math.sqrt(n), math.sqrt(2 * groups / rho) * radius / n)
    return (4 * math.sqrt(d) + math.sqrt(groups)) * spread / margin


def printed(
    n: int, d: int, moment_order: float, moment: float, rho: float, beta: float
) -> tuple[float, float]:
    r"""Explicit Theorem 5 with :math:`k=\lceil800\ln(1/\beta)\rceil`, (91) and (55), at its best R.

    .. math:: \|\hat\mu-\mu\|\le6r_0+\frac{d^{p/2}M^p}{p-1}R^{1-p}

    Probability :math:`1-\beta`; n is read as k times the group size. Returns :math:`(6r_0,
    \text{bias})`, infinite for n < k or rho = 0.
    """
    groups = printed_groups(beta)
    used = n // groups * groups
    if used == 0 or rho <= 0 or math.isinf(moment):
        return math.inf, math.inf
    bias = printed_bias(d, moment_order, moment)

    def value(radius: float) -> tuple[float, float]:
        return 6 * group_radius(used, d, moment, rho, radius, groups), bias.at(radius)

    slope = 6 * group_radius(used, d, 0.0, rho, 1.0, groups)
    return value(_minimise(lambda r: math.fsum(value(r)), bias, slope))


@lru_cache(maxsize=4096)
def general_quantile(
    n: int, d: int, moment_order: float, moment: float, rho: float, beta: float
) -> tuple[float, float, int]:
    r"""Sharper explicit form: `unsplit_radius` as tau tends to one half, sharp bias, best k and R.

    Returns :math:`(6r_0,\text{bias},k)` with k among 8 to 120; infinite where none fits.
    """
    check_sizes(n, d)
    if rho <= 0 or math.isinf(moment) or n < 8:
        return math.inf, math.inf, 8
    bias = directional_bias(d, moment_order, moment)
    tau = 0.5 * (1 - 1e-9)
    k = np.unique(np.geomspace(8, min(120, n), 40).astype(np.int64))
    k = k[tau > np.sqrt(-math.log(beta) / (2 * k))]
    if not len(k):
        return math.inf, math.inf, 8
    used = n // k * k
    margin = tau - np.sqrt(-math.log(beta) / (2 * k))
    factor = 6 * (4 * math.sqrt(d) + np.sqrt(k)) / margin
    radii = bias.scale * np.geomspace(1e-3, 1e6, 200)[:, None]
    spread = np.hypot(moment / np.sqrt(used), np.sqrt(2 * k / rho) * radii / used)
    values = factor * spread + _bias_array(bias, radii)
    best = int(smallest_index(values.min(axis=0)))
    if best < 0:
        return math.inf, math.inf, 8
    groups = int(k[best])
    total = n // groups * groups

    def value(radius: float) -> tuple[float, float]:
        r0 = unsplit_radius(total, d, moment, rho, radius, groups, beta, tau=tau)
        return 6 * r0, bias.at(radius)

    slope = 6 * unsplit_radius(total, d, 0.0, rho, 1.0, groups, beta, tau=tau)
    radius = _minimise(lambda r: math.fsum(value(r)), bias, slope)
    return (*value(radius), groups)


def _bias_array(bias: ClippingBias, radii: NDArray[np.float64]) -> NDArray[np.float64]:
    log_ratio = (bias.order - 1) * np.log(bias.scale / radii)
    scale = bias.constant * bias.amplitude
    return np.asarray(scale * np.exp(np.minimum(log_ratio, 690.0)))


def _minimise(value: Callable[[float], float], bias: ClippingBias, slope: float) -> float:
    """Return the radius that minimises a convex bound, near where bias and noise balance."""
    centre = math.log(bias.best_radius(slope))
    found = minimize_scalar(
        lambda x: value(math.exp(x)),
        bounds=(centre - 2, centre + 14),
        method="bounded",
        options={"xatol": 1e-8},
    )
    return math.exp(float(found.x))
