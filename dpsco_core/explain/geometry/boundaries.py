"""Boundary curves of a set of the plane."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import scipy

from dpsco_core.base.arrays import Matrix, Vector
from dpsco_core.explain.geometry.shapes import Shape, gauge_values
from dpsco_core.geometry import LqBall

Norms = Callable[[Matrix], Vector]

# The number of points is a multiple of 8, so that the axes and the diagonals are among them.
CURVE_POINTS = 720


@lru_cache(maxsize=256)
def curve(shape: Shape) -> Matrix:
    """Return the boundary of a set, shape (k, 2), closed; a segment of the simplex."""
    vertices = shape.vertices
    if vertices is None:
        return round_curve(lambda u: gauge_values(shape.constraint, u))
    if len(vertices) == 2:
        return vertices
    order = scipy.spatial.ConvexHull(vertices).vertices
    return np.asarray(vertices[np.append(order, order[0])])


def outline(shape: Shape) -> dict[str, list[list[float]] | float]:
    r"""Return the numbers that fix a set.

    Its corners in order, the first again at the end, or the q of :math:`|w_1|^q + |w_2|^q \le 1`.
    """
    if shape.vertices is not None:
        return {"corners": curve(shape).tolist()}
    constraint = shape.constraint
    return {"exponent": constraint.exponent if isinstance(constraint, LqBall) else 2.0}


def round_curve(norms: Norms) -> Matrix:
    """Return the closed curve on which a norm of the plane is 1."""
    angles = np.linspace(0, 2 * np.pi, CURVE_POINTS + 1)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    directions[np.abs(directions) < 1e-15] = 0.0
    return np.asarray(directions / norms(directions)[:, None])
