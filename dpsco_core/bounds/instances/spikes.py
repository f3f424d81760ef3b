r"""The spike packing: the hard instances behind the private terms of Kamath et al. (2022).

A record is 0 with probability 1 - p and the spike :math:`p^{-1/k}\nu` with probability p, where
:math:`\nu\in\{0,1\}^d` has weight :math:`w=\lfloor d/2\rfloor`. Central k-th moments are at most 1,
the mean is :math:`p^a\nu` with :math:`a=1-1/k`, and two laws differ in total variation by p. The
words :math:`\nu` form a code; permuting its coordinates shows that every bound here also holds for
:math:`\nu` uniform over all words of weight w, the prior to simulate (Lemma 6.3;
theory/kamath-liu-zhang.md, 4.3 and 4.4).

Every function returns the bound *at one p*; `best_cdp` and the others return the best p.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import expit, gammaln

from dpsco_core.base.errors import require
from dpsco_core.base.root import find_root
from dpsco_core.bounds.conditions import check_sizes
from dpsco_core.bounds.instances.binomial import Floats, expectation, maximise, search_range
from dpsco_core.bounds.instances.fano import LOG_2, fano_cdp, fano_pure, mean_squared_count
from dpsco_core.data.spike_scale import spike_shrink


def spike_exponent(moment_order: float) -> float:
    """Return a = 1 - 1/k, the power of the spike probability in a spike's mean and private rates.

    The moment order k may be infinite: the power is then 1, and spikes have size 1 at every
    probability.
    """
    require(moment_order > 1, "moment_order", "above 1", moment_order)
    return 1 - 1 / moment_order


def mean_power(p: Floats, moment_order: float, power: int = 1) -> Floats:
    r"""Return a power of :math:`\theta=p^a\max\{1,m(p)\}^{-1/k}`, at each spike probability p.

    Theta is the size of a coordinate of the spikes' mean in moment units. If the moment order k is
    below 2, spikes are shrunk so that their k-th moment m(p) is at most 1.
    """
    value = np.asarray(p ** (power * spike_exponent(moment_order)))
    if moment_order >= 2:
        return value
    return np.asarray(value * spike_shrink(p, moment_order) ** power)


def check_point(p: float, n: int, d: int) -> None:
    """Raise `InvalidInput` unless p is a probability, and n and d are at least 1."""
    require(0 <= p <= 1, "p", "between 0 and 1", p)
    check_sizes(n, d)


def mean_scale(p: float, moment_order: float, power: int = 1) -> float:
    r"""Return `mean_power` at a single spike probability p, as a float."""
    value = math.pow(p, power * spike_exponent(moment_order))
    if moment_order >= 2:
        return value
    return value * float(spike_shrink(np.array(p), moment_order)) ** power


def largest_probability(weight: int, moment_order: float, mean_bound: float) -> float:
    r"""Return the largest spike probability p at which the spikes' mean has norm at most R.

    R is `mean_bound`, at least 0 and possibly infinite. The result is
    :math:`\min(1,(R/\sqrt w)^{1/a})` for words of weight w. For k < 2 spikes are shrunk, and the
    mean grows with p as :math:`\max\{p^{1-k},(1-p)[1+(\frac{1-p}p)^{k-1}]\}` falls: the larger of
    the two p at which one of these terms meets R is the result.
    """
    require(mean_bound >= 0, "mean_bound", "at least 0", mean_bound)
    if mean_bound**2 >= weight:
        return 1.0
    size = mean_bound / math.sqrt(weight)
    plain = math.pow(size, 1 / spike_exponent(moment_order))
    if moment_order >= 2 or plain == 0:
        return plain
    return max(plain, _largest_shrunk(size, moment_order))


def _largest_shrunk(size: float, moment_order: float) -> float:
    """Return the spike probability at which shrunk spikes have a mean of this size per coordinate.

    It is 0 if there is none; the moment order is below 2.
    """
    target = -moment_order * math.log(size)

    def excess(log_p: float) -> float:
        """Return the log of the mean's size to the power -k at a p, less the wanted one."""
        log_complement = math.log(-math.expm1(log_p))
        return (
            log_complement
            + float(np.logaddexp(0.0, (moment_order - 1) * (log_complement - log_p)))
            - target
        )

    low, high = -700.0 * moment_order, -1e-12
    if excess(low) <= 0:
        return 0.0
    return math.exp(float(find_root(excess, low, high, xtol=1e-14)))


def paper_packing(d: int) -> tuple[float, float]:
    """Return the log size of the paper's code of :math:`2^{d/8}` words, and its distance d/8."""
    return d / 8 * LOG_2, d / 8


@lru_cache(maxsize=64)
def gilbert_log_sizes(d: int) -> Floats:
    r"""Return the logs of the code sizes that Gilbert's argument proves, by their distance.

    The words have d entries and weight :math:`w=\lfloor d/2\rfloor`. Entry j is for the Hamming
    distance :math:`\delta=2(j+1)`; it is 0 where a single word is all that is proven.

    .. math:: |V|\ge\binom dw\Big/\sum_{i=0}^{\lceil\delta/2\rceil-1}\binom wi\binom{d-w}i

    See theory/kamath-liu-zhang.md, 4.3.
    """
    w = d // 2
    i = np.arange(w + 1, dtype=np.float64)
    log_balls = np.logaddexp.accumulate(_log_choose(w, i) + _log_choose(d - w, i))
    sizes = np.maximum(0.0, _log_choose(d, np.array([float(w)])) - log_balls)
    sizes.flags.writeable = False
    return np.asarray(sizes)


def _log_choose(n: int, i: Floats) -> Floats:
    """Return the logarithms of the binomial coefficients "n choose i", for every i."""
    return np.asarray(gammaln(n + 1.0) - gammaln(i + 1) - gammaln(n - i + 1))


def spike_fano_cdp(
    p: float,  # the spike probability, in [0, 1]
    n: int,
    d: int,
    moment_order: float,  # the moment order k > 1
    rho: float,  # the budget of zCDP, above 0
    *,
    # The packing has this log size and distance; None is the paper's :math:`(2^{d/8},d/8)`.
    packing: tuple[float, float] | None = None,
    squared: bool = False,  # whether the squared error is bounded instead
) -> float:
    r"""Return Fano's bound on the spike packing at p, for rho-zCDP algorithms.

    .. math::
        \frac{p^a\sqrt\delta}2\Big[1-\frac{\rho(n^2p^2+np(1-p))+\ln2}{\ln N}\Big]_+

    Form (F) of theory/kamath-liu-zhang.md, 4.4; Theorem 1.4 with Lemma 6.3.
    """
    check_point(p, n, d)
    log_size, distance = paper_packing(d) if packing is None else packing
    if d < 2:
        return 0.0
    separation = mean_scale(p, moment_order) * math.sqrt(distance)
    return fano_cdp(log_size, separation, p, math.inf, n, rho, squared=squared)


def spike_fano_cdp_gilbert(p: float, n: int, d: int, moment_order: float, rho: float) -> float:
    """Return `spike_fano_cdp` with exact Gilbert sizes, at the best distance for this p."""
    check_point(p, n, d)
    log_sizes, distances = _useful_codes(d)
    if not len(log_sizes):
        return 0.0
    information = rho * mean_squared_count(n, p)
    errors = np.maximum(0.0, 1 - (information + LOG_2) / log_sizes)
    best = float(np.max(np.sqrt(distances) * errors))
    return mean_scale(p, moment_order) / 2 * best


def _useful_codes(d: int) -> tuple[Floats, Floats]:
    """Return the log sizes of Gilbert's codes of more than two words, and their distances."""
    sizes = gilbert_log_sizes(d)
    useful = sizes[sizes > LOG_2 * (1 + 1e-12)]
    return useful, np.arange(2.0, 2 * len(useful) + 1, 2.0)


def spike_closed_form_cdp(n: int, d: int, moment_order: float, rho: float) -> float:
    r"""Return Fano's bound on the paper's packing in closed form: :math:`\frac14p_0^a\sqrt{d/8}`.

    :math:`p_0=\min(1,(\sqrt{1+4K/\rho}-1)/(2n))` with :math:`K=\frac d{16}\ln2-\ln2`; 0 for
    d <= 16. See theory/kamath-liu-zhang.md, 4.4, item 5.
    """
    slack = d / 16 * LOG_2 - LOG_2
    if slack <= 0:
        return 0.0
    p = min(1.0, 2 * slack / rho / (n * (math.sqrt(1 + 4 * slack / rho) + 1)))
    return mean_scale(p, moment_order) / 4 * math.sqrt(d / 8)


def spike_conditioned_cdp(p: float, n: int, d: int, moment_order: float, rho: float) -> float:
    r"""Return Fano's bound on the paper's packing, conditioned on the number of spikes.

    .. math::
        \frac{p^a\sqrt{d/8}}2\,E\Big[\Big(1-\frac{\rho B^2+\ln2}{\ln N}\Big)_+\Big],\
        B\sim\mathrm{Bin}(n,p)

    By convexity it is never below `spike_fano_cdp`. See theory/kamath-liu-zhang.md, 4.4, item 8.
    """
    check_point(p, n, d)
    log_size, distance = paper_packing(d)
    if log_size <= LOG_2:
        return 0.0
    mean = expectation(
        lambda count: np.maximum(0.0, 1 - (rho * count**2 + LOG_2) / log_size),
        n,
        np.array([p]),
        largest=math.sqrt(log_size / rho),
        fine=True,
    )
    return mean_scale(p, moment_order) * math.sqrt(distance) / 2 * float(mean[0])


def spike_pure(
    p: float, n: int, d: int, moment_order: float, epsilon: float, *, squared: bool = False
) -> float:
    r"""Return the bound on the spike packing for epsilon-DP algorithms, conditioned on the count.

    .. math::
        \frac{p^a\sqrt{d/8}}2\,E\Big[\frac{N-1}{N-1+e^{\varepsilon B}}\Big],\
        B\sim\mathrm{Bin}(n,p),\ N=2^{d/8}

    Form P1 of theory/kamath-liu-zhang.md, 4.4, item 7; 0 for d < 8, where N < 2.
    `squared` bounds the squared error, with :math:`r^2/4` for :math:`r/2`.
    """
    check_point(p, n, d)
    if d < 8:
        return 0.0
    power = 2 if squared else 1
    return float(_pure_values(np.array([p]), n, d, moment_order, epsilon, power, fine=True)[0])


def _pure_values(
    p: Floats, n: int, d: int, order: float, epsilon: float, power: int, *, fine: bool = False
) -> Floats:
    """Return the bound of `spike_pure`, to a power, at each spike probability of `p`."""
    log_size, distance = paper_packing(d)
    log_rest = log_size + math.log(-math.expm1(-log_size))
    mean = expectation(
        lambda count: np.asarray(expit(log_rest - epsilon * count)),
        n,
        p,
        scale=0.7 / epsilon,
        # Less than 1e-26 of the bound remains beyond this count.
        largest=math.floor((log_rest + 60) / epsilon),
        fine=fine,
    )
    half = mean_power(p, order) * math.sqrt(distance) / 2
    return np.asarray(half**power * mean)


def spike_markov_pure(
    p: float, n: int, d: int, moment_order: float, epsilon: float, *, t: float | None = None
) -> float:
    r"""Return the Markov form of the epsilon-DP bound on the paper's packing at p.

    `fano_pure` with separation :math:`p^a\sqrt{d/8}` and distance n p: form P2 of
    theory/kamath-liu-zhang.md, 4.4, item 7.
    """
    check_point(p, n, d)
    log_size, distance = paper_packing(d)
    separation = mean_scale(p, moment_order) * math.sqrt(distance)
    return fano_pure(log_size, separation, n * p, epsilon, t=t)


def convex_factor(d: int) -> float:
    r"""Return the factor from the packing's l2 bounds to bounds for linear losses.

    On the unit ball the risk of :math:`-\langle w,x\rangle` exceeds its minimum by
    :math:`\|\mu\|-\langle w,\mu\rangle\ge\frac12\|\mu\|\|w-\mu/\|\mu\|\|^2`, and the
    normalised means are :math:`\sqrt{\delta/w}` apart, so the excess risk is at least
    :math:`\|\mu\|\frac\delta{8w}p_e`, that is :math:`\frac14\sqrt{\delta/w}` times
    :math:`\frac{p^a\sqrt\delta}2p_e`: for even d an eighth. See theory/kamath-liu-zhang.md, 4.4,
    item 6.
    """
    if d < 2:
        return 0.0
    return math.sqrt(paper_packing(d)[1] / (d // 2)) / 4


@lru_cache(maxsize=4096)
def best_cdp(
    n: int, d: int, moment_order: float, rho: float, largest: float, squared: bool = False
) -> float:
    """Return the spike probability in (0, largest] that maximises `spike_fano_cdp`."""
    log_size, _ = paper_packing(d)
    power = spike_exponent(moment_order) * (2 if squared else 1)
    root = _fano_stationary(np.array([log_size - LOG_2]), n, power, rho)
    return min(largest, float(root[0])) if log_size > LOG_2 else min(largest, 1 / n)


@lru_cache(maxsize=4096)
def best_cdp_gilbert(n: int, d: int, moment_order: float, rho: float, largest: float) -> float:
    """Return the spike probability in (0, largest] that maximises `spike_fano_cdp_gilbert`."""
    log_sizes, distances = _useful_codes(d)
    if not len(log_sizes):
        return min(largest, 1 / n)
    a = spike_exponent(moment_order)
    p = np.minimum(largest, _fano_stationary(log_sizes - LOG_2, n, a, rho))
    information = rho * ((n * p) ** 2 + n * p * (1 - p))
    values = p**a * np.sqrt(distances) * (1 - (information + LOG_2) / log_sizes)
    return float(p[int(np.argmax(values))])


def _fano_stationary(slack: Floats, n: int, power: float, rho: float) -> Floats:
    r"""Return the p > 0 at which :math:`p^b[s-\rho(n^2p^2+np(1-p))]` is largest.

    Fano's bound is proportional to that, with `slack` s, the log size of the code less ln 2, and
    `power` b; there is a p for each s.
    """
    quadratic = (power + 2) * rho * n * (n - 1.0)
    linear = (power + 1) * rho * n
    constant = power * np.maximum(slack, 0.0)
    return np.asarray(2 * constant / (linear + np.sqrt(linear**2 + 4 * quadratic * constant)))


@lru_cache(maxsize=4096)
def best_pure(
    n: int, d: int, moment_order: float, epsilon: float, largest: float, squared: bool = False
) -> float:
    """Return the spike probability in (0, largest] that maximises `spike_pure`."""
    if d < 8:
        return min(largest, 1 / n)
    low, high = search_range(paper_packing(d)[0] / epsilon, n, largest)
    power = 2 if squared else 1
    return maximise(
        lambda p: _pure_values(p, n, d, moment_order, epsilon, power), low, high, points=33
    )


@lru_cache(maxsize=4096)
def best_markov_pure(n: int, d: int, moment_order: float, epsilon: float, largest: float) -> float:
    r"""Return the spike probability in (0, largest] that maximises `spike_markov_pure`.

    With :math:`x=t\varepsilon np` the bound is a product of :math:`(1-\frac1t)t^{-a}` and
    :math:`x^a\,\mathrm{expit}(\ln(N-1)-x)`: the first factor is largest at t = (1+a)/a, the second
    where x expit(x - ln(N-1)) = a. The product is log-concave, so that the best p is `largest` if
    the maximiser is above that.
    """
    log_size, _ = paper_packing(d)
    if log_size < LOG_2 - 1e-12:
        return min(largest, 1 / n)
    log_rest = log_size + math.log(-math.expm1(-log_size))
    a = spike_exponent(moment_order)
    high = max(2.0, log_rest) + 1
    x = float(find_root(lambda x: x * float(expit(x - log_rest)) - a, 0.0, high, xtol=1e-12))
    return min(largest, x * a / (1 + a) / (epsilon * n))
