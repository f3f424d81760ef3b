"""The simplex and the solid simplex."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.geometry.base import Width, check_dimension, check_radius, not_symmetric
from dpsco_core.geometry.norms import check_exponent
from dpsco_core.geometry.threshold import shrink_to_sum
from dpsco_core.geometry.width import largest_mean, largest_positive_mean


@dataclass(frozen=True, kw_only=True)
class OnVertices:
    """What the two simplices share: the vertices r e_j, and that neither is symmetric."""

    d: int  # dimension of the space, at least 1
    radius: float  # r, finite and positive

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        check_dimension(self.d)
        check_radius(self.radius)

    @property
    def l2_radius(self) -> float:
        """The radius r about 0: of the vertices."""
        return self.radius

    @property
    def diameter(self) -> float:
        return self.diameter_in(2.0)

    @property
    def inradius(self) -> float:
        """Refused: 0 is not inside."""
        raise not_symmetric("an inradius", self.kind)

    def diameter_in(self, exponent: float) -> float:
        """Return :math:`2^{1/q}r`, the distance of two vertices."""
        check_exponent(exponent)
        return 2 ** (1 / exponent) * self.radius

    def radius_in(self, exponent: float) -> float:
        """Return r, whatever the exponent: of the vertices."""
        check_exponent(exponent)
        return self.radius

    def minkowski_norm(self, w: Vector) -> float:
        """Refused: the set is not symmetric."""
        raise not_symmetric("a Minkowski norm", self.kind)


@dataclass(frozen=True, kw_only=True)
class Simplex(OnVertices):
    r"""The set :math:`\{w \in R^d : w \ge 0, \sum_j w_j = r\}`.

    Parameters
    ----------
    d : int
        Dimension of the space, at least 1 (the set has one less).
    radius : float
        r, finite and positive.

    Examples
    --------
    >>> Simplex(d=3, radius=1.0).project(np.array([0.9, 0.7, -2.0]))
    array([0.6, 0.4, 0. ])
    """

    kind = "simplex"

    @property
    def centre(self) -> Vector:
        """The uniform vector r/d, shape (d,)."""
        return np.full(self.d, self.radius / self.d)

    def project(self, w: Vector) -> Vector:
        """Return the nearest point of the simplex to the finite `w`, shape (d,), by one sort."""
        with np.errstate(over="ignore"):  # an entry 1e308 below the largest is cut off anyway
            return shrink_to_sum(w, self.radius, float(w.max()))

    def support(self, g: Vector) -> float:
        r"""Return :math:`r\max_j g_j`."""
        return self.radius * float(g.max())

    def contains(self, w: Vector, tolerance: float = 1e-9) -> bool:
        """Whether `w` lies in the set, up to `tolerance` times r in sign and in sum."""
        slack = tolerance * self.radius
        signs = bool(np.isfinite(w).all()) and float(w.min()) >= -slack
        return signs and abs(math.fsum(w) - self.radius) <= slack

    def support_point(self, g: Vector) -> Vector:
        """Return the vertex at the first of the largest entries, shape (d,)."""
        found = np.zeros(self.d)
        found[int(g.argmax())] = self.radius
        return found

    def diameter_in(self, exponent: float) -> float:
        """Return :math:`2^{1/q}r`, the distance of two vertices; 0 in one dimension."""
        apart = super().diameter_in(exponent)
        return 0.0 if self.d == 1 else apart

    def gaussian_width(self) -> Width:
        r"""Return :math:`r E\max_j \xi_j`, exact by quadrature; at most r sqrt(2 ln d)."""
        return Width.known(self.radius * largest_mean(self.d))


@dataclass(frozen=True, kw_only=True)
class SolidSimplex(OnVertices):
    r"""The set :math:`\{w \in R^d : w \ge 0, \sum_j w_j \le r\}`.

    Parameters
    ----------
    d : int
        Dimension, at least 1.
    radius : float
        r, finite and positive.
    """

    kind = "solid simplex"

    @property
    def centre(self) -> Vector:
        """The uniform vector r/(d + 1), shape (d,)."""
        return np.full(self.d, self.radius / (self.d + 1))

    def project(self, w: Vector) -> Vector:
        """Return the nearest point of the set to the finite `w`, shape (d,), by one sort."""
        positive = np.maximum(w, 0.0)
        top = float(positive.max())
        if top <= self.radius and float(positive.sum()) <= self.radius:
            return positive
        return shrink_to_sum(positive, self.radius, top)

    def support(self, g: Vector) -> float:
        r"""Return :math:`r\max(0, \max_j g_j)`."""
        return self.radius * max(0.0, float(g.max()))

    def contains(self, w: Vector, tolerance: float = 1e-9) -> bool:
        slack = tolerance * self.radius
        signs = bool(np.isfinite(w).all()) and float(w.min()) >= -slack
        return signs and math.fsum(w) <= self.radius + slack

    def support_point(self, g: Vector) -> Vector:
        """Return the vertex at the first of the largest entries, or 0 if none is positive."""
        found, top = np.zeros(self.d), int(g.argmax())
        found[top] = self.radius if g[top] > 0 else 0.0
        return found

    def diameter_in(self, exponent: float) -> float:
        """Return :math:`2^{1/q}r`, the distance of two vertices other than 0; r for d = 1."""
        apart = super().diameter_in(exponent)
        return self.radius if self.d == 1 else apart

    def gaussian_width(self) -> Width:
        r"""Return :math:`r E\max(0, \max_j \xi_j)`, exact; at most r sqrt(2 ln(d + 1))."""
        return Width.known(self.radius * largest_positive_mean(self.d))
