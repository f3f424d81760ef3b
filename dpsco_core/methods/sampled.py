"""Sums over the records that a secret sampler has chosen, and the noise that hides one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import ScaledRows, rows_per_block
from dpsco_core.methods.access import Selected
from dpsco_core.methods.records.base import check_level, clip_scaled, clip_to_ball
from dpsco_core.methods.statistics import Measuring, Statistic
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import PoissonGaussianSteps
from dpsco_core.privacy.mechanisms.steps import Steps
from dpsco_core.privacy.poisson import PoissonSteps


@dataclass(frozen=True, kw_only=True)
class PoissonSums(Statistic):
    """Sums over Poisson samples of rows clipped to the radius, divided by a public number.

    A row that is replaced moves the sum of every sample that it is in by up to 2R. The ledger
    accounts for the noise of all steps at once. Raises `InvalidInput` if the radius is outside the
    range of `check_level`.
    """

    radius: float  # R, the clip radius
    divisor: float  # the expected number of rows of a sample, by which a sum is divided
    certificate: PoissonSteps  # the proof that all steps together are private

    def __post_init__(self) -> None:
        """Refuse a radius outside its range."""
        check_level("radius", self.radius)

    def sensitivity(self, n: int, d: int) -> float:
        """Return the largest change of one step's value, 2R over the divisor."""
        return 2 * self.radius / self.divisor

    def open(self, ledger: Ledger, d: int) -> Steps:
        """Return the noise of all steps, after the ledger has accounted for it."""
        return ledger.open(
            PoissonGaussianSteps(certificate=self.certificate, size=d, largest_norm=self.radius),
            label="sums of clipped gradients, each over a Poisson sample",
        )

    def measuring(self, n: int, d: int, rho: float, steps: int) -> Measuring:
        """Return what makes the releases of a run; it opens their noise at the first step."""
        return NoisySums(self)


@dataclass
class NoisySums:
    """The noisy sums of one run; their noise is accounted for at the first step."""

    statistic: PoissonSums
    noise: Steps | None = None  # the noise of all steps; None before the first step
    diagnostics: ClassVar[Mapping[str, float]] = {}

    def take(self, rows: Selected, ledger: Ledger, rng: np.random.Generator, t: int) -> Vector:
        """Return the noisy sum over a sample, divided by the public number, shape (d,).

        It is never divided by the number of rows in the sample, which is secret.
        """
        statistic, d = self.statistic, rows.rows.d
        if self.noise is None:
            self.noise = statistic.open(ledger, d)
        noisy: Vector = selected_sum(rows, statistic.radius) + self.noise.noise(1, d, rng)[0]
        return noisy / statistic.divisor


def selected_sum(selected: Selected, radius: float) -> Vector:
    """Return the sum of the selected rows, each projected on the ball of `radius`, shape (d,)."""
    rows, places = selected.rows, selected.places
    total, size = np.zeros(rows.d), rows_per_block(rows.d)
    for low in range(0, len(places), size):
        part = places[low : low + size]
        if isinstance(rows, ScaledRows):
            base = rows.x.take(part)
            norms, coefficients = rows.x.norms()[part], rows.coefficients_of(base, part)
            block, weights = clip_scaled(base, coefficients, norms, radius)
        else:
            block, weights = clip_to_ball(rows.take(part), radius)
        total += weights @ block
    return total
