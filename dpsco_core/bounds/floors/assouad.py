r"""Assouad's argument on shifts: a floor for every law, with or without Fisher information.

.. math:: \sup_\mu E\|\hat\mu-\mu\|_2 \ge \sqrt d\,\theta\,E\,a(B),\qquad
    B\sim\mathrm{Bin}(n,t(\theta)),\quad \theta\le R/\sqrt d.

See theory/instance-floors.md, 6, Theorem 2.
"""

import math

import numpy as np
from scipy.special import expit

from dpsco_core.base.arrays import Vector
from dpsco_core.bounds.instances.binomial import expectation
from dpsco_core.data.shifts import Shifts
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget

# Shifts are tried at which n t has these values. Here t is the chance that a record differs between
# both shifts, and the unit is the number of differing records that a budget makes distinguishable.
_SIZES = np.geomspace(0.02, 20, 60)
# The search for theta starts at this logarithm of theta.
_SMALLEST = -60.0
# If rho b^2 exceeds this number, b differing records count as distinguished with certainty.
_LARGEST_INFORMATION = 36.0
# This table of y and the square root of y tanh y gives the starting points of `_overlap`.
_ARGUMENTS = np.linspace(0, 20, 2001)
_ROOTS = np.sqrt(_ARGUMENTS * np.tanh(_ARGUMENTS))


def overlap(counts: Vector, budget: Budget) -> Vector:
    """Return a(b), a lower bound on the mass that two outputs' laws share if b records differ."""
    if isinstance(budget, ZCDP):
        return _overlap(np.minimum(budget.rho * counts**2, _LARGEST_INFORMATION))
    epsilon = budget.epsilon
    exponent = epsilon * counts
    common = 2 * expit(-exponent)
    if isinstance(budget, ApproxDP) and budget.delta > 0:
        # The failure delta (e^(b eps) - 1)/(e^eps - 1) is computed in logarithms.
        grown = np.where(counts > 0, exponent + np.log(-np.expm1(-np.maximum(exponent, 1e-300))), 0)
        log_step = epsilon + math.log(-math.expm1(-epsilon))
        log_failure = np.where(counts > 0, math.log(budget.delta) + grown - log_step, -np.inf)
        common = common * np.maximum(0.0, -np.expm1(np.minimum(log_failure, 1.0)))
    return common


def _overlap(divergence: Vector) -> Vector:
    """Return 1 - T at each divergence k from 0 to 36, where T artanh T = k/2.

    Under zCDP it is the least mass that two output laws share whose divergences in both directions
    are at most k.
    """
    half = 0.5 * divergence
    # With T = tanh y the equation is y tanh y = k/2. The table gives a starting point for Newton's
    # method, of which two steps are enough.
    y = np.interp(np.sqrt(half), _ROOTS, _ARGUMENTS)
    for _ in range(2):
        tanh = np.tanh(y)
        y = y - (y * tanh - half) / np.maximum(tanh + y * (1 - tanh**2), 1e-12)
    return 2 * expit(-2 * y)


def record_distance(law: Shifts, theta: Vector, m: int) -> Vector:
    """Return the total variation distance of a record between the shifts by theta and -theta.

    The shifts are of one coordinate, and a record has m independent values; for m > 1 the result is
    an upper bound.
    """
    distance = np.minimum(law.distance(theta), 1.0)
    if m == 1:
        return distance
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(m * np.log1p(-distance)))


def assouad(n: int, d: int, law: Shifts, budget: Budget, radius: float, m: int = 1) -> float:
    """Return Theorem 2's lower bound on the mean l2 error for all shifts of a law in a ball.

    It is the largest over a grid of shifts theta, each of which gives a valid bound. `radius` is
    the radius R of the ball of means, and a record has m values.
    """
    strength = math.sqrt(budget.rho) if isinstance(budget, ZCDP) else budget.epsilon
    targets = np.minimum(_SIZES * max(1 / strength, 0.05) / n, 0.999999)
    theta = _shifts_of_chances(law, targets, radius / math.sqrt(d), m)
    largest = (
        math.sqrt(_LARGEST_INFORMATION / budget.rho)
        if isinstance(budget, ZCDP)
        else 700 / budget.epsilon
    )
    chance = record_distance(law, theta, m)
    scale = max(1.0, 0.25 / strength)
    common = expectation(
        lambda counts: overlap(counts, budget), n, chance, scale=scale, largest=largest, step=1 / 6
    )
    return float(math.sqrt(d) * np.max(theta * common))


def _shifts_of_chances(law: Shifts, targets: Vector, longest: float, m: int) -> Vector:
    """Return shifts, at most `longest`, at which records differ with the chances in `targets`."""
    top = min(math.log(longest), 300.0)
    low, high = np.full(targets.shape, min(_SMALLEST, top - 1)), np.full(targets.shape, top)
    goal = np.log(targets)
    # The root is found by bisection, then by the secant method in logarithms, in which the chance
    # is nearly a straight line.
    smallest = np.finfo(np.float64).tiny
    ends = [np.log(np.maximum(record_distance(law, np.exp(x), m), smallest)) for x in (low, high)]
    for step in range(18):
        middle = 0.5 * (low + high)
        if step >= 14:
            share = (goal - ends[0]) / np.maximum(ends[1] - ends[0], 1e-300)
            middle = low + (high - low) * np.clip(share, 0, 1)
        log_distance = np.log(np.maximum(record_distance(law, np.exp(middle), m), smallest))
        is_below = log_distance < goal
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        ends = [
            np.where(is_below, log_distance, ends[0]),
            np.where(is_below, ends[1], log_distance),
        ]
    reached = ends[1] >= goal
    return np.exp(np.where(reached, middle, top))
