r"""Laws on the line with closed forms of :math:`I(x)=E(x-Y)_+` and :math:`J(x)=E(x-Y)_+^2/2`.

They are the laws of the coordinates of `dpsco_core.data`, scaled but not centred, for problems that
need a density (`Distribution.univariate`).
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtr, stdtr

from dpsco_core.base.arrays import Vector

ROOT_TWO_PI = math.sqrt(2 * math.pi)


@dataclass(frozen=True, kw_only=True)
class Univariate(ABC):
    """A law on the line with a density, which is hashable, so that it can be a key of caches."""

    scale: float
    symmetric: ClassVar[bool] = False  # whether the law is symmetric about 0
    unimodal: ClassVar[bool] = False  # whether the density decreases on both sides of 0
    # Whether risks are looked up in a table, because the distribution function is slow. The second
    # derivative of the density of such a law is at most 0.54/s^3, where s is its scale.
    tabulated: ClassVar[bool] = False

    @property
    @abstractmethod
    def mean(self) -> float:
        """The mean of the law."""

    @property
    @abstractmethod
    def median(self) -> float:
        """A median of the law."""

    @property
    @abstractmethod
    def peak(self) -> float:
        """The largest value of the density."""

    @property
    def jumps(self) -> tuple[float, ...]:
        """The points at which the density is not analytic, such as jumps."""
        return ()

    @abstractmethod
    def density(self, x: Vector) -> Vector:
        """Return the density at `x`."""

    @abstractmethod
    def cdf(self, x: Vector) -> Vector:
        """Return the distribution function at `x`."""

    def concentration(self, length: float) -> float:
        r"""Bound :math:`\sup_x P(x\le Y\le x+l)` by the largest density."""
        return min(1.0, length * self.peak)

    @abstractmethod
    def integrated_cdf(self, x: Vector) -> Vector:
        r"""Return :math:`E(x-Y)_+`, the integral of `cdf`."""

    @abstractmethod
    def twice_integrated_cdf(self, x: Vector) -> Vector:
        r"""Return :math:`E(x-Y)_+^2/2`, the integral of `integrated_cdf`."""


@dataclass(frozen=True, kw_only=True)
class EvenLaw(Univariate):
    """A law that is symmetric about 0."""

    symmetric = True
    mean = median = 0.0


@dataclass(frozen=True, kw_only=True)
class BellLaw(EvenLaw):
    """A symmetric law whose density decreases on both sides of 0."""

    unimodal = True

    def concentration(self, length: float) -> float:
        r"""Return :math:`\sup_x P(x\le Y\le x+l)`, which is attained symmetrically around 0."""
        ends = self.cdf(np.array([0.5 * length, -0.5 * length]))
        return float(ends[0] - ends[1])


@dataclass(frozen=True, kw_only=True)
class NormalLaw(BellLaw):
    """The normal law with standard deviation `scale`."""

    @property
    def peak(self) -> float:
        """The largest value of the density."""
        return 1 / (self.scale * ROOT_TWO_PI)

    def density(self, x: Vector) -> Vector:
        """Return the density at x."""
        return np.asarray(self.peak * np.exp(-0.5 * (x / self.scale) ** 2))

    def cdf(self, x: Vector) -> Vector:
        """Return the distribution function at x."""
        return np.asarray(ndtr(x / self.scale))

    def integrated_cdf(self, x: Vector) -> Vector:
        r"""Return :math:`E(x-Y)_+ = xF(x) + s^2 f(x)`, F and f being `cdf` and `density`."""
        return x * self.cdf(x) + self.scale**2 * self.density(x)

    def twice_integrated_cdf(self, x: Vector) -> Vector:
        r"""Return :math:`E(x-Y)_+^2/2 = \frac12[(x^2+s^2)F(x) + x s^2 f(x)]`."""
        square = self.scale**2
        return 0.5 * ((x * x + square) * self.cdf(x) + x * square * self.density(x))


@dataclass(frozen=True, kw_only=True)
class StudentLaw(BellLaw):
    """Student's law with `nu` > 1 degrees of freedom, times `scale`.

    `twice_integrated_cdf` is for `nu` > 2, and so are those of the Pareto laws for `alpha`.
    """

    tabulated = True
    nu: float

    @property
    def peak(self) -> float:
        """The largest value of the density."""
        log_ratio = math.lgamma(0.5 * (self.nu + 1)) - math.lgamma(0.5 * self.nu)
        return math.exp(log_ratio) / (self.scale * math.sqrt(self.nu * math.pi))

    def density(self, x: Vector) -> Vector:
        """Return the density at each x."""
        power = -0.5 * (self.nu + 1)
        return np.asarray(self.peak * np.exp(power * np.log1p((x / self.scale) ** 2 / self.nu)))

    def cdf(self, x: Vector) -> Vector:
        """Return the distribution function at x."""
        return np.asarray(stdtr(self.nu, x / self.scale))

    def integrated_cdf(self, x: Vector) -> Vector:
        r"""Return :math:`E(x-Y)_+ = xF(x) - P_1(x)`, with :math:`P_1(x) = E Y 1\{Y\le x\}`."""
        return x * self.cdf(x) - self._partial_mean(x)

    def twice_integrated_cdf(self, x: Vector) -> Vector:
        r"""Return :math:`\frac12[x^2F - 2xP_1 + P_2]`, with :math:`P_2(x) = E Y^2 1\{Y\le x\}`.

        For scale 1, :math:`P_2 = \nu[\frac{\nu-1}{\nu-2}F_{\nu-2}(x\sqrt{(\nu-2)/\nu}) - F(x)]`:
        write :math:`t^2 = \nu(1+t^2/\nu) - \nu`, and the first term is a Student density again.
        """
        nu, cdf = self.nu, self.cdf(x)
        lighter_cdf = stdtr(nu - 2, x * (math.sqrt((nu - 2) / nu) / self.scale))
        square = self.scale**2 * nu * ((nu - 1) / (nu - 2) * lighter_cdf - cdf)
        return np.asarray(0.5 * (x * x * cdf - 2 * x * self._partial_mean(x) + square))

    def _partial_mean(self, x: Vector) -> Vector:
        r"""Return the partial mean :math:`P_1(x)=E Y1\{Y\le x\}`."""
        return -self.density(x) * (self.scale**2 * self.nu + x * x) / (self.nu - 1)


@dataclass(frozen=True, kw_only=True)
class SymmetricParetoLaw(EvenLaw):
    r"""A fair sign times :math:`b\,U^{-1/\alpha}`, with b = `scale` and `alpha` > 1."""

    alpha: float

    @property
    def peak(self) -> float:
        """The largest value of the density, attained just outside [-b, b]."""
        return self.alpha / (2 * self.scale)

    @property
    def jumps(self) -> tuple[float, ...]:
        """The two points where the density jumps."""
        return (-self.scale, self.scale)

    def density(self, x: Vector) -> Vector:
        """Return the density at each x, which is 0 between -`scale` and `scale`."""
        size = np.maximum(np.abs(x), self.scale)
        density = self.peak * (self.scale / size) ** (self.alpha + 1)
        return np.where(np.abs(x) < self.scale, 0.0, density)

    def cdf(self, x: Vector) -> Vector:
        """Return the distribution function at each x."""
        size = np.maximum(np.abs(x), self.scale)
        tail = 0.5 * (self.scale / size) ** self.alpha
        return np.where(x > 0, 1 - tail, tail)

    def integrated_cdf(self, x: Vector) -> Vector:
        r"""Return :math:`I(x) = E(x-Y)_+`, which is :math:`x + I(-x)` by symmetry."""
        b, size = self.scale, np.maximum(np.abs(x), self.scale)
        tail = 0.5 * b * (b / size) ** (self.alpha - 1) / (self.alpha - 1)
        return np.asarray(tail + np.where(np.abs(x) < b, 0.5 * (x + b), np.maximum(x, 0.0)))

    def twice_integrated_cdf(self, x: Vector) -> Vector:
        r"""Return :math:`J(x) = E(x-Y)_+^2/2`; by symmetry :math:`J(x) + J(-x) = E(x-Y)^2/2`."""
        b, alpha, size = self.scale, self.alpha, np.maximum(np.abs(x), self.scale)
        tail = 0.5 * b * b * (b / size) ** (alpha - 2) / ((alpha - 1) * (alpha - 2))
        flat = x + b
        middle = tail + flat * (0.5 * b / (alpha - 1)) + 0.25 * flat * flat
        right = 0.5 * (x * x + b * b * alpha / (alpha - 2)) - tail
        return np.where(np.abs(x) < b, middle, np.where(x > 0, right, tail))


@dataclass(frozen=True, kw_only=True)
class OneSidedParetoLaw(Univariate):
    r""":math:`b\,U^{-1/\alpha}`, with b = `scale` and `alpha` > 1."""

    alpha: float

    @property
    def mean(self) -> float:
        """The mean."""
        return self.scale * self.alpha / (self.alpha - 1)

    @property
    def median(self) -> float:
        """The median."""
        return self.scale * math.pow(2.0, 1 / self.alpha)

    @property
    def peak(self) -> float:
        """The largest value of the density, attained at the smallest value of the law."""
        return self.alpha / self.scale

    @property
    def jumps(self) -> tuple[float, ...]:
        """The smallest value of the law, where the density jumps."""
        return (self.scale,)

    def density(self, x: Vector) -> Vector:
        """Return the density at each x, which is 0 below the scale."""
        ratio = self.scale / np.maximum(x, self.scale)
        return np.where(x < self.scale, 0.0, self.peak * ratio ** (self.alpha + 1))

    def cdf(self, x: Vector) -> Vector:
        """Return the distribution function at x."""
        return np.asarray(1 - (self.scale / np.maximum(x, self.scale)) ** self.alpha)

    def concentration(self, length: float) -> float:
        r"""Return :math:`\sup_x P(x\le Y\le x+l)`, which is attained at x = `scale`."""
        return float(self.cdf(np.array([self.scale + length]))[0])

    def integrated_cdf(self, x: Vector) -> Vector:
        """Return the integral of the distribution function up to each x."""
        b, power, x = self.scale, self.alpha - 1, np.maximum(x, self.scale)
        return np.asarray((x - b) - b * (1 - (b / x) ** power) / power)

    def twice_integrated_cdf(self, x: Vector) -> Vector:
        """Return the second integral of the distribution function up to each x."""
        b, alpha, x = self.scale, self.alpha, np.maximum(x, self.scale)
        reach = x - b
        tail = b * b * (1 - (b / x) ** (alpha - 2)) / ((alpha - 1) * (alpha - 2))
        return np.asarray(0.5 * reach * reach - b * reach / (alpha - 1) + tail)


@dataclass(frozen=True, kw_only=True)
class LogNormalLaw(Univariate):
    r""":math:`s\,e^{\sigma Z}`, with s = `scale` and Z standard normal."""

    sigma: float
    jumps = (0.0,)

    @property
    def mean(self) -> float:
        """The mean."""
        return self.scale * math.exp(0.5 * self.sigma**2)

    @property
    def median(self) -> float:
        """The median."""
        return self.scale

    @property
    def peak(self) -> float:
        r"""The density at the mode :math:`s\,e^{-\sigma^2}`."""
        return math.exp(0.5 * self.sigma**2) / (self.scale * self.sigma * ROOT_TWO_PI)

    def density(self, x: Vector) -> Vector:
        """Return the density at each x, which is 0 below 0."""
        positive, z = self._positive_and_score(x)
        shape = np.exp(-0.5 * z * z) / (positive * (self.sigma * ROOT_TWO_PI))
        return np.where(x > 0, shape, 0.0)

    def cdf(self, x: Vector) -> Vector:
        """Return the distribution function at x."""
        return np.asarray(ndtr(self._positive_and_score(x)[1]))

    def integrated_cdf(self, x: Vector) -> Vector:
        r"""Return :math:`E(x-Y)_+ = xF(x) - E Y1\{Y\le x\}`, as in the price of a put option."""
        positive, z = self._positive_and_score(x)
        return np.asarray(positive * ndtr(z) - self.mean * ndtr(z - self.sigma))

    def twice_integrated_cdf(self, x: Vector) -> Vector:
        r"""Return :math:`\frac12[x^2F(x) - 2x\,E Y1\{Y\le x\} + E Y^21\{Y\le x\}]`."""
        positive, z = self._positive_and_score(x)
        square = self.scale**2 * math.exp(2 * self.sigma**2) * ndtr(z - 2 * self.sigma)
        cross = positive * self.mean * ndtr(z - self.sigma)
        return np.asarray(0.5 * (positive * positive * ndtr(z) + square) - cross)

    def _positive_and_score(self, x: Vector) -> tuple[Vector, Vector]:
        r"""Return x, at least 1e-300, and its normal score :math:`\ln(x/s)/\sigma`."""
        positive = np.maximum(x, 1e-300)
        return positive, np.log(positive / self.scale) / self.sigma
