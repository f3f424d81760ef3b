r"""Strongly convex descent on fresh blocks: Kamath et al. (2022), Theorem 5.7, explicit.

Every step averages a block of its own, clipped coordinate by coordinate, so the deviation at one
point is enough and one block of the median is best: `upper_coordinatewise.mean_square`. Blocks are
disjoint, so each may spend the whole budget (parallel composition); the paper divides it by T.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from dpsco_core.base.search import smallest_or
from dpsco_core.bounds.conditions import check_sizes
from dpsco_core.bounds.euclidean.framework import contraction, strong_risk, strong_risk_summed
from dpsco_core.bounds.mean.coordinatewise_formulas import Parts, mean_square


@dataclass(frozen=True, kw_only=True)
class StrongRisk:
    """The excess risk of a run, split; the four parts add up to it.

    Parameters
    ----------
    optimisation, sampling, bias, noise : float
        What is left of the starting distance, and what finite blocks, clipping and privacy cost.
    steps : int
        T.
    """

    optimisation: float
    sampling: float
    bias: float
    noise: float
    steps: int

    @property
    def total(self) -> float:
        """The bound."""
        return math.fsum(self.parts)

    @property
    def parts(self) -> tuple[float, float, float, float]:
        """The four parts in order."""
        return self.optimisation, self.sampling, self.bias, self.noise


def void_risk(steps: int) -> StrongRisk:
    """Return a bound that says nothing, all parts infinite."""
    inf = math.inf
    return StrongRisk(optimisation=inf, sampling=inf, bias=inf, noise=inf, steps=steps)


def block_deviation(
    n: int,
    d: int,
    moment_order: float,
    gradient_bound: float,
    rho: float,
    steps: int,
    *,
    parallel: bool,
) -> Parts:
    """Return the parts of G for blocks of n // steps records, in moment units."""
    level = rho if parallel else rho / steps
    return mean_square(n // steps, d, moment_order, gradient_bound, level, "gaussian")


def risk_at(
    n: int,
    d: int,
    moment_order: float,
    diameter: float,
    gradient_bound: float,
    strong_convexity: float,
    smoothness: float,
    rho: float,
    steps: int,
    *,
    parallel: bool = True,
    summed: bool = False,
) -> StrongRisk:
    r"""Theorem 3.2 through the clipped mean of a block, with T steps.

    .. math::
        \frac L2\Big(q^TM+\frac{(1-q^T)(\lambda+L)G}{\lambda L}\Big)^2,\quad
        G^2=d\Big(\frac1{\lfloor n/T\rfloor}+\text{bias}^2\Big)+d\sigma^2

    or, `summed`, :math:`\frac L2(T+1)(q^{2T}M^2+A)`, the theorem's second display with T + 1. See
    theory/kamath-liu-zhang.md, 3.5.

    Parameters
    ----------
    n, d : int
    moment_order : float
        k >= 2.
    diameter : float
        M.
    gradient_bound, strong_convexity, smoothness : float
        R, lambda and L of the population risk, in moment units.
    rho : float
        0 gives infinite parts.
    steps : int
        T in 1..n.
    parallel : bool
        Each block spends rho, and not rho/T.
    """
    check_sizes(n, d)
    parts = block_deviation(n, d, moment_order, gradient_bound, rho, steps, parallel=parallel)
    deviation = parts.root_sum_square()
    if not math.isfinite(deviation):
        return void_risk(steps)
    shape = (diameter, strong_convexity, smoothness)
    if summed:
        optimisation, noise = strong_risk_summed(*shape, deviation**2, steps)
    else:
        first, second = strong_risk(*shape, deviation, steps)
        optimisation, noise = first * (first + second), second * (first + second)
    scale = noise / deviation**2 if deviation > 0 else 0.0
    return StrongRisk(
        optimisation=optimisation,
        sampling=scale * parts.sampling**2,
        bias=scale * parts.bias**2,
        noise=scale * parts.noise**2,
        steps=steps,
    )


@lru_cache(maxsize=4096)
def best_risk(
    n: int,
    d: int,
    moment_order: float,
    diameter: float,
    gradient_bound: float,
    strong_convexity: float,
    smoothness: float,
    rho: float,
    parallel: bool = True,
    summed: bool = False,
) -> StrongRisk:
    """Return `risk_at` at the number of steps that makes it smallest, of those tried.

    Any number is valid. Beyond 40 over -ln q the start is forgotten and more steps only cost. It is
    infinite where it is so at every number.
    """
    rate = -math.log(contraction(strong_convexity, smoothness))
    most = max(1, min(n, math.ceil(40 / max(rate, 1e-12))))

    def at(steps: int) -> StrongRisk:
        return risk_at(
            n,
            d,
            moment_order,
            diameter,
            gradient_bound,
            strong_convexity,
            smoothness,
            rho,
            steps,
            parallel=parallel,
            summed=summed,
        )

    grid = sorted({round(math.exp(math.log(most) * i / 24)) for i in range(25)})
    found = smallest_or((at(steps) for steps in grid), _total, void_risk(1))
    while math.isfinite(found.total):
        i = grid.index(found.steps)
        low, high = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
        if high - low <= 2:
            break
        width = (high - low) / 8
        grid = sorted({low, high, found.steps, *(round(low + width * j) for j in range(1, 8))})
        found = smallest_or((at(steps) for steps in grid), _total, found)
    return found


def _total(risk: StrongRisk) -> float:
    return risk.total
