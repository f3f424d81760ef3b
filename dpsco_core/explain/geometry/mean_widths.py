r"""Gaussian widths to look at: random directions, running means, and widths against dimension.

The width of C is the mean of the support function, :math:`G_C = E\max_{w\in C}\langle\xi, w\rangle`
with a standard normal :math:`\xi`: theory/su-zhao-wang.md, 7.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Matrix, Vector
from dpsco_core.base.errors import require
from dpsco_core.explain.geometry.shapes import D, Shape, support_values
from dpsco_core.geometry import (
    Width,
    WidthSample,
)
from dpsco_core.geometry.geometries import GEOMETRIES, Geometry
from dpsco_core.geometry.width import chi_mean

SHOWN_DIRECTIONS = 6
CONFIDENCE = 0.95
CIRCLE = 7200  # directions of the quadrature in the plane
LATITUDES, LONGITUDES = 64, 256
MANY = (5, 10, 20, 50, 100, 200, 500, 1000)  # multiples of a group
GUIDES: dict[str, Callable[[float], float]] = {
    "√d": math.sqrt,
    "√(2 ln d)": lambda d: math.sqrt(2 * math.log(d)),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Directions:
    r"""Standard normal vectors :math:`\xi`, shape (k, d), and how far the set reaches in each.

    `heights` holds the support function, shape (k,), and `feet` the foot of 0 on each supporting
    line or plane :math:`\langle\xi, w\rangle = h(\xi)`, shape (k, d).
    """

    directions: Matrix
    heights: Vector
    feet: Matrix


@dataclass(frozen=True, eq=False, kw_only=True)
class RunningMean:
    """The Monte-Carlo estimate of a width as draws come in, and the last one.

    From `low` to `high` is an interval that holds the width with probability 0.95 at any one
    number of draws: Gaussian concentration of the support function. All arrays have shape (k,).
    """

    draws: NDArray[np.intp]
    means: Vector
    low: Vector
    high: Vector
    sample: WidthSample


def normal_directions(d: int, count: int, seed: int) -> Matrix:
    """Return standard normal rows, shape (count, d): the first are the same for every count."""
    return np.random.default_rng([seed, d]).standard_normal((count, d))


def few_directions(shape: Shape, seed: int, count: int = SHOWN_DIRECTIONS) -> Directions:
    """Return `count` random directions with the support function at each."""
    directions = normal_directions(D, count, seed)
    heights = support_values(shape.constraint, directions)
    squares = np.einsum("ij,ij->i", directions, directions)
    feet: Matrix = directions * (heights / squares)[:, None]
    return Directions(directions=directions, heights=heights, feet=feet)


def running_mean(shape: Shape, draws: int, seed: int) -> RunningMean:
    """Return the running mean of the support function over `draws` directions, at least 2."""
    require(draws >= 2, "draws", "at least 2", draws)
    constraint = shape.constraint
    directions = normal_directions(D, draws, seed)
    values = support_values(constraint, directions)
    shown = np.unique(np.geomspace(1, draws, 120).round().astype(np.intp))
    means = np.cumsum(values)[shown - 1] / shown
    sample = WidthSample(
        mean=float(values.mean()),
        standard_error=float(values.std(ddof=1)) / math.sqrt(draws),
        draws=draws,
        l2_radius=constraint.l2_radius,
    )
    half = constraint.l2_radius * np.sqrt(2 * math.log(2 / (1 - CONFIDENCE)) / shown)
    return RunningMean(draws=shown, means=means, low=means - half, high=means + half, sample=sample)


@lru_cache(maxsize=256)
def plane_width(shape: Shape) -> float:
    """Return the width: as the set knows it, or by quadrature to a relative 1e-4.

    :math:`E h(\\xi) = E\\|\\xi\\|_2` times the mean of h over the unit circle.
    """
    constraint = shape.constraint
    known = constraint.gaussian_width()
    if known.exact:
        return known.value
    directions, weights = sphere(D)
    return chi_mean(D) * float(weights @ support_values(constraint, directions))


@lru_cache(maxsize=2)
def sphere(d: int) -> tuple[Matrix, Vector]:
    """Return points of the unit sphere of 2 or 3 dimensions, and weights that add up to 1.

    The mean of a smooth function is exact to rounding, of one with kinks to a relative 1e-4.
    """
    if d == 2:
        angles = 2 * np.pi * (np.arange(CIRCLE) + 0.5) / CIRCLE
        points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        return points, np.full(CIRCLE, 1 / CIRCLE)
    heights, shares = np.polynomial.legendre.leggauss(LATITUDES)
    angles = 2 * np.pi * (np.arange(LONGITUDES) + 0.5) / LONGITUDES
    z, turn = (a.ravel() for a in np.meshgrid(heights, angles, indexing="ij"))
    flat = np.sqrt(1 - z * z)
    points = np.stack([flat * np.cos(turn), flat * np.sin(turn), z], axis=1)
    return points, np.repeat(shares / 2 / LONGITUDES, LONGITUDES)


@dataclass(frozen=True, kw_only=True)
class WidthRow:
    """The width of one set of radius 1 in `d` dimensions."""

    kind: str
    d: int
    width: Width


@lru_cache(maxsize=64)
def width_table(q: float) -> tuple[WidthRow, ...]:
    """Return the widths of the sets of radius 1 in the dimensions of `MANY`, set after set.

    The group-l1 ball has groups of 5 coordinates, the sparse hull sparsity 5, and ``"lq"`` the
    exponent `q`.
    """
    require(q >= 1, "q", "at least 1", q)
    sets = {kind: Geometry(kind=kind, q=q if kind == "lq" else None) for kind in GEOMETRIES}
    return tuple(
        WidthRow(kind=kind, d=d, width=known.constraint(d, 1.0).gaussian_width())
        for kind, known in sets.items()
        for d in MANY
    )
