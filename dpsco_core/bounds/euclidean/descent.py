r"""Bounds on the mean excess risk of a run of projected gradient descent, at its own parameters.

The risk is convex, the steps are :math:`w_{t+1}=\Pi(w_t-\eta_tg_t)`, and the bias of the gradients
:math:`g_t` has norm at most b, their fresh noise the mean squared norm :math:`v_t`. Three arguments
bound the mean excess risk. Each holds for every plan, and the least bound is taken
(theory/bounds-of-runs.md, 3).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.problems.base import Setting


def no_noise(t: int, square: float) -> float:
    """Return 0, the energy of the noise of a step that has no noise."""
    return 0.0


@dataclass(frozen=True, kw_only=True)
class RiskOnSet:
    """The constants of a population risk on its constraint set, on which the bounds depend."""

    # A run starts at the centre of the set, at most this far from any point of the set.
    start: float
    span: float  # the l2 diameter of the set
    slope: float  # a bound on the norm of the population gradient over the set
    smoothness: float  # the smoothness of the population risk; infinite if none is certified
    strong_convexity: float  # the strong convexity of the population risk, 0 if none is used
    interior: bool  # whether the gradient vanishes at the minimiser

    def risks(self, squares: Vector) -> Vector:
        """Return bounds on the mean excess risks of points at given mean squared distances.

        The distances are from the minimiser.
        """
        linear = self.slope * np.sqrt(squares)
        if not self.interior or math.isinf(self.smoothness):
            return np.asarray(linear)
        return np.minimum(linear, self.smoothness * squares / 2)

    def contractions(self, sizes: Vector) -> Vector:
        r"""Return, for each step size, how much an exact step may scale a distance.

        The factor is at most :math:`\max_h|1-\eta h|` over the curvatures h of the risk.
        """
        if math.isinf(self.smoothness):
            return np.full(len(sizes), math.inf)
        slow = np.abs(1 - sizes * self.strong_convexity)
        return np.maximum(slow, np.abs(1 - sizes * self.smoothness))


def risk_on_set(setting: Setting, *, strong: bool = False) -> RiskOnSet:
    """Return the constants of the population risk on a bounded set.

    Strong convexity, and a gradient that vanishes at the minimiser, count only if `strong`: a bound
    for convex losses uses neither.
    """
    constants, body = setting.constants, setting.body
    return RiskOnSet(
        start=body.reach,
        span=body.diameter,
        slope=min(constants.mean_gradient_bound, constants.lipschitz),
        smoothness=constants.smoothness,
        strong_convexity=constants.strong_convexity if strong else 0.0,
        interior=strong and constants.minimum_interior,
    )


@dataclass(frozen=True, kw_only=True)
class Walk:
    """The sizes of a run's steps, and the weights of the points in its average."""

    sizes: Sequence[float]
    # The average has these weights, of the points after each step or before it (see `queried`).
    weights: Sequence[float]
    queried: bool = False  # whether the average is over the points at which gradients were computed
    pull: float = math.inf  # a bound on the mean squared norm of a step's direction, if known


def risk(
    objective: RiskOnSet,
    steps: Walk,
    bias: float,
    # This function bounds the mean squared norm of a step's noise, given the number of the step and
    # the mean squared distance before it.
    energy: Callable[[int, float], float],
) -> float:
    """Return the least bound on the mean excess risk of a run's average.

    `bias` is the largest norm of the bias of a gradient. See theory/bounds-of-runs.md, 3.2 to 3.4.
    """
    squares, energies = _distances_and_energies(objective, steps, bias, energy)
    bound = by_distance(objective, steps, squares)
    by_steps = by_regret if steps.queried else by_descent
    return min(bound, by_steps(objective, steps, bias, energies, squares))


def distances(
    objective: RiskOnSet, steps: Walk, bias: float, energy: Callable[[int, float], float]
) -> list[float]:
    r"""Return bounds on the mean squared distance from the minimiser, at the start and each step.

    .. math:: r_{t+1}^2\le(a_tr_t+\eta_tb)^2+\eta_t^2v_t
    """
    return [float(square) for square in _distances_and_energies(objective, steps, bias, energy)[0]]


def _distances_and_energies(
    objective: RiskOnSet, steps: Walk, bias: float, energy: Callable[[int, float], float]
) -> tuple[Vector, Vector]:
    """Return `distances`, and a bound on the mean squared norm of the noise of each step."""
    largest_square = objective.span**2
    square = min(objective.start**2, largest_square)
    factors = objective.contractions(np.asarray(steps.sizes))
    if energy is no_noise and bias == 0 and factors.max() <= 1:
        shrunk = square * np.append(1.0, np.cumprod(factors**2))
        return shrunk, np.zeros(len(factors))
    squares, energies = [square], []
    for t, (size, factor) in enumerate(zip(steps.sizes, factors.tolist(), strict=True)):
        noise = energy(t, square)
        distance = factor * math.sqrt(square) + size * bias
        square = min(distance**2 + size**2 * noise, largest_square)
        energies.append(noise)
        squares.append(square)
    return np.array(squares), np.array(energies)


def by_distance(objective: RiskOnSet, steps: Walk, squares: Vector) -> float:
    """Return a bound on the risk of the average by the distances of its points.

    By convexity the risk of the average is at most the average of the risks, and each of those is
    bounded by the point's distance from the minimiser (theory/bounds-of-runs.md, 3.2). `squares`
    are the mean squared distances at the start and after each step.
    """
    points, weights = squares[:-1] if steps.queried else squares[1:], np.asarray(steps.weights)
    total = float(weights.sum())
    spread = float(weights @ np.sqrt(points)) / total
    whole = float(weights @ objective.risks(points)) / total
    return min(whole, float(objective.risks(np.array(spread**2))))


def by_descent(
    objective: RiskOnSet,
    steps: Walk,
    bias: float,
    energies: Vector,  # bounds on the mean squared norm of each step's noise
    squares: Vector,
) -> float:
    r"""Return a bound on the risk of an average of the points after steps of at most 1/beta.

    It is that of theory/bounds-of-runs.md, 3.3:

    .. math:: F(w_{t+1})-F^*\le\frac{(1-\eta_t\lambda)r_t^2-r_{t+1}^2}{2\eta_t}+b\,r_{t+1}+
        c_t\eta_tv_t,\quad c_t=\min\Big\{1,\frac1{2(1-\eta_t\beta)}\Big\}

    In the weighted sum of these inequalities a distance whose factor is negative is left out, and
    one whose factor is positive counts at its bound.
    """
    if max(steps.sizes) * objective.smoothness > 1 + 1e-12:
        return math.inf
    weights, sizes, counts = _steps_in_average(steps)
    left = weights * (1 - sizes * objective.strong_convexity) / (2 * sizes)
    # The distance before a step also occurs, with a negative sign, in the inequality of the
    # previous step.
    left[1:] -= weights[:-1] / (2 * sizes[:-1])
    contractions = np.maximum(1 - sizes * objective.smoothness, 0.5)
    noises = 1 / (2 * contractions) * sizes * energies[counts]
    total = np.maximum(0.0, left) @ squares[:-1][counts]
    total += weights @ (bias * np.sqrt(squares[1:][counts]) + noises)
    return float(total / weights.sum())


def by_regret(
    objective: RiskOnSet,
    steps: Walk,
    bias: float,
    energies: Vector,  # bounds on the mean squared norm of each step's noise
    squares: Vector,
) -> float:
    r"""Return a bound on the risk of the average of the queried points, without smoothness.

    It is that of theory/bounds-of-runs.md, 3.4:

    .. math:: F(w_t)-F^*\le\frac{r_t^2-r_{t+1}^2}{2\eta_t}+b\,r_t+
        \frac{\eta_t}2\big((G+b)^2+v_t\big)
    """
    weights, sizes, counts = _steps_in_average(steps)
    scales = weights / (2 * sizes)
    left = scales - np.append(0.0, scales[:-1])
    points = squares[:-1][counts]
    pull = np.minimum((objective.slope + bias) ** 2 + energies[counts], steps.pull)
    total = np.maximum(0.0, left) @ points
    total += weights @ (bias * np.sqrt(points) + sizes / 2 * pull)
    return float(total / weights.sum())


def _steps_in_average(steps: Walk) -> tuple[Vector, Vector, NDArray[np.intp]]:
    """Return the weights, the sizes and the numbers of the steps that the average counts."""
    weights = np.asarray(steps.weights)
    counts = np.flatnonzero(weights)
    return weights[counts], np.asarray(steps.sizes)[counts], counts
