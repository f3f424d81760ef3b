r"""The classes of losses that the papers' statements are about, and which of them hold which.

A class is named by what every loss in it has. Its order decides where a bound applies. An upper
bound for a class holds on every problem in it. A lower bound is a worst case: it binds the methods
for a class of problems only if its hard instance is in that class. Therefore Theorem 6.4 of Kamath
et al. (2022), whose hard loss is linear, does not bind a method for strongly convex losses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Curvature = Literal["mean", "linear", "convex", "strongly convex"]
Form = Literal["l2", "squared", "linear"]


@dataclass(frozen=True, kw_only=True)
class LossClass:
    """A class of losses: the words of a statement.

    Examples
    --------
    >>> str(SMOOTH_STRONG), SMOOTH_STRONG.within(CONVEX), LINEAR.within(SMOOTH_STRONG)
    ('smooth strongly convex', True, False)
    """

    curvature: Curvature  # `"mean"`: the estimation of a mean, which has no loss
    # Whether the loss of every record is, or in some statements the population risk, with constants
    # that the statement knows. Of a problem: for every law of its records.
    smooth: bool = False
    lipschitz: bool = False
    # whether a loss depends on the parameter by its product with the features only
    generalised_linear: bool = False
    # whether a loss is a multiple of the squared distance to the record: smooth, strongly convex
    squared_distance: bool = False

    def __str__(self) -> str:
        if self.curvature == "mean":
            return "mean estimation"
        own = self.curvature != "linear"  # linear losses are smooth and generalised linear
        words = (
            "smooth" * (self.smooth and own and not self.squared_distance),
            "Lipschitz" * self.lipschitz,
            "squared-distance" if self.squared_distance else self.curvature,
            "generalised linear" * (self.generalised_linear and own),
        )
        return " ".join(filter(None, words))

    @property
    def strongly_convex(self) -> bool:
        return self.curvature == "strongly convex"

    @property
    def form(self) -> Form:
        """What a hard instance is hardest for: an error, its square, or the risk of linear losses.

        A risk that is not strongly convex has the bounds of the linear one.
        """
        if self.curvature == "mean":
            return "l2"
        return "squared" if self.strongly_convex else "linear"

    def bends_as(self, other: LossClass) -> bool:
        """Whether a loss with the curvature of this class has that of `other`."""
        if other.squared_distance:
            return self.squared_distance
        same = self.curvature == other.curvature
        return same or (other.curvature == "convex" and self.curvature != "mean")

    def within(self, other: LossClass) -> bool:
        """Whether `other` contains this class."""
        linear = self.curvature == "linear"
        return (
            self.bends_as(other)
            and (self.smooth or linear or not other.smooth)
            and (self.lipschitz or not other.lipschitz)
            and (self.generalised_linear or linear or not other.generalised_linear)
        )


MEAN = LossClass(curvature="mean")
LINEAR = LossClass(curvature="linear", smooth=True, generalised_linear=True)
LIPSCHITZ_LINEAR = LossClass(
    curvature="linear", smooth=True, lipschitz=True, generalised_linear=True
)
CONVEX = LossClass(curvature="convex")
SMOOTH = LossClass(curvature="convex", smooth=True)
LIPSCHITZ = LossClass(curvature="convex", lipschitz=True)
SMOOTH_LIPSCHITZ = LossClass(curvature="convex", smooth=True, lipschitz=True)
GENERALISED_LINEAR = LossClass(curvature="convex", lipschitz=True, generalised_linear=True)
STRONG = LossClass(curvature="strongly convex")
SMOOTH_STRONG = LossClass(curvature="strongly convex", smooth=True)
LIPSCHITZ_STRONG = LossClass(curvature="strongly convex", lipschitz=True)
SQUARED_DISTANCE = LossClass(curvature="strongly convex", smooth=True, squared_distance=True)
SMOOTH_LIPSCHITZ_STRONG = LossClass(curvature="strongly convex", smooth=True, lipschitz=True)
LIPSCHITZ_SQUARED_DISTANCE = LossClass(
    curvature="strongly convex", smooth=True, lipschitz=True, squared_distance=True
)
