r"""Losses of a parameter and a point: squared distance, product, distance."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import row_norms


class PointLoss(ABC):
    """A convex loss of the parameter and a point, vectorised over points."""

    # whether the mean gradient equals the gradient at the mean record
    needs_only_the_mean: ClassVar[bool] = False

    @abstractmethod
    def value(self, w: Vector, points: Vector) -> Vector:
        """Return the losses at `points`, shape (rows, d)."""

    @abstractmethod
    def gradients(self, w: Vector, points: Vector) -> Vector:
        """Return the (sub)gradients in the parameter, a new array of shape (rows, d)."""

    @abstractmethod
    def gradient(self, w: Vector, point: Vector) -> Vector:
        """Return `gradients` at one point, shape (d,)."""


@dataclass(frozen=True)
class HalfSquaredDistance(PointLoss):
    r""":math:`\ell(w, z) = \frac12\|w-z\|_2^2`."""

    needs_only_the_mean = True

    def value(self, w: Vector, points: Vector) -> Vector:
        """Return half the squared distances of w from the points, shape (rows,)."""
        steps = w - points
        return np.asarray(0.5 * np.vecdot(steps, steps))

    def gradients(self, w: Vector, points: Vector) -> Vector:
        """Return w minus each point, shape (rows, d)."""
        return w - points

    def gradient(self, w: Vector, point: Vector) -> Vector:
        """Return w less the point, shape (d,)."""
        return w - point


@dataclass(frozen=True)
class NegativeProduct(PointLoss):
    r""":math:`\ell(w, z) = -\langle w, z\rangle`."""

    needs_only_the_mean = True

    def value(self, w: Vector, points: Vector) -> Vector:
        """Return minus the product of w with each point, shape (rows,)."""
        return -(points @ w)

    def gradients(self, w: Vector, points: Vector) -> Vector:
        """Return minus each point, shape (rows, d)."""
        return -points

    def gradient(self, w: Vector, point: Vector) -> Vector:
        """Return minus the point, shape (d,)."""
        return -point


@dataclass(frozen=True)
class Distance(PointLoss):
    r""":math:`\ell(w, z) = \|w-z\|_2 - \|z\|_2`; the subgradient at w = z is 0.

    It is computed as :math:`(\|w\|^2 - 2\langle w, z\rangle)/(\|w-z\|+\|z\|)`, which is at most
    :math:`\|w\|` in size, accurate for every z however large, and whose mean needs no moment.
    """

    def value(self, w: Vector, points: Vector) -> Vector:
        """Return the losses in the form of the class, which does not cancel or overflow."""
        lengths = row_norms(points)
        sums = row_norms(w - points) + lengths
        # The product is <w, z / sum>, because <w, z> in <w, z> / sum could overflow.
        sums = np.where(sums > 0, sums, 1.0)
        return np.asarray((w @ w) / sums - 2 * ((points / sums[:, None]) @ w))

    def gradients(self, w: Vector, points: Vector) -> Vector:
        """Return the unit vectors from the points to w, shape (rows, d); 0 at w itself."""
        steps = w - points
        norms = row_norms(steps)
        steps /= np.where(norms > 0, norms, 1.0)[:, None]
        return steps

    def gradient(self, w: Vector, point: Vector) -> Vector:
        """Return the unit vector from the point to w, shape (d,); 0 at w itself."""
        step: Vector = w - point
        square = float(step.dot(step))
        if 1e-250 < square < 1e300:
            step /= math.sqrt(square)
            return step
        return np.asarray(self.gradients(w, point[None, :])[0])
