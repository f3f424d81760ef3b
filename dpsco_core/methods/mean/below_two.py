r"""Clip levels at tail indices :math:`1<p<2`, where a record may have no variance.

A clipped record has a variance, which grows with the clip level. So the level balances three costs,
those of sampling, bias and noise; from p = 2 on the cost of sampling does not depend on the level.
All numbers are in units of the moment scale (theory/infinite-variance.md, 2).
"""

import math
from collections.abc import Callable
from functools import lru_cache

from dpsco_core.base.search import smallest_between
from dpsco_core.methods.records.base import hinge_constant, scaled_bound
from dpsco_core.problems.base import Setting


def norm_costs(
    radius: float,
    # R_0, an upper bound on the norm of the mean; costs are infinite unless the radius exceeds it.
    mean_bound: float,
    n: int,
    d: int,
    order: float,  # p, the moment order, from 1 to 2
) -> tuple[float, float]:
    r"""Bound the root mean square sampling error and the bias of a mean of norm-clipped records.

    With R the radius, the squares of the two bounds are

    .. math:: \frac dn(R+R_0)^{2-p},\qquad\big(\kappa_pd(R-R_0)^{1-p}\big)^2

    and both are infinite for :math:`R\le R_0`.
    """
    if radius <= mean_bound:
        return math.inf, math.inf
    sampling = d / n * math.pow(radius + mean_bound, 2 - order)
    return math.sqrt(sampling), d * _plain_bias(radius - mean_bound, order)


def coordinate_costs(
    limit: float,
    # R_0, an upper bound on the norm of the mean; costs are infinite unless the limit exceeds it.
    mean_bound: float,
    n: int,
    d: int,
    order: float,  # p, the moment order, from 1 to 2
) -> tuple[float, float]:
    r"""Bound the root mean square sampling error and the bias of a mean of clipped coordinates.

    With T the limit, the squares of the two bounds are

    .. math:: \frac dn\Big(T+\frac{R_0}{\sqrt d}\Big)^{2-p},\qquad
        (d-1)\psi(0)+\psi(R_0)+(\sqrt d-1)R_0\psi'(0),\quad\psi(a)=\kappa_p^2(T-a)^{2-2p}

    and both are infinite for :math:`T\le R_0`.
    """
    if limit <= mean_bound:
        return math.inf, math.inf
    sampling = d / n * math.pow(limit + mean_bound / math.sqrt(d), 2 - order)
    middle, edge = _plain_bias(limit, order) ** 2, _plain_bias(limit - mean_bound, order) ** 2
    slope = 2 * (order - 1) * middle / limit
    bias = (d - 1) * middle + edge + (math.sqrt(d) - 1) * mean_bound * slope
    return math.sqrt(sampling), math.sqrt(bias)


def _plain_bias(distance: float, order: float) -> float:
    r"""Return the clipping bias :math:`\kappa_pt^{1-p}` of a coordinate at a distance t; p < 2."""
    return hinge_constant(order) * math.pow(distance, 1 - order)


Costs = Callable[[float, float, int, int, float], tuple[float, float]]


@lru_cache(maxsize=4096)
def best_level(setting: Setting, costs: Costs, noise: float) -> float:
    """Return the clip level that minimises a proven mean squared error, in the records' units.

    `costs` is `norm_costs` or `coordinate_costs`, and `noise` the mean squared norm of the noise at
    level 1.
    """
    scale, bound = scaled_bound(setting)

    def squared_error(log_distance: float) -> float:
        """Return the bound on the mean squared error at a level."""
        level = bound + math.exp(log_distance)
        sampling, bias = costs(level, bound, setting.n, setting.d, setting.moment_order)
        return sampling**2 + bias**2 + noise * level**2

    log_distance, _ = smallest_between(squared_error, -12.0, 60.0, what="clip level")
    return scale * (bound + math.exp(log_distance))


def sample_mean_error(n: int, d: int, order: float) -> float:
    r"""Return a bound on :math:`E\|\bar X-\mu\|_2` for coordinates with central p-th moments <= 1.

    .. math:: \frac1n\big(d\,[1+2^{2-p}(n-1)]\big)^{1/p},\qquad 1<p\le2

    It is due to von Bahr and Esseen's inequality (theory/infinite-variance.md, 1). At p = 2 it is
    :math:`\sqrt{d/n}`.

    Examples
    --------
    >>> sample_mean_error(100, 4, 2.0), round(sample_mean_error(10_000, 20, 1.5), 6)
    (0.2, 0.430879)
    """
    return math.pow(d * (1 + math.pow(2.0, 2 - order) * (n - 1)), 1 / order) / n
