"""Independent log-normal coordinates: one-sided, with all moments, but not light-tailed."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import expit, ndtr, ndtri

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.data.base import ScaledLaw
from dpsco_core.data.scales import entry_blocks
from dpsco_core.data.shifts import Cut, Shifts
from dpsco_core.data.univariate import LogNormalLaw
from dpsco_core.data.ziggurat import NormalShape, ziggurat


@dataclass(frozen=True, kw_only=True)
class LogNormal(ScaledLaw):
    r"""Independent log-normal coordinates.

    :math:`X_j = \mu_j + s\,(e^{\sigma Z} - e^{\sigma^2/2})` with Z standard normal and
    :math:`\sigma = \min(1, 2/\sqrt p)`, so that the p-th moment of :math:`e^{\sigma Z}` is at most
    :math:`e^{2p}`. Central absolute moments of real order have no closed form; they are computed
    by quadrature to a relative accuracy of 1e-10 (`log_centred_moment`). The directional moment is
    `centred_direction_bound`. `margin` is accepted and ignored. Parameters and errors:
    `ScaledLaw`.

    Examples
    --------
    >>> law = LogNormal(d=5, moment_order=3.0)
    >>> round(law.moment(3), 12), law.tail_index
    (1.0, inf)
    """

    has_margin = False
    sampling = Coefficients(fixed=7.3e4, per_row=0, per_element=8.5)
    card = Card(
        slug="log-normal",
        name="Log-normal",
        paper=FOLKLORE,
        statement="log-normal law",
        summary="Independent one-sided coordinates: every moment exists, and grows fast.",
        infinite_variance="Every moment exists: the p-th is scaled to 1, and there is a variance.",
    )

    @property
    def sigma(self) -> float:
        r"""The standard deviation :math:`\sigma = \min(1, 2/\sqrt p)` of the logarithm."""
        return min(1.0, 2 / math.sqrt(self.moment_order))

    @property
    def tail_index(self) -> float:
        """Infinity: all moments exist."""
        return math.inf

    @property
    def shifts(self) -> Shifts:
        r"""What a record reveals of the mean, by the score :math:`e^{-\sigma N}(1+N/\sigma)/s`.

        N is the standardised logarithm of a coordinate; the score is large where N is far below 0.
        See theory/instance-floors.md, 5.
        """
        sigma, scale, d = self.sigma, self.scale, self.d
        centre = math.exp(0.5 * sigma**2)
        return Shifts(
            information=_fisher_information(sigma) / scale**2,
            symmetric=False,
            distance=lambda theta: _largest_interval_probability(sigma, 2 * theta / scale),
            at_odds=lambda u: (
                scale * (np.exp(sigma * np.sign(u) * -ndtri(expit(-np.abs(u)))) - centre)
            ),
            cuts=tuple(
                Cut(size=level * math.sqrt(d), rest=math.sqrt(d) * rest)
                for level, rest in _clipping_levels(sigma)
            ),
            edge=True,
        )

    @property
    def univariate(self) -> LogNormalLaw:
        """The law of a coordinate before centring."""
        return LogNormalLaw(scale=self.scale, sigma=self.sigma)

    def _fill_centred(self, out: Vector, rng: np.random.Generator) -> None:
        """Fill the rows with log-normal draws, minus their mean and scaled."""
        sigma, scale = self.sigma, self.scale
        centre = math.exp(0.5 * sigma**2)
        ziggurat(NormalShape()).fill(out.reshape(-1), rng, sigma)
        for part in entry_blocks(out):
            np.exp(part, out=part)
            part -= centre
            part *= scale

    def _log_moment(self, k: float) -> float:
        """Return the log of the k-th absolute central moment of the unscaled coordinate."""
        return log_centred_moment(self.sigma, k)


@lru_cache(maxsize=256)
def log_centred_moment(sigma: float, k: float) -> float:
    r"""Return :math:`\log E|e^{\sigma Z} - e^{\sigma^2/2}|^k`, Z standard normal, k >= 0.

    It is computed by quadrature. The moment's relative accuracy is 1e-10 for sigma k up to 100.

    Examples
    --------
    >>> round(math.exp(log_centred_moment(1.0, 2.0)) / (math.e * (math.e - 1)), 10)
    1.0
    """
    # The law of Z is split where the integrand is zero, at sigma/2: with Z = sigma/2 +- t,
    #     |exp(sigma Z) - exp(sigma^2/2)| = exp(sigma^2/2) |expm1(+- sigma t)|.
    # In y = log t both halves are analytic and decay at both ends, exponentially to the left
    # and faster to the right, so that the trapezoidal rule converges exponentially.
    right_half, left_half = (_log_half_moment(sigma, k, sign) for sign in (1.0, -1.0))
    return 0.5 * k * sigma**2 + float(np.logaddexp(right_half, left_half))


def _log_half_moment(sigma: float, k: float, sign: float) -> float:
    r"""Return :math:`\log\int_0^\infty|e^{\pm\sigma t}-1|^k\varphi(\sigma/2\pm t)\,dt`.

    The sign is `sign`, 1 or -1, and phi the standard normal density.
    """

    def log_integrand(y: Vector) -> Vector:
        """Return the logarithm of the integrand, with t = e^y as the variable."""
        t = np.exp(y)
        jump = sigma * t
        # In this form log|expm1(+-jump)| does not overflow for a large jump.
        size = np.log(-np.expm1(-jump)) + (jump if sign > 0 else 0.0)
        return np.asarray(k * size - 0.5 * (0.5 * sigma + sign * t) ** 2 + y)

    # The peak lies below t = sigma k + 3, and its width in t is about 1.
    coarse = np.linspace(-60.0, math.log(sigma * k + 40.0), 4001)
    values = log_integrand(coarse)
    significant = np.flatnonzero(values > values.max() - 60.0)
    low, high = (
        coarse[max(significant[0] - 1, 0)],
        coarse[min(significant[-1] + 1, coarse.size - 1)],
    )
    fine, step = np.linspace(low, high, 4001, retstep=True)
    values = log_integrand(fine)
    largest = float(values.max())
    total = float(np.exp(values - largest).sum()) * float(step)
    return largest + math.log(total) - 0.5 * math.log(2 * math.pi)


def _fisher_information(sigma: float) -> float:
    """Return the Fisher information of a shift of exp(sigma N), N standard normal."""
    return math.exp(2 * sigma**2) * (1 + sigma**-2)


@lru_cache(maxsize=256)
def _clipping_levels(sigma: float) -> tuple[tuple[float, float], ...]:
    """Return pairs of a level at which the score is clipped and the RMS of what is cut off.

    Both are in units of the score's root mean square.
    """
    normal, step = np.linspace(-14.0, 10.0, 4001, retstep=True)
    weights = np.exp(-0.5 * normal**2) / math.sqrt(2 * math.pi) * float(step)
    unit = np.exp(-sigma * normal) * (1 + normal / sigma) / math.sqrt(_fisher_information(sigma))
    levels = np.geomspace(1, 200, 60)
    excess = np.maximum(np.abs(unit) - levels[:, None], 0)
    return tuple(zip(levels.tolist(), np.sqrt(excess**2 @ weights).tolist(), strict=True))


def _largest_interval_probability(sigma: float, length: Vector) -> Vector:
    """Return the largest probability that exp(sigma N) lies in an interval of a given length."""
    # The interval begins at e^y, left of the mode e^(-sigma^2), and its two ends have equal
    # densities. The start y is computed by bisection, then by Newton's method.
    log_length = np.log(np.maximum(np.asarray(length, dtype=np.float64), 1e-300))
    low = np.full(log_length.shape, -40 * sigma - sigma**2)
    high = np.full(log_length.shape, -(sigma**2))
    y = 0.5 * (low + high)
    for step in range(17):
        end = np.logaddexp(y, log_length)
        # The gap is the log density at the end minus the one at the start; it decreases in y.
        gap = (y - end) * (1 + (end + y) / (2 * sigma**2))
        slope = 1 + y / sigma**2 - np.exp(y - end) * (1 + end / sigma**2)
        low, high = np.where(gap > 0, y, low), np.where(gap > 0, high, y)
        newton = y - gap / np.where(slope < 0, slope, -np.inf)
        y = 0.5 * (low + high) if step < 11 else np.clip(newton, low, high)
    end = np.logaddexp(y, log_length)
    return np.asarray(ndtr(end / sigma) - ndtr(y / sigma))
