"""Balls of the l_q norms, boxes and ellipsoids, centred at 0."""

import math
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.geometry.base import (
    Sized,
    Symmetric,
    Width,
    check_dimension,
    check_radius,
    freeze_array,
)
from dpsco_core.geometry.norms import (
    dual_exponent,
    lq_norm,
    norm_ratio,
    shrink_to_sum,
    unit_vector,
)
from dpsco_core.geometry.power_sums import safeguarded_root, solve_power_sums
from dpsco_core.geometry.width import chi_mean, largest_absolute_mean, lq_norm_mean

CUBE = 1e17  # For an exponent q this large, d^(1/q) rounds to 1, so the l_q ball is a cube.


class NormBall(Sized, Symmetric):
    r"""The set :math:`\{w \in R^d : \|w\|_q \le r\}`, with the quantities that follow from q."""

    exponent: float  # the exponent q of the norm

    @property
    def inradius(self) -> float:
        r"""The inradius :math:`r\,d^{\min(0, 1/2 - 1/q)}`."""
        return self.radius / norm_ratio(self.d, self.exponent, 2.0)

    def support(self, g: Vector) -> float:
        """Return the largest product of g with a point of the ball."""
        return self.radius * lq_norm(g, dual_exponent(self.exponent))

    def radius_in(self, exponent: float) -> float:
        """Return the largest norm, of the given exponent, of a point on an axis or a diagonal."""
        return self.radius * norm_ratio(self.d, exponent, self.exponent)

    def minkowski_norm(self, w: Vector) -> float:
        """Return the smallest factor by which the ball contains w."""
        return lq_norm(w, self.exponent) / self.radius


@dataclass(frozen=True, kw_only=True)
class Ball(NormBall):
    r"""The set :math:`\{w \in R^d : \|w\|_2 \le r\}`.

    Examples
    --------
    >>> Ball(d=2, radius=1.0).project(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """

    d: int  # dimension, at least 1
    radius: float  # the radius r, finite and positive

    exponent = 2.0
    name = "the l2 ball"

    def project(self, w: Vector) -> Vector:
        """Return the nearest point of the ball, shape (d,)."""
        norm = lq_norm(w, 2.0)
        return w if norm <= self.radius else w * (self.radius / norm)

    def support_point(self, g: Vector) -> Vector:
        """Return the point of the ball with the largest product with g, shape (d,)."""
        return self.radius * unit_vector(g, 2.0)

    def gaussian_width(self) -> Width:
        r"""Return the Gaussian width :math:`r E\chi_d`, exactly."""
        return Width.from_value(self.radius * chi_mean(self.d))


@dataclass(frozen=True, kw_only=True)
class L1Ball(NormBall):
    r"""The set :math:`\{w \in R^d : \|w\|_1 \le r\}`.

    Examples
    --------
    >>> L1Ball(d=3, radius=1.0).project(np.array([1.5, -1.0, 0.2]))
    array([ 0.75, -0.25,  0.  ])
    """

    d: int  # dimension, at least 1
    radius: float  # the radius r, finite and positive

    exponent = 1.0
    name = "the l1 ball"

    @property
    def inradius(self) -> float:
        r"""The inradius :math:`r/\sqrt d`, the distance of 0 from the middle of a facet."""
        return self.radius / math.sqrt(self.d)

    def project(self, w: Vector) -> Vector:
        """Return the nearest point of the l1 ball, shape (d,)."""
        size = np.abs(w)
        top = float(size.max())
        if top <= self.radius and float(size.sum()) <= self.radius:
            return w
        return np.copysign(shrink_to_sum(size, self.radius, top), w)

    def support_point(self, g: Vector) -> Vector:
        """Return the vertex with the largest product with g, shape (d,); the first of several."""
        vertex = np.zeros(self.d)
        top = int(np.abs(g).argmax())
        vertex[top] = math.copysign(self.radius, g[top])
        return vertex

    def gaussian_width(self) -> Width:
        r"""Return the Gaussian width :math:`r E\|\xi\|_\infty`, exact by quadrature.

        It is at most r sqrt(2 ln(2d)).
        """
        return Width.from_value(self.radius * largest_absolute_mean(self.d))


@dataclass(frozen=True, kw_only=True)
class LqBall(NormBall):
    r"""The set :math:`\{w \in R^d : \|w\|_q \le r\}`.

    Examples
    --------
    >>> ball = LqBall(d=2, exponent=4.0, radius=1.0)
    >>> ball.project(np.array([2.0, 2.0])).round(6)
    array([0.840896, 0.840896])
    """

    d: int  # dimension, at least 1
    exponent: float  # the exponent q, above 1 and finite
    radius: float  # the radius r, finite and positive

    def __post_init__(self) -> None:
        """Refuse an exponent that is not above 1 and finite, and set the name of the set."""
        super().__post_init__()
        require(1 < self.exponent < math.inf, "exponent", "above 1 and finite", self.exponent)
        object.__setattr__(self, "name", f"an lq ball with q = {self.exponent:g}")

    def project(self, w: Vector) -> Vector:
        r"""Return the nearest point of the ball to the finite `w`, shape (d,).

        Its entries solve :math:`x_j + \nu x_j^{q-1} = |w_j|` at the nu for which the norm is r.
        """
        norm = lq_norm(w, self.exponent)
        if norm <= self.radius:
            return w
        if self.exponent == 2:
            return w * (self.radius / norm)
        # The entries are scaled to the unit sphere, which makes the ball's radius r/norm < 1.
        size = np.abs(w) / norm
        nearest = np.zeros(self.d)
        moving = size > 0
        nearest[moving] = _project_positive(size[moving], self.exponent, self.radius / norm)
        nearest *= self.radius / lq_norm(nearest, self.exponent)
        return np.copysign(nearest, w)

    def support_point(self, g: Vector) -> Vector:
        r"""Return the point of the ball with the largest product with g, shape (d,); 0 for g = 0.

        It is :math:`\mathrm{sign}(g_j)|g_j|^{q'-1}`, scaled to the norm r; q' is the dual exponent.
        """
        top = lq_norm(g, math.inf)
        if top == 0:
            return np.zeros(self.d)
        sizes = np.abs(g / top) ** (dual_exponent(self.exponent) - 1)
        return np.copysign(self.radius * unit_vector(sizes, self.exponent), g)

    def gaussian_width(self) -> Width:
        r"""Return the Gaussian width :math:`r E\|\xi\|_{q'}`, by quadrature.

        q' is the dual exponent.
        """
        if self.exponent == 2:
            return Width.from_value(self.radius * chi_mean(self.d))
        return Width.from_value(self.radius * lq_norm_mean(self.d, dual_exponent(self.exponent)))


def _project_positive(size: Vector, exponent: float, target: float) -> Vector:
    """Project a positive vector, shape (k,), of l_q norm 1 on the ball of radius `target` < 1."""
    p, logs, log_target = exponent - 1, np.log(size), math.log(target)
    z: Vector | None = None

    def norm_at(log_nu: float) -> tuple[float, float]:
        """Return ln(|x|_q/target) at the x that solves the equation for nu; its slope in ln nu."""
        nonlocal z
        z, share = solve_power_sums(logs, (1.0, p), (0.0, log_nu), z)
        weights = np.exp(exponent * (z - float(z.max())))
        total = float(weights.sum())
        slope = -float(weights @ (share / (1 + (p - 1) * share))) / total
        return math.log(total) / exponent + float(z.max()) - log_target, slope

    # The equation is x + nu x^(q-1) = v, in every coordinate. Without the term x its root would be
    # nu = |v|_{q'} / target^{q-1}; that term makes the norm smaller, so this is an upper bound.
    high = math.log(lq_norm(size, dual_exponent(exponent))) - p * log_target
    # For a target near 1 the norm of x is about 1 - nu sum v^{2q-2}, which gives a first guess.
    start = math.log(-log_target) - math.log(float(np.exp(2 * p * logs).sum()))
    root = safeguarded_root(norm_at, -math.inf, high, min(start, high))
    return np.exp(solve_power_sums(logs, (1.0, p), (0.0, root), z)[0])


@dataclass(frozen=True, kw_only=True, eq=False)
class Box(Symmetric):
    r"""The set :math:`\{w \in R^d : |w_j| \le b_j\}`; the l_infinity ball is a cube.

    Examples
    --------
    >>> Box(half_widths=np.array([1.0, 2.0])).project(np.array([5.0, -1.0]))
    array([ 1., -1.])
    """

    half_widths: Vector  # the half-widths b, shape (d,), finite and positive
    d: int = field(init=False)

    name = "a box"

    def __post_init__(self) -> None:
        """Make the half widths read-only; refuse any that is not finite and positive."""
        freeze_array(
            self, "half_widths", "a vector of finite positive numbers", ndim=1, lower_limit=0
        )

    @classmethod
    def cube(cls, d: int, radius: float) -> Self:
        r"""Return the ball :math:`\{\|w\|_\infty \le r\}` of :math:`R^d`."""
        check_dimension(d)
        check_radius(radius)
        return cls(half_widths=np.full(d, radius))

    @property
    def inradius(self) -> float:
        """The radius of the largest l2 ball in the box."""
        return float(self.half_widths.min())

    def project(self, w: Vector) -> Vector:
        """Return the point of the box that is nearest to w."""
        return np.clip(w, -self.half_widths, self.half_widths)

    def support(self, g: Vector) -> float:
        """Return the largest product of g with a point of the box."""
        return float(self.half_widths @ np.abs(g))

    def support_point(self, g: Vector) -> Vector:
        r"""Return the corner :math:`b_j\,\mathrm{sign}(g_j)`, with sign(0) = 0; shape (d,)."""
        corner: Vector = self.half_widths * np.sign(g)
        return corner

    def radius_in(self, exponent: float) -> float:
        """Return the largest l_exponent norm of a point of the box."""
        return lq_norm(self.half_widths, exponent)

    def minkowski_norm(self, w: Vector) -> float:
        """Return the smallest factor by which the box contains w."""
        return float((np.abs(w) / self.half_widths).max())

    def gaussian_width(self) -> Width:
        r"""Return the Gaussian width :math:`\sqrt{2/\pi}\sum_j b_j`, exactly."""
        return Width.from_value(math.sqrt(2 / math.pi) * math.fsum(self.half_widths))


def lq_ball(d: int, exponent: float, radius: float) -> L1Ball | Ball | LqBall | Box:
    """Return the l_q ball of R^d, 1 <= q <= infinity, in the class that projects on it fastest.

    Examples
    --------
    >>> lq_ball(3, 1.0, 2.0)
    L1Ball(d=3, radius=2.0)
    """
    if exponent == 1:
        return L1Ball(d=d, radius=radius)
    if exponent == 2:
        return Ball(d=d, radius=radius)
    return (
        Box.cube(d, radius) if exponent >= CUBE else LqBall(d=d, exponent=exponent, radius=radius)
    )
