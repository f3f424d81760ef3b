"""Statistics of rows (records, or gradients at a point) that methods release with noise.

A `Statistic` is a frozen object. It knows how far its value moves if one record is replaced;
`noise` makes the mechanism from that, once for all steps of a run. No noise is drawn here: a
`NoisyStatistic` gives value and mechanism to the ledger.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import Rows, row_norms
from dpsco_core.methods.records.base import (
    LARGEST_LEVEL,
    clip_to_ball,
    clipped_block_means,
    clipped_mean,
    into_ball,
    median_sensitivity,
)
from dpsco_core.methods.records.groups import Search, Split, deep_point, left_out, practical_length
from dpsco_core.methods.records.smooth_clip import SQRT2, smoothed_mean, smoothed_supremum
from dpsco_core.privacy.amplification import ShuffleAmplification
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import (
    AllocatedGaussian,
    CorrelatedSteps,
    Encoding,
    GaussianNoise,
    Mechanism,
    ShuffledGaussian,
)
from dpsco_core.statements.kamath import algorithm_3_sensitivity


class Measuring(Protocol):
    """The releases of one run, made step by step."""

    def take(self, rows: Any, ledger: Ledger, rng: np.random.Generator, t: int) -> Vector:
        """Return what step t, from 0, releases of its rows, shape (d,)."""
        ...

    @property
    def diagnostics(self) -> Mapping[str, float]:
        """The diagnostics after the steps so far; all of them are functions of releases."""
        ...


class Statistic:
    """A statistic that a method releases; subclasses define `value` and `sensitivity`."""

    label: ClassVar[str]  # the name of the statistic in the ledger, in words
    # Whether the estimate is the last released value, and so has the noise of that release.
    is_last_release: ClassVar[bool] = True

    def label_of(self, t: int) -> str:
        """Return the name of the release of step t, counted from 0, in the ledger."""
        return self.label

    def value(self, rows: Any) -> Vector:
        """Return the exact statistic of the rows, shape (d,)."""
        raise NotImplementedError

    def sensitivity(self, n: int, d: int) -> float:
        """Return the largest l2 change when one of n rows is replaced, whatever the rows are."""
        raise NotImplementedError

    def noise(self, n: int, d: int, rho: float) -> Mechanism[Vector]:
        """Return the noise that makes the statistic rho-zCDP."""
        return GaussianNoise(l2_sensitivity=self.sensitivity(n, d), rho=rho)

    @property
    def pieces(self) -> int:
        """The number of blocks of rows that are processed one after the other in Python."""
        return 1

    def measuring(self, n: int, d: int, rho: float, steps: int) -> Measuring:
        """Return what makes the releases of a run of `steps` steps, each on n rows and rho-zCDP."""
        return NoisyStatistic(self, self.noise(n, d, rho))

    def estimate(
        self,
        rows: Any,
        noise: Mechanism[Vector] | None,  # the mechanism that adds noise to the statistic
        ledger: Ledger,
        rng: np.random.Generator,
    ) -> tuple[Vector, Mapping[str, float]]:
        """Return a single release of the rows, shape (d,), and its diagnostics."""
        assert noise is not None
        return ledger.release(noise, self.value(rows), rng, label=self.label), {}


class PublicStatistic(Statistic):
    """A statistic released without noise by a method without privacy."""

    def estimate(
        self,
        rows: Any,
        noise: Mechanism[Vector] | None,
        ledger: Ledger,
        rng: np.random.Generator,
    ) -> tuple[Vector, Mapping[str, float]]:
        """Return the exact value, without noise and without an entry in the ledger."""
        return self.value(rows), {}


@dataclass(frozen=True)
class NoisyStatistic:
    """The releases of a run whose statistic and noise do not change from step to step."""

    statistic: Statistic
    noise: Mechanism[Vector]
    diagnostics: ClassVar[Mapping[str, float]] = {}

    def take(self, rows: Any, ledger: Ledger, rng: np.random.Generator, t: int) -> Vector:
        """Return the statistic of the rows plus noise, shape (d,)."""
        value = self.statistic.value(rows)
        return ledger.release(self.noise, value, rng, label=self.statistic.label_of(t))


@dataclass(frozen=True, kw_only=True)
class ExactMean(Statistic):
    """The exact mean gradient, for methods without privacy."""

    work: int = 1  # the number of pieces of records that the statistic processes

    diagnostics: ClassVar[Mapping[str, float]] = {}

    @property
    def pieces(self) -> int:
        """The number of blocks of rows that are processed one after the other in Python."""
        return self.work

    def measuring(self, n: int, d: int, rho: float, steps: int) -> Measuring:
        """Return the statistic itself, which releases without noise."""
        return self

    def take(self, rows: Vector, ledger: Ledger, rng: np.random.Generator, t: int) -> Vector:
        """Return the mean gradient, which is what the access has read."""
        return rows


@dataclass(frozen=True, kw_only=True)
class ClippedMean(Statistic):
    """The mean of rows clipped to the radius R: replacing one of n moves it by at most 2R/n."""

    radius: float  # R, the clip radius

    label: ClassVar[str] = "mean of clipped records"

    def value(self, rows: Rows) -> Vector:
        """Return the mean of the rows clipped to the radius, shape (d,)."""
        return clipped_mean(rows, self.radius)

    def sensitivity(self, n: int, d: int) -> float:
        """Return the l2 sensitivity 2R/n."""
        return 2 * self.radius / n


@dataclass(frozen=True, kw_only=True)
class EncodedClippedMeans(Statistic):
    """Means of clipped rows whose noise partly cancels between steps, phase by phase."""

    radius: float  # R, the clip radius
    # the noise mechanism of each phase, which protects all steps of the phase together
    encodings: tuple[Encoding, ...]

    def measuring(self, n: int, d: int, rho: float, steps: int) -> Measuring:
        """Return what makes the releases of a run, with the noise mechanism of each step."""
        return EncodedSteps(self.radius, [e for e in self.encodings for _ in range(e.steps)])


@dataclass
class EncodedSteps:
    """The steps of the current phase, whose noise is accounted for at its first step."""

    radius: float  # R, the clip radius
    encodings: list[Encoding]  # the noise mechanism of every step
    phase: CorrelatedSteps | None = None  # the noise of the current phase; None before the first
    left: int = 0  # the number of steps left in the phase
    diagnostics: ClassVar[Mapping[str, float]] = {}

    def take(self, rows: Rows, ledger: Ledger, rng: np.random.Generator, t: int) -> Vector:
        """Return the mean of the clipped rows plus the noise of the step, shape (d,)."""
        if self.left == 0:
            self.phase, self.left = ledger.open(self.encodings[t]), self.encodings[t].steps
        assert self.phase is not None
        self.left -= 1
        return self.phase.release(clipped_mean(rows, self.radius), rng)


@dataclass(frozen=True, kw_only=True)
class MedianOfClippedMeans(Statistic):
    r"""Coordinatewise medians of block means, with entries clipped to :math:`[-3\tau,3\tau]`.

    Replacing a row moves a coordinate by at most `median_sensitivity`.
    """

    threshold: float  # τ, the clipping threshold
    blocks: int  # m, the number of blocks of consecutive rows; rows left over are dropped
    printed: bool = False  # whether the noise is scaled to the sensitivity that the paper prints

    label: ClassVar[str] = "median of clipped block means"

    def value(self, rows: Rows) -> Vector:
        """Return the medians of the clipped block means, shape (d,)."""
        means = clipped_block_means(rows, 3 * self.threshold, self.blocks)
        # For an even number of means, this is the midpoint of the middle two.
        return np.asarray(np.median(means, axis=0))

    def sensitivity(self, n: int, d: int) -> float:
        """Return sqrt(d) times the sensitivity of a coordinate."""
        return math.sqrt(d) * self.coordinate_sensitivity(n)

    def coordinate_sensitivity(self, n: int) -> float:
        """Return the largest change of one coordinate when one of n rows is replaced."""
        if self.printed:
            return algorithm_3_sensitivity(self.threshold, self.blocks, n)
        return median_sensitivity(self.threshold, self.blocks, n // self.blocks)

    @property
    def pieces(self) -> int:
        """The number of blocks."""
        return self.blocks


@dataclass(frozen=True, kw_only=True)
class SmoothlyTruncatedMean(Statistic):
    r"""The mean of :math:`\tau\psi(x/\tau;c)` over the entries x of each coordinate.

    :math:`\psi` is between :math:`-S_c` and :math:`S_c`, so that replacing one of n rows moves the
    mean by at most :math:`2\tau S_c\sqrt d/n`.
    """

    tau: float  # the truncation level tau
    smoothing_variance: float  # c, the variance of the smoothing noise
    printed: bool = False  # whether the noise is scaled to τ√(2d)/n, as the paper prints it

    label: ClassVar[str] = "mean of smoothly truncated entries"

    def value(self, rows: Rows) -> Vector:
        """Return the mean of the smoothly truncated rows, shape (d,)."""
        return smoothed_mean(rows, self.tau, self.smoothing_variance)

    def sensitivity(self, n: int, d: int) -> float:
        """Return the l2 sensitivity of n rows of d entries, each truncated."""
        return self.tau * (2 * smoothed_supremum(self.smoothing_variance) * math.sqrt(d) / n)

    def noise(self, n: int, d: int, rho: float) -> GaussianNoise:
        """Return the Gaussian noise, scaled to the proven or to the printed sensitivity."""
        proven = self.sensitivity(n, d)
        claim = self.tau * (SQRT2 * math.sqrt(d) / n) if self.printed else proven
        return GaussianNoise(l2_sensitivity=claim, proven_l2_sensitivity=proven, rho=rho)


@dataclass(frozen=True, kw_only=True)
class DeepPointOfGroups(Statistic):
    """A deep point among noisy clipped means of secret random groups, split anew each time."""

    radius: float  # R, the clip radius
    groups: int  # k groups of m rows each: replacing a row changes one group's mean by at most 2R/m
    quantile: float  # the share of projections on any direction that must exceed the level
    bound: float  # a public bound on the norm of the mean
    # the largest number of steps of the search; None if it follows from the bound and the noise
    walk: int | None = None

    label: ClassVar[str] = "means of disjoint groups"
    is_last_release: ClassVar[bool] = False

    def sensitivity(self, n: int, d: int) -> float:
        """Return the largest change of the group means, 2R over the size of a group."""
        return 2 * self.radius / (n // self.groups)

    def noise(
        self, n: int, d: int, rho: float
    ) -> GaussianNoise | ShuffledGaussian | AllocatedGaussian:
        """Return Gaussian noise for the group means, of which a record changes only one."""
        change = self.sensitivity(n, d)
        return GaussianNoise(l2_sensitivity=change, rho=rho, disjoint_blocks=self.groups)

    def measuring(self, n: int, d: int, rho: float, steps: int) -> Measuring:
        """Return what makes the releases of a run, each with a search for a deep point."""
        noise = self.noise(n, d, rho)
        return NoisyDeepPoint(self, noise, self.search(d, noise.noise_std))

    def split_by(self) -> Split | None:
        """Return the function that draws the groups (see `deep_point`); None for equal sizes."""
        return None

    def scale(self, n: int) -> float:
        """Return the factor by which the released means of groups of n rows are multiplied."""
        return 1.0

    def search(self, d: int, noise_std: float) -> Search:
        """Return the parameters of the search for a deep point among means with this noise."""
        length = self.walk or practical_length(self.bound, d, noise_std)
        return Search(left_out=left_out(self.groups, self.quantile), steps=length)

    def estimate(
        self,
        rows: Rows,
        noise: Mechanism[Vector] | None,
        ledger: Ledger,
        rng: np.random.Generator,
    ) -> tuple[Vector, Mapping[str, float]]:
        """Return one noisy deep point of the rows, shape (d,), and no diagnostics."""
        assert isinstance(noise, GaussianNoise | ShuffledGaussian | AllocatedGaussian)
        point = NoisyDeepPoint(self, noise, self.search(rows.d, noise.noise_std))
        return point.take(rows, ledger, rng, 0), {}


@dataclass(frozen=True, kw_only=True)
class DeepPointOfSecretGroups(DeepPointOfGroups):
    """A deep point of groups whose secrecy is a part of the privacy proof."""

    amplification: ShuffleAmplification

    label: ClassVar[str] = "means of secret random groups"

    def noise(self, n: int, d: int, rho: float) -> ShuffledGaussian:
        """Return Gaussian noise that is amplified by the secrecy of the groups."""
        return ShuffledGaussian(
            l2_sensitivity=self.sensitivity(n, d), amplification=self.amplification
        )


@dataclass
class NoisyDeepPoint:
    """The release of group means and the search for a deep point among them."""

    statistic: DeepPointOfGroups
    noise: Mechanism[Vector]
    search: Search
    diagnostics: ClassVar[Mapping[str, float]] = {}

    def take(self, rows: Rows, ledger: Ledger, rng: np.random.Generator, t: int) -> Vector:
        """Release noisy group means, and return a point that is deep among them, shape (d,)."""
        groups = self.statistic
        point = deep_point(
            rows,
            groups.groups,
            groups.radius,
            lambda means: self.with_noise(means, ledger, rng),
            self.search,
            rng,
            split=groups.split_by(),
            scale=groups.scale(rows.n),
        )
        return into_ball(point, groups.bound)

    def with_noise(self, means: Vector, ledger: Ledger, rng: np.random.Generator) -> Vector:
        """Return the noisy means of the groups, shape (groups, d)."""
        return ledger.release(self.noise, means, rng, label=self.statistic.label)


@dataclass(frozen=True, kw_only=True)
class NormalisedMean(Statistic):
    r"""The mean of :math:`Rg/(\|g\|+\gamma)` over rows g: one of n moves it by at most 2R/n."""

    scale: float  # R, the length to which a long row is scaled
    stability: float  # γ, the length of a row that is scaled to half of R

    label: ClassVar[str] = "mean of normalised gradients"

    def value(self, rows: Rows) -> Vector:
        """Return the mean of the normalised rows, shape (d,)."""
        return normalised_mean(rows, self.scale, self.stability)

    def sensitivity(self, n: int, d: int) -> float:
        """Return the l2 sensitivity 2R/n."""
        return 2 * self.scale / n


def normalised_mean(rows: Rows, scale: float, stability: float) -> Vector:
    r"""Return the mean of :math:`Rg/(\|g\|+\gamma)` over the rows, shape (d,)."""
    return rows.total(partial(normalised_sum, scale=scale, stability=stability)) / rows.n


def normalised_sum(rows: Rows, scale: float, stability: float) -> Vector:
    r"""Return the sum of :math:`Rg/(\|g\|+\gamma)` over the rows, shape (d,)."""
    total = np.zeros(rows.d)
    for part in rows.factors():
        norms = row_norms(part.base) if part.norms is None else part.norms
        base, weights = normalise_rows(part.base, part.coefficients, norms, scale, stability)
        total += weights @ base
    return total


def normalise_rows(
    base: Vector,  # the rows before their coefficients, shape (rows, d)
    # shape (rows,): row i is ``coefficients[i] * base[i]``; None if all are 1
    coefficients: Vector | None,
    norms: Vector,  # the norms of the rows of `base`
    scale: float,  # R, as in `NormalisedMean`
    stability: float,  # γ, as in `NormalisedMean`
) -> tuple[Vector, Vector]:
    """Return ``(rows, weights)`` with ``weights[i] * rows[i]`` the normalised row i.

    A normalised row is in the ball of radius `scale`, whatever the row is. A row that is not finite
    becomes the zero row. Beyond the range in which products of doubles are safe, a row is first
    clipped to that range if `coefficients` is None, and otherwise becomes the zero row too.
    """
    if coefficients is None:
        if not norms.max() <= LARGEST_LEVEL:
            safe, shrunk = clip_to_ball(base, LARGEST_LEVEL)
            base = shrunk[:, None] * safe
            norms = row_norms(base)
        return base, scale / (norms + stability)
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        # The norm of the whole row could overflow; the norm of the features cannot.
        sizes = np.abs(coefficients)
        weights = np.copysign(scale / (norms + stability / sizes), coefficients)
    bad = ~((norms <= LARGEST_LEVEL) & (sizes <= LARGEST_LEVEL))  # A NaN is bad too.
    if bad.any():
        base = base.copy()
        base[bad] = 0.0
        weights[bad] = 0.0
    return base, weights
