r"""Checks where the mean of a law lies, and moments of centred or bounded variables."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from dpsco_core.base.valley import lowest_between
from dpsco_core.data.base import Distribution
from dpsco_core.data.hard import HardInstance
from dpsco_core.geometry.ball import Ball, Box, L1Ball, LqBall
from dpsco_core.geometry.base import ConstraintSet, Symmetric
from dpsco_core.geometry.simplex import Simplex, SolidSimplex
from dpsco_core.geometry.sparse import GroupBall, SparseHull

# Sets that stay the same when a coordinate changes its sign, and the simplices.
_UNCONDITIONAL = (L1Ball, LqBall, Box, GroupBall, SparseHull, Simplex, SolidSimplex)


def mean_within(law: Distribution, radius: float) -> bool:
    """Return whether the mean, or every mean of a prior, is in the l2 ball up to rounding."""
    return law.mean_norm <= radius * (1 + 1e-12)


def mean_inside(law: Distribution, constraint: ConstraintSet) -> bool:
    """Return whether the mean, or every mean of a prior, is in the set up to rounding."""
    if isinstance(constraint, Ball):
        return mean_within(law, constraint.radius)
    if law.has_prior:
        means = law.outermost_means if isinstance(law, HardInstance) else None
        if means is not None and isinstance(constraint, _UNCONDITIONAL):
            return all(constraint.contains(mean, 1e-12) for mean in means)
        return isinstance(constraint, Symmetric) and law.mean_norm <= constraint.inradius
    return constraint.contains(law.mean, 1e-12)


@lru_cache(maxsize=256)
def centring_factor(p: float) -> float:
    r"""Return the least C with :math:`E|Y-EY|^p \le C\,E|Y|^p` for every real Y; p > 1.

    .. math:: C = \max_{0\le a\le 1} \big(a^{p-1}+(1-a)^{p-1}\big)
        \big(a^{1/(p-1)}+(1-a)^{1/(p-1)}\big)^{p-1}.

    For a given mean m, every law is a mixture of two-point laws with mean m, and
    :math:`E|Y-m|^p - C\,E|Y|^p` is linear in the law: two-point laws decide. For values x and -y
    with probabilities a and 1-a, the numerator is :math:`(x+y)^p a(1-a)(a^{p-1}+(1-a)^{p-1})`, and
    Hoelder's inequality bounds :math:`(x+y)^p/(ax^p+(1-a)y^p)`, with equality for some x/y.

    Examples
    --------
    >>> centring_factor(2.0), round(centring_factor(3.0), 4)
    (1.0, 1.3156)
    """
    if p == 2:
        return 1.0
    power = p - 1

    def negative(a: float) -> float:
        """Return minus the function of a whose maximum is sought."""
        b = 1 - a
        spread = math.pow(a, 1 / power) + math.pow(b, 1 / power)
        return -(math.pow(a, power) + math.pow(b, power)) * math.pow(spread, power)

    return _maximum(negative)


@lru_cache(maxsize=256)
def bounded_central_moment(p: float) -> float:
    r"""Return the largest :math:`E|Y-EY|^p` of a variable with values in [-1, 1]; p > 1.

    .. math:: 2^p \max_{0\le a\le 1} a(1-a)\big(a^{p-1}+(1-a)^{p-1}\big),

    since for a given mean the moment is convex in the values: -1 and 1 with some probabilities
    attain it.

    Examples
    --------
    >>> bounded_central_moment(2.0), round(bounded_central_moment(3.0), 9)
    (1.0, 1.0)
    """
    if p == 2:
        return 1.0

    def negative(a: float) -> float:
        """Return minus the function of a whose maximum is sought."""
        b = 1 - a
        return -math.pow(2.0, p) * a * b * (math.pow(a, p - 1) + math.pow(b, p - 1))

    return _maximum(negative)


def _maximum(negative: Callable[[float], float]) -> float:
    """Return the maximum over [0, 1/2] of a function that is given as its negative, rounded up."""
    grid = np.concatenate([np.geomspace(1e-12, 0.01, 400), np.linspace(0.01, 0.5, 400)[1:]])
    values = np.array([negative(float(a)) for a in grid])
    best = int(values.argmin())
    low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, len(grid) - 1)])
    _, lowest = lowest_between(negative, low, high, tolerance=1e-12)
    return max(-lowest, -float(values[best])) * (1 + 1e-12)
