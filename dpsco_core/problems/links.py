"""Scalar losses of generalised linear models: value and slope in the margin.

Bounds hold for admissible targets. A margin or a target that is NaN gives a slope of NaN or 0, and
no warning.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dpsco_core.base.arrays import Vector

FARTHEST = 1e150  # larger numbers count as broken, because their products overflow


def softplus(x: Vector) -> Vector:
    """Return ln(1 + e^x), as accurate as `numpy.logaddexp` in a third of the time."""
    return np.asarray(np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0.0))


class Link(ABC):
    r"""A convex scalar loss :math:`\phi(s, y)` of the margin s and the target y, vectorised."""

    slope_bound: float = math.inf  # bound on :math:`|\phi'|`; infinite if there is none
    curvature_bound: float = math.inf  # bound on :math:`\phi''`; infinite for losses with kinks
    # the negative and the positive label; None if targets may be any numbers
    labels: tuple[float, float] | None = None

    def encoded(self, targets: Vector) -> Vector:
        """Return targets above 0 as this loss's positive label, and all others as its negative one.

        So any loss takes labels of -1 and 1, or of 0 and 1. A loss whose targets may be any numbers
        returns them as they are.
        """
        if self.labels is None:
            return targets
        negative, positive = self.labels
        return np.where(targets > 0, positive, negative)

    @abstractmethod
    def value(self, margins: Vector, targets: Vector) -> Vector:
        """Return the losses of `margins` and `targets`; all have shape (rows,)."""

    @abstractmethod
    def slope(self, margins: Vector, targets: Vector) -> Vector:
        """Return the (sub)derivatives in the margin, shape (rows,)."""

    @abstractmethod
    def slope_at(self, margin: float, target: float) -> float:
        """Return `slope` for one record, without the cost of an array."""

    def rounded(self, curvature: float) -> "Link":
        r"""Return a smooth link whose second derivative is at most `curvature`.

        Its losses are smaller than those of this link by at most 1/(2 curvature), and its slopes
        have the same bound. A link with bounded curvature returns itself.
        """
        assert math.isfinite(self.curvature_bound)
        return self

    def admissible(self, targets: Vector) -> Vector:
        """Return each target mapped into the range in which the bounds hold.

        By default targets that are not finite, or beyond `FARTHEST`, become 0.
        """
        is_usable = np.abs(targets) <= FARTHEST
        return targets if is_usable.all() else np.where(is_usable, targets, 0.0)


@dataclass(frozen=True)
class LogisticLink(Link):
    r""":math:`\phi(s, y) = \log(1+e^s) - ys` with y in {0, 1}: slope in [-1, 1], curvature 1/4."""

    slope_bound = 1.0
    curvature_bound = 0.25
    labels = (0.0, 1.0)

    def value(self, margins: Vector, targets: Vector) -> Vector:
        """Return the losses log(1 + e^s) - ys, shape (rows,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return softplus(margins) - targets * margins

    def slope(self, margins: Vector, targets: Vector) -> Vector:
        """Return the derivatives sigmoid(s) - y, shape (rows,)."""
        slope: Vector = expit(margins)
        slope -= targets
        return slope

    def slope_at(self, margin: float, target: float) -> float:
        """Return sigmoid(margin) - target, without overflow."""
        if margin >= 0:
            return 1 / (1 + math.exp(-margin)) - target
        if margin != margin:
            return math.nan
        growth = math.exp(margin) if margin > -745.0 else 0.0
        return growth / (1 + growth) - target

    def admissible(self, targets: Vector) -> Vector:
        """Return the targets clipped to [0, 1], with NaN as 0, so that the slope bound holds."""
        return np.asarray(np.clip(np.nan_to_num(targets, nan=0.0), 0.0, 1.0))


@dataclass(frozen=True)
class SquaredLink(Link):
    r""":math:`\phi(s, y) = \frac12(s-y)^2`: the slope has no bound, the curvature is 1."""

    curvature_bound = 1.0

    def value(self, margins: Vector, targets: Vector) -> Vector:
        """Return half the squared residuals, shape (rows,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            residuals = margins - targets
            return 0.5 * residuals * residuals

    def slope(self, margins: Vector, targets: Vector) -> Vector:
        """Return the residuals, shape (rows,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return margins - targets

    def slope_at(self, margin: float, target: float) -> float:
        """Return the residual, margin minus target."""
        return margin - target


@dataclass(frozen=True)
class HuberLink(Link):
    r"""Huber's loss of s - y with threshold 1: slope in [-1, 1], curvature at most 1."""

    slope_bound = 1.0
    curvature_bound = 1.0

    def value(self, margins: Vector, targets: Vector) -> Vector:
        """Return the Huber losses of the residuals, shape (rows,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            sizes = np.abs(margins - targets)
            capped = np.minimum(sizes, 1.0)
            return capped * (sizes - 0.5 * capped)

    def slope(self, margins: Vector, targets: Vector) -> Vector:
        """Return the residuals clipped to [-1, 1]."""
        with np.errstate(over="ignore", invalid="ignore"):
            residuals = margins - targets
            return np.clip(residuals, -1.0, 1.0, out=residuals)

    def slope_at(self, margin: float, target: float) -> float:
        """Return the residual clipped to [-1, 1]."""
        residual = margin - target
        if residual > 1.0:
            return 1.0
        return -1.0 if residual < -1.0 else residual


@dataclass(frozen=True)
class AbsoluteLink(Link):
    r""":math:`\phi(s, y) = |s-y|`: slope in [-1, 1], a kink at y, where the subgradient is 0."""

    slope_bound = 1.0

    def value(self, margins: Vector, targets: Vector) -> Vector:
        """Return the absolute residuals, shape (rows,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.abs(margins - targets)

    def slope(self, margins: Vector, targets: Vector) -> Vector:
        """Return the signs of the residuals, shape (rows,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            residuals = margins - targets
            return np.sign(residuals, out=residuals)

    def slope_at(self, margin: float, target: float) -> float:
        """Return the sign of the residual."""
        residual = margin - target
        if residual != residual:
            return math.nan
        return float(residual > 0) - float(residual < 0)

    def rounded(self, curvature: float) -> Link:
        """Return the absolute loss with its kink rounded off to this curvature."""
        return RoundedAbsoluteLink(curvature_bound=curvature)


@dataclass(frozen=True)
class HingeLink(Link):
    r""":math:`\phi(s, y) = (1-ys)_+` with y in {-1, 1}: slope in [-1, 1], a kink at s = y."""

    slope_bound = 1.0
    labels = (-1.0, 1.0)

    def value(self, margins: Vector, targets: Vector) -> Vector:
        """Return the losses max(0, 1 - ys), shape (rows,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.maximum(1.0 - targets * margins, 0.0)

    def slope(self, margins: Vector, targets: Vector) -> Vector:
        """Return -y where ys < 1, and 0 elsewhere."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(targets * margins < 1.0, -targets, 0.0)

    def slope_at(self, margin: float, target: float) -> float:
        """Return -target where the margin times the target is below 1, and otherwise 0."""
        return -target if target * margin < 1.0 else 0.0

    def rounded(self, curvature: float) -> Link:
        """Return the hinge loss with its kink rounded off to this curvature."""
        return RoundedHingeLink(curvature_bound=curvature)

    def admissible(self, targets: Vector) -> Vector:
        """Return the targets clipped to [-1, 1], with NaN as 0, so that the slope bound holds."""
        return np.asarray(np.clip(np.nan_to_num(targets, nan=0.0), -1.0, 1.0))


@dataclass(frozen=True)
class RoundedAbsoluteLink(Link):
    r"""The Moreau envelope of :math:`|s-y|`: Huber's loss of threshold 1/c, times c.

    It lies between :math:`|s-y| - \frac1{2c}` and :math:`|s-y|`.
    """

    curvature_bound: float  # c, the bound on the curvature
    slope_bound = 1.0

    def value(self, margins: Vector, targets: Vector) -> Vector:
        """Return the absolute residuals, each rounded off near 0, shape (rows,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return _round_off(np.abs(margins - targets), self.curvature_bound)

    def slope(self, margins: Vector, targets: Vector) -> Vector:
        """Return the residuals times the curvature, clipped to [-1, 1]."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.clip(self.curvature_bound * (margins - targets), -1.0, 1.0)

    def slope_at(self, margin: float, target: float) -> float:
        """Return the residual times the curvature, clipped to [-1, 1]."""
        return max(-1.0, min(1.0, self.curvature_bound * (margin - target)))


@dataclass(frozen=True)
class RoundedHingeLink(HingeLink):
    r"""The hinge loss :math:`t_+`, t = 1 - ys, rounded off: :math:`\frac c2t^2` on [0, 1/c].

    It lies between :math:`t_+ - \frac1{2c}` and :math:`t_+`.
    """

    curvature_bound: float  # c, the bound on the curvature

    def value(self, margins: Vector, targets: Vector) -> Vector:
        """Return the hinge losses, each rounded off near its kink, shape (rows,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return _round_off(np.maximum(1.0 - targets * margins, 0.0), self.curvature_bound)

    def slope(self, margins: Vector, targets: Vector) -> Vector:
        """Return the derivatives: -y where ys < 1 - 1/c, 0 where ys > 1, linear in between."""
        with np.errstate(over="ignore", invalid="ignore"):
            return -targets * np.clip(self.curvature_bound * (1.0 - targets * margins), 0.0, 1.0)

    def slope_at(self, margin: float, target: float) -> float:
        """Return the derivative for one record."""
        return -target * max(0.0, min(1.0, self.curvature_bound * (1.0 - target * margin)))


def _round_off(sizes: Vector, curvature: float) -> Vector:
    r"""Return :math:`\frac c2t^2` for sizes t up to 1/c, and :math:`t - \frac1{2c}` beyond."""
    capped = np.minimum(sizes, 1 / curvature)
    return np.asarray(capped * curvature * (sizes - 0.5 * capped))
