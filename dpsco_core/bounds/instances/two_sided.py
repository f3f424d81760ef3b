r"""Two-sided information on the sign hypercube: what a zCDP output can tell, counted both ways.

Privacy bounds the divergence of two data sets in both orders. So the mutual information of signs
and output *plus* their lautum information is at most :math:`\kappa=\rho B^2(1-2^{-d})`, B the
number of spikes: Lemma J of theory/bounds-everywhere.md, 1. Theorem 1 there bounds the least mean
loss at that much information by a maximum of lines,

.. math::
    \Phi(\kappa)=\max_\lambda\frac{H-\kappa}\lambda,\quad
    H=\inf_y\sup_c\big[c-E\,f^*(c-\lambda\ell_y(\nu))\big],\quad f(x)=(x-1)\ln x.

Every :math:`\lambda`, and every choice of a c for each answer y, gives a valid line, so that a
coarse choice can only lower the bound. The infimum over answers is over their norm alone
(theory/sharper-approx-bounds.md, 2), and is bounded from below on intervals of the norm. All
numerical approximations err towards a smaller bound: chords replace the convex function
:math:`f^*`, and in high dimension a law that is spread out more replaces that of a sum of signs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.errors import require
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.instances.binomial import (
    Floats,
    expectation,
    log_pmf,
    maximise,
    search_range,
)
from dpsco_core.bounds.instances.fano import LOG_2
from dpsco_core.bounds.instances.rate_distortion import Envelope, envelope
from dpsco_core.bounds.instances.spikes import check_point, mean_power

_LINES = 48  # The first grid has this many slopes, each of which gives a line.
# The table of slopes extends down to minus `_DEEPEST`, in steps of `_EVEN_STEP`.
_DEEPEST, _EVEN_STEP = 1000.0, 0.01
# Cells of c have this width, so that each contains at most one node of the conjugate's table.
_CELL = 0.004
_ROUNDS = 5  # In each of these rounds, slopes are added next to those whose lines matter.
_ENOUGH_LINES = 150  # An envelope of this many lines is not refined further.
_SMALL = 0.03  # The bound is not refined below this share of its value without information.
# The norms of an answer are divided into so many intervals, which are halved up to so many times.
_INTERVALS, _HALVINGS = 10, 6
# Up to this dimension the law of a sum of signs is exact.
_ATOMS = 256
# In higher dimensions the law has points at this distance, in standard deviations.
_SPACING = 0.05


@lru_cache(maxsize=1)
def _conjugate_table() -> tuple[Floats, Floats, Floats]:
    r"""Return a table of the conjugate: c, :math:`f^*(c)` and :math:`\ln t`, for increasing c.

    Here t solves :math:`t+\ln t=1-c`, and 1/t is the derivative of :math:`f^*` at c.
    """
    log_t = np.linspace(20.0, -690.0, 142_001)
    t = np.exp(log_t)
    c = 1 - t - log_t
    return c, np.exp(-log_t) + t - 2 + c, log_t


def conjugate(c: Floats) -> Floats:
    r"""Return the convex conjugate :math:`f^*(c)` of :math:`f(x)=(x-1)\ln x`, or slightly more.

    A chord of a convex function is above it: the relative excess is below 1e-5. Outside of the
    table, which ends far beyond what any bound uses, it is constant on the left and huge on the
    right.
    """
    nodes, values, _ = _conjugate_table()
    chords = _chord_table()
    place = (c - chords.start) * (1 / _CELL)
    # The few values far outside the cells are found by a search.
    is_near = (place >= 0) & (place < len(chords.left_chord) - 1)
    if is_near.all():
        return _conjugate_on_chord(c, place)
    bound = np.empty_like(place)
    bound[is_near] = _conjugate_on_chord(c[is_near], place[is_near])
    bound[~is_near] = np.interp(c[~is_near], nodes, values, right=1e306)
    return bound


@dataclass(frozen=True, eq=False)
class _Chords:
    """The chords of the tabulated conjugate, found by cells of equal width rather than a search."""

    start: float  # the smallest c of the cells
    left_chord: NDArray[np.intp]  # the index of the chord at the left end of each cell
    ends: Floats  # the right end of each chord
    slopes: Floats  # the slope of each chord


@lru_cache(maxsize=1)
def _chord_table() -> _Chords:
    """Return the chords between neighbouring nodes of `_conjugate_table`, with their cells."""
    nodes, values, _ = _conjugate_table()
    cells = np.arange(-_DEEPEST, nodes[-1], _CELL)
    left_chord = np.searchsorted(nodes, cells, side="right") - 1
    return _Chords(-_DEEPEST, left_chord, nodes[1:], np.diff(values) / np.diff(nodes))


def _conjugate_on_chord(c: Floats, place: Floats) -> Floats:
    """Return the conjugate at each c by the chord over it; `place` is c in units of cells."""
    nodes, values, _ = _conjugate_table()
    chords = _chord_table()
    chord = chords.left_chord[place.astype(np.intp)]
    chord += c >= chords.ends[chord]
    return np.asarray(chords.slopes[chord] * (c - nodes[chord]) + values[chord])


@lru_cache(maxsize=1)
def _even_table() -> tuple[Floats, Floats]:
    """Return ln t of `_conjugate_table` on an even grid of decreasing c, and its differences."""
    nodes, _, log_t = _conjugate_table()
    even = np.interp(np.arange(nodes[-1], -_DEEPEST, -_EVEN_STEP), nodes, log_t)
    return even, np.diff(even)


def _conjugate_derivatives(c: Floats) -> tuple[Floats, Floats]:
    r"""Return the first and the second derivative of the conjugate at c, from a table.

    They are accurate to 1e-5, which is enough because only a search for c uses them.
    """
    even, changes = _even_table()
    place = np.clip((_conjugate_table()[0][-1] - c) / _EVEN_STEP, 0.0, len(changes) - 1e-6)
    index = place.astype(np.intp)
    x = np.exp(-(even[index] + (place - index) * changes[index]))
    is_far = c < 1 - _DEEPEST
    if is_far.any():
        rest = 1 - c[is_far]
        x[is_far] = 1 / (rest - np.log(rest))
    return x, x * (x / (1 + x))


@lru_cache(maxsize=256)
def sum_of_signs(d: int) -> tuple[Floats, Floats]:
    r"""Return the law of a scaled sum of d random signs: its points, and their probabilities.

    The sum is :math:`W=(2\mathrm{Bin}(d,\frac12)-d)/\sqrt d`. Beyond d = 256 its mass between two
    points of a grid is moved to these points without a change of the mean. Means of convex
    functions, which bounds subtract, only grow by that, so that bounds get smaller. Beyond d = 1000
    the smallest weights are raised to what a double holds.
    """
    root = math.sqrt(d)
    counts = np.arange(d + 1, dtype=np.float64)
    sums = (2 * counts - d) / root
    # Weights are not rounded to 0, because the function may be as large as the inverse of a weight.
    weights = np.maximum(np.exp(log_pmf(counts, d, np.full(1, 0.5))), 1e-305)
    if d <= _ATOMS:
        return sums, weights
    fine_points = np.arange(-6.0, min(root, 9.0), _SPACING)
    coarse_points = np.linspace(
        fine_points[-1], root, 2 + math.ceil((root - fine_points[-1]) / 0.5)
    )[1:]
    points = np.concatenate([[-root], fine_points, coarse_points])
    left = np.clip(np.searchsorted(points, sums, side="right") - 1, 0, len(points) - 2)
    share = np.clip((sums - points[left]) / (points[left + 1] - points[left]), 0.0, 1.0)
    size = len(points)
    spread = _sum_groups(left, weights * (1 - share), size)
    return points, spread + _sum_groups(left + 1, weights * share, size)


def _sum_groups(group: NDArray[np.intp], values: Floats, size: int) -> Floats:
    """Return the sum of the values in each of `size` groups; `group` has each value's group."""
    return np.asarray(np.bincount(group, values, size), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class LeastLoss:
    r"""The least mean loss at every amount of two-sided information."""

    start: float  # the least mean loss without any information
    lines: Envelope
    end: float  # the information beyond which the bound is 0

    def value_at(self, information: Floats) -> Floats:
        """Return the least mean loss at each amount of information, in nats."""
        return np.where(information > 0, self.lines.value_at(information), self.start)


@lru_cache(maxsize=256)
def curve(d: int, form: Form) -> LeastLoss:
    r"""Return the least mean loss of signs as a function of the information: :math:`\Phi`.

    The loss is :math:`\|\nu-y\|_2` for any y ("l2"), its square ("squared"), or
    :math:`\sqrt d-\langle\nu,y\rangle` for y in the unit ball ("linear"). It is computed on a grid
    of :math:`\lambda`, to which points are added next to those whose lines matter.
    """
    require(d >= 1, "d", "a positive integer", d)
    start = float(d) if form == "squared" else math.sqrt(d)
    heights_of = _linear_heights_of_slopes if form == "linear" else _heights_of_slopes
    return least_loss(start, 300.0 * max(1.0, d / 4), lambda slopes: heights_of(d, slopes, form))


def least_loss(
    start: float,  # the smallest loss without any information
    steepest: float,  # the largest slope of the first grid, in units of 1/`start`
    heights_of: Callable[[Floats], Floats],  # returns H of the module's formula at each slope
) -> LeastLoss:
    r"""Return the least mean loss :math:`\Phi` as a maximum of lines, by the amount of information.

    The lines belong to a grid of slopes :math:`\lambda`, which is refined where they matter.
    """
    slopes = np.geomspace(0.03, steepest, _LINES) / start
    heights = heights_of(slopes)
    for _ in range(_ROUNDS):
        values = heights / slopes
        upper = envelope(values, -1 / slopes)
        if len(upper.heights) > _ENOUGH_LINES:
            break
        # A line is refined only where the bound is not yet small compared with its start.
        tops = np.concatenate([upper.heights[:1], upper.value_at(upper.breaks)])
        worth = np.isin(values, upper.heights[tops > _SMALL * start])
        is_near = worth[:-1] | worth[1:]
        midpoints = np.sqrt(slopes[:-1] * slopes[1:])[is_near]
        slopes = np.append(slopes, midpoints)
        order = np.argsort(slopes)
        heights = np.append(heights, heights_of(midpoints))[order]
        slopes = slopes[order]
    return LeastLoss(start, envelope(heights / slopes, -1 / slopes), float(heights.max()))


def least_loss_of_words(losses: Floats, weights: Floats, start: float) -> LeastLoss:
    r"""Return the least mean loss :math:`\Phi` for losses with few values, over few answers.

    `losses` has a row for each answer that may be the worst one, and a column for each value;
    `weights` are the chances of these values.
    """

    def heights_of(slopes: Floats) -> Floats:
        """Return H of the module's formula at each slope, the least over the answers."""
        scaled = slopes[:, None, None] * losses
        c = _solve_for_c(scaled, weights, 25)
        return np.asarray((c - (conjugate(c[..., None] - scaled) * weights).sum(-1)).min(axis=-1))

    return least_loss(start, 400.0, heights_of)


def _solve_for_c(
    losses: Floats, weights: Floats, steps: int, start: Floats | None = None
) -> Floats:
    r"""Return an approximate c with :math:`E\,f^{*\prime}(c-\ell)=1`; no bound relies on it.

    There is a c for each row of `losses`. At the best c the mean slope of :math:`f^*` is 1, and by
    Jensen's inequality it is no less at the mean loss. Newton's method is applied to the logarithm
    of that slope, which is convex in c: from above it never passes the root.
    """
    top = losses @ weights
    c = top if start is None else np.minimum(start, top)
    for _ in range(steps):
        x, curvature = _conjugate_derivatives(c[..., None] - losses)
        mean = x @ weights
        previous = c
        c = np.minimum(c - np.log(mean) * mean / (curvature @ weights), top)
        if not np.any(np.abs(c - previous) > 1e-13 * (1 + np.abs(c))):
            break
    return np.asarray(c)


def _linear_heights_of_slopes(d: int, slopes: Floats, _: Form) -> Floats:
    """Return H of the module's formula at each slope, for linear losses on the unit ball."""
    sums, weights = sum_of_signs(d)
    losses = slopes[:, None] * (math.sqrt(d) - sums)
    c = _solve_for_c(losses, weights, 12)
    return np.asarray(c - (conjugate(c[:, None] - losses) * weights).sum(-1))


def _loss_and_derivative(d: int, norm: Floats, sums: Floats, form: Form) -> tuple[Floats, Floats]:
    """Return the loss of an answer of this norm, and its derivative with respect to the norm.

    The answer has scalar products `sums` times its norm with the signs.
    """
    square = np.maximum(d + norm * norm - 2 * norm * sums, 0.0)
    if form == "squared":
        return square, 2 * (norm - sums)
    distance = np.sqrt(square)
    return distance, np.clip((norm - sums) / np.maximum(distance, 1e-12), -1.0, 1.0)


def _heights_of_slopes(d: int, slopes: Floats, form: Form) -> Floats:
    r"""Return a lower bound on H of the module's formula at each slope, for l2 and squared errors.

    H is an infimum over the norm :math:`\tau` of the answer. The loss is convex in :math:`\tau`, so
    that on an interval about :math:`\tau_0` it is at least
    :math:`\ell(\tau_0)+\ell'(\tau_0)(\tau-\tau_0)`. With this line in place of the loss
    :math:`E f^*` is convex in :math:`\tau`, and largest at one of the two ends of the interval.
    Every interval has its own c, and is halved if its bound is clearly below the least value at the
    middle of any interval.
    """
    sums, weights = sum_of_signs(d)
    edges = math.sqrt(d) * np.linspace(0.0, 1.0, _INTERVALS + 1)
    rows = np.repeat(np.arange(len(slopes)), _INTERVALS)
    low, high = np.tile(edges[:-1], len(slopes)), np.tile(edges[1:], len(slopes))
    c: Floats | None = None
    lowest, target = np.full(len(slopes), math.inf), np.full(len(slopes), math.inf)
    for is_last in (*[False] * _HALVINGS, True):
        middle, half, slope = (low + high) / 2, (high - low)[:, None] / 2, slopes[rows, None]
        loss, derivative = _loss_and_derivative(d, middle[:, None], sums, form)
        c = _solve_for_c(slope * loss, weights, 8 if c is None else 2, c)
        level = c[:, None] - slope * loss
        tilt = slope * derivative * half
        ends = np.minimum(
            c - conjugate(level - tilt) @ weights, c - conjugate(level + tilt) @ weights
        )
        np.minimum.at(target, rows, c - conjugate(level) @ weights)
        is_open = (ends < target[rows] - 1e-4 * (1 + np.abs(target[rows]))) & (not is_last)
        np.minimum.at(lowest, rows[~is_open], ends[~is_open])
        if not is_open.any():
            break
        rows, c = np.repeat(rows[is_open], 2), np.repeat(c[is_open], 2)
        bounds = np.stack([low[is_open], middle[is_open], high[is_open]], axis=1)
        low, high = bounds[:, :2].ravel(), bounds[:, 1:].ravel()
    return lowest


def two_sided(
    p: float, n: int, d: int, moment_order: float, rho: float, form: Form = "l2"
) -> float:
    r"""Return the lower bound by two-sided information at spike probability p, for rho-zCDP.

    .. math:: p^aE\,\Phi\big(\rho B^2(1-2^{-d})\big),\quad B\sim\mathrm{Bin}(n,p)

    It bounds the mean error, its square (with :math:`p^{2a}`), and the excess risk of linear losses
    on the unit ball: theory/bounds-everywhere.md, 2 and 3.
    """
    check_point(p, n, d)
    require(rho > 0, "rho", "positive", rho)
    return float(_bound_values(np.array([p]), n, d, moment_order, rho, form, fine=True)[0])


def _bound_values(
    p: Floats, n: int, d: int, moment_order: float, rho: float, form: Form, *, fine: bool = False
) -> Floats:
    """Return the bound of `two_sided` at each spike probability of `p`."""
    phi, two_ways = curve(d, form), rho * -math.expm1(-d * LOG_2)
    largest_count = math.floor(math.sqrt(phi.end / two_ways))
    scale = max(1.0, 0.1 * math.sqrt(d / rho))
    mean = expectation(
        lambda count: phi.value_at(two_ways * count**2),
        n,
        p,
        largest=largest_count,
        scale=scale,
        fine=fine,
    )
    return np.asarray(mean_power(p, moment_order, 2 if form == "squared" else 1) * mean)


@lru_cache(maxsize=4096)
def best(
    n: int, d: int, moment_order: float, rho: float, largest: float, form: Form = "l2"
) -> float:
    """Return the spike probability in (0, largest] that maximises `two_sided`."""
    low, high = search_range(math.sqrt(d / rho), n, largest)
    return maximise(lambda p: _bound_values(p, n, d, moment_order, rho, form), low, high)
