"""Places for names and words in a figure where nothing overlaps; all lengths are in pixels."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Point = tuple[float, float]
# A rectangle: left, bottom, width and height, with the vertical axis upwards.
Box = tuple[float, float, float, float]
Path = Sequence[Point]

CLEAR = 5  # The least distance between words and a line.
ENOUGH_DISTANCE = 13  # Beyond this distance from every line, all places are equally good.
STEP = 6  # The step of the search for a place.
PIECE = 5.0  # The length of the pieces into which a line is cut to measure distances from it.


def moved_apart(
    wanted_centres: Sequence[float], sizes: Sequence[float], ceiling: float
) -> list[float]:
    """Return the centres of names of these sizes, moved up or down so that none overlap.

    Every group of names that touch stays centred on where they want to be, between 0 and the
    ceiling: the least sum of squared moves (pool adjacent violators).
    """
    # For each block of touching names: its start, its size, and the start that each of its names
    # prefers for the block.
    blocks: list[tuple[float, float, list[float]]] = []
    for centre, size in zip(wanted_centres, sizes, strict=True):
        start = centre - size / 2
        blocks.append((start, size, [start]))
        while len(blocks) > 1 and blocks[-2][0] + blocks[-2][1] > blocks[-1][0]:
            (_, lower, lower_starts), (_, upper, upper_starts) = blocks[-2], blocks[-1]
            starts = [*lower_starts, *(start - lower for start in upper_starts)]
            total = lower + upper
            place = min(max(sum(starts) / len(starts), 0.0), max(ceiling - total, 0.0))
            blocks[-2:] = [(place, total, starts)]
    centres: list[float] = []
    for start, total, starts in blocks:
        name_start = min(max(start, 0.0), max(ceiling - total, 0.0))
        for _ in starts:
            size = sizes[len(centres)]
            centres.append(name_start + size / 2)
            name_start += size
    return centres


def free_place(
    size: Point,
    panel: Point,
    paths: Sequence[Path],
    want: Point,
    allowed: Callable[[Box], bool],
    enough_distance: int = ENOUGH_DISTANCE,
) -> Point | None:
    """Return the lower left corner of a box inside a panel that is clear of all lines.

    The place nearest to the wished one is taken, among those whose distance from the lines is
    nearly the largest possible or at least `enough_distance`. None if no place is clear.
    """
    columns, rows = (np.arange(4, max(5, int(panel[i] - size[i] - 3)), STEP) for i in (0, 1))
    corners = np.stack([g.ravel() for g in np.meshgrid(columns, rows, indexing="ij")], axis=1)
    count_points = _line_point_counter(panel, paths, enough_distance)
    left, bottom = corners.T
    right, top = np.ceil(corners + size).astype(int).T
    clear = np.zeros(len(corners))
    for distance in range(1, enough_distance + 1):
        clear[
            count_points(left - distance, bottom - distance, right + distance, top + distance) == 0
        ] = distance
    score = clear - 0.02 * np.hypot(*(corners - want).T)
    for k in np.argsort(-score, kind="stable"):
        corner = float(corners[k, 0]), float(corners[k, 1])
        if clear[k] >= CLEAR and allowed((*corner, *size)):
            return corner
    return None


def _line_point_counter(panel: Point, paths: Sequence[Path], margin: int) -> Callable[..., Ints]:
    """Return a function that counts the points of lines in a rectangle given in pixels."""
    shape = int(panel[0]) + 2 * margin + 2, int(panel[1]) + 2 * margin + 2
    sums = np.zeros((shape[0] + 1, shape[1] + 1), dtype=np.int64)
    for path in paths:
        for a, b in pairwise(np.asarray(path, dtype=float)):
            pieces = max(2, int(np.abs(b - a).max() / PIECE))
            points = (a + np.linspace(0, 1, pieces + 1)[:, None] * (b - a)).astype(int) + margin
            points = points[((points >= 0) & (points < shape)).all(axis=1)] + 1
            sums[points[:, 0], points[:, 1]] = 1
    sums = sums.cumsum(axis=0).cumsum(axis=1)

    def count(left: Ints, bottom: Ints, right: Ints, top: Ints) -> Ints:
        """Return the number of points in each rectangle, given by its edges in pixels."""
        x0, x1 = (np.clip(v + margin, 0, shape[0]) for v in (left, right))
        y0, y1 = (np.clip(v + margin, 0, shape[1]) for v in (bottom, top))
        counted: Ints = sums[x1, y1] - sums[x0, y1] - sums[x1, y0] + sums[x0, y0]
        return counted

    return count


def box_outline(box: Box) -> Path:
    """Return the outline of a box as a path, so that other words keep clear of it."""
    left, bottom, width, height = box
    right, top = left + width, bottom + height
    return ((left, bottom), (right, bottom), (right, top), (left, top), (left, bottom))


def level_at(path: Path, x: float) -> float:
    """Return the height of a line at a horizontal position, constant beyond its ends."""
    x_pixels, y_pixels = zip(*path, strict=True)
    return float(np.interp(x, x_pixels, y_pixels))


def extended(
    x: Sequence[float], y: Sequence[float], ends: tuple[float, float], *, log: bool
) -> tuple[list[float], list[float]]:
    """Return a curve extended straight to both ends of an axis; a point becomes a level line.

    `log` says whether the horizontal axis is logarithmic; the vertical one is.
    """
    if len(x) < 2:
        return list(ends), [y[0], y[0]]

    def extrapolate(i: int, j: int, end: float) -> float:
        """Return the value at `end` on the power law through points i and j."""
        a, b, c = (math.log(v) if log else v for v in (x[i], x[j], end))
        slope = math.log(y[j] / y[i]) / (b - a) if min(y[i], y[j]) > 0 else 0.0
        return y[i] * math.exp(slope * (c - a))

    return [ends[0], *x, ends[1]], [extrapolate(0, 1, ends[0]), *y, extrapolate(-1, -2, ends[1])]
