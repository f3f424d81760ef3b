"""The convex hull of given points."""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, QhullError

from dpsco_core.base.arrays import Matrix, Vector
from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.geometry.base import ConstraintSet, Width, freeze_array, not_symmetric
from dpsco_core.geometry.norms import lq_norm, row_norms

# Facets are enumerated for the inradius: their number grows like k^(d/2).
FACET_DIMENSIONS = 6


@dataclass(frozen=True, kw_only=True, eq=False)
class Hull(ConstraintSet):
    r"""The set of the convex combinations of points :math:`v_1, \dots, v_k` of :math:`R^d`."""

    points: Matrix  # shape (k, d): finite, k >= 1. They need not all be vertices.
    d: int = field(init=False)

    def __post_init__(self) -> None:
        shape = "a matrix of finite numbers, one point a row"
        freeze_array(self, "points", shape, ndim=2, least=-math.inf)

    @cached_property
    def centre(self) -> Vector:
        mean: Vector = self.points.mean(axis=0)
        return mean

    @property
    def inradius(self) -> float:
        """The distance from 0 to the nearest facet.

        Raises `InvalidInput` unless 0 is inside; `NotApplicable` in more than 6 dimensions, where
        there are too many facets to list.
        """
        if self.d > FACET_DIMENSIONS:
            raise NotApplicable(
                f"The inradius of a hull is found facet by facet, up to d = {FACET_DIMENSIONS}.",
                d=FACET_DIMENSIONS,
            )
        if self.d == 1:
            inner = min(float(self.points.max()), -float(self.points.min()))
        else:
            try:
                inner = -float(ConvexHull(self.points).equations[:, -1].max())
            except QhullError as error:
                raise InvalidInput(f"points must span R^{self.d}: {error}") from error
        if inner <= 0:
            raise InvalidInput("points must have 0 inside their hull for an inradius.")
        return inner

    def project(self, w: Vector) -> Vector:
        """Return the nearest point of the hull to the finite `w`, shape (d,).

        Wolfe's method of the nearest point (1976): an active set of points, exact after finitely
        many steps; the residual of its optimality conditions is at rounding.
        """
        offsets = self.points - self.centre
        scale = float(row_norms(offsets, 2.0).max())
        if len(self.points) == 1 or scale == 0:
            return np.array(self.points[0])
        found: Vector = self.centre + scale * _nearest_point(
            offsets / scale, (w - self.centre) / scale
        )
        return found

    def support(self, g: Vector) -> float:
        return float((self.points @ g).max())

    def contains(self, w: Vector, tolerance: float = 1e-9) -> bool:
        """Whether `w` is within `tolerance` times the diameter of the hull."""
        if not bool(np.isfinite(w).all()):
            return False
        return lq_norm(self.project(w) - w, 2.0) <= tolerance * max(self.diameter, 1e-300)

    def support_point(self, g: Vector) -> Vector:
        """Return the first of the points that lie farthest along g, shape (d,)."""
        return np.array(self.points[int((self.points @ g).argmax())])

    def diameter_in(self, exponent: float) -> float:
        r"""Return :math:`\max_{ij}\|v_i - v_j\|_q`. O(k^2 d)."""
        return max(float(row_norms(self.points - v, exponent).max()) for v in self.points)

    def radius_in(self, exponent: float) -> float:
        return float(row_norms(self.points, exponent).max())

    def minkowski_norm(self, w: Vector) -> float:
        """Return the norm whose unit ball the hull is, by a linear program.

        Raises `InvalidInput` unless the points come in pairs v, -v and span the space of `w`.
        """
        size = self.l2_radius
        paired = all(
            float(row_norms(self.points + v, 2.0).min()) <= 1e-12 * size for v in self.points
        )
        if not paired or size == 0:
            raise not_symmetric("a Minkowski norm", "hull")
        length = lq_norm(w, 2.0)
        if length == 0:
            return 0.0
        found = linprog(
            np.ones(len(self.points)), A_eq=self.points.T / size, b_eq=w / length, bounds=(0, None)
        )
        weights = found.x
        if weights is None:
            raise InvalidInput(f"w must be in the span of the points, got w={w}.")
        return float(weights.sum()) * length / size

    def gaussian_width(self) -> Width:
        r"""Return :math:`D/\sqrt{2\pi} \le G \le \max_i\|v_i - c\|_2\sqrt{2\ln k}`, any c.

        Exact for one point, 0, and for two, :math:`D/\sqrt{2\pi}`.
        """
        lower = self.diameter / math.sqrt(2 * math.pi)
        k = len(self.points)
        if k <= 2:
            return Width.known(lower)
        c, radius = self.centre, math.inf  # about a nearly best centre (Badoiu and Clarkson 2003)
        for step in range(1, 101):
            distances = row_norms(self.points - c, 2.0)
            far = int(distances.argmax())
            radius = min(radius, float(distances[far]))
            c = c + (self.points[far] - c) / (step + 1)
        return Width.between(lower, radius * math.sqrt(2 * math.log(k)))


def _nearest_point(points: Matrix, target: Vector) -> Vector:
    """Return the point of the hull of `points`, of size about 1, that is nearest to `target`."""
    first = int(row_norms(points - target, 2.0).argmin())
    active, weights = [first], np.ones(1)
    x: Vector = points[first]
    while True:
        residual = target - x
        best = int((points @ residual).argmax())
        if best in active or float((points[best] - x) @ residual) <= 0:
            return x
        active, weights = _restricted(points, [*active, best], np.append(weights, 0.0), target)
        new: Vector = weights @ points[active]
        step = new - x
        # <residual, step> - |step|^2/2 is what is gained, without cancellation.
        if float(step @ residual) - float(step @ step) / 2 <= 0:
            return x  # nothing but rounding is left to gain
        x = new


def _restricted(
    points: Matrix, active: list[int], weights: Vector, target: Vector
) -> tuple[list[int], Vector]:
    """Move to the nearest point of the affine hull of `active`, dropping what turns negative."""
    while True:
        base = points[active[0]]
        edges = points[active[1:]] - base
        free = np.linalg.lstsq(edges.T, target - base, rcond=None)[0]
        best = np.append(1 - free.sum(), free)
        if bool((best > 0).all()):
            return active, best
        falling = best <= 0
        ratios = weights[falling] / np.maximum(weights[falling] - best[falling], 1e-300)
        share = min(1.0, float(ratios.min()))
        weights = weights + share * (best - weights)
        out = int(np.flatnonzero(falling)[int(ratios.argmin())])
        keep = np.arange(len(active)) != out
        active = [i for i, kept in zip(active, keep, strict=True) if kept]
        weights = np.maximum(weights[keep], 0.0)
        weights = weights / weights.sum()
        if len(active) == 1:
            return active, weights
