"""The ellipsoid with axes along the coordinates."""

import math
from dataclasses import dataclass, field

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.geometry.base import Symmetric, Width
from dpsco_core.geometry.norms import check_exponent, lq_norm, unit_vector
from dpsco_core.geometry.power_sums import safeguarded_root


@dataclass(frozen=True, kw_only=True, eq=False)
class Ellipsoid(Symmetric):
    r"""The set :math:`\{w \in R^d : \sum_j w_j^2/a_j^2 \le 1\}`."""

    half_axes: Vector  # shape (d,): a, finite and positive
    d: int = field(init=False)

    def __post_init__(self) -> None:
        a = np.array(self.half_axes, dtype=float)
        ok = a.ndim == 1 and a.size > 0 and bool(((a > 0) & (a < math.inf)).all())
        require(ok, "half_axes", "a vector of finite positive numbers", self.half_axes)
        a.flags.writeable = False
        object.__setattr__(self, "half_axes", a)
        object.__setattr__(self, "d", len(a))

    @property
    def l2_radius(self) -> float:
        """The longest half-axis."""
        return float(self.half_axes.max())

    @property
    def inradius(self) -> float:
        """The shortest half-axis."""
        return float(self.half_axes.min())

    def project(self, w: Vector) -> Vector:
        r"""Return the nearest point to the finite `w`, shape (d,).

        It is :math:`w_j a_j^2/(a_j^2 + \nu)` at the nu that puts it on the boundary.
        """
        if self.minkowski_norm(w) <= 1:
            return w
        top = float(np.abs(w).max())
        scale = max(top, self.l2_radius)
        v, a = w / scale, self.half_axes / scale
        square = a * a

        def log_norm(log_nu: float) -> tuple[float, float]:
            """ln of the Minkowski norm, and its slope in ln nu."""
            nu = math.exp(log_nu)
            shrink = square / (square + nu)
            y = shrink * (v / a)
            size = lq_norm(y, 2.0)
            y /= size
            return math.log(size), -float((y * y) @ (1 - shrink))

        # nu <= |a v|_2, at which the norm is at most 1 even without a_j^2 in the denominator.
        high = math.log(lq_norm(a * v, 2.0))
        root = safeguarded_root(log_norm, -math.inf, high, high)
        found: Vector = v * (square / (square + math.exp(root)))
        return found / lq_norm(found / a, 2.0) * scale

    def support(self, g: Vector) -> float:
        r"""Return :math:`(\sum_j a_j^2g_j^2)^{1/2}`."""
        return lq_norm(self.half_axes * g, 2.0)

    def support_point(self, g: Vector) -> Vector:
        r"""Return :math:`a_j^2g_j/(\sum_k a_k^2g_k^2)^{1/2}`, and 0 for g = 0; shape (d,)."""
        found: Vector = self.half_axes * unit_vector(self.half_axes * g, 2.0)
        return found

    def diameter_in(self, exponent: float) -> float:
        r"""Return :math:`2\max a_j` for q >= 2, and :math:`2\|a\|_c`, 1/c = 1/q - 1/2, below."""
        check_exponent(exponent)
        if exponent >= 2:
            return 2 * self.l2_radius
        return 2 * lq_norm(self.half_axes, 1 / (1 / exponent - 0.5))

    def minkowski_norm(self, w: Vector) -> float:
        r"""Return :math:`(\sum_j w_j^2/a_j^2)^{1/2}`."""
        return lq_norm(w / self.half_axes, 2.0)

    def gaussian_width(self) -> Width:
        r"""Return :math:`\sqrt{2/\pi}\|a\|_2 \le G \le \|a\|_2`."""
        upper = lq_norm(self.half_axes, 2.0)
        return Width.between(math.sqrt(2 / math.pi) * upper, upper)
