r"""The noise of the regression problems: independent of the features, with closed forms.

With N the noise and F its distribution function, the conditional risks of the absolute and the
Huber loss are made of the two integrals

.. math:: I(x) = E(x-N)_+ = \int_{-\infty}^x F, \qquad J(x) = \tfrac12 E(x-N)_+^2 =
    \int_{-\infty}^x I,

which the families know in closed form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import brentq

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.data.base import Distribution
from dpsco_core.data.elliptical_t import EllipticalT
from dpsco_core.data.gaussian import Gaussian
from dpsco_core.data.hard import TwoPoint
from dpsco_core.data.log_normal import LogNormal
from dpsco_core.data.pareto import Pareto, SkewedPareto
from dpsco_core.data.student_t import StudentT
from dpsco_core.problems.univariate import (
    LogNormalLaw,
    NormalLaw,
    OneSidedParetoLaw,
    StudentLaw,
    SymmetricParetoLaw,
    Univariate,
)

TABLE_END = 9.0  # arsinh(4052): beyond, excesses are computed one by one
OrdinaryLaw = StudentT | Pareto | SkewedPareto | LogNormal | Gaussian | EllipticalT


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The law of ``Y - origin``, for a Y of `univariate`."""

    law: Distribution  # of dimension 1 and mean 0: what is sampled
    univariate: Univariate  # the same law before it is centred
    origin: float  # where the noise is 0

    def sample(self, n: int, rng: np.random.Generator) -> Vector:
        """Return n independent draws, shape (n,)."""
        draws: Vector = self.law.sample(n, rng).x[:, 0]
        draws += self.univariate.mean - self.origin
        return draws

    def absolute_excess(self, s: Vector) -> Vector:
        """Return :math:`E|s-N| - E|N| = 2(I(s)-I(0)) - s`, for a noise with median 0."""
        law, zero = self.univariate, self.origin
        excess = 2 * (law.first(s + zero) - law.first(np.array([zero]))) - s
        return np.maximum(excess, 0.0)

    def huber_excess(self, s: Vector) -> Vector:
        r"""Return :math:`E\,h(s-N) - E\,h(N)`, h the Huber loss, for a noise of Huber location 0.

        :math:`E\,h(s-N) = J(s+1) - J(s-1) - s` up to a constant.
        """
        if isinstance(self.univariate, StudentLaw):
            return _tabulated_huber_excess(self, s)
        return self._huber_excess(s)

    def _huber_excess(self, s: Vector) -> Vector:
        law, zero = self.univariate, self.origin
        ends = law.second(np.array([zero + 1.0, zero - 1.0]))
        excess = law.second(s + (zero + 1.0)) - law.second(s + (zero - 1.0)) - s
        excess -= ends[0] - ends[1]
        return np.maximum(excess, 0.0)

    def _huber_slope(self, s: Vector) -> Vector:
        law, zero = self.univariate, self.origin
        return law.first(s + (zero + 1.0)) - law.first(s + (zero - 1.0)) - 1.0


def _tabulated_huber_excess(noise: Noise, s: Vector) -> Vector:
    """Return the excess from a table, 20 times faster than Student's distribution function."""
    table = _huber_table(noise)
    places = np.arcsinh(s)
    excess = np.asarray(table(np.clip(places, -TABLE_END, TABLE_END)))
    far = np.abs(places) > TABLE_END
    if far.any():
        excess[far] = noise._huber_excess(s[far])
    return np.maximum(excess, 0.0)


@lru_cache(maxsize=8)
def _huber_table(noise: Noise) -> CubicHermiteSpline:
    """Interpolate the excess in arsinh(s), with exact values and slopes at the knots.

    The error is at most 1e-12 (1+|s|): the step's fourth power, over 384.
    """
    knots = np.linspace(-TABLE_END, TABLE_END, 2 * 512 * int(TABLE_END) + 1)
    s = np.sinh(knots)
    return CubicHermiteSpline(knots, noise._huber_excess(s), noise._huber_slope(s) * np.cosh(knots))


@lru_cache(maxsize=256)
def noise_like(features: Distribution, centre: Literal["mean", "median", "huber"]) -> Noise:
    """Return noise of the family, order and margin of `features`; normal for a hard instance.

    `centre` says which location is 0. The mean and the median have closed forms. The Huber
    location, the root c of :math:`E\\,\\mathrm{clip}(c-Y, -1, 1) = I(c+1)-I(c-1)-1`, is found to
    1e-14; it is the mean where the law is symmetric.
    """
    law = _one_dimensional(features)
    univariate = univariate_of(law)
    if centre == "mean" or univariate.symmetric:
        origin = univariate.mean
    elif centre == "median":
        origin = univariate.median
    else:

        def slope(c: float) -> float:
            ends = univariate.first(np.array([c + 1.0, c - 1.0]))
            return float(ends[0] - ends[1]) - 1.0

        low, high = univariate.median - 1.0, univariate.mean + 1.0
        origin = float(brentq(slope, low, high, xtol=1e-14, rtol=1e-14))
    return Noise(law=law, univariate=univariate, origin=origin)


def univariate_of(law: OrdinaryLaw) -> Univariate:
    """Return the law of a coordinate of an ordinary law, before it is centred."""
    scale = law.scale
    if isinstance(law, Gaussian):
        return NormalLaw(scale=scale)
    if isinstance(law, StudentT | EllipticalT):
        return StudentLaw(scale=scale, nu=law.tail_index)
    if isinstance(law, Pareto):
        return SymmetricParetoLaw(scale=scale, alpha=law.tail_index)
    if isinstance(law, SkewedPareto):
        return OneSidedParetoLaw(scale=scale, alpha=law.tail_index)
    return LogNormalLaw(scale=scale, sigma=law.sigma)


def _one_dimensional(features: Distribution) -> OrdinaryLaw:
    """Return the law of a coordinate; normal for a hard instance."""
    if isinstance(features, TwoPoint):
        return Gaussian(d=1, moment_order=features.moment_order)
    known = isinstance(features, OrdinaryLaw)
    require(known, "features", "a distribution of the catalogue", type(features).__name__)
    assert isinstance(features, OrdinaryLaw)
    family = type(features)
    return family(d=1, moment_order=features.moment_order, margin=features.margin)


def huber_curvature(noise: Noise) -> float:
    r"""Bound :math:`\sup_s P(|N-s| \le 1)`: exact for symmetric unimodal and one-sided Pareto laws.

    Otherwise the smaller of 1 and twice the largest density.
    """
    law = noise.univariate
    if isinstance(law, NormalLaw | StudentLaw):
        ends = law.below(np.array([1.0, -1.0]))
        return float(ends[0] - ends[1])
    if isinstance(law, OneSidedParetoLaw):
        return float(law.below(np.array([law.scale + 2.0]))[0])
    return min(1.0, 2 * law.peak)


def absolute_curvature(noise: Noise) -> float:
    """Return twice the largest density: the largest second derivative of the conditional risk."""
    return 2 * noise.univariate.peak if math.isfinite(noise.univariate.peak) else math.inf
