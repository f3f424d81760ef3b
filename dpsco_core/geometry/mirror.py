r"""Mirror maps, stable at 0 and at every scale, and constrained mirror steps.

:math:`\arg\min_{w \in C} \langle g, w\rangle + \gamma D_\Phi(w, w_0)
= \arg\min_{w \in C} \Phi(w) - \langle u, w\rangle` with :math:`u = \nabla\Phi(w_0) - g/\gamma`:
theory/su-zhao-wang.md, 2.0. With gamma = 1/eta it is the step of online stochastic mirror descent,
projection included (Arora et al. 2020, eq. (2)), in closed form or by one-dimensional root finding.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import xlogy

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.base.root import find_root
from dpsco_core.geometry.ball import Box, L1Ball, NormBall
from dpsco_core.geometry.base import ConstraintSet, check_radius
from dpsco_core.geometry.norms import dual_exponent, lq_norm
from dpsco_core.geometry.power_sums import safeguarded_root, solve_power_sums
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.geometry.simplex import Simplex, SolidSimplex


@dataclass(frozen=True, kw_only=True)
class PowerMirror:
    r"""The map :math:`\Phi(w) = \frac\kappa2\|w\|_s^2`.

    It is 1-strongly convex with respect to :math:`\|\cdot\|_s` if :math:`\kappa \ge 1/(s-1)`,
    s <= 2; `for_space` gives the one that is so with respect to the norm of a space. Su et al.
    (2023), Algorithms 3 and 4, with the index of theory/su-zhao-wang.md, 2.0, not the printed one.

    Examples
    --------
    >>> mirror = PowerMirror(exponent=1.5, kappa=2.0)
    >>> w = np.array([1.0, 0.0, -2.0])
    >>> mirror.conjugate_gradient(mirror.gradient(w)).round(12)
    array([ 1.,  0., -2.])
    """

    exponent: float  # the exponent s of the norm, above 1 and finite
    kappa: float = 1.0  # the factor of the squared norm, finite and positive

    def __post_init__(self) -> None:
        """Refuse an exponent that is not above 1 and finite, and a kappa outside its range."""
        require(1 < self.exponent < math.inf, "exponent", "above 1 and finite", self.exponent)
        check_radius(self.kappa, "kappa")

    @classmethod
    def for_space(cls, space: RegularSpace) -> Self:
        """Return the map that is 1-strongly convex with respect to the norm of `space`."""
        return cls(exponent=space.mirror_exponent, kappa=space.kappa)

    @property
    def dual_exponent(self) -> float:
        """The exponent r = s/(s - 1) of the conjugate."""
        return self.exponent / (self.exponent - 1)

    def value(self, w: Vector) -> float:
        """Return kappa/2 times the squared norm of w."""
        norm = lq_norm(w, self.exponent)
        return self.kappa / 2 * (norm * norm)

    def gradient(self, w: Vector) -> Vector:
        r"""Return the gradient of the map at w; it is 0 at 0.

        .. math:: \kappa\|w\|_s(|w_j|/\|w\|_s)^{s-1}\mathrm{sgn}(w_j)
        """
        return _scaled_norm_gradient(w, self.exponent, self.kappa)

    def conjugate_gradient(self, u: Vector) -> Vector:
        """Return the inverse of the gradient at `u`."""
        return _scaled_norm_gradient(u, self.dual_exponent, 1 / self.kappa)


def _scaled_norm_gradient(w: Vector, exponent: float, factor: float) -> Vector:
    r"""Return factor times :math:`\|w\|(|w_j|/\|w\|)^{a-1}\mathrm{sgn}(w_j)`; a is `exponent`."""
    norm = lq_norm(w, exponent)
    if norm == 0:
        return np.zeros(len(w))
    powers: Vector = np.copysign(factor * norm * (np.abs(w) / norm) ** (exponent - 1), w)
    return powers


@dataclass(frozen=True, kw_only=True)
class EntropyMirror:
    r"""The map :math:`\Phi(w) = r\sum_j w_j\ln(w_j/r)` on the simplex of sum r.

    It is 1-strongly convex with respect to the l1 norm there (Cauchy and Schwarz). The conjugate is
    taken over the simplex, so that :math:`\nabla\Phi^*` maps into it and inverts
    :math:`\nabla\Phi`.
    """

    radius: float = 1.0  # the radius r of the simplex, finite and positive

    def __post_init__(self) -> None:
        """Refuse a radius outside its range."""
        check_radius(self.radius)

    def value(self, w: Vector) -> float:
        """Return the negative entropy; 0 ln 0 is 0."""
        return self.radius * float(xlogy(w, w / self.radius).sum())

    def gradient(self, w: Vector) -> Vector:
        r"""Return the gradient :math:`r(\ln(w_j/r) + 1)`; -infinity where an entry is 0."""
        with np.errstate(divide="ignore"):
            image: Vector = self.radius * (np.log(w / self.radius) + 1)
        return image

    def conjugate_gradient(self, u: Vector) -> Vector:
        r"""Return the conjugate's gradient :math:`r\,\mathrm{softmax}(u/r)`; -infinity gives 0."""
        powers = np.exp((u - u.max()) / self.radius)
        point: Vector = self.radius * (powers / powers.sum())
        return point


def mirror_step(
    mirror: PowerMirror | EntropyMirror,
    constraint: ConstraintSet,
    w: Vector,
    gradient: Vector,
    weight: float,
) -> Vector:
    r"""Return the mirror step from w with gradient g and weight gamma, shape (d,).

    .. math:: \arg\min_{v \in C} \langle g, v\rangle + \gamma D_\Phi(v, w)

    Raises `NotApplicable` if neither a closed form nor root finding is known for the map and set.

    Parameters
    ----------
    w, gradient : array, shape (d,)
    weight : float
        gamma, positive: one over the step size.
    """
    require(0 < weight < math.inf, "weight", "finite and positive", weight)
    return bregman_point(mirror, constraint, mirror.gradient(w) - gradient / weight)


def bregman_point(
    mirror: PowerMirror | EntropyMirror, constraint: ConstraintSet, u: Vector
) -> Vector:
    r"""Return the minimiser :math:`\arg\min_{w \in C} \Phi(w) - \langle u, w\rangle`, shape (d,).

    With :math:`u = \nabla\Phi(v)` it is the Bregman projection of v.
    """
    if isinstance(mirror, EntropyMirror):
        if not isinstance(constraint, Simplex) or constraint.radius != mirror.radius:
            raise NotApplicable(
                f"The entropy of sum {mirror.radius:g} is a mirror map on its simplex only.",
                geometry="simplex",
            )
        return mirror.conjugate_gradient(u)
    if isinstance(constraint, Simplex):
        return _bregman_point_of_sum(mirror, u, constraint.radius)
    free = mirror.conjugate_gradient(u)
    if mirror.exponent == 2:
        return constraint.project(free)
    match constraint:
        case Box():
            return (
                free
                if constraint.minkowski_norm(free) <= 1
                else _bregman_point_in_box(mirror, constraint, u)
            )
        case L1Ball(radius=radius):
            if lq_norm(free, 1.0) <= radius:
                return free
            return np.copysign(_bregman_point_of_sum(mirror, np.abs(u), radius), u)
        case SolidSimplex(radius=radius):
            free = mirror.conjugate_gradient(np.maximum(u, 0.0))
            return (
                free if lq_norm(free, 1.0) <= radius else _bregman_point_of_sum(mirror, u, radius)
            )
        case NormBall(radius=radius, exponent=exponent):
            return _bregman_point_in_lq_ball(mirror, u, free, exponent, radius)
    raise NotApplicable(
        f"No mirror step of exponent {mirror.exponent:g} is known on {constraint.name}.",
        nearest="use the Euclidean mirror map, exponent 2",
        changes=(("geometry", "l2"), ("q", None)),
    )


def _bregman_point_of_sum(mirror: PowerMirror, u: Vector, total: float) -> Vector:
    r"""Return the `bregman_point` of u among the vectors w >= 0 that sum to `total`, shape (d,).

    It is :math:`\nabla\Phi^*((u - \nu)_+)`, at the threshold nu for which the sum is `total`. With
    :math:`t = \max_j u_j - \nu` the sum lies between :math:`t/\kappa` and
    :math:`d^{2/r}t/\kappa`.
    """
    gap = float(u.max()) - u
    high = mirror.kappa * total
    low = high * len(u) ** (-2 / mirror.dual_exponent)

    def point_for(t: float) -> Vector:
        """Return the point for the threshold nu = max(u) - t."""
        return mirror.conjugate_gradient(np.maximum(t - gap, 0.0))

    # The bounds are widened, because rounding may put the root just outside them.
    low, high = low * (1 - 1e-9), high * (1 + 1e-9)
    root = find_root(
        lambda t: float(point_for(t).sum()) - total, low, high, xtol=1e-16 * low, rtol=1e-15
    )
    w = point_for(float(root))
    point: Vector = w * (total / float(w.sum()))
    return point


def _bregman_point_in_box(mirror: PowerMirror, box: Box, u: Vector) -> Vector:
    r"""Return the `bregman_point` of u in a box, shape (d,), by a search for its s-norm S.

    Its entries are :math:`\mathrm{sgn}(u_j)\min\{(|u_j|/(\kappa S^{2-s}))^{1/(s-1)}, b_j\}`. The
    search works in logarithms, because the power 1/(s - 1) overflows.
    """
    s = mirror.exponent
    moving = u != 0
    logs, caps = np.log(np.abs(u[moving])), np.log(box.half_widths[moving])
    top = float(caps.max())  # The largest cap is divided out, so that no power overflows.

    def log_sizes(log_norm: float) -> Vector:
        """Return the logarithms of the entries' sizes for a given ln S."""
        free = (logs - math.log(mirror.kappa) - (2 - s) * log_norm) / (s - 1)
        capped: Vector = np.minimum(free, caps)
        return capped

    def log_ratio(log_norm: float) -> float:
        """Return ln of the entries' s-norm over S, which is 0 for the right S."""
        z = log_sizes(log_norm) - top
        return _log_norm(z, s) + top - log_norm

    # The norm S is positive and at most the norm of the box's corner.
    high = _log_norm(caps - top, s) + top
    low, step = high - 1, 1.0
    while log_ratio(low) < 0:
        low, step = low - step, 2 * step
    root = float(find_root(log_ratio, low, high + 1e-9, xtol=1e-15, rtol=1e-15))
    point = np.zeros(len(u))
    point[moving] = np.exp(log_sizes(root))
    return np.copysign(point, u)


def _log_norm(z: Vector, exponent: float) -> float:
    """Return the logarithm of the norm, of the given exponent, of the vector exp(z)."""
    top = float(z.max())
    return top + math.log(float(np.exp(exponent * (z - top)).sum())) / exponent


def _bregman_point_in_lq_ball(
    mirror: PowerMirror, u: Vector, free: Vector, exponent: float, radius: float
) -> Vector:
    r"""Return the `bregman_point` of u in the ball :math:`\|w\|_a \le \rho`, shape (d,).

    `free` is the minimiser over the whole space, a is `exponent`, and rho is `radius`. If `free` is
    outside the ball, the solution is a scaling of `free` where a is the exponent s of the mirror
    map. Otherwise it solves :math:`\kappa S^{2-s}w_j^{s-1} + \nu w_j^{a-1} = |u_j|`, where S is the
    s-norm of w: an outer search finds nu, and an inner one finds S. With sigma_j the share of the
    second term, and :math:`e_j = (s-1)(1-\sigma_j) + (a-1)\sigma_j`, all derivatives are known.
    """
    norm = lq_norm(free, exponent)
    if norm <= radius:
        return free
    s = mirror.exponent
    if exponent == s:
        return free * (radius / norm)
    moving = u != 0
    logs, powers = np.log(np.abs(u[moving])), (s - 1, exponent - 1)
    log_kappa, log_radius = math.log(mirror.kappa), math.log(radius)
    z = np.zeros(0)
    log_size = log_radius

    def solve_for_point(log_nu: float) -> tuple[float, float]:
        """Set z to ln w at a nu; return ln of w's norm over the radius, and its slope in ln nu."""
        nonlocal z, log_size
        parts: list[Vector] = []

        def log_ratio(log_norm: float) -> tuple[float, float]:
            """Return ln of the s-norm of the entries over S, and its slope in ln S."""
            sizes = log_kappa + (2 - s) * log_norm, log_nu
            solution, share = solve_power_sums(logs, powers, sizes)
            weights = np.exp(s * (solution - float(solution.max())))
            weights /= weights.sum()
            bend = (s - 1) * (1 - share) + (exponent - 1) * share
            slope = -(2 - s) * float(weights @ ((1 - share) / bend)) - 1
            parts[:] = [solution, share, bend, weights]
            return _log_norm(solution, s) - log_norm, slope

        log_size = safeguarded_root(log_ratio, -math.inf, math.inf, log_size)
        z, share, bend, weights = parts
        drop = float(weights @ (share / bend))
        size_slope = -drop / (1 + (2 - s) * float(weights @ ((1 - share) / bend)))
        log_slopes = -(share + (1 - share) * (2 - s) * size_slope) / bend
        mass = np.exp(exponent * (z - float(z.max())))
        slope = float(mass @ log_slopes) / float(mass.sum())
        return _log_norm(z, exponent) - log_radius, slope

    high = math.log(lq_norm(u, dual_exponent(exponent))) - (exponent - 1) * log_radius
    solve_for_point(safeguarded_root(solve_for_point, -math.inf, high, high))
    point = np.zeros(len(u))
    point[moving] = np.exp(z)
    point *= radius / lq_norm(point, exponent)
    return np.copysign(point, u)
