r"""Mean oracles at every point of the constraint set at once, with every constant proven.

Each step of the convex methods sees the same records, so the oracle without its noise must be near
the population gradient at all points together. A net of the set of scale :math:`\alpha`, with at
most :math:`(3M/\alpha)^d` points, gives that from the bound at one point: Kamath et al. (2022),
Lemmas B.2 and B.4, and Zhao et al. (2024), Lemma 5 (theory/kamath-liu-zhang.md, 3.3;
theory/zhao-et-al.md, 3.4). The scale is :math:`M n^{-3}`, or :math:`M/n`: in units of the set, so
that bounds are homogeneous.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from scipy.optimize import minimize_scalar

from dpsco_core.base.errors import require
from dpsco_core.base.search import smallest_or
from dpsco_core.bounds.conditions import check_sizes
from dpsco_core.bounds.euclidean.framework import convex_risk
from dpsco_core.bounds.mean.clipped_formulas import directional_bias, printed_bias
from dpsco_core.bounds.mean.smoothed_formulas import supremum
from dpsco_core.methods.mean.base import hinge_bias


@dataclass(frozen=True, kw_only=True)
class UniformOracle:
    r"""A clipped mean oracle that is near the population gradient on the whole set.

    Parameters
    ----------
    sampling, bias, covering : float
        Their sum S bounds the deviation without noise at all points, except with probability
        `failure`: finite data, clipping, and the steps between points of the net.
    failure : float
        Probability that S fails.
    reach : float
        What the deviation is always at most.
    noise_energy : float
        :math:`E\|N\|^2` of a single step with the whole budget; T steps have T times that each.
    """

    sampling: float
    bias: float
    covering: float
    failure: float
    reach: float
    noise_energy: float

    @property
    def deviation(self) -> float:
        """S, the sum of the three parts."""
        return math.fsum((self.sampling, self.bias, self.covering))

    @property
    def total_bias(self) -> float:
        """B: S, and what the event of failure adds to its expectation."""
        return self.deviation + self.failure * self.reach

    def second_moment(self, steps: float) -> float:
        """Return G squared for a run of `steps` steps that share the budget."""
        return self.deviation**2 + self.failure * self.reach**2 + steps * self.noise_energy

    def steps(self, gradient_bound: float) -> float:
        r"""Return :math:`T=\max(1,\lfloor R^2/E\|N\|^2\rfloor)`: the noise of a step is R."""
        return max(1.0, math.floor(gradient_bound**2 / max(self.noise_energy, 1e-200)))

    def risk(self, diameter: float, gradient_bound: float) -> tuple[float, float, float, float]:
        """Return Theorem 3.1 at these steps: optimisation with noise, and M B in three parts."""
        if max(self.noise_energy, self.bias) > 1e150:  # the square would leave the doubles
            return (math.inf,) * 4
        steps = self.steps(gradient_bound)
        second = self.second_moment(steps)
        descent, _ = convex_risk(diameter, gradient_bound, 0.0, second, steps)
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


def net_log(n: int, scale_power: int = 3) -> float:
    r"""Return :math:`\ln(3M/\alpha)` at :math:`\alpha=Mn^{-3}`; another power than 3 on request."""
    return math.log(3) + scale_power * math.log(n)


def uniform_blocks(n: int, d: int) -> int:
    r"""Return the least even :math:`m\ge4\ln(2d)+8d\ln(3n^3)`: the blocks of Theorem 5.2.

    Kamath et al. (2022), Lemma B.2, with the covering number :math:`(3M/\alpha)^d` and the
    :math:`4\ln(2d)` that its proof drops.
    """
    check_sizes(n, d)
    return 2 * math.ceil(2 * math.log(2 * d) + 4 * d * net_log(n))


def coordinatewise(
    n: int,
    d: int,
    moment_order: float,
    gradient_bound: float,
    smoothness_times_diameter: float,
    rho: float,
    tau: float,
) -> UniformOracle:
    r"""Lemma B.2, explicit: the clipped median of means, even m, tight noise, sharp bias.

    .. math::
        S=L\alpha(\sqrt d+1)+\sqrt d\Big(\frac{10}{\sqrt b}+\text{bias}\Big),\quad
        p_f=(\alpha/3M)^d,\quad E\|N\|^2=\frac{9\tau^2d^2}{2\rho b^2}

    See theory/kamath-liu-zhang.md, 3.3.

    Parameters
    ----------
    n, d : int
    moment_order : float
        k >= 2, of coordinates with central moments at most 1.
    gradient_bound : float
        R; 3 tau must exceed it.
    smoothness_times_diameter : float
        L M, of the loss of every record.
    rho : float
        Positive: the whole budget.
    tau : float
        Entries are clipped to [-3 tau, 3 tau].

    Returns
    -------
    UniformOracle
        Infinite for n < m.
    """
    blocks = uniform_blocks(n, d)
    if n < blocks:
        return VOID
    size = n // blocks
    root = math.sqrt(d)
    return UniformOracle(
        sampling=10 * root / math.sqrt(size),
        bias=root * hinge_bias(3 * tau - gradient_bound, moment_order),
        covering=smoothness_times_diameter / float(n) ** 3 * (root + 1),
        failure=math.exp(-d * net_log(n)),
        reach=3 * tau * root + gradient_bound,
        noise_energy=4.5 / rho * (tau * d / size) ** 2,
    )


def smoothed(
    n: int,
    d: int,
    gradient_bound: float,
    smoothness_times_diameter: float,
    rho: float,
    tau: float,
    *,
    smoothing_variance: float = 1.0,
) -> UniformOracle:
    r"""Lemma B.4, explicit: smoothed truncation.

    .. math::
        S=L\alpha(\sqrt{1+c}+1)+\frac{1+c}{2\tau}\Big(\sum_jv_j^2\Big)^{1/2}+
        \frac{\sqrt d\,\tau\ln(2/\delta')}n,\quad\delta'=\frac{(\alpha/3M)^{2d}}d,\quad
        E\|N\|^2=\frac{2S_c^2\tau^2d^2}{\rho n^2}

    with :math:`\sum v_j^2\le d+2R^2+R^4`. Form (i) of theory/kamath-liu-zhang.md, 3.3, summed over
    the coordinates by Minkowski's inequality.
    """
    check_sizes(n, d)
    factor = 1 + smoothing_variance
    root = math.sqrt(d)
    top = supremum(smoothing_variance)
    log_failure = math.log(2 * d) + 2 * d * net_log(n)
    squares = math.sqrt(d + 2 * gradient_bound**2 + gradient_bound**4)
    return UniformOracle(
        sampling=root * tau * log_failure / n,
        bias=factor / (2 * tau) * squares,
        covering=smoothness_times_diameter / float(n) ** 3 * (math.sqrt(factor) + 1),
        failure=math.exp(-d * net_log(n)),
        reach=tau * top * root + gradient_bound,
        noise_energy=2 / rho * (top * tau * d / n) ** 2,
    )


def clipped_log(n: int, d: int) -> float:
    r"""Return :math:`\Lambda_W=\ln2+d\ln6+d\ln(1+2n)+2\ln n`, for :math:`\beta=n^{-2}`."""
    check_sizes(n, d)
    return math.log(2) + d * (math.log(6) + math.log(1 + 2 * n)) + 2 * math.log(n)


def clipped(
    n: int,
    d: int,
    moment_order: float,
    moment: float,
    smoothness_times_diameter: float,
    rho: float,
    radius: float,
    *,
    printed: bool = False,
) -> UniformOracle:
    r"""Lemma 5, explicit: norm clipping under a raw directional moment.

    .. math::
        S=\max\Big\{\sqrt{\tfrac{12M^2}n\Lambda_W},\tfrac{8R}n\Lambda_W\Big\}+\text{bias}+
        \frac{2\lambda L}n,\quad\beta=n^{-2},\quad E\|N\|^2=\frac{2dR^2}{\rho n^2}

    See theory/zhao-et-al.md, 3.4, with the net of scale L/n.

    Parameters
    ----------
    n, d : int
    moment_order : float
        p >= 2.
    moment : float
        M, the root of the directional moment.
    smoothness_times_diameter : float
        :math:`\lambda L`, per record.
    rho : float
        Positive: the whole budget.
    radius : float
        R.
    printed : bool
        The bias of (55), :math:`\frac{d^{p/2}M^p}{p-1}R^{1-p}`, and not the sharp one,
        :math:`\kappa_pd^{(p-1)/2}M^pR^{1-p}`.
    """
    size = clipped_log(n, d)
    law = printed_bias if printed else directional_bias
    return UniformOracle(
        sampling=max(moment * math.sqrt(12 * size / n), 8 * radius * size / n),
        bias=law(d, moment_order, moment).at(radius),
        covering=2 * smoothness_times_diameter / n,
        failure=1.0 / n**2,
        reach=radius + moment,
        noise_energy=2 * d / rho * (radius / n) ** 2,
    )


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
    """Return the least of `UniformOracle.risk` over levels offset + exp(x), x in [low, high].

    Every level is valid, so an inexact minimum is a bound too: a grid, then its best cell. It is
    infinite where it is so at every level.
    """
    require(low < high, "low", "below high", low)

    def value(x: float) -> float:
        return math.fsum(oracle(offset + math.exp(x)).risk(diameter, gradient_bound))

    grid = [low + (high - low) * i / 48 for i in range(49)]
    values = [value(x) for x in grid]
    i = smallest_or(range(len(grid)), values.__getitem__, 0)
    found = minimize_scalar(
        value,
        bounds=(grid[max(i - 1, 0)], grid[min(i + 1, 48)]),
        method="bounded",
        options={"xatol": 1e-7},
    )
    x = float(found.x) if found.fun < values[i] else grid[i]
    return oracle(offset + math.exp(x)).risk(diameter, gradient_bound)


@lru_cache(maxsize=4096)
def coordinatewise_risk(
    n: int,
    d: int,
    moment_order: float,
    diameter: float,
    gradient_bound: float,
    smoothness: float,
    rho: float,
) -> Risk:
    """Theorem 3.1 through `coordinatewise`, at the tau above R/3 that makes it smallest."""
    if n < uniform_blocks(n, d):
        return (math.inf,) * 4

    def oracle(tau: float) -> UniformOracle:
        product = smoothness * diameter
        return coordinatewise(n, d, moment_order, gradient_bound, product, rho, tau)

    low = -min(14.0, 300 / moment_order)
    return best_risk(oracle, diameter, gradient_bound, low, 35.0, offset=gradient_bound / 3)


@lru_cache(maxsize=4096)
def smoothed_risk(
    n: int, d: int, diameter: float, gradient_bound: float, smoothness: float, rho: float
) -> Risk:
    """Theorem 3.1 through `smoothed`, at the tau that makes it smallest."""

    def oracle(tau: float) -> UniformOracle:
        return smoothed(n, d, gradient_bound, smoothness * diameter, rho, tau)

    return best_risk(oracle, diameter, gradient_bound, -10.0, 35.0)


@lru_cache(maxsize=4096)
def clipped_risk(
    n: int,
    d: int,
    moment_order: float,
    moment: float,
    diameter: float,
    gradient_bound: float,
    smoothness: float,
    rho: float,
    printed: bool = False,
) -> Risk:
    """Theorem 3.1 through `clipped`, at the radius that makes it smallest."""
    if moment == 0:
        return 0.0, 0.0, 0.0, 0.0
    centre = math.log(math.sqrt(d) * moment)

    def oracle(radius: float) -> UniformOracle:
        product = smoothness * diameter
        return clipped(n, d, moment_order, moment, product, rho, radius, printed=printed)

    return best_risk(oracle, diameter, gradient_bound, centre - 12, centre + 30)
