"""Ledgers for audits only: one that runs a release many times at once, one whose noise is wrong.

Neither draws noise of its own: what is drawn, a `Ledger` has drawn and recorded. They exist so that
an audit can be fast, and so that a class can see it catch a mechanism that breaks its promise; no
method of the catalogue knows of them, and a test keeps them out of every module but the audits.
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
    """A ledger that records honestly, and scales the noise that it has drawn by `factor`.

    With a factor below 1 the release is less private than its entries say. With a factor of 1/K,
    and a method that clips K times further out than it claims, the noise is that of the claim and
    the clip is missing.
    """

    factor: float = 1.0

    def release(
        self, mechanism: Any, value: Vector, rng: np.random.Generator, *, label: str = ""
    ) -> Any:
        """What an exponential mechanism chooses is left as it is."""
        noisy = super().release(mechanism, value, rng, label=label)
        if isinstance(mechanism, Exponential):
            return noisy
        return value + self.factor * (noisy - value)

    def open(self, sequence: Any, *, label: str = "") -> Any:
        """The noise of tests is left as it is."""
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
        """The ledgers of the blocks have the same fault."""
        return tuple(
            WrongNoise(part.budget, _parent=part._parent, _part=part._part, factor=self.factor)
            for part in super().disjoint(blocks)
        )


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

    def release(
        self, mechanism: Any, value: Vector, rng: np.random.Generator, *, label: str = ""
    ) -> Any:
        once = super().release(mechanism, value, rng, label=label)
        if not isinstance(mechanism, GaussianNoise | LaplaceNoise):
            return once
        add = add_gaussian_noise if isinstance(mechanism, GaussianNoise) else add_laplace_noise
        every = np.broadcast_to(value, (self.runs, *value.shape))
        self.noisy = add(every, self.entries[-1].noise * self.factor, rng)
        return self.noisy
