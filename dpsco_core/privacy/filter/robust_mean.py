r"""The robust mean filter: the mean of points that are close to most of the others.

One point a user, or a group of users. A *score* says how concentrated the points are, a *count* for
each point how many lie near it, and points with few neighbours are left out of the mean, smoothly,
so that one user moves it little (theory/lowy-liu-asi.md, 2.0, after Asi and Liu 2024). How little
is in `dpsco_core.privacy.filter.sensitivity`; nothing here adds noise.

**Every point has its place.** A point with a NaN, an infinity or a coordinate beyond `FARTHEST`
score radii is *broken*: far from every other point, whatever it is, and never part of the mean.

**Distances are taken from differences**, never as :math:`|a|^2 + |b|^2 - 2ab`, whose cancellation
would decide by rounding near the radius. A computed distance is good to a relative
:math:`(d/2 + 3)2^{-52}`, depends on the two points and their places only, and so is the same on
both of two neighbours. `SLACK` on the filter radius, more than that up to d = 10^6, keeps the
triangle inequalities of the proofs true of computed distances; the sensitivities pay for it. The
mean is summed as differences from one of its points, which are at most 2 filter radii, so that its
rounding is that of a single addition. Real arithmetic is otherwise assumed, as in the package.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy  # its `spatial` comes when it is first used
from numpy.typing import NDArray

from dpsco_core.base.arrays import Matrix, Vector, real_array
from dpsco_core.base.errors import require
from dpsco_core.privacy.mechanisms.noise import coins

Inclusion = Literal["weights", "coins"]

FARTHEST = 2.0**30  # in score radii: beyond it a mean would round by more than 1e-7 radii
SLACK = 1e-9  # relative, of the filter radius
BLOCK = 131_072  # distances at once: 1 MB
RADII = (1e-100, 1e100)  # the scales at which no square overflows or underflows
MOST_APART = 1e6  # the largest ratio of the two radii


@dataclass(frozen=True, eq=False, kw_only=True)
class Examined:
    """What a filter found in some points."""

    # s, the average number of neighbours within the score radius, itself included: in [1, K]
    score: float
    # shape (K,): h, the number of neighbours within the filter radius, itself included
    counts: NDArray[np.int64]
    # shape (K,): p in [0, 1]: the weight of a point in the mean, or the probability that it is a
    # member
    inclusion: Vector


@dataclass(frozen=True, kw_only=True)
class RobustFilter:
    r"""The filter: two radii, and how the count of a point becomes its inclusion.

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
        low, high = RADII
        ok = low <= self.score_radius <= high
        require(ok, "score_radius", f"between {low:g} and {high:g}", self.score_radius)
        ok = self.score_radius <= self.filter_radius <= MOST_APART * self.score_radius
        condition = f"between the score radius and {MOST_APART:g} times it"
        require(ok, "filter_radius", condition, self.filter_radius)
        require(0.5 <= self.lower < 1, "lower", "at least 1/2 and below 1", self.lower)
        ok = self.lower + 1e-6 <= self.upper <= 1
        require(ok, "upper", "above lower (by 1e-6) and at most 1", self.upper)
        known = self.inclusion in ("weights", "coins")
        require(known, "inclusion", "weights or coins", self.inclusion)

    @property
    def form(self) -> Literal["A", "B"]:
        """``"A"`` where the filter radius is at least twice the score radius."""
        return "A" if self.filter_radius >= 2 * self.score_radius else "B"

    def examine(self, points: Matrix) -> Examined:
        r"""Return score, counts and inclusions of K >= 2 points, shape (K, d), whatever they hold.

        If all points are within :math:`\rho_s/2` of their mean (of any one point, rather), every
        pair is within :math:`\rho_s`: then s = K, every h is K and every p is 1, in O(Kd).
        Otherwise all K^2 distances, at most 1 MB of them at once (or one row).
        """
        points = checked_points(points)
        count, broken = len(points), self._broken(points)
        if not broken.any() and self._concentrated(points):
            counts = np.full(count, count, dtype=np.int64)
            return Examined(score=float(count), counts=counts, inclusion=np.ones(count))
        near, counts = self._neighbours(points, broken)
        inclusion = self.inclusion_of(counts)
        return Examined(score=int(near.sum()) / count, counts=counts, inclusion=inclusion)

    def inclusion_of(self, counts: NDArray[np.int64]) -> Vector:
        """Return p of the counts h of K points, shape (K,)."""
        count = len(counts)
        width = (self.upper - self.lower) * count
        p: Vector = np.clip((counts - self.lower * count) / width, 0.0, 1.0)
        p[counts >= self.upper * count * (1 - 1e-12)] = 1.0  # 2K/3, which is no double
        return p

    def mean(self, points: Matrix, weights: Vector) -> Vector:
        """Return the mean of `points`, shape (K, d), by `weights`, shape (K,); 0 without any.

        The weights are the inclusions, or the members that coins have chosen.
        """
        points, weights = real_array("points", points), real_array("weights", weights)
        used = np.flatnonzero(weights)
        if not len(used):
            return np.zeros(points.shape[1])
        clean = not self._broken(points)[used].any()
        require(clean, "weights", "0 for broken points", "a positive weight")
        anchor = points[used[0]]
        total = np.zeros(points.shape[1])
        size = max(1, BLOCK // points.shape[1])
        for low in range(0, len(used), size):
            block = used[low : low + size]
            total += weights[block] @ (points[block] - anchor)
        filtered: Vector = anchor + total / weights[used].sum()
        return filtered

    def filtered_mean(
        self, points: Matrix, inclusion: Vector, rng: np.random.Generator | None = None
    ) -> Vector:
        """Return the mean by weights, or by coins from `rng`, as this filter has it; shape (d,)."""
        if self.inclusion == "weights":
            return self.mean(points, inclusion)
        require(rng is not None, "rng", "given for coins", rng)
        assert rng is not None
        return self.mean(points, coins(inclusion, rng))

    def _broken(self, points: Matrix) -> NDArray[np.bool_]:
        """Return which points, shape (K, d), are broken; a NaN compares as false."""
        farthest = FARTHEST * self.score_radius
        if points.max() <= farthest and points.min() >= -farthest:  # most often
            return np.zeros(len(points), dtype=bool)
        usable = (points.max(axis=1) <= farthest) & (points.min(axis=1) >= -farthest)
        return np.asarray(~usable)

    def _concentrated(self, points: Matrix) -> bool:
        """Whether all are within half the score radius of one point; any point will do."""
        radius = self.score_radius * (1 - SLACK) / 2
        centre = points.mean(axis=0)[None, :]
        size = max(1, BLOCK // points.shape[1])
        blocks = (points[low : low + size] for low in range(0, len(points), size))
        return all(
            bool((scipy.spatial.distance.cdist(block, centre) <= radius).all()) for block in blocks
        )

    def _neighbours(
        self, points: Matrix, broken: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count those within the two radii, shape (K,) each.

        Broken points keep their row and column, so that every other distance is computed as it
        would be without them.
        """
        count = len(points)
        near, within = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
        filter_radius = self.filter_radius * (1 + SLACK)
        size = max(1, BLOCK // count)
        for low in range(0, count, size):
            distances = scipy.spatial.distance.cdist(points[low : low + size], points)
            distances[:, broken] = math.inf
            near[low : low + size] = np.count_nonzero(distances <= self.score_radius, axis=1)
            within[low : low + size] = np.count_nonzero(distances <= filter_radius, axis=1)
        near[broken] = within[broken] = 1  # itself
        return near, within


def checked_points(points: Matrix) -> Matrix:
    """Return points as float64; refuse what is not at least two of at least one coordinate."""
    points = real_array("points", points)
    ok = points.ndim == 2 and points.shape[0] >= 2 and points.shape[1] >= 1
    require(ok, "points", "of shape (K, d), K at least 2", points.shape)
    return points
