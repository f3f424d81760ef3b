r"""Fano's inequality for private algorithms, number by number, for the page Lower bounds.

`Builder` is Theorem 1.4 of Kamath et al. (2022) for any packing. `PackingProof` and `SignProof` are
the two proofs on the hard instances of its Lemma 6.3, `DistanceProof` is Fano's argument by
distance on all sign patterns, and `ExpectileProof` is their packing for every (epsilon, delta)
algorithm. All evaluate `dpsco_core.bounds`; nothing is bounded here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.bounds.instances import distance, hypercube, packing, spikes
from dpsco_core.bounds.instances.fano import (
    LOG_2,
    decoding_error,
    fano_cdp,
    fano_pure,
    mean_squared_count,
)
from dpsco_core.bounds.instances.groups import group_delta
from dpsco_core.data.spike_scale import spike_shrink

Bites = Literal["statistics", "privacy", "nothing"]
LARGEST_BITS = 1e6
LARGEST_N = 10**9


@dataclass(frozen=True, kw_only=True)
class Builder:
    r"""Fano's inequality for a packing that the user describes.

    .. math::
        E\|\hat\theta-\theta\|_2\ge\frac r2\max\Big\{1-\frac{n\beta+\ln2}{\ln N},\
        1-\frac{\rho(n^2\alpha^2+n\alpha(1-\alpha))+\ln2}{\ln N},\ 0\Big\}

    It is Kamath et al. (2022), Theorem 1.4, with the divergence of the n-fold laws.
    """

    bits: float  # the log2 of the number N of words, in [1, 1e6]
    separation: float  # the smallest distance r of two words' parameters
    # a bound alpha in [0, 1] on the total variation between two words' laws of one record
    total_variation: float
    # a bound beta on the Kullback-Leibler divergence of two words' laws, in nats; may be infinite
    kl: float
    n: int  # the number of records
    # the rho of the concentrated form, and the epsilon of the pure form
    rho: float
    epsilon: float

    def __post_init__(self) -> None:
        """Refuse numbers outside their ranges."""
        require(1 <= self.bits <= LARGEST_BITS, "bits", "at least 1 and at most 1e6", self.bits)
        positive = 0 < self.separation < math.inf
        require(positive, "separation", "positive", self.separation)
        is_probability = 0 <= self.total_variation <= 1
        require(is_probability, "total_variation", "between 0 and 1", self.total_variation)
        require(self.kl >= 0, "kl", "at least 0", self.kl)
        whole = isinstance(self.n, int) and 1 <= self.n <= LARGEST_N
        require(whole, "n", "an integer between 1 and 1,000,000,000", self.n)
        require(0 < self.rho < math.inf, "rho", "positive", self.rho)
        require(0 < self.epsilon < math.inf, "epsilon", "positive", self.epsilon)

    @property
    def log_size(self) -> float:
        """The logarithm of the number N of words."""
        return self.bits * LOG_2

    @property
    def expected_changes(self) -> float:
        """The mean number of records in which the data of two words differ: n alpha."""
        return self.n * self.total_variation

    @property
    def squared_changes(self) -> float:
        """The mean square of the number of records in which the data of two words differ."""
        return mean_squared_count(self.n, self.total_variation)

    @property
    def sampling_information(self) -> float:
        """The most that n records can reveal about the secret word, in nats: n beta."""
        return self.n * self.kl

    @property
    def privacy_information(self) -> float:
        """The most that a rho-zCDP output can reveal about the word, in nats."""
        return self.rho * self.squared_changes

    @property
    def sampling_error(self) -> float:
        """The chance of decoding the wrong word from the records alone, without privacy."""
        return decoding_error(self.log_size, self.sampling_information)

    @property
    def privacy_error(self) -> float:
        """The least chance of decoding the wrong word that privacy alone causes."""
        return decoding_error(self.log_size, self.privacy_information)

    @property
    def sampling_bound(self) -> float:
        """The lower bound by sampling alone, which binds every algorithm."""
        return self.separation / 2 * self.sampling_error

    @property
    def privacy_bound(self) -> float:
        """The lower bound by privacy alone, which binds rho-zCDP algorithms."""
        return self.separation / 2 * self.privacy_error

    @property
    def bound(self) -> float:
        """The lower bound on the mean error by Theorem 1.4, which is the larger
        of its two terms.
        """
        return fano_cdp(*self._numbers)

    @property
    def squared_bound(self) -> float:
        """The lower bound on the mean squared error, by the same theorem."""
        return fano_cdp(*self._numbers, squared=True)

    @property
    def _numbers(self) -> tuple[float, float, float, float, int, float]:
        """The arguments of `fano_cdp`: log N, r, alpha, beta, n and rho, in this order."""
        alpha, beta = self.total_variation, self.kl
        return self.log_size, self.separation, alpha, beta, self.n, self.rho

    @property
    def pure_bound(self) -> float:
        """The lower bound on the mean error of epsilon-DP algorithms, at its best parameter t."""
        return fano_pure(self.log_size, self.separation, self.expected_changes, self.epsilon)

    @property
    def bites(self) -> Bites:
        """The term that gives the bound: "privacy" or "statistics", and "nothing" if the bound is
        0.
        """
        if self.bound <= 0:
            return "nothing"
        return "privacy" if self.privacy_bound >= self.sampling_bound else "statistics"

    def at(self, n: int) -> Builder:
        """Return the same packing at another number of records."""
        return replace(self, n=n)


@dataclass(frozen=True, kw_only=True)
class SpikeProof:
    """The common part of the proofs on both hard instances, at one spike probability q."""

    n: int
    d: int
    order: float  # the tail index p > 1
    q: float  # the spike probability, in [0, 1]
    rho: float
    epsilon: float

    @property
    def theta(self) -> float:
        """The size of a coordinate of the mean that depends on the word: q^(1-1/p), less where p <
        2.
        """
        return spikes.mean_scale(self.q, self.order)

    @property
    def spike_size(self) -> float:
        """The size of a nonzero coordinate of a spike: q^(-1/p), shrunk into
        the class where p < 2.
        """
        shrink = float(spike_shrink(np.array(self.q), self.order))
        return math.pow(self.q, -1 / self.order) * shrink

    @property
    def expected_changes(self) -> float:
        """The mean number of records with a spike: n q."""
        return self.n * self.q

    @property
    def squared_changes(self) -> float:
        """The mean of the squared number of records with a spike."""
        return mean_squared_count(self.n, self.q)

    @property
    def information(self) -> float:
        """The most that a rho-zCDP output can reveal about the word, in nats."""
        return self.rho * self.squared_changes


@dataclass(frozen=True, kw_only=True)
class PackingProof(SpikeProof):
    r"""The numbers of the proof on the paper's code of spikes, at one spike probability q.

    The code has :math:`2^{d/8}` words of weight :math:`w=\lfloor d/2\rfloor` at Hamming distance
    d/8 (theory/kamath-liu-zhang.md, 4.3 and 4.4).
    """

    @property
    def mean_norm(self) -> float:
        """The norm of the mean, which is the error of the answer 0."""
        return self.theta * math.sqrt(self.d // 2)

    @property
    def log_size(self) -> float:
        """The logarithm of the number of words."""
        return spikes.paper_packing(self.d)[0]

    @property
    def distance(self) -> float:
        """The least Hamming distance of two words."""
        return spikes.paper_packing(self.d)[1]

    @property
    def separation(self) -> float:
        """The least l2 distance between two means of the packing."""
        return self.theta * math.sqrt(self.distance)

    @property
    def ceiling(self) -> float:
        """The lower bound for an output that is independent of the word: half of `separation`."""
        return self.separation / 2

    @property
    def error(self) -> float:
        """The chance of decoding the wrong word under rho-zCDP."""
        return decoding_error(self.log_size, self.information)

    @property
    def factor(self) -> float:
        """Fano's factor before its positive part; minus infinity for a single word."""
        if self.log_size <= 0:
            return -math.inf
        return 1 - (self.information + LOG_2) / self.log_size

    @property
    def bound(self) -> float:
        """The lower bound by Fano's inequality for rho-zCDP at the spike probability q."""
        return spikes.spike_fano_cdp(self.q, self.n, self.d, self.order, self.rho)

    @property
    def pure_bound(self) -> float:
        """The lower bound for epsilon-DP at the spike probability q, given the number of spikes."""
        return spikes.spike_pure(self.q, self.n, self.d, self.order, self.epsilon)

    @property
    def pure_error(self) -> float:
        """The chance of decoding the wrong word under epsilon-DP."""
        return 2 * self.pure_bound / self.separation if self.separation > 0 else 0.0


@dataclass(frozen=True, kw_only=True)
class SignProof(SpikeProof):
    r"""The numbers of the proof on the sign hypercube, at one spike probability q.

    It uses all :math:`2^d` sign patterns, and no code (theory/kamath-liu-zhang.md, 4.5).
    """

    @property
    def mean_norm(self) -> float:
        """The norm of the mean, which is the error of the answer 0."""
        return self.theta * math.sqrt(self.d)

    @property
    def log_size(self) -> float:
        """The logarithm of the number of patterns: d ln 2."""
        return self.d * LOG_2

    @property
    def wrong_sign_cost(self) -> float:
        """The factor by which the l2 error exceeds the share of wrong signs: 2 theta sqrt(d)."""
        return 2 * self.mean_norm

    @property
    def ceiling(self) -> float:
        """The mean error of an output that is independent of the word: half of its signs err."""
        return self.mean_norm

    @property
    def bound(self) -> float:
        """The lower bound for zCDP by the entropy of the signs, at the spike probability q."""
        return hypercube.hypercube_cdp(self.q, self.n, self.d, self.order, self.rho)

    @property
    def error(self) -> float:
        """The least share of wrong signs under rho-zCDP; at most a half."""
        return self.bound / self.wrong_sign_cost

    @property
    def pure_bound(self) -> float:
        """The lower bound for pure DP at the spike probability q."""
        return hypercube.hypercube_pure(self.q, self.n, self.d, self.order, self.epsilon)

    @property
    def pure_error(self) -> float:
        """The least share of wrong signs under epsilon-DP."""
        return self.pure_bound / self.wrong_sign_cost


@dataclass(frozen=True, kw_only=True)
class DistanceProof(SignProof):
    r"""The numbers of Fano's proof by distance on the sign hypercube, at one spike probability q.

    See theory/bounds-everywhere.md, 4. Some of the numbers are for a typical number of spikes and
    for one radius; the bound takes all numbers of spikes and all radii into account.
    """

    @property
    def typical(self) -> int:
        """A typical number of spikes: the mean number, rounded, and at least 1."""
        return max(1, round(self.expected_changes))

    @property
    def radius(self) -> float:
        """The radius of the ball that the page shows, in units of a sign: sqrt(d/2)."""
        return math.sqrt(self.d / 2)

    @property
    def share(self) -> float:
        """The largest share of all sign patterns that a ball of `radius` contains."""
        return float(np.exp(distance.log_ball(self.d, np.array([self.radius]))[0]))

    @property
    def told(self) -> float:
        """The information, in nats, that an output has if `typical` records are spikes."""
        return self.rho * self.typical**2

    @property
    def hit(self) -> float:
        """The largest chance that the answer is within `radius` of the secret pattern."""
        log_share, words = np.log(self.share), self.d * LOG_2
        return float(distance.chance(np.array(self.told), np.array(log_share), log_words=words))

    @property
    def farthest(self) -> float:
        """The l2 distance of the answer 0 from every sign pattern: sqrt(d)."""
        return math.sqrt(self.d)

    @property
    def nearest(self) -> float:
        """A lower bound on the mean distance of any answer from the signs, at that many spikes."""
        return float(distance.remaining(np.array([self.told]), self.d)[0])

    @property
    def bound(self) -> float:
        """The lower bound of Theorem 2 at the spike probability q."""
        return distance.fano_distance(self.q, self.n, self.d, self.order, self.rho)


@dataclass(frozen=True, kw_only=True)
class ExpectileProof(SignProof):
    r"""The numbers of the proof by expectiles on the sign hypercube, at one spike probability q.

    See theory/sharper-approx-bounds.md, 1 to 3; `rho` is not used.
    """

    delta: float  # the delta of the budget; 0 for pure DP

    @property
    def typical(self) -> int:
        """A typical number of spikes: the mean number, rounded, and at least 1."""
        return max(1, round(self.expected_changes))

    @property
    def log_likelihood_ratio(self) -> float:
        """The largest log likelihood ratio of two patterns if `typical` records are spikes."""
        return self.epsilon * self.typical

    @property
    def failure(self) -> float:
        """The delta of group privacy for a group of `typical` records."""
        return float(group_delta(self.epsilon, self.delta, np.array(float(self.typical))))

    @property
    def farthest(self) -> float:
        """The l2 distance of the answer 0 from every sign pattern: sqrt(d)."""
        return math.sqrt(self.d)

    @property
    def nearest(self) -> float:
        """A lower bound on the mean distance of any answer from the signs, at that many spikes."""
        loss = packing.losses("l2", self.d, self.epsilon, self.delta)
        return float(loss(np.array([float(self.typical)]))[0])

    @property
    def bound(self) -> float:
        """The lower bound (P1) at the spike probability q."""
        return packing.packing("l2", self.q, self.n, self.d, self.order, self.epsilon, self.delta)
