r"""What a record reveals of the mean if the exact shape of its law is known.

The floors of `dpsco_core.bounds.floors` hold for one family: the laws of :math:`\mu + Z`, where Z
is the noise of the data at hand. See theory/instance-floors.md, 5 to 7.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpsco_core.base.arrays import Vector


@dataclass(frozen=True, kw_only=True)
class Cut:
    r"""A way to clip the score of `Shifts`; both lengths are in units of :math:`\sqrt\lambda`."""

    size: float  # the largest norm of the clipped score
    rest: float  # the root mean square norm of the part that is cut off; 0 if the score is bounded


@dataclass(frozen=True, kw_only=True, eq=False)
class Shifts:
    r"""The family of shifts X = mu + Z of a centred law.

    The score is the gradient of :math:`-\log f` at Z. Its covariance is :math:`\lambda I`, as for
    independent coordinates with one law, and for a spherical law.
    """

    # the Fisher information lambda of a shift of one coordinate; infinite if the density jumps
    information: float
    symmetric: bool  # whether Z and -Z have the same law
    # A function of sizes theta >= 0, any shape: the total variation between the laws of Z + theta
    # and Z - theta for a coordinate (for a spherical law: along a coordinate).
    distance: Callable[[Vector], Vector]
    # A function of log odds u, any shape: the value below which a coordinate of Z (for a spherical
    # law: the norm of Z) lies with odds e^u.
    at_odds: Callable[[Vector], Vector]
    # whether the law is spherical; otherwise its coordinates are independent with one law
    spherical: bool = False
    # The ratio V/lambda, where E exp(t <v, score>) <= exp(t^2 V / 2) for every unit v; infinite if
    # no V satisfies this.
    spread: float = math.inf
    cuts: tuple[Cut, ...] = ()  # the clipped scores that a bound may use in place of the score
    # whether the law ends, or nearly ends, at a point, which then reveals the mean
    edge: bool = False
