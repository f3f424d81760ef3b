r"""Floor B: laws near the one at hand, whose densities are tilted by a clipped value.

The tilted laws exploit neither symmetry nor jumps of the density. So there is a floor for every
law, and its sampling part tends to the error of the sample mean. See theory/instance-floors.md, 7,
Theorem 3.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.bounds.floors.leakage import leakage
from dpsco_core.bounds.floors.van_trees import Costs, bessel_zero, costs, mean_constant
from dpsco_core.data.shifts import Cut, Shifts
from dpsco_core.privacy.budget import Budget

# These tilts c are tried, each of which changes densities by a factor between 1 - c and 1 + c.
_TILTS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
# Values are clipped at these levels, and the norms of a spherical law at the second ones.
_LEVELS = np.geomspace(0.1, 60, 60)
_NORMS = np.geomspace(0.3, 300, 80)
# The mass of a law beyond these log odds is negligible.
_LARGEST_ODDS = 40.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


@dataclass(frozen=True, kw_only=True)
class Tilt:
    """One family of laws near the one at hand, with densities tilted by a value clipped at a level.

    Its numbers are those of Theorem 3.
    """

    level: float  # the level at which values are clipped
    tilt: float  # the largest relative change c of a density
    information: float  # the Fisher information lambda of the mean of a coordinate
    prior: float  # the Fisher information J of the prior on tilts
    size: float  # the largest norm of a score over sqrt(lambda)


def tilts(d: int, law: Shifts) -> tuple[Tilt, ...]:
    """Return the families of laws near one law in dimension d, for every level and tilt."""
    levels = _NORMS if law.spherical else _LEVELS
    centre = np.zeros(levels.shape) if law.symmetric else _clipping_centres(law, levels)
    value, mass = _quadrature_nodes(law, levels, centre)
    families = []
    for i, level in enumerate(levels):
        x, p = value[i], mass[i]
        clipped = np.clip(x - centre[i], -level, level)
        # The mean changes with theta at this rate.
        slope = float(p @ (x * clipped))
        if law.spherical:
            slope /= d
        for c in _TILTS:
            if law.spherical:
                information = float(p @ clipped**2) / (d * slope**2 * (1 - c**2))
                prior = (2 * bessel_zero(d / 2 - 1) * level / (c * slope)) ** 2
                size = level / (slope * (1 - c))
            else:
                share = c * clipped / level
                spread = max(float(p @ (clipped**2 / (1 + s * share))) for s in (1, -1))
                information = spread / slope**2
                prior = d * (math.pi * level / (c * slope)) ** 2
                size = math.sqrt(d) * level / (slope * (1 - c))
            families.append(
                Tilt(
                    level=float(level),
                    tilt=c,
                    information=information,
                    prior=prior,
                    size=size / math.sqrt(information),
                )
            )
    return tuple(families)


def _quadrature_nodes(law: Shifts, levels: Vector, centre: Vector) -> tuple[Vector, Vector]:
    """Return nodes and weights for means under the law, each of shape (levels, nodes).

    The rule is Gauss and Legendre's in the log odds, piece by piece between the kinks that clipping
    at each level has.
    """
    lowest, highest = np.full(levels.shape, -_LARGEST_ODDS), np.full(levels.shape, _LARGEST_ODDS)
    # A symmetric law may have a jump at its centre.
    kinks = [np.zeros(levels.shape), _log_odds_of(law, centre + levels)]
    if not law.spherical:
        kinks.append(_log_odds_of(law, centre - levels))
    pieces = []
    for low, high in itertools.pairwise(np.sort([lowest, *kinks, highest], axis=0)):
        half = 0.5 * (high - low)[:, None]
        u = 0.5 * (low + high)[:, None] + half * _NODES
        pieces.append((u, half * _WEIGHTS))
    u = np.concatenate([piece for piece, _ in pieces], axis=1)
    weights = np.concatenate([piece for _, piece in pieces], axis=1)
    # The log odds of a probability p have the density p (1 - p).
    small = np.exp(-np.abs(u))
    return law.at_odds(u), weights * small / (1 + small) ** 2


def _log_odds_of(law: Shifts, value: Vector) -> Vector:
    """Return the log odds of each value's quantile level, by bisection within +-40."""
    low, high = np.full(value.shape, -_LARGEST_ODDS), np.full(value.shape, _LARGEST_ODDS)
    for _ in range(30):
        u = 0.5 * (low + high)
        is_below = law.at_odds(u) < value
        low, high = np.where(is_below, u, low), np.where(is_below, high, u)
    return high


def _clipping_centres(law: Shifts, levels: Vector) -> Vector:
    """Return, for each level, the centre m at which Z - m, clipped at the level, has mean 0."""
    u, step = np.linspace(-_LARGEST_ODDS, _LARGEST_ODDS, 40_001, retstep=True)
    small = np.exp(-np.abs(u))
    mass = float(step) * small / (1 + small) ** 2
    value = law.at_odds(u)
    mass_below, moment = (np.concatenate(([0.0], np.cumsum(x))) for x in (mass, mass * value))
    low, high = np.full(levels.shape, value[0]), np.full(levels.shape, value[-1])
    for _ in range(100):
        m = 0.5 * (low + high)
        i, j = np.searchsorted(value, m - levels), np.searchsorted(value, m + levels)
        moment_inside = moment[j] - moment[i] - m * (mass_below[j] - mass_below[i])
        mean = moment_inside + levels * (mass_below[-1] - mass_below[j] - mass_below[i])
        low, high = np.where(mean > 0, m, low), np.where(mean > 0, high, m)
    return np.asarray(0.5 * (low + high))


def best_tilt(
    n: int, d: int, law: Shifts, families: tuple[Tilt, ...], budget: Budget
) -> tuple[float, Tilt, Costs]:
    """Return the largest floor on the mean l2 error over the families, its family and its costs."""
    best: tuple[float, Tilt, Costs] | None = None
    for family in families:
        tilted = Shifts(
            information=family.information,
            symmetric=False,
            distance=law.distance,
            at_odds=law.at_odds,
            cuts=(Cut(size=family.size, rest=0.0),),
        )
        kappa = leakage(budget, tilted)
        family_costs = costs(n, d, family.information, kappa, family.prior)
        value = mean_constant(d) / math.sqrt(family_costs.information)
        if best is None or value > best[0]:
            best = value, family, family_costs
    assert best is not None
    return best
