"""The l1 ball, centred at 0."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.geometry.base import Symmetric, Width, check_dimension, check_radius
from dpsco_core.geometry.norms import check_exponent, lq_norm
from dpsco_core.geometry.threshold import shrink_to_sum
from dpsco_core.geometry.width import largest_absolute_mean


@dataclass(frozen=True, kw_only=True)
class L1Ball(Symmetric):
    r"""The set :math:`\{w \in R^d : \|w\|_1 \le r\}`.

    Examples
    --------
    >>> L1Ball(d=3, radius=1.0).project(np.array([1.5, -1.0, 0.2]))
    array([ 0.75, -0.25,  0.  ])
    """

    d: int  # dimension, at least 1
    radius: float  # r, finite and positive

    def __post_init__(self) -> None:
        check_dimension(self.d)
        check_radius(self.radius)

    @property
    def l2_radius(self) -> float:
        """The radius r: of the vertices."""
        return self.radius

    @property
    def inradius(self) -> float:
        r""":math:`r/\sqrt d`: the middle of a facet."""
        return self.radius / math.sqrt(self.d)

    def project(self, w: Vector) -> Vector:
        """Return the nearest point of the ball to the finite `w`, shape (d,), by one sort."""
        size = np.abs(w)
        top = float(size.max())
        if top <= self.radius and float(size.sum()) <= self.radius:
            return w
        return np.copysign(shrink_to_sum(size, self.radius, top), w)

    def support(self, g: Vector) -> float:
        r"""Return :math:`r\|g\|_\infty`."""
        return self.radius * float(np.abs(g).max())

    def support_point(self, g: Vector) -> Vector:
        """Return the vertex at the first of the largest entries, shape (d,)."""
        found = np.zeros(self.d)
        top = int(np.abs(g).argmax())
        found[top] = math.copysign(self.radius, g[top])
        return found

    def diameter_in(self, exponent: float) -> float:
        """Return 2r, whatever the exponent: the distance of opposite vertices."""
        check_exponent(exponent)
        return 2 * self.radius

    def minkowski_norm(self, w: Vector) -> float:
        r"""Return :math:`\|w\|_1/r`."""
        return lq_norm(w, 1.0) / self.radius

    def gaussian_width(self) -> Width:
        r"""Return :math:`r E\|\xi\|_\infty`, exact by quadrature; at most r sqrt(2 ln(2d))."""
        return Width.known(self.radius * largest_absolute_mean(self.d))
