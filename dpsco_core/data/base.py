r"""The interface of a distribution, and the base class of the ordinary ones.

A distribution is the law of one record X in :math:`R^d`. It is scaled so that the central absolute
coordinate moment :math:`E|X_j - \mu_j|^p` of a stated order p is 1, the moment condition of
Kamath et al. (2022), Definition 2.11 with :math:`\gamma = 1`. It knows its moments exactly, so that
bounds and errors are computed rather than estimated.
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
from dpsco_core.data.ranges import (
    MARGIN_MIN,
    exp_or_inf,
    require_below_two,
    require_dimension_and_order,
)
from dpsco_core.data.rows import DenseRows
from dpsco_core.data.scales import DECAY_MAX, falling_scales
from dpsco_core.data.shifts import Shifts
from dpsco_core.data.two_point import TwoPointLaw
from dpsco_core.data.univariate import Univariate

Unit = Literal["moment", "variance"]  # the quantity of a coordinate that is scaled to 1
# the quantity that a hard instance hides from the algorithm
Hidden = Literal["mean", "parameter", "labels", "classes", "median"]

# The questions about a law that it may leave unanswered; see `overrides_answer`.
ANSWERS = ("univariate", "two_point", "inverse_norm", "shifts", "draw_means")
# A class that overrides one of these methods draws different records from its parent.
DRAWING_METHODS = ("fill", "_fill_centred", "moment", "_log_moment")


class Distribution(ABC):
    """The law of one record: its exact moments, and its samples. Laws are hashable keys of caches.

    A law also answers what problems ask about their records or features. The answers of this class
    hold for uncorrelated coordinates of equal variance and unbounded records; other laws override
    them. A law may leave the questions in `ANSWERS` open.
    """

    card: ClassVar[Card]
    # The time to draw records; the default is a guess.
    sampling: ClassVar[Coefficients] = Coefficients(fixed=1e5, per_row=0, per_element=10)
    # Whether the law hides a quantity from the algorithm, which `draw` draws from a prior.
    has_prior: ClassVar[bool] = False
    hides: ClassVar[Hidden] = "mean"  # the quantity that the prior hides
    # whether the tail index is p + margin; other laws ignore the margin
    has_margin: ClassVar[bool] = True
    independent: ClassVar[bool] = True  # whether the coordinates are independent
    smallest_d: ClassVar[int] = 1  # the smallest dimension for which the law is defined

    d: int  # dimension, at least 1
    moment_order: float  # the order p > 1 of the coordinate moment that is at most 1

    @property
    @abstractmethod
    def tail_index(self) -> float:
        """The tail index: moments of every smaller order exist. Infinite if all moments do."""

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
        """What a record reveals of the mean if the law's shape is known; None if left open.

        Floors, the lower bounds for shifts of this law, are proven only where it is not None.
        """
        return None

    @property
    def univariate(self) -> Univariate | None:
        """The law of a coordinate before centring; None for a class that does not state one."""
        return None

    @property
    def two_point(self) -> TwoPointLaw | None:
        """The law itself if a record is 0 or one fixed vector; otherwise None."""
        return None

    @property
    def inverse_norm(self) -> float | None:
        r"""The mean :math:`E\|X-\mu\|^{-1}` of a spherical law with d >= 2; otherwise None."""
        return None

    @property
    @abstractmethod
    def noise_law(self) -> "Distribution":
        """The law of the noise in a regression on such features, of dimension 1 and mean 0."""

    @property
    def centred(self) -> "Distribution":
        """The law shifted to mean 0, or the law itself if it cannot be shifted."""
        return self

    def draw_means(self, n: int, m: int, rng: np.random.Generator) -> Vector | None:
        """Return n means of m independent records each, shape (n, d); None if left open."""
        return None

    # -- Moments for certificates ------------------------------------------------------------

    @property
    def scales(self) -> Vector:
        """The scale of each coordinate, shape (d,): decreasing, with squares of mean 1."""
        return falling_scales(self.d, 0.0)

    @property
    def lead(self) -> float:
        """The largest of the scales of the coordinates, which is the first one."""
        return float(self.scales[0])

    @property
    def mean_norm(self) -> float:
        """The l2 norm of the mean; the largest one if the law has a prior."""
        return float(np.linalg.norm(self.mean))

    @property
    def class_moment(self) -> float:
        r"""A bound on :math:`\max_j E|X_j-\mu_j|^p` over the law's class.

        It is the unit of lower bounds.
        """
        return self.moment(self.moment_order)

    @property
    def unit_moment(self) -> float:
        r"""The central p-th moment that defines the law's class.

        For coordinates of equal scales it is 1, unless the variance is scaled to 1 instead.
        """
        return 1.0

    @property
    def moment_root(self) -> float:
        """The p-th root of `unit_moment`: the unit of the law's class."""
        return math.pow(self.unit_moment, 1 / self.moment_order)

    @property
    def record_norm(self) -> float:
        """The largest l2 norm of a record."""
        return math.inf

    @property
    def largest_second_moment(self) -> float:
        r"""The largest eigenvalue of :math:`E XX^\top`, exactly.

        It is a bound if the scales of coordinates are unequal and the mean is not 0.
        """
        return self.moment(2) + self.mean_norm**2

    @property
    def smallest_second_moment(self) -> float:
        r"""The smallest eigenvalue of :math:`E XX^\top`, exactly."""
        return self.largest_second_moment if self.d == 1 else self.moment(2)

    @property
    def second_moment_trace(self) -> float:
        r"""The mean squared l2 norm of a record, :math:`E\|X\|_2^2`, exactly."""
        return self.variance_trace + self.mean_norm**2

    def record_moment(self, k: float) -> float:
        r"""Bound :math:`(E\|X\|_2^k)^{1/k}`, for 1 <= k <= p; exact at k = 2.

        The squared distance to the mean is a sum, whose norm in :math:`L_{k/2}` is at most
        :math:`\sum_j(E|X_j-\mu_j|^k)^{2/k}` by Minkowski's inequality, for any dependence between
        coordinates; the same inequality adds the norm of the mean. For k < 2 the l2 norm is at most
        the l_k norm, whose k-th moment is a sum over coordinates.
        """
        if k == 2:
            return math.sqrt(self.second_moment_trace)
        largest = math.pow(self.moment(k), 1 / k) / self.lead
        norms = math.sqrt(self.d) if k > 2 else math.pow(self.d, 1 / k)
        return self.mean_norm + norms * largest

    @property
    def fourth_moment_trace(self) -> float:
        r"""The supremum :math:`\sup_{\|v\|=1} E\langle X,v\rangle^2\|X\|^2` at mean 0, exactly.

        For independent coordinates with moments m2 and m4 every v gives :math:`m_4+(d-1)m_2^2`,
        since terms with an odd power vanish. If the scales differ, the largest one is the worst. It
        is infinite if there is no fourth moment.
        """
        return self.moment(4) + (self.d / self.lead**2 - 1) * self.moment(2) ** 2

    def squared_margin(self, v: Vector) -> float:
        r"""Return the mean squared product :math:`E\langle X,v\rangle^2` at mean 0, exactly."""
        return self.moment(2) * float(v @ v)

    def central_direction(self, k: float) -> float:
        r"""Bound :math:`\sup_u (E|\langle u, X-\mu\rangle|^k)^{1/k}`, for 0 < k <= p.

        An order k below 2 gets the bound for order 2, which is exact, or for p if p is below 2.
        """
        order = max(k, min(2.0, self.moment_order))
        return math.pow(self.moment(order), 1 / order) * self.direction_factor(order)

    def direction_factor(self, order: float) -> float:
        r"""Bound :math:`\sup_u\|\langle u,X-\mu\rangle\|_k/\|X_j-\mu_j\|_k`, k = `order` > 1.

        u is a unit vector, and :math:`\|Y\|_k=(E|Y|^k)^{1/k}`. The bound of this class holds for
        independent coordinates.
        """
        return centred_direction_bound(self.d, order)

    def raw_direction(self, k: float) -> float:
        r"""Bound :math:`\sup_u (E|\langle u, X\rangle|^k)^{1/k}`, for 0 < k <= p.

        Minkowski's inequality adds the norm of the mean to the central bound.
        """
        return self.mean_norm + self.central_direction(k)

    def raw_coordinate(self, k: float) -> float:
        r"""Return the largest k-th moment of a coordinate, :math:`\max_j E|X_j|^k`, at mean 0."""
        return self.moment(k)

    @abstractmethod
    def moment(self, k: float) -> float:
        r"""Return :math:`E|X_j - \mu_j|^k` of a coordinate, exactly; k is real, at least 0.

        If the scales of coordinates differ, it is the moment of the largest. It is infinite for
        k >= `tail_index`, and if it exceeds the range of a float.

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
        """Return the same rows as `sample`, to the last bit, drawn as they are read."""
        return GeneratedRows.from_key(self, draw_key(rng), n)

    def __init_subclass__(cls) -> None:
        """Drop the inherited answers to `ANSWERS` where a subclass changes the law of records."""
        super().__init_subclass__()
        own_attributes = vars(cls)
        if any(name in own_attributes for name in DRAWING_METHODS):
            for name in ANSWERS:
                if name not in own_attributes:
                    setattr(cls, name, getattr(Distribution, name))


def overrides_answer(family: type[Distribution], answer: str) -> bool:
    """Return whether a class of laws answers one of the questions in `ANSWERS`."""
    return getattr(family, answer) is not getattr(Distribution, answer)


@dataclass(frozen=True, kw_only=True)
class ScaledLaw(Distribution):
    r"""The base of the ordinary distributions: :math:`X = \mu + s\,(Y - E Y)`, equal marginals.

    With a `decay` a > 0 coordinate j is multiplied by :math:`c\,j^{-a}`, where
    :math:`c = (d/\sum_i i^{-2a})^{1/2}`. This keeps the total second moment, and with it the error
    of the plain mean, and also the sum of the coordinates' squared moment roots.

    A subclass gives the law of Y. The scale s makes :math:`E|X_j - \mu_j|^p`, or the variance,
    equal to 1.
    """

    # Whether the law is symmetric about its mean, which sharpens `direction_factor`.
    symmetric: ClassVar[bool] = False

    d: int = 20
    moment_order: float = 3.0  # the finite order p of the coordinate moment that is scaled to 1
    # The excess of the tail index over p, positive. Laws without a finite tail index ignore it.
    margin: float = 0.5
    unit: Unit = "moment"  # whether the p-th moment or the variance of a coordinate is 1
    # The l2 norm of the even part of the mean, which is offset/sqrt(d) in every coordinate; finite,
    # at least 0.
    offset: float = 0.0
    peak: float = 0.0  # the addition to the first coordinate of the mean, finite and at least 0
    # the exponent a of the decrease of the scales, from 0 (equal scales) to `DECAY_MAX`
    decay: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a dimension, order, margin, offset, peak or decay outside its range."""
        require_dimension_and_order(self.card, self.d, self.moment_order)
        require(0 < self.margin < math.inf, "margin", "finite and above 0", self.margin)
        # Laws without a finite tail index ignore the margin.
        margin = self.margin if self.has_margin else MARGIN_MIN
        require_below_two(self.moment_order, margin, self.unit)
        is_lost = self.moment_order + margin == self.moment_order
        require(not is_lost, "margin", "large enough that p + margin exceeds p", self.margin)
        require(0 <= self.offset < math.inf, "offset", "finite and at least 0", self.offset)
        require(0 <= self.peak < math.inf, "peak", "finite and at least 0", self.peak)
        require(0 <= self.decay <= DECAY_MAX, "decay", f"from 0 to {DECAY_MAX:g}", self.decay)

    @property
    def tail_index(self) -> float:
        """The tail index: the order of the bounded moments plus the margin."""
        return self.moment_order + self.margin

    @property
    def scale(self) -> float:
        """The scale :math:`s = (E|Y_j - E Y_j|^p)^{-1/p}`, with p = 2 if the variance is 1."""
        return math.exp(-self._log_unit)

    @property
    def _log_unit(self) -> float:
        r"""The logarithm of :math:`1/s=(E|Y_j-EY_j|^p)^{1/p}`, with p = 2 if the variance is 1."""
        order = self.moment_order if self.unit == "moment" else 2.0
        return self._log_moment(order) / order

    @property
    def unit_moment(self) -> float:
        """The p-th central moment of the largest coordinate."""
        if self.unit == "moment":
            return exp_or_inf(self.moment_order * math.log(self.lead))
        return self.moment(self.moment_order)

    @property
    def scales(self) -> Vector:
        """The scales of the coordinates, the largest first, shape (d,)."""
        return falling_scales(self.d, self.decay)

    @property
    def mean(self) -> Vector:
        """The mean, shape (d,): offset/sqrt(d) in every coordinate, plus the peak in the first."""
        mean = np.full(self.d, self.offset / math.sqrt(self.d))
        mean[0] += self.peak
        return mean

    @property
    def variance_trace(self) -> float:
        """The trace of the covariance."""
        return self.d * (self.moment(2) / self.lead**2)

    @property
    def smallest_second_moment(self) -> float:
        """The smallest eigenvalue of the second moment matrix."""
        if self.decay == 0:
            return super().smallest_second_moment
        return self.moment(2) * (float(self.scales[-1]) / self.lead) ** 2

    def squared_margin(self, v: Vector) -> float:
        """Return the mean squared product of a record with v, at mean 0."""
        return super().squared_margin(v if self.decay == 0 else v * (self.scales / self.lead))

    @property
    def directional_moment(self) -> float:
        """A bound on the root of the p-th central moment in any direction."""
        return self.moment_root * self.direction_factor(self.moment_order)

    def direction_factor(self, order: float) -> float:
        """Bound the ratio of directional to coordinate moments, sharper for symmetric laws."""
        bound = symmetric_direction_bound if self.symmetric else centred_direction_bound
        return bound(self.d, order)

    def moment(self, k: float) -> float:
        """Return the k-th central absolute moment of the largest coordinate.

        It is infinite from the tail index on.
        """
        require(k >= 0, "k", "a number of at least 0", k)
        if k >= self.tail_index:
            return math.inf
        return exp_or_inf(self._log_moment(k) - k * self._log_unit + k * math.log(self.lead))

    def fill(self, out: Vector, rng: np.random.Generator) -> None:
        """Overwrite the rows of `out`, shape (n, d), with independent records."""
        self._fill_centred(out, rng)
        if self.decay > 0:
            out *= self.scales
        if self.offset > 0:
            out += self.offset / math.sqrt(self.d)
        if self.peak > 0:
            out[:, 0] += self.peak

    def draw(self, rng: np.random.Generator) -> Self:
        """Return the law itself, which has no prior."""
        return self

    @property
    def noise_law(self) -> Self:
        """The law of one coordinate at mean 0, which is that of the noise in a regression."""
        return replace(self, d=1, offset=0.0, peak=0.0, decay=0.0)

    @property
    def centred(self) -> Self:
        """The law shifted to mean 0."""
        return replace(self, offset=0.0, peak=0.0)

    @abstractmethod
    def _fill_centred(self, out: Vector, rng: np.random.Generator) -> None:
        """Overwrite rows with independent records of the law with mean 0 and equal scales."""

    @abstractmethod
    def _log_moment(self, k: float) -> float:
        """Return the log of E|Y_j - E Y_j|^k, for 0 <= k < tail_index."""
