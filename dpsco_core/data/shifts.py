r"""What a record tells of the mean to whoever knows the exact shape of its law.

The floors of `dpsco_core.bounds.floors` hold for one family, the laws of :math:`\mu + Z` with Z the
noise of the data at hand. See theory/instance-floors.md, 5 to 7.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpsco_core.base.arrays import Vector


@dataclass(frozen=True, kw_only=True)
class Cut:
    r"""A clipped score: what it is at most, and what is cut, in units of :math:`\sqrt\lambda`."""

    size: float  # the largest norm of the clipped score
    rest: float  # the root mean square norm of what is cut off; 0 where the score is bounded


@dataclass(frozen=True, kw_only=True, eq=False)
class Shifts:
    r"""The family of shifts of a law, centred: X = mu + Z.

    The score is the gradient of :math:`-\log f` at Z. Its covariance is :math:`\lambda I`, as that
    of independent coordinates of one law is, and that of a spherical law.
    """

    # lambda, the Fisher information of a shift of one coordinate; infinite where the density jumps
    information: float
    # whether the law is its own mirror image: Z and -Z have one law
    symmetric: bool
    # takes sizes theta >= 0, any shape; returns the total variation between the laws of Z + theta
    # and Z - theta, of a coordinate (of a spherical law: along a coordinate)
    distance: Callable[[Vector], Vector]
    # takes log odds u, any shape; returns the value that a coordinate of Z stays below with odds
    # e^u (of a spherical law: the norm of Z)
    at_odds: Callable[[Vector], Vector]
    spherical: bool = False  # otherwise coordinates are independent, with one law
    # V/lambda, where E exp(t <v, score>) <= exp(t^2 V / 2) for every unit v; infinite if there is
    # none
    spread: float = math.inf
    cuts: tuple[Cut, ...] = ()  # clipped scores; any of them may be used
    # where the law ends, or nearly ends, at a point: whoever knows the shape finds that edge
    edge: bool = False
