r"""Records that are points of the parameter's space, with a loss :math:`\ell(w, z)`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.data.rows import DenseRows, MappedRows, row_norms
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.norms import lq_norm
from dpsco_core.geometry.norms import row_norms as row_norms_in
from dpsco_core.problems.links import FARTHEST
from dpsco_core.problems.point_losses import PointLoss


@dataclass(frozen=True, eq=False)
class PointSample:
    """Points with a loss and a constraint set; see `Sample`."""

    points: DenseRows  # n rows of dimension d
    loss: PointLoss
    constraint: ConstraintSet
    limit: float = math.inf  # longer points are shrunk to this norm
    limit_exponent: float = 2.0  # the exponent of the norm that `limit` refers to

    @property
    def n(self) -> int:
        """The number of records."""
        return self.points.n

    @property
    def d(self) -> int:
        """The number of coordinates of a point."""
        return self.points.d

    def gradients(self, w: Vector) -> MappedRows:
        """Return the per-sample gradients at `w`, formed block by block."""

        def gradients(block: Vector) -> Vector:
            """Return the gradients of a block of points, shrunk to the limit."""
            with np.errstate(over="ignore", invalid="ignore"):
                return self.loss.gradients(w, self._shrunk_to_limit(block))

        return MappedRows(self.points, gradients)

    def gradient(self, w: Vector, i: int) -> Vector:
        """Return the gradient of record `i`, shrunk to the limit, at w, shape (d,)."""
        point = self.points.read(i)
        with np.errstate(over="ignore", invalid="ignore"):
            if math.isfinite(self.limit):
                norm = float(self.points.norms()[i])
                point = point if norm <= FARTHEST else np.zeros_like(point)
                if self.limit_exponent != 2:
                    norm = lq_norm(point, self.limit_exponent)
                if norm > self.limit:
                    point = point * (self.limit / norm)
            return self.loss.gradient(w, point)

    def mean_gradient(self, w: Vector) -> Vector:
        """Return the gradient of the empirical risk at `w`, in at most one pass."""
        if self.loss.needs_only_the_mean:
            with np.errstate(over="ignore", invalid="ignore"):
                return self.loss.gradient(w, self._mean)
        total = np.zeros(self.d)
        with np.errstate(over="ignore", invalid="ignore"):
            for block in self.gradients(w).blocks():
                total += np.ones(len(block)) @ block
        return total / self.n

    def risk(self, w: Vector) -> float:
        """Return the mean loss at w, computed block by block."""
        with np.errstate(over="ignore", invalid="ignore"):
            losses = (
                self.loss.value(w, self._shrunk_to_limit(b)).sum() for b in self.points.blocks()
            )
            return float(sum(losses)) / self.n

    def part(self, start: int, stop: int) -> PointSample:
        """Return the sample of the records from `start` to `stop`."""
        return replace(self, points=DenseRows(self.points.x[start:stop]))

    def bounded(self, radius: float, exponent: float = 2.0) -> PointSample:
        """Return the sample with points shrunk to norm `radius`; ones not finite become 0."""
        require(0 < radius < math.inf, "radius", "finite and above 0", radius)
        is_same_norm = math.isinf(self.limit) or exponent == self.limit_exponent
        require(
            is_same_norm, "exponent", f"that of the first bound, {self.limit_exponent:g}", exponent
        )
        return replace(self, limit=min(radius, self.limit), limit_exponent=exponent)

    def _shrunk_to_limit(self, block: Vector) -> Vector:
        """Return a block with points longer than `limit` shrunk to it; ones not finite become 0."""
        if not math.isfinite(self.limit):
            return block
        norms = row_norms(block)
        broken = ~(norms <= FARTHEST)
        if broken.any():
            block = np.where(broken[:, None], 0.0, block)
        if self.limit_exponent != 2:
            norms = row_norms_in(block, self.limit_exponent)
        elif not broken.any() and norms.max() <= self.limit:
            return block
        factors = self.limit / np.maximum(norms, self.limit)
        return factors[:, None] * block

    @cached_property
    def _mean(self) -> Vector:
        """The mean of the points after they are shrunk to the limit, shape (d,)."""
        total = np.zeros(self.d)
        for block in self.points.blocks():
            bounded_block = self._shrunk_to_limit(block)
            total += np.ones(len(bounded_block)) @ bounded_block
        total /= self.n
        total.flags.writeable = False
        return total
