"""Independent normal coordinates: the light-tailed reference."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import erf, expit, ndtr, ndtri

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.data.base import ScaledLaw
from dpsco_core.data.directions import log_normal_moment
from dpsco_core.data.shifts import Cut, Shifts
from dpsco_core.data.univariate import NormalLaw
from dpsco_core.data.ziggurat import NormalShape, ziggurat


@dataclass(frozen=True, kw_only=True)
class Gaussian(ScaledLaw):
    r"""Independent normal coordinates of standard deviation :math:`1/\|Z\|_p`.

    .. math:: E|X_j - \mu_j|^k = \|Z\|_k^k / \|Z\|_p^k, \qquad
        \|Z\|_k^k = 2^{k/2}\,\Gamma(\tfrac{k+1}2)/\sqrt\pi .

    Every direction has the law of a coordinate, so the directional moment is 1. `margin` is
    accepted and ignored. Parameters and errors: `ScaledLaw`.

    Examples
    --------
    >>> law = Gaussian(d=5, moment_order=4.0)
    >>> round(law.moment(4), 12), round(law.moment(2) ** 2, 12)
    (1.0, 0.333333333333)
    """

    has_margin = False
    sampling = Coefficients(fixed=6.9e4, per_row=0, per_element=6.8)
    card = Card(
        slug="gaussian",
        name="Gaussian",
        paper=FOLKLORE,
        statement="normal law",
        summary="Independent normal coordinates: every moment exists, the light-tailed reference.",
        infinite_variance="Every moment exists: the p-th is scaled to 1, and there is a variance.",
    )

    @property
    def tail_index(self) -> float:
        """Infinity: all moments exist."""
        return math.inf

    def direction_factor(self, order: float) -> float:
        """Return 1: every direction has the law of a coordinate."""
        return 1.0

    @property
    def univariate(self) -> NormalLaw:
        """The law of a coordinate before centring."""
        return NormalLaw(scale=self.scale)

    def draw_means(self, n: int, m: int, rng: np.random.Generator) -> Vector:
        """Return n means of m records each, shape (n, d), drawn from their normal law."""
        noise: Vector = self.scale / math.sqrt(m) * rng.standard_normal((n, self.d))
        if self.decay > 0:
            noise *= self.scales
        return self.mean + noise

    @property
    def shifts(self) -> Shifts:
        r"""What a record at z from the mean reveals of it, by the normal score :math:`z/s^2`.

        See theory/instance-floors.md, 5.
        """
        scale, d = self.scale, self.d
        return Shifts(
            information=scale**-2,
            symmetric=True,
            distance=lambda theta: np.asarray(erf(theta / (scale * math.sqrt(2)))),
            at_odds=lambda u: scale * np.sign(u) * -ndtri(expit(-np.abs(u))),
            spread=1.0,
            cuts=tuple(
                Cut(size=level * math.sqrt(d), rest=math.sqrt(d * _clipped_second_moment(level)))
                for level in CLIP_LEVELS
            ),
        )

    def _fill_centred(self, out: Vector, rng: np.random.Generator) -> None:
        """Fill an array with independent coordinates of mean 0."""
        ziggurat(NormalShape()).fill(out.reshape(-1), rng, self.scale)

    def _log_moment(self, k: float) -> float:
        """Return the log of the k-th absolute moment of the unscaled coordinate."""
        return log_normal_moment(k)


# The levels, from 1 to 9, at which the score of a standard normal coordinate may be clipped.
CLIP_LEVELS = tuple(1 + 0.25 * i for i in range(33))


def _clipped_second_moment(level: float) -> float:
    r"""Return :math:`E(|N|-\beta)_+^2`, the mean square that clipping a normal N at beta cuts off.

    It is an upper bound for levels of at least 6.
    """
    density = math.exp(-0.5 * level**2) / math.sqrt(2 * math.pi)
    if level >= 6:  # The difference below would lose all its digits at such levels.
        return 4 * density / level**3
    return 2 * ((1 + level**2) * float(ndtr(-level)) - level * density)
