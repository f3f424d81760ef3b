"""The box centred at 0; the l_infinity ball is the cube among them."""

import math
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.geometry.base import Symmetric, Width, check_dimension, check_radius
from dpsco_core.geometry.norms import lq_norm


@dataclass(frozen=True, kw_only=True, eq=False)
class Box(Symmetric):
    r"""The set :math:`\{w \in R^d : |w_j| \le b_j\}`.

    Examples
    --------
    >>> Box(half_widths=np.array([1.0, 2.0])).project(np.array([5.0, -1.0]))
    array([ 1., -1.])
    """

    half_widths: Vector  # shape (d,): b, finite and positive
    d: int = field(init=False)

    def __post_init__(self) -> None:
        b = np.array(self.half_widths, dtype=float)
        ok = b.ndim == 1 and b.size > 0 and bool(((b > 0) & (b < math.inf)).all())
        require(ok, "half_widths", "a vector of finite positive numbers", self.half_widths)
        b.flags.writeable = False
        object.__setattr__(self, "half_widths", b)
        object.__setattr__(self, "d", len(b))

    @classmethod
    def cube(cls, d: int, radius: float) -> Self:
        r"""Return the ball :math:`\{\|w\|_\infty \le r\}` of :math:`R^d`."""
        check_dimension(d)
        check_radius(radius)
        return cls(half_widths=np.full(d, radius))

    @property
    def l2_radius(self) -> float:
        r""":math:`\|b\|_2`: of the corners."""
        return lq_norm(self.half_widths, 2.0)

    @property
    def inradius(self) -> float:
        r""":math:`\min_j b_j`."""
        return float(self.half_widths.min())

    def project(self, w: Vector) -> Vector:
        """Return the nearest point of the box to the finite `w`, shape (d,)."""
        return np.clip(w, -self.half_widths, self.half_widths)

    def support(self, g: Vector) -> float:
        r"""Return :math:`\sum_j b_j|g_j|`."""
        return float(self.half_widths @ np.abs(g))

    def support_point(self, g: Vector) -> Vector:
        r"""Return :math:`b_j\,\mathrm{sign}(g_j)`, with sign(0) = 0; shape (d,)."""
        found: Vector = self.half_widths * np.sign(g)
        return found

    def diameter_in(self, exponent: float) -> float:
        r"""Return :math:`2\|b\|_q`."""
        return 2 * lq_norm(self.half_widths, exponent)

    def minkowski_norm(self, w: Vector) -> float:
        r"""Return :math:`\max_j |w_j|/b_j`."""
        return float((np.abs(w) / self.half_widths).max())

    def gaussian_width(self) -> Width:
        r"""Return :math:`\sqrt{2/\pi}\sum_j b_j`, exact."""
        return Width.known(math.sqrt(2 / math.pi) * math.fsum(self.half_widths))
