r"""What every distribution offers, and what the ordinary ones share.

A distribution is the law of one record X in :math:`R^d`. It is scaled so that the central absolute
coordinate moment :math:`E|X_j - \mu_j|^p` of a stated order p is 1, the moment condition of
Kamath et al. (2022), Definition 2.11 with :math:`\gamma = 1`; and it knows its moments exactly, so
that bounds and errors are computed and never estimated.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.base.errors import require
from dpsco_core.data.blocks import Precision, draw_key, draw_rows
from dpsco_core.data.generated import GeneratedRows
from dpsco_core.data.rows import DenseRows
from dpsco_core.data.ziggurat import PART


class Distribution(ABC):
    """The law of one record: exact moments, and samples. A key of caches."""

    card: ClassVar[Card]
    # what drawing records takes; of a law that says nothing, a guess
    sampling: ClassVar[Coefficients] = Coefficients(fixed=1e5, per_row=0, per_element=10)

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

    @abstractmethod
    def moment(self, k: float) -> float:
        r"""Return :math:`E|X_j - \mu_j|^k` of a coordinate, exactly; k is real, at least 0.

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


@dataclass(frozen=True, kw_only=True)
class ScaledLaw(Distribution):
    r"""What the ordinary distributions share: :math:`X = \mu + s\,(Y - E Y)` with equal marginals.

    A subclass gives the law of Y. The scale s makes :math:`E|X_j - \mu_j|^p = 1`.
    """

    symmetric: ClassVar[bool] = False  # about the mean: sharpens `direction_factor`

    d: int = 20
    moment_order: float = 3.0  # of the moment that is 1; finite
    # Positive: a law with a finite tail index gets p + margin. The others ignore it.
    margin: float = 0.5
    # l2 norm of the even part of the mean, finite and not negative: offset/sqrt(d) in every
    # coordinate
    offset: float = 0.0
    peak: float = 0.0  # what the mean's first coordinate has beside it, finite and not negative

    def __post_init__(self) -> None:
        require_dimension_and_order(self.d, self.moment_order)
        require(0 < self.margin < math.inf, "margin", "finite and above 0", self.margin)
        lost = self.moment_order + self.margin == self.moment_order
        require(not lost, "margin", "large enough that p + margin exceeds p", self.margin)
        require(0 <= self.offset < math.inf, "offset", "finite and at least 0", self.offset)
        require(0 <= self.peak < math.inf, "peak", "finite and at least 0", self.peak)

    @property
    def tail_index(self) -> float:
        return self.moment_order + self.margin

    @property
    def scale(self) -> float:
        """The scale :math:`s = (E|Y_j - E Y_j|^p)^{-1/p}`."""
        return math.exp(-self._log_moment(self.moment_order) / self.moment_order)

    @property
    def mean(self) -> Vector:
        """The mean, shape (d,): offset/sqrt(d) in every coordinate, and the peak in the first."""
        mean = np.full(self.d, self.offset / math.sqrt(self.d))
        mean[0] += self.peak
        return mean

    @property
    def variance_trace(self) -> float:
        return self.d * self.moment(2)

    @property
    def directional_moment(self) -> float:
        return self.direction_factor(self.moment_order)

    def direction_factor(self, order: float) -> float:
        """Bound the root of a moment in any direction by so many times that of a coordinate.

        That of independent coordinates. The order is at least 2.
        """
        bound = symmetric_direction_bound if self.symmetric else centred_direction_bound
        return bound(self.d, order)

    def moment(self, k: float) -> float:
        require(k >= 0, "k", "a number of at least 0", k)
        if k >= self.tail_index:
            return math.inf
        log_unit = self._log_moment(self.moment_order) / self.moment_order
        return exp_or_inf(self._log_moment(k) - k * log_unit)

    def fill(self, out: Vector, rng: np.random.Generator) -> None:
        self._fill_centred(out, rng)
        if self.offset > 0:
            out += self.offset / math.sqrt(self.d)
        if self.peak > 0:
            out[:, 0] += self.peak

    def draw(self, rng: np.random.Generator) -> Self:
        return self

    @abstractmethod
    def _fill_centred(self, out: Vector, rng: np.random.Generator) -> None:
        """Overwrite rows with independent records of the law with mean 0."""

    @abstractmethod
    def _log_moment(self, k: float) -> float:
        """Return the log of E|Y_j - E Y_j|^k, for 0 <= k < tail_index."""


def require_dimension_and_order(d: int, moment_order: float, smallest_d: int = 1) -> None:
    """Check what every distribution is given first."""
    integer = isinstance(d, int) and d >= smallest_d
    require(integer, "d", f"an integer of at least {smallest_d}", d)
    require(2 <= moment_order < math.inf, "p", "a finite number of at least 2", moment_order)


def exp_or_inf(exponent: float) -> float:
    """Return exp(exponent), infinite where it is above the range of a float."""
    return math.exp(exponent) if exponent < 709.7 else math.inf


def parts(out: Vector) -> Iterator[Vector]:
    """Yield the entries of a contiguous array in order, as views that fit the cache."""
    entries = out.reshape(-1)
    for low in range(0, entries.size, PART):
        yield entries[low : low + PART]


def symmetric_direction_bound(d: int, order: float) -> float:
    r"""Bound the p-th moment, as a root, of a direction of d independent symmetric coordinates.

    .. math:: \sup_{\|u\|_2=1} \Big(E\big|\textstyle\sum_j u_j X_j\big|^p\Big)^{1/p}
        \le \min\Big(\sqrt d,\ \sqrt2\,\big(\Gamma(\tfrac{p+1}2)/\sqrt\pi\big)^{1/p}\Big),
        \qquad E|X_j|^p \le 1,\ p \ge 2.

    The second value is :math:`\|Z\|_p` of a standard normal Z; it is 1 at p = 2.

    Examples
    --------
    >>> symmetric_direction_bound(20, 2.0)
    1.0
    >>> round(symmetric_direction_bound(20, 4.0) ** 4, 12)
    3.0
    """
    # sqrt(d): Minkowski, and the l1 norm of a unit vector is at most sqrt(d).
    #
    # The other: X_j has the law of e_j |X_j| with independent signs e_j. Given the |X_j|,
    # Khintchine's inequality with its sharp constant (Haagerup 1981, p >= 2) gives
    #     E_e |sum_j e_j u_j |X_j||^p <= ||Z||_p^p (sum_j u_j^2 X_j^2)^(p/2),
    # and since the u_j^2 are weights that sum to 1 and t -> t^(p/2) is convex,
    #     (sum_j u_j^2 X_j^2)^(p/2) <= sum_j u_j^2 |X_j|^p,
    # whose expectation is at most 1.
    return 1.0 if order == 2 else min(math.sqrt(d), normal_norm(order))


def centred_direction_bound(d: int, order: float) -> float:
    r"""Bound the p-th moment, as a root, of a direction of d independent centred coordinates.

    .. math:: \sup_{\|u\|_2=1} \Big(E\big|\textstyle\sum_j u_j X_j\big|^p\Big)^{1/p}
        \le \min\big(\sqrt d,\ \sqrt{p-1}\big), \qquad E X_j = 0,\ E|X_j|^p \le 1,\ p \ge 2.

    The second value is Rio's inequality (2009, Theorem 2.1). Symmetrisation would give
    :math:`2\|Z\|_p`, which is larger for every p.

    Examples
    --------
    >>> centred_direction_bound(20, 2.0), centred_direction_bound(20, 5.0)
    (1.0, 2.0)
    """
    # Let A and B have E[B | A] = 0, and g(t) = E|A + tB|^p, f = g^(2/p) = ||A + tB||_p^2. Then
    # f'(0) = 0, and since 2/p - 1 <= 0, Hoelder's inequality gives
    #     f'' <= (2/p) g^(2/p-1) p(p-1) E|A + tB|^(p-2) B^2 <= 2 (p-1) ||B||_p^2,
    # hence ||A + B||_p^2 <= ||A||_p^2 + (p-1) ||B||_p^2. Add the u_j X_j one at a time:
    #     ||sum_j u_j X_j||_p^2 <= u_1^2 + (p-1) sum_{j>1} u_j^2 <= p-1.
    return min(math.sqrt(d), math.sqrt(order - 1))


def normal_norm(order: float) -> float:
    r"""Return :math:`\|Z\|_k = (E|Z|^k)^{1/k}` of a standard normal Z, for k > 0."""
    return math.exp(log_normal_moment(order) / order)


def log_normal_moment(k: float) -> float:
    r"""Return :math:`\log E|Z|^k = \log(2^{k/2}\,\Gamma(\frac{k+1}2)/\sqrt\pi)`, Z normal."""
    return 0.5 * k * math.log(2) + math.lgamma(0.5 * (k + 1)) - math.lgamma(0.5)
