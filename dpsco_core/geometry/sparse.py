"""Balls whose extreme points are sparse: s-sparse vectors, blocks of coordinates."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.base.valley import lowest_between
from dpsco_core.geometry.base import Sized, Symmetric, Width
from dpsco_core.geometry.norms import (
    lq_norm,
    norm_ratio,
    row_norms,
    shrink_to_sum,
    unit_vector,
)
from dpsco_core.geometry.width import (
    chi_mean,
    largest_absolute_mean,
    largest_block_mean,
    sparse_width_bound,
)


class Sparse(Sized, Symmetric):
    """A ball whose extreme points have a limited number of nonzero entries."""

    sparsity: int  # the number s of entries that may be nonzero

    def __post_init__(self) -> None:
        """Refuse a sparsity that is not an integer from 1 to the dimension."""
        super().__post_init__()
        is_valid = isinstance(self.sparsity, int) and 1 <= self.sparsity <= self.d
        require(is_valid, "sparsity", f"an integer between 1 and d={self.d}", self.sparsity)


@dataclass(frozen=True, kw_only=True)
class SparseHull(Sparse):
    r"""The set :math:`\{\|w\|_1 \le \sqrt s\,r, \|w\|_2 \le r\}`.

    With S the s-sparse vectors of l2 norm at most r, conv S is the ball of the s-support norm, and
    :math:`\mathrm{conv}\,S \subset C \subset 2\,\mathrm{conv}\,S` (Plan and Vershynin 2013,
    Lemma 3.1). This set replaces conv S because its two constraints are plain norms: projecting
    takes one sort and a square root, and membership is easily checked. Its width is within a factor
    2 of that of S.
    """

    d: int  # dimension, at least 1
    sparsity: int  # the sparsity s, from 1 (the l1 ball) to d (the l2 ball)
    radius: float  # the radius r, finite and positive

    name = "the hull of sparse vectors"

    @property
    def l1_radius(self) -> float:
        """The largest l1 norm of a point."""
        return math.sqrt(self.sparsity) * self.radius

    @property
    def inradius(self) -> float:
        """The radius of the largest l2 ball in the set."""
        return self.radius * math.sqrt(self.sparsity / self.d)

    def project(self, w: Vector) -> Vector:
        """Return the nearest point to the finite `w`, shape (d,).

        If neither constraint alone decides, the entries are shrunk until the ratio of the norms is
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
        r"""Return the support function :math:`\min_\tau \sqrt s\,r\tau + r\|(|g|-\tau)_+\|_2`."""
        return float(self.support_point(g) @ g)

    def support_point(self, g: Vector) -> Vector:
        r"""Return a point of the set with the largest product with g, shape (d,).

        If at least s entries of :math:`|g|` are the largest, all of them get the same size;
        otherwise the point is a multiple of :math:`(|g|-\tau)_+`.
        """
        size = np.abs(g)
        top = float(size.max())
        if top == 0:
            return np.zeros(self.d)
        size /= top
        # At s = d the set is the l2 ball; rounding may then place the l1 norm above sqrt(d) times
        # the l2 norm.
        is_ball = self.sparsity == self.d
        if is_ball or lq_norm(size, 1.0) <= math.sqrt(self.sparsity) * lq_norm(size, 2.0):
            return np.copysign(self.radius * unit_vector(size, 2.0), g)
        equal = size == 1
        if int(np.count_nonzero(equal)) >= self.sparsity:
            flat = np.where(equal, self.l1_radius / np.count_nonzero(equal), 0.0)
            return np.copysign(flat, g)
        shrunk = _shrink_to_ratio(size, self.sparsity)
        return np.copysign(self.radius * unit_vector(shrunk, 2.0), g)

    def radius_in(self, exponent: float) -> float:
        r"""Return the largest norm of a point, that of a flat s-sparse vector.

        It is :math:`rs^{\max(0, 1/q - 1/2)}`.
        """
        return self.radius * norm_ratio(self.sparsity, exponent, 2.0)

    def minkowski_norm(self, w: Vector) -> float:
        """Return the smallest factor by which the set contains w."""
        return max(lq_norm(w, 1.0) / self.l1_radius, lq_norm(w, 2.0) / self.radius)

    def gaussian_width(self) -> Width:
        r"""Return two bounds on the Gaussian width; they are equal for s = 1 and s = d.

        Above: :math:`r\min_\tau \sqrt s\,\tau + (d\,E(|\xi_1|-\tau)_+^2)^{1/2}` (Jensen, at any
        fixed tau), and twice the bound of `sparse_width_bound`. Below: the s-sparse vectors that
        take the largest entry of each of s blocks of coordinates, and the l1 ball of radius r.
        """
        d, s = self.d, self.sparsity
        if s in (1, d):
            return Width.from_value(
                self.radius * (largest_absolute_mean(d) if s == 1 else chi_mean(d))
            )
        lower = max(
            math.sqrt(s) * largest_absolute_mean(d // s),
            math.sqrt(s / d) * chi_mean(d),
            largest_absolute_mean(d),
        )
        _, lowest = lowest_between(
            lambda tau: math.sqrt(s) * tau + math.sqrt(d * _excess_square(tau)),
            0.0,
            math.sqrt(2 * math.log(d)) + 1,
        )
        upper = min(lowest, 2 * sparse_width_bound(d, s), chi_mean(d))
        return Width.from_bounds(self.radius * lower, self.radius * upper)


def _excess_square(tau: float) -> float:
    r"""Return the mean squared excess of a normal size over tau, :math:`E(|\xi|-\tau)_+^2`.

    .. math:: 2[(1+\tau^2)\Phi(-\tau) - \tau\varphi(\tau)]
    """
    density = math.exp(-tau * tau / 2) / math.sqrt(2 * math.pi)
    return max(0.0, 2 * ((1 + tau * tau) * float(ndtr(-tau)) - tau * density))


def _shrink_to_ratio(size: Vector, sparsity: int) -> Vector:
    r"""Return a vector :math:`y = (v-\tau)_+/c` with the ratio :math:`\|y\|_1 = \sqrt s\|y\|_2`.

    v is `size` and s `sparsity`. Fewer than s entries of v may share its maximum, and
    :math:`\|v\|_1 > \sqrt s\|v\|_2`. With :math:`t = \max_j v_j - \tau`, k entries above tau, and
    :math:`G_1` and :math:`G_2` the sums of their gaps to the maximum and of the squared gaps:
    :math:`(kt - G_1)^2 = s(kt^2 - 2G_1t + G_2)`.
    """
    gap = float(size.max()) - size
    gap = gap / float(gap.max())
    ordered = np.sort(gap)
    # The ratio of the norms increases with t, so the first gap at which the ratio reaches sqrt(s)
    # bounds t from above.
    t, k = ordered[1:], np.arange(1.0, len(gap))
    g1, g2 = np.cumsum(ordered)[:-1], np.cumsum(ordered**2)[:-1]
    passed = (k * t - g1) ** 2 >= sparsity * (k * t * t - 2 * t * g1 + g2)
    passed &= k > sparsity
    count = int(np.argmax(passed)) + 1 if bool(passed.any()) else len(gap)
    level = _shrinkage_level(ordered[:count], sparsity)
    # Entries at the shrinkage level itself, possibly many, differ from it by rounding only.
    smaller_count = int(np.searchsorted(ordered, level * (1 - 1e-14)))
    if sparsity < smaller_count < count:
        level = _shrinkage_level(ordered[:smaller_count], sparsity)
    shrunk: Vector = np.maximum(level - gap, 0.0)
    return shrunk


def _shrinkage_level(gap: Vector, sparsity: int) -> float:
    r"""Return the root t of :math:`(kt - G_1)^2 = s(kt^2 - 2G_1t + G_2)` for k gaps.

    :math:`G_1` and :math:`G_2` are the sums of the gaps and of their squares. With the mean m and
    the variance V of the gaps, :math:`(t - m)^2 = sV/(k - s)`, where nothing cancels.
    """
    mean = float(gap.mean())
    variance = float(np.square(gap - mean).mean())
    return mean + math.sqrt(sparsity / (len(gap) - sparsity) * variance)


@dataclass(frozen=True, kw_only=True)
class GroupBall(Sized, Symmetric):
    r"""The set :math:`\{w : \sum_g \|w_g\|_2 \le r\}` over consecutive blocks of one size."""

    d: int  # dimension, a multiple of `group_size`
    group_size: int  # the number of coordinates in a block: 1 gives the l1 ball, d the l2 ball
    radius: float  # the radius r, finite and positive

    name = "the group-l1 ball"

    def __post_init__(self) -> None:
        """Refuse a group size that does not divide the dimension."""
        super().__post_init__()
        is_integer = isinstance(self.group_size, int) and self.group_size >= 1
        is_divisor = is_integer and self.d % self.group_size == 0
        require(is_divisor, "group_size", f"a divisor of d={self.d}", self.group_size)

    @property
    def groups(self) -> int:
        """The number of groups of coordinates."""
        return self.d // self.group_size

    @property
    def inradius(self) -> float:
        """The radius of the largest l2 ball in the set."""
        return self.radius / math.sqrt(self.groups)

    def project(self, w: Vector) -> Vector:
        """Return the nearest point to the finite `w`, shape (d,): block norms shrink as in l1."""
        norms = self._block_norms(w)
        top = float(norms.max())
        if top <= self.radius and float(norms.sum()) <= self.radius:
            return w
        shrunk = shrink_to_sum(norms, self.radius, top)
        factors = np.divide(shrunk, norms, out=np.zeros(self.groups), where=norms > 0)
        nearest: Vector = w * np.repeat(factors, self.group_size)
        return nearest

    def support(self, g: Vector) -> float:
        """Return the largest product of g with a point of the set."""
        return self.radius * float(self._block_norms(g).max())

    def support_point(self, g: Vector) -> Vector:
        """Return the first longest block of g, scaled to length r; 0 elsewhere."""
        blocks = np.zeros((self.groups, self.group_size))
        top = int(self._block_norms(g).argmax())
        blocks[top] = self.radius * unit_vector(g.reshape(blocks.shape)[top], 2.0)
        return blocks.ravel()

    def radius_in(self, exponent: float) -> float:
        """Return the largest norm, of the given exponent, of a point in one block."""
        return self.radius * norm_ratio(self.group_size, exponent, 2.0)

    def minkowski_norm(self, w: Vector) -> float:
        """Return the smallest factor by which the set contains w."""
        return float((self._block_norms(w) / self.radius).sum())

    def gaussian_width(self) -> Width:
        r"""Return the Gaussian width :math:`r E\max_g\|\xi_g\|_2`, exactly.

        It is at most r (sqrt m + sqrt(2 ln K)).
        """
        return Width.from_value(self.radius * largest_block_mean(self.groups, self.group_size))

    def _block_norms(self, w: Vector) -> Vector:
        """Return the l2 norm of every block of w, shape (K,)."""
        return row_norms(w.reshape(self.groups, self.group_size), 2.0)
