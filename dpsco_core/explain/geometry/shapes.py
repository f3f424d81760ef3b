"""The sets of the page Geometry in two and three dimensions, all of radius 1."""

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy.integrate import quad
from scipy.special import erf

from dpsco_core.base.arrays import Matrix, Vector
from dpsco_core.base.errors import require
from dpsco_core.geometry import (
    Ball,
    Box,
    CappedL1Ball,
    ConstraintSet,
    Ellipsoid,
    GroupBall,
    Hull,
    L1Ball,
    LqBall,
    Simplex,
    SolidSimplex,
    SparseHull,
    Width,
    lq_ball,
    row_norms,
)
from dpsco_core.geometry.base import Symmetric
from dpsco_core.geometry.norms import dual_exponent, norm_ratio

KINDS = (
    *("l2", "l1", "lq", "linf", "simplex", "solid-simplex", "group-l1", "sparse"),
    *("capped", "ellipsoid", "hull"),
)
HULL_PAIRS = {2: 3, 3: 5}  # of points and their mirror images
CAP = {2: 1.5, 3: 2.0}  # the largest l1 norm in the capped ball, whose entries are at most 1
SHORTEST_AXIS = 0.3
LARGEST_SEED = 999_999


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One of the sets that can be drawn."""

    kind: str = "l1"  # one of `KINDS`
    d: int = 2  # 2 or 3
    q: float = 1.5  # exponent of the norm, in [1, infinity]; for the kind ``"lq"``
    # the shortest half-axis, in [0.3, 1], of the ellipsoid whose longest is 1
    half_axis: float = 0.5
    seed: int = 0  # of the points of the hull, in [0, 999999]

    def __post_init__(self) -> None:
        require(self.kind in KINDS, "kind", f"one of {', '.join(KINDS)}", self.kind)
        require(self.d in (2, 3), "d", "2 or 3", self.d)
        require(self.q >= 1, "q", "at least 1", self.q)
        ok = SHORTEST_AXIS <= self.half_axis <= 1
        require(ok, "half_axis", f"between {SHORTEST_AXIS} and 1", self.half_axis)
        ok = isinstance(self.seed, int) and 0 <= self.seed <= LARGEST_SEED
        require(ok, "seed", f"an integer between 0 and {LARGEST_SEED:,}", self.seed)

    @property
    def symmetric(self) -> bool:
        """Whether the set is its own mirror image, C = -C."""
        return self.kind not in ("simplex", "solid-simplex")

    @property
    def constraint(self) -> ConstraintSet:
        """The set itself; the same object for the same shape."""
        return _constraint(self)

    @property
    def vertices(self) -> Matrix | None:
        """The corners, shape (k, d); None if the set is round somewhere."""
        return _vertices(self)


@dataclass(frozen=True, kw_only=True)
class TwoGroups(Symmetric):
    r"""The set :math:`\{w \in R^3 : \sqrt{w_1^2+w_2^2} + |w_3| \le 1\}`: groups of two and one.

    It is the group-l1 ball over two pairs of coordinates cut at :math:`w_4 = 0`; the cut is also
    the shadow, so that support function, projection and norm are those of the whole ball.
    """

    d: int = field(init=False, default=3)

    @property
    def l2_radius(self) -> float:
        return 1.0

    @property
    def inradius(self) -> float:
        return math.sqrt(0.5)

    def project(self, w: Vector) -> Vector:
        return np.asarray(_PAIRS.project(np.append(w, 0.0))[:3])

    def support(self, g: Vector) -> float:
        return _PAIRS.support(np.append(g, 0.0))

    def support_point(self, g: Vector) -> Vector:
        return np.asarray(_PAIRS.support_point(np.append(g, 0.0))[:3])

    def minkowski_norm(self, w: Vector) -> float:
        return _PAIRS.minkowski_norm(np.append(w, 0.0))

    def radius_in(self, exponent: float) -> float:
        """Return the largest l_q norm, attained within the pair."""
        return norm_ratio(2, exponent, 2.0)

    def gaussian_width(self) -> Width:
        r"""Return :math:`E\max\{\chi_2, |\xi|\}`, exact by quadrature."""

        def tail(t: float) -> float:
            return 1 - -math.expm1(-t * t / 2) * float(erf(t / math.sqrt(2)))

        return Width.known(float(quad(tail, 0, 12, epsabs=1e-12, epsrel=1e-12)[0]))


_PAIRS = GroupBall(d=4, group_size=2, radius=1.0)


@lru_cache(maxsize=512)
def _constraint(shape: Shape) -> ConstraintSet:
    d = shape.d
    match shape.kind:
        case "l2":
            return Ball(d=d, radius=1.0)
        case "l1":
            return L1Ball(d=d, radius=1.0)
        case "lq":
            return lq_ball(d, shape.q, 1.0)
        case "linf":
            return Box.cube(d, 1.0)
        case "simplex":
            return Simplex(d=d, radius=1.0)
        case "solid-simplex":
            return SolidSimplex(d=d, radius=1.0)
        case "group-l1":
            return TwoGroups() if d == 3 else GroupBall(d=2, group_size=2, radius=1.0)
        case "sparse":
            return SparseHull(d=d, sparsity=d - 1, radius=1.0)
        case "capped":
            capped = CappedL1Ball(d=3, sparsity=2, radius=1.0)
            return capped if d == 3 else Hull(points=_octagon(CAP[2]))
        case "ellipsoid":
            return Ellipsoid(half_axes=np.linspace(1.0, shape.half_axis, d))
    return Hull(points=_hull_points(d, shape.seed))


@lru_cache(maxsize=512)
def _vertices(shape: Shape) -> Matrix | None:
    d, eye = shape.d, np.eye(shape.d)
    kind = {1.0: "l1", math.inf: "linf"}.get(shape.q, "lq") if shape.kind == "lq" else shape.kind
    if kind == "sparse" and d == 2:
        kind = "l1"
    match kind:
        case "l1":
            return np.concatenate([eye, -eye])
        case "linf":
            return _signs(d)
        case "simplex":
            return eye
        case "solid-simplex":
            return np.concatenate([np.zeros((1, d)), eye])
        case "capped":
            return _octagon(CAP[2]) if d == 2 else _flat_pairs()
        case "hull":
            return _hull_points(d, shape.seed)
    return None


def _signs(d: int) -> Matrix:
    grid = np.meshgrid(*[[-1.0, 1.0]] * d, indexing="ij")
    return np.stack(grid, axis=-1).reshape(-1, d)


def _octagon(cap: float) -> Matrix:
    r"""The corners of :math:`\{\|w\|_1 \le c, \|w\|_\infty \le 1\}`, 1 < c < 2, shape (8, 2)."""
    corners = _signs(2) * np.array([1.0, cap - 1])
    return np.concatenate([corners, corners[:, ::-1]])


def _flat_pairs() -> Matrix:
    """The vectors of R^3 with two entries of size 1 and a 0, shape (12, 3)."""
    signs = _signs(2)
    return np.concatenate([np.insert(signs, j, 0.0, axis=1) for j in range(3)])


def _hull_points(d: int, seed: int) -> Matrix:
    """Random points around 0, spread over the half sphere, and their mirror images."""
    rng = np.random.default_rng([seed, d])
    k = HULL_PAIRS[d]
    turn, height = rng.random(k), rng.random(k)
    sizes = rng.uniform(0.7, 1.3, k)
    if d == 2:
        angles = math.pi * (np.arange(k) + turn) / k
        points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    else:
        z = (np.arange(k) + height) / k
        angles = 2 * math.pi * (np.arange(k) * (math.sqrt(5) - 1) / 2 + turn / k)
        flat = np.sqrt(1 - z * z)
        points = np.stack([flat * np.cos(angles), flat * np.sin(angles), z], axis=1)
    points *= sizes[:, None]
    return np.concatenate([points, -points])


def support_values(constraint: ConstraintSet, directions: Matrix) -> Vector:
    r"""Return :math:`\max_{w \in C}\langle g_i, w\rangle` of every row of `directions`, (n, d)."""
    match constraint:
        case LqBall():
            return constraint.radius * row_norms(directions, dual_exponent(constraint.exponent))
        case Ellipsoid():
            return row_norms(directions * constraint.half_axes, 2.0)
        case Hull():
            return np.asarray((directions @ constraint.points.T).max(axis=1))
    return np.array([constraint.support(g) for g in directions])


def gauge_values(constraint: ConstraintSet, points: Matrix) -> Vector:
    """Return the Minkowski norm of every row of `points`, shape (n, d): shape (n,)."""
    if isinstance(constraint, LqBall):
        return row_norms(points, constraint.exponent) / constraint.radius
    return np.array([constraint.minkowski_norm(w) for w in points])
