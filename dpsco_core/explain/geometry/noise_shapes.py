r"""Gaussian and generalized Gaussian noise at equal privacy, for a figure.

Both hide a vector of sensitivity s in the dual norm :math:`\|\cdot\|_{q'}`, at the same rho. The
numbers are in the unit :math:`d s^2/(2\rho)` with s = 1 and rho = 1/2, so that it is d. These are
pictures of noise: nothing is released, and no ledger is charged. (Su et al. 2023, Lemmas 3 and 4;
theory/su-zhao-wang.md, 1.8 and 2.8.)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpsco_core.base.arrays import Matrix, Vector
from dpsco_core.base.errors import require
from dpsco_core.geometry import RegularSpace, row_norms
from dpsco_core.privacy.mechanisms.noise import generalized_gaussian_noise
from dpsco_core.privacy.mechanisms.shaped import Noise, Shaped

NOISES: tuple[Noise, ...] = ("generalized gaussian", "gaussian")
RHO = 0.5
TABLE = 100_000  # the number of entries of the random matrix behind one point of the sweep
MOST_DRAWS = 2000
CIRCLE = 7200  # the number of directions in the quadrature in the plane
LATITUDES, LONGITUDES = 64, 256
SWEEP = (1.0, 1.02, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0)


@dataclass(frozen=True, kw_only=True)
class DualSquare:
    r"""The expected squared dual norm of one kind of noise, over :math:`ds^2/(2\rho)`."""

    noise: Noise
    q: float
    # The mean squared norm by quadrature in 2 and 3 dimensions, and in closed form where the noise
    # has the shape of the dual norm; NaN elsewhere.
    exact: float
    bound: float  # a proven upper bound on the mean squared norm
    # the mean of the measured squared norms
    mean: float
    standard_error: float
    # the 10 % and 90 % quantiles of a single draw's squared norm
    low: float
    high: float
    draws: int


def shaped(d: int, q: float, noise: Noise) -> Shaped:
    """Return the mechanism at sensitivity 1 and rho = 1/2; q in [1, 2]."""
    return Shaped(norm=RegularSpace(d=d, exponent=q), sensitivity=1.0, rho=RHO, noise=noise)


def dual_square(d: int, q: float, noise: Noise, seed: int) -> DualSquare:
    """Return the mean squared dual norm of the noise: bounded, measured, and exact where known.

    It is in units of d/(2 rho), for sensitivity 1.
    """
    mechanism = shaped(d, q, noise)
    dual, unit = mechanism.norm.dual, d / (2 * RHO)
    count = max(50, min(MOST_DRAWS, TABLE // d))
    squares = row_norms(_draw_noise(mechanism, count, seed), dual) ** 2 / unit
    return DualSquare(
        noise=noise,
        q=q,
        exact=_exact_mean_square(mechanism) / unit,
        bound=mechanism.dual_square_bound / unit,
        mean=float(squares.mean()),
        standard_error=float(squares.std(ddof=1)) / math.sqrt(count),
        low=float(np.quantile(squares, 0.1)),
        high=float(np.quantile(squares, 0.9)),
        draws=count,
    )


def sweep(d: int, seed: int, exponents: Sequence[float] = SWEEP) -> tuple[DualSquare, ...]:
    """Return `dual_square` of both kinds of noise at every q of `exponents`."""
    return tuple(dual_square(d, q, noise, seed) for noise in NOISES for q in exponents)


def _draw_noise(mechanism: Shaped, count: int, seed: int) -> Matrix:
    """Return draws of the noise, shape (count, d)."""
    require(count >= 2, "count", "at least 2", count)
    d = mechanism.norm.d
    rng = np.random.default_rng([seed, d, NOISES.index(mechanism.noise)])
    return generalized_gaussian_noise(
        (count, d), _exponent_of_density(mechanism), mechanism.noise_scale, rng
    )


def _exponent_of_density(mechanism: Shaped) -> float:
    """Return the exponent r of the norm in the noise's density; Gaussian noise has r = 2."""
    return mechanism.norm.smooth_exponent if mechanism.noise == "generalized gaussian" else 2.0


def _exact_mean_square(mechanism: Shaped) -> float:
    r"""Return :math:`E\|z\|_{q'}^2`, or NaN where only bounds are known.

    In polar coordinates :math:`E\|z\|_{q'}^2 = d\sigma^2 \int\|u\|_{q'}^2\|u\|_r^{-d-2}\,du /
    \int\|u\|_r^{-d}\,du` over the unit sphere.
    """
    d, r, dual = mechanism.norm.d, _exponent_of_density(mechanism), mechanism.norm.dual
    total = d * mechanism.noise_scale**2
    if r == dual:
        return total
    if d not in (2, 3):
        return math.nan
    return total * _mean_ratio_on_sphere(d, r, dual)


@lru_cache(maxsize=1024)
def _mean_ratio_on_sphere(d: int, exponent: float, dual: float) -> float:
    """Return the mean of the squared l_dual norm over the squared l_exponent norm.

    It is over the direction of noise whose density has the norm l_exponent, in d = 2 or 3.
    """
    points, weights = _sphere_quadrature(d)
    octant = (points > 0).all(axis=1)  # The signs of a point do not change its norms.
    points, weights = points[octant], weights[octant]
    sizes = row_norms(points, exponent)
    upper = float(weights @ (row_norms(points, dual) ** 2 * sizes ** (-d - 2)))
    return upper / float(weights @ sizes ** (-d))


@lru_cache(maxsize=2)
def _sphere_quadrature(d: int) -> tuple[Matrix, Vector]:
    """Return points of the unit sphere in 2 or 3 dimensions, and weights that sum to 1.

    The mean of a smooth function is exact to rounding, of one with kinks to a relative 1e-4.
    """
    if d == 2:
        angles = 2 * np.pi * (np.arange(CIRCLE) + 0.5) / CIRCLE
        points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        return points, np.full(CIRCLE, 1 / CIRCLE)
    heights, shares = np.polynomial.legendre.leggauss(LATITUDES)
    angles = 2 * np.pi * (np.arange(LONGITUDES) + 0.5) / LONGITUDES
    z, turn = (a.ravel() for a in np.meshgrid(heights, angles, indexing="ij"))
    flat = np.sqrt(1 - z * z)
    points = np.stack([flat * np.cos(turn), flat * np.sin(turn), z], axis=1)
    return points, np.repeat(shares / 2 / LONGITUDES, LONGITUDES)
