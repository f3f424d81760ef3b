r"""Fano's argument by distance, on the sign hypercube: a ball about an answer holds few patterns.

The mean error is the integral over t of the chance that it exceeds t. By guessing at random, the
answer is within t of the secret pattern with probability at most G(t), the largest share of all
patterns in a ball of radius t. A zCDP output lifts that to at most :math:`X(\kappa,G(t))`, where
:math:`\kappa=\rho B^2` and B is the number of spikes: Theorem 2 of theory/bounds-everywhere.md, 4,
with no code and no packing. All patterns share the records that are spikes, and the mean over B is
taken last.

With a single distance and the inequality of Fano in place of X this is the continuum form of Duchi
and Wainwright (2013); small balls with divergences other than Kullback and Leibler's are Chen,
Guntuboyina and Zhang's (2016). The bound by Rényi divergences of all orders is added here.

Every distance, order and level is valid: finer ones can only raise the bound. The integral takes G
at the right ends of a grid, where it is largest.
"""

import math
from functools import lru_cache, partial
from typing import Literal

import numpy as np

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
from dpsco_core.bounds.instances.spikes import check_point, mean_power
from dpsco_core.bounds.instances.two_sided import sum_of_signs

# A bound on the chance of an answer near the secret pattern is by Fano's inequality, by the
# divergence in both directions, or by that divergence and the Renyi divergences of all orders.
Chance = Literal["fano", "both ways", "all orders"]
# The integral over distances has this many points.
DISTANCES = 160
_LEVELS = 400  # The cubic bound on a tail is the smallest over this many levels.
_ALMOST = 1 - 1e-14  # A chance above this number counts as 1.
# The integral is computed at no more than about this many numbers of spikes.
_COUNTS = 512


def log_tail(d: int, x: Floats) -> Floats:
    r"""Return the log of a bound on :math:`\max_uP(\langle u,\nu\rangle\ge x)` over unit vectors u.

    .. math:: \min_{s<x}\frac{E(W_d-s)_+^3}{(x-s)^3}

    The signs :math:`\nu` are uniform on the hypercube, and :math:`W_d` is their sum over
    :math:`\sqrt d`. The bound holds by Markov's inequality, and because the mean cube is largest in
    the direction of equal coordinates (theory/sharper-approx-bounds.md, 2), at every level s. No
    chance but 0 is below :math:`2^{-d}`, so that the result is at least that.
    """
    sums, weights = sum_of_signs(d)
    root = math.sqrt(d)
    levels = np.linspace(-root, root, _LEVELS, endpoint=False)
    # Levels beyond ten standard deviations would be wasted.
    if d > _LEVELS:
        levels = np.concatenate([np.linspace(-4, 12, _LEVELS), np.linspace(12, root, 100)[1:-1]])
    cubes = np.array([weights @ np.maximum(sums - level, 0.0) ** 3 for level in levels])
    gap = np.asarray(x, dtype=np.float64)[:, None] - levels
    logs = np.log(np.maximum(cubes, 1e-300)) - 3 * np.log(np.maximum(gap, 1e-9))
    log_bound = np.where(gap > 1e-9, logs, math.inf).min(axis=1)
    return np.asarray(np.clip(log_bound, -d * LOG_2, 0.0))


def log_ball(d: int, t: Floats, form: Form = "l2") -> Floats:
    r"""Return the log of a bound on G(t), the largest share of patterns whose loss is at most t.

    A pattern :math:`\nu` within distance :math:`t<\sqrt d` of an answer has
    :math:`\langle u,\nu\rangle\ge\sqrt{d-t^2}` in the direction u of the answer. A linear loss of
    at most t needs :math:`\langle u,\nu\rangle\ge\sqrt d-t`. In the form ``"squared"`` t is a
    distance as well, not its square.
    """
    t = np.asarray(t, dtype=np.float64)
    root = math.sqrt(d)
    edge = root - t if form == "linear" else np.sqrt(np.maximum(d - t * t, 0.0))
    return np.where(edge > 0, log_tail(d, edge), 0.0)


def chance(
    information: Floats,
    log_share: Floats,
    kind: Chance = "all orders",
    log_words: float = math.inf,
) -> Floats:
    r"""Return a bound on the chance of an event under zCDP whose chance without data is at most g.

    .. math::
        X=\min\Big\{\text{the largest }x\ge g\text{ with }
        (x-g)\ln\frac{x(1-g)}{g(1-x)}\le\kappa\big(1-\tfrac1N\big),\
        \exp\big(-(\sqrt L-\sqrt\kappa)_+^2\big)\Big\},\quad L=\ln\tfrac1g

    The kind ``"both ways"`` is the first of the two alone, and ``"fano"`` is
    :math:`\min(1,(\kappa+\ln2)/L)`. The arguments are :math:`\kappa`, :math:`\ln g` and
    :math:`\ln N`, of which the first two broadcast against each other. The second bound is proven
    only for data sets that all differ in the same B records, with :math:`\kappa=\rho B^2` and B
    fixed.
    """
    kappa, log_g = np.broadcast_arrays(
        np.asarray(information, dtype=np.float64), np.asarray(log_share, dtype=np.float64)
    )
    length = np.maximum(-log_g, 1e-300)
    if kind == "fano":
        return np.where(log_g < 0, np.minimum(1.0, (kappa + LOG_2) / length), 1.0)
    hit = np.ones(log_g.shape)
    if kind == "all orders":
        gap = np.maximum(0.0, np.sqrt(length) - np.sqrt(kappa))
        hit = np.array(np.exp(-(gap**2)))
    # The divergence in both directions increases with x, so the equation is solved only where its
    # solution is below the other bound.
    allowed, log_below = kappa * -math.expm1(-log_words), np.minimum(log_g, -1e-12)
    is_less = (log_g < 0) & (allowed < _two_sided_divergence(np.minimum(hit, _ALMOST), log_below))
    hit[is_less] = np.minimum(
        hit[is_less], _solve_two_sided_divergence(allowed[is_less], log_below[is_less])
    )
    return np.where(log_g < 0, hit, 1.0)


def _two_sided_divergence(x: Floats, log_g: Floats) -> Floats:
    """Return the binary divergence of x and g, added in both directions, where 1 > x >= g."""
    return np.asarray(
        (x - np.exp(log_g)) * (np.log(x) - np.log1p(-x) - log_g + np.log(-np.expm1(log_g)))
    )


def _solve_two_sided_divergence(kappa: Floats, log_g: Floats) -> Floats:
    r"""Return the x whose binary divergence from g, added in both directions, is :math:`\kappa`.

    With :math:`\Delta` the gap in log-odds between x and g, the divergence is
    :math:`\Delta\,\frac{g(1-g)(e^\Delta-1)}{1+g(e^\Delta-1)}`, whose logarithm is concave, so that
    Newton's method stays below the root. At the end the gap is rounded up, to the safe side.
    """
    aim = np.log(np.maximum(kappa, 1e-290)) - log_g - np.log(-np.expm1(log_g))
    gap = 2 * np.sqrt(np.maximum(kappa, 1e-290))
    for _ in range(20):
        log_odds = gap + np.log(-np.expm1(-gap))
        log_whole = np.logaddexp(0.0, log_g + log_odds)
        growth = log_odds - log_whole + np.log(gap) - aim
        slope = -1 / np.expm1(-gap) - np.exp(log_g + gap - log_whole) + 1 / gap
        step = np.maximum(-growth / slope, -0.5 * gap)
        gap = gap + step
        if float(np.max(np.abs(step) / gap, initial=0.0)) < 1e-9:
            break
    gap = gap * (1 + 1e-8)
    log_odds = gap + np.log(-np.expm1(-gap))
    log_x = log_g + gap - np.logaddexp(0.0, log_g + log_odds)
    return np.asarray(np.minimum(1.0, np.exp(np.maximum(log_x, log_g))))


@lru_cache(maxsize=256)
def _log_shares_of_balls(d: int, form: Form) -> tuple[Floats, Floats]:
    """Return the log share of patterns in a ball, at each step's right end, and the steps' widths.

    The steps are those of the integral over the ball's radius, from 0 to sqrt(d).
    """
    ends = np.linspace(0.0, math.sqrt(d), DISTANCES + 1)
    widths = np.diff(ends**2 if form == "squared" else ends)
    return log_ball(d, ends[1:], form), widths


def remaining(
    information: Floats, d: int, form: Form = "l2", kind: Chance = "all orders"
) -> Floats:
    r"""Return a lower bound on the mean loss at each :math:`\kappa=\rho B^2` of `information`.

    It is :math:`\int_0^\infty(1-X(\kappa,G(t)))\,dt`, and the squared form has :math:`2t\,dt`. X is
    `chance`, and G(t) the largest share of the :math:`2^d` sign patterns in a ball of radius t.
    """
    log_share, widths = _log_shares_of_balls(d, form)
    kappa = np.asarray(information, dtype=np.float64)[..., None]
    return np.asarray((1 - chance(kappa, log_share, kind, d * LOG_2)) @ widths)


@lru_cache(maxsize=512)
def _loss_by_count(d: int, rho: float, form: Form, kind: Chance) -> tuple[float, Floats, int]:
    """Return a table of the loss that remains, by the number of spikes.

    The result is the step of the table, its values, and the last number of spikes at which the loss
    counts. Entry i is the loss at i steps, and a bound below it at all smaller numbers of spikes.
    """
    # By Fano's inequality the bound is 0 beyond this count, and otherwise nearly 0.
    reach = d * LOG_2 if kind == "fano" else 1.5 * d * LOG_2 + 4
    largest_count = math.floor(math.sqrt(reach / rho))
    step = max(1.0, largest_count / _COUNTS)
    counts = np.arange(math.ceil(largest_count / step) + 1, dtype=np.float64) * step
    return step, remaining(rho * counts**2, d, form, kind), largest_count


def fano_distance(
    p: float,
    n: int,
    d: int,
    moment_order: float,
    rho: float,
    form: Form = "l2",
    kind: Chance = "all orders",
) -> float:
    r"""Return Theorem 2's bound at spike probability p, for rho-zCDP algorithms.

    .. math:: p^aE\int_0^\infty\big(1-X(\rho B^2,G(t))\big)dt,\quad B\sim\mathrm{Bin}(n,p)

    It bounds the mean error, its square (with :math:`p^{2a}` and :math:`2t\,dt`), and the excess
    risk of linear losses on the unit ball: theory/bounds-everywhere.md, 4.
    """
    check_point(p, n, d)
    require(rho > 0, "rho", "positive", rho)
    return float(_bound_values(np.array([p]), n, d, moment_order, rho, form, kind, fine=True)[0])


def _bound_values(
    p: Floats,
    n: int,
    d: int,
    moment_order: float,
    rho: float,
    form: Form,
    kind: Chance,
    *,
    fine: bool = False,
) -> Floats:
    """Return the bound of `fano_distance` at each spike probability of `p`."""
    step, table, largest_count = _loss_by_count(d, rho, form, kind)

    def remaining_loss(count: Floats) -> Floats:
        """Return the loss that remains at each number of spikes, from the table."""
        return table[np.minimum(np.ceil(count / step - 1e-9), len(table) - 1).astype(np.intp)]

    scale = max(1.0, 0.1 * math.sqrt(d / rho))
    mean = expectation(remaining_loss, n, p, largest=largest_count, scale=scale, fine=fine)
    return np.asarray(mean_power(p, moment_order, 2 if form == "squared" else 1) * mean)


@lru_cache(maxsize=4096)
def best(
    n: int,
    d: int,
    moment_order: float,
    rho: float,
    largest: float,
    form: Form = "l2",
    kind: Chance = "all orders",
) -> float:
    """Return the spike probability in (0, largest] that maximises `fano_distance`."""
    low, high = search_range(math.sqrt(d / rho), n, largest)
    return maximise(lambda p: _bound_values(p, n, d, moment_order, rho, form, kind), low, high)


def one_distance(p: float, n: int, d: int, moment_order: float, rho: float) -> float:
    r"""Return the bound by a single number k of wrong signs: Duchi and Wainwright's Fano.

    .. math::
        p^a\max_k\sqrt{k+1}\,E\Big[1-\frac{\rho B^2+\ln2}{\ln(2^d/N_k)}\Big]_+,\quad
        N_k=\sum_{i\le k}\binom di

    An estimate with more than k wrong signs is off by at least :math:`p^a\sqrt{k+1}`. Every k is
    valid; in high dimension some are left out.
    """
    check_point(p, n, d)
    require(rho > 0, "rho", "positive", rho)
    return float(_single_distance_values(np.array([p]), n, d, moment_order, rho).max())


def _single_distance_values(p: Floats, n: int, d: int, moment_order: float, rho: float) -> Floats:
    """Return Fano's bound by one number k of wrong signs, at spike probabilities `p`.

    There is a column for every probability and a row for every tried k, and a row of zeros.
    """
    wrong = np.arange(d, dtype=np.float64)
    logs = -np.logaddexp.accumulate(log_pmf(wrong, d, np.full(1, 0.5)))
    rows = [np.zeros(len(p))]
    useful = np.flatnonzero(logs > LOG_2)
    for k in useful[:: 1 + len(useful) // 64]:
        length = float(logs[k])
        largest_count = math.floor(math.sqrt((length - LOG_2) / rho))
        mean = expectation(
            partial(_unexplained_share, rho, length), n, p, largest=largest_count, fine=True
        )
        rows.append(math.sqrt(k + 1) * mean)
    return np.asarray(mean_power(p, moment_order) * np.array(rows))


def _unexplained_share(rho: float, length: float, count: Floats) -> Floats:
    """Return Fano's lower bound on the chance of a wrong word, at each number of spikes.

    `length` is the log of the number of words that the answer has to tell apart.
    """
    return np.maximum(0.0, 1 - (rho * count**2 + LOG_2) / length)


@lru_cache(maxsize=256)
def best_one(n: int, d: int, moment_order: float, rho: float, largest: float) -> float:
    """Return the spike probability in (0, largest] that maximises `one_distance`."""
    low, high = search_range(math.sqrt(d / rho), n, largest)
    return maximise(
        lambda p: _single_distance_values(p, n, d, moment_order, rho).max(axis=0), low, high
    )
