r"""The classes of losses in the papers' statements, and which of them contain which.

A class is named by the properties of its losses. Their order decides where a bound applies. An
upper bound for a class holds on every problem in it. A lower bound is a worst case: it binds the
methods for a class of problems only if that class contains its hard instance. So Theorem 6.4 of
Kamath et al. (2022), whose hard loss is linear, does not bind methods for strongly convex losses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Curvature = Literal["mean", "linear", "convex", "strongly convex"]
Form = Literal["l2", "squared", "linear"]


@dataclass(frozen=True, kw_only=True)
class LossClass:
    """A class of losses, in the words of a statement.

    Examples
    --------
    >>> str(SMOOTH_STRONG), SMOOTH_STRONG.is_within(CONVEX), LINEAR.is_within(SMOOTH_STRONG)
    ('smooth strongly convex', True, False)
    """

    # the curvature of the losses; `"mean"` stands for mean estimation, which has no loss
    curvature: Curvature
    # Whether every record's loss (in some statements, the population risk) is smooth, with a
    # constant that the statement knows. For a problem: whether this holds for every law of its
    # records.
    smooth: bool = False
    lipschitz: bool = False
    # whether the loss depends on the parameter only through its product with the features
    generalised_linear: bool = False
    # whether the loss is a multiple of the squared distance to the record, which is smooth and
    # strongly convex
    squared_distance: bool = False

    def __str__(self) -> str:
        """Return the properties of the losses in words."""
        if self.curvature == "mean":
            return "mean estimation"
        # Every linear loss is smooth and generalised linear, so these words are left out.
        is_nonlinear = self.curvature != "linear"
        words = (
            "smooth" * (self.smooth and is_nonlinear and not self.squared_distance),
            "Lipschitz" * self.lipschitz,
            "squared-distance" if self.squared_distance else self.curvature,
            "generalised linear" * (self.generalised_linear and is_nonlinear),
        )
        return " ".join(filter(None, words))

    @property
    def strongly_convex(self) -> bool:
        """Whether all losses of the class are strongly convex."""
        return self.curvature == "strongly convex"

    @property
    def form(self) -> Form:
        """The form of the error in a lower bound.

        It is "l2" for means, "squared" for strongly convex losses, and "linear" (the excess risk of
        linear losses) for all others, whose hard instances are linear.
        """
        if self.curvature == "mean":
            return "l2"
        return "squared" if self.strongly_convex else "linear"

    def has_curvature_of(self, container: LossClass) -> bool:
        """Return whether the curvature of this class implies the curvature of `container`."""
        if container.squared_distance:
            return self.squared_distance
        is_same = self.curvature == container.curvature
        return is_same or (container.curvature == "convex" and self.curvature != "mean")

    def is_within(self, container: LossClass) -> bool:
        """Return whether every loss of this class belongs to `container`."""
        is_linear = self.curvature == "linear"
        return (
            self.has_curvature_of(container)
            and (self.smooth or is_linear or not container.smooth)
            and (self.lipschitz or not container.lipschitz)
            and (self.generalised_linear or is_linear or not container.generalised_linear)
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
