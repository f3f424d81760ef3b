r"""The least loss that privacy leaves when all sign vectors are equally likely: expectiles.

Given that b of the records are spikes, the outputs of any two sign vectors are
:math:`(b\varepsilon,\delta_b)`-close, and the least loss which that allows is an expectile of the
loss over all sign vectors. `distances` is that loss for the l2 error; squared errors and linear
losses are in `packing`. See theory/sharper-approx-bounds.md, 1 to 3.

Grids only choose among valid inequalities, so that a coarse grid makes no bound too large.
"""

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr

from dpsco_core.bounds.instances.binomial import Floats
from dpsco_core.bounds.instances.groups import (
    Falling,
    falling,
    group_delta,
    log_expm1,
    some_counts,
)

# Up to this dimension sums of signs are exact; above it, dominating normal variables replace them.
EXACT = 400
# Norms of an answer, levels t and cubes K have grids of so many points.
_RHOS, LEVELS, _CUBES = 501, 1200, 120
# All cubes K are tried at one level in this many.
_COARSE = 16
# At the other levels, only the cubes at these distances from the interpolated index are tried.
_SHIFTS = (0, 1, -1, 2)
# If delta matters, only one level in this many is tried.
_SKIP = 12
# The loss is capped at these numbers of standard deviations.
CAPS = np.array([0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4.5, 7])
# Below this delta the cap is not optimised.
_NEGLIGIBLE = 1e-12


def omega(g: Floats | float) -> Floats:
    r"""Return :math:`\frac12(\sqrt{1+g^2}-g)`, a bound on the mean of :math:`(X-g)_+`.

    X has mean 0 and variance at most 1, and g >= 0.
    """
    return np.asarray(0.5 / (np.hypot(1.0, g) + g))


# The next functions are about the law of the sum of signs W = (2 Bin(d, 1/2) - d)/sqrt(d).


@lru_cache(maxsize=256)
def _tail_means(d: int) -> Floats:
    r"""Return the means of :math:`(W-w_i)_+^k` at the values :math:`w_i` of W, for k = 0 to 3.

    They are computed from the largest value downwards, by sums of positive terms. The result has
    shape (d + 2, 4); its last row, beyond the largest value, is 0.
    """
    i = np.arange(d + 1.0)
    mass = np.exp(gammaln(d + 1) - gammaln(i + 1) - gammaln(d - i + 1) - d * math.log(2))
    h = 2 / math.sqrt(d)
    tails = np.zeros((d + 2, 4))
    for index in range(d, -1, -1):
        a, b, c, e = tails[index + 1]
        tails[index] = (
            mass[index] + a,
            b + h * a,
            c + 2 * h * b + h * h * a,
            e + 3 * h * c + 3 * h * h * b + h**3 * a,
        )
    return tails


def log_cube(threshold: Floats, d: int) -> Floats:
    r"""Return the log of the mean cube :math:`E(W-\tau)_+^3`, or slightly more above dimension 400.

    See theory/sharper-approx-bounds.md, 2.

    Examples
    --------
    >>> round(float(np.exp(log_cube(np.array(0.0), 1))), 6)  # (1 - 0)^3 with probability 1/2
    0.5
    """
    t = np.asarray(threshold, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if d > EXACT:
            density = np.exp(-t * t / 2) / math.sqrt(2 * math.pi)
            log_central = np.log((t * t + 2) * density - (t**3 + 3 * t) * ndtr(-t))
            # The mean cube beyond a level t above 20 is at most 6 phi(t)/t^4.
            log_tail = -t * t / 2 - math.log(2 * math.pi) / 2 + math.log(6) - 4 * np.log(np.abs(t))
            return np.asarray(np.where(t > 20, log_tail, log_central))
        root = math.sqrt(d)
        index = np.clip(np.ceil((np.clip(t, -root, 2 * root) * root + d) / 2), 0, d + 1)
        row = _tail_means(d)[index.astype(np.intp)]
        v = np.maximum((2 * index - d) / root - t, 0.0)
        return np.asarray(
            np.log(row[..., 3] + v * (3 * row[..., 2] + v * (3 * row[..., 1] + v * row[..., 0])))
        )


# The rest is for the l2 form of the error, the distance from an answer to a sign vector.


@dataclass(frozen=True, eq=False)
class _Distances:
    """Tables of bounds on the distance from a point of a given norm to a random sign vector.

    `log_moments` and `cubes` give, at a level t, an upper bound on the mean of (t - distance)_+: S1
    of theory/sharper-approx-bounds.md, 2. At the levels between two of the `marks`, the index of
    the best cube is near the straight line between their choices.
    """

    d: int  # the dimension
    rho: Floats  # the norms of the point, equally spaced from 0 to sqrt(d)
    mean: Floats  # a lower bound on the mean distance, for every norm
    cubes: Floats  # the constants K of the cubic bounds
    log_moments: Floats  # the log of each cubic moment, shape (norms, cubes)
    levels: Floats  # the distances t, in increasing order
    marks: NDArray[np.intp]  # the levels at which all cubes were tried
    choice: NDArray[np.intp]  # the best cubes at these levels, for every norm
    # At this log ratio of likelihoods, and at all smaller ones, the mean distance is proven to be
    # at least the level t. The ratios do not increase with t.
    log_ratios: Floats

    @property
    def half_step(self) -> float:
        """Half the spacing of the grid of norms, which P1 calls eta."""
        return float(self.rho[1]) / 2

    def log_missing(self, level: int) -> Floats:
        """Return, for every norm, the log of an upper bound on the mean of (t - distance)_+.

        `level` is the index of t in `levels`.
        """
        upper = int(np.clip(np.searchsorted(self.marks, level), 1, len(self.marks) - 1))
        start, stop = self.marks[upper - 1], self.marks[upper]
        index = _interpolate_cubes(
            self.choice[upper - 1], self.choice[upper], (level - start) / (stop - start)
        )
        factor = _log_factor(self.levels[level], self.cubes)[None]
        return _least_log_bound(index, factor, np.intp(0), self.log_moments, np.arange(len(index)))


def _interpolate_cubes(
    start: NDArray[np.intp], stop: NDArray[np.intp], share: Floats | float
) -> Floats:
    """Return a guess of the best cube's index at a level between two searched ones.

    It is `start` plus the share of the way to `stop`, the best indices at the searched levels.
    """
    return np.asarray(start + share * (stop - start).astype(float))


def _least_log_bound(
    # This is a guess of the best cube's index, for every pair of a level and a norm.
    index: Floats,
    factor: Floats,  # a row for every level, and a column for every cube
    level: NDArray[np.intp] | np.intp,
    log_moments: Floats,  # a row for every norm
    norm: NDArray[np.intp],
) -> Floats:
    """Return, for each pair of a level and a norm, the smallest log bound of the nearby cubes.

    They are those near `index`; a cube's log bound is the sum of its `factor` and `log_moments`.
    """
    place = np.floor(index).astype(np.intp)
    best = np.full(index.shape, np.inf)
    cubes = factor.shape[1]
    for shift in _SHIFTS:
        k = np.clip(place + shift, 0, cubes - 1)
        bound = factor.take(level * cubes + k) + log_moments.take(norm * cubes + k)
        best = np.minimum(best, bound)
    return best


def _log_factor(level: Floats | float, cube: Floats) -> Floats:
    r"""Return the log of the factor C in the bound :math:`E(t-\ell)_+\le C\,E(K-\ell^2)_+^3`.

    It is :math:`C(t,K)=\max_{0\le r\le t}\frac{t-r}{(K-r^2)^3}` at a level t and a cube K, and
    infinite unless :math:`K>t^2`. See S1 of theory/sharper-approx-bounds.md, 2.
    """
    t = np.asarray(level, dtype=np.float64)
    has_room = cube > t * t * (1 + 1e-9)
    k = np.where(has_room, cube, t * t + 1)
    best = np.log(t) - 3 * np.log(k)
    left = 36 * t * t - 20 * k
    root = np.sqrt(np.maximum(left, 0.0))
    for sign in (1.0, -1.0):
        r = (6 * t + sign * root) / 10
        turns = (left >= 0) & (r > 0) & (r < t)
        r = np.where(turns, r, 0.0)
        best = np.maximum(best, np.log(t - r) - 3 * np.log(k - r * r))
    return np.asarray(np.where(has_room, best, np.inf))


@lru_cache(maxsize=48)
def _distance_table(d: int) -> _Distances:
    """Return the table of bounds on distances from an answer to random signs in dimension d."""
    root = math.sqrt(d)
    rho = np.linspace(0.0, root, _RHOS)
    cubes = np.geomspace(2e-3 * d, 4.2 * d, _CUBES)
    a = d + rho**2
    if d <= EXACT:
        values = (2 * np.arange(d + 1) - d) / root
        squares = np.maximum(a[:, None] - 2 * rho[:, None] * values, 0.0)
        tails = _tail_means(d)[:, 0]
        mean = np.sqrt(squares) @ (tails[:-1] - tails[1:])
    else:
        mean = np.sqrt(a) * (1 - 2 * rho**2 / a**2)
    mean = np.maximum.accumulate(np.maximum(mean, root))
    log_moments = np.empty((_RHOS, _CUBES))
    with np.errstate(divide="ignore"):
        log_moments[0] = 3 * np.log(np.maximum(cubes - d, 0.0))
        thresholds = (a[1:, None] - cubes) / (2 * rho[1:, None])
        log_moments[1:] = 3 * np.log(2 * rho[1:, None]) + log_cube(thresholds, d)
    # A finite value prevents the choice of cubes below t^2.
    log_moments = np.maximum(log_moments, -1e30)
    levels = root * (1 - np.geomspace(1e-5, 1 - 1e-3, LEVELS))[::-1]
    marks, choice, log_ratios = _search_all_cubes(levels, cubes, log_moments, mean)
    return _Distances(d, rho, mean, cubes, log_moments, levels, marks, choice, log_ratios)


def _search_all_cubes(
    levels: Floats, cubes: Floats, log_moments: Floats, mean: Floats
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Return `marks`, `choice` and `log_ratios` of a `_Distances`.

    All cubes are tried at every 16th level, the marks; between two marks, only the cubes whose
    index is near the straight line between their choices. See `_Distances`.
    """
    marks = np.unique(np.append(np.arange(0, len(levels), _COARSE), len(levels) - 1))
    choice = np.empty((len(marks), len(mean)), dtype=np.intp)
    for row, mark in enumerate(marks):
        factor = _log_factor(levels[mark], cubes)
        lowest = int(np.argmax(factor < np.inf))  # A cube below this one proves nothing.
        choice[row] = lowest + np.argmax(-factor[lowest:] - log_moments[:, lowest:], axis=1)
    factors = _log_factor(levels[:, None], cubes)
    ratios = np.empty(len(levels))
    for row, (start, stop) in enumerate(itertools.pairwise(marks)):
        part = slice(start, stop + 1)
        share = (np.arange(start, stop + 1) - start)[:, None] / (stop - start)
        index = _interpolate_cubes(choice[row], choice[row + 1], share)
        with np.errstate(divide="ignore"):
            gain = np.log(np.maximum(mean - levels[part, None], 0.0))
        ratios[part] = np.logaddexp(0.0, _least_gap(gain, index, factors[part], log_moments))
    return marks, choice, np.minimum.accumulate(ratios)


def _least_gap(
    gain: Floats,  # the log of the mean less the level, shape (levels, norms)
    index: Floats,  # a guess of the best cube's index, shape (levels, norms)
    factor: Floats,  # the log factor of a cube, shape (levels, cubes)
    log_moments: Floats,  # the log moment of a cube, shape (norms, cubes)
) -> Floats:
    """Return, for every level, the minimum over the norms of `gain` minus the least log bound.

    The least log bound is taken among the cubes next to `index`; see `_least_log_bound`.
    """
    rows, norms = np.arange(len(index)), np.arange(index.shape[1])
    place = np.floor(index).astype(np.intp)
    # A single cube gives a lower bound on the gap of a norm. A norm whose lower bound is not below
    # a known gap cannot be the minimiser, so only the other norms are computed in full.
    cubes = factor.shape[1]  # A flat index is several times as fast as a pair of indices.
    bound = factor.take(rows[:, None] * cubes + place)
    bound += log_moments.take(norms * cubes + place)
    rough = gain - bound
    norm = np.argmax(-rough, axis=1)
    least_gap = gain[rows, norm] - _least_log_bound(
        index[rows, norm], factor, rows, log_moments, norm
    )
    level, norm = np.nonzero(rough < least_gap[:, None])
    nearest = _least_log_bound(index[level, norm], factor, level, log_moments, norm)
    np.minimum.at(least_gap, level, gain[level, norm] - nearest)
    return np.asarray(least_gap)


@lru_cache(maxsize=256)
def distances(d: int, epsilon: float, delta: float) -> Falling:
    r"""Return :math:`T_b`, a lower bound on the mean l2 distance of any answer to the hidden signs.

    It is a function of the number b of spikes. At d = 1 it is
    :math:`(1-\delta_b)_+\frac2{1+e^{b\varepsilon}}`. See theory/sharper-approx-bounds.md, 3, P1.

    Examples
    --------
    >>> [round(float(x), 4) for x in distances(20, 1.0, 0.0).values[[0, 1, 7, 16]]]
    [4.4721, 4.4362, 3.6431, 0.6362]
    """
    counts = some_counts(last_count(d, epsilon))
    ratio = epsilon * counts
    failure = group_delta(epsilon, delta, counts)
    if d == 1:
        left = np.maximum(0.0, 1 - failure)
        return falling(counts, left * 2 / (1 + np.exp(np.minimum(ratio, 700.0))))
    table = _distance_table(d)
    steps = np.searchsorted(-table.log_ratios, -ratio, side="right") - 1
    values = np.where(steps < 0, 0.0, np.maximum(table.levels[steps] - table.half_step, 0.0))
    values[0] = math.sqrt(d)
    if delta > 0:
        tried: dict[int, _Capped] = {}
        for i in range(1, len(counts)):
            # If delta times its factor exceeds 1, or the log ratio is outside the table, nothing is
            # proven.
            if steps[i] < 0 or failure[i] >= 1:
                values[i:] = 0.0
                break
            values[i] = _best_with_delta(
                table, tried, int(steps[i]), float(ratio[i]), float(failure[i])
            )
    return falling(counts, values)


def last_count(d: int, epsilon: float) -> float:
    """Return a number of spikes at which privacy no longer hides any sign, at most 1e9.

    From there on the remaining distance is nearly 0, so that tables end there.
    """
    return min(1e9, math.ceil(1.6 * d * math.log(2) / epsilon + 12))


@dataclass(frozen=True, eq=False)
class _Capped:
    """The factors of delta in the bound P1 at one level t, by the norm of the answer.

    The factor at a norm is `lead` times the least of `free` and the usable entries of `capped`: the
    loss may be capped, where privacy is strong enough for that, so that delta costs less.
    """

    lead: Floats  # a multiplier of both kinds of factors, shape (norms,)
    free: Floats  # the factors without a cap, shape (norms,)
    capped: Floats  # the factors with each cap, shape (caps, norms)
    # A cap may be used if the log of exp(b epsilon) - 1 is at most this; shape (caps, norms).
    limit: Floats

    def worst(self, log_growth: float) -> float:
        """Return the largest factor of delta over the norms, with the best usable cap at each.

        `log_growth` is the log of exp(b epsilon) - 1 at b spikes.
        """
        allowed = np.where(self.limit >= log_growth, self.capped, np.inf).min(axis=0)
        return float(np.max(self.lead * np.minimum(self.free, allowed)))


def _best_with_delta(
    table: _Distances, tried: dict[int, _Capped], step: int, ratio: float, delta: float
) -> float:
    """Return the largest lower bound on the mean distance that P1 proves if delta is positive.

    At a level t the bound is t less half the spacing of the norms less delta times its factor;
    every 12th level from `step` downwards is tried. `ratio` is b epsilon, `delta` that of b
    records, and `tried` keeps the factors that are known already, by level.
    """
    best, eta = 0.0, table.half_step
    log_growth = float(log_expm1(np.array(ratio)))
    for index in range(step, -1, -_SKIP):
        top = table.levels[index] - eta
        if top <= best:
            break
        if delta < _NEGLIGIBLE:
            lead, free = _uncapped_values(table, index)
            return max(0.0, float(top - delta * np.max(lead * free)))
        if index not in tried:
            tried[index] = _capped_values(table, index)
        best = max(best, float(top - delta * tried[index].worst(log_growth)))
    return best


def _uncapped_values(table: _Distances, level: int) -> tuple[Floats, Floats]:
    """Return `lead` and `free` of `_Capped` at the level with this index."""
    t, root = table.levels[level], math.sqrt(table.d)
    lead = np.maximum(t - root + table.rho, 0.0)
    return lead, (root + table.rho + 2 * table.half_step - t) / (table.mean - t)


def _capped_values(table: _Distances, level: int) -> _Capped:
    """Return the factors of delta at the level with this index, with and without caps."""
    t = table.levels[level]
    lead, free = _uncapped_values(table, level)
    g, rho = CAPS[:, None], table.rho
    v = np.sqrt(table.d + rho**2 + 2 * rho * g)
    left = table.mean - t - rho * omega(g) / v
    usable = (v > t) & (left > 0)
    left = np.where(usable, left, 1.0)
    limit = np.where(usable, np.log(left) - table.log_missing(level), -np.inf)
    return _Capped(lead, free, np.where(usable, (v - t) / left, np.inf), limit)
