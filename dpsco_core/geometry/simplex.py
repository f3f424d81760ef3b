"""The simplex and the solid simplex."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.geometry.base import Sized, Width, not_symmetric
from dpsco_core.geometry.norms import check_exponent, shrink_to_sum
from dpsco_core.geometry.width import largest_mean, largest_positive_mean


class OnVertices(Sized):
    """The base of the two simplices, with the vertices r e_j; neither is symmetric."""

    kind: str
    solid: bool  # whether 0 is a vertex of the set too

    @property
    def centre(self) -> Vector:
        """The mean of the vertices, shape (d,)."""
        return np.full(self.d, self.radius / (self.d + self.solid))

    @property
    def inradius(self) -> float:
        """Raise `InvalidInput`, because 0 is no interior point of the set."""
        raise not_symmetric("an inradius", self.kind)

    def support(self, g: Vector) -> float:
        """Return the largest product of a point of the set with g."""
        top = float(g.max())
        return self.radius * (max(0.0, top) if self.solid else top)

    def support_point(self, g: Vector) -> Vector:
        """Return the vertex with the largest product with g, shape (d,); the first of several.

        In the solid simplex it is 0 if no entry of g is positive.
        """
        vertex, top = np.zeros(self.d), int(g.argmax())
        vertex[top] = 0.0 if self.solid and not g[top] > 0 else self.radius
        return vertex

    def contains(self, w: Vector, tolerance: float = 1e-9) -> bool:
        """Return whether `w` lies in the set, up to `tolerance` times r in sign and in sum."""
        slack = tolerance * self.radius
        if not bool(np.isfinite(w).all()) or float(w.min()) < -slack:
            return False
        total = math.fsum(w)
        return abs(total - self.radius) <= slack or (self.solid and total <= self.radius)

    def diameter_in(self, exponent: float) -> float:
        """Return the diameter, which is :math:`2^{1/q}r` if two vertices are not 0."""
        check_exponent(exponent)
        if self.d == 1:
            return self.radius if self.solid else 0.0
        return 2 ** (1 / exponent) * self.radius

    def radius_in(self, exponent: float) -> float:
        """Return r for every exponent: the norm of the vertices."""
        check_exponent(exponent)
        return self.radius

    def minkowski_norm(self, w: Vector) -> float:
        """Raise `InvalidInput`, because the set is not symmetric."""
        raise not_symmetric("a Minkowski norm", self.kind)


@dataclass(frozen=True, kw_only=True)
class Simplex(OnVertices):
    r"""The set :math:`\{w \in R^d : w \ge 0, \sum_j w_j = r\}`, of dimension d - 1.

    Examples
    --------
    >>> Simplex(d=3, radius=1.0).project(np.array([0.9, 0.7, -2.0]))
    array([0.6, 0.4, 0. ])
    """

    d: int  # dimension, at least 1
    radius: float  # the radius r, which the entries sum to: finite and positive

    kind = "simplex"
    name = "the simplex"
    solid = False

    def project(self, w: Vector) -> Vector:
        """Return the nearest point of the simplex, shape (d,)."""
        # An entry 1e308 below the largest may overflow, which is harmless: it becomes 0.
        with np.errstate(over="ignore"):
            return shrink_to_sum(w, self.radius, float(w.max()))

    def gaussian_width(self) -> Width:
        r"""Return the Gaussian width :math:`r E\max_j \xi_j`, by quadrature.

        It is at most r sqrt(2 ln d).
        """
        return Width.from_value(self.radius * largest_mean(self.d))


@dataclass(frozen=True, kw_only=True)
class SolidSimplex(OnVertices):
    r"""The set :math:`\{w \in R^d : w \ge 0, \sum_j w_j \le r\}`."""

    d: int  # dimension, at least 1
    radius: float  # the radius r, the largest sum of the entries: finite and positive

    kind = "solid simplex"
    name = "the solid simplex"
    solid = True

    def project(self, w: Vector) -> Vector:
        """Return the nearest point of the solid simplex, shape (d,)."""
        positive = np.maximum(w, 0.0)
        top = float(positive.max())
        if top <= self.radius and float(positive.sum()) <= self.radius:
            return positive
        return shrink_to_sum(positive, self.radius, top)

    def gaussian_width(self) -> Width:
        r"""Return the Gaussian width :math:`r E\max(0, \max_j \xi_j)`, exactly.

        It is at most r sqrt(2 ln(d + 1)).
        """
        return Width.from_value(self.radius * largest_positive_mean(self.d))
