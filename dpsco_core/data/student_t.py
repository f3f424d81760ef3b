"""Independent Student t coordinates: the default heavy-tailed law."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaln, expit, stdtrit

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.data.base import ScaledLaw
from dpsco_core.data.directions import log_normal_moment
from dpsco_core.data.shifts import Cut, Shifts
from dpsco_core.data.univariate import StudentLaw
from dpsco_core.data.ziggurat import StudentShape, ziggurat


@dataclass(frozen=True, kw_only=True)
class StudentT(ScaledLaw):
    r"""Independent Student t coordinates with :math:`\nu = p` + margin degrees of freedom.

    .. math:: E|X_j - \mu_j|^k = s^k\,\nu^{k/2}\,
        \frac{\Gamma(\frac{k+1}2)\,\Gamma(\frac{\nu-k}2)}{\sqrt\pi\,\Gamma(\frac\nu2)},
        \qquad 0 \le k < \nu,

    with s such that it is 1 at k = p. The directional moment is `symmetric_direction_bound`.
    Parameters and errors: `ScaledLaw`.

    Examples
    --------
    >>> law = StudentT(d=5, moment_order=3.0)
    >>> round(law.moment(3), 12), law.moment(3.5), law.tail_index
    (1.0, inf, 3.5)
    >>> law.sample(4, np.random.default_rng(0)).x.shape
    (4, 5)
    """

    symmetric = True
    sampling = Coefficients(fixed=7.8e4, per_row=0, per_element=7.3)
    card = Card(
        slug="student-t",
        name="Student t",
        paper=FOLKLORE,
        statement="Student's law",
        summary="Independent symmetric coordinates with polynomial tails.",
        infinite_variance="The p-th central moment is finite, known exactly, and scaled to 1.",
    )

    @property
    def shifts(self) -> Shifts:
        r"""What a record at z from the mean reveals of it; see theory/instance-floors.md, 5.

        The score of a coordinate is :math:`(\nu+1)z/(\nu s^2+z^2)`. It is bounded by
        :math:`(\nu+1)/(2s\sqrt\nu)`, and its moments are at most those of a normal variable with
        its variance.
        """
        nu, scale = self.tail_index, self.scale
        information = (nu + 1) / (nu + 3) / scale**2
        largest = (nu + 1) / (2 * scale * math.sqrt(nu))
        return Shifts(
            information=information,
            symmetric=True,
            distance=lambda theta: student_central_probability(nu, theta / scale),
            at_odds=lambda u: scale * np.sign(u) * -stdtrit(nu, expit(-np.abs(u))),
            spread=1.0,
            cuts=(Cut(size=largest * math.sqrt(self.d / information), rest=0.0),),
        )

    @property
    def univariate(self) -> StudentLaw:
        """The law of a coordinate before centring."""
        return StudentLaw(scale=self.scale, nu=self.tail_index)

    def _fill_centred(self, out: Vector, rng: np.random.Generator) -> None:
        """Fill an array with independent coordinates of mean 0."""
        ziggurat(StudentShape(self.tail_index)).fill(out.reshape(-1), rng, self.scale)

    def _log_moment(self, k: float) -> float:
        """Return the log of the k-th absolute moment of the unscaled coordinate."""
        return log_student_moment(self.tail_index, k)


def student_central_probability(nu: float, size: Vector) -> Vector:
    """Return P(|T| <= size) of a Student t with nu degrees of freedom, without cancellation."""
    square = size * size
    return np.asarray(betainc(0.5, 0.5 * nu, square / (nu + square)))


def log_student_moment(nu: float, k: float) -> float:
    r"""Return :math:`\log E|T|^k` of a Student t with nu degrees of freedom, for 0 <= k < nu.

    Examples
    --------
    >>> round(math.exp(log_student_moment(5.0, 2.0)), 12)  # nu / (nu - 2)
    1.666666666667
    """
    # T = Z / sqrt(G / (nu/2)), and a gamma G of shape a has E G^(-b) = Gamma(a-b) / Gamma(a).
    inverse_gamma = 0.0 if k == 0 else float(betaln(0.5 * (nu - k), 0.5 * k)) - math.lgamma(0.5 * k)
    return log_normal_moment(k) + 0.5 * k * math.log(0.5 * nu) + inverse_gamma
