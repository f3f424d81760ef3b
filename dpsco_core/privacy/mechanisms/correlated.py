r"""Noise that cancels: steps on disjoint records whose noise is correlated from step to step.

Write the values of T steps as the rows of :math:`G \in \mathbb R^{T\times d}`. What a descent uses
are their prefix sums :math:`AG`, A the lower triangular matrix of ones. It factors into
:math:`A = CC`, C lower triangular and Toeplitz with the entries
:math:`r_k = \binom{2k}k4^{-k}`, the coefficients of :math:`(1-x)^{-1/2}`. Released is
:math:`CG + Z` with independent noise Z; the steps are :math:`C^{-1}(CG+Z) = G + C^{-1}Z`, and their
sums :math:`AG + CZ` have a noise that grows like the logarithm of the number of steps
(theory/practice.md, 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.privacy.checks import check_count, check_noise, check_positive, check_release
from dpsco_core.privacy.entries import Entry
from dpsco_core.privacy.mechanisms.gaussian import gaussian_entry
from dpsco_core.privacy.mechanisms.noise import gaussian_noise, gaussian_noise_std
from dpsco_core.privacy.mechanisms.steps import BudgetExceeded


def root_coefficients(steps: int) -> Vector:
    r"""Return :math:`r_0..r_{T-1}`, the coefficients of :math:`(1-x)^{-1/2}`, shape (T,).

    Examples
    --------
    >>> root_coefficients(4).tolist()
    [1.0, 0.5, 0.375, 0.3125]
    """
    k = np.arange(1, steps)
    return np.cumprod(np.concatenate([[1.0], (2 * k - 1) / (2 * k)]))


def inverse_coefficients(steps: int) -> Vector:
    r"""Return :math:`s_0..s_{T-1}`, the coefficients of :math:`(1-x)^{1/2}`, shape (T,).

    Examples
    --------
    >>> inverse_coefficients(4).tolist()
    [1.0, -0.5, -0.125, -0.0625]
    """
    k = np.arange(1, steps)
    return np.cumprod(np.concatenate([[1.0], (2 * k - 3) / (2 * k)]))


def encoding_norm(steps: int) -> float:
    r"""Return :math:`\kappa_T = (\sum_{k<T}r_k^2)^{1/2}`, the largest norm of a column of C.

    If a record changes, the encoding of T steps moves by up to this multiple of the change of the
    record's own step.

    Examples
    --------
    >>> [round(encoding_norm(steps), 4) for steps in (1, 4, 100, 1000)]
    [1.0, 1.22, 1.591, 1.8069]
    """
    return math.sqrt(math.fsum(np.square(root_coefficients(steps))))


@dataclass(frozen=True, kw_only=True)
class Encoding:
    r"""T steps on disjoint records, released as :math:`CG + Z`, which together are rho-zCDP.

    Every step may depend on all earlier outputs. A record enters one step, which and when must not
    depend on the data (theory/practice.md, 1.2).
    """

    label: ClassVar[str] = "steps on disjoint records, encoded together"

    steps: int  # the number T of steps
    size: int  # the number of coordinates per step
    l2_sensitivity: float  # the sensitivity of the value of one step
    rho: float  # the rho of all steps together

    def __post_init__(self) -> None:
        """Refuse parameters that are not positive, and noise that is not finite."""
        check_positive("l2_sensitivity", self.l2_sensitivity)
        check_positive("rho", self.rho)
        check_count("steps", self.steps)
        check_count("size", self.size)
        check_noise(self.noise_std)

    @property
    def encoded_sensitivity(self) -> float:
        """The sensitivity of CG: that of a step times the largest norm of a column of C."""
        return self.l2_sensitivity * encoding_norm(self.steps)

    @property
    def noise_std(self) -> float:
        """The standard deviation of every entry of Z."""
        return gaussian_noise_std(self.encoded_sensitivity, self.rho)

    def entries(self, label: str) -> tuple[Entry, ...]:
        """Return the ledger's entry: one Gaussian release of T d numbers."""
        size = self.steps * self.size
        return (gaussian_entry(label, self.encoded_sensitivity, self.rho, size, 1),)

    def open(self) -> CorrelatedSteps:
        """Return the object that releases the steps."""
        return CorrelatedSteps(encoding=self)


@dataclass(kw_only=True)
class CorrelatedSteps:
    """The steps of an `Encoding`, accounted for and made by `Ledger.open`."""

    encoding: Encoding
    _noise: Vector = field(init=False, repr=False)  # the first rows of the noise Z, drawn so far
    _steps_released: int = field(default=0, init=False, repr=False)
    _inverse: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Prepare the noise of all steps, and the coefficients of the encoding's inverse."""
        self._noise = np.empty((self.encoding.steps, self.encoding.size))
        self._inverse = inverse_coefficients(self.encoding.steps)

    def release(self, value: Vector, rng: np.random.Generator) -> Vector:
        r"""Return the next step's value plus noise :math:`\sum_{k\le t}s_kz_{t-k}`, shape (d,).

        Raises `InvalidInput` unless the value has the size that was accounted for and is finite;
        `BudgetExceeded` after the last step. Then nothing is drawn.
        """
        size, steps, t = self.encoding.size, self.encoding.steps, self._steps_released
        fits = value.shape == (size,)
        require(fits, "value", f"of the shape ({size},) that was accounted for", value.shape)
        check_release(value, self.encoding.noise_std)
        if t == steps:
            raise BudgetExceeded(f"{t + 1} steps, and {steps} were accounted for")
        self._noise[t] = self._fresh(rng)
        self._steps_released += 1
        noisy: Vector = value + self._inverse[t::-1] @ self._noise[: t + 1]
        return noisy

    def _fresh(self, rng: np.random.Generator) -> Vector:
        """Draw the row of the noise Z for the next step, shape (size,)."""
        return gaussian_noise(self.encoding.size, self.encoding.noise_std, rng)
