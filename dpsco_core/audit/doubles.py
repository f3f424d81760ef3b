"""Ledgers for audits only: one that runs a release many times at once, one whose noise is wrong.

Neither draws noise of its own: what is drawn, a `Ledger` has drawn and recorded. They exist so that
an audit can be fast, and so that a class can see it catch a mechanism that breaks its promise; no
method of the catalogue knows of them, and a test keeps them out of every module but the audits.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.privacy.correlated import CorrelatedSteps, Encoding
from dpsco_core.privacy.filter.noisy_test import TestedGaussian, TestedSteps
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import add_gaussian_noise, add_laplace_noise
from dpsco_core.privacy.steps import Steps


@dataclass
class WrongNoise(Ledger):
    """A ledger that records honestly, and scales the noise that it has drawn by `factor`.

    With a factor below 1 the release is less private than its entries say. With a factor of 1/K,
    and a method that clips K times further out than it claims, the noise is that of the claim and
    the clip is missing.
    """

    factor: float = 1.0

    def gaussian(self, value: Vector, **more: Any) -> Vector:
        return self._scaled(value, super().gaussian(value, **more))

    def shuffled_gaussian(self, value: Vector, **more: Any) -> Vector:
        return self._scaled(value, super().shuffled_gaussian(value, **more))

    def laplace(self, value: Vector, **more: Any) -> Vector:
        return self._scaled(value, Ledger.laplace(self, value, **more))

    def spherical_laplace(self, value: Vector, **more: Any) -> Vector:
        return self._scaled(value, super().spherical_laplace(value, **more))

    def generalized_gaussian(self, value: Vector, **more: Any) -> Vector:
        return self._scaled(value, super().generalized_gaussian(value, **more))

    def gaussian_steps(self, **more: Any) -> Steps:
        return self._scaled_steps(super().gaussian_steps(**more))

    def shuffled_steps(self, certificate: Any, **more: Any) -> Steps:
        """Without amplification `gaussian_steps` does it all."""
        steps = super().shuffled_steps(certificate, **more)
        return self._scaled_steps(steps) if certificate.amplified else steps

    def shaped_steps(self, release: Any, **more: Any) -> Steps:
        return self._scaled_steps(super().shaped_steps(release, **more))

    def correlated_steps(self, encoding: Encoding, **more: Any) -> CorrelatedSteps:
        steps = super().correlated_steps(encoding, **more)
        scaled = self.factor * encoding.l2_sensitivity
        steps.encoding = replace(encoding, l2_sensitivity=scaled)
        return steps

    def objective_laplace(self, **more: Any) -> Vector:
        return self.factor * super().objective_laplace(**more)

    def objective_noise(self, **more: Any) -> Vector:
        return self.factor * super().objective_noise(**more)

    def tested_gaussian(self, release: TestedGaussian, **more: Any) -> TestedSteps:
        """The noise of the tests is left as it is."""
        steps = super().tested_gaussian(release, **more)
        steps.release = replace(release, l2_sensitivity=self.factor * release.l2_sensitivity)
        return steps

    def disjoint(self, blocks: int) -> tuple[Ledger, ...]:
        """The ledgers of the blocks have the same fault."""
        return tuple(
            WrongNoise(part.budget, _parent=part._parent, _part=part._part, factor=self.factor)
            for part in super().disjoint(blocks)
        )

    def _scaled(self, value: Vector, noisy: Vector) -> Vector:
        return value + self.factor * (noisy - value)

    def _scaled_steps(self, steps: Steps) -> Steps:
        steps.noise_std *= self.factor
        return steps


@dataclass
class ManyRuns(Ledger):
    """A ledger that plays `runs` runs of a method at once, each with `factor` times its noise.

    For methods whose only use of randomness is one noisy value, which is what they release: that
    value becomes an array of shape (runs, d), a run a row. It records what one run spends.
    """

    runs: int = 1
    factor: float = 1.0
    # Shape (runs, d): the noisy values, of which an answer inside a ball says less.
    noisy: Vector | None = None

    def gaussian(self, value: Vector, *, rng: np.random.Generator, **more: Any) -> Vector:
        super().gaussian(value, rng=rng, **more)
        self.noisy = add_gaussian_noise(self._repeated(value), self._noise, rng)
        return self.noisy

    def laplace(self, value: Vector, *, rng: np.random.Generator, **more: Any) -> Vector:
        Ledger.laplace(self, value, rng=rng, **more)
        self.noisy = add_laplace_noise(self._repeated(value), self._noise, rng)
        return self.noisy

    @property
    def _noise(self) -> float:
        return self.entries[-1].noise * self.factor

    def _repeated(self, value: Vector) -> Vector:
        return np.broadcast_to(value, (self.runs, *value.shape))
