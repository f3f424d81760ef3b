"""Boundary curves and meshes of a set and of its polar set.

The polar of C is the set of the y with <w, y> <= 1 for every w in C; if C = -C it is the unit ball
of the dual norm, which is the support function of C.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from dpsco_core.base.arrays import Matrix, Vector
from dpsco_core.explain.geometry.shapes import Shape, gauge_values, support_values
from dpsco_core.geometry import Ellipsoid, LqBall

Norms = Callable[[Matrix], Vector]
Triangles = tuple[Matrix, NDArray[np.intp]]

CURVE_POINTS = 720  # a multiple of 8: the axes and the diagonals are among them
DETAIL = 21  # pieces of an octahedron's edge, a multiple of 3: face centres are corners
SIDES = 20  # pieces of a cube's edge, even: the axes are corners
SLICES = 64  # of a can
ARC_POINTS = 121
WINDOW = {2: 9.0, 3: 2.0}  # an unbounded polar is cut at this distance below 0


@dataclass(frozen=True, eq=False, kw_only=True)
class Mesh:
    """A surface in three dimensions."""

    points: Matrix  # shape (k, 3)
    # shape (m, 3): indices of triangles, counterclockwise seen from outside; neighbours follow each
    # other, as translucent ones are drawn in this order
    faces: NDArray[np.intp]
    # shape (any, 3): the edges, or, of a round body, its cuts by the coordinate planes
    lines: tuple[Matrix, ...]
    flat: bool  # whether the faces are plane


def unbounded_polar(shape: Shape) -> bool:
    """Whether the polar goes on for ever: 0 is not inside the set."""
    return not shape.symmetric


@lru_cache(maxsize=256)
def curve(shape: Shape) -> Matrix:
    """Return the boundary of a set of the plane, shape (k, 2), closed; a segment of the simplex."""
    vertices = shape.vertices
    if vertices is None:
        return round_curve(lambda u: gauge_values(shape.constraint, u))
    return _polygon(vertices)


def outline(shape: Shape) -> dict[str, list[Any] | float | None]:
    r"""Return the numbers that fix a set of the plane.

    Its corners in order, the first again at the end, and those of its polar if that is bounded; or
    q and a of the set :math:`|w_1/a_1|^q + |w_2/a_2|^q \le 1`.
    """
    if shape.vertices is not None:
        polar = polar_vertices(shape) if shape.symmetric else None
        return {"corners": _polygon(shape.vertices).tolist(), "polar": np.array(polar).tolist()}
    constraint = shape.constraint
    exponent = constraint.exponent if isinstance(constraint, LqBall) else 2.0
    axes = constraint.half_axes.tolist() if isinstance(constraint, Ellipsoid) else [1.0, 1.0]
    return {"exponent": exponent, "axes": axes}


@lru_cache(maxsize=256)
def polar_curve(shape: Shape) -> Matrix:
    """Return the boundary of the polar of a set of the plane, shape (k, 2), closed.

    That of an unbounded one is cut off at -`WINDOW`.
    """
    corners = polar_vertices(shape)
    if corners is None:
        return round_curve(lambda u: support_values(shape.constraint, u))
    return _polygon(corners)


@lru_cache(maxsize=64)
def mesh(shape: Shape) -> Mesh:
    """Return the surface of a set of the space."""
    vertices = shape.vertices
    if vertices is None:
        return _round_mesh(shape, lambda u: gauge_values(shape.constraint, u), shape.q > 2)
    if shape.kind == "simplex":
        closed = np.concatenate([vertices, vertices[:1]])
        faces = np.array([[0, 1, 2]], dtype=np.intp)
        return Mesh(points=vertices, faces=faces, lines=(closed,), flat=True)
    return _polytope(vertices)


@lru_cache(maxsize=64)
def polar_mesh(shape: Shape) -> Mesh:
    """Return the surface of the polar of a set of the space, cut off where it is unbounded."""
    corners = polar_vertices(shape)
    if corners is None:
        return _round_mesh(shape, lambda u: support_values(shape.constraint, u), shape.q < 2)
    return _polytope(corners)


def polar_vertices(shape: Shape) -> Matrix | None:
    """Return the corners of the polar, shape (k, d); None if it is round somewhere.

    Each is the normal of a facet <w, y> = 1 of the set. That of the simplex and of the solid
    simplex, max_j y_j <= 1, has the corner (1, ..., 1); the others are where it is cut off.
    """
    vertices = shape.vertices
    if vertices is None:
        return None
    if unbounded_polar(shape):
        grid = np.meshgrid(*[[-WINDOW[shape.d], 1.0]] * shape.d, indexing="ij")
        return np.stack(grid, axis=-1).reshape(-1, shape.d)
    equations = ConvexHull(vertices).equations
    normals: Matrix = equations[:, :-1] / -equations[:, -1:]
    return np.unique(normals.round(12), axis=0)


def round_curve(norms: Norms) -> Matrix:
    """Return the closed curve on which a norm of the plane is 1."""
    angles = np.linspace(0, 2 * np.pi, CURVE_POINTS + 1)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    directions[np.abs(directions) < 1e-15] = 0.0
    return np.asarray(directions / norms(directions)[:, None])


def _polygon(vertices: Matrix) -> Matrix:
    if len(vertices) == 2:
        return vertices
    order = ConvexHull(vertices).vertices
    return np.asarray(vertices[np.append(order, order[0])])


def _polytope(vertices: Matrix) -> Mesh:
    hull = ConvexHull(vertices)
    normals = hull.equations[:, :-1]
    faces = hull.simplices.astype(np.intp)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), normals) < 0
    faces[inward] = faces[inward][:, ::-1]
    return Mesh(
        points=vertices, faces=faces, lines=tuple(_edges(vertices, hull, normals)), flat=True
    )


def _edges(vertices: Matrix, hull: ConvexHull, normals: Matrix) -> list[Matrix]:
    """Return the edges: between triangles that are not in one plane."""
    lines = []
    for i, simplex in enumerate(hull.simplices):
        for k, other in enumerate(hull.neighbors[i]):  # the one opposite to vertex k
            if other > i and float(normals[i] @ normals[other]) < 1 - 1e-9:
                lines.append(vertices[np.delete(simplex, k)])
    return lines


def _round_mesh(shape: Shape, norms: Norms, square: bool) -> Mesh:
    """Bend an octahedron, a cube or a can onto the body: sharp edges of it stay sharp."""
    base = {"group-l1": _can, "lq": _cube if square else _octahedron}.get(shape.kind, _octahedron)
    directions, faces = base()
    points = directions / norms(directions)[:, None]
    angles = np.linspace(0, 2 * np.pi, ARC_POINTS)
    lines = []
    for j in range(3):
        around = np.insert(np.stack([np.cos(angles), np.sin(angles)], axis=1), j, 0.0, axis=1)
        lines.append(around / norms(around)[:, None])
    return Mesh(points=points, faces=faces, lines=tuple(lines), flat=False)


@lru_cache(maxsize=1)
def _octahedron() -> Triangles:
    n = DETAIL
    corners = [(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]
    index = {(i, j): k for k, (i, j, _) in enumerate(corners)}
    triangles = []
    for i, j, _ in corners:
        if (i + 1, j) in index:
            triangles.append((index[i, j], index[i + 1, j], index[i, j + 1]))
        if (i + 1, j + 1) in index:
            triangles.append((index[i + 1, j], index[i + 1, j + 1], index[i, j + 1]))
    patch = np.array(corners, dtype=float) / n
    signs = [np.array([x, y, z]) for x in (1.0, -1.0) for y in (1.0, -1.0) for z in (1.0, -1.0)]
    return _merged([(patch * s, np.array(triangles)) for s in signs])


@lru_cache(maxsize=1)
def _cube() -> Triangles:
    n = SIDES
    side = np.linspace(-1, 1, n + 1)
    flat = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    corners = [i * (n + 1) + j for i in range(n) for j in range(n)]
    squares = [((k, k + n + 1, k + 1), (k + n + 1, k + n + 2, k + 1)) for k in corners]
    faces = np.array(squares).reshape(-1, 3)
    sides = [np.insert(flat, j, sign, axis=1) for j in range(3) for sign in (-1.0, 1.0)]
    return _merged([(side, faces) for side in sides])


@lru_cache(maxsize=1)
def _can() -> Triangles:
    """Two discs of radius 1 at height 1 and -1, and the wall between them."""
    radii, height = np.linspace(0, 1, SIDES // 2 + 1), np.linspace(-1, 1, SIDES + 1)
    profile = np.concatenate(
        [
            np.stack([radii, np.full(len(radii), -1.0)], axis=1),
            np.stack([np.ones(len(height)), height], axis=1)[1:-1],
            np.stack([radii, np.ones(len(radii))], axis=1)[::-1],
        ]
    )
    angles = 2 * np.pi * np.arange(SLICES) / SLICES
    turned = [
        np.stack([profile[:, 0] * np.cos(a), profile[:, 0] * np.sin(a), profile[:, 1]], axis=1)
        for a in angles
    ]
    k = len(profile)
    cells = [(s * k + j, (s + 1) % SLICES * k + j) for s in range(SLICES) for j in range(k - 1)]
    triangles = [t for a, b in cells for t in ((a, b, a + 1), (b, b + 1, a + 1))]
    joined = _merged([(np.concatenate(turned), np.array(triangles))])
    i, j, h = joined[1].T
    return joined[0], joined[1][(i != j) & (j != h) & (h != i)]


def _merged(patches: list[Triangles]) -> Triangles:
    """Join patches at their common points, every triangle counterclockwise from outside."""
    points = [patch for patch, _ in patches]
    starts = np.cumsum([0, *map(len, points)])
    faces = [triangles + start for (_, triangles), start in zip(patches, starts, strict=False)]
    every = np.concatenate(points).round(12) + 0.0
    unique, back = np.unique(every, axis=0, return_inverse=True)
    joined = back.reshape(-1)[np.concatenate(faces)]
    a, b, c = (unique[joined[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c) < 0
    joined[inward] = joined[inward][:, ::-1]
    return unique, joined.astype(np.intp)
