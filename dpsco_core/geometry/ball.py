"""The Euclidean ball, centred at 0."""

from dataclasses import dataclass

from dpsco_core.base.arrays import Vector
from dpsco_core.geometry.base import Symmetric, Width, check_dimension, check_radius
from dpsco_core.geometry.norms import lq_norm, norm_ratio, unit_vector
from dpsco_core.geometry.width import chi_mean


@dataclass(frozen=True, kw_only=True)
class Ball(Symmetric):
    r"""The set :math:`\{w \in R^d : \|w\|_2 \le r\}`.

    Examples
    --------
    >>> import numpy as np
    >>> Ball(d=2, radius=1.0).project(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """

    d: int  # dimension, at least 1
    radius: float  # r, finite and positive

    def __post_init__(self) -> None:
        check_dimension(self.d)
        check_radius(self.radius)

    @property
    def l2_radius(self) -> float:
        """The radius r."""
        return self.radius

    @property
    def inradius(self) -> float:
        """The radius r."""
        return self.radius

    def project(self, w: Vector) -> Vector:
        """Return the point of the ball that is nearest to the finite vector `w`, shape (d,)."""
        norm = lq_norm(w, 2.0)
        return w if norm <= self.radius else w * (self.radius / norm)

    def support(self, g: Vector) -> float:
        r"""Return :math:`\max_{w} \langle g, w\rangle = r\|g\|_2`, the support function."""
        return self.radius * lq_norm(g, 2.0)

    def support_point(self, g: Vector) -> Vector:
        r"""Return :math:`rg/\|g\|_2`, and 0 for g = 0; shape (d,)."""
        return self.radius * unit_vector(g, 2.0)

    def diameter_in(self, exponent: float) -> float:
        r"""Return :math:`2r\,d^{\max(0, 1/q - 1/2)}`."""
        return 2 * self.radius * norm_ratio(self.d, exponent, 2.0)

    def minkowski_norm(self, w: Vector) -> float:
        r"""Return :math:`\|w\|_2/r`."""
        return lq_norm(w, 2.0) / self.radius

    def gaussian_width(self) -> Width:
        r"""Return :math:`r E\chi_d`, exact."""
        return Width.known(self.radius * chi_mean(self.d))
