"""The multivariate Student t: heavy tails that all coordinates share."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.data.base import ScaledLaw
from dpsco_core.data.student_t import log_student_moment
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

    sampling = Coefficients(fixed=7.4e4, per_row=22, per_element=7.9)
    card = Card(
        slug="elliptical-t",
        name="Elliptical Student t",
        paper=FOLKLORE,
        statement="multivariate Student t",
        summary="Normal vectors divided by one common chi: coordinates are uncorrelated, and "
        "large together.",
    )

    def direction_factor(self, order: float) -> float:
        return 1.0

    def _fill_centred(self, out: Vector, rng: np.random.Generator) -> None:
        half = 0.5 * self.tail_index
        numerator = self.scale * math.sqrt(half)
        ziggurat(NormalShape()).fill(out.reshape(-1), rng)
        # A gamma of shape nu/2 is half a chi-square with nu degrees of freedom.
        out *= (numerator / np.sqrt(rng.standard_gamma(half, size=len(out))))[:, None]

    def _log_moment(self, k: float) -> float:
        return log_student_moment(self.tail_index, k)
