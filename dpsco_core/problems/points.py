"""The base of problems whose records are points of the parameter's space."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from dpsco_core.data.base import Distribution
from dpsco_core.data.blocks import draw_key
from dpsco_core.data.rows import DenseRows
from dpsco_core.geometry.geometries import Geometry
from dpsco_core.problems.point_losses import PointLoss
from dpsco_core.problems.posed import OptimisationProblem
from dpsco_core.problems.samples.generated import GeneratedSample
from dpsco_core.problems.samples.points import PointSample


@dataclass(frozen=True, kw_only=True)
class PointProblem(OptimisationProblem):
    """Records Z from a distribution, and a loss of the parameter and the record."""

    # The distribution of Z, whose `offset` is the norm of the mean; hard instances fix their mean.
    distribution: Distribution
    loss: ClassVar[PointLoss]

    def draw(self, rng: np.random.Generator) -> Self:
        """Return the problem with a drawn member of the law's prior."""
        return replace(self, distribution=self.distribution.draw(rng))

    @property
    def law(self) -> Distribution:
        """The law of a point."""
        return self.distribution

    @classmethod
    def on_law(cls, law: Any, *, offset: float, radius: float, geometry: Geometry) -> Self:
        """Return the problem with points of this law, on a set of this geometry and radius."""
        return cls(distribution=law, radius=radius, geometry=geometry)

    def sample(self, n: int, rng: np.random.Generator) -> PointSample:
        """Draw n independent records, and hold them in memory."""
        return self.records(self.distribution.sample(n, rng), rng)

    def stream(self, n: int, rng: np.random.Generator) -> GeneratedSample:
        """Return n records that are drawn block by block as they are read."""
        key = draw_key(rng)
        return GeneratedSample.from_keys(self, key, key, n)

    def records(self, rows: DenseRows, rng: np.random.Generator) -> PointSample:
        """Return the given records with the loss, without drawing anything."""
        return PointSample(points=rows, loss=self.loss, constraint=self.constraint)
