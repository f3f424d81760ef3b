"""The l1 ball cut by an l2 ball: the computable hull of the s-sparse vectors."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.geometry.base import Symmetric, Width, check_dimension, check_radius
from dpsco_core.geometry.norms import check_exponent, lq_norm, unit_vector
from dpsco_core.geometry.threshold import shrink_to_sum
from dpsco_core.geometry.width import chi_mean, largest_absolute_mean, sparse_width_bound


@dataclass(frozen=True, kw_only=True)
class SparseHull(Symmetric):
    r"""The set :math:`\{\|w\|_1 \le \sqrt s\,r, \|w\|_2 \le r\}`.

    With S the s-sparse vectors of l2 norm at most r, conv S is the ball of the s-support norm, and
    :math:`\mathrm{conv}\,S \subset C \subset 2\,\mathrm{conv}\,S` (Plan and Vershynin 2013,
    Lemma 3.1). This set is taken rather than conv S because both of its constraints are plain
    norms: its projection is one sort and a square root, and a point's membership can be read off.
    The width is within a factor 2 of that of S.
    """

    d: int  # dimension, at least 1
    sparsity: int  # s, between 1 (the l1 ball) and d (the l2 ball)
    radius: float  # r, finite and positive

    def __post_init__(self) -> None:
        check_dimension(self.d)
        ok = isinstance(self.sparsity, int) and 1 <= self.sparsity <= self.d
        require(ok, "sparsity", f"an integer between 1 and d={self.d}", self.sparsity)
        check_radius(self.radius)

    @property
    def l1_radius(self) -> float:
        r""":math:`\sqrt s\,r`, the largest l1 norm."""
        return math.sqrt(self.sparsity) * self.radius

    @property
    def l2_radius(self) -> float:
        """The radius r."""
        return self.radius

    @property
    def inradius(self) -> float:
        r""":math:`r\sqrt{s/d}`."""
        return self.radius * math.sqrt(self.sparsity / self.d)

    def project(self, w: Vector) -> Vector:
        """Return the nearest point to the finite `w`, shape (d,).

        If neither constraint alone decides, entries are shrunk until the norms have the ratio
        sqrt(s), and then scaled.
        """
        size = np.abs(w)
        norm = lq_norm(size, 2.0)
        scaled = w if norm <= self.radius else w * (self.radius / norm)
        if lq_norm(scaled, 1.0) <= self.l1_radius:
            return scaled
        shrunk = shrink_to_sum(size, self.l1_radius, float(size.max()))
        if lq_norm(shrunk, 2.0) > self.radius * (1 + 1e-14):
            shrunk = _shrink_to_ratio(size, self.sparsity)
            shrunk *= self.radius / lq_norm(shrunk, 2.0)
        return np.copysign(shrunk, w)

    def support(self, g: Vector) -> float:
        r"""Return :math:`\min_\tau \sqrt s\,r\tau + r\|(|g|-\tau)_+\|_2`, in closed form."""
        return float(self.support_point(g) @ g)

    def support_point(self, g: Vector) -> Vector:
        """Return a maximiser: flat on the entries at the top if there are s, or shrunk by tau."""
        size = np.abs(g)
        top = float(size.max())
        if top == 0:
            return np.zeros(self.d)
        size /= top
        if lq_norm(size, 1.0) <= math.sqrt(self.sparsity) * lq_norm(size, 2.0):
            return np.copysign(self.radius * unit_vector(size, 2.0), g)
        equal = size == 1
        if int(np.count_nonzero(equal)) >= self.sparsity:
            flat = np.where(equal, self.l1_radius / np.count_nonzero(equal), 0.0)
            return np.copysign(flat, g)
        shrunk = _shrink_to_ratio(size, self.sparsity)
        return np.copysign(self.radius * unit_vector(shrunk, 2.0), g)

    def diameter_in(self, exponent: float) -> float:
        r"""Return :math:`2rs^{\max(0, 1/q - 1/2)}`, attained at a flat s-sparse vector."""
        check_exponent(exponent)
        return 2 * self.radius * math.pow(self.sparsity, max(0.0, 1 / exponent - 0.5))

    def minkowski_norm(self, w: Vector) -> float:
        r"""Return :math:`\max\{\|w\|_1/\sqrt s, \|w\|_2\}/r`."""
        return max(lq_norm(w, 1.0) / self.l1_radius, lq_norm(w, 2.0) / self.radius)

    def gaussian_width(self) -> Width:
        r"""Return two bounds; exact for s = 1 and s = d.

        Above: :math:`r\min_\tau \sqrt s\,\tau + (d\,E(|\xi_1|-\tau)_+^2)^{1/2}` (Jensen, at any
        fixed tau), and twice the bound of `sparse_width_bound`. Below: the s-sparse vectors that
        take the largest entry of each of s blocks of coordinates, and the l1 ball of radius r.
        """
        d, s = self.d, self.sparsity
        if s in (1, d):
            return Width.known(self.radius * (largest_absolute_mean(d) if s == 1 else chi_mean(d)))
        lower = max(
            math.sqrt(s) * largest_absolute_mean(d // s),
            math.sqrt(s / d) * chi_mean(d),
            largest_absolute_mean(d),
        )
        found = minimize_scalar(
            lambda tau: math.sqrt(s) * tau + math.sqrt(d * _excess_square(tau)),
            bounds=(0.0, math.sqrt(2 * math.log(d)) + 1),
            method="bounded",
        )
        upper = min(float(found.fun), 2 * sparse_width_bound(d, s), chi_mean(d))
        return Width.between(self.radius * lower, self.radius * upper)


def _excess_square(tau: float) -> float:
    r"""Return :math:`E(|\xi|-\tau)_+^2 = 2[(1+\tau^2)\Phi(-\tau) - \tau\varphi(\tau)]`."""
    density = math.exp(-tau * tau / 2) / math.sqrt(2 * math.pi)
    return max(0.0, 2 * ((1 + tau * tau) * float(ndtr(-tau)) - tau * density))


def _shrink_to_ratio(size: Vector, sparsity: int) -> Vector:
    r"""Return :math:`y = (v-\tau)_+/c` with :math:`\|y\|_1 = \sqrt s\|y\|_2`, any c > 0.

    Needs fewer than s entries at the top, and :math:`\|v\|_1 > \sqrt s\|v\|_2`. With
    t = max - tau, and gaps g to the largest, k entries above tau give
    :math:`(kt - G_1)^2 = s(kt^2 - 2G_1t + G_2)`.
    """
    gap = float(size.max()) - size
    scale = float(gap.max())
    gap = gap / scale
    ordered = np.sort(gap)
    counts = np.arange(1.0, len(gap) + 1)
    first, second = np.cumsum(ordered), np.cumsum(ordered**2)
    # The ratio of the norms grows with t; at the next gap it first passes sqrt(s).
    t = ordered[1:]
    k, g1, g2 = counts[:-1], first[:-1], second[:-1]
    passed = (k * t - g1) ** 2 >= sparsity * (k * t * t - 2 * t * g1 + g2)
    passed &= k > sparsity
    kept = int(np.argmax(passed)) + 1 if bool(passed.any()) else len(gap)
    level = _level(ordered[:kept], sparsity)
    # Entries at the level itself, of which there may be many, are no more than its rounding.
    fewer = int(np.searchsorted(ordered, level * (1 - 1e-14)))
    if sparsity < fewer < kept:
        level = _level(ordered[:fewer], sparsity)
    shrunk: Vector = np.maximum(level - gap, 0.0)
    return shrunk


def _level(gap: Vector, sparsity: int) -> float:
    r"""Return the root t of the equation above for k gaps: with their mean m and the variance V,
    :math:`(t - m)^2 = sV/(k - s)`, where nothing cancels.
    """
    mean = float(gap.mean())
    variance = float(np.square(gap - mean).mean())
    return mean + math.sqrt(sparsity / (len(gap) - sparsity) * variance)
