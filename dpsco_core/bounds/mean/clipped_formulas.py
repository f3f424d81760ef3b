r"""Norm clipping: Zhao et al. (2024), Algorithm 2 and Theorem 2.

Records are projected on the ball of radius R and averaged, with Gaussian noise of standard
deviation :math:`\sqrt2R/(n\sqrt\rho)` per coordinate. The clipping bias is
:math:`\kappa_pA(S/R)^{p-1}` with :math:`\kappa_p=(p-1)^{p-1}/p^p`, where A = M, S = sqrt(d) M under
a raw directional moment M, and A = S = sqrt(d) g + |mu| under coordinate-wise central moments g
(theory/zhao-et-al.md, 2.2, 3.1 and 3.2). Formulas use ratios, so that no power overflows at p =
100.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpsco_core.base.errors import require
from dpsco_core.bounds.conditions import check_sizes
from dpsco_core.bounds.mean.coordinatewise_formulas import Parts
from dpsco_core.methods.mean.base import hinge_constant


@dataclass(frozen=True, kw_only=True)
class ClippingBias:
    r"""The bias :math:`\text{constant}\cdot A\,(S/R)^{p-1}` of clipping to radius R.

    Parameters
    ----------
    constant, amplitude, scale : float
        The constant, A and S.
    order : float
        p >= 2.
    """

    constant: float
    amplitude: float
    scale: float
    order: float

    def at(self, radius: float) -> float:
        """Return the bias at a radius."""
        exponent = (self.order - 1) * math.log(self.scale / radius) if self.scale > 0 else -800.0
        return self.constant * self.amplitude * math.exp(exponent) if exponent < 650 else math.inf

    def best_radius(self, slope: float) -> float:
        r"""Return the R that minimises bias + slope R."""
        ratio = (self.order - 1) * self.constant * self.amplitude / (slope * self.scale)
        return self.scale * math.pow(ratio, 1 / self.order)

    def best_radius_squared(self, slope: float) -> float:
        r"""Return the R that minimises bias^2 + (slope R)^2."""
        ratio = self.constant * self.amplitude / (slope * self.scale)
        return self.scale * math.pow(math.sqrt(self.order - 1) * ratio, 1 / self.order)


def printed_bias(d: int, moment_order: float, moment: float) -> ClippingBias:
    r"""Return (55): :math:`\frac{d^{p/2}M^p}{p-1}R^{1-p}`."""
    scale = math.sqrt(d) * moment
    constant = 1 / (moment_order - 1)
    return ClippingBias(constant=constant, amplitude=scale, scale=scale, order=moment_order)


def directional_bias(d: int, moment_order: float, moment: float) -> ClippingBias:
    r"""Return the sharp bias under a directional moment: :math:`\kappa_pd^{(p-1)/2}M^pR^{1-p}`."""
    return ClippingBias(
        constant=hinge_constant(moment_order),
        amplitude=moment,
        scale=math.sqrt(d) * moment,
        order=moment_order,
    )


def coordinate_bias(
    d: int, moment_order: float, coordinate_scale: float, mean_bound: float
) -> ClippingBias:
    r"""Return the sharp bias under coordinate-wise central moments.

    :math:`\kappa_p(\sqrt d\,g+R_0)^pR^{1-p}`, g the root of the moment, :math:`R_0` a bound on the
    mean.
    """
    scale = math.sqrt(d) * coordinate_scale + mean_bound
    return ClippingBias(
        constant=hinge_constant(moment_order), amplitude=scale, scale=scale, order=moment_order
    )


def covering_log(d: int, beta: float, net: float = 6.0) -> float:
    r"""Return :math:`\Lambda=\ln(2\cdot6^d/\beta)`; ``net=5`` for the smaller net.

    Examples
    --------
    >>> round(covering_log(10, 0.05), 9)
    21.606474146
    """
    require(0 < beta < 1, "beta", "between 0 and 1", beta)
    return d * math.log(net) + math.log(2 / beta)


def printed_radius(n: int, d: int, moment_order: float, moment: float, rho: float) -> float:
    r"""Return R of (19), in consistent units.

    :math:`M\min\{\sqrt d(n\sqrt\rho/\sqrt d)^{1/p},\sqrt d(n/d)^{1/p}\}`.
    """
    signal = min(n * math.sqrt(rho / d), n / d)
    return moment * math.sqrt(d) * math.pow(signal, 1 / moment_order)


def balanced_radius(
    n: int, d: int, moment_order: float, moment: float, rho: float, beta: float
) -> float:
    r"""Return the radius that balances noise, tail and printed bias.

    :math:`R^*=\sqrt dMc_1^{-1/p},\ c_1=\frac{4\sqrt\Lambda}{n\sqrt\rho}+\frac{8\Lambda}n`
    (theory/zhao-et-al.md, 2.2).
    """
    size = covering_log(d, beta)
    slope = 4 * math.sqrt(size / rho) / n + 8 * size / n
    return printed_bias(d, moment_order, moment).best_radius(slope)


def printed(
    n: int,
    d: int,
    moment_order: float,
    moment: float,
    rho: float,
    beta: float,
    *,
    radius: float | None = None,
) -> Parts:
    r"""Theorem 2, equation (14), with probability :math:`1-\beta`.

    .. math::
        \max\Big\{\sqrt{\tfrac{12M^2}n\Lambda},\tfrac{8R}n\Lambda\Big\}+
        \frac{d^{p/2}M^p}{p-1}R^{1-p}+\frac{4R}{n\sqrt\rho}\sqrt\Lambda

    Parameters
    ----------
    n, d : int
    moment_order : float
        p >= 2.
    moment : float
        M, the root of the raw directional moment.
    rho : float
        0 gives an infinite noise term.
    beta : float
        Failure probability.
    radius : float or None
        None for `balanced_radius`.
    """
    check_sizes(n, d)
    size = covering_log(d, beta)
    if rho <= 0 or math.isinf(moment):
        return _void(moment * math.sqrt(12 * size / n))
    if radius is None:
        radius = balanced_radius(n, d, moment_order, moment, rho, beta)
    return Parts(
        sampling=max(moment * math.sqrt(12 * size / n), 8 * radius * size / n),
        bias=printed_bias(d, moment_order, moment).at(radius),
        noise=4 * radius * math.sqrt(size / rho) / n,
    )


def high_probability(
    n: int, d: int, moment_order: float, moment: float, rho: float, beta: float
) -> Parts:
    r"""Tight form of Theorem 2, at the radius that minimises it.

    .. math::
        \max\Big\{\sqrt{\tfrac{12M^2}n\Lambda_5},\tfrac{8R}n\Lambda_5\Big\}+
        \kappa_pd^{(p-1)/2}M^pR^{1-p}+\frac{\sqrt2R}{n\sqrt\rho}
        \Big(\sqrt d+\sqrt{2\ln\tfrac2\beta}\Big),\quad\Lambda_5=\ln\frac{2\cdot5^d}\beta

    A half-net of the sphere with :math:`5^d` points, the Gaussian norm's own tail, sharp bias.
    """
    check_sizes(n, d)
    size = covering_log(d, beta, 5.0)
    floor = moment * math.sqrt(12 * size / n)
    if rho <= 0 or math.isinf(moment):
        return _void(floor)
    bias = directional_bias(d, moment_order, moment)
    tail = 8 * size / n
    noise = math.sqrt(2 / rho) / n * (math.sqrt(d) + math.sqrt(2 * math.log(2 / beta)))
    # The sum is convex in R with one kink, where the two sampling terms meet.
    kink = floor / tail
    radius = min(bias.best_radius(noise), max(kink, bias.best_radius(noise + tail)))
    return Parts(sampling=max(floor, tail * radius), bias=bias.at(radius), noise=noise * radius)


def mean_square(
    n: int,
    d: int,
    variance_trace: float,
    bias: ClippingBias,
    rho: float,
    *,
    radius: float | None = None,
) -> Parts:
    r"""Second-moment version of Theorem 2.

    .. math::
        E\|\hat\mu-\mu\|^2\le\tfrac1n\mathrm{tr\,Cov}(X)+\text{bias}^2+\frac{2dR^2}{\rho n^2}

    `Parts.root_sum_square` bounds the expected l2 error, at the best radius if None is given.

    Parameters
    ----------
    n, d : int
    variance_trace : float
        Bound on the trace: d M^2 or d g^2 by moment class.
    bias : ClippingBias
        `directional_bias` or `coordinate_bias`.
    rho : float
        0 gives an infinite noise term.
    radius : float or None
    """
    check_sizes(n, d)
    sampling = math.sqrt(variance_trace / n)
    if rho <= 0 or math.isinf(bias.scale):
        return _void(sampling)
    slope = math.sqrt(2 * d / rho) / n
    if radius is None:
        radius = bias.best_radius_squared(slope)
    return Parts(sampling=sampling, bias=bias.at(radius), noise=slope * radius)


def _void(sampling: float) -> Parts:
    return Parts(sampling=sampling, bias=math.inf, noise=math.inf)
