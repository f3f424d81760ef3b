"""Ledgers for audits only: one runs a release many times at once, one has the wrong noise.

Neither draws noise itself: a `Ledger` draws and records all of it. They make audits fast, and let a
class watch an audit catch a mechanism that breaks its promise. No method of the catalogue uses
them, and a test keeps them out of every module but the audits.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import (
    CorrelatedSteps,
    Exponential,
    GaussianNoise,
    LaplaceNoise,
    Steps,
    TestedSteps,
)
from dpsco_core.privacy.mechanisms.noise import add_gaussian_noise, add_laplace_noise


@dataclass
class WrongNoise(Ledger):
    """A ledger with honest entries that multiplies the drawn noise by `factor`.

    With a factor below 1 the release is less private than its entries say. A factor of 1/K with a
    method that clips K times further out than it claims gives the claimed noise without the clip.
    """

    factor: float = 1.0

    def release(
        self, mechanism: Any, value: Vector, rng: np.random.Generator, *, label: str = ""
    ) -> Any:
        """Release with scaled noise; for a choice by scores, the scores are scaled up instead."""
        if isinstance(mechanism, Exponential):
            return super().release(mechanism, value / self.factor, rng, label=label)
        noisy = super().release(mechanism, value, rng, label=label)
        return value + self.factor * (noisy - value)

    def open(self, sequence: Any, *, label: str = "") -> Any:
        """Open a sequence with scaled noise; the noise of its tests is not scaled."""
        steps = super().open(sequence, label=label)
        if isinstance(steps, Steps):
            steps.noise_std *= self.factor
        elif isinstance(steps, CorrelatedSteps):
            scaled = self.factor * steps.encoding.l2_sensitivity
            steps.encoding = replace(steps.encoding, l2_sensitivity=scaled)
        elif isinstance(steps, TestedSteps):
            scaled = self.factor * steps.release.l2_sensitivity
            steps.release = replace(steps.release, l2_sensitivity=scaled)
        return steps

    def disjoint(self, blocks: int) -> tuple[Ledger, ...]:
        """Return the ledgers of the blocks, with the same fault."""
        return tuple(
            WrongNoise(part.budget, _parent=part._parent, _part=part._part, factor=self.factor)
            for part in super().disjoint(blocks)
        )


@dataclass
class ManyRuns(Ledger):
    """A ledger that performs `runs` runs of a method at once, each with `factor` times its noise.

    It suits methods whose only randomness is one noisy value, which they release: that value
    becomes an array of shape (runs, d), one row per run. It records what one run spends.
    """

    runs: int = 1
    factor: float = 1.0
    # Shape (runs, d): the noisy values before any projection, which would hide information.
    noisy: Vector | None = None

    def release(
        self, mechanism: Any, value: Vector, rng: np.random.Generator, *, label: str = ""
    ) -> Any:
        """Release once through the ledger, and draw the noise of many further runs."""
        single = super().release(mechanism, value, rng, label=label)
        if not isinstance(mechanism, GaussianNoise | LaplaceNoise):
            return single
        add_noise = (
            add_gaussian_noise if isinstance(mechanism, GaussianNoise) else add_laplace_noise
        )
        values = np.broadcast_to(value, (self.runs, *value.shape))
        self.noisy = add_noise(values, self.entries[-1].noise * self.factor, rng)
        return self.noisy
