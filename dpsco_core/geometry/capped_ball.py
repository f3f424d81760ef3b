"""The l1 ball cut by a cube: the hull of flat sparse vectors."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.geometry.base import Symmetric, Width, check_dimension, check_radius
from dpsco_core.geometry.norms import check_exponent, lq_norm
from dpsco_core.geometry.width import top_absolute_mean


@dataclass(frozen=True, kw_only=True)
class CappedL1Ball(Symmetric):
    r"""The set :math:`\{\|w\|_1 \le sr, \|w\|_\infty \le r\}`.

    Its extreme points have s entries of size r, and zeros.
    """

    d: int  # dimension, at least 1
    sparsity: int  # s, between 1 (the l1 ball) and d (the cube)
    radius: float  # r, finite and positive

    def __post_init__(self) -> None:
        check_dimension(self.d)
        ok = isinstance(self.sparsity, int) and 1 <= self.sparsity <= self.d
        require(ok, "sparsity", f"an integer between 1 and d={self.d}", self.sparsity)
        check_radius(self.radius)

    @property
    def l2_radius(self) -> float:
        r""":math:`r\sqrt s`."""
        return self.radius * math.sqrt(self.sparsity)

    @property
    def inradius(self) -> float:
        r""":math:`r\min\{1, s/\sqrt d\}`."""
        return self.radius * min(1.0, self.sparsity / math.sqrt(self.d))

    def project(self, w: Vector) -> Vector:
        r"""Return the nearest point to the finite `w`, shape (d,).

        Entries are shrunk by tau >= 0, then clipped at r; the sum is linear in tau between the
        sizes of entries, and the sizes less r, so that one sort finds tau.
        """
        size, r = np.abs(w), self.radius
        clipped = np.minimum(size, r)
        total = self.sparsity * r
        if float((clipped / r).sum()) <= self.sparsity:
            return np.copysign(clipped, w)
        # tau is below the s-th largest size by r at most: what is farther than r from that is full
        # or 0, however far, and no digits are lost to it.
        rank = self.d - self.sparsity
        size = np.clip(size - float(np.partition(size, rank)[rank]), -r, r)
        # In t = max - tau: entry j starts to grow at its gap to the largest, and ends r later.
        gap = float(size.max()) - size
        knots = np.concatenate([gap, gap + r])
        order = np.argsort(knots, kind="stable")
        knots = knots[order]
        slopes = np.cumsum(np.where(order < self.d, 1.0, -1.0))
        reached = np.concatenate([[0.0], np.cumsum(slopes[:-1] * np.diff(knots))])
        k = int(np.searchsorted(reached, total, side="left")) - 1
        passed = order[: k + 1]
        full = np.zeros(self.d, dtype=bool)
        full[passed[passed >= self.d] - self.d] = True
        free = np.zeros(self.d, dtype=bool)
        free[passed[passed < self.d]] = True
        free &= ~full
        # The same equation once more, from the largest of those that move: no digits are lost to
        # entries far above them.
        near = float(size[free].max()) - size[free]
        level = (total - r * int(full.sum()) + float(near.sum())) / len(near)
        shrunk = np.where(full, r, 0.0)
        shrunk[free] = np.clip(level - near, 0.0, r)
        return np.copysign(shrunk, w)

    def support(self, g: Vector) -> float:
        r"""Return r times the sum of the s largest :math:`|g_j|`."""
        s = self.sparsity
        return self.radius * float(np.partition(np.abs(g), self.d - s)[self.d - s :].sum())

    def support_point(self, g: Vector) -> Vector:
        """Return r with the signs of the s largest entries, the first of equal ones; else 0."""
        found = np.zeros(self.d)
        top = np.argsort(-np.abs(g), kind="stable")[: self.sparsity]
        found[top] = self.radius * np.sign(g[top])
        return found

    def diameter_in(self, exponent: float) -> float:
        r"""Return :math:`2rs^{1/q}`."""
        check_exponent(exponent)
        return 2 * self.radius * math.pow(self.sparsity, 1 / exponent)

    def minkowski_norm(self, w: Vector) -> float:
        r"""Return :math:`\max\{\|w\|_1/s, \|w\|_\infty\}/r`."""
        return max(lq_norm(w, 1.0) / self.sparsity, lq_norm(w, math.inf)) / self.radius

    def gaussian_width(self) -> Width:
        """Return r times the mean of the s largest sizes, exact; <= rs sqrt(2 ln(2d/s))."""
        return Width.known(self.radius * top_absolute_mean(self.d, self.sparsity))
