r"""The excess risk of a run of projected gradient descent, at its own steps, sizes and average.

For a convex population risk, steps :math:`w_{t+1}=\Pi(w_t-\eta_tg_t)` and gradients :math:`g_t`
whose bias has norm at most b and whose fresh noise has energy :math:`v_t`, three arguments bound
the mean excess risk; each holds for every plan, and the least of them is taken
(theory/bounds-of-runs.md, 3).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class RiskOnSet:
    """What the arguments take from a problem: the population risk on its set."""

    start: float  # how far the centre of the set, where a run starts, is from any of its points
    span: float  # l2 diameter of the set
    slope: float  # bound on the norm of the population gradient over the set
    smoothness: float  # smoothness of the population risk; infinite where none is certified
    strong_convexity: float
    interior: bool  # whether the gradient vanishes at the minimiser

    def risk(self, square: float) -> float:
        """Bound the mean excess risk of a point by its mean squared distance to the minimiser."""
        linear = self.slope * math.sqrt(square)
        return min(linear, self.smoothness * square / 2) if self.interior and square else linear

    def contraction(self, size: float) -> float:
        r"""Return the most by which an exact step scales distances, :math:`\max_h|1-\eta h|`."""
        if math.isinf(self.smoothness):
            return math.inf
        return max(abs(1 - size * self.strong_convexity), abs(1 - size * self.smoothness))


def risk_on_set(setting: Setting, *, strong: bool = False) -> RiskOnSet:
    """Return what is known at a setting whose set is bounded.

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
    """The steps of a run, and what it averages: the points after the steps, with weights."""

    sizes: Sequence[float]
    weights: Sequence[float]  # for the points after each step; or for those before, see `queried`
    queried: bool = False  # whether the average is of the points at which gradients were asked
    pull: float = math.inf  # bound on the mean squared norm of what a step follows, if known


def risk(
    objective: RiskOnSet,
    steps: Walk,
    bias: float,
    # bound on the energy of a step's fresh noise, from its number and a mean squared distance
    energy: Callable[[int, float], float],
) -> float:
    """Return the least of the bounds that apply (theory/bounds-of-runs.md, 3.2 to 3.4)."""
    squares = distances(objective, steps, bias, energy)
    bound = by_distance(objective, steps, squares)
    by_steps = by_regret if steps.queried else by_descent
    return min(bound, by_steps(objective, steps, bias, energy, squares))


def distances(
    objective: RiskOnSet, steps: Walk, bias: float, energy: Callable[[int, float], float]
) -> list[float]:
    r"""Return bounds on the mean squared distances before the first step and after each.

    .. math:: r_{t+1}^2\le(a_tr_t+\eta_tb)^2+\eta_t^2v_t
    """
    largest_square = objective.span**2
    squares = [min(objective.start**2, largest_square)]
    for t, size in enumerate(steps.sizes):
        square = squares[-1]
        distance = objective.contraction(size) * math.sqrt(square) + size * bias
        squares.append(min(distance**2 + size**2 * energy(t, square), largest_square))
    return squares


def by_distance(objective: RiskOnSet, steps: Walk, squares: Sequence[float]) -> float:
    """Bound the risk of an average by that of its points, each by its distance: 3.2."""
    points = squares[:-1] if steps.queried else squares[1:]
    pairs = list(zip(steps.weights, points, strict=True))
    total = math.fsum(steps.weights)
    spread = math.fsum(w * math.sqrt(s) for w, s in pairs) / total
    return min(
        math.fsum(w * objective.risk(s) for w, s in pairs) / total, objective.risk(spread**2)
    )


def by_descent(
    objective: RiskOnSet,
    steps: Walk,
    bias: float,
    energy: Callable[[int, float], float],
    squares: Sequence[float],
) -> float:
    r"""Bound the risk of an average of the points after steps of :math:`\eta_t\le1/\beta`: 3.3.

    .. math:: F(w_{t+1})-F^*\le\frac{(1-\eta_t\lambda)r_t^2-r_{t+1}^2}{2\eta_t}+b\,r_{t+1}+
        c_t\eta_tv_t,\quad c_t=\min\Big\{1,\frac1{2(1-\eta_t\beta)}\Big\}

    A negative multiple of a distance is left out, a positive one counts at its bound.
    """
    if max(steps.sizes) * objective.smoothness > 1 + 1e-12:
        return math.inf
    # The step before leaves this weight of the distance.
    total, previous_weight = 0.0, 0.0
    for t, (size, weight) in enumerate(zip(steps.sizes, steps.weights, strict=True)):
        if weight == 0:
            continue
        square = squares[t]
        left = weight * (1 - size * objective.strong_convexity) / (2 * size) - previous_weight
        rest = 1 - size * objective.smoothness
        factor = min(1.0, 1 / (2 * rest)) if rest > 0 else 1.0
        total += max(0.0, left) * square + weight * (
            bias * math.sqrt(squares[t + 1]) + factor * size * energy(t, square)
        )
        previous_weight = weight / (2 * size)
    return total / math.fsum(steps.weights)


def by_regret(
    objective: RiskOnSet,
    steps: Walk,
    bias: float,
    energy: Callable[[int, float], float],
    squares: Sequence[float],
) -> float:
    r"""Bound the risk of the average of the queried points, without smoothness: 3.4.

    .. math:: F(w_t)-F^*\le\frac{r_t^2-r_{t+1}^2}{2\eta_t}+b\,r_t+
        \frac{\eta_t}2\big((G+b)^2+v_t\big)
    """
    total, previous_weight = 0.0, 0.0
    for t, (size, weight) in enumerate(zip(steps.sizes, steps.weights, strict=True)):
        if weight == 0:
            continue
        square = squares[t]
        left = weight / (2 * size) - previous_weight
        pull = min((objective.slope + bias) ** 2 + energy(t, square), steps.pull)
        total += max(0.0, left) * square + weight * (bias * math.sqrt(square) + size / 2 * pull)
        previous_weight = weight / (2 * size)
    return total / math.fsum(steps.weights)
