"""The sets of the page Geometry in the plane, all of radius 1."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpsco_core.base.arrays import Matrix, Vector
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import one_of
from dpsco_core.geometry import (
    GEOMETRIES,
    Ball,
    Box,
    ConstraintSet,
    GroupBall,
    L1Ball,
    LqBall,
    Simplex,
    SolidSimplex,
    SparseHull,
    lq_ball,
    row_norms,
)

LARGEST_SEED = 999_999
D = 2


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One of the sets that can be drawn."""

    kind: str = "l1"  # the kind of set, one of `GEOMETRIES`
    q: float = 1.5  # the exponent of the norm, in [1, infinity], for the kind ``"lq"``

    def __post_init__(self) -> None:
        """Refuse an unknown kind of set, and an exponent below 1."""
        one_of("kind", self.kind, tuple(GEOMETRIES))
        require(self.q >= 1, "q", "at least 1", self.q)

    @property
    def symmetric(self) -> bool:
        """Whether the set is its own mirror image, C = -C."""
        return self.kind not in ("simplex", "solid-simplex")

    @property
    def constraint(self) -> ConstraintSet:
        """The set itself; the same object for the same shape."""
        return _cached_constraint(self)

    @property
    def vertices(self) -> Matrix | None:
        """The corners, shape (k, 2); None if the set is round somewhere."""
        corners = {1.0: "l1", math.inf: "linf"}.get(self.q, "lq")
        return _VERTICES.get(corners if self.kind == "lq" else self.kind)


_EYE = np.eye(D)
_CROSS = np.concatenate([_EYE, -_EYE])
_VERTICES: dict[str, Matrix] = {
    "l1": _CROSS,
    "sparse": _CROSS,  # With one nonzero entry of two, the hull is the l1 ball.
    "linf": np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]),
    "simplex": _EYE,
    "solid-simplex": np.concatenate([np.zeros((1, D)), _EYE]),
}


@lru_cache(maxsize=512)
def _cached_constraint(shape: Shape) -> ConstraintSet:
    """Return the set of a shape; the cache gives one object for equal shapes."""
    match shape.kind:
        case "l2":
            return Ball(d=D, radius=1.0)
        case "l1":
            return L1Ball(d=D, radius=1.0)
        case "linf":
            return Box.cube(D, 1.0)
        case "simplex":
            return Simplex(d=D, radius=1.0)
        case "solid-simplex":
            return SolidSimplex(d=D, radius=1.0)
        case "group-l1":
            return GroupBall(d=D, group_size=2, radius=1.0)
        case "sparse":
            return SparseHull(d=D, sparsity=1, radius=1.0)
    return lq_ball(D, shape.q, 1.0)


def gauge_values(constraint: ConstraintSet, points: Matrix) -> Vector:
    """Return the Minkowski norm of every row of `points`, shape (n, d): shape (n,)."""
    if isinstance(constraint, LqBall):
        return row_norms(points, constraint.exponent) / constraint.radius
    return np.array([constraint.minkowski_norm(w) for w in points])
