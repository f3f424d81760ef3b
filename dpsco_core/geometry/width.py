"""Gaussian widths: exact means by closed form or quadrature, bounds, and a Monte-Carlo estimator.

See theory/su-zhao-wang.md, 7; xi is a standard normal vector of R^d throughout.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, gammaln, log_ndtr, ndtr

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.norms import dual_exponent

# Gauss-Legendre on [0, 1], used on panels of length about 1/2.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2


def _integral(tail: Callable[[Vector], Vector], end: float) -> float:
    """Return the integral over [0, end] of a smooth `tail`, to a relative 1e-12."""
    panels = math.ceil(4 * end)
    step = end / panels
    points = (np.arange(panels)[:, None] + _NODES) * step
    return step * float((tail(points) @ _WEIGHTS).sum())


def _end(d: int) -> float:
    """Beyond it d normal tails hold less than 1e-30."""
    return math.sqrt(2 * math.log(2 * d)) + 12


@lru_cache(maxsize=1024)
def chi_mean(d: int) -> float:
    r"""Return :math:`E\|\xi\|_2 = \sqrt2\,\Gamma(\frac{d+1}2)/\Gamma(\frac d2)`."""
    if d < 300:
        return math.sqrt(2) * math.exp(float(gammaln((d + 1) / 2) - gammaln(d / 2)))
    x = 1 / d  # the logarithms would cancel: Stirling's series
    series = 1 - x / 4 + x**2 / 32 + 5 * x**3 / 128 - 21 * x**4 / 2048 - 399 * x**5 / 8192
    return math.sqrt(d) * series


@lru_cache(maxsize=1024)
def largest_absolute_mean(d: int) -> float:
    r"""Return :math:`E\|\xi\|_\infty = \int_0^\infty 1 - (2\Phi(t)-1)^d\,dt`, exact."""
    return _integral(lambda t: -np.expm1(d * np.log1p(-2 * ndtr(-t))), _end(d))


@lru_cache(maxsize=1024)
def largest_positive_mean(d: int) -> float:
    r"""Return :math:`E\max(0, \max_j \xi_j) = \int_0^\infty 1 - \Phi(t)^d\,dt`, exact."""
    return _integral(lambda t: -np.expm1(d * log_ndtr(t)), _end(d))


@lru_cache(maxsize=1024)
def largest_mean(d: int) -> float:
    r"""Return :math:`E\max_j \xi_j`, exact; 0 for d = 1."""
    if d == 1:
        return 0.0
    return largest_positive_mean(d) - _integral(lambda t: np.exp(d * log_ndtr(-t)), _end(1))


@lru_cache(maxsize=1024)
def largest_block_mean(blocks: int, size: int) -> float:
    r"""Return :math:`E\max_g \|\xi_g\|_2` over disjoint blocks of one size, exact."""

    def tail(t: Vector) -> Vector:
        half = t * t / 2
        low, high = gammainc(size / 2, half), gammaincc(size / 2, half)
        with np.errstate(divide="ignore"):  # the logarithm of 0 at t = 0
            log_law = np.where(high < 0.5, np.log1p(-high), np.log(low))
        tails: Vector = -np.expm1(blocks * log_law)
        return tails

    return _integral(tail, math.sqrt(size) + _end(blocks))


def lq_ball_width_bounds(d: int, exponent: float) -> tuple[float, float]:
    r"""Return bounds on :math:`E\|\xi\|_q`, q dual to `exponent`, 1 < q < infinity.

    Below: :math:`d^{1/q}\sqrt{2/\pi}` (Jensen), :math:`E\|\xi\|_\infty` and
    :math:`d^{\min(0, 1/q-1/2)}E\|\xi\|_2`. Above: :math:`d^{1/q} m_q^{1/q}` with
    :math:`m_q = E|\xi_1|^q` (Jensen), :math:`d^{1/q} E\|\xi\|_\infty` and
    :math:`d^{\max(0, 1/q-1/2)}E\|\xi\|_2`.
    """
    q = dual_exponent(exponent)
    size, share = d ** (1 / q), d ** (1 / q - 0.5)
    log_moment = q / 2 * math.log(2) + float(gammaln((q + 1) / 2)) - math.log(math.pi) / 2
    largest, euclidean = largest_absolute_mean(d), chi_mean(d)
    lower = max(size * math.sqrt(2 / math.pi), largest, min(1.0, share) * euclidean)
    upper = min(size * math.exp(log_moment / q), size * largest, max(1.0, share) * euclidean)
    return lower, upper


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
    l2_radius: float  # the Lipschitz constant of the support function

    def interval(self, failure: float = 1e-6) -> tuple[float, float]:
        r"""Return an interval that misses the width with probability at most `failure`.

        :math:`\hat G \pm R\sqrt{2\ln(2/\eta)/N}`: rigorous for every N, by Gaussian concentration
        of the R-Lipschitz support function.
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
