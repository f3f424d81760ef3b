"""A point, its projection on a set, and how far the set reaches towards it."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Matrix, Vector
from dpsco_core.base.errors import require
from dpsco_core.explain.geometry.shapes import D, Shape
from dpsco_core.geometry import LqBall, lq_norm

ZERO = 1e-9  # A number closer to 0 than this is a rounding error.


@dataclass(frozen=True, eq=False, kw_only=True)
class Nearest:
    r"""The projection of a point on a set."""

    # the point x and its projection, both of shape (d,)
    point: Vector
    nearest: Vector
    distance: float  # the l2 distance of x from its projection, 0 for a point of the set
    # The residual at length 1, shape (d,); None for a point of the set. The set lies on one side of
    # the plane through `nearest` that is orthogonal to it.
    normal: Vector | None
    # The Minkowski norm of x, infinite where the set has none, and the support function at x.
    norm: float
    dual_norm: float
    # The points at which the support function at x is attained, shape (k, d): one point, or the
    # corners of a side in the order of their last coordinate; none for x = 0.
    farthest: Matrix
    foot: Vector  # the foot of 0 on the supporting line or plane <v, x> = h(x), shape (d,)
    zeros: int  # the number of coordinates that are 0 in the projection but not in x


def nearest(shape: Shape, point: tuple[float, ...]) -> Nearest:
    """Return the projection of `point` on the set of a shape, with what a figure shows of it.

    Raises `InvalidInput` unless the point has one finite number for each dimension.
    """
    ok = len(point) == D and all(math.isfinite(x) for x in point)
    require(ok, "point", f"{D} finite numbers", point)
    x, constraint = np.array(point, dtype=float), shape.constraint
    w = constraint.project(x)
    residual = x - w
    distance = lq_norm(residual, 2.0)
    normal = None
    if distance > ZERO:
        normal = residual / distance
    else:
        distance = 0.0
    # On an l_q ball, small coordinates of a projection do not count as 0.
    tiny = 0.0 if isinstance(constraint, LqBall) else ZERO
    height, square = constraint.support(x), float(x @ x)
    farthest = constraint.support_point(x)[None]
    if shape.vertices is not None:
        farthest = shape.vertices[shape.vertices @ x >= height - ZERO]
        farthest = farthest[np.lexsort(farthest.T)]
    if square <= ZERO * ZERO:
        farthest = farthest[:0]
    return Nearest(
        point=x,
        nearest=w,
        distance=distance,
        normal=normal,
        norm=constraint.minkowski_norm(x) if shape.symmetric else math.inf,
        dual_norm=height,
        farthest=farthest,
        foot=x * (height / square) if len(farthest) else x,
        zeros=int(((np.abs(w) <= tiny) & (np.abs(x) > ZERO)).sum()),
    )


def line_across(point: Vector, normal: Vector, reach: float) -> Matrix:
    """Return the ends of the segment of half-length `reach` about `point`, shape (2, 2).

    It is orthogonal to `normal`; in the plane.
    """
    tangent = np.array([-normal[1], normal[0]]) / lq_norm(normal, 2.0)
    return np.stack([point - reach * tangent, point + reach * tangent])
