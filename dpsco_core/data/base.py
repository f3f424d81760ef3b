r"""What every distribution offers, and what the ordinary ones share.

A distribution is the law of one record X in :math:`R^d`. It is scaled so that the central absolute
coordinate moment :math:`E|X_j - \mu_j|^p` of a stated order p is 1, the moment condition of
Kamath et al. (2022), Definition 2.11 with :math:`\gamma = 1`; and it knows its moments exactly, so
that bounds and errors are computed and never estimated.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.base.errors import require
from dpsco_core.data.blocks import Precision, draw_key, draw_rows
from dpsco_core.data.directions import centred_direction_bound, symmetric_direction_bound
from dpsco_core.data.generated import GeneratedRows
from dpsco_core.data.ranges import exp_or_inf, require_dimension_and_order
from dpsco_core.data.rows import DenseRows
from dpsco_core.data.scales import DECAY_MAX, falling_scales
from dpsco_core.data.shifts import Shifts
from dpsco_core.data.two_point import TwoPointLaw
from dpsco_core.data.univariate import Univariate

Unit = Literal["moment", "variance"]  # what of a coordinate is scaled to 1
Hidden = Literal["mean", "parameter", "labels", "classes", "median"]  # what a prior hides

# What a law may say of its records, and need not: see `gives`.
ANSWERS = ("univariate", "two_point", "inverse_norm", "shifts", "draw_means")
# Whoever defines one of these draws other records than the law that is extended.
DRAWS = ("fill", "_fill_centred", "moment", "_log_moment")


class Distribution(ABC):
    """The law of one record: exact moments, and samples. A key of caches.

    It also answers what problems ask of the law of their records or features. The answers here are
    those of uncorrelated coordinates of equal variance, whose records have no largest norm; a law
    of another kind answers for itself. `ANSWERS` are the questions that a law may leave open.
    """

    card: ClassVar[Card]
    # what drawing records takes; of a law that says nothing, a guess
    sampling: ClassVar[Coefficients] = Coefficients(fixed=1e5, per_row=0, per_element=10)
    # whether its mean is hidden: `draw` takes a member of a prior
    has_prior: ClassVar[bool] = False
    hides: ClassVar[Hidden] = "mean"  # what is hidden
    # whether its tail index is p + margin, so that the margin means anything
    has_margin: ClassVar[bool] = True
    independent: ClassVar[bool] = True  # whether its coordinates are
    smallest_d: ClassVar[int] = 1  # the least dimension that it has

    d: int  # dimension, at least 1
    moment_order: float  # the order p, at least 2, of the coordinate moment that is at most 1

    @property
    @abstractmethod
    def tail_index(self) -> float:
        """Moments of order below this exist; infinite if all do."""

    @property
    @abstractmethod
    def mean(self) -> Vector:
        """The mean, shape (d,)."""

    @property
    @abstractmethod
    def variance_trace(self) -> float:
        """The trace of Cov(X), exactly."""

    @property
    @abstractmethod
    def directional_moment(self) -> float:
        r"""A bound on :math:`\sup_u (E|\langle u, X-\mu\rangle|^p)^{1/p}` over unit vectors u."""

    @property
    def shifts(self) -> Shifts | None:
        """What a record tells of the mean to whoever knows the law's shape; None: nothing is said.

        A law that gives it has floors: lower bounds for its own shifts.
        """
        return None

    @property
    def univariate(self) -> Univariate | None:
        """The law of a coordinate before it is centred, in closed form; None: nothing is said."""
        return None

    @property
    def two_point(self) -> TwoPointLaw | None:
        """The law itself where a record is 0 or one other; None of any other law."""
        return None

    @property
    def inverse_norm(self) -> float | None:
        r""":math:`E\|X-\mu\|^{-1}` of a spherical law with d >= 2; None of any other law."""
        return None

    @property
    @abstractmethod
    def noise_law(self) -> "Distribution":
        """The law of the noise in a regression on such features: of dimension 1 and mean 0."""

    @property
    def centred(self) -> "Distribution":
        """The law moved to mean 0, where it can be moved; otherwise itself."""
        return self

    def draw_means(self, n: int, m: int, rng: np.random.Generator) -> Vector | None:
        """Return n means of m independent records each, shape (n, d); None: their law is open."""
        return None

    # -- moments that certificates are made of -----------------------------------------------

    @property
    def scales(self) -> Vector:
        """What multiplies each coordinate, shape (d,): falling, and the squares have mean 1."""
        return falling_scales(self.d, 0.0)

    @property
    def lead(self) -> float:
        """The largest scale of a coordinate."""
        return float(self.scales[0])

    @property
    def mean_norm(self) -> float:
        """The l2 norm of the mean; of a law with a prior, the largest."""
        return float(np.linalg.norm(self.mean))

    @property
    def class_moment(self) -> float:
        r"""A bound on :math:`\max_j E|X_j-\mu_j|^p` by what the law's class allows.

        Lower bounds take their unit from it.
        """
        return self.moment(self.moment_order)

    @property
    def unit_moment(self) -> float:
        r"""The central p-th moment that the law's class is stated with; not 1 at variance 1."""
        return 1.0

    @property
    def moment_root(self) -> float:
        """The p-th root of `unit_moment`: the unit in which such a class is measured."""
        return math.pow(self.unit_moment, 1 / self.moment_order)

    @property
    def record_norm(self) -> float:
        """The largest l2 norm of a record."""
        return math.inf

    @property
    def largest_second_moment(self) -> float:
        r"""The largest eigenvalue of :math:`E XX^\top`, exactly.

        Of coordinates with unequal scales and a mean that is not 0, a bound on it.
        """
        return self.moment(2) + self.mean_norm**2

    @property
    def smallest_second_moment(self) -> float:
        r"""The smallest eigenvalue of :math:`E XX^\top`, exactly."""
        return self.largest_second_moment if self.d == 1 else self.moment(2)

    @property
    def second_moment_trace(self) -> float:
        r""":math:`E\|X\|_2^2`, exactly."""
        return self.variance_trace + self.mean_norm**2

    def record_moment(self, k: float) -> float:
        r"""Bound :math:`(E\|X\|_2^k)^{1/k}`, for 2 <= k <= p; exact at k = 2.

        The squared distance to the mean is a sum, whose norm in :math:`L_{k/2}` is at most
        :math:`\sum_j(E|X_j-\mu_j|^k)^{2/k}` by Minkowski's inequality, whatever the dependence;
        that inequality adds the norm of the mean too.
        """
        if k == 2:
            return math.sqrt(self.second_moment_trace)
        largest = math.pow(self.moment(k), 1 / k) / self.lead
        return self.mean_norm + math.sqrt(self.d) * largest

    @property
    def fourth_moment_trace(self) -> float:
        r""":math:`\sup_{\|v\|=1} E\langle X,v\rangle^2\|X\|^2` at mean 0, exactly.

        For independent coordinates with moments m2 and m4 every v gives :math:`m_4+(d-1)m_2^2`, as
        terms with an odd power of one vanish. Where their scales differ, the largest one is the
        worst. Infinite where there is no fourth moment.
        """
        return self.moment(4) + (self.d / self.lead**2 - 1) * self.moment(2) ** 2

    def squared_margin(self, v: Vector) -> float:
        r"""Return :math:`E\langle X,v\rangle^2` at mean 0, exactly."""
        return self.moment(2) * float(v @ v)

    def central_direction(self, k: float) -> float:
        r"""Bound :math:`\sup_u (E|\langle u, X-\mu\rangle|^k)^{1/k}`, for 0 < k <= p.

        Below order 2 by the value at 2, which is exact.
        """
        order = max(k, 2.0)
        return math.pow(self.moment(order), 1 / order) * self.direction_factor(order)

    def direction_factor(self, order: float) -> float:
        """Bound the root of a moment in any direction by so many times that of a coordinate.

        That of independent coordinates with mean 0. The order is at least 2.
        """
        return centred_direction_bound(self.d, order)

    def raw_direction(self, k: float) -> float:
        r"""Bound :math:`\sup_u (E|\langle u, X\rangle|^k)^{1/k}`, for 0 < k <= p.

        Minkowski's inequality adds the norm of the mean to the central bound.
        """
        return self.mean_norm + self.central_direction(k)

    def raw_coordinate(self, k: float) -> float:
        r"""Return :math:`\max_j E|X_j|^k` at mean 0."""
        return self.moment(k)

    @abstractmethod
    def moment(self, k: float) -> float:
        r"""Return :math:`E|X_j - \mu_j|^k` of a coordinate, exactly; k is real, at least 0.

        Of coordinates with unequal scales, that of the largest.

        Infinite for k >= `tail_index`, and where it is above the range of a float.

        Raises `InvalidInput` if k is negative or NaN.
        """

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Self:
        """Return one member of the prior; a distribution without a prior returns itself."""

    @abstractmethod
    def fill(self, out: Vector, rng: np.random.Generator) -> None:
        """Overwrite the rows of a contiguous (rows, d) array with independent records.

        The generator must give words of 64 bits: see `blocks.random_words`.
        """

    def sample(
        self,
        n: int,
        rng: np.random.Generator,
        *,
        dtype: Precision = np.float64,
        workers: int = 1,
    ) -> DenseRows:
        """Return n independent records; n is a positive integer. See `draw_rows`."""
        return DenseRows(draw_rows(self, n, draw_key(rng), dtype=dtype, workers=workers))

    def stream(self, n: int, rng: np.random.Generator) -> GeneratedRows:
        """Return the same rows as `sample`, to the last bit, drawn when they are read."""
        return GeneratedRows.of(self, draw_key(rng), n)

    def __init_subclass__(cls) -> None:
        """Leave open what a law is not asked again that draws other records than its parent."""
        super().__init_subclass__()
        own = vars(cls)
        if any(name in own for name in DRAWS):
            for name in ANSWERS:
                if name not in own:
                    setattr(cls, name, getattr(Distribution, name))


def gives(family: type[Distribution], answer: str) -> bool:
    """Whether a class of laws answers one of `ANSWERS`."""
    return getattr(family, answer) is not getattr(Distribution, answer)


@dataclass(frozen=True, kw_only=True)
class ScaledLaw(Distribution):
    r"""What the ordinary distributions share: :math:`X = \mu + s\,(Y - E Y)` with equal marginals.

    With a `decay` a > 0 coordinate j is multiplied by :math:`c\,j^{-a}`, where
    :math:`c = (d/\sum_i i^{-2a})^{1/2}`: the total second moment, and with it the error of the
    plain mean, is that at a = 0, and so is the sum of the coordinates' squared moment roots.

    A subclass gives the law of Y. The scale s makes :math:`E|X_j - \mu_j|^p = 1`, or the variance
    1.
    """

    symmetric: ClassVar[bool] = False  # about the mean: sharpens `direction_factor`

    d: int = 20
    moment_order: float = 3.0  # the order of the moment that is 1; finite
    # Positive: a law with a finite tail index gets p + margin. The others ignore it.
    margin: float = 0.5
    unit: Unit = "moment"  # what is 1: the p-th moment of a coordinate, or its variance
    # l2 norm of the even part of the mean, finite and not negative: offset/sqrt(d) in every
    # coordinate
    offset: float = 0.0
    peak: float = 0.0  # what the mean's first coordinate has beside it, finite and not negative
    # a, from 0 to `DECAY_MAX`: how fast the scales of the coordinates fall; 0 leaves them equal
    decay: float = 0.0

    def __post_init__(self) -> None:
        require_dimension_and_order(self.d, self.moment_order)
        require(0 < self.margin < math.inf, "margin", "finite and above 0", self.margin)
        lost = self.moment_order + self.margin == self.moment_order
        require(not lost, "margin", "large enough that p + margin exceeds p", self.margin)
        require(0 <= self.offset < math.inf, "offset", "finite and at least 0", self.offset)
        require(0 <= self.peak < math.inf, "peak", "finite and at least 0", self.peak)
        require(0 <= self.decay <= DECAY_MAX, "decay", f"from 0 to {DECAY_MAX:g}", self.decay)

    @property
    def tail_index(self) -> float:
        return self.moment_order + self.margin

    @property
    def scale(self) -> float:
        """The scale :math:`s = (E|Y_j - E Y_j|^p)^{-1/p}`, with 2 for p where the variance is 1."""
        return math.exp(-self._log_unit)

    @property
    def _log_unit(self) -> float:
        order = self.moment_order if self.unit == "moment" else 2.0
        return self._log_moment(order) / order

    @property
    def unit_moment(self) -> float:
        if self.unit == "moment":
            return exp_or_inf(self.moment_order * math.log(self.lead))
        return self.moment(self.moment_order)

    @property
    def scales(self) -> Vector:
        return falling_scales(self.d, self.decay)

    @property
    def mean(self) -> Vector:
        """The mean, shape (d,): offset/sqrt(d) in every coordinate, and the peak in the first."""
        mean = np.full(self.d, self.offset / math.sqrt(self.d))
        mean[0] += self.peak
        return mean

    @property
    def variance_trace(self) -> float:
        return self.d * (self.moment(2) / self.lead**2)

    @property
    def smallest_second_moment(self) -> float:
        if self.decay == 0:
            return super().smallest_second_moment
        return self.moment(2) * (float(self.scales[-1]) / self.lead) ** 2

    def squared_margin(self, v: Vector) -> float:
        return super().squared_margin(v if self.decay == 0 else v * (self.scales / self.lead))

    @property
    def directional_moment(self) -> float:
        return self.moment_root * self.direction_factor(self.moment_order)

    def direction_factor(self, order: float) -> float:
        """Bound a moment in any direction; sharper where coordinates are symmetric."""
        bound = symmetric_direction_bound if self.symmetric else centred_direction_bound
        return bound(self.d, order)

    def moment(self, k: float) -> float:
        require(k >= 0, "k", "a number of at least 0", k)
        if k >= self.tail_index:
            return math.inf
        return exp_or_inf(self._log_moment(k) - k * self._log_unit + k * math.log(self.lead))

    def fill(self, out: Vector, rng: np.random.Generator) -> None:
        self._fill_centred(out, rng)
        if self.decay > 0:
            out *= self.scales
        if self.offset > 0:
            out += self.offset / math.sqrt(self.d)
        if self.peak > 0:
            out[:, 0] += self.peak

    def draw(self, rng: np.random.Generator) -> Self:
        return self

    @property
    def noise_law(self) -> Self:
        return replace(self, d=1, offset=0.0, peak=0.0, decay=0.0)

    @property
    def centred(self) -> Self:
        return replace(self, offset=0.0, peak=0.0)

    @abstractmethod
    def _fill_centred(self, out: Vector, rng: np.random.Generator) -> None:
        """Overwrite rows with independent records of the law with mean 0 and equal scales."""

    @abstractmethod
    def _log_moment(self, k: float) -> float:
        """Return the log of E|Y_j - E Y_j|^k, for 0 <= k < tail_index."""
