r"""Records of a generalised linear model, with loss :math:`\phi(\langle x, w\rangle, y)`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector, read_only, real_array
from dpsco_core.base.errors import require
from dpsco_core.data.rows import DenseRows, ScaledRows, rows_per_block
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.problems.links import FARTHEST, Link

# the number of rows per partial sum of gradients: longer sums have larger rounding errors
ROWS_PER_SUM = 1024


@dataclass(frozen=True, eq=False)
class LinearSample:
    """Features and targets, with a link and a constraint set; see `Sample`."""

    features: DenseRows  # n rows of dimension d
    targets: Vector  # the targets of the records, shape (n,)
    link: Link  # the loss of a margin and a target
    constraint: ConstraintSet
    # Shape (n,): factors by which `bounded` has shrunk the features; None if no record was shrunk.
    shrink: Vector | None = None

    def __post_init__(self) -> None:
        """Make the targets real and read-only; refuse a number of them that differs from n."""
        object.__setattr__(self, "targets", read_only(real_array("targets", self.targets)))
        if self.shrink is not None:
            object.__setattr__(self, "shrink", read_only(real_array("shrink", self.shrink)))
        is_matching = self.targets.shape == (self.features.n,)
        require(is_matching, "targets", f"of shape ({self.features.n},)", self.targets.shape)

    @property
    def n(self) -> int:
        """The number of records."""
        return self.features.n

    @property
    def d(self) -> int:
        """The number of features."""
        return self.features.d

    def gradients(self, w: Vector) -> ScaledRows:
        """Return the per-sample gradients at `w` as slopes times features, without forming them."""

        def coefficients(block: Vector, rows: slice | NDArray[np.intp]) -> Vector:
            """Return the slopes of some rows, times the factors of `bounded`."""
            with np.errstate(over="ignore", invalid="ignore"):
                # The margins of selected records are computed one by one: the last bit of a matrix
                # product may depend on the other rows, and at a kink that bit changes the gradient.
                margins = block @ w if isinstance(rows, slice) else np.vecdot(block, w)
                if self.shrink is None:
                    return self.link.slope(margins, self.targets[rows])
                factors = self.shrink[rows]
                return factors * self.link.slope(factors * margins, self.targets[rows])

        return ScaledRows(self.features, coefficients)

    def gradient(self, w: Vector, i: int) -> Vector:
        """Return the gradient of record `i` at w, shape (d,)."""
        x = self.features.read(i)
        with np.errstate(over="ignore", invalid="ignore"):
            margin, target = float(x.dot(w)), float(self.targets[i])
            factor = 1.0 if self.shrink is None else float(self.shrink[i])
            gradient: Vector = (factor * self.link.slope_at(factor * margin, target)) * x
            return gradient

    def mean_gradient(self, w: Vector) -> Vector:
        """Return the gradient of the empirical risk at `w`.

        After `bounded` its relative rounding error is at most `mean_gradient_rounding`.
        """
        total = np.zeros(self.d)
        with np.errstate(over="ignore", invalid="ignore"):
            for part in self.gradients(w).factors():
                slopes, base = part.coefficients, part.base
                assert slopes is not None
                pieces = range(0, len(base), ROWS_PER_SUM)
                sums = [slopes[i : i + ROWS_PER_SUM] @ base[i : i + ROWS_PER_SUM] for i in pieces]
                total += np.add.reduce(sums)
        return total / self.n

    def risk(self, w: Vector) -> float:
        """Return the mean loss at w, computed block by block."""
        total, low = 0.0, 0
        with np.errstate(over="ignore", invalid="ignore"):
            for block in self.features.blocks():
                rows = slice(low, low + len(block))
                margins = block @ w
                if self.shrink is not None:
                    margins *= self.shrink[rows]
                total += float(self.link.value(margins, self.targets[rows]).sum())
                low += len(block)
        return total / self.n

    def part(self, start: int, stop: int) -> LinearSample:
        """Return the sample of the records from `start` to `stop`."""
        return replace(
            self,
            features=DenseRows(self.features.x[start:stop]),
            targets=self.targets[start:stop],
            shrink=None if self.shrink is None else self.shrink[start:stop],
        )

    def rounded(self, curvature: float) -> LinearSample:
        """Return the sample with the kinks of its loss rounded off; see `Link.rounded`."""
        return replace(self, link=self.link.rounded(curvature))

    def bounded(self, radius: float, exponent: float = 2.0) -> LinearSample:
        """Return the sample with features shrunk to norm `radius` and targets clipped to range.

        Features that are not finite, or longer than `FARTHEST`, become 0 in a copy, which only
        samples with broken records need.
        """
        require(0 < radius < math.inf, "radius", "finite and above 0", radius)
        features = self.features
        norms = features.norms()
        if not norms.max() <= FARTHEST:
            features = DenseRows(np.where((norms <= FARTHEST)[:, None], features.x, 0.0))
            norms = features.norms()
        if exponent != 2:
            norms = features.norms_in(exponent)
        shrink = np.maximum(norms, radius)
        np.divide(radius, shrink, out=shrink)
        if self.shrink is not None:
            shrink = np.minimum(shrink, self.shrink)
        return replace(
            self, features=features, targets=self.link.admissible(self.targets), shrink=shrink
        )


def mean_gradient_rounding(n: int, d: int) -> float:
    r"""Return a bound on the rounding of `LinearSample.mean_gradient`, for every data set.

    The bound is relative to :math:`aR + bR^2\|w\|`, with the largest slope a, the largest curvature
    b and the radius R of `bounded`. In units of :math:`2^{-53}` it counts the terms of a partial
    sum, the partial sums of a block, the blocks, the d terms of a margin (whose error enters
    through the curvature), and the rounding of a slope and its factors.

    Examples
    --------
    >>> mean_gradient_rounding(10_000, 10) < 2e-13
    True
    """
    rows = rows_per_block(d)
    terms = min(rows, ROWS_PER_SUM) + math.ceil(rows / ROWS_PER_SUM) + math.ceil(n / rows) + d + 20
    return terms * 2.0**-53
