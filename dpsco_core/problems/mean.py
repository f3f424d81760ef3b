"""Mean estimation: the error is the l2 distance to the true mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpsco_core.card import KAMATH_2022, Card
from dpsco_core.data.base import Distribution
from dpsco_core.data.rows import DenseRows
from dpsco_core.errors import require
from dpsco_core.privacy.budget import Budget
from dpsco_core.problems.base import Constants, Setting


@dataclass(frozen=True, kw_only=True)
class MeanEstimation:
    r"""Estimate :math:`\mu = E X` from n records; the error is :math:`\|\hat\mu - \mu\|_2`.

    Parameters
    ----------
    distribution : Distribution
        The law of a record. Its p-th central coordinate moment is at most 1.
    mean_bound : float
        Public bound R > 0 on the l2 norm of the mean, which methods may use (half the diameter of
        the ball that is known to hold it). The caller answers for it: a scenario checks its own.
    """

    distribution: Distribution
    mean_bound: float

    card: ClassVar[Card] = Card(
        slug="mean",
        name="Mean estimation",
        paper=KAMATH_2022,
        statement="Section 4",
        summary="Estimate the mean of heavy-tailed records; the error is the distance to it.",
    )

    def __post_init__(self) -> None:
        require(self.mean_bound > 0, "mean_bound", "a positive number", self.mean_bound)

    def draw(self, rng: np.random.Generator) -> MeanEstimation:
        """Return one member of the prior: hard instances draw their pattern."""
        return replace(self, distribution=self.distribution.draw(rng))

    def sample(self, n: int, rng: np.random.Generator) -> DenseRows:
        """Return n independent records."""
        return self.distribution.sample(n, rng)

    def error(self, estimate: NDArray[np.float64]) -> float:
        """Return the l2 distance of `estimate`, shape (d,), to the true mean."""
        return float(np.linalg.norm(estimate - self.distribution.mean))

    @property
    def constants(self) -> Constants:
        r"""The certified constants of the class that holds this law.

        The coordinate-wise class has moment 1 and hence a covariance trace of at most d. The
        directional constant adds the mean's bound to the law's own central one (Minkowski).
        """
        law = self.distribution
        return Constants(
            coordinate_moment=1.0,
            directional_moment=self.mean_bound + law.directional_moment,
            variance_trace=float(law.d),
            mean_gradient_bound=self.mean_bound,
        )

    def setting(self, n: int, budget: Budget, *, spike_probability: float | None = None) -> Setting:
        """Return what methods and bounds may know about this problem at n records."""
        return Setting(
            n=n,
            d=self.distribution.d,
            moment_order=self.distribution.moment_order,
            budget=budget,
            constants=self.constants,
            spike_probability=spike_probability,
        )
