r"""Points far away, whose directions hide the geometric median."""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import OWN, Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.base.errors import require
from dpsco_core.data.hard import HardInstance
from dpsco_core.data.ranges import exp_or_inf
from dpsco_core.geometry.base import ConstraintSet

# The distance of the points in radii of the constraint set. On the set a point's loss is linear, up
# to half the radius over this distance.
FAR_DISTANCE = 1e7


@dataclass(frozen=True, kw_only=True)
class FarPoints(HardInstance):
    r"""Points :math:`K\nu_je_j` with probability s/d for every j, with hidden signs :math:`\nu`.

    All others are :math:`\pm Ku` with a fair sign, u the diagonal: they pull nowhere. So far away
    a distance is linear, and gradients are unit vectors, whatever the moments of points.

    Raises `InvalidInput` if a value is outside its range.

    Examples
    --------
    >>> law = FarPoints(d=4, spike_probability=0.1, distance=1e7)
    >>> law.record_norm, law.draw(np.random.default_rng(0)).median_direction.tolist()
    (10000000.0, [-1.0, 1.0, 1.0, 1.0])
    """

    # the distance K, in multiples of the radius of the constraint set
    distance: float = FAR_DISTANCE
    # the hidden signs, one for each coordinate; None until they are drawn
    pattern: tuple[int, ...] | None = None

    hides = "median"
    sampling = Coefficients(fixed=6e4, per_row=0, per_element=4)
    card = Card(
        slug="far-points",
        name="Far points (hidden median)",
        paper=OWN,
        statement="docs/theory/bounds-everywhere.md, 6.5",
        summary="Points far away in opposite pairs, and a few along axes, whose hidden signs pull "
        "the geometric median.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 < self.distance < math.inf, "distance", "finite and above 0", self.distance)
        if self.pattern is not None:
            fits = len(self.pattern) == self.d and set(self.pattern) <= {-1, 1}
            require(fits, "pattern", f"{self.d} signs -1 or +1", self.pattern)

    @property
    def median_direction(self) -> Vector:
        """The hidden signs, in whose direction the median lies; they must have been drawn."""
        require(self.pattern is not None, "pattern", "drawn first, with draw(rng)", self.pattern)
        return np.array(self.pattern, dtype=np.float64)

    def parameter(self, body: ConstraintSet) -> Vector:
        """Return the median in a constraint set, shape (d,)."""
        return body.support_point(self.median_direction)

    def excess(self, w: Vector, body: ConstraintSet) -> float:
        """Return the excess risk of `w` in a constraint set, exactly."""
        return max(0.0, self._risk(w) - self._risk(self.parameter(body)))

    def _risk(self, w: Vector) -> float:
        """Return the mean distance less K, computed without a difference of large numbers."""
        distance, square = self.distance, float(w @ w)

        # The distance |w - K v| less K is computed from <w, v>, without cancellation.
        def excess_distance(projection: Vector) -> Vector:
            change = square - 2 * distance * projection
            return np.asarray(change / (np.sqrt(distance * distance + change) + distance))

        diagonal = float(w.sum()) / math.sqrt(self.d)
        pulled = float(excess_distance(self.median_direction * w).mean())
        idle = float(excess_distance(np.array([diagonal, -diagonal])).mean())
        return self.spike_probability * pulled + (1 - self.spike_probability) * idle

    @property
    def weight(self) -> int:
        return 1

    @property
    def record_norm(self) -> float:
        return self.distance

    @property
    def mean(self) -> Vector:
        return self.spike_probability / self.d * self.distance * self.median_direction

    @property
    def mean_norm(self) -> float:
        return self.spike_probability * self.distance / math.sqrt(self.d)

    @property
    def second_moment_trace(self) -> float:
        return self.distance**2

    def record_moment(self, k: float) -> float:
        return self.distance

    @property
    def largest_second_moment(self) -> float:
        """The second moment along the diagonal, where every point lies that is not on an axis."""
        s = self.spike_probability
        return self.distance**2 * (s / self.d + 1 - s)

    @property
    def smallest_second_moment(self) -> float:
        share = self.spike_probability / self.d if self.d > 1 else 1.0
        return self.distance**2 * share

    @property
    def fourth_moment_trace(self) -> float:
        return self.largest_second_moment * self.distance**2

    def squared_margin(self, v: Vector) -> float:
        s = self.spike_probability
        diagonal = float(v.sum()) ** 2 / self.d
        return self.distance**2 * (s / self.d * float(v @ v) + (1 - s) * diagonal)

    @property
    def variance_trace(self) -> float:
        return self.distance**2 - self.mean_norm**2

    @property
    def directional_moment(self) -> float:
        return self.raw_direction(self.moment_order)

    def raw_direction(self, k: float) -> float:
        return self.distance

    def central_direction(self, k: float) -> float:
        return self.distance + self.mean_norm

    def raw_coordinate(self, k: float) -> float:
        r"""Return :math:`E|Z_j|^k`, the sum over points on the axis and on the diagonal."""
        s, log = self.spike_probability, k * math.log(self.distance)
        share = s / self.d + (1 - s) * math.pow(self.d, -k / 2)
        return exp_or_inf(log + math.log(share))

    def moment(self, k: float) -> float:
        require(k >= 0, "k", "a number of at least 0", k)
        if k == math.inf:
            return math.inf
        s, d, mean = self.spike_probability, self.d, self.spike_probability / self.d
        parts = (
            (s / d, 1 - mean),
            (s - s / d, mean),
            ((1 - s) / 2, abs(1 / math.sqrt(d) - mean)),
            ((1 - s) / 2, 1 / math.sqrt(d) + mean),
        )
        share = sum(weight * math.pow(size, k) for weight, size in parts)
        return exp_or_inf(k * math.log(self.distance)) * share

    def draw(self, rng: np.random.Generator) -> Self:
        signs = 2 * rng.integers(0, 2, size=self.d, dtype=np.int8) - 1
        return replace(self, pattern=tuple(signs.tolist()))

    def fill(self, out: Vector, rng: np.random.Generator) -> None:
        signs = 2.0 * rng.integers(0, 2, size=(len(out), 1)) - 1.0
        out[:] = signs * (self.distance / math.sqrt(self.d))
        spiked = self._draw_spiked_indices(len(out), rng)
        place = rng.integers(0, self.d, size=len(spiked)).astype(np.intp)
        out[spiked] = 0.0
        out[spiked, place] = self.distance * self.median_direction[place]
