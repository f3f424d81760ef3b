r"""Two-sided information on the sign hypercube: what a zCDP output can tell, counted both ways.

Privacy bounds the divergence of two data sets in both orders. So the mutual information of signs
and output *plus* their lautum information is at most :math:`\kappa=\rho B^2(1-2^{-d})`, B the
number of spikes: Lemma J of theory/bounds-everywhere.md, 1. Theorem 1 there bounds the least mean
loss at that much of it by a maximum of lines,

.. math::
    \Phi(\kappa)=\max_{\lambda,c}\frac{H-\kappa}\lambda,\quad
    H=c-\sup_yE\,f^*(c-\lambda\ell_y(\nu)),\quad f(x)=(x-1)\ln x.

Every pair :math:`(\lambda,c)` gives a valid line: a coarse choice of them can only lower the bound.
The supremum over answers y is over their norm alone (theory/sharper-approx-bounds.md, 2), and is
bounded from above on intervals of the norm. Where numbers replace functions they err towards a
smaller bound: the conjugate is a chord of itself, and signs in high dimension are spread out.
"""

import math
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
from dpsco_core.bounds.instances.spikes import check_point, spike_exponent

_LINES = 48  # of the first grid
_ROUNDS = 4  # in which points come between those whose lines matter
_SMALL = 0.03  # below this share of its start the bound is not refined
_ATOMS = 256  # up to this dimension the law of a sum of signs is exact
_SPACING = 0.05  # between its points in higher dimension, in standard deviations


@lru_cache(maxsize=1)
def _conjugate_table() -> tuple[Floats, Floats, Floats]:
    r"""Return c, :math:`f^*(c)` and :math:`\ln t`, with :math:`t+\ln t=1-c`, for increasing c."""
    log_t = np.linspace(20.0, -300.0, 64_001)
    t = np.exp(log_t)
    c = 1 - t - log_t
    return c, np.exp(-log_t) + t - 2 + c, log_t


def conjugate(c: Floats) -> Floats:
    r"""Return :math:`f^*(c)=\frac1t+t-2+c` of :math:`f(x)=(x-1)\ln x`, or slightly more.

    A chord of a convex function is above it: the relative excess is below 1e-5. Outside of the
    table, which ends far beyond what any bound uses, it is constant on the left and huge on the
    right.
    """
    nodes, values, _ = _conjugate_table()
    return np.interp(c, nodes, values, right=1e300)


def _slopes(c: Floats) -> tuple[Floats, Floats]:
    r"""Return :math:`x=f^{*\prime}(c)=\frac1t` and :math:`f^{*\prime\prime}(c)=\frac{x^2}{1+x}`."""
    nodes, _, log_t = _conjugate_table()
    x = np.exp(np.minimum(-np.interp(c, nodes, log_t), 300.0))
    return x, x * (x / (1 + x))


@lru_cache(maxsize=64)
def sum_of_signs(d: int) -> tuple[Floats, Floats]:
    r"""Return points and weights of :math:`W=(2\mathrm{Bin}(d,\frac12)-d)/\sqrt d`.

    Beyond d = 256 the mass between two points of a grid is moved to these, with the same mean:
    means of convex functions only grow by that, and with them the part of the bound that is
    subtracted.
    """
    root = math.sqrt(d)
    counts = np.arange(d + 1, dtype=np.float64)
    sums = (2 * counts - d) / root
    weights = np.exp(log_pmf(counts, d, np.full(1, 0.5)))
    if d <= _ATOMS:
        return sums, weights
    near = np.arange(-6.0, min(root, 9.0), _SPACING)
    far = np.linspace(near[-1], root, 2 + math.ceil((root - near[-1]) / 0.5))[1:]
    points = np.concatenate([[-root], near, far])
    left = np.clip(np.searchsorted(points, sums, side="right") - 1, 0, len(points) - 2)
    share = np.clip((sums - points[left]) / (points[left + 1] - points[left]), 0.0, 1.0)
    size = len(points)
    spread = _sums(left, weights * (1 - share), size)
    return points, spread + _sums(left + 1, weights * share, size)


def _sums(group: NDArray[np.intp], values: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(group, values, size), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class LeastLoss:
    r"""The least mean loss at every amount of two-sided information."""

    start: float  # without any information
    lines: Envelope
    last: float  # the information from which on the bound is 0

    def at(self, information: Floats) -> Floats:
        """Return the bound at every amount of information."""
        return np.where(information > 0, self.lines.at(information), self.start)


@lru_cache(maxsize=256)
def curve(d: int, form: Form) -> LeastLoss:
    r"""Return :math:`\Phi` of the losses of signs :math:`\nu\in\{\pm1\}^d`.

    :math:`\|\nu-y\|_2` for any y ("l2"), its square ("squared"), or
    :math:`\sqrt d-\langle\nu,y\rangle` for y in the unit ball ("linear"). A grid of
    :math:`\lambda`, and then points between those whose lines are seen, and their neighbours.
    """
    require(d >= 1, "d", "a positive integer", d)
    start = float(d) if form == "squared" else math.sqrt(d)
    heights_of = _linear_heights if form == "linear" else _heights
    slopes = np.geomspace(0.03, 300.0 * max(1.0, d / 4), _LINES) / start
    heights = heights_of(d, slopes, form)
    for _ in range(_ROUNDS):
        values = heights / slopes
        seen = envelope(values, -1 / slopes)
        # A line is worth a closer look where the bound is not yet a small part of its start.
        tops = np.concatenate([seen.heights[:1], seen.at(seen.breaks)])
        worth = np.isin(values, seen.heights[tops > _SMALL * start])
        near = worth[:-1] | worth[1:]
        between = np.sqrt(slopes[:-1] * slopes[1:])[near]
        slopes = np.append(slopes, between)
        order = np.argsort(slopes)
        heights = np.append(heights, heights_of(d, between, form))[order]
        slopes = slopes[order]
    return LeastLoss(start, envelope(heights / slopes, -1 / slopes), float(heights.max()))


def _solve(shift: Floats, losses: Floats, weights: Floats, steps: int) -> Floats:
    r"""Return nearly the c with :math:`E\,f^{*\prime}(c-\ell)=1`, from which no bound is taken.

    The mean slope is 1 at the best c. Newton's method for its logarithm, which is convex in c: from
    above it never passes the root.
    """
    c = shift
    for _ in range(steps):
        x, curvature = _slopes(c[..., None] - losses)
        mean = (x * weights).sum(-1)
        step = np.log(mean) * mean / (curvature * weights).sum(-1)
        c = c - np.maximum(step, -3.0)
    return c


def _linear_heights(d: int, slopes: Floats, _: Form) -> Floats:
    sums, weights = sum_of_signs(d)
    losses = slopes[:, None] * (math.sqrt(d) - sums)
    c = _solve((losses * weights).sum(-1), losses, weights, 12)
    return np.asarray(c - (conjugate(c[:, None] - losses) * weights).sum(-1))


def _loss(d: int, norm: Floats, sums: Floats, form: Form) -> tuple[Floats, Floats]:
    """Return the loss of an answer of that norm, and its derivative in the norm."""
    square = np.maximum(d + norm * norm - 2 * norm * sums, 0.0)
    if form == "squared":
        return square, 2 * (norm - sums)
    distance = np.sqrt(square)
    return distance, np.clip((norm - sums) / np.maximum(distance, 1e-12), -1.0, 1.0)


def _heights(d: int, slopes: Floats, form: Form) -> Floats:
    r"""Return H of every slope, from an upper bound on the supremum over the norm of the answer.

    The loss is convex in the norm :math:`\tau`, so that on an interval about :math:`\tau_0` it is
    at least :math:`\ell(\tau_0)+\ell'(\tau_0)(\tau-\tau_0)`. With that in its place
    :math:`E f^*` is convex in :math:`\tau`, and largest at one of the two ends. The intervals are
    narrow about the two worst norms, where the derivative is 0 and only the square of their width
    is lost: one is near the answer 0, one near a guess of all signs.
    """
    sums, weights = sum_of_signs(d)
    root = math.sqrt(d)
    worst, c = _worst_norms(d, slopes, form)
    steps = root * np.cumsum(0.006 * 1.7 ** np.arange(8))
    offsets = np.concatenate([-steps[::-1], [-0.002 * root, 0.002 * root], steps])
    edges = (worst[..., None] + offsets).reshape(len(slopes), -1)
    edges = np.sort(np.clip(edges, 0.0, root), axis=1)
    edges[:, 0], edges[:, -1] = 0.0, root
    largest = np.full(len(slopes), -math.inf)
    for low, high in zip(edges.T[:-1], edges.T[1:], strict=True):
        rows = np.flatnonzero(high > low)
        middle, half = (low + high)[rows, None] / 2, (high - low)[rows, None] / 2
        loss, derivative = _loss(d, middle, sums, form)
        for end in (half, -half):
            argument = c[rows, None] - slopes[rows, None] * (loss + derivative * end)
            mean = (conjugate(argument) * weights).sum(-1)
            largest[rows] = np.maximum(largest[rows], mean)
    return np.asarray(c - largest)


def _worst_norms(d: int, slopes: Floats, form: Form) -> tuple[Floats, Floats]:
    """Return nearly the two worst norms of the answer on every line, and the best c.

    Where two norms far apart are equally bad, the best c lies between theirs: there the larger
    mean of the two changes from one to the other. First over all norms, with fewer points of the
    law; then with all points, over the norms that matter.
    """
    sums, weights = sum_of_signs(d)
    few, mass = _few(sums, weights)
    root, rows = math.sqrt(d), np.arange(len(slopes))
    norms = root * np.sin(np.linspace(0, math.pi / 2, 25))
    scaled = slopes[:, None, None] * _loss(d, norms[:, None], few, form)[0]
    each = _solve((scaled * mass).sum(-1), scaled, mass, 6)
    low, high = each.min(1), each.max(1)
    for _ in range(12):
        c = (low + high) / 2
        means = (conjugate(c[:, None, None] - scaled) * mass).sum(-1)
        is_below = c < each[rows, means.argmax(1)]
        low, high = np.where(is_below, c, low), np.where(is_below, high, c)
    split = len(norms) // 2
    peaks = np.stack(
        [
            _peak(norms[:split], means[:, :split]),
            _peak(norms[split - 1 :], means[:, split - 1 :]),
        ],
        axis=1,
    )
    offsets = np.array([-0.02, 0.0, 0.02]) * root
    tried = np.clip(peaks[..., None] + offsets, 0.0, root).reshape(len(slopes), -1)
    scaled = slopes[:, None, None] * _loss(d, tried[..., None], sums, form)[0]
    each = _solve(np.tile(c[:, None], (1, tried.shape[1])), scaled, weights, 3)
    low, high = each.min(1), each.max(1)
    for _ in range(12):
        c = (low + high) / 2
        means = (conjugate(c[:, None, None] - scaled) * weights).sum(-1)
        is_below = c < each[rows, means.argmax(1)]
        low, high = np.where(is_below, c, low), np.where(is_below, high, c)
    return np.stack([_top(tried[:, :3], means[:, :3]), _top(tried[:, 3:], means[:, 3:])], axis=1), c


def _peak(x: Floats, y: Floats) -> Floats:
    """Return nearly where every row of y is highest over x."""
    near = np.clip(y.argmax(1), 1, len(x) - 2)[:, None] + np.array([-1, 0, 1])
    return _top(x[near], np.take_along_axis(y, near, axis=1))


def _top(x: Floats, y: Floats) -> Floats:
    """Return where the parabola through three points is highest, or the highest of them."""
    left, right = y[:, 1] - y[:, 0], y[:, 2] - y[:, 1]
    near, far = x[:, 1] - x[:, 0], x[:, 2] - x[:, 1]
    bend = left * far - right * near
    is_peak = (bend > 0) & (near > 0) & (far > 0)
    shift = (left * far**2 + right * near**2) / (2 * np.where(is_peak, bend, 1.0))
    highest = x[np.arange(len(x)), y.argmax(1)]
    return np.asarray(np.where(is_peak, np.clip(x[:, 1] + shift, x[:, 0], x[:, 2]), highest))


def _few(points: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return at most some eighty of the points, with the mass of those about each."""
    every = max(1, len(points) // 80)
    size = -(-len(points) // every)
    group = np.arange(len(points)) // every
    mass = _sums(group, weights, size)
    return _sums(group, weights * points, size) / np.maximum(mass, 1e-300), mass


def two_sided(
    p: float, n: int, d: int, moment_order: float, rho: float, form: Form = "l2"
) -> float:
    r"""Return the bound at spike probability p, for rho-zCDP algorithms.

    .. math:: p^aE\,\Phi\big(\rho B^2(1-2^{-d})\big),\quad B\sim\mathrm{Bin}(n,p)

    On the mean error, on its square (with :math:`p^{2a}`), and on the excess risk of linear losses
    on the unit ball: theory/bounds-everywhere.md, 2 and 3.
    """
    check_point(p, n, d)
    require(rho > 0, "rho", "positive", rho)
    return float(_values(np.array([p]), n, d, moment_order, rho, form, fine=True)[0])


def _values(
    p: Floats, n: int, d: int, moment_order: float, rho: float, form: Form, *, fine: bool = False
) -> Floats:
    least, two_ways = curve(d, form), rho * -math.expm1(-d * LOG_2)
    last = math.floor(math.sqrt(least.last / two_ways))
    scale = max(1.0, 0.1 * math.sqrt(d / rho))
    mean = expectation(
        lambda count: least.at(two_ways * count**2), n, p, largest=last, scale=scale, fine=fine
    )
    return np.asarray(p ** ((2 if form == "squared" else 1) * spike_exponent(moment_order)) * mean)


@lru_cache(maxsize=4096)
def best(
    n: int, d: int, moment_order: float, rho: float, largest: float, form: Form = "l2"
) -> float:
    """Return the p in (0, largest] that maximises `two_sided`."""
    low, high = search_range(math.sqrt(d / rho), n, largest)
    return maximise(lambda p: _values(p, n, d, moment_order, rho, form), low, high)
