"""Mirror maps: gradients, conjugates and Bregman divergences, stable at 0 and at every scale."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import kl_div, logsumexp, xlogy

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.geometry.base import check_radius
from dpsco_core.geometry.norms import lq_norm
from dpsco_core.geometry.regular_space import RegularSpace


@dataclass(frozen=True, kw_only=True)
class PowerMirror:
    r"""The map :math:`\Phi(w) = \frac\kappa2\|w\|_s^2`.

    1-strongly convex with respect to :math:`\|\cdot\|_s` when :math:`\kappa \ge 1/(s-1)`, s <= 2;
    `for_space` gives the one that is so with respect to the norm of a space. Su et al. (2023),
    Algorithms 3 and 4, with the index of theory/su-zhao-wang.md, 2.0: as printed, it is not.

    Examples
    --------
    >>> mirror = PowerMirror(exponent=1.5, kappa=2.0)
    >>> w = np.array([1.0, 0.0, -2.0])
    >>> mirror.conjugate_gradient(mirror.gradient(w)).round(12)
    array([ 1.,  0., -2.])
    """

    exponent: float  # s, above 1 and finite
    kappa: float = 1.0  # finite and positive

    def __post_init__(self) -> None:
        require(1 < self.exponent < math.inf, "exponent", "above 1 and finite", self.exponent)
        check_radius(self.kappa, "kappa")

    @classmethod
    def for_space(cls, space: RegularSpace) -> Self:
        """Return the map that is 1-strongly convex with respect to the norm of `space`."""
        return cls(exponent=space.mirror_exponent, kappa=space.kappa)

    @property
    def dual_exponent(self) -> float:
        """r = s/(s - 1), the exponent of the conjugate."""
        return self.exponent / (self.exponent - 1)

    def value(self, w: Vector) -> float:
        r"""Return :math:`\frac\kappa2\|w\|_s^2`."""
        return self.kappa / 2 * _square(lq_norm(w, self.exponent))

    def gradient(self, w: Vector) -> Vector:
        r"""Return :math:`\kappa\|w\|_s(|w_j|/\|w\|_s)^{s-1}\mathrm{sgn}(w_j)`, 0 at 0."""
        return _powered(w, self.exponent, self.kappa)

    def conjugate(self, u: Vector) -> float:
        r"""Return :math:`\|u\|_r^2/(2\kappa)`."""
        return _square(lq_norm(u, self.dual_exponent)) / (2 * self.kappa)

    def conjugate_gradient(self, u: Vector) -> Vector:
        r"""Return :math:`\kappa^{-1}\|u\|_r(|u_j|/\|u\|_r)^{r-1}\mathrm{sgn}(u_j)`, 0 at 0."""
        return _powered(u, self.dual_exponent, 1 / self.kappa)

    def divergence(self, to: Vector, at: Vector) -> float:
        r"""Return :math:`D_\Phi(y, x)`, accurate also where y is close to x.

        With X, Y the norms, and a, b the vectors divided by them, in the signs of x, it is
        :math:`\kappa[(Y-X)^2/2 + XY\sum_j \frac{s-1}s a_j^s + \frac1s|b_j|^s - a_j^{s-1}b_j]`:
        no term is negative, and none cancels where a is not near b. There, t = b/a - 1 gives
        :math:`a^s[(1+t)^s - 1 - st]/s`, and t itself comes from (y - x)/x.
        """
        s = self.exponent
        x_norm, y_norm = lq_norm(at, s), lq_norm(to, s)
        if x_norm == 0 or y_norm == 0:
            return self.kappa / 2 * _square(max(x_norm, y_norm))
        size, aligned = np.abs(at), np.where(at < 0, -to, to)
        a, b = size / x_norm, aligned / y_norm
        growth = y_norm / x_norm - 1
        weight = a**s
        terms = (s - 1) / s * weight + np.abs(b) ** s / s - a ** (s - 1) * b
        if abs(growth) < 0.5:
            near = (a > 1e-300) & (np.abs(aligned - size) < 0.5 * size)
            change = np.divide(aligned - size, size, out=np.zeros(len(a)), where=near)
            gains = weight * np.expm1(s * np.log1p(change))
            gains[~near] = (np.abs(aligned[~near]) / x_norm) ** s - weight[~near]
            growth = math.expm1(math.log1p(float(gains.sum())) / s)
            t = (change - growth) / (1 + growth)
            close = near & (np.abs(t) < 0.02)
            terms[close] = weight[close] * _second_order(t[close], s)
        hoelder = math.fsum(np.maximum(terms, 0.0))
        top = max(x_norm, y_norm)
        x_share, y_share = x_norm / top, y_norm / top
        apart = x_share * growth if abs(growth) < 0.5 else y_share - x_share
        return self.kappa * _square(top) * (apart * apart / 2 + x_share * y_share * hoelder)


@dataclass(frozen=True, kw_only=True)
class EntropyMirror:
    r"""The map :math:`\Phi(w) = r\sum_j w_j\ln(w_j/r)` on the simplex of sum r.

    1-strongly convex with respect to the l1 norm there (Cauchy and Schwarz). The conjugate is that
    over the simplex, so that :math:`\nabla\Phi^*` maps into it, and inverts :math:`\nabla\Phi`.
    """

    radius: float = 1.0  # r, finite and positive

    def __post_init__(self) -> None:
        check_radius(self.radius)

    def value(self, w: Vector) -> float:
        """Return the negative entropy; 0 ln 0 is 0."""
        return self.radius * float(xlogy(w, w / self.radius).sum())

    def gradient(self, w: Vector) -> Vector:
        r"""Return :math:`r(\ln(w_j/r) + 1)`; -infinity where an entry is 0."""
        with np.errstate(divide="ignore"):
            found: Vector = self.radius * (np.log(w / self.radius) + 1)
        return found

    def conjugate(self, u: Vector) -> float:
        r"""Return :math:`r^2\ln\sum_j e^{u_j/r}`."""
        return self.radius**2 * float(logsumexp(u / self.radius))

    def conjugate_gradient(self, u: Vector) -> Vector:
        r"""Return :math:`r\,\mathrm{softmax}(u/r)`; an entry of -infinity gives 0."""
        powers = np.exp((u - u.max()) / self.radius)
        found: Vector = self.radius * (powers / powers.sum())
        return found

    def divergence(self, to: Vector, at: Vector) -> float:
        r"""Return r times the Kullback-Leibler divergence; infinite where only `at` is 0."""
        return self.radius * float(kl_div(to, at).sum())


def _square(x: float) -> float:
    return x * x


def _powered(w: Vector, exponent: float, factor: float) -> Vector:
    r"""Return the gradient of :math:`\frac c2\|w\|_s^2`."""
    norm = lq_norm(w, exponent)
    if norm == 0:
        return np.zeros(len(w))
    found: Vector = np.copysign(factor * norm * (np.abs(w) / norm) ** (exponent - 1), w)
    return found


def _second_order(t: Vector, s: float) -> Vector:
    """Return ((1 + t)^s - 1 - st)/s for small t, by its series."""
    total = np.zeros(len(t))
    for k in range(12, 2, -1):
        total = (s - k + 1) / k * t * (1 + total)
    found: Vector = (s - 1) / 2 * t * t * (1 + total)
    return found
