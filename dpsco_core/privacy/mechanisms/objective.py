r"""Objective perturbation: the linear term G that is added to n times an objective.

Its exact value without noise is 0, shape (d,); what is private is the exact minimiser of the
perturbed objective, which the caller finds.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.privacy.checks import check_count, check_noise, check_positive
from dpsco_core.privacy.entries import Entry, approximate_entry, pure_share
from dpsco_core.privacy.mechanisms.laplace import laplace_entry
from dpsco_core.privacy.mechanisms.noise import (
    add_spherical_laplace_noise,
    gaussian_noise,
    laplace_noise_scale,
    objective_noise_std,
)


@dataclass(frozen=True, kw_only=True)
class ObjectiveGaussian:
    """A Gaussian linear term: the minimiser is (epsilon + jacobian_epsilon, delta)-DP.

    It is for generalised linear losses and for half the squared distance (theory/su-zhao-wang.md,
    2.1).
    """

    label: ClassVar[str] = "linear term of the objective"

    # 2L: the largest change of n times the gradient of the empirical risk between neighbours.
    l2_sensitivity: float
    epsilon: float  # the epsilon that the noise may spend
    # The epsilon of the change of variables, at least 0; the caller's regulariser must ensure it.
    jacobian_epsilon: float
    delta: float
    # the paper's noise, which must be at least `objective_noise_std`
    own_noise_std: float | None = None

    def __post_init__(self) -> None:
        """Refuse parameters outside their ranges, and less noise than the proof requires."""
        check_positive("l2_sensitivity", self.l2_sensitivity)
        check_positive("epsilon", self.epsilon)
        require(self.jacobian_epsilon >= 0, "jacobian_epsilon", "at least 0", self.jacobian_epsilon)
        require(0 < self.delta < 1, "delta", "above 0 and below 1", self.delta)
        least_std, std = self._least_noise_std, self.noise_std
        require(std >= least_std * (1 - 1e-12), "noise_std", f"at least {least_std:.6g}", std)

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise in every entry."""
        return self._least_noise_std if self.own_noise_std is None else self.own_noise_std

    @property
    def _least_noise_std(self) -> float:
        """The least standard deviation of the noise that is proven private."""
        return objective_noise_std(self.l2_sensitivity, self.epsilon, self.delta)

    def entry(self, value: Vector, label: str) -> Entry:
        """Return the ledger's entry of a linear term of the size of `value`."""
        check_count("size", value.size)
        check_noise(self.noise_std)
        cost = (self.epsilon + self.jacobian_epsilon, self.delta)
        values = (label, self.l2_sensitivity, self.noise_std, value.size, cost)
        return approximate_entry("objective perturbation", *values)

    def draw(self, value: Vector, rng: np.random.Generator) -> Vector:
        """Draw the linear term G, shape (d,)."""
        return value + gaussian_noise(value.size, self.noise_std, rng)


@dataclass(frozen=True, kw_only=True)
class ObjectiveLaplace:
    """A linear term under pure DP: the minimiser is (epsilon + jacobian_epsilon)-DP.

    See theory/pure-optimisers.md, 2.1, and `ObjectiveGaussian`, whose parameters these are.
    """

    label: ClassVar[str] = "linear term of the objective"

    l2_sensitivity: float
    epsilon: float
    jacobian_epsilon: float

    def __post_init__(self) -> None:
        """Refuse parameters outside their ranges."""
        require(self.jacobian_epsilon >= 0, "jacobian_epsilon", "at least 0", self.jacobian_epsilon)
        check_positive("l2_sensitivity", self.l2_sensitivity)
        check_positive("epsilon", self.epsilon)
        check_noise(self.noise_scale)

    @property
    def noise_scale(self) -> float:
        """The scale of the noise's norm."""
        return laplace_noise_scale(self.l2_sensitivity, self.epsilon)

    def entry(self, value: Vector, label: str) -> Entry:
        """Return the ledger's entry of a linear term of the size of `value`."""
        values = (label, self.l2_sensitivity, self.epsilon, value.size)
        entry = laplace_entry("pure objective perturbation", *values)
        epsilon = self.epsilon + self.jacobian_epsilon
        return replace(entry, epsilon=epsilon, rho=pure_share(entry.mechanism, epsilon))

    def draw(self, value: Vector, rng: np.random.Generator) -> Vector:
        """Draw the linear term G, shape (d,)."""
        return add_spherical_laplace_noise(value, self.noise_scale, rng)
