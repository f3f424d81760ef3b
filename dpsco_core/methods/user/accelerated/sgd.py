r"""Accelerated stochastic gradient descent: AC-SA, its restarts in stages, and its guarantee.

It is the method of Ghadimi and Lan (2012) for a strongly convex and smooth objective on a convex
set with a noisy gradient oracle. Algorithm 2 of Lowy, Liu and Asi (2024) uses its steps
(theory/lowy-liu-asi.md, 2.2). Privacy is a property of the oracle alone.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.privacy.checks import check_count, check_positive

# A function of the point and the number of the step, from 0; if it returns None the run ends.
Oracle = Callable[[Vector, int], Vector | None]


@dataclass(frozen=True, kw_only=True)
class Curvature:
    """The constants of the objective that AC-SA needs."""

    strong_convexity: float  # μ, the strong convexity; positive
    smoothness: float  # L_F, the smoothness; at least μ, and finite

    def __post_init__(self) -> None:
        """Refuse a strong convexity that is not positive or exceeds the smoothness."""
        check_positive("strong_convexity", self.strong_convexity)
        ok = self.strong_convexity <= self.smoothness < math.inf
        require(ok, "smoothness", "finite and at least strong_convexity", self.smoothness)


@dataclass(frozen=True, eq=False, kw_only=True)
class State:
    """Where a run of AC-SA is after some steps."""

    point: Vector  # x_t, the point after step t, shape (d,)
    aggregate: Vector  # the weighted average of the points so far, shape (d,)
    steps: int = 0  # t, the number of steps so far


@dataclass(frozen=True, eq=False, kw_only=True)
class Accelerated:
    """The result of a run of AC-SA."""

    value: Vector  # the aggregate after the last step, shape (d,)
    steps: int  # the number of steps that were taken
    halted: bool  # whether the oracle ended the run


def query_weights(objective: Curvature, t: int) -> tuple[float, float]:
    """Return the weights of the aggregate and of the point in :math:`x^{md}_t`, which sum to 1.

    t counts from 1.
    """
    mu, alpha, gamma = _parameters(objective, t)
    whole = gamma + (1 - alpha**2) * mu
    return (1 - alpha) * (mu + gamma) / whole, alpha * ((1 - alpha) * mu + gamma) / whole


def query_point(state: State, objective: Curvature) -> Vector:
    r"""Return :math:`x^{md}_t`, the point of the next gradient query, shape (d,)."""
    aggregate, point = query_weights(objective, state.steps + 1)
    query: Vector = aggregate * state.aggregate + point * state.point
    return query


def accelerated_step(
    state: State, gradient: Vector, objective: Curvature, constraint: ConstraintSet
) -> State:
    r"""Return the state after a step along `gradient`, the noisy gradient at `query_point`.

    With :math:`\alpha_t = 2/(t+1)` and :math:`\gamma_t = 4L_F/(t(t+1))`,

    .. math:: x_t = \Pi\Big(\frac{\alpha_t\mu x^{md}_t + [(1-\alpha_t)\mu+\gamma_t]x_{t-1}
        - \alpha_tG_t}{\mu+\gamma_t}\Big), \qquad
        x^{ag}_t = \alpha_tx_t + (1-\alpha_t)x^{ag}_{t-1}.
    """
    t = state.steps + 1
    mu, alpha, gamma = _parameters(objective, t)
    queried = query_point(state, objective)
    target = alpha * mu * queried + ((1 - alpha) * mu + gamma) * state.point - alpha * gradient
    point = constraint.project(target / (mu + gamma))
    return State(point=point, aggregate=alpha * point + (1 - alpha) * state.aggregate, steps=t)


def accelerated_descent(
    start: Vector, steps: int, objective: Curvature, constraint: ConstraintSet, oracle: Oracle
) -> Accelerated:
    r"""Run AC-SA for `steps` steps from `start`, or until the oracle returns None.

    If :math:`G_t` is unbiased, given the past, of variance at most :math:`V^2`,

    .. math:: E[F(x^{ag}_T) - F^*] \le \frac{2L_F\|x_0-x^*\|^2}{T(T+1)} + \frac{8V^2}{\mu(T+1)},

    which is `accelerated_gap`. A run that the oracle ends returns the aggregate so far: a function
    of the start and of the gradients that were released.
    """
    return staged_descent(start, (steps,), objective, constraint, oracle)


def staged_descent(
    start: Vector,
    lengths: tuple[int, ...],
    objective: Curvature,
    constraint: ConstraintSet,
    oracle: Oracle,
) -> Accelerated:
    """Run AC-SA in stages, each from the last stage's aggregate; `staged_gap` is the guarantee.

    The oracle sees the number of the step over all stages: privacy counts them all.
    """
    for length in lengths:
        check_count("steps", length)
    steps, value = 0, start
    for length in lengths:
        state = State(point=value, aggregate=value)
        for _ in range(length):
            gradient = oracle(query_point(state, objective), steps)
            if gradient is None:
                return Accelerated(value=state.aggregate, steps=steps, halted=True)
            state = accelerated_step(state, gradient, objective, constraint)
            steps += 1
        value = state.aggregate
    return Accelerated(value=value, steps=steps, halted=False)


def _parameters(objective: Curvature, t: int) -> tuple[float, float, float]:
    r"""Return mu, :math:`\alpha_t = 2/(t+1)` and :math:`\gamma_t = 4L_F/(t(t+1))`, t from 1."""
    return objective.strong_convexity, 2 / (t + 1), 4 * objective.smoothness / (t * (t + 1))


def accelerated_gap(
    objective: Curvature,
    steps: int,
    # :math:`\|x_0-x^*\|^2`, or its expectation: the start's squared distance from the minimiser
    square_distance: float,
    variance: float,  # :math:`V^2`, a bound on the mean squared error of a gradient
) -> float:
    r"""Return the bound on the gap of AC-SA's result after `steps` steps.

    It is Proposition 9 of Ghadimi and Lan (2012).
    """
    check_count("steps", steps)
    bias = 2 * objective.smoothness * square_distance / (steps * (steps + 1))
    return bias + 8 * variance / (objective.strong_convexity * (steps + 1))


def stage_lengths(
    steps: int,
    objective: Curvature,
    # :math:`V_0 \ge F(x_0) - F^*`; LR for an L-Lipschitz loss on a set of diameter R.
    initial_gap: float,
    variance: float,
) -> tuple[int, ...]:
    r"""Return the lengths of stages, `steps` in total, that each halve the bound on the gap.

    Stage k has :math:`N_k = \lceil\max\{4\sqrt{L_F/\mu}, 32V^2/(\mu V_k)\}\rceil` steps, with
    :math:`V_k = V_02^{-(k-1)}` the bound on the gap at its start. There
    :math:`E\|x_0-x^*\|^2 \le 2V_k/\mu`, so that both terms of `accelerated_gap` are at most
    :math:`V_k/4` at its end. A remainder that is too short joins the last stage. If even the first
    stage is longer than `steps`, there is one stage of all steps.
    """
    check_count("steps", steps)
    check_positive("initial_gap", initial_gap)
    require(0 <= variance < math.inf, "variance", "finite and at least 0", variance)
    mu = objective.strong_convexity
    lengths: list[int] = []
    rest, gap = steps, initial_gap
    shortest = length = 4 * math.sqrt(objective.smoothness / mu)
    while rest:
        if variance:
            length = max(shortest, 32 * variance / mu / gap) if gap else math.inf
        if length > rest:
            break
        lengths.append(math.ceil(length))
        rest -= lengths[-1]
        gap /= 2
    if lengths:
        lengths[-1] += rest
        return tuple(lengths)
    return (steps,)


def staged_gap(
    lengths: Iterable[int], objective: Curvature, square_distance: float, variance: float
) -> float:
    r"""Return the guarantee of AC-SA in stages, each from the last stage's result.

    .. math:: G_k = \frac{2L_F\Delta_{k-1}}{N_k(N_k+1)} + \frac{8V^2}{\mu(N_k+1)}, \qquad
        \Delta_k = \frac{2G_k}{\mu}

    with :math:`\Delta_0` the square distance of the start from the minimiser, or its mean: at most
    :math:`2V_0/\mu` where the gap is at most :math:`V_0`. It holds for stages of any lengths, and
    at most halves at each of those of `stage_lengths` (unless a single stage is all there is).
    """
    gap = math.inf
    for length in lengths:
        gap = accelerated_gap(objective, length, square_distance, variance)
        square_distance = 2 * gap / objective.strong_convexity
    return gap
