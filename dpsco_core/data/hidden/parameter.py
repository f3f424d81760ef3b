r"""What hard instances of linear models share: the prior hides the true parameter in the targets.

Features are rare and have mean 0: with probability s one of a few spikes, times a fair sign;
otherwise 0. Their law does not depend on the hidden signs :math:`\nu`, or only through the sign
that the target repeats. See theory/bounds-everywhere.md, 6.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.data.base import Hidden
from dpsco_core.data.hard import HardInstance
from dpsco_core.geometry.base import ConstraintSet


@dataclass(frozen=True, kw_only=True)
class HiddenParameter(HardInstance):
    """Rare features of one length and mean 0, and signs that only targets show.

    `spike_probability` is the probability that a record's features are not 0.

    Raises `InvalidInput` if a value is outside its range.
    """

    # the hidden signs, as many as `sign_count`; None until they are drawn
    pattern: tuple[int, ...] | None = None

    hides: ClassVar[Hidden] = "parameter"
    fits_model: ClassVar[bool] = True  # whether the targets are those of the true parameter
    # For problems with residuals: how much further from 0 the target of a spike is than its margin
    # at the true parameter.
    label_gap: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        """Refuse a pattern that is not `sign_count` signs."""
        super().__post_init__()
        if self.pattern is not None:
            fits = len(self.pattern) == self.sign_count and set(self.pattern) <= {-1, 1}
            require(fits, "pattern", f"{self.sign_count} signs -1 or +1", self.pattern)

    @property
    def sign_count(self) -> int:
        """The number of hidden signs."""
        return self.d

    @property
    def signs(self) -> Vector:
        """The hidden signs, shape (`sign_count`,).

        Raises `InvalidInput` if they have not been drawn.
        """
        require(self.pattern is not None, "pattern", "drawn first, with draw(rng)", self.pattern)
        return np.array(self.pattern, dtype=np.float64)

    @abstractmethod
    def parameter(self, body: ConstraintSet) -> Vector:
        """Return the true parameter in a constraint set, shape (d,)."""

    @abstractmethod
    def spike_margins(self, w: Vector) -> Vector:
        """Return the margins of the spikes at `w`, one for each; all spikes are equally likely."""

    @property
    def mean(self) -> Vector:
        """The mean of the features, which is 0, shape (d,)."""
        return np.zeros(self.d)

    @property
    def mean_norm(self) -> float:
        """The norm of the mean, which is 0."""
        return 0.0

    @property
    def class_moment(self) -> float:
        r"""A bound on the central p-th moments of gradients, if slopes of the loss are in [-1, 1].

        A gradient's coordinate lies in an interval that contains 0 and is as long as the entry c of
        a spike, so that :math:`E|g_j-Eg_j|^p\le c^{p-2}E g_j^2\le E|x_j|^p`.
        """
        return self.raw_coordinate(self.moment_order)

    @property
    def variance_trace(self) -> float:
        """The trace of the covariance; the mean is 0."""
        return self.second_moment_trace

    @property
    def directional_moment(self) -> float:
        """A bound on the root of the p-th raw moment in any direction."""
        return self.raw_direction(self.moment_order)

    def central_direction(self, k: float) -> float:
        """Bound the root of the k-th central moment in any direction; the mean is 0."""
        return self.raw_direction(k)

    def moment(self, k: float) -> float:
        """Return the k-th central absolute moment of a coordinate; the mean is 0."""
        require(k >= 0, "k", "a number of at least 0", k)
        if k == math.inf:
            return math.inf
        return 1.0 if k == 0 else self.raw_coordinate(k)

    def draw(self, rng: np.random.Generator) -> Self:
        """Return the law with hidden signs that are drawn from the prior."""
        signs = 2 * rng.integers(0, 2, size=self.sign_count, dtype=np.int8) - 1
        return replace(self, pattern=tuple(signs.tolist()))
