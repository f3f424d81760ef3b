r"""Mean oracles that are accurate at all points of the constraint set at once, with all constants.

Each step of the convex methods sees the same records, so the oracle without its noise must be near
the population gradient at all points together. This follows from the bound at one point by a net of
the set of scale :math:`\alpha`, which has at most :math:`(3M/\alpha)^d` points: Kamath et al.
(2022), Lemmas B.2 and B.4, and Zhao et al. (2024), Lemma 5 (theory/kamath-liu-zhang.md, 3.3;
theory/zhao-et-al.md, 3.4). The scale is :math:`M n^{-3}` or :math:`M/n`, a multiple of the
diameter, so that the bounds scale with the set.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpsco_core.base.errors import require
from dpsco_core.base.search import smallest_or
from dpsco_core.base.valley import lowest_between


def convex_risk(
    diameter: float,  # the diameter M of the constraint set
    gradient_bound: float,  # the bound R on the norm of the population gradient
    # The bias B of the oracle, and its mean squared error G^2, hold at all points of the set.
    bias: float,
    second_moment: float,
    steps: float,  # the number T of steps, at least 1
    *,
    step: float | None = None,  # the step size eta; by default the best one, M/sqrt(2T(R^2 + G^2))
) -> tuple[float, float]:
    r"""Return two parts of Theorem 3.1's bound on the mean excess risk of projected descent.

    .. math:: \frac{M^2}{2\eta T}+\eta(R^2+G^2)+MB

    The first part is the sum of the first two terms, the second is M B. The answer is the average
    of the points at which gradients are taken. See Kamath et al. (2022) and
    theory/kamath-liu-zhang.md, 3.1.
    """
    require(steps >= 1, "steps", "at least 1", steps)
    energy = gradient_bound**2 + second_moment
    if step is None:
        return diameter * math.sqrt(2 * energy / steps), diameter * bias
    require(step > 0, "step", "positive", step)
    return diameter**2 / (2 * step * steps) + step * energy, diameter * bias


@dataclass(frozen=True, kw_only=True)
class UniformOracle:
    r"""How near a clipped mean of gradients is to the population gradient on the whole set."""

    # The parts of the deviation without noise: finite data, clipping, and the distance to the next
    # point of the net. They bound it at all points except with probability `failure`; their sum is
    # called S.
    sampling: float
    bias: float
    covering: float
    failure: float
    reach: float  # a bound on the deviation that always holds
    # This is the mean squared norm of the noise if a single step spends the whole budget; each of T
    # steps has T times as much.
    noise_energy: float

    @property
    def deviation(self) -> float:
        """S, the sum of the three parts of the deviation without noise."""
        return math.fsum((self.sampling, self.bias, self.covering))

    def second_moment(self, steps: float) -> float:
        """Return the mean squared error G^2 for a run of `steps` steps that share the budget."""
        return self.deviation**2 + self.failure * self.reach**2 + steps * self.noise_energy

    def steps(self, gradient_bound: float) -> float:
        r"""Return the number of steps T at which the noise of a step is about as large as R.

        .. math:: T=\max(1,\lfloor R^2/E\|N\|^2\rfloor)

        N is the noise of a single step that spends the whole budget.
        """
        return max(1.0, math.floor(gradient_bound**2 / max(self.noise_energy, 1e-200)))

    def risk(self, diameter: float, gradient_bound: float) -> tuple[float, float, float, float]:
        """Return the terms of Theorem 3.1's risk bound at `steps`, in the order of `RISK_TERMS`.

        The first is for steps and noise; the others are the three parts of M B.
        """
        # The squares of larger numbers would exceed the range of doubles.
        if max(self.noise_energy, self.bias) > 1e150:
            return (math.inf,) * 4
        steps = self.steps(gradient_bound)
        descent, _ = convex_risk(diameter, gradient_bound, 0.0, self.second_moment(steps), steps)
        rest = self.covering + self.failure * self.reach
        return descent, diameter * self.sampling, diameter * self.bias, diameter * rest


VOID = UniformOracle(
    sampling=math.inf,
    bias=math.inf,
    covering=math.inf,
    failure=0.0,
    reach=0.0,
    noise_energy=math.inf,
)


def net_log(n: int) -> float:
    r"""Return the logarithm of the size of the set's net, divided by the dimension.

    It is :math:`\ln(3M/\alpha)` at the scale :math:`\alpha=Mn^{-3}`.
    """
    return math.log(3) + 3 * math.log(n)


Risk = tuple[float, float, float, float]


def best_risk(
    oracle: Callable[[float], UniformOracle],
    diameter: float,
    gradient_bound: float,
    low: float,
    high: float,
    *,
    offset: float = 0.0,
) -> Risk:
    """Return the terms of the smallest `UniformOracle.risk` over the levels of clipping.

    `oracle` makes the oracle of a level; levels are offset + exp(x) with x in [low, high]. Every
    level gives a valid bound, so that an inexact minimum is a bound too. The search tries a grid,
    and then the cell around its best level. The terms are infinite if they are so at every level.
    """
    require(low < high, "low", "below high", low)

    def value(x: float) -> float:
        """Return the sum of the bound's terms at the level offset + exp(x)."""
        return math.fsum(oracle(offset + math.exp(x)).risk(diameter, gradient_bound))

    grid = [low + (high - low) * i / 48 for i in range(49)]
    values = [value(x) for x in grid]
    i = smallest_or(range(len(grid)), values.__getitem__, 0)
    low, high = grid[max(i - 1, 0)], grid[min(i + 1, 48)]
    place, lowest = lowest_between(value, low, high, tolerance=1e-7)
    x = place if lowest < values[i] else grid[i]
    return oracle(offset + math.exp(x)).risk(diameter, gradient_bound)
