r"""Points far away, whose directions hide the geometric median."""

import math
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import OWN, Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.base.errors import require
from dpsco_core.data.hard import HardInstance
from dpsco_core.data.ranges import exp_or_inf
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.geometries import GROUP_SIZE

# Where the far points lie: on every axis, or all in the direction of one hidden word. A word
# consists of signs in all coordinates, is a signed or positive unit vector, or consists of signs in
# one block of five coordinates.
Places = Literal["axes", "signs", "signed corner", "corner", "block"]

# The distance of the points, in radii of the constraint set. On the set, the loss of a point is
# linear up to an error of half the radius over this distance.
FAR_DISTANCE = 1e7


@dataclass(frozen=True, kw_only=True)
class FarPoints(HardInstance):
    r"""Points :math:`K\nu_je_j` with probability s/d for every j, with hidden signs :math:`\nu`.

    If `places` is not "axes", they are the one point :math:`KV/\|V\|` of a hidden word V instead,
    with probability s. All other points are :math:`\pm Ku` with a fair sign, where u is the unit
    vector along the diagonal; they do not move the median. The distance from points so far away is
    linear on the constraint set, and gradients are unit vectors, whatever the points' moments.

    Raises `InvalidInput` if a value is outside its range.

    Examples
    --------
    >>> law = FarPoints(d=4, spike_probability=0.1, distance=1e7)
    >>> law.record_norm, law.draw(np.random.default_rng(0)).median_direction.tolist()
    (10000000.0, [-1.0, 1.0, 1.0, 1.0])
    """

    # The distance K in the unit of the parameters. `FAR_DISTANCE` is for a constraint set of radius
    # 1; other sets multiply it by their radius.
    distance: float = FAR_DISTANCE
    places: Places = "axes"
    # The hidden word or, on axes, the hidden signs, one for each coordinate; None until drawn.
    pattern: tuple[int, ...] | None = None

    hides = "median"
    sampling = Coefficients(fixed=6e4, per_row=0, per_element=4)
    card = Card(
        slug="far-points",
        name="Far points (hidden median)",
        paper=OWN,
        statement="docs/theory/bounds-everywhere.md, 6.5",
        summary="Points far away in opposite pairs, and a few along axes or in one hidden "
        "direction, which pull the geometric median.",
    )

    def __post_init__(self) -> None:
        """Refuse a distance that is not positive, and a pattern that does not fit the places."""
        super().__post_init__()
        require(0 < self.distance < math.inf, "distance", "finite and above 0", self.distance)
        if self.places == "block":
            require(self.d >= GROUP_SIZE, "d", f"at least {GROUP_SIZE} for a block", self.d)
        if self.pattern is not None:
            fits = len(self.pattern) == self.d and set(self.pattern) <= {-1, 0, 1}
            fits = fits and sum(map(abs, self.pattern)) == self._nonzero_entries
            fits = fits and (self.places != "corner" or 1 in self.pattern)
            must = f"{self.d} numbers, {self._nonzero_entries} of them -1 or +1 and the others 0"
            require(fits, "pattern", must, self.pattern)

    @property
    def _nonzero_entries(self) -> int:
        """The number of entries of the hidden word that are not 0."""
        if self.places in ("axes", "signs"):
            return self.d
        return GROUP_SIZE if self.places == "block" else 1

    @property
    def _entry(self) -> float:
        """The absolute value of the nonzero entries of a point off the diagonal, divided by K."""
        return 1.0 if self.places == "axes" else 1 / math.sqrt(self._nonzero_entries)

    @property
    def _share(self) -> float:
        """The probability that a record moves the median along one nonzero entry of the word."""
        return self.spike_probability / (self.d if self.places == "axes" else 1)

    @property
    def median_direction(self) -> Vector:
        """The hidden word, in whose direction the median lies, shape (d,).

        Raises `InvalidInput` if it has not been drawn.
        """
        require(self.pattern is not None, "pattern", "drawn first, with draw(rng)", self.pattern)
        return np.array(self.pattern, dtype=np.float64)

    def parameter(self, body: ConstraintSet) -> Vector:
        """Return the median in a constraint set, shape (d,)."""
        return body.support_point(self.median_direction)

    def excess(self, w: Vector, body: ConstraintSet) -> float:
        """Return the excess risk of `w` in a constraint set, exactly."""
        return max(0.0, self._risk(w) - self._risk(self.parameter(body)))

    def _risk(self, w: Vector) -> float:
        """Return the mean distance of w from a record, less the distance K of 0 from a record."""
        distance, square = self.distance, float(w @ w)

        def excess_distance(projection: Vector) -> Vector:
            """Return |w - K v| - K without cancellation, from <w, v> for unit vectors v."""
            change = square - 2 * distance * projection
            return np.asarray(change / (np.sqrt(distance * distance + change) + distance))

        diagonal = float(w.sum()) / math.sqrt(self.d)
        word = self.median_direction
        projections = word * w if self.places == "axes" else np.array([self._entry * (word @ w)])
        pulled = float(excess_distance(projections).mean())
        idle = float(excess_distance(np.array([diagonal, -diagonal])).mean())
        return self.spike_probability * pulled + (1 - self.spike_probability) * idle

    @property
    def weight(self) -> int:
        """1: the norm of a record follows from `distance`, not from a number of coordinates."""
        return 1

    @property
    def record_norm(self) -> float:
        """The l2 norm of every record: the distance of the points."""
        return self.distance

    @property
    def mean(self) -> Vector:
        """The mean of a record, shape (d,), in the direction of the median."""
        return self._share * self._entry * self.distance * self.median_direction

    @property
    def mean_norm(self) -> float:
        """The l2 norm of the mean."""
        size = self._share * self._entry * math.sqrt(self._nonzero_entries)
        return size * self.distance

    @property
    def second_moment_trace(self) -> float:
        """The mean squared l2 norm of a record."""
        return self.distance**2

    def record_moment(self, k: float) -> float:
        """Return the root of the k-th moment of the norm, which is the distance for all k."""
        return self.distance

    @property
    def largest_second_moment(self) -> float:
        r"""The largest eigenvalue of :math:`E XX^\top`: on axes, that of the diagonal direction.

        With a hidden word it is an upper bound, attained by the word of as many entries that is
        nearest to the diagonal.
        """
        s = self.spike_probability
        if self.places == "axes":
            return self.distance**2 * (s / self.d + 1 - s)
        # The largest eigenvalue of s vv' + (1 - s)uu' increases with <u, v>, and this is its value
        # at the largest product of the diagonal u with a word v.
        spread = 4 * s * (1 - s) * (1 - self._nonzero_entries / self.d)
        return self.distance**2 * (1 + math.sqrt(max(0.0, 1 - spread))) / 2

    @property
    def smallest_second_moment(self) -> float:
        """The smallest eigenvalue of the second moment matrix."""
        if self.d == 1:
            return self.distance**2
        share = self.spike_probability / self.d if self.places == "axes" else 0.0
        return self.distance**2 * share

    @property
    def fourth_moment_trace(self) -> float:
        r"""The supremum :math:`\sup_{\|v\|=1} E\langle X,v\rangle^2\|X\|^2` over directions v."""
        return self.largest_second_moment * self.distance**2

    def squared_margin(self, v: Vector) -> float:
        """Return the mean squared product of a record with v."""
        s = self.spike_probability
        diagonal = float(v.sum()) ** 2 / self.d
        if self.places == "axes":
            pulling = float(v @ v) / self.d
        else:
            pulling = (self._entry * float(self.median_direction @ v)) ** 2
        return self.distance**2 * (s * pulling + (1 - s) * diagonal)

    @property
    def variance_trace(self) -> float:
        """The trace of the covariance."""
        return self.distance**2 - self.mean_norm**2

    @property
    def directional_moment(self) -> float:
        """A bound on the root of the p-th moment in any direction."""
        return self.raw_direction(self.moment_order)

    def raw_direction(self, k: float) -> float:
        """Return a bound on the root of the k-th raw moment in any direction."""
        return self.distance

    def central_direction(self, k: float) -> float:
        """Return a bound on the root of the k-th central moment in any direction."""
        return self.distance + self.mean_norm

    def raw_coordinate(self, k: float) -> float:
        r"""Return the k-th raw absolute moment :math:`E|Z_j|^k` of a coordinate of a point."""
        s, log = self.spike_probability, k * math.log(self.distance)
        share = self._share * self._entry**k + (1 - s) * math.pow(self.d, -k / 2)
        return exp_or_inf(log + math.log(share))

    def moment(self, k: float) -> float:
        """Return the k-th central absolute moment of a coordinate."""
        require(k >= 0, "k", "a number of at least 0", k)
        if k == math.inf:
            return math.inf
        s, d, mean = self.spike_probability, self.d, self._share * self._entry
        parts = (
            (self._share, self._entry - mean),
            (s - self._share, mean),
            ((1 - s) / 2, abs(1 / math.sqrt(d) - mean)),
            ((1 - s) / 2, 1 / math.sqrt(d) + mean),
        )
        share = sum(weight * math.pow(size, k) for weight, size in parts)
        return exp_or_inf(k * math.log(self.distance)) * share

    def draw(self, rng: np.random.Generator) -> Self:
        """Return the law with a hidden word that is drawn from the prior."""
        word = np.zeros(self.d, dtype=np.int8)
        length, start = self._nonzero_entries, 0
        if length < self.d:  # The hidden word is one of d/length blocks, or one coordinate.
            start = length * int(rng.integers(self.d // length))
        signs = 2 * rng.integers(0, 2, size=length, dtype=np.int8) - 1
        word[start : start + length] = 1 if self.places == "corner" else signs
        return replace(self, pattern=tuple(word.tolist()))

    def fill(self, out: Vector, rng: np.random.Generator) -> None:
        """Overwrite the rows with points on the diagonal, and some, at random, with spikes."""
        signs = 2.0 * rng.integers(0, 2, size=(len(out), 1)) - 1.0
        out[:] = signs * (self.distance / math.sqrt(self.d))
        spiked = self._draw_spiked_indices(len(out), rng)
        if self.places != "axes":
            out[spiked] = self.distance * self._entry * self.median_direction
            return
        place = rng.integers(0, self.d, size=len(spiked)).astype(np.intp)
        out[spiked] = 0.0
        out[spiked, place] = self.distance * self.median_direction[place]
