"""The frames of one private run: its place in a plane, its risk, and its gradients' lengths.

Everything that a figure needs to play the run, computed once. As in `anatomy`, what stands beside
the private run is for comparison only.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import NotApplicable
from dpsco_core.data.rows import Rows, row_norms
from dpsco_core.explain.anatomy import FACTORS, RiskPath, clipped_plan, draw_problem
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.problems import OptimisationProblem
from dpsco_core.problems.base import ExcessRisk
from dpsco_core.problems.linear_models import LinearModelProblem
from dpsco_core.scenario import Scenario

Risk = Callable[[Vector], ExcessRisk]

ASPECT = 4 / 3  # the width over the height of the visible part of the plane
MARGIN = 0.12  # the margin around a view, as a share of the size of its content
# The number of points per side of the grid for a risk that is an average over records, each of
# which takes milliseconds.
NODES = 7
ROWS = 1 << 15  # The number of records in such an average; contours then move by a few per cent.
FINE = 37  # the number of points per side of the grid on which contours are drawn
DEEPEST = 60.0  # the ratio of the highest contour to the lowest
DIRECTIONS = 120  # the number of directions in which the edge of the constraint set is sought
SHOWN_RECORDS = 400  # the number of records whose gradients a frame shows
CLOSE_UP_FROM = 1 / 3  # A closer view shows the run after this share of its steps.
CLOSER = 0.6  # A closer view is shown only if its width is at most this share of the whole view's.


@dataclass(frozen=True, eq=False, kw_only=True)
class RunPlane:
    """A plane through the start of a run."""

    origin: Vector  # the start of every run, shape (d,): the centre of the constraint set
    # Orthonormal axes, shape (2, d): the direction of the best parameter, and the orthogonal
    # direction in which the runs spread most. In dimension 1 the second axis is 0.
    axes: Vector
    # the share of the runs' squared distances from the start that lies in the plane
    share_in_plane: float

    def project(self, points: Vector) -> Vector:
        """Return the coordinates in the plane, shape (..., 2), of points of shape (..., d)."""
        return np.asarray((points - self.origin) @ self.axes.T)

    def point(self, place: Vector) -> Vector:
        """Return the point of the plane, shape (d,), with these two coordinates."""
        return np.asarray(self.origin + place @ self.axes)


@dataclass(frozen=True, eq=False, kw_only=True)
class Contour:
    """The line along which the excess risk in a plane is `level`, in pieces of shape (k, 2, 2)."""

    level: float
    pieces: Vector


@dataclass(frozen=True, eq=False, kw_only=True)
class PlaneView:
    """A part of the plane: its lower left and upper right corner, and the risk's contours there."""

    box: Vector
    contours: tuple[Contour, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Frames:
    """A private run and its twins, for a figure that plays them."""

    # The runs of `anatomy.single_runs`; a frame shows one point of the private run.
    runs: Mapping[str, RiskPath]
    plane: RunPlane
    best: Vector  # the best parameter in the plane, shape (2,)
    # a view of all runs and, if it is much smaller, a view after a third of the steps
    views: tuple[PlaneView, ...]
    edge: Vector  # the boundary of the constraint set in the plane, shape (DIRECTIONS, 2)
    # the lengths of the first records' gradients at each point of the private run, shape (frames,
    # records)
    norms: Vector
    # The clip radius that clipped gradients choose here; if they cannot run, the median of the
    # gradients' lengths at the start.
    radius: float
    # The ends of the axis of lengths; all radii that a reader can try lie between them.
    reach: tuple[float, float]


def has_frames(path: RiskPath) -> bool:
    """Return whether a path has a point between its start and its end, so that it can be played."""
    return len(path.steps) > 2


def frames(point: Scenario, runs: Mapping[str, RiskPath]) -> Frames:
    """Return the frames of runs that `anatomy.single_runs` made at `point`."""
    problem, sample = draw_problem(point)
    private = runs["private"]
    spread = np.concatenate([np.vstack([run.points, run.value]) for run in runs.values()])
    plane = plane_of(problem.constraint.centre, problem.minimiser, spread)
    best = plane.project(problem.minimiser)
    boxes = [_view_around(np.vstack([plane.project(spread), best, np.zeros(2)]))]
    late_points = [run.points[run.steps >= CLOSE_UP_FROM * run.steps[-1]] for run in runs.values()]
    ends = [run.value for run in runs.values()]
    close_up = _view_around(np.vstack([plane.project(np.vstack([*late_points, *ends])), best]))
    if np.ptp(close_up[:, 0]) < CLOSER * np.ptp(boxes[0][:, 0]):
        boxes.append(close_up)
    records = sample.part(0, min(sample.n, SHOWN_RECORDS))
    norms = np.array([_norms_of_all_rows(records.gradients(w)) for w in private.points])
    try:
        _, radius = clipped_plan(point)
    except NotApplicable:
        radius = float(np.median(norms[0])) or 1.0
    return Frames(
        runs=runs,
        plane=plane,
        best=best,
        views=tuple(PlaneView(box=b, contours=contours(problem, plane, b)) for b in boxes),
        edge=_boundary_in_plane(
            problem.constraint, plane, float(np.linalg.norm(np.ptp(boxes[0], axis=0)))
        ),
        norms=norms,
        radius=radius,
        reach=_axis_of_lengths(norms, radius),
    )


def plane_of(origin: Vector, best: Vector, points: Vector) -> RunPlane:
    """Return the plane through `origin` in which the runs are drawn.

    Its first axis points to the best parameter, shape (d,), and its second is the orthogonal
    direction in which `points`, shape (k, d), spread most.
    """
    centred = points - origin
    direction = best - origin
    if not np.linalg.norm(direction) > 1e-12 * (1 + np.linalg.norm(centred)):
        direction = _direction_of_largest_spread(centred)
    direction = direction / np.linalg.norm(direction)
    rest = centred - np.outer(centred @ direction, direction)
    second_direction = np.zeros_like(direction)
    if len(direction) > 1:
        second_direction = _direction_of_largest_spread(
            rest - np.outer(rest @ direction, direction), direction
        )
    axes = np.array([direction, second_direction])
    total = float((centred**2).sum())
    share = float(((centred @ axes.T) ** 2).sum()) / total if total else 1.0
    return RunPlane(origin=origin, axes=axes, share_in_plane=min(share, 1.0))


def _direction_of_largest_spread(rows: Vector, orthogonal_to: Vector | None = None) -> Vector:
    """Return the unit direction, shape (d,), in which `rows`, shape (k, d), spread most.

    Its largest entry is positive. If all rows are 0, it is the direction of the first coordinate,
    made orthogonal to `orthogonal_to`.
    """
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    direction = np.asarray(directions[0])
    if sizes[0] <= 1e-12:
        projection = np.zeros_like(direction) if orthogonal_to is None else orthogonal_to
        units = np.eye(len(direction))
        direction = next(
            v for u in units if np.linalg.norm(v := u - (u @ projection) * projection) > 0.5
        )
        direction = direction / np.linalg.norm(direction)
    return direction if direction[np.abs(direction).argmax()] > 0 else -direction


def _view_around(places: Vector) -> Vector:
    """Return the corners of a view of the given aspect that contains all places, shape (2, 2)."""
    low, high = places.min(axis=0), places.max(axis=0)
    width, height = (high - low) * (1 + 2 * MARGIN)
    width = max(width, height * ASPECT, 1e-9)
    half = np.array([width, width / ASPECT]) / 2
    middle = (low + high) / 2
    return np.array([middle - half, middle + half])


def contours(problem: OptimisationProblem, plane: RunPlane, box: Vector) -> tuple[Contour, ...]:
    """Return the lines of equal excess risk, at 1, 2 and 5 times powers of ten.

    Where the risk is an average over an evaluation sample, it is computed at 49 points and
    interpolated in between by a bicubic spline.
    """
    x, y = (np.linspace(box[0, i], box[1, i], FINE) for i in (0, 1))
    sampled = problem.excess_risk(plane.point(box[1])).standard_error > 0
    if sampled:
        a, b = (np.linspace(axis[0], axis[-1], NODES) for axis in (x, y))
        risk: Risk = problem.excess_risk
        if isinstance(problem, LinearModelProblem):
            risk = partial(problem.average_risk, rows=ROWS)
        risks = scipy.interpolate.RectBivariateSpline(a, b, _risks_on_grid(risk, plane, a, b))(x, y)
    else:
        risks = _risks_on_grid(problem.excess_risk, plane, x, y)
    high = float(risks.max())
    low = high / DEEPEST
    if not high > 0:
        return ()
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return tuple(
        Contour(level=level, pieces=pieces)
        for decade in decades
        for digit in (1, 2, 5)
        if low <= (level := float(f"{digit}e{decade}")) < high
        if len(pieces := level_pieces(x, y, risks, level))
    )


def _risks_on_grid(risk: Risk, plane: RunPlane, x: Vector, y: Vector) -> Vector:
    """Return the excess risk at every point of a grid of the plane, shape (len(x), len(y))."""
    return np.array([[risk(plane.point(np.array([a, b]))).value for b in y] for a in x])


def level_pieces(x: Vector, y: Vector, values: Vector, level: float) -> Vector:
    """Return where ``values[i, j]`` at ``(x[i], y[j])`` pass `level`, shape (k, 2, 2).

    Every cell is halved into triangles, on each of which the values are linear.
    """
    corners = np.stack([*np.meshgrid(x, y, indexing="ij"), values], axis=-1)
    a, b, c, d = corners[:-1, :-1], corners[1:, :-1], corners[1:, 1:], corners[:-1, 1:]
    triangles = np.concatenate(
        [np.stack(t, axis=-2).reshape(-1, 3, 3) for t in ((a, b, c), (a, c, d))]
    )
    is_above = triangles[:, :, 2] > level
    count = is_above.sum(axis=1)
    mixed = (count == 1) | (count == 2)
    triangles, is_above, count = triangles[mixed], is_above[mixed], count[mixed]
    lone_vertex = np.where(count == 1, is_above.argmax(axis=1), (~is_above).argmax(axis=1))
    rows = np.arange(len(triangles))
    tip = triangles[rows, lone_vertex]
    ends = []
    for turn in (1, 2):
        neighbour = triangles[rows, (lone_vertex + turn) % 3]
        share = (level - tip[:, 2]) / (neighbour[:, 2] - tip[:, 2])
        ends.append(tip[:, :2] + share[:, None] * (neighbour[:, :2] - tip[:, :2]))
    return np.stack(ends, axis=1)


def _boundary_in_plane(constraint: ConstraintSet, plane: RunPlane, longest: float) -> Vector:
    """Return the boundary of the constraint set in the plane, shape (DIRECTIONS, 2).

    In each direction it is the farthest point of the set, at most twice `longest` from the origin.
    """
    angles = np.linspace(0, 2 * np.pi, DIRECTIONS, endpoint=False)
    rays = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    reach = np.empty_like(rays)
    for ray, place in zip(rays, reach, strict=True):
        low, high = 0.0, 2 * longest
        while high - low > 1e-3 * longest:
            middle = (low + high) / 2
            is_inside = constraint.contains(plane.point(middle * ray))
            low, high = (middle, high) if is_inside else (low, middle)
        place[:] = low * ray
    return reach


def _norms_of_all_rows(rows: Rows) -> Vector:
    """Return the l2 norm of every row, shape (n,)."""
    return np.concatenate([row_norms(block) for block in rows.blocks()])


def _axis_of_lengths(norms: Vector, radius: float) -> tuple[float, float]:
    """Return the ends of an axis that contains the norms and all radii to try."""
    positive = norms[norms > 0]
    low, high = FACTORS[0] * radius, FACTORS[-1] * radius
    if not len(positive):
        return low, high
    return min(low, float(np.quantile(positive, 0.01))), max(high, float(positive.max()))
