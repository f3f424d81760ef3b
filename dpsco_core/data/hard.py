r"""The two-point instances of the lower bounds, as distributions that can be selected.

With probability q, the spike probability, a record is :math:`q^{-1/p}\nu`; otherwise it is 0. The
pattern :math:`\nu` is unknown to the algorithm and drawn from a prior. Lower bounds hold on average
over the prior, so a measured error is compared with them only after `draw`.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import KAMATH_2022, Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.base.errors import require
from dpsco_core.data.base import Distribution
from dpsco_core.data.gaussian import Gaussian
from dpsco_core.data.ranges import exp_or_inf, require_dimension_and_order
from dpsco_core.data.spike_scale import spike_shrink


@dataclass(frozen=True, kw_only=True)
class HardInstance(Distribution):
    r"""A law with a prior: the base of the instances of the lower bounds.

    Unless a subclass says otherwise, a record is 0 save with probability q, `spike_probability`,
    when its norm is :math:`q^{-1/p}\sqrt w` times `shrink`, where w is the `weight`.

    Raises `InvalidInput` if a value is outside its range.
    """

    d: int = 20
    moment_order: float = 3.0
    spike_probability: float  # the probability q, in (0, 1]

    has_prior = True
    has_margin = independent = False
    tail_index = math.inf  # The records are bounded, so all moments exist.

    def __post_init__(self) -> None:
        """Refuse a dimension, an order or a spike probability outside its range."""
        require_dimension_and_order(self.card, self.d, self.moment_order, self.smallest_d)
        q = self.spike_probability
        require(0 < q <= 1, "spike_probability", "in (0, 1]", q)

    @property
    @abstractmethod
    def weight(self) -> int:
        """The number of nonzero coordinates of a spiked record."""

    @property
    @abstractmethod
    def mean_norm(self) -> float:
        """The largest l2 norm of a mean of the prior."""

    @property
    def shrink(self) -> float:
        """The factor that keeps a coordinate's p-th moment at most 1; below 1 only for p < 2."""
        return float(spike_shrink(np.asarray(self.spike_probability), self.moment_order))

    @property
    def class_moment(self) -> float:
        """The bound 1 on a coordinate's central p-th moment; for p >= 2 it is the raw moment.

        The central moment would be a wrong unit: it is smaller, and 0 at q = 1, where the mean is
        as well hidden as for smaller q.
        """
        return 1.0

    @property
    def outermost_means(self) -> Vector | None:
        """Means, shape (k, d), that are in a set only if every mean of the prior is.

        This holds for simplices, and for sets that stay the same when a coordinate changes sign.
        None if no such means are known.
        """
        return None

    @property
    def noise_law(self) -> Gaussian:
        """The law of the noise in a regression on such features: normal."""
        return Gaussian(d=1, moment_order=self.moment_order)

    @property
    def record_norm(self) -> float:
        r"""The norm of every nonzero record: :math:`q^{-1/p}\sqrt w` times `shrink`."""
        return self._spike_size * math.sqrt(self.weight)

    @property
    def second_moment_trace(self) -> float:
        """The mean squared l2 norm of a record."""
        return self.spike_probability * self.record_norm**2

    def record_moment(self, k: float) -> float:
        r"""Return :math:`(E\|X\|_2^k)^{1/k}`, exactly: all nonzero records have the same norm."""
        return math.pow(self.spike_probability, 1 / k) * self.record_norm

    def central_direction(self, k: float) -> float:
        """Bound the root of the k-th central moment in any direction; for k < 2, of the second."""
        return self._moment_of_all_coordinates(max(k, 2.0))

    def _moment_of_all_coordinates(self, order: float) -> float:
        """Bound the root of the central moment in any direction, by Jensen's inequality.

        The bound is sqrt(weight) times the root of the moment of a coordinate.
        """
        return math.sqrt(self.weight) * math.pow(self.moment(order), 1 / order)

    def raw_direction(self, k: float) -> float:
        r"""Bound :math:`\sup_u(E|\langle u,X\rangle|^k)^{1/k}` by :math:`q^{1/k}\max\|X\|`.

        It is exact if all nonzero records are multiples of one vector.
        """
        return math.pow(self.spike_probability, 1 / k) * self.record_norm

    def raw_coordinate(self, k: float) -> float:
        r"""Return :math:`\max_jE|X_j|^k`: :math:`q^{1-k/p}` times the k-th power of `shrink`."""
        raw = math.pow(self.spike_probability, 1 - k / self.moment_order)
        return raw * math.pow(self.shrink, k)

    @abstractmethod
    def moment(self, k: float) -> float:
        """Return the largest central k-th moment of a coordinate; k is real, at least 0."""

    @property
    def _spike_size(self) -> float:
        """The absolute value of every nonzero coordinate of a spiked record."""
        return math.pow(self.spike_probability, -1 / self.moment_order) * self.shrink

    @property
    def _mean_size(self) -> float:
        """The absolute value of every nonzero coordinate of the mean."""
        return math.pow(self.spike_probability, 1 - 1 / self.moment_order) * self.shrink

    def _draw_spiked_indices(self, rows: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return the indices of the spiked records among `rows` records, at random, shape (k,)."""
        count = rng.binomial(rows, self.spike_probability)
        places = rng.choice(rows, size=count, replace=False, shuffle=False)
        return places.astype(np.intp, copy=False)


@dataclass(frozen=True, kw_only=True)
class TwoPoint(HardInstance):
    r"""The base of two-point instances :math:`Q_\nu = (1-q)\,\delta_0 + q\,\delta_{q^{-1/p}\nu}`.

    .. math:: \mu_\nu = q^{1-1/p}\nu, \qquad
        E|X_j-\mu_j|^k = q^{-k/p}\big[q(1-q)^k + (1-q)q^k\big]\quad\text{where }\nu_j \ne 0.

    At k = p the moment is :math:`(1-q)^p + (1-q)q^{p-1} \le 1-q`: at most 1, and not 1 exactly.
    Two laws with different patterns are at total variation distance q. These formulas, and those
    below, are for p of at least 2; for p < 2 spikes are multiplied by `shrink`.

    Raises `InvalidInput` if a value is outside its range, or the pattern is not one of the prior.
    """

    # the pattern, a vector of length d; None until it is drawn, and needed by `mean` and `sample`
    pattern: tuple[int, ...] | None = None

    @property
    def two_point(self) -> Self | None:
        """The law itself: a record is 0 or one fixed vector."""
        return self

    @property
    def spike(self) -> Vector:
        """The nonzero record, shape (d,); needs a drawn pattern."""
        return self.mean / self.spike_probability

    def draw_means(self, n: int, m: int, rng: np.random.Generator) -> Vector:
        """Return n means of m records each, shape (n, d): binomial shares of the spike."""
        counts = rng.binomial(m, self.spike_probability, size=n)
        return (counts / m)[:, None] * self.spike

    @property
    def largest_second_moment(self) -> float:
        """The largest eigenvalue of the second moment matrix, in the direction of the spike."""
        return self.second_moment_trace

    @property
    def smallest_second_moment(self) -> float:
        """The smallest eigenvalue of the second moment matrix: 0 if there is another direction."""
        return self.largest_second_moment if self.d == 1 else 0.0

    @property
    def fourth_moment_trace(self) -> float:
        r"""The supremum :math:`\sup_{\|v\|=1} E\langle X,v\rangle^2\|X\|^2`, along the spike."""
        return self.spike_probability * self.record_norm**4

    def central_direction(self, k: float) -> float:
        """Return the central moment in the direction of the pattern, as a root, exactly."""
        return self._moment_of_all_coordinates(k)

    @property
    def mean(self) -> Vector:
        r"""The mean :math:`q^{1-1/p}\nu`, shape (d,); needs a drawn pattern."""
        return self._mean_size * self._drawn_pattern()

    @property
    def mean_norm(self) -> float:
        r"""The l2 norm :math:`q^{1-1/p}\sqrt w` of the mean, the same for every pattern."""
        return self._mean_size * math.sqrt(self.weight)

    @property
    def variance_trace(self) -> float:
        r"""The trace of Cov(X): :math:`w\,q^{1-2/p}(1-q)`."""
        return self.weight * self.moment(2)

    @property
    def directional_moment(self) -> float:
        r"""Exactly :math:`\sqrt w\,(E|X_j-\mu_j|^p)^{1/p}`, attained in the direction of the mean.

        The centred record is a multiple of the pattern, whose l2 norm is :math:`\sqrt w`.
        """
        return self._moment_of_all_coordinates(self.moment_order)

    def moment(self, k: float) -> float:
        r"""Return :math:`E|X_j - \mu_j|^k` for a nonzero coordinate of the pattern."""
        require(k >= 0, "k", "a number of at least 0", k)
        if k == math.inf:
            return math.inf
        q = self.spike_probability
        if q == 1:
            return 1.0 if k == 0 else 0.0
        # The computation is in logarithms, because q^(-k/p) may overflow.
        spiked = (1 - k / self.moment_order) * math.log(q) + k * math.log1p(-q)
        unspiked = math.log1p(-q) + (k - k / self.moment_order) * math.log(q)
        return (exp_or_inf(spiked) + exp_or_inf(unspiked)) * math.pow(self.shrink, k)

    def fill(self, out: Vector, rng: np.random.Generator) -> None:
        """Fill the rows with zeros and, at random, the drawn spike."""
        out.fill(0.0)
        out[self._draw_spiked_indices(len(out), rng)] = self._spike_size * self._drawn_pattern()

    def _drawn_pattern(self) -> NDArray[np.float64]:
        """Return the pattern as floats; raise `InvalidInput` if it has not been drawn."""
        require(self.pattern is not None, "pattern", "drawn first, with draw(rng)", self.pattern)
        return np.array(self.pattern, dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class Spike(TwoPoint):
    r"""The packing of the lower bounds, with patterns of zeros and ones.

    The prior is uniform over all :math:`\nu\in\{0,1\}^d` of weight :math:`\lfloor d/2\rfloor`:
    permuting the coordinates of a code keeps its size and its distances, so every bound that
    averages over a constant-weight code holds for it. The paper's text asks for signs of l1 norm
    d/2, which do not exist; its numbers fit this packing.
    Formulas, parameters and errors: `TwoPoint`; d is at least 2.

    Examples
    --------
    >>> law = Spike(d=4, moment_order=2.0, spike_probability=0.25)
    >>> drawn = law.draw(np.random.default_rng(0))
    >>> sum(drawn.pattern), float(drawn.mean.max()), round(law.moment(2), 12)
    (2, 0.5, 0.75)
    """

    sampling = Coefficients(fixed=5.9e4, per_row=0, per_element=0.73)
    card = Card(
        slug="spike",
        name="Spike (packing)",
        paper=KAMATH_2022,
        statement="Lemma 6.3, packing (weight corrected)",
        summary="A rare common spike on a hidden half of the coordinates: the instance of the "
        "Fano bounds.",
        infinite_variance="Spikes are shrunk until their central p-th moment is at most 1.",
    )
    smallest_d = 2

    def __post_init__(self) -> None:
        """Refuse a pattern that is not `weight` ones among zeros."""
        super().__post_init__()
        if self.pattern is not None:
            fits_prior = len(self.pattern) == self.d and set(self.pattern) <= {0, 1}
            is_valid = fits_prior and sum(self.pattern) == self.weight
            must = f"{self.d} zeros and ones, {self.weight} ones"
            require(is_valid, "pattern", must, self.pattern)

    @property
    def weight(self) -> int:
        """The number of nonzero coordinates of a spike: half of them."""
        return self.d // 2

    def draw(self, rng: np.random.Generator) -> Self:
        """Return the law with a pattern of zeros and ones that is drawn from the prior."""
        pattern = np.zeros(self.d, dtype=np.int8)
        support = rng.choice(self.d, size=self.weight, replace=False, shuffle=False)
        pattern[support.astype(np.intp, copy=False)] = 1
        return replace(self, pattern=tuple(pattern.tolist()))


@dataclass(frozen=True, kw_only=True)
class Hypercube(TwoPoint):
    r"""The sharper variant with hidden signs: :math:`\nu` uniform on :math:`\{-1,+1\}^d`.

    For a set that does not contain all of these means, only the first coordinates have signs. For a
    simplex, a public centre is added to every record, and signs come in opposite pairs: see
    theory/bounds-everywhere.md, 5. Formulas, parameters and errors: `TwoPoint`.

    Examples
    --------
    >>> law = Hypercube(d=4, moment_order=2.0, spike_probability=0.25)
    >>> law.mean_norm, law.draw(np.random.default_rng(0)).sample(3, np.random.default_rng(1)).n
    (1.0, 3)
    >>> law.mean  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    dpsco_core.base.errors.InvalidInput: pattern must be drawn first, ... got pattern=None.
    """

    # the number of coordinates that have a sign, which are the first ones; None for all
    support: int | None = None
    centre: float = 0.0  # the part that every record has in each of these coordinates
    paired: bool = False  # whether the signs come in opposite pairs, beginning with the first two

    sampling = Coefficients(fixed=6.1e4, per_row=0, per_element=0.87)
    card = Card(
        slug="hypercube",
        name="Hypercube (signs)",
        paper=KAMATH_2022,
        statement="Lemma 6.3, with independent signs",
        summary="A rare spike with hidden independent signs: the instance of the sharper "
        "concentrated-DP bound.",
        infinite_variance="Spikes are shrunk until their central p-th moment is at most 1.",
    )

    def __post_init__(self) -> None:
        """Refuse a support, a centre or a pattern that does not fit the dimension."""
        super().__post_init__()
        support = self.support
        if support is not None:
            fits = 1 <= support <= self.d and not (self.paired and support % 2)
            must = f"from 1 to {self.d}" + ", and even for pairs" * self.paired
            require(fits, "support", must, support)
        require(0 <= self.centre < math.inf, "centre", "finite and at least 0", self.centre)
        if self.pattern is not None:
            is_valid = len(self.pattern) == self.d and set(self.pattern[: self.weight]) <= {-1, 1}
            is_valid = is_valid and not any(self.pattern[self.weight :])
            must = f"{self.d} signs -1 or +1"
            if self.weight < self.d:
                must = f"{self.d} numbers, {self.weight} signs -1 or +1 and then 0"
            require(is_valid, "pattern", must, self.pattern)

    @property
    def weight(self) -> int:
        """The number of nonzero coordinates of a spike: the size of the support, or all d."""
        return self.d if self.support is None else self.support

    def draw(self, rng: np.random.Generator) -> Self:
        """Return the law with a pattern of signs that is drawn from the prior."""
        count = self.weight // 2 if self.paired else self.weight
        signs = 2 * rng.integers(0, 2, size=count, dtype=np.int8) - 1
        if self.paired:
            signs = np.stack([signs, -signs], axis=1).ravel()
        word = np.zeros(self.d, dtype=np.int8)
        word[: self.weight] = signs
        return replace(self, pattern=tuple(word.tolist()))

    # -- Moments of records around a centre ------------------------------------------------------

    @property
    def two_point(self) -> Self | None:
        """The law itself unless it has a centre: a record is then 0 or one fixed vector."""
        return None if self.centre > 0 else self

    @property
    def _centre_norm(self) -> float:
        """The l2 norm of the public centre that is added to every record."""
        return self.centre * math.sqrt(self.weight)

    @property
    def mean(self) -> Vector:
        """The mean of a record, shape (d,)."""
        mean = super().mean
        mean[: self.weight] += self.centre
        return mean

    @property
    def spike(self) -> Vector:
        """The part of a spiked record that is added to the centre, shape (d,)."""
        return super().mean / self.spike_probability

    @property
    def mean_norm(self) -> float:
        """The largest l2 norm of a mean; signs in opposite pairs are orthogonal to the centre."""
        base_norm = super().mean_norm
        return (
            math.hypot(base_norm, self._centre_norm)
            if self.paired
            else base_norm + self._centre_norm
        )

    @property
    def outermost_means(self) -> Vector:
        """The two means of the prior that are farthest apart, shape (2, d)."""
        word = np.zeros(self.d)
        word[: self.weight] = 1.0
        centre = self.centre * word
        if self.paired:
            word[1 : self.weight : 2] = -1.0
        return np.stack([centre + self._mean_size * word, centre - self._mean_size * word])

    @property
    def record_norm(self) -> float:
        """The largest norm of a record, or a bound on it where there is a centre."""
        return super().record_norm + self._centre_norm

    @property
    def second_moment_trace(self) -> float:
        """The mean squared norm of a record."""
        base_trace = super().second_moment_trace
        return self.variance_trace + self.mean_norm**2 if self.centre > 0 else base_trace

    def record_moment(self, k: float) -> float:
        r"""Return :math:`(E\|X\|_2^k)^{1/k}`, or a bound on it where there is a centre."""
        spiked = math.pow(self.spike_probability, 1 / k) * super().record_norm
        return spiked + self._centre_norm

    def raw_direction(self, k: float) -> float:
        """Return a bound on the root of the k-th raw moment in any direction."""
        spiked = math.pow(self.spike_probability, 1 / k) * super().record_norm
        return spiked + self._centre_norm

    def raw_coordinate(self, k: float) -> float:
        """Return a bound on the k-th raw moment of a coordinate."""
        base_moment = super().raw_coordinate(k)
        return (
            math.pow(math.pow(base_moment, 1 / k) + self.centre, k)
            if self.centre > 0
            else base_moment
        )

    def draw_means(self, n: int, m: int, rng: np.random.Generator) -> Vector:
        """Return n means of m records each, shape (n, d), with the centre added."""
        means = super().draw_means(n, m, rng)
        if self.centre > 0:
            means[:, : self.weight] += self.centre
        return means

    def fill(self, out: Vector, rng: np.random.Generator) -> None:
        """Fill the rows with zeros and spikes, and add the centre."""
        super().fill(out, rng)
        if self.centre > 0:
            out[:, : self.weight] += self.centre
