"""The group-l1 ball: the sum of the l2 norms of blocks of coordinates."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.geometry.base import Symmetric, Width, check_dimension, check_radius
from dpsco_core.geometry.norms import norm_ratio, row_norms, unit_vector
from dpsco_core.geometry.threshold import shrink_to_sum
from dpsco_core.geometry.width import largest_block_mean


@dataclass(frozen=True, kw_only=True)
class GroupBall(Symmetric):
    r"""The set :math:`\{w : \sum_g \|w_g\|_2 \le r\}` over consecutive blocks of one size."""

    d: int  # dimension, a multiple of `group_size`
    group_size: int  # coordinates in a block: 1 gives the l1 ball, d the l2 ball
    radius: float  # r, finite and positive

    def __post_init__(self) -> None:
        check_dimension(self.d)
        whole = isinstance(self.group_size, int) and self.group_size >= 1
        fits = whole and self.d % self.group_size == 0
        require(fits, "group_size", f"a divisor of d={self.d}", self.group_size)
        check_radius(self.radius)

    @property
    def groups(self) -> int:
        """The number K of blocks."""
        return self.d // self.group_size

    @property
    def l2_radius(self) -> float:
        """The radius r."""
        return self.radius

    @property
    def inradius(self) -> float:
        r""":math:`r/\sqrt K`."""
        return self.radius / math.sqrt(self.groups)

    def project(self, w: Vector) -> Vector:
        """Return the nearest point to the finite `w`, shape (d,): the l1 ball of the norms."""
        norms = self._norms(w)
        top = float(norms.max())
        if top <= self.radius and float(norms.sum()) <= self.radius:
            return w
        shrunk = shrink_to_sum(norms, self.radius, top)
        kept = np.divide(shrunk, norms, out=np.zeros(self.groups), where=norms > 0)
        found: Vector = w * np.repeat(kept, self.group_size)
        return found

    def support(self, g: Vector) -> float:
        r"""Return :math:`r\max_g\|g_g\|_2`."""
        return self.radius * float(self._norms(g).max())

    def support_point(self, g: Vector) -> Vector:
        """Return the longest block of g, the first of them, at length r; 0 elsewhere."""
        found = np.zeros((self.groups, self.group_size))
        top = int(self._norms(g).argmax())
        found[top] = self.radius * unit_vector(g.reshape(found.shape)[top], 2.0)
        return found.ravel()

    def diameter_in(self, exponent: float) -> float:
        """Return the diameter in the l_q norm, attained within one block."""
        return 2 * self.radius * norm_ratio(self.group_size, exponent, 2.0)

    def minkowski_norm(self, w: Vector) -> float:
        r"""Return :math:`\sum_g \|w_g\|_2/r`."""
        return float((self._norms(w) / self.radius).sum())

    def gaussian_width(self) -> Width:
        r"""Return :math:`r E\max_g\|\xi_g\|_2`, exact; at most r (sqrt m + sqrt(2 ln K))."""
        return Width.known(self.radius * largest_block_mean(self.groups, self.group_size))

    def _norms(self, w: Vector) -> Vector:
        return row_norms(w.reshape(self.groups, self.group_size), 2.0)
