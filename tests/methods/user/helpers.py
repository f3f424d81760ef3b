"""Points, neighbours, and formulas of docs/theory written out again."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.stats import norm

from dpsco_core.privacy.filter.robust_mean import RobustFilter

Array = np.ndarray
BROKEN = (math.nan, math.inf, -math.inf, 1e300, -1e300, 1e160, 1e20)
FALSE_ALARM = 1e-6  # The level of every statistical test here; seeds are fixed.


def keep_of(form: str, upper: float = 1.0, inclusion: str = "weights", radius: float = 1.0):
    """Return a robust filter of form A or B, whose filter radius is two score radii or one."""
    return RobustFilter(
        score_radius=radius,
        filter_radius=2 * radius if form == "A" else radius,
        upper=upper,
        inclusion=inclusion,
    )


FILTERS = [keep_of(form, upper) for form in "AB" for upper in (2 / 3, 1.0)]


def plain_filter(keep: RobustFilter, points: Array) -> tuple[float, Array, Array]:
    """Return the score s, the counts h and the inclusions p by their definitions, pair by pair; a
    broken point is near only itself.
    """
    count = len(points)
    score_counts, counts = np.zeros(count), np.zeros(count, dtype=int)
    limit = 2.0**30 * keep.score_radius
    usable = [bool(np.isfinite(x).all() and np.abs(x).max() <= limit) for x in points]
    for j in range(count):
        for k in range(count):
            are_usable = usable[j] and usable[k]
            distance = (
                math.dist(points[j], points[k]) if are_usable else (0.0 if j == k else math.inf)
            )
            score_counts[j] += distance <= keep.score_radius
            counts[j] += distance <= keep.filter_radius
    a, b = keep.lower, keep.upper
    return score_counts.sum() / count, counts, np.clip((counts / count - a) / (b - a), 0, 1)


def f6_sensitivity(keep: RobustFilter, count: int, floor: float) -> float:
    """Return the sensitivity F6 of theory/lowy-liu-asi.md, 2.0, for `count` points whose score is
    at least `floor`.
    """
    a, b = keep.lower, keep.upper
    weight = floor if keep.form == "A" else (floor - a * count) / (1 - a)
    return 2 * keep.filter_radius / weight * (2 + (count - 1) / ((b - a) * count))


def note_multiplier(epsilon: float, delta: float) -> float:
    """Return the multiplier g by bisection on Balle and Wang's formula as printed."""
    low, high = 1e-3, 1e3
    for _ in range(200):
        g = math.sqrt(low * high)
        left = norm.cdf(1 / (2 * g) - epsilon * g)
        right = math.exp(epsilon + norm.logcdf(-1 / (2 * g) - epsilon * g))
        low, high = (low, g) if left - right <= delta else (g, high)
    return high


def lattice(d: int, radius: float) -> Array:
    """Return candidate points: all combinations of a few half radii, and an outlier."""
    ends = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 19.0]) * radius
    if d == 1:
        return ends[:, None]
    grid = np.stack(np.meshgrid(ends, ends), axis=-1).reshape(-1, 2)
    return np.hstack([grid, np.zeros((len(grid), d - 2))])


def neighbours(keep: RobustFilter, trials: int, seed: int) -> Iterator[tuple[Array, Array]]:
    """Yield pairs of data sets that differ in one point: clusters on a lattice, jitter, broken
    values.

    Clusters of few distinct places attain the proven facts; jitter, broken coordinates and other
    dimensions test the rest.
    """
    rng = np.random.default_rng(seed)
    for trial in range(trials):
        d = int(rng.integers(1, 4))
        places = lattice(d, keep.filter_radius)
        chosen = places[rng.integers(len(places), size=4)]
        count = int(rng.integers(3, 26))
        x = chosen[rng.choice(4, size=count, p=rng.dirichlet(np.full(4, 0.7)))]
        x = x + (trial % 3 == 0) * rng.uniform(-0.3, 0.3, size=x.shape) * keep.filter_radius
        if trial % 5 == 0:
            x[rng.integers(count), rng.integers(d)] = rng.choice(BROKEN)
        y, i = x.copy(), rng.integers(count)
        y[i] = chosen[rng.integers(4)] if rng.random() < 0.6 else 50.0 * keep.filter_radius
        if trial % 7 == 0:
            y[i, rng.integers(d)] = rng.choice(BROKEN)
        yield x, y


def far_pairs(keep: RobustFilter, points: Array, selection: Array) -> float:
    """Return the largest distance between two of the points that the mask `selection` selects."""
    selected = points[selection]
    return max((math.dist(a, b) for a in selected for b in selected), default=0.0)
