"""Gaussian noise: for one value, for steps on disjoint records, and for records in secret order.

The order, the split into groups, the allocation to steps or the sample of a step is fresh, secret
and uniform. The guarantee is void if it is released, reused, or depends on the data. It is no zCDP
guarantee at the budget's rho, so it cannot be made under a zCDP budget.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.privacy.allocation import AllocatedSteps
from dpsco_core.privacy.amplification import ShuffleAmplification
from dpsco_core.privacy.checks import check_count, check_noise, check_positive, check_release
from dpsco_core.privacy.entries import Entry, approximate_entry
from dpsco_core.privacy.mechanisms.noise import add_gaussian_noise, gaussian_noise_std
from dpsco_core.privacy.mechanisms.steps import Steps
from dpsco_core.privacy.poisson import PoissonSteps
from dpsco_core.privacy.shuffled_steps import ShuffledSteps


@dataclass(frozen=True, kw_only=True)
class GaussianNoise:
    """Gaussian noise that makes a value of any shape rho-zCDP."""

    label: ClassVar[str] = "value"

    # The largest l2 change of the value between neighbours. With `disjoint_blocks` only one block
    # changes, so this is also the largest change of a block.
    l2_sensitivity: float
    rho: float  # the share of the budget
    # The proven sensitivity, given only by ``calibration="paper"`` where a paper's noise is too
    # small.
    proven_l2_sensitivity: float | None = None
    disjoint_blocks: int = 1

    def __post_init__(self) -> None:
        """Refuse a sensitivity or a rho that is not positive."""
        check_positive("l2_sensitivity", self.l2_sensitivity)
        check_positive("rho", self.rho)
        if self.proven_l2_sensitivity is not None:
            check_positive("proven_l2_sensitivity", self.proven_l2_sensitivity)

    @cached_property  # One mechanism serves all steps of a run, so this is computed once.
    def noise_std(self) -> float:
        """The standard deviation of the noise in every entry."""
        return gaussian_noise_std(self.l2_sensitivity, self.rho)

    def entry(self, value: Vector, label: str) -> Entry:
        """Return the ledger's entry for the release of `value`."""
        check_release(value, self.noise_std)
        return gaussian_entry(
            label,
            self.l2_sensitivity,
            self.rho,
            value.size,
            self.disjoint_blocks,
            proven_l2_sensitivity=self.proven_l2_sensitivity,
            noise_std=self.noise_std,
        )

    def draw(self, value: Vector, rng: np.random.Generator) -> Vector:
        """Return `value` plus Gaussian noise in every entry."""
        return add_gaussian_noise(value, self.noise_std, rng)


@dataclass(frozen=True, kw_only=True)
class GaussianSteps:
    """Gaussian steps on disjoint records, rho-zCDP together.

    Every step is rho-zCDP and may depend on all earlier outputs. A record enters one step,
    which and when must not depend on the data (parallel composition).
    """

    label: ClassVar[str] = "steps on disjoint records"

    steps: int
    size: int  # the number of noisy coordinates per step
    l2_sensitivity: float  # the sensitivity of the value of one step
    rho: float

    def __post_init__(self) -> None:
        """Refuse parameters that are not positive, and noise that is not finite."""
        check_positive("l2_sensitivity", self.l2_sensitivity)
        check_positive("rho", self.rho)
        check_count("steps", self.steps)
        check_count("size", self.size)
        check_noise(self.noise_std)

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise in every entry."""
        return gaussian_noise_std(self.l2_sensitivity, self.rho)

    def entries(self, label: str) -> tuple[Entry, ...]:
        """Return the ledger's entries: one for all steps."""
        return (gaussian_entry(label, self.l2_sensitivity, self.rho, self.size, self.steps),)

    def open(self) -> Steps:
        """Return the object that draws the noise of the steps."""
        return Steps(steps=self.steps, size=self.size, noise_std=self.noise_std)


@dataclass(frozen=True, kw_only=True)
class ShuffledGaussian:
    """One statistic per group, one row each; the groups are a fresh, secret, uniform split.

    Each row is ``amplification.rho_group``-zCDP for its own group, and the whole is
    (epsilon, delta)-DP by shuffling.
    """

    label: ClassVar[str] = "group means"

    l2_sensitivity: float  # the sensitivity of a row
    amplification: ShuffleAmplification

    def __post_init__(self) -> None:
        """Refuse a sensitivity that is not positive."""
        check_positive("l2_sensitivity", self.l2_sensitivity)

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise in every entry."""
        return gaussian_noise_std(self.l2_sensitivity, self.amplification.rho_group)

    def entry(self, value: Vector, label: str) -> Entry:
        """Return the ledger's entry for the release of `value`, one row per group.

        Raises `InvalidInput` if it has another number of rows, or is not finite.
        """
        shuffle, rows = self.amplification, len(value)
        groups = shuffle.groups
        require(rows == groups, "value", f"one row for each of the {groups} groups", rows)
        check_release(value, self.noise_std)
        cost = (shuffle.epsilon, shuffle.delta)
        values = (label, self.l2_sensitivity, self.noise_std, value.size, cost)
        return replace(approximate_entry("shuffled gaussian", *values), disjoint_blocks=groups)

    def draw(self, value: Vector, rng: np.random.Generator) -> Vector:
        """Return `value` plus Gaussian noise in every entry."""
        return add_gaussian_noise(value, self.noise_std, rng)


@dataclass(frozen=True, kw_only=True)
class ShuffledGaussianSteps:
    """Gaussian steps on one record each, with the guarantee of a shuffling certificate.

    Without amplification this is the guarantee of a single step; a zCDP budget allows no other.
    """

    label: ClassVar[str] = "steps on shuffled records"

    certificate: ShuffledSteps
    size: int  # the number of noisy coordinates per step
    l2_sensitivity: float  # the sensitivity of the value of one step

    def entries(self, label: str) -> tuple[Entry, ...]:
        """Return the ledger's entries: one for all steps."""
        if not self.certificate.amplified:
            return self._unshuffled.entries(label)
        check_count("size", self.size)
        return (
            self.certificate.entry(size=self.size, l2_sensitivity=self.l2_sensitivity, label=label),
        )

    def open(self) -> Steps:
        """Return the object that draws the noise of the steps."""
        if not self.certificate.amplified:
            return self._unshuffled.open()
        noise_std = self.certificate.noise_multiplier * self.l2_sensitivity
        return Steps(steps=self.certificate.steps, size=self.size, noise_std=noise_std)

    @property
    def _unshuffled(self) -> GaussianSteps:
        """The same Gaussian steps at their own cost, without amplification by shuffling."""
        return GaussianSteps(
            steps=self.certificate.steps,
            size=self.size,
            l2_sensitivity=self.l2_sensitivity,
            rho=self.certificate.rho_step,
        )


@dataclass(frozen=True, kw_only=True)
class AllocatedGaussian:
    """One sum per group, one row each; every record draws its group independently in secret.

    A row is divided by a public number, never by how many records its group has. (epsilon,
    delta)-DP as a whole by `allocate_steps`, the groups for its steps.
    """

    label: ClassVar[str] = "sums of groups"

    largest_norm: float  # the largest norm of one record's contribution to the row of its group
    certificate: AllocatedSteps

    def __post_init__(self) -> None:
        """Refuse a norm that is not positive."""
        check_positive("largest_norm", self.largest_norm)

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise in every entry."""
        return self.certificate.noise_multiplier * self.largest_norm

    def entry(self, value: Vector, label: str) -> Entry:
        """Return the ledger's entry for the release of `value`, one row per group.

        Raises `InvalidInput` if it has another number of rows, or is not finite.
        """
        groups, rows = self.certificate.steps, len(value)
        require(rows == groups, "value", f"one row for each of the {groups} groups", rows)
        check_release(value, self.noise_std)
        return self.certificate.entry(size=value.size, largest_norm=self.largest_norm, label=label)

    def draw(self, value: Vector, rng: np.random.Generator) -> Vector:
        """Return `value` plus Gaussian noise in every entry."""
        return add_gaussian_noise(value, self.noise_std, rng)


@dataclass(frozen=True, kw_only=True)
class SampledGaussianSteps:
    """Gaussian steps on sums over records that a secret random sampler has chosen.

    A sum is divided by a public number, such as the mean number of its records, never by how many
    it has. (epsilon, delta)-DP as a whole, by its certificate; refused under other budgets.
    """

    label: ClassVar[str]

    certificate: AllocatedSteps | PoissonSteps
    size: int  # the number of noisy coordinates per step
    # The largest norm of one record's contribution to a sum; replacing the record changes the sum
    # by up to twice that.
    largest_norm: float

    def __post_init__(self) -> None:
        """Refuse a norm, a size or a noise that is not positive."""
        check_positive("largest_norm", self.largest_norm)
        check_count("size", self.size)
        check_noise(self.noise_std)

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise in every entry of a sum."""
        return self.certificate.noise_multiplier * self.largest_norm

    def entries(self, label: str) -> tuple[Entry, ...]:
        """Return the ledger's entries: one for all steps."""
        return (
            self.certificate.entry(size=self.size, largest_norm=self.largest_norm, label=label),
        )

    @property
    def steps(self) -> int:
        """The number of released sums."""
        return self.certificate.steps

    def open(self) -> Steps:
        """Return the object that draws the noise of the steps."""
        return Steps(steps=self.steps, size=self.size, noise_std=self.noise_std)


@dataclass(frozen=True, kw_only=True)
class AllocatedGaussianSteps(SampledGaussianSteps):
    """Steps in which each record has one random, secret place (per pass).

    See `allocate_steps` and `allocate_passes`.
    """

    label: ClassVar[str] = "steps on randomly allocated records"

    certificate: AllocatedSteps

    @property
    def steps(self) -> int:
        """The number of steps of all passes."""
        return self.certificate.steps * self.certificate.passes


@dataclass(frozen=True, kw_only=True)
class PoissonGaussianSteps(SampledGaussianSteps):
    """Steps that each include every record independently with one probability: `sample_steps`."""

    label: ClassVar[str] = "steps on Poisson samples of the records"

    certificate: PoissonSteps


def gaussian_entry(
    label: str,
    l2_sensitivity: float,
    rho: float,
    size: int,
    disjoint_blocks: int,
    *,
    proven_l2_sensitivity: float | None = None,
    # The standard deviation of the noise; if None, it follows from the sensitivity and rho.
    noise_std: float | None = None,
) -> Entry:
    """Return the ledger's entry of Gaussian noise on values of `size` numbers, rho-zCDP each.

    A record is in one of `disjoint_blocks` such values.
    """
    std = gaussian_noise_std(l2_sensitivity, rho) if noise_std is None else noise_std
    return Entry(
        mechanism="gaussian",
        label=label,
        sensitivity=l2_sensitivity,
        proven_sensitivity=proven_l2_sensitivity or l2_sensitivity,
        noise=std,
        size=size,
        rho=rho,
        disjoint_blocks=disjoint_blocks,
    )
