"""Pareto coordinates, symmetric and one-sided."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betaln, expit

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.data.base import ScaledLaw
from dpsco_core.data.blocks import random_words
from dpsco_core.data.scales import entry_blocks
from dpsco_core.data.shifts import Shifts
from dpsco_core.data.univariate import OneSidedParetoLaw, SymmetricParetoLaw


@dataclass(frozen=True, kw_only=True)
class Pareto(ScaledLaw):
    r"""Independent symmetric Pareto coordinates with tail index :math:`\alpha = p` + margin.

    :math:`X_j = \mu_j \pm s\,U^{-1/\alpha}` with a fair sign and U uniform on (0, 1):

    .. math:: E|X_j - \mu_j|^k = s^k\,\frac{\alpha}{\alpha-k}, \qquad 0 \le k < \alpha,

    with s such that it is 1 at k = p. The directional moment is `symmetric_direction_bound`.
    Parameters and errors: `ScaledLaw`.

    Examples
    --------
    >>> law = Pareto(d=5, moment_order=2.0, margin=2.0)
    >>> round(law.moment(2), 12), round(law.moment(3), 12), law.moment(4)
    (1.0, 1.414213562373, inf)
    """

    symmetric = True
    sampling = Coefficients(fixed=5.2e4, per_row=0, per_element=6.4)
    card = Card(
        slug="pareto",
        name="Pareto (symmetric)",
        paper=FOLKLORE,
        statement="Pareto's law",
        summary="Independent coordinates with a fair sign and exactly polynomial tails.",
        infinite_variance="The p-th central moment is finite, known exactly, and scaled to 1.",
    )

    @property
    def shifts(self) -> Shifts:
        """What a record reveals of the mean, by the two jumps: theory/instance-floors.md, 6."""
        alpha, scale = self.tail_index, self.scale
        return Shifts(
            information=math.inf,
            symmetric=True,
            distance=lambda theta: _symmetric_total_variation(alpha, theta / scale),
            at_odds=lambda u: scale * np.sign(u) * (2 * expit(-np.abs(u))) ** (-1 / alpha),
            edge=True,
        )

    @property
    def univariate(self) -> SymmetricParetoLaw:
        """The law of a coordinate before centring."""
        return SymmetricParetoLaw(scale=self.scale, alpha=self.tail_index)

    def _fill_centred(self, out: Vector, rng: np.random.Generator) -> None:
        """Fill the rows with Pareto draws of random sign, scaled."""
        for part in entry_blocks(out):
            np.copysign(part, _fill_pareto(part, self.tail_index, rng), out=part)
            part *= self.scale

    def _log_moment(self, k: float) -> float:
        """Return the logarithm of the k-th absolute moment before scaling."""
        alpha = self.tail_index
        return math.log(alpha) - math.log(alpha - k)


@dataclass(frozen=True, kw_only=True)
class SkewedPareto(ScaledLaw):
    r"""Independent one-sided Pareto coordinates with tail index :math:`\alpha = p` + margin.

    :math:`X_j = \mu_j + s\,(U^{-1/\alpha} - m)` with U uniform on (0, 1) and
    :math:`m = \alpha/(\alpha-1)`. For :math:`0 \le k < \alpha`,

    .. math:: E|X_j - \mu_j|^k = s^k\Big[\alpha\,m^{k-\alpha} B(k+1, \alpha-k)
        + \frac{(\alpha-1)^{-k}}{k+1}\,
          {}_2F_1\big(1, k+1-\alpha;\, k+2;\, \tfrac1\alpha\big)\Big],

    with s such that it is 1 at k = p. The directional moment is `centred_direction_bound`.
    Parameters and errors: `ScaledLaw`.

    Examples
    --------
    >>> law = SkewedPareto(d=5, moment_order=3.0)
    >>> round(law.moment(3), 12), law.moment(3.5)
    (1.0, inf)
    """

    sampling = Coefficients(fixed=4e4, per_row=0, per_element=5.9)
    card = Card(
        slug="skewed-pareto",
        name="Pareto (one-sided)",
        paper=FOLKLORE,
        statement="Pareto's law",
        summary="Independent one-sided coordinates: clipping at a radius biases the mean.",
        infinite_variance="The p-th central moment is finite, known exactly, and scaled to 1.",
    )

    @property
    def shifts(self) -> Shifts:
        """What a record reveals of the mean, by the one jump: theory/instance-floors.md, 6."""
        alpha, scale = self.tail_index, self.scale
        centre = alpha / (alpha - 1)
        return Shifts(
            information=math.inf,
            symmetric=False,
            distance=lambda theta: -np.expm1(-alpha * np.log1p(2 * theta / scale)),
            at_odds=lambda u: scale * (expit(-u) ** (-1 / alpha) - centre),
            edge=True,
        )

    @property
    def univariate(self) -> OneSidedParetoLaw:
        """The law of a coordinate before centring."""
        return OneSidedParetoLaw(scale=self.scale, alpha=self.tail_index)

    def _fill_centred(self, out: Vector, rng: np.random.Generator) -> None:
        """Fill the rows with Pareto draws, minus their mean and scaled."""
        alpha = self.tail_index
        centre = alpha / (alpha - 1)
        for part in entry_blocks(out):
            _fill_pareto(part, alpha, rng)
            part -= centre
            part *= self.scale

    def _log_moment(self, k: float) -> float:
        """Return the log of the k-th absolute central moment of the unscaled coordinate."""
        return log_centred_pareto_moment(self.tail_index, k)


def _symmetric_total_variation(alpha: float, theta: Vector) -> Vector:
    """Return the total variation between the symmetric law of scale 1 shifted by +-theta."""
    theta = np.asarray(theta, dtype=np.float64)
    outer = -np.expm1(-alpha * np.log1p(2 * theta))
    # For theta above 1 the inner jumps of the two densities have passed each other.
    clamped = np.maximum(theta, 1.0)
    overlap = clamped**-alpha - (2 * clamped - 1) ** -alpha
    return np.where(theta > 1, outer - overlap, outer)


@lru_cache(maxsize=256)
def log_centred_pareto_moment(alpha: float, k: float) -> float:
    r"""Return :math:`\log E|Y - m|^k` for :math:`Y = U^{-1/\alpha}` and its mean m, 0 <= k < alpha.

    Examples
    --------
    >>> round(math.exp(log_centred_pareto_moment(3.0, 2.0)), 12)  # 3 - (3/2)^2
    0.75
    """
    # Right of the mean, x = m/u:
    #     int_m^inf (x-m)^k alpha x^(-alpha-1) dx = alpha m^(k-alpha) B(k+1, alpha-k).
    # Left of it, x = m(1-t) with t from 0 to v = 1 - 1/m = 1/alpha:
    #     int_1^m (m-x)^k alpha x^(-alpha-1) dx = alpha m^(k-alpha) int_0^v t^k (1-t)^(-alpha-1) dt
    #     = alpha m^(k-alpha) v^(k+1)/(k+1) 2F1(k+1, alpha+1; k+2; v).
    # Euler's transformation 2F1(a,b;c;v) = (1-v)^(c-a-b) 2F1(c-a,c-b;c;v) then takes out
    # m^alpha, and alpha v = 1, m v = 1/(alpha-1) leave the form below.
    log_mean = -math.log1p(-1 / alpha)
    right_part = math.log(alpha) + (k - alpha) * log_mean + float(betaln(k + 1, alpha - k))
    left_part = (
        -k * math.log(alpha - 1) - math.log(k + 1) + math.log(_hypergeometric_series(alpha, k))
    )
    return float(np.logaddexp(right_part, left_part))


def _hypergeometric_series(alpha: float, k: float) -> float:
    """Return 2F1(1, k+1-alpha; k+2; 1/alpha) for 0 <= k < alpha and alpha > 1."""
    # No term exceeds 1 in size. About the first alpha/2 terms fall at least as fast as 1/i!, and
    # each later one is less than 1/alpha of its predecessor. The series replaces scipy's hyp2f1,
    # which returns NaN for large alpha.
    total = term = 1.0
    for i in range(max(80, math.ceil(40 / math.log(alpha)))):
        term *= (k + 1 - alpha + i) / (k + 2 + i) / alpha
        total += term
    return total


def _fill_pareto(out: Vector, alpha: float, rng: np.random.Generator) -> Vector:
    """Fill `out` with draws of U^(-1/alpha); return an array whose signs are independent and fair.

    U is uniform on (0, 1]: an odd 63-bit word over 2^63, so that the tail is exact far beyond that
    of a uniform draw with 53 bits. Only the signs of the array that is returned are of use.
    """
    words = random_words(out.size, rng)
    words |= 1
    uniform = np.empty(out.size)
    np.multiply(words, 2.0**-63, out=uniform)
    np.abs(uniform, out=out)
    np.log(out, out=out)
    out *= -1 / alpha
    np.exp(out, out=out)
    return uniform
