r"""What the problems need of a law besides its own moments: raw moments and second moments."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.optimize import minimize_scalar

from dpsco_core.base.arrays import Vector
from dpsco_core.data.base import Distribution, ScaledLaw, centred_direction_bound
from dpsco_core.data.elliptical_t import EllipticalT
from dpsco_core.data.hard import HardInstance, TwoPoint
from dpsco_core.geometry.ball import Ball
from dpsco_core.geometry.base import ConstraintSet, Symmetric


def mean_norm(law: Distribution) -> float:
    """Return the l2 norm of the mean; of a hard instance, the largest of its prior."""
    return law.mean_norm if isinstance(law, HardInstance) else float(np.linalg.norm(law.mean))


def class_moment(law: Distribution) -> float:
    r"""Bound :math:`\max_j E|X_j-\mu_j|^p` by what the law's class allows.

    Exact for ordinary laws, which are scaled to 1 or less. A hard instance is the hardest of the
    class of moment 1: its raw moment is 1, its central one at most :math:`1-q` and 0 at q = 1,
    where the hidden mean is as hard as ever. Lower bounds take their unit from this number.
    """
    return 1.0 if isinstance(law, HardInstance) else law.moment(law.moment_order)


def mean_within(law: Distribution, radius: float) -> bool:
    """Return whether the mean is in the ball of `radius`, or on its sphere up to rounding."""
    return mean_norm(law) <= radius * (1 + 1e-12)


def mean_inside(law: Distribution, constraint: ConstraintSet) -> bool:
    """Return whether the mean is in the set, up to rounding; of a hard instance, every mean."""
    if isinstance(constraint, Ball):
        return mean_within(law, constraint.radius)
    if isinstance(law, HardInstance):
        return isinstance(constraint, Symmetric) and mean_norm(law) <= constraint.inradius
    return constraint.contains(law.mean, 1e-12)


def record_norm(law: Distribution) -> float:
    """Return the largest l2 norm of a record; infinite for every law but the hard instances."""
    if isinstance(law, HardInstance):
        return math.pow(law.spike_probability, -1 / law.moment_order) * math.sqrt(law.weight)
    return math.inf


def spike_of(law: TwoPoint) -> Vector:
    """Return the one record of a drawn hard instance that is not 0, shape (d,)."""
    return law.mean / law.spike_probability


def largest_second_moment(law: Distribution) -> float:
    r"""Return the largest eigenvalue of :math:`E XX^\top`, exactly.

    The ordinary laws have uncorrelated coordinates with equal variances; a hard instance is a
    multiple of one vector.
    """
    if isinstance(law, TwoPoint):
        return second_moment_trace(law)
    return law.moment(2) + mean_norm(law) ** 2


def smallest_second_moment(law: Distribution) -> float:
    r"""Return the smallest eigenvalue of :math:`E XX^\top`, exactly."""
    if law.d == 1:
        return largest_second_moment(law)
    return 0.0 if isinstance(law, TwoPoint) else law.moment(2)


def second_moment_trace(law: Distribution) -> float:
    r"""Return :math:`E\|X\|_2^2`, exactly."""
    if isinstance(law, HardInstance):
        return law.spike_probability * record_norm(law) ** 2
    return law.variance_trace + mean_norm(law) ** 2


def fourth_moment_trace(law: Distribution) -> float:
    r"""Return :math:`\sup_{\|v\|=1} E\langle X,v\rangle^2\|X\|^2`, exactly.

    For a law with mean 0, where every v gives the same, or a hard instance. With m2 and m4 the
    moments of a coordinate it is :math:`m_4+(d-1)m_2^2` for independent coordinates (terms with an
    odd power of one vanish) and :math:`(d+2)m_4/3` for elliptical ones; on a hard instance v along
    the spike is the worst. Infinite where there is no fourth moment.
    """
    if isinstance(law, TwoPoint):
        return law.spike_probability * record_norm(law) ** 4
    fourth = law.moment(4)
    if isinstance(law, EllipticalT):
        return (law.d + 2) * fourth / 3
    return fourth + (law.d - 1) * law.moment(2) ** 2


def central_direction(law: Distribution, k: float) -> float:
    r"""Bound :math:`\sup_u (E|\langle u, X-\mu\rangle|^k)^{1/k}`, for 0 < k <= p.

    Below order 2 by the value at 2, which is exact; above by the inequalities that the laws
    themselves use (`ScaledLaw.direction_factor`), scaled.
    """
    order = k if isinstance(law, TwoPoint) else max(k, 2.0)
    if isinstance(law, HardInstance):  # exact for two points, else Jensen's inequality
        return math.sqrt(law.weight) * math.pow(law.moment(order), 1 / order)
    root = math.pow(law.moment(order), 1 / order)
    if isinstance(law, ScaledLaw):
        return root * law.direction_factor(order)
    return root * centred_direction_bound(law.d, order)


def raw_direction(law: Distribution, k: float) -> float:
    r"""Bound :math:`\sup_u (E|\langle u, X\rangle|^k)^{1/k}`, for 0 < k <= p.

    Exact for the prior of a hard instance: :math:`q^{1/k} \|spike\|`, at aligned signs. Otherwise
    Minkowski's inequality adds the norm of the mean to the central bound.
    """
    if isinstance(law, HardInstance):
        return math.pow(law.spike_probability, 1 / k) * record_norm(law)
    return mean_norm(law) + central_direction(law, k)


def raw_coordinate(law: Distribution, k: float) -> float:
    r"""Bound :math:`\max_j E|X_j|^k` of a law with mean 0, or of a hard instance: both exact."""
    if isinstance(law, HardInstance):
        return math.pow(law.spike_probability, 1 - k / law.moment_order)
    return law.moment(k)


@lru_cache(maxsize=256)
def centring_factor(p: float) -> float:
    r"""Return the least C with :math:`E|Y-EY|^p \le C\,E|Y|^p` for every real Y; p >= 2.

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
        b = 1 - a
        spread = math.pow(a, 1 / power) + math.pow(b, 1 / power)
        return -(math.pow(a, power) + math.pow(b, power)) * math.pow(spread, power)

    return _largest(negative)


@lru_cache(maxsize=256)
def bounded_central_moment(p: float) -> float:
    r"""Return the largest :math:`E|Y-EY|^p` of a variable with values in [-1, 1]; p >= 2.

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
        b = 1 - a
        return -math.pow(2.0, p) * a * b * (math.pow(a, p - 1) + math.pow(b, p - 1))

    return _largest(negative)


def _largest(negative: Callable[[float], float]) -> float:
    """Return the maximum over [0, 1/2] of minus the given function, rounded up."""
    grid = np.concatenate([np.geomspace(1e-12, 0.01, 400), np.linspace(0.01, 0.5, 400)[1:]])
    values = np.array([negative(float(a)) for a in grid])
    best = int(values.argmin())
    low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, len(grid) - 1)])
    found = minimize_scalar(
        negative, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
    )
    return max(-float(found.fun), -float(values[best])) * (1 + 1e-12)
