"""Independent normal coordinates: the light-tailed reference."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.data.base import ScaledLaw, log_normal_moment
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

    sampling = Coefficients(fixed=6.9e4, per_row=0, per_element=6.8)
    card = Card(
        slug="gaussian",
        name="Gaussian",
        paper=FOLKLORE,
        statement="normal law",
        summary="Independent normal coordinates: every moment exists, the light-tailed reference.",
    )

    @property
    def tail_index(self) -> float:
        return math.inf

    def direction_factor(self, order: float) -> float:
        return 1.0

    def _fill_centred(self, out: Vector, rng: np.random.Generator) -> None:
        ziggurat(NormalShape()).fill(out.reshape(-1), rng, self.scale)

    def _log_moment(self, k: float) -> float:
        return log_normal_moment(k)
