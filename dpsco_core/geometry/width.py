"""Gaussian widths: exact means by closed form or quadrature, bounds, and a Monte-Carlo estimator.

See theory/su-zhao-wang.md, 7; xi is a standard normal vector of R^d throughout.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, gammainc, gammaincc, gammaln, log_ndtr, ndtr

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.geometry.base import ConstraintSet

# Nodes and weights of the Gauss-Legendre rule, which is used on panels of length about 1/2.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2
# The sum of e^(w - e^w) runs over these logarithms w; outside, the summand is below 1e-23.
_PER_LOG_WEIGHT = 8
_LOG_WEIGHTS = np.arange(-60 * _PER_LOG_WEIGHT, 4 * _PER_LOG_WEIGHT + 1) / _PER_LOG_WEIGHT


def _integrate_tail(tail: Callable[[Vector], Vector], end: float) -> float:
    """Return the integral over [0, end] of a smooth `tail`, to a relative 1e-12."""
    panels = math.ceil(4 * end)
    step = end / panels
    points = (np.arange(panels)[:, None] + _NODES) * step
    return step * float((tail(points) @ _WEIGHTS).sum())


def _end_of_normal_tails(d: int) -> float:
    """Return the point beyond which d normal tails have a total mass below 1e-30."""
    return math.sqrt(2 * math.log(2 * d)) + 12


@lru_cache(maxsize=1024)
def chi_mean(d: int) -> float:
    r"""Return the mean norm :math:`E\|\xi\|_2 = \sqrt2\,\Gamma(\frac{d+1}2)/\Gamma(\frac d2)`."""
    if d < 300:
        return math.sqrt(2) * math.exp(float(gammaln((d + 1) / 2) - gammaln(d / 2)))
    x = 1 / d  # The logarithms would cancel for large d, so Stirling's series is used.
    series = 1 - x / 4 + x**2 / 32 + 5 * x**3 / 128 - 21 * x**4 / 2048 - 399 * x**5 / 8192
    return math.sqrt(d) * series


@lru_cache(maxsize=1024)
def largest_absolute_mean(d: int) -> float:
    r"""Return the mean of the largest absolute entry of a normal vector.

    .. math:: E\|\xi\|_\infty = \int_0^\infty 1 - (2\Phi(t)-1)^d\,dt
    """
    return _integrate_tail(
        lambda t: -np.expm1(d * np.log1p(-2 * ndtr(-t))), _end_of_normal_tails(d)
    )


@lru_cache(maxsize=1024)
def largest_positive_mean(d: int) -> float:
    r"""Return the mean of the largest entry of a normal vector, or of 0 if all are negative.

    .. math:: E\max(0, \max_j \xi_j) = \int_0^\infty 1 - \Phi(t)^d\,dt
    """
    return _integrate_tail(lambda t: -np.expm1(d * log_ndtr(t)), _end_of_normal_tails(d))


@lru_cache(maxsize=1024)
def largest_mean(d: int) -> float:
    r"""Return the mean of the largest entry, :math:`E\max_j \xi_j`, exactly; 0 for d = 1."""
    if d == 1:
        return 0.0
    return largest_positive_mean(d) - _integrate_tail(
        lambda t: np.exp(d * log_ndtr(-t)), _end_of_normal_tails(1)
    )


@lru_cache(maxsize=1024)
def largest_block_mean(blocks: int, size: int) -> float:
    """Return the mean of the largest block norm of a normal vector with blocks of one size."""

    def tail(t: Vector) -> Vector:
        """Return the probability that the largest block norm exceeds each t."""
        half = t * t / 2
        low, high = gammainc(size / 2, half), gammaincc(size / 2, half)
        with np.errstate(divide="ignore"):  # At t = 0 log(0) is -inf, and the tail rightly 1.
            log_law = np.where(high < 0.5, np.log1p(-high), np.log(low))
        tails: Vector = -np.expm1(blocks * log_law)
        return tails

    return _integrate_tail(tail, math.sqrt(size) + _end_of_normal_tails(blocks))


@lru_cache(maxsize=1024)
def lq_norm_mean(d: int, exponent: float) -> float:
    r"""Return the mean norm :math:`E\|\xi\|_r` for the exponent r, 1 <= r < infinity, exactly.

    For :math:`S=\|\xi\|_r^r` and :math:`\psi_k(t)=E\,u^ke^{-u}`, :math:`u=(|\xi_1|/t)^r`, it is

    .. math::
        E\,S^{1/r}=\frac1{\Gamma(2-\frac1r)}\int_0^\infty s^{1-1/r}E\,S^2e^{-sS}\,ds
        =\frac r{\Gamma(2-\frac1r)}\int_0^\infty
        d\,\psi_0^{d-1}\psi_2+d(d-1)\,\psi_0^{d-2}\psi_1^2\;dt,

    with :math:`s=t^{-r}`: no term is negative, so that nothing cancels. Both integrals, the
    :math:`\psi_k` by :math:`w=\ln u`, are analytic and fall exponentially on a logarithmic scale,
    where equal steps are accurate to a relative 1e-12: theory/su-zhao-wang.md, 7.

    Examples
    --------
    >>> round(lq_norm_mean(10, 11.0), 6)  # the width of the ball of exponent 1.1
    1.914526
    """
    if d == 1:
        return math.sqrt(2 / math.pi)
    largest = largest_absolute_mean(d)
    # The mean norm lies between the mean of the largest entry and d^(1/r) times that mean.
    upper = d ** (1 / exponent) * largest
    low = math.log(largest) - 40 / (d + 1) - 4 / exponent - 1
    high = math.log(upper) + 40 / (2 * exponent - 1) + 2.7
    per_unit = min(max(4 * exponent, 8), 128)
    t = np.exp(np.arange(low, high, 1 / per_unit))
    sizes = t[:, None] * np.exp(_LOG_WEIGHTS / exponent)
    density = math.sqrt(2 / math.pi) / exponent * sizes * np.exp(-(sizes**2) / 2)
    weights = np.exp(_LOG_WEIGHTS - np.exp(_LOG_WEIGHTS)) / _PER_LOG_WEIGHT
    # An integration by parts gives 1 - psi_0 as an integral of the tail of u, without cancellation.
    log_psi = np.log1p(-(erfc(sizes / math.sqrt(2)) @ weights))
    psi_1, psi_2 = density @ weights, density @ (weights * np.exp(_LOG_WEIGHTS))
    values = d * np.exp((d - 1) * log_psi) * psi_2
    values += d * (d - 1) * np.exp((d - 2) * log_psi) * psi_1**2
    return exponent / math.exp(math.lgamma(2 - 1 / exponent)) * float(t @ values) / per_unit


def sparse_width_bound(d: int, sparsity: int) -> float:
    r"""Return an upper bound on the width of the s-sparse unit vectors (and of their hull).

    :math:`\min\{\sqrt{s(4\ln(d/s) + 2\ln 2)},\ \sqrt{2\ln\binom ds} + \sqrt s\}`: the table of
    theory/su-zhao-wang.md, 7.

    Examples
    --------
    >>> round(sparse_width_bound(100, 5), 3)
    8.176
    """
    require(1 <= sparsity <= d, "sparsity", "between 1 and d", sparsity)
    s = sparsity
    log_count = float(gammaln(d + 1) - gammaln(s + 1) - gammaln(d - s + 1))
    union = math.sqrt(max(0.0, 2 * log_count)) + math.sqrt(s)
    return min(math.sqrt(s * (4 * math.log(d / s) + 2 * math.log(2))), union)


@dataclass(frozen=True, kw_only=True)
class WidthSample:
    """A Monte-Carlo estimate of a Gaussian width."""

    mean: float
    standard_error: float
    draws: int
    # the largest l2 norm in the set, which is the Lipschitz constant of the support function
    l2_radius: float

    def interval(self, failure: float = 1e-6) -> tuple[float, float]:
        r"""Return an interval that misses the width with probability at most `failure`.

        :math:`\hat G \pm R\sqrt{2\ln(2/\eta)/N}`. It is rigorous for every N, by Gaussian
        concentration of the R-Lipschitz support function.
        """
        require(0 < failure < 1, "failure", "strictly between 0 and 1", failure)
        half = self.l2_radius * math.sqrt(2 * math.log(2 / failure) / self.draws)
        return self.mean - half, self.mean + half


def width_sample(constraint: ConstraintSet, directions: NDArray[np.float64]) -> WidthSample:
    """Estimate a width from standard normal `directions`, shape (N, d), N at least 2."""
    draws = len(directions)
    require(draws >= 2, "draws", "at least 2", draws)
    values = np.array([constraint.support(g) for g in directions])
    return WidthSample(
        mean=float(values.mean()),
        standard_error=float(values.std(ddof=1)) / math.sqrt(draws),
        draws=draws,
        l2_radius=constraint.l2_radius,
    )
