r"""Amplification by subsampling: a mechanism on a uniformly random batch without replacement.

Neighbours differ in one of N records, of which the batch has M (Ullman 2017; Lemma A.8 of Lowy,
Liu and Asi 2024 has the weaker, linear form). The choice of the batch must stay secret, and nothing
else may read the batch: a test of the batch belongs to the mechanism.
"""

import math
from functools import cache, lru_cache

import numpy as np
from scipy.special import erfcx, logsumexp

from dpsco_core.base.errors import require
from dpsco_core.base.search import smallest_between
from dpsco_core.privacy.budget import ApproxDP, gaussian_epsilon
from dpsco_core.privacy.checks import check_count

# Several releases get no credit for batches if the ratio of sensitivity to noise is larger.
LARGEST_RATIO = 30.0
# Nodes are computed on first use: so many of them would slow down the import of the library.
_gauss_legendre = cache(np.polynomial.legendre.leggauss)


def subsample(base: ApproxDP, *, batch_size: int, count: int) -> ApproxDP:
    r"""Return the guarantee of an :math:`(\varepsilon_0,\delta_0)`-DP release on M of N records.

    :math:`\varepsilon = \ln(1 + \frac MN(e^{\varepsilon_0}-1))`, :math:`\delta = \frac MN\delta_0`:
    `base` itself at M = N, and :math:`\varepsilon` is at most
    :math:`\frac MN(e^{\varepsilon_0}-1)`. Raises `InvalidInput` if M exceeds N.

    Examples
    --------
    >>> print(subsample(ApproxDP(epsilon=1.0, delta=1e-6), batch_size=10, count=100))
    (0.1586, 1e-07)-DP
    """
    check_batch(batch_size, count)
    if batch_size == count:
        return base
    share = batch_size / count
    return ApproxDP(epsilon=_amplified_epsilon(base.epsilon, share), delta=share * base.delta)


def _amplified_epsilon(epsilon: float, share: float) -> float:
    """Return the epsilon after a batch with this share of the records is drawn."""
    # This equals ln(1 + q(e^x - 1)) = x + ln(q + (1 - q)e^-x), also where e^x overflows.
    if epsilon < 1:
        return math.log1p(share * math.expm1(epsilon))
    return epsilon + math.log(share + (1 - share) * math.exp(-epsilon))


def check_batch(batch_size: int, count: int) -> None:
    """Raise `InvalidInput` unless `batch_size` is an integer from 1 to `count`, the records."""
    check_count("count", count)
    check_count("batch_size", batch_size)
    require(batch_size <= count, "batch_size", f"at most {count}", batch_size)


@lru_cache(maxsize=4096)
def batched_gaussian_epsilon(
    rho: float, delta: float, *, batch_size: int, count: int, releases: int
) -> float:
    r"""Return epsilon at delta of adaptive Gaussian releases, each on a fresh secret batch.

    Each is rho-zCDP on its batch of M of N records. By `subsample`, with q = M/N, its curve at
    :math:`u = 1 + q(e^v - 1)` is at most :math:`H(u) = q\,\delta_G(v)`, for neighbours in either
    order. So is its moment of order :math:`\alpha`, an f-divergence,

    .. math:: E_Q(dP/dQ)^\alpha \le 1 + \alpha(\alpha-1)\int_1^\infty
        (u^{\alpha-2} + u^{-\alpha-1})H(u)\,du.

    Moments of adaptive releases multiply, and any order gives an epsilon, as for `zcdp_epsilon`.
    The result never exceeds that without batches, and for one release it is exact for the curve H.
    For several releases it is an upper bound: with noise below the sensitivity it may exceed the
    smallest valid epsilon by a third. If the sensitivity exceeds 30 times the noise, several
    releases count as without batches.

    Examples
    --------
    >>> round(batched_gaussian_epsilon(0.5, 1e-6, batch_size=10, count=1000, releases=100), 2)
    1.55
    """
    check_count("releases", releases)
    unbatched = gaussian_epsilon(releases * rho, delta)
    check_batch(batch_size, count)
    nu, share = math.sqrt(2 * rho), batch_size / count
    if share == 1:
        return unbatched
    if releases == 1:
        if delta >= share:
            return 0.0
        return min(unbatched, _amplified_epsilon(gaussian_epsilon(rho, delta / share), share))
    if nu > LARGEST_RATIO:
        return unbatched

    def epsilon_at(log_order: float) -> float:
        """Return the epsilon that Renyi order alpha proves, by ln(alpha - 1)."""
        nodes, weights = (x / 2 for x in _gauss_legendre(600))
        order = 1 + math.exp(log_order)
        v = (0.5 + nodes) * nu * (order * nu + 12)
        mills = erfcx((v / nu - nu / 2) / math.sqrt(2)) - erfcx((v / nu + nu / 2) / math.sqrt(2))
        log_u = np.logaddexp(math.log1p(-share), math.log(share) + v)
        logs = v - (v / nu - nu / 2) ** 2 / 2 + np.log(np.maximum(mills, 1e-300) / 2)
        logs += (order - 2) * log_u + np.log1p(np.exp((1 - 2 * order) * log_u))
        integral = float(logsumexp(logs, b=weights * nu * (order * nu + 12)))
        excess = math.log(order * (order - 1)) + 2 * math.log(share) + integral
        moment = releases * float(np.logaddexp(0.0, excess))
        return (moment - math.log(delta * order)) / (order - 1) + math.log1p(-1 / order)

    best = smallest_between(epsilon_at, -5.0, math.log(100 / nu), what="order of the moments")
    return min(unbatched, max(0.0, best[1]))
