"""Laplace noise, of independent entries or with a uniform direction: epsilon-DP."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.privacy.checks import check_positive, check_release
from dpsco_core.privacy.entries import Entry, pure_share
from dpsco_core.privacy.mechanisms.noise import (
    add_laplace_noise,
    add_spherical_laplace_noise,
    laplace_noise_scale,
)


@dataclass(frozen=True, kw_only=True)
class LaplaceNoise:
    """Independent Laplace noise on every entry of a value of any shape."""

    label: ClassVar[str] = "value"

    l1_sensitivity: float  # the largest change of the value in l1 norm between neighbours
    epsilon: float  # the share of the budget

    def __post_init__(self) -> None:
        """Refuse a sensitivity or an epsilon that is not positive."""
        check_positive("l1_sensitivity", self.l1_sensitivity)
        check_positive("epsilon", self.epsilon)

    @property
    def noise_scale(self) -> float:
        """The scale of the noise in every entry."""
        return laplace_noise_scale(self.l1_sensitivity, self.epsilon)

    def entry(self, value: Vector, label: str) -> Entry:
        """Return the ledger's entry for the release of `value`."""
        check_release(value, self.noise_scale)
        return laplace_entry("laplace", label, self.l1_sensitivity, self.epsilon, np.size(value))

    def draw(self, value: Vector, rng: np.random.Generator) -> Vector:
        """Return `value` plus Laplace noise in every entry."""
        return add_laplace_noise(value, self.noise_scale, rng)


@dataclass(frozen=True, kw_only=True)
class SphericalLaplaceNoise:
    """Noise on a vector with density proportional to e^(-epsilon |z|_2 / sensitivity)."""

    label: ClassVar[str] = "value"

    l2_sensitivity: float  # the largest change of the value in l2 norm between neighbours
    epsilon: float  # the share of the budget

    def __post_init__(self) -> None:
        """Refuse a sensitivity or an epsilon that is not positive."""
        check_positive("l2_sensitivity", self.l2_sensitivity)
        check_positive("epsilon", self.epsilon)

    @property
    def noise_scale(self) -> float:
        """The scale of the noise's norm."""
        return laplace_noise_scale(self.l2_sensitivity, self.epsilon)

    def entry(self, value: Vector, label: str) -> Entry:
        """Return the ledger's entry for the release of `value`, shape (d,)."""
        check_release(value, self.noise_scale)
        values = (label, self.l2_sensitivity, self.epsilon, np.size(value))
        return laplace_entry("spherical laplace", *values)

    def draw(self, value: Vector, rng: np.random.Generator) -> Vector:
        """Return `value` plus noise, shape (d,)."""
        return add_spherical_laplace_noise(value, self.noise_scale, rng)


def laplace_entry(
    mechanism: Literal["laplace", "spherical laplace", "pure objective perturbation"],
    label: str,
    sensitivity: float,
    epsilon: float,
    size: int,
) -> Entry:
    """Return the ledger's entry of Laplace noise: a value of `size` entries is epsilon-DP."""
    return Entry(
        mechanism=mechanism,
        label=label,
        sensitivity=sensitivity,
        proven_sensitivity=sensitivity,
        noise=laplace_noise_scale(sensitivity, epsilon),
        size=size,
        rho=pure_share(mechanism, epsilon),
        epsilon=epsilon,
    )
