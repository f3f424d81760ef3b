"""The inner radius of adaptive clipping: a smaller one, used where it adds no visible bias.

It is used if clipping to it moves the mean by no more than noise and sampling error explain. On
symmetric records, clipping at about the usual length has no bias and removes the error that the
tails add. See theory/adaptive-methods.md, 1.1.
"""

import math

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import GaussianNoise
from dpsco_core.privacy.mechanisms.exponential import Exponential, PrivateChoice
from dpsco_core.problems.base import Setting

BEYOND_INNER = 0.25  # the target share of records longer than the smaller radius
# the smallest n times rho; below it the noise of the test hides a bias that matters
LEAST_RECORDS = 800.0
MOST_BEYOND = 1 / 8  # With a larger share of records above the radius the two radii are too close.


def tells_bias(setting: Setting, slope: float) -> bool:
    r"""Return whether clipping bias can exceed the noise of the test, from public numbers alone.

    `slope` times :math:`d\sqrt{2/\rho}` is about the number of norms above the radius that is used
    otherwise. The answer is always no for p < 2, because the test compares with a sampling error
    that does not exist there.
    """
    n, d, rho = setting.n, setting.d, setting.gaussian_rho
    if setting.moment_order < 2:
        return False
    return n * rho >= LEAST_RECORDS and slope * d * math.sqrt(2 / rho) <= MOST_BEYOND * n


def inner_choice(counts: Vector, n: int, epsilon: float) -> PrivateChoice:
    r"""Return the private choice of a radius that about a quarter of n rows exceed.

    `counts` has, for every candidate, the number N of longer rows; the score is :math:`-|N-n/4|`.
    """
    scores = -np.abs(counts - BEYOND_INNER * n)
    return PrivateChoice(Exponential(sensitivity=1.0, epsilon=epsilon), scores)


def try_inner_radius(
    # Shape (2, d): the means of n rows projected on the ball of the smaller radius, then on that of
    # the larger.
    means: Vector,
    radii: tuple[float, float],
    *,
    n: int,
    # the budgets of the test and of the release for which the radius is chosen
    rhos: tuple[float, float],
    crowd: float,  # the expected number of rows longer than the larger radius
    ledger: Ledger,
    rng: np.random.Generator,
) -> tuple[float, bool]:
    """Release the distance of two means; return it, and whether the smaller radius is enough."""
    small, large = radii
    gap = large - small
    noisy = ledger.release(
        GaussianNoise(l2_sensitivity=2 * gap / n, rho=rhos[0]),
        np.array([float(np.linalg.norm(means[1] - means[0]))]),
        rng,
        label="what lies beyond the smaller radius",
    )
    distance = max(0.0, float(noisy[0]))
    overshoot, squared_overshoot = overshoots(large / small, BEYOND_INNER * n / crowd)
    # Lengths are in units of gap/n, because the squares of radii may overflow.
    nearness = gap / (large + small)
    explained = 2 / rhos[0] + n * squared_overshoot
    saved = (
        nearness * n * (squared_overshoot + 2 * small / gap * overshoot)
        + 2 * means.shape[1] / rhos[1]
    )
    return distance, distance / (gap / n) <= math.sqrt(explained + saved)


def overshoots(stretch: float, thinning: float) -> tuple[float, float]:
    r"""Return :math:`Eu` and :math:`Eu^2`, :math:`u=(\min\{\Vert y\Vert,R\}-r)_+/(R-r)`.

    In this model a quarter of the lengths :math:`\Vert y\Vert` is above the smaller radius r. Above
    the larger one, R = `stretch` r, there are `thinning` times fewer. Between the two the share of
    lengths above a level falls as a power of the level.
    """
    log = math.log(stretch)
    a = max(0.0, math.log(thinning) / log)
    linear, quadratic = _integral(1 - a, log), _integral(2 - a, log)
    return (
        BEYOND_INNER * linear / (stretch - 1),
        2 * BEYOND_INNER * (quadratic - linear) / (stretch - 1) ** 2,
    )


def _integral(power: float, log: float) -> float:
    r"""Return the integral :math:`\int_1^xt^{s-1}dt` for a power s, with :math:`x=e^{log}`."""
    return log if abs(power * log) < 1e-12 else math.expm1(power * log) / power
