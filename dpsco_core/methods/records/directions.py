r"""The inner search of iterative updating, on public points Q_1..Q_k: pure post-processing.

At a centre c, with :math:`v_j = Q_j - c`, the program (27) of Zhao et al. (2024) is

.. math:: \max_{\|u\|=1} s(u), \qquad
    s(u) = \text{the }r\text{-th largest of } \langle v_j, u\rangle.

It is solved exactly in one and two dimensions. It is NP-hard where the dimension is part of the
input, and where the points span three dimensions or more a multi-start ascent is used: a feasible
direction gives a value that is never above the maximum.
"""

import math

import numpy as np

from dpsco_core.base.arrays import Vector

# Up to this dimension `furthest_direction` solves (27) exactly; in higher dimensions no exact
# method is practical.
EXACT_DIMENSIONS = 2
INNER_STEP = 0.25  # eta of Lemma 8 of Zhao et al. (2024)
RANDOM_DIRECTIONS = 24  # the number of random directions among the starts of the ascent
POINT_DIRECTIONS = 16  # the largest number of points among the starts of the ascent
ASCENTS = 4  # the number of best starts from which the ascent continues
ASCENT_STEPS = 16  # the number of steps of an ascent
EXACT_PLANE_POINTS = 64  # With more points than this in two dimensions, bisection replaces ties.


def walk_to_centre(
    points: Vector,  # the noisy group means, shape (k, d)
    left_out: int,  # k minus r, the number of projections that must exceed the level
    # the largest number of moves; the distance is evaluated once more after the last move
    steps: int,
    rng: np.random.Generator,
) -> Vector:
    """Run steps 4 and 5 of Algorithm 3 from c = 0; stop once the distance is not positive.

    Returns the visited centre, shape (d,), with the smallest distance.
    """
    if len(points) < points.shape[1]:
        # A best direction lies in the span of the points, so the search needs fewer coordinates.
        basis, coordinates = np.linalg.qr(points.T)
        return np.asarray(basis @ walk_to_centre(coordinates.T, left_out, steps, rng))
    centre = np.zeros(points.shape[1])
    best, best_distance = centre, math.inf
    for _ in range(steps + 1):
        distance, direction = furthest_direction(points - centre, left_out, rng)
        if distance < best_distance:
            best, best_distance = centre, distance
        if distance <= 0:
            break
        centre = centre + INNER_STEP * distance * direction
    return best


def furthest_direction(
    offsets: Vector, left_out: int, rng: np.random.Generator
) -> tuple[float, Vector]:
    """Return ``(d, u)`` of program (27) for ``offsets = Q - c`` of shape (k, d).

    ``d`` is the entry of rank ``left_out`` (from 0, ascending) of the projections on the unit
    vector ``u``: exact for one and two dimensions, a feasible value otherwise.
    """
    dimension = offsets.shape[1]
    if dimension == 1:
        candidates = np.array([[1.0], [-1.0]])
    elif dimension == 2 and len(offsets) <= EXACT_PLANE_POINTS:
        candidates = _critical_directions(offsets)
    elif dimension == 2:
        return _furthest_in_plane(offsets, left_out)
    else:
        return _ascend(offsets, left_out, rng)
    values = quantile_of_projections(offsets, candidates, left_out)
    i = int(np.argmax(values))
    return float(values[i]), candidates[i]


def quantile_of_projections(offsets: Vector, directions: Vector, left_out: int) -> Vector:
    """Return the projection of rank `left_out`, from 0 upwards, on each direction, shape (len,)."""
    return np.partition(directions @ offsets.T, left_out, axis=1)[:, left_out]


def _critical_directions(offsets: Vector) -> Vector:
    """Return the unit vectors in the plane at which the best direction may lie, shape (k, 2).

    They are the directions of the points and those at which two projections are equal.
    """
    i, j = np.triu_indices(len(offsets), 1)
    gaps = offsets[i] - offsets[j]
    normals = np.column_stack([-gaps[:, 1], gaps[:, 0]])
    candidates = np.concatenate([normals, -normals, offsets, -offsets, np.eye(2)])
    return _unit(candidates[np.linalg.norm(candidates, axis=1) > 0])


def _furthest_in_plane(offsets: Vector, left_out: int) -> tuple[float, Vector]:
    """Return the exact direction for d = 2 and many points, by bisection on the level."""
    norms = np.linalg.norm(offsets, axis=1)
    angles = np.arctan2(offsets[:, 1], offsets[:, 0])
    quorum = len(offsets) - left_out
    low, high = -float(norms.max()) - 1e-300, float(norms.max())
    best = 0.0  # At the lowest level the condition always holds.
    for _ in range(100):
        middle = (low + high) / 2
        angle = _angle_in_arcs(norms, angles, middle, quorum)
        if angle is None:
            high = middle
        else:
            low, best = middle, angle
    direction = np.array([math.cos(best), math.sin(best)])
    value = quantile_of_projections(offsets, direction[None, :], left_out)
    return float(value[0]), direction


def _angle_in_arcs(norms: Vector, angles: Vector, level: float, quorum: int) -> float | None:
    """Return an angle in at least `quorum` of the arcs cos(t - angle) >= level/norm, or None."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(norms > 0, level / norms, math.copysign(2.0, level) if level else 0.0)
    whole_circles = int(np.sum((ratio <= -1) | ((norms == 0) & (level <= 0))))
    if whole_circles >= quorum:
        return 0.0
    partial = (ratio > -1) & (ratio <= 1) & (norms > 0)
    half = np.arccos(ratio[partial])
    start = np.mod(angles[partial] - half, 2 * math.pi)
    stop = start + 2 * half
    # The circle is unrolled once: an arc that passes 2 pi also covers the beginning.
    ends = np.concatenate([start, start - 2 * math.pi, stop, stop - 2 * math.pi])
    change = np.repeat([1.0, -1.0], 2 * len(start))
    # Arcs are closed: at a tie one arc opens before another closes.
    order = np.lexsort((-change, ends))
    count = whole_circles + np.cumsum(change[order])
    places = np.flatnonzero((count >= quorum) & (ends[order] >= 0) & (ends[order] < 2 * math.pi))
    return float(ends[order][places[0]]) if len(places) else None


def _ascend(offsets: Vector, left_out: int, rng: np.random.Generator) -> tuple[float, Vector]:
    """Return a direction by multi-start ascent for d >= 3 (heuristic; see the module)."""
    points, dimension = offsets.shape
    median, mean = np.median(offsets, axis=0), offsets.mean(axis=0)
    points_themselves = offsets[: min(points, POINT_DIRECTIONS)]
    random = rng.standard_normal((RANDOM_DIRECTIONS, dimension))
    starts = np.vstack([median, -median, mean, -mean, points_themselves, random])
    directions = _unit(starts[np.vecdot(starts, starts) > 0])
    values = quantile_of_projections(offsets, directions, left_out)
    directions = directions[np.argsort(values)[-ASCENTS:]]
    projections = directions @ offsets.T
    order = np.argsort(projections, axis=1)
    rows = np.arange(len(directions))
    values = projections[rows, order[:, left_out]]
    step = np.full((len(directions), 1), 1.0)
    width = max(1, points // 50)
    low, high = max(0, left_out - width), min(points, left_out + width + 1)
    for _ in range(ASCENT_STEPS):
        pull = np.add.reduce(offsets[order[:, low:high]], axis=1)
        pull -= np.vecdot(pull, directions)[:, None] * directions
        norms = np.sqrt(np.vecdot(pull, pull))[:, None]
        candidates = _unit(directions + step * (pull / np.where(norms > 0, norms, 1.0)))
        projections = candidates @ offsets.T
        ranks = np.argsort(projections, axis=1)
        new = projections[rows, ranks[:, left_out]]
        better = new > values
        if better.all():
            directions, values, order = candidates, new, ranks
            continue
        for target, source in ((directions, candidates), (values, new), (order, ranks)):
            target[better] = source[better]
        step[~better] *= 0.6
    i = int(np.argmax(values))
    return float(values[i]), directions[i]


def _unit(vectors: Vector) -> Vector:
    """Return the vectors scaled to norm 1, row by row."""
    return np.asarray(vectors / np.sqrt(np.vecdot(vectors, vectors))[:, None])
