r"""The (epsilon, delta) curve of exponential mechanisms together with Gaussian noise.

An exponential mechanism that is epsilon_1-DP is also :math:`\varepsilon_1^2/8`-zCDP. Converted as
zCDP, a few of them would cost a release 6 to 13 % of its noise; the two rules here cost almost
nothing (theory/adaptive-methods.md, 1.2). Both bound the curve from above, by cells.

* *Recursion*, if all Gaussian releases come after all exponential mechanisms, each of which has a
  privacy loss in :math:`[t-\varepsilon_1, t]` for some t that may depend on all earlier outputs.
* *Fixed pairs*, in any order: one pair of laws dominates an exponential mechanism for all t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from scipy.special import erfcx, ndtr

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.privacy.budget import (
    CURVE_ACCURACY,
    ZCDP,
    ApproxDP,
    gaussian_epsilon,
    gaussian_rho,
    zcdp_rho,
)

# Exponential mechanisms in their order: the epsilon of one, and how many of them in a row.
Choices = tuple[tuple[float, int], ...]
# The shares of rho of groups of equal exponential mechanisms, and their numbers, in their order.
Shares = tuple[tuple[float, int], ...]

CELLS = 24
MOST_RECURSIVE = 2  # the cost grows by a factor of 48 with each
MOST_POINTS = 1024  # points of a law of privacy losses; beyond, its lattice becomes coarser
TAIL = 1e-40  # the mass that is cut off and counted as a total loss of privacy

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2


def choice_epsilon(rho: float, count: int = 1) -> float:
    r"""Return the epsilon of each of `count` exponential mechanisms that are jointly rho-zCDP.

    :math:`\sqrt{8\rho/k}` (Cesar and Rogers 2021, Rogers and Steinke 2021).
    """
    return math.sqrt(8 * rho / count)


def gaussian_deltas(rho: float, epsilons: Vector) -> Vector:
    r"""Return delta at many epsilons, including negative ones, of rho-zCDP Gaussian noise.

    See `gaussian_delta`; :math:`\delta(-x) = 1-e^{-x}+e^{-x}\delta(x)`. A rho of 0 releases
    nothing.
    """
    sizes = np.abs(epsilons)
    deltas = np.zeros_like(sizes) if rho == 0 else _positive_deltas(rho, sizes)
    return np.where(epsilons < 0, np.exp(-sizes) * deltas - np.expm1(-sizes), deltas)


def _positive_deltas(rho: float, epsilons: Vector) -> Vector:
    nu = math.sqrt(2 * rho)
    low, high = (epsilons - rho) / nu, (epsilons + rho) / nu
    with np.errstate(under="ignore"):
        density = np.exp(-low * low / 2) / math.sqrt(2 * math.pi)
    if nu < 1:
        points = low[:, None] + nu * _NODES
        return np.asarray(density * nu * ((1 - points * _mills(points)) @ _WEIGHTS))
    central = np.where(low > 0, density * _mills(np.maximum(low, 0)), ndtr(-low))
    return np.asarray(central - density * _mills(high))


def _mills(x: Vector) -> Vector:
    return math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))


@lru_cache(maxsize=4096)
def selection_delta(
    epsilon: float,  # at least 0
    rho: float,  # rho of all Gaussian releases together, at least 0
    choices: Choices,  # the exponential mechanisms, in their order
    *,
    # whether all Gaussian releases come after all exponential mechanisms; otherwise the recursion
    # is not proven, and fixed pairs are used
    choices_first: bool,
) -> float:
    """Return a delta at which all releases together are (epsilon, delta)-DP; at most 1."""
    if choices_first and sum(count for _, count in choices) <= MOST_RECURSIVE:
        epsilons = [own for own, count in choices for _ in range(count)]
        return min(1.0, float(_recursion(rho, epsilons)(np.array([epsilon]))[0]))
    law = _Losses.of_all(choices)
    expected_delta = law.weights @ gaussian_deltas(rho, epsilon - law.values)
    return min(1.0, float(expected_delta) + law.lost_mass)


def _recursion(rho: float, epsilons: list[float]) -> Callable[[Vector], Vector]:
    """Return the curve of exponential mechanisms, in their order, before Gaussian noise.

    A cell of t from t0 to t1 has the two losses t1 and t0 - epsilon_1, with the probability that
    makes the mean of the likelihood ratio 1.
    """
    if not epsilons:
        return lambda epsilons_at: gaussian_deltas(rho, epsilons_at)
    epsilon, remaining_curve = epsilons[0], _recursion(rho, epsilons[1:])
    ends = np.linspace(0.0, epsilon, CELLS + 1)
    high, low = ends[1:], ends[:-1] - epsilon
    likely = np.expm1(low) / np.expm1(low - high)

    def deltas(epsilons_at: Vector) -> Vector:
        points = np.concatenate([epsilons_at[:, None] - high, epsilons_at[:, None] - low], axis=1)
        later_deltas = remaining_curve(points.ravel()).reshape(len(epsilons_at), 2, CELLS)
        return np.asarray(
            (likely * later_deltas[:, 0] + (1 - likely) * later_deltas[:, 1]).max(axis=1)
        )

    return deltas


@dataclass(frozen=True, eq=False, kw_only=True)
class _Losses:
    """A law of privacy losses on the multiples of `spacing`, with a mass of total loss.

    Mass is only moved to the two ends of the cell around it, so that the probability and the mean
    of the likelihood ratio stay: the curve, a mean of convex functions of it, can only grow.
    """

    spacing: float
    first_index: int
    weights: Vector
    lost_mass: float = 0.0

    @classmethod
    def of_all(cls, choices: Choices) -> _Losses:
        """Return the law of all exponential mechanisms together, by fixed pairs."""
        laws = [cls.single(epsilon).repeated(count) for epsilon, count in choices]
        spacing = min((law.spacing for law in laws), default=1.0)
        total = cls(spacing=spacing, first_index=0, weights=np.ones(1))
        for law in laws:
            total = total.plus(law.on_lattice(spacing))
        return total

    @classmethod
    def single(cls, epsilon: float) -> _Losses:
        r"""Return the law of one exponential mechanism.

        The dominating pair has the density :math:`e^{x/2}/(4\sinh(\varepsilon_1/2))` on
        :math:`|x|\le\varepsilon_1` (Dong, Durfee and Rogers 2020); a cell of width w puts
        :math:`e^{x/2}\tanh(w/4)/(2\sinh(\varepsilon_1/2))` on each of its ends x.
        """
        half = CELLS // 2
        width = epsilon / half
        places = np.arange(-half, half + 1)
        cells = np.full(CELLS + 1, 2.0)
        cells[[0, -1]] = 1.0
        # e^(x/2) / (2 sinh(epsilon/2)) without overflow
        size = np.exp((places * width - epsilon) / 2) / -math.expm1(-epsilon)
        return cls(spacing=width, first_index=-half, weights=cells * size * math.tanh(width / 4))

    @property
    def values(self) -> Vector:
        """The losses, shape (points,)."""
        return self.spacing * (self.first_index + np.arange(len(self.weights), dtype=np.float64))

    def repeated(self, count: int) -> _Losses:
        """Return the law of the sum of `count` independent copies."""
        square, total = self, None
        while count:
            if count % 2:
                total = square if total is None else total.plus(square)
            count //= 2
            square = square.plus(square) if count else square
        assert total is not None
        return total

    def plus(self, other: _Losses) -> _Losses:
        """Return the law of the sum with an independent one."""
        spacing = max(self.spacing, other.spacing)
        left, right = self.on_lattice(spacing), other.on_lattice(spacing)
        total = _Losses(
            spacing=spacing,
            first_index=left.first_index + right.first_index,
            weights=np.convolve(left.weights, right.weights),
            lost_mass=min(1.0, left.lost_mass + right.lost_mass),
        ).trimmed()
        return total.on_lattice(2 * spacing) if len(total.weights) > MOST_POINTS else total

    def trimmed(self) -> _Losses:
        """Return the law without tails: the upper one is a total loss, the lower one moves up."""
        upper_mass = np.cumsum(self.weights[::-1])[::-1]
        lower_mass = np.cumsum(self.weights)
        low = int(np.searchsorted(lower_mass, TAIL, side="right"))
        high = int(np.count_nonzero(upper_mass > TAIL))
        if (low == 0 and high == len(self.weights)) or low >= high:
            return self
        weights = self.weights[low:high].copy()
        weights[0] += lower_mass[low - 1] if low else 0.0
        lost_mass = self.lost_mass + (float(upper_mass[high]) if high < len(upper_mass) else 0.0)
        return _Losses(
            spacing=self.spacing,
            first_index=self.first_index + low,
            weights=weights,
            lost_mass=lost_mass,
        )

    def on_lattice(self, spacing: float) -> _Losses:
        """Return a law on another lattice whose curve is at least this law's."""
        if spacing == self.spacing:
            return self
        values = self.values
        lattice_below = np.floor(values / spacing)
        upper_weights = np.expm1(-(values - lattice_below * spacing)) / math.expm1(-spacing)
        upper_weights = self.weights * np.clip(upper_weights, 0.0, 1.0)
        first_index = int(lattice_below[0])
        places = (lattice_below - first_index).astype(np.intp)
        weights = np.zeros(int(places[-1]) + 2)
        np.add.at(weights, places, self.weights - upper_weights)
        np.add.at(weights, places + 1, upper_weights)
        return _Losses(
            spacing=spacing, first_index=first_index, weights=weights, lost_mass=self.lost_mass
        )


@lru_cache(maxsize=4096)
def selection_epsilon(delta: float, rho: float, choices: Choices, *, choices_first: bool) -> float:
    """Return the smallest epsilon of all releases together, at delta; rounded up.

    The parameters are those of `selection_delta`.
    """
    safe = delta * (1 - CURVE_ACCURACY)

    def excess(epsilon: float) -> float:
        return selection_delta(epsilon, rho, choices, choices_first=choices_first) / safe - 1

    plain = math.fsum(epsilon * count for epsilon, count in choices)  # basic composition
    largest = plain + (gaussian_epsilon(rho, delta) if rho else 0.0)
    return _smallest(excess, largest)


def _smallest(excess: Callable[[float], float], largest: float) -> float:
    """Return the smallest number from 0 to `largest` with `excess` at most 0, else `largest`.

    It is accurate to rounding, on the side where the condition holds.
    """
    if excess(0.0) <= 0:
        return 0.0
    if excess(largest) > 0:
        return largest
    root = float(scipy.optimize.brentq(excess, 0.0, largest, xtol=1e-300, rtol=1e-14))
    step = math.ulp(root)
    while excess(root) > 0:
        root, step = min(root + step, largest), 2 * step
    return root


def selection_rho(budget: ZCDP | ApproxDP, shares: Shares, *, choices_first: bool) -> float:
    r"""Return the largest total rho whose shares meet a zCDP or an (epsilon, delta) budget.

    A share f of it in k exponential mechanisms makes each of them
    :math:`\sqrt{8f\rho/k}`-DP; the Gaussian releases get the rest. Rounded down.

    Parameters
    ----------
    shares : tuple of (float, int)
        In the order of the exponential mechanisms; they sum to less than 1.
    choices_first : bool
        As in `selection_delta`.

    Examples
    --------
    >>> from dpsco_core.privacy import ApproxDP
    >>> budget = ApproxDP(epsilon=1.0, delta=1e-6)
    >>> rho = selection_rho(budget, ((0.02, 1), (0.02, 1)), choices_first=True)
    >>> round(rho / gaussian_rho(1.0, 1e-6), 4) > 0.994
    True
    """
    choice_share = math.fsum(share for share, _ in shares)
    require(0 <= choice_share < 1, "shares", "at least 0 and below 1 in all", choice_share)
    if isinstance(budget, ZCDP):
        return budget.rho
    return _approximate_rho(budget, shares, choices_first)


@lru_cache(maxsize=4096)
def _approximate_rho(budget: ApproxDP, shares: Shares, choices_first: bool) -> float:
    epsilon, delta = budget.epsilon, budget.delta
    rest = 1 - math.fsum(share for share, _ in shares)
    safe = delta * (1 - CURVE_ACCURACY)

    def excess(log_rho: float) -> float:
        rho = math.exp(log_rho)
        choices = tuple((choice_epsilon(f * rho, count), count) for f, count in shares)
        return selection_delta(epsilon, rest * rho, choices, choices_first=choices_first) / safe - 1

    smallest_rho = zcdp_rho(epsilon, delta)
    low, high = math.log(smallest_rho), math.log(gaussian_rho(epsilon, delta))
    if excess(low) > 0:
        return smallest_rho
    if excess(high) <= 0:
        return math.exp(high) * (1 - 1e-15)
    root = float(scipy.optimize.brentq(excess, low, high, xtol=1e-15))
    step = 1e-15
    while excess(root) > 0:
        root, step = root - step, 2 * step
    return math.exp(root)
