r"""The constants of a problem in the parameters' own norm, from those in the l2 norm.

With q the exponent of the parameters and q' = q/(q-1) that of gradients, for :math:`R^d`,

.. math:: \|x\|_{q'} \le d^{\max(0, 1/q'-1/2)}\|x\|_2, \qquad
    \|x\|_2 \le d^{\max(0, 1/2-1/q)}\|x\|_q,

and the two factors are equal. Every constant below is a certified bound. For q <= 2 the conversion
does not weaken the smoothness of the catalogue's problems, because their worst direction is an
axis.
"""

import math
from dataclasses import dataclass

from dpsco_core.geometry.norms import dual_exponent, norm_ratio
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class DualConstants:
    r"""The certified constants of Su, Zhao and Wang (2023), Assumptions 3 and 4."""

    exponent: float  # q, the exponent of the parameters' norm
    dual: float  # q', the exponent of the gradients' norm
    diameter: float  # M, the diameter of the constraint set in the q-norm
    radius: float  # the largest q-norm of a point of the set
    smoothness: float  # the smoothness of the population risk, with respect to the q-norm
    sample_smoothness: float  # the smoothness of every record's loss, with respect to the q-norm
    mean_gradient_bound: float  # bound on the dual norm of ∇F over the set
    # Bound on a gradient's mean squared deviation from ∇F over the set, in the dual norm.
    variance: float
    lipschitz: float  # bound on the dual norm of every record's gradient over the set


def dual_constants(setting: Setting) -> DualConstants:
    r"""Return the constants of `setting` in the l_q norm, q = `setting.exponent`, and its dual.

    The variance is the smallest of three bounds. With V the trace of Cov(g) and :math:`\gamma` the
    bound on the p-th central coordinate moment, they are
    :math:`\max(1, d^{2/q'-1})V`, and for q' >= 2, with k = min(q', p),

    .. math:: E\|Y\|_{q'}^2 \le E\|Y\|_k^2 \le \Big(\sum_j E|Y_j|^k\Big)^{2/k}
        \le d^{2/k}\gamma^{2/p}.

    and for a loss that is L-Lipschitz in the l_q norm, :math:`4L^2`.

    Examples
    --------
    >>> from dpsco_core.privacy import ZCDP
    >>> from dpsco_core.problems.base import Constants
    >>> constants = Constants(coordinate_moment=1.0, directional_moment=1.0, variance_trace=100.0,
    ...                       mean_gradient_bound=1.0, diameter=2.0, smoothness=1.0)
    >>> setting = Setting(n=10, d=100, moment_order=4.0, budget=ZCDP(rho=1.0),
    ...                   constants=constants, exponent=1.25)
    >>> dual_constants(setting).variance  # 100^(2/4)
    10.0
    """
    c, d, q = setting.constants, setting.d, setting.exponent
    dual = dual_exponent(q)
    to_dual, to_primal = norm_ratio(d, dual, 2.0), norm_ratio(d, 2.0, q)
    body = setting.body
    lipschitz = to_dual * c.lipschitz
    variance = min(to_dual**2 * c.variance_trace, 4 * lipschitz**2)
    if dual >= 2:
        k = min(dual, setting.moment_order)
        root = math.pow(c.coordinate_moment, 1 / setting.moment_order)
        variance = min(variance, math.pow(d, 2 / k) * root**2)
    smoothness = to_dual * to_primal * c.smoothness
    diameter = body.diameter_in(q)
    gradient = to_dual * c.mean_gradient_bound
    if c.minimum_interior:  # The gradient vanishes at a point of the set, at most M away.
        gradient = min(gradient, smoothness * diameter)
    return DualConstants(
        exponent=q,
        dual=dual,
        diameter=diameter,
        radius=body.radius_in(q),
        smoothness=smoothness,
        sample_smoothness=to_dual * to_primal * c.sample_smoothness,
        mean_gradient_bound=gradient,
        variance=variance,
        lipschitz=lipschitz,
    )
