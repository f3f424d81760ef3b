r"""The robust mean filter: the mean of points that are close to most of the others.

There is one point per user, or per group of users. A *score* says how concentrated the points are;
a *count* says how many points lie near a given one; and points with few neighbours are left out of
the mean, smoothly, so that one user moves it little (theory/lowy-liu-asi.md, 2.0, after Asi and Liu
2024). `dpsco_core.privacy.filter.sensitivity` bounds how little; nothing here adds noise.

**Broken points are covered.** A point with a NaN, an infinity or a coordinate beyond `FARTHEST`
score radii is *broken*: it counts as far from every other point, and is never part of the mean.

**Distances are computed from differences**, never as :math:`|a|^2 + |b|^2 - 2ab`, whose
cancellation would let rounding decide near the radius. A computed distance has a relative accuracy
of :math:`(d/2 + 3)2^{-52}` and depends on the two points only, so it is the same on both of two
neighbours. A pair is decided without its distance only if the triangle inequality leaves more room
than rounding takes, so that the distance would say the same. `SLACK` on the filter radius, which
exceeds that up to d = 10^6, keeps the triangle inequalities of the proofs true for computed
distances; the sensitivities pay for it. The mean is summed as differences from one of its points,
which are at most 2 filter radii, so that its rounding is that of a single addition. Otherwise real
arithmetic is assumed, as everywhere in the package.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy  # `scipy.spatial` is imported on first use.
from numpy.typing import NDArray

from dpsco_core.base.arrays import Matrix, Vector, real_array
from dpsco_core.base.errors import require
from dpsco_core.privacy.mechanisms.noise import draw_coins

Inclusion = Literal["weights", "coins"]

# In score radii. Points farther away would cause rounding errors above 1e-7 radii in a mean.
FARTHEST = 2.0**30
SLACK = 1e-9  # the tolerance relative to the filter radius
BLOCK = 131_072  # the number of distances per block: 1 MB
RADII = (1e-100, 1e100)  # the range of radii in which no square overflows or underflows
MOST_APART = 1e6  # the largest ratio of the two radii


@dataclass(frozen=True, eq=False, kw_only=True)
class Examination:
    """The score, the neighbour counts and the inclusions of a set of points."""

    # s in [1, K], the average number of neighbours within the score radius, the point included
    score: float
    # Shape (K,): h, the number of neighbours within the filter radius, the point included.
    counts: NDArray[np.int64]
    # Shape (K,): p in [0, 1], the weight of a point in the mean or its probability of membership.
    inclusion: Vector


@dataclass(frozen=True, kw_only=True)
class RobustFilter:
    r"""The filter: two radii and the map from a point's neighbour count to its inclusion.

    With K points :math:`q_j`, a = `lower` and b = `upper`:

    - :math:`s = \frac1K\sum_{j,k} 1(\|q_j - q_k\| \le \rho_s)`, ordered pairs, j = k among them;
    - :math:`h_j = \sum_k 1(\|q_j - q_k\| \le \rho_h)`;
    - :math:`p_j = clip((h_j - aK)/((b-a)K), 0, 1)`;
    - with ``"weights"`` the mean is :math:`\sum p_jq_j/\sum p_j`; with ``"coins"``, as in the
      paper, that of the points whose coin, of probability :math:`p_j`, came up.

    Parameters
    ----------
    score_radius : float
        :math:`\rho_s`, in [1e-100, 1e100]. Fixed without looking at the data.
    filter_radius : float
        :math:`\rho_h`, at least :math:`\rho_s`. From :math:`2\rho_s` on it is "form A"
        (theory/lowy-liu-asi.md, 2.0), which the paper's Algorithm 1 uses; below, "form B"
        (Algorithm 2: the two are equal).
    lower, upper : float
        :math:`1/2 \le a < b \le 1`. The paper's b is 2/3.
    inclusion : {"weights", "coins"}

    Examples
    --------
    >>> keep = RobustFilter(score_radius=1.0, filter_radius=1.0)
    >>> x = np.array([[0.0], [0.2], [0.4], [1e300]])
    >>> kept = keep.examine(x)
    >>> kept.score, kept.counts.tolist(), kept.inclusion.tolist()
    (2.5, [3, 3, 3, 1], [0.5, 0.5, 0.5, 0.0])
    >>> keep.mean(x, kept.inclusion).round(12).tolist()
    [0.2]
    """

    score_radius: float
    filter_radius: float
    lower: float = 0.5
    upper: float = 1.0
    inclusion: Inclusion = "weights"

    def __post_init__(self) -> None:
        """Refuse radii and shares outside their ranges, and pairs of them in the wrong order."""
        low, high = RADII
        is_valid = low <= self.score_radius <= high
        require(is_valid, "score_radius", f"between {low:g} and {high:g}", self.score_radius)
        is_valid = self.score_radius <= self.filter_radius <= MOST_APART * self.score_radius
        condition = f"between the score radius and {MOST_APART:g} times it"
        require(is_valid, "filter_radius", condition, self.filter_radius)
        require(0.5 <= self.lower < 1, "lower", "at least 1/2 and below 1", self.lower)
        is_valid = self.lower + 1e-6 <= self.upper <= 1
        require(is_valid, "upper", "above lower (by 1e-6) and at most 1", self.upper)
        is_known = self.inclusion in ("weights", "coins")
        require(is_known, "inclusion", "weights or coins", self.inclusion)

    @property
    def form(self) -> Literal["A", "B"]:
        """``"A"`` if the filter radius is at least twice the score radius, otherwise ``"B"``."""
        return "A" if self.filter_radius >= 2 * self.score_radius else "B"

    def examine(self, points: Matrix) -> Examination:
        r"""Return score, counts and inclusions of K >= 2 points, shape (K, d).

        If all points are within :math:`\rho_s/2` of their mean, or of 0, every pair is within
        :math:`\rho_s`: then s = K, every h is K and every p is 1, in O(Kd). Otherwise the triangle
        inequality decides most pairs, and the remaining distances, in the worst case all K^2, are
        computed in blocks of at most 1 MB.

        Raises `InvalidInput` unless there are at least two points.
        """
        points = checked_points(points)
        count, broken = len(points), self._find_broken(points)
        if not broken.any() and self._are_concentrated(points):
            counts = np.full(count, count, dtype=np.int64)
            return Examination(score=float(count), counts=counts, inclusion=np.ones(count))
        # A broken point counts as its own neighbour.
        near_counts, counts = np.ones((2, count), dtype=np.int64)
        near_counts[~broken], counts[~broken] = self._count_neighbours(points[~broken])
        inclusion = self.inclusion_of(counts)
        return Examination(score=int(near_counts.sum()) / count, counts=counts, inclusion=inclusion)

    def inclusion_of(self, counts: NDArray[np.int64]) -> Vector:
        """Return the inclusions p for neighbour counts h of K points, shape (K,)."""
        count = len(counts)
        width = (self.upper - self.lower) * count
        p: Vector = np.clip((counts - self.lower * count) / width, 0.0, 1.0)
        # The tolerance is needed because thresholds such as 2K/3 are not doubles.
        p[counts >= self.upper * count * (1 - 1e-12)] = 1.0
        return p

    def mean(self, points: Matrix, weights: Vector) -> Vector:
        """Return the weighted mean of `points`, shape (K, d); 0 if all `weights` are 0.

        The weights, shape (K,), are the inclusions, or the memberships drawn by coins. Raises
        `InvalidInput` if a broken point has a positive weight.
        """
        points, weights = real_array("points", points), real_array("weights", weights)
        indices = np.flatnonzero(weights)
        if not len(indices):
            return np.zeros(points.shape[1])
        is_clean = not self._find_broken(points)[indices].any()
        require(is_clean, "weights", "0 for broken points", "a positive weight")
        anchor = points[indices[0]]
        total = np.zeros(points.shape[1])
        size = max(1, BLOCK // points.shape[1])
        for low in range(0, len(indices), size):
            block = indices[low : low + size]
            total += weights[block] @ (points[block] - anchor)
        filtered: Vector = anchor + total / weights[indices].sum()
        return filtered

    def filtered_mean(
        self, points: Matrix, inclusion: Vector, rng: np.random.Generator | None = None
    ) -> Vector:
        """Return the filter's mean, by weights or by coins drawn from `rng`, shape (d,).

        Raises `InvalidInput` if coins are to be drawn and `rng` is None.
        """
        if self.inclusion == "weights":
            return self.mean(points, inclusion)
        require(rng is not None, "rng", "given for coins", rng)
        assert rng is not None
        return self.mean(points, draw_coins(inclusion, rng))

    def _find_broken(self, points: Matrix) -> NDArray[np.bool_]:
        """Return, shape (K,), whether each point is broken: NaN, infinite or too far away."""
        farthest = FARTHEST * self.score_radius
        # In the usual case no point is broken.
        if points.max() <= farthest and points.min() >= -farthest:
            return np.zeros(len(points), dtype=bool)
        usable = (points.max(axis=1) <= farthest) & (points.min(axis=1) >= -farthest)
        return np.asarray(~usable)

    def _are_concentrated(self, points: Matrix) -> bool:
        """Return whether all points are within half the score radius of their mean, or of 0."""
        radius = self.score_radius * (1 - _rounding(points.shape[1])) / 2
        return any(
            all(bool((block <= radius).all()) for block in _lengths(points, centre))
            for centre in _centres(points)
        )

    def _count_neighbours(self, points: Matrix) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count, for each of K usable points, the points within the score and the filter radius.

        The two results have shape (K,) each.

        In the order of the distances r from a centre, the pair j, k is near if :math:`r_j+r_k` is
        within the score radius, and far if :math:`|r_j-r_k|` exceeds the filter radius. For each
        point only the points between two places of the order are in doubt.
        """
        count, d = points.shape
        if not count:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        filter_radius = self.filter_radius * (1 + SLACK)
        from_centre = self._distances_from_centre(points)
        order = np.argsort(from_centre, kind="stable")
        from_centre = from_centre[order]
        shrink, grow = 1 - _rounding(d), 1 + _rounding(d)
        near_ends = np.searchsorted(
            from_centre, self.score_radius * shrink - from_centre, side="right"
        )
        far_starts = np.searchsorted(
            from_centre * shrink, (filter_radius + from_centre) * grow, side="right"
        )
        always_near = int(near_ends[-1])  # the number of points that are near every point
        near_counts, within_counts = np.full((2, count), count, dtype=np.int64)
        columns = np.ascontiguousarray(points[order[always_near:]].T)
        high = count
        while high > always_near:
            start, stop = int(near_ends[high - 1]), int(far_starts[high - 1])
            low = max(always_near, high - max(1, BLOCK // max(1, stop - start)))
            rows = columns[:, low - always_near : high - always_near]
            pair_distances = _pair_distances(
                rows, columns[:, start - always_near : stop - always_near]
            )
            near_counts[low:high] = start + np.count_nonzero(
                pair_distances <= self.score_radius, axis=1
            )
            within_counts[low:high] = start + np.count_nonzero(
                pair_distances <= filter_radius, axis=1
            )
            high = low
        counts = np.empty((2, count), dtype=np.int64)
        counts[:, order] = near_counts, within_counts
        return counts[0], counts[1]

    def _distances_from_centre(self, points: Matrix) -> Vector:
        """Return the distances of points, shape (K,), from one of the two centres.

        It is the centre that has more points within half the score radius.
        """
        candidates = [np.concatenate(list(_lengths(points, c))) for c in _centres(points)]
        return max(
            candidates, key=lambda lengths: np.count_nonzero(lengths <= self.score_radius / 2)
        )


def _centres(points: Matrix) -> tuple[Vector, Vector]:
    """Return the mean of the points and 0, two centres to measure distances from.

    Results are the same for every centre; a good one decides more pairs without their distance.
    """
    return points.mean(axis=0), np.zeros(points.shape[1])


def _lengths(points: Matrix, centre: Vector) -> Iterator[Vector]:
    """Yield the distances of points, shape (K, d), from `centre`, block by block."""
    size = max(1, BLOCK // points.shape[1])
    for low in range(0, len(points), size):
        yield scipy.spatial.distance.cdist(points[low : low + size], centre[None, :])[:, 0]


def _pair_distances(rows: Matrix, columns: Matrix) -> Matrix:
    """Return the distances of points, given as shapes (d, J) and (d, K), as shape (J, K).

    Every pair takes the same steps in the same order, wherever the points stand in their arrays and
    whichever comes first: whether two points are near does not depend on the other points.
    """
    squares = np.zeros((rows.shape[1], columns.shape[1]))
    difference = np.empty_like(squares)
    for a, b in zip(rows, columns, strict=True):
        np.subtract(a[:, None], b, out=difference)
        np.multiply(difference, difference, out=difference)
        squares += difference
    distances: Matrix = np.sqrt(squares, out=squares)
    return distances


def _rounding(d: int) -> float:
    """Return a relative bound on the rounding of a sum of up to three computed distances."""
    return (d + 8) * 2.0**-52


def checked_points(points: Matrix) -> Matrix:
    """Return points as float64; raises `InvalidInput` unless there are at least two of them."""
    points = real_array("points", points)
    is_valid = points.ndim == 2 and points.shape[0] >= 2 and points.shape[1] >= 1
    require(is_valid, "points", "of shape (K, d), K at least 2", points.shape)
    return points
