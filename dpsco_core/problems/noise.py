r"""The noise of the regression problems: independent of the features, with closed forms.

With N the noise and F its distribution function, the conditional risks of the absolute and the
Huber loss are combinations of the two integrals

.. math:: I(x) = E(x-N)_+ = \int_{-\infty}^x F, \qquad J(x) = \tfrac12 E(x-N)_+^2 =
    \int_{-\infty}^x I,

which have closed forms for these families.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
import scipy  # `scipy.interpolate` is imported on first use.

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.root import find_root
from dpsco_core.data.base import Distribution, overrides_answer
from dpsco_core.data.univariate import Univariate

TABLE_END = 9.0  # The table ends at this arsinh(s), s = 4051; beyond it no table is used.
TABLE_BLOCK = 1 << 13  # the number of look-ups per block, which fits the cache
# The smallest scale at which absolute excess is tabulated: the second derivative of the density is
# then at most 540.
LEAST_TABLED = 0.1


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The distribution of ``Y - origin``, for Y with distribution `univariate`."""

    law: Distribution  # the sampled distribution, of dimension 1 and mean 0
    univariate: Univariate  # the same distribution before centring
    origin: float  # the value of Y at which the noise is 0

    def sample(self, n: int, rng: np.random.Generator) -> Vector:
        """Return n independent draws, shape (n,)."""
        shift = self.univariate.mean - self.origin
        draws: Vector = self.law.sample(n, rng).x[:, 0] + shift
        return draws

    def absolute_excess(self, s: Vector) -> Vector:
        """Return the excess of the absolute loss at shifts s, shape (k,), for noise of median 0.

        It is :math:`E|s-N| - E|N| = 2(I(s)-I(0)) - s`.
        """
        law = self.univariate
        if law.tabulated and law.scale >= LEAST_TABLED:
            return _absolute_table(self)(s)
        return self._absolute_excess(s)

    def _absolute_excess(self, s: Vector) -> Vector:
        """Return `absolute_excess` from the integrals, without the table."""
        law, zero = self.univariate, self.origin
        excess = 2 * (law.integrated_cdf(s + zero) - law.integrated_cdf(np.array([zero]))) - s
        return np.maximum(excess, 0.0)

    def huber_excess(self, s: Vector) -> Vector:
        r"""Return :math:`E\,h(s-N) - E\,h(N)`, h the Huber loss, for a noise N of Huber location 0.

        :math:`E\,h(s-N) = J(s+1) - J(s-1) - s` up to a constant.
        """
        if self.univariate.tabulated:
            return _huber_table(self)(s)
        return self._huber_excess(s)

    def _huber_excess(self, s: Vector) -> Vector:
        """Return `huber_excess` from the integrals, without the table."""
        law, zero = self.univariate, self.origin
        ends = law.twice_integrated_cdf(np.array([zero + 1.0, zero - 1.0]))
        excess = (
            law.twice_integrated_cdf(s + (zero + 1.0))
            - law.twice_integrated_cdf(s + (zero - 1.0))
            - s
        )
        excess -= ends[0] - ends[1]
        return np.maximum(excess, 0.0)

    def _absolute_slope(self, s: Vector) -> Vector:
        """Return the derivative of `absolute_excess` in s."""
        return 2 * self.univariate.cdf(s + self.origin) - 1

    def _huber_slope(self, s: Vector) -> Vector:
        """Return the derivative of `huber_excess` in s."""
        law, zero = self.univariate, self.origin
        return law.integrated_cdf(s + (zero + 1.0)) - law.integrated_cdf(s + (zero - 1.0)) - 1.0


@dataclass(frozen=True, eq=False)
class ExcessTable:
    """An interpolation of an excess by cubics in arsinh(s), exact in value and slope at the knots.

    A power of two for `steps` selects a cubic without rounding. The error is at most h^4/384 times
    the fourth derivative, where h = 1/`steps`.
    """

    exact: Callable[[Vector], Vector]  # the excess at shifts s, shape (k,), slow to compute
    slope: Callable[[Vector], Vector]  # the derivative of the excess in s
    steps: int  # the number of cubics per unit of arsinh(s), a power of two

    @cached_property
    def cubics(self) -> Vector:
        """The cubics' coefficients, the cube's first, in the share of a step; (4, knots - 1)."""
        end = int(TABLE_END) * self.steps
        knots = np.arange(-end, end + 1) / self.steps
        s = np.sinh(knots)
        slopes = self.slope(s) * np.cosh(knots)
        spline = scipy.interpolate.CubicHermiteSpline(knots, self.exact(s), slopes)
        return np.ascontiguousarray(spline.c) / float(self.steps) ** np.array([[3], [2], [1], [0]])

    def __call__(self, s: Vector) -> Vector:
        """Return the excess at each of `s`, shape (k,)."""
        places, half = np.arcsinh(s), self.cubics.shape[1] // 2
        excess = np.empty(len(s))
        for low in range(0, len(s), TABLE_BLOCK):
            part = slice(low, low + TABLE_BLOCK)
            share = places[part] * self.steps
            whole = np.clip(np.floor(share), -half, half - 1)
            share -= whole
            cubic = whole.astype(np.intp) + half
            value = self.cubics[0].take(cubic, mode="clip")
            for row in self.cubics[1:]:
                value *= share
                value += row.take(cubic, mode="clip")
            excess[part] = value
        is_beyond = ~(np.abs(places) <= TABLE_END)
        if is_beyond.any():
            excess[is_beyond] = self.exact(s[is_beyond])
        return np.maximum(excess, 0.0, out=excess)


@lru_cache(maxsize=8)
def _huber_table(noise: Noise) -> ExcessTable:
    """Return a table of `huber_excess` with an error of at most 1e-12 (1+|s|), 50 times as fast."""
    return ExcessTable(noise._huber_excess, noise._huber_slope, steps=512)


@lru_cache(maxsize=8)
def _absolute_table(noise: Noise) -> ExcessTable:
    """Return a table of `absolute_excess`, with more knots because the loss has a kink."""
    return ExcessTable(noise._absolute_excess, noise._absolute_slope, steps=2048)


@lru_cache(maxsize=256)
def noise_like(features: Distribution, centre: Literal["median", "huber"]) -> Noise:
    """Return the noise for given features, shifted so that its median or Huber location is 0.

    The median has a closed form. The Huber location, the root c of
    :math:`E\\,\\mathrm{clip}(c-Y, -1, 1) = I(c+1)-I(c-1)-1`, is found to 1e-14. Both equal the mean
    if the law is symmetric.
    """
    law = features.noise_law
    univariate = univariate_of(law)
    if univariate.symmetric:
        origin = univariate.mean
    elif centre == "median":
        origin = univariate.median
    else:

        def slope(c: float) -> float:
            """Return the function of c whose root is the Huber location."""
            ends = univariate.integrated_cdf(np.array([c + 1.0, c - 1.0]))
            return float(ends[0] - ends[1]) - 1.0

        low, high = sorted((univariate.median, univariate.mean))
        low, high = low - 1.0, high + 1.0
        origin = float(find_root(slope, low, high, xtol=1e-14, rtol=1e-14))
    return Noise(law=law, univariate=univariate, origin=origin)


NEEDS_UNIVARIATE = "one that gives the law of a coordinate (its `univariate`)"


def missing_density_condition(family: type[Distribution]) -> str:
    """Return "" if a class of laws has a density or is a hard instance, or else what it lacks."""
    has_density = overrides_answer(family, "univariate") or overrides_answer(family, "two_point")
    return "" if has_density or family.hides != "mean" else NEEDS_UNIVARIATE


def univariate_of(law: Distribution) -> Univariate:
    """Return the law of a coordinate before centring; raise `InvalidInput` if it has none."""
    univariate = law.univariate
    if univariate is None:
        raise InvalidInput(
            f"distribution must be {NEEDS_UNIVARIATE}, got distribution={law.card.slug}."
        )
    return univariate


def huber_curvature(noise: Noise) -> float:
    r"""Bound the second derivative :math:`P(|N-s| \le 1)` of the conditional Huber risk in s."""
    return noise.univariate.concentration(2.0)


def absolute_curvature(noise: Noise) -> float:
    """Return the largest second derivative of the conditional absolute risk: twice the density."""
    return 2 * noise.univariate.peak if math.isfinite(noise.univariate.peak) else math.inf
