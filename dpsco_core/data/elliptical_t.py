"""The multivariate Student t, whose coordinates share their heavy tail."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv, expit

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.data.base import ScaledLaw
from dpsco_core.data.scales import least_of_leading
from dpsco_core.data.shifts import Cut, Shifts
from dpsco_core.data.student_t import log_student_moment, student_central_probability
from dpsco_core.data.univariate import StudentLaw
from dpsco_core.data.ziggurat import NormalShape, ziggurat


@dataclass(frozen=True, kw_only=True)
class EllipticalT(ScaledLaw):
    r"""The multivariate Student t, :math:`X = \mu + s\,Z/\sqrt{\chi^2_\nu/\nu}`.

    The normal vector Z is divided by one common chi, with :math:`\nu = p` + margin degrees of
    freedom: coordinates are uncorrelated, and large together. Every direction has the law of a
    coordinate, the scaled Student t (`StudentT`), so the directional moment is 1.
    Parameters and errors: `ScaledLaw`.

    Examples
    --------
    >>> law = EllipticalT(d=5, moment_order=3.0, offset=2.0)
    >>> law.directional_moment, law.moment(3.5), law.sample(4, np.random.default_rng(0)).x.shape
    (1.0, inf, (4, 5))
    """

    independent = False
    sampling = Coefficients(fixed=7.4e4, per_row=22, per_element=7.9)
    card = Card(
        slug="elliptical-t",
        name="Elliptical Student t",
        paper=FOLKLORE,
        statement="multivariate Student t",
        summary="Normal vectors divided by one common chi: coordinates are uncorrelated, and "
        "large together.",
        infinite_variance="The p-th central moment is finite, known exactly, and scaled to 1.",
    )

    def direction_factor(self, order: float) -> float:
        """Return 1: every direction has the law of a coordinate."""
        return 1.0

    @property
    def fourth_moment_trace(self) -> float:
        r"""The supremum :math:`\sup_{\|v\|=1} E\langle X,v\rangle^2\|X\|^2 = (d+2)m_4/3` at mean 0.

        If the scales differ, it is attained on the first axis: an axis of scale s gives
        :math:`(2s^4+s^2d)m_4/3`, where m_4 is the fourth moment of a coordinate of scale 1.
        """
        return (self.d / self.lead**2 + 2) * self.moment(4) / 3

    @property
    def inverse_norm(self) -> float:
        r"""The mean :math:`E\|X-\mu\|^{-1}=E\|Z\|^{-1}\,E\chi_\nu/(s\sqrt\nu)`, Z normal; d >= 2.

        If the scales differ, it is the smallest of the bounds :math:`E\|Z_k\|^{-1}/s_k` from the
        first k coordinates: the other coordinates only increase the norm.
        """
        nu = self.tail_index
        inverse = least_of_leading(self.scales, _mean_inverse_normal_norm)
        chi = math.exp(math.lgamma(0.5 * (nu + 1)) - math.lgamma(0.5 * nu)) * math.sqrt(2)
        return inverse * chi / (self.scale * math.sqrt(nu))

    @property
    def univariate(self) -> StudentLaw:
        """The law of a coordinate before centring."""
        return StudentLaw(scale=self.scale, nu=self.tail_index)

    @property
    def shifts(self) -> Shifts:
        r"""What a record at z from the mean reveals of it; see theory/instance-floors.md, 5.

        The score is :math:`(\nu+d)z/(\nu s^2+\|z\|^2)`.
        """
        nu, scale, d = self.tail_index, self.scale, self.d
        information = (nu + d) / (nu + d + 2) / scale**2
        largest = (nu + d) / (2 * scale * math.sqrt(nu))
        return Shifts(
            information=information,
            symmetric=True,
            distance=lambda theta: student_central_probability(nu, theta / scale),
            at_odds=lambda u: scale * np.sqrt(d * _fisher_quantile(d, nu, u)),
            spherical=True,
            spread=direction_spread(d, nu),
            cuts=(Cut(size=largest / math.sqrt(information), rest=0.0),),
        )

    def _fill_centred(self, out: Vector, rng: np.random.Generator) -> None:
        """Fill the rows with normal vectors, each over the root of a chi-square variable."""
        half = 0.5 * self.tail_index
        numerator = self.scale * math.sqrt(half)
        ziggurat(NormalShape()).fill(out.reshape(-1), rng)
        # A gamma variable of shape nu/2 is half a chi-square variable with nu degrees of freedom.
        out *= (numerator / np.sqrt(rng.standard_gamma(half, size=len(out))))[:, None]

    def _log_moment(self, k: float) -> float:
        """Return the log of the k-th absolute moment of the unscaled coordinate."""
        return log_student_moment(self.tail_index, k)


def _mean_inverse_normal_norm(d: int) -> float:
    r"""Return :math:`E\|Z\|^{-1}` of a standard normal vector, d >= 2."""
    return math.exp(math.lgamma(0.5 * (d - 1)) - math.lgamma(0.5 * d)) / math.sqrt(2)


def _fisher_quantile(d: int, nu: float, u: Vector) -> Vector:
    """Return the quantiles at log odds u of Fisher's F with d and nu degrees of freedom."""
    # The ratio d F/(nu + d F) has a beta law; each of its tails is computed from its own
    # probability.
    small = expit(-np.abs(u))
    beta = betaincinv(np.where(u < 0, d, nu) / 2, np.where(u < 0, nu, d) / 2, small)
    odds = np.where(u < 0, beta / (1 - beta), (1 - beta) / beta)
    return np.asarray(odds * nu / d)


@lru_cache(maxsize=256)
def direction_spread(d: int, nu: float) -> float:
    r"""Return the sub-Gaussian variance proxy of a direction of the score, over its variance.

    The ratio of consecutive even moments of the score is :math:`(2k+1)\lambda\rho_k`,

    .. math:: \rho_k = \frac{(\nu+2k)D(D+2)}{\nu(D+4k)(D+2+4k)},\qquad D=d+\nu,

    so that :math:`\max_k(\rho_0\cdots\rho_{k-1})^{1/k}` bounds the moments of every order, and is
    the number returned. See theory/instance-floors.md, 5.

    Examples
    --------
    >>> [round(direction_spread(d, nu), 4) for d, nu in ((2, 2.5), (20, 2.5), (200, 3.5))]
    [1.0, 1.3629, 6.3676]
    """
    # The ratio rho_0 is 1, and the following ratios first rise and then fall. The mean of their
    # logarithms is therefore largest just before the next logarithm falls below it.
    total = d + nu
    count = 64
    while True:
        k = np.arange(count, dtype=np.float64)
        ratio = (nu + 2 * k) / nu * total / (total + 4 * k) * (total + 2) / (total + 2 + 4 * k)
        means = np.cumsum(np.log(ratio)) / (k + 1)
        best = int(np.argmax(means))
        if best < count - 1:
            return math.exp(float(means[best]))
        count *= 4
