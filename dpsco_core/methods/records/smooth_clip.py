r"""The smooth truncation of Kamath et al. (2022), Algorithm 4, at the speed of a table.

:math:`\psi(u; c) = E\phi(u(1 + \sqrt c Z))`, Z standard normal, :math:`\phi(x) = x - x^3/6` on
:math:`|x| \le \sqrt2` and constant beyond. With :math:`s = \sqrt c` and :math:`w = 1/u`, for u > 0,
since :math:`\phi' = (1 - x^2/2)_+`,

.. math:: \psi(u) = G(w) = \int_0^{\sqrt2}\Big(1 - \frac{t^2}2\Big)
    \Big[\Phi\Big(\frac{1-tw}s\Big) - \Phi\Big(\frac{-1-tw}s\Big)\Big]dt ,

which suffers no cancellation (the closed form does, beyond u = 100), decreases in w, and equals
:math:`\sup\psi` at w = 0. So a table of G over a bounded range serves every large u, infinity
included. For small u no table is needed, because :math:`\psi` is a cubic there.
"""

import math
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from scipy.special import ndtr, roots_legendre

from dpsco_core.base.arrays import Vector, real_array
from dpsco_core.base.errors import require
from dpsco_core.data.rows import Rows

SQRT2 = math.sqrt(2.0)
SMALLEST_VARIANCE, LARGEST_VARIANCE = 1e-4, 2.0
# Entries for which phi(u(1 + sZ)) is a cubic up to this many standard deviations skip the table.
BULK = 7.0
REACH = 8.5  # Beyond this many standard deviations the integrand is constant to 1e-17.
# the number of Gauss-Legendre points on at most 2 REACH deviations: exact to rounding
QUADRATURE = 64
# the error of the interpolation in units of tau; the supremum is at least 0.49
CELL_ERROR = 2.5e-13
PIECE = 128  # the number of cell ends computed at once: 64 KiB
ENTRIES = 32_768  # the number of entries whose intermediate results fit the cache
FOURTH_DERIVATIVE = 0.356  # an upper bound on |G''''| s^4


@dataclass(frozen=True, eq=False, kw_only=True)
class SmoothTable:
    r""":math:`\psi(\cdot; c)` for one c: a cubic near 0, and cubics on cells of w = 1/u beyond.

    *Near 0*, for :math:`u \le \sqrt2/(1 + 7s)`, the argument :math:`u(1+sZ)` is within
    :math:`\sqrt2` unless |Z| > 7, and :math:`\psi(u) = E(\cdot) = u - (1+3c)u^3/6` but for what
    lies beyond: there :math:`|\phi - (x - x^3/6)| \le \frac{|x|}2(|x|-\sqrt2)^2`, in all at most
    about :math:`\frac{(us)^2}{\sqrt2}E(Z-7)_+^2 < 3\cdot10^{-15}`.

    *Beyond*, the cubic of a cell has the values and the slopes of G at its ends, so that its error
    is at most :math:`\frac{h^4}{384}\max|G''''|`. Under the integral,
    :math:`|\partial_w^4\Phi((\pm1-tw)/s)| \le (t/s)^4\max|\Phi''''|` with
    :math:`\max|\Phi''''| = \max|x^3-3x|\varphi(x) < 0.5506`, hence

    .. math:: |G''''| \le \frac{2\cdot0.5506}{s^4}\int_0^{\sqrt2}\Big(1-\frac{t^2}2\Big)t^4\,dt
        = \frac{2\cdot0.5506\cdot0.32325}{s^4} < \frac{0.356}{s^4},

    and :math:`h = s(384\cdot2.5\cdot10^{-13}/0.356)^{1/4}` is short enough: 1,400 cells at c = 1,
    19,000 at c = 1e-4.
    """

    # S_c, a bound on every absolute value that `smooth` returns, whatever the rounding: the values
    # of the table are clamped to it, and the cubic near 0 is below S_c by more than 0.005.
    supremum: float
    bulk: float  # the largest u at which the first cubic is used
    cubic: float  # the coefficient of u^3 in the first cubic
    cells_per_unit: float  # 1/h, the number of cells per unit
    # Shape (cells,) each: coefficients of the cell that starts at w = i h, in ascending powers of
    # (w - i h)/h.
    coefficients: tuple[Vector, Vector, Vector, Vector]

    def smooth(self, u: Vector) -> Vector:
        """Return psi of every entry in the shape of `u` (contiguous); a NaN counts as 0."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            squares = u * u
            is_far = ~(squares <= self.bulk * self.bulk)  # A NaN counts as far.
            value = np.multiply(squares, self.cubic, out=squares)
            value += 1.0
            value *= u
        places = np.flatnonzero(is_far)
        if len(places):
            value.reshape(-1)[places] = self._large_entries(u.reshape(-1)[places])
        return value

    def _large_entries(self, u: Vector) -> Vector:
        """Return psi of entries beyond `bulk`, from the table; a NaN counts as 0."""
        constant, linear, square, cube = self.coefficients
        # A NaN is moved to the far end, and set to 0 at the end.
        place = np.fmin(self.cells_per_unit / np.abs(u), float(len(constant)))
        cell = np.minimum(place.astype(np.intp), len(constant) - 1)
        place -= cell
        value = cube[cell]
        for coefficient in (square, linear, constant):
            value *= place
            value += coefficient[cell]
        np.clip(value, 0.0, self.supremum, out=value)
        np.copysign(value, u, out=value)
        value[np.isnan(u)] = 0.0
        return value


def smoothed_supremum(smoothing_variance: float) -> float:
    r"""Return the largest smoothed value, :math:`S_c = \frac{2\sqrt2}3(2\Phi(1/\sqrt c) - 1)`."""
    require(smoothing_variance > 0, "smoothing_variance", "a positive number", smoothing_variance)
    return 2 * SQRT2 / 3 * math.erf(1 / math.sqrt(2 * smoothing_variance))


def smoothed_clip(u: Vector, smoothing_variance: float) -> Vector:
    r"""Return the smoothed value :math:`E\phi(u(1 + \sqrt c Z))` of every entry u; c in [1e-4, 2].

    It is odd, non-decreasing to the accuracy of 1e-12, and never above `smoothed_supremum` in
    absolute value, exactly: rounding and interpolation cannot widen the sensitivity. A NaN counts
    as 0.
    """
    return smooth_table(smoothing_variance).smooth(np.ascontiguousarray(u, dtype=np.float64))


@lru_cache(maxsize=32)
def smooth_table(smoothing_variance: float) -> SmoothTable:
    """Return the table of one c in [1e-4, 2], which takes a tenth of a second at most."""
    check_variance(smoothing_variance)
    s = math.sqrt(smoothing_variance)
    bulk = SQRT2 / (1 + BULK * s)
    h = s * (384 * CELL_ERROR / FOURTH_DERIVATIVE) ** 0.25
    w = h * np.arange(math.ceil(1 / (bulk * h)) + 1)
    parts = [_values_and_slopes(w[low : low + PIECE], s) for low in range(0, len(w), PIECE)]
    value, slope = (np.concatenate(column) for column in zip(*parts, strict=True))
    step, start, end = np.diff(value), h * slope[:-1], h * slope[1:]
    cubic = -(1 + 3 * smoothing_variance) / 6
    top = smoothed_supremum(smoothing_variance)
    # The first cubic increases up to bulk, since bulk^2 < 2/(1 + 3c).
    if not bulk * (1 + cubic * bulk * bulk) < top - 0.005:
        raise ArithmeticError(f"The first cubic of psi(.; {smoothing_variance}) is too high.")
    return SmoothTable(
        supremum=top,
        bulk=bulk,
        cubic=cubic,
        cells_per_unit=1 / h,
        coefficients=(value[:-1], start, 3 * step - 2 * start - end, start + end - 2 * step),
    )


def _values_and_slopes(w: Vector, s: float) -> tuple[Vector, Vector]:
    """Return G and G' at `w` >= 0, shape (k,) each, by quadrature where the integrand varies."""
    with np.errstate(divide="ignore", under="ignore"):
        # In the integrand of G the difference of the two Phi is 1 where tw < 1 - REACH s, and 0
        # where tw > 1 + REACH s.
        low = np.minimum(max(0.0, 1 - REACH * s) / w, SQRT2) if REACH * s < 1 else 0 * w
        high = np.minimum((1 + REACH * s) / w, SQRT2)
        points, weights = roots_legendre(QUADRATURE)
        t = low[:, None] + (high - low)[:, None] * (points + 1) / 2
        tw = t * w[:, None]
        lower, upper = (1 - tw) / s, (1 + tw) / s
        weight = (1 - t * t / 2) * weights
        value = (weight * (ndtr(lower) - ndtr(-upper))).sum(axis=1)
        density = np.exp(-lower * lower / 2) - np.exp(-upper * upper / 2)
        slope = -(weight * t * density).sum(axis=1) / (s * math.sqrt(2 * math.pi))
    half = (high - low) / 2
    return low - low**3 / 6 + half * value, half * slope


def check_variance(smoothing_variance: float) -> None:
    """Raise `InvalidInput` unless a smoothing variance is in the range of the tables."""
    ok = SMALLEST_VARIANCE <= smoothing_variance <= LARGEST_VARIANCE
    must = f"between {SMALLEST_VARIANCE:g} and {LARGEST_VARIANCE:g}"
    require(ok, "smoothing_variance", must, smoothing_variance)


def smoothed_mean(rows: Rows, tau: float, smoothing_variance: float) -> Vector:
    r"""Return the mean of the smoothed records :math:`\tau\psi(X_i/\tau; c)`, shape (d,)."""
    part = partial(smoothed_sum, tau=tau, smoothing_variance=smoothing_variance)
    return tau * rows.total(part) / rows.n


def smoothed_sum(rows: Rows, tau: float, smoothing_variance: float) -> Vector:
    r"""Return the sum of smoothed records over tau, :math:`\sum_i\psi(X_i/\tau; c)`, shape (d,)."""
    total, step = np.zeros(rows.d), max(1, ENTRIES // rows.d)
    units, inverse = np.ones(step), 1 / tau
    for block in (real_array("rows", block) for block in rows.blocks()):
        for low in range(0, len(block), step):
            with np.errstate(over="ignore", under="ignore"):
                u = block[low : low + step] * inverse
            total += units[: len(u)] @ smoothed_clip(u, smoothing_variance)
    return total
