"""The l_q ball, 1 < q < infinity, centred at 0; and the ball of any exponent."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.geometry.ball import Ball
from dpsco_core.geometry.base import Symmetric, Width, check_dimension, check_radius
from dpsco_core.geometry.box import Box
from dpsco_core.geometry.l1_ball import L1Ball
from dpsco_core.geometry.norms import dual_exponent, lq_norm, norm_ratio, unit_vector
from dpsco_core.geometry.power_sums import PowerSums, safeguarded_root
from dpsco_core.geometry.width import chi_mean, lq_ball_width_bounds

CUBE = 1e17  # exponents from which a ball is the cube to the last digit: d^(1/q) is 1


@dataclass(frozen=True, kw_only=True)
class LqBall(Symmetric):
    r"""The set :math:`\{w \in R^d : \|w\|_q \le r\}`.

    Examples
    --------
    >>> ball = LqBall(d=2, exponent=4.0, radius=1.0)
    >>> ball.project(np.array([2.0, 2.0])).round(6)
    array([0.840896, 0.840896])
    """

    d: int  # dimension, at least 1
    exponent: float  # q, above 1 and finite
    radius: float  # r, finite and positive

    def __post_init__(self) -> None:
        check_dimension(self.d)
        require(1 < self.exponent < math.inf, "exponent", "above 1 and finite", self.exponent)
        check_radius(self.radius)

    @property
    def l2_radius(self) -> float:
        r""":math:`r\,d^{\max(0, 1/2 - 1/q)}`."""
        return self.radius * norm_ratio(self.d, 2.0, self.exponent)

    @property
    def inradius(self) -> float:
        r""":math:`r\,d^{\min(0, 1/2 - 1/q)}`."""
        return self.radius / norm_ratio(self.d, self.exponent, 2.0)

    def project(self, w: Vector) -> Vector:
        r"""Return the nearest point of the ball to the finite `w`, shape (d,).

        Its entries solve :math:`x_j + \nu x_j^{q-1} = |w_j|` at the nu for which the norm is r.
        """
        norm = lq_norm(w, self.exponent)
        if norm <= self.radius:
            return w
        if self.exponent == 2:
            return w * (self.radius / norm)
        size = np.abs(w) / norm  # on the unit sphere; the ball has radius target < 1
        target = self.radius / norm
        found = np.zeros(self.d)
        moving = size > 0
        found[moving] = _project_positive(size[moving], self.exponent, target)
        found *= self.radius / lq_norm(found, self.exponent)
        return np.copysign(found, w)

    def support(self, g: Vector) -> float:
        r"""Return :math:`r\|g\|_{q'}` with the dual exponent q'."""
        return self.radius * lq_norm(g, dual_exponent(self.exponent))

    def support_point(self, g: Vector) -> Vector:
        r"""Return r times :math:`\mathrm{sign}(g_j)|g_j|^{q'-1}`, normalised; 0 for g = 0."""
        top = lq_norm(g, math.inf)
        if top == 0:
            return np.zeros(self.d)
        sizes = np.abs(g / top) ** (dual_exponent(self.exponent) - 1)
        return np.copysign(self.radius * unit_vector(sizes, self.exponent), g)

    def diameter_in(self, exponent: float) -> float:
        """Return the diameter in another norm, attained along an axis or a diagonal."""
        return 2 * self.radius * norm_ratio(self.d, exponent, self.exponent)

    def minkowski_norm(self, w: Vector) -> float:
        r"""Return :math:`\|w\|_q/r`."""
        return lq_norm(w, self.exponent) / self.radius

    def gaussian_width(self) -> Width:
        """Return bounds a few per cent apart; exact for q = 2."""
        if self.exponent == 2:
            return Width.known(self.radius * chi_mean(self.d))
        lower, upper = lq_ball_width_bounds(self.d, self.exponent)
        return Width.between(self.radius * lower, self.radius * upper)


def _project_positive(size: Vector, exponent: float, target: float) -> Vector:
    r"""Project positive entries of l_q norm 1 on the ball of radius `target` < 1."""
    p = exponent - 1
    logs = np.log(size)
    sums = PowerSums(log_values=logs, p=1.0, q=p)
    log_target = math.log(target)
    z: Vector | None = None

    def norm_at(log_nu: float) -> tuple[float, float]:
        """ln of the norm over the target, and its slope in ln nu."""
        nonlocal z
        z, share = sums.solve(0.0, log_nu, z)
        weights = np.exp(exponent * (z - float(z.max())))
        total = float(weights.sum())
        slope = -float(weights @ (share / (1 + (p - 1) * share))) / total
        return math.log(total) / exponent + float(z.max()) - log_target, slope

    # With the second term alone, the norm is too small at nu = |v|_{q'} / target^{q-1}.
    high = math.log(lq_norm(size, dual_exponent(exponent))) - p * log_target
    # Near the sphere the norm is about 1 - nu sum v^{2q-2}.
    near = math.log(-log_target) - math.log(float(np.exp(2 * p * logs).sum()))
    root = safeguarded_root(norm_at, -math.inf, high, min(near, high))
    return np.exp(sums.solve(0.0, root, z)[0])


def lq_ball(d: int, exponent: float, radius: float) -> L1Ball | Ball | LqBall | Box:
    """Return the ball of the l_q norm, 1 <= q <= infinity, in the form that is cheapest.

    Examples
    --------
    >>> lq_ball(3, 1.0, 2.0)
    L1Ball(d=3, radius=2.0)
    """
    if exponent == 1:
        return L1Ball(d=d, radius=radius)
    if exponent == 2:
        return Ball(d=d, radius=radius)
    if exponent >= CUBE:
        return Box.cube(d, radius)
    return LqBall(d=d, exponent=exponent, radius=radius)
