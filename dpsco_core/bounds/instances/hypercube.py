r"""The sign hypercube: the sharper private lower bounds, without a code.

A record is 0 with probability 1 - p and :math:`p^{-1/k}\nu` with probability p, where
:math:`\nu` is uniform on :math:`\{\pm1\}^d`. The mean is :math:`\theta\nu` with
:math:`\theta=p^a,\ a=1-1/k`. Given the number B of spikes, group privacy bounds what the output
knows about :math:`\nu`; no coordinate can then be decoded well. See theory/kamath-liu-zhang.md,
4.5.

Every function returns the bound *at one p*; `best_cdp` and the others return the best p.
"""

import math
from functools import lru_cache

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
from dpsco_core.bounds.instances.spikes import (
    check_point,
    mean_power,
    mean_scale,
    spike_exponent,
)

ROUGH_POINTS = 16  # This many spike probabilities are tried for a rough value of a bound.


def entropy_inverse(deficit: Floats) -> Floats:
    r"""Return :math:`h^{-1}((\ln2-y)_+)\in[0,\frac12]`, y >= 0, h the binary entropy in nats.

    With :math:`q=\frac12(1-\tanh z)` it takes one Newton step in z from a table of 4000 points. The
    relative error is below 1e-9 wherever the value exceeds 1e-12.
    """
    y = np.asarray(deficit, dtype=np.float64)
    table_z, table_root = _entropy_table()
    bounded = np.minimum(y, LOG_2)
    z = np.interp(np.sqrt(bounded), table_root, table_z)
    slope = z / np.cosh(z) ** 2
    step = np.where(slope > 1e-12, _entropy_deficit(z) - bounded, 0.0) / np.maximum(slope, 1e-12)
    z = np.maximum(0.0, z - np.clip(step, -1e-2, 1e-2))
    return np.asarray(np.where(y < LOG_2, 1 / (1 + np.exp(2 * z)), 0.0))


def _entropy_deficit(z: Floats) -> Floats:
    """Return ln 2 minus the binary entropy, in nats, of q = (1 - tanh z)/2, at each z >= 0.

    If z is small the difference is computed by its series, without cancellation.
    """
    u = np.tanh(z)
    square = u * u
    series = square * (1 / 2 + square * (1 / 12 + square * (1 / 30 + square * (1 / 56))))
    q = 1 / (1 + np.exp(2 * z))
    entropy = 2 * z * q + np.log1p(np.exp(-2 * z))
    return np.asarray(np.where(u < 0.02, series, LOG_2 - entropy))


@lru_cache(maxsize=1)
def _entropy_table() -> tuple[Floats, Floats]:
    """Return a grid of z and the square root of `_entropy_deficit` at each z, for interpolation."""
    z = np.linspace(0.0, 20.0, 8001)
    return z, np.sqrt(np.maximum.accumulate(np.clip(_entropy_deficit(z), 0.0, LOG_2)))


def hypercube_cdp(
    p: float,  # the spike probability, in [0, 1]
    n: int,
    d: int,
    moment_order: float,  # the moment order k > 1
    rho: float,  # the budget of zCDP, above 0
    *,
    squared: bool = False,  # whether the squared error is bounded instead
) -> float:
    r"""Return the entropy form of the hypercube bound at p, for rho-zCDP algorithms.

    .. math::
        E\|\hat\mu-\mu\|_2\ge2\sqrt d\,p^a\,E\big[h^{-1}\big((\ln2-\rho B^2/d)_+\big)\big],\quad
        E\|\hat\mu-\mu\|_2^2\ge d\,p^{2a}E[(1-2\rho B^2/d)_+]

    B has the law :math:`\mathrm{Bin}(n,p)`; the bounds are E6 and E7 of theory/kamath-liu-zhang.md,
    4.5 and 4.7. The first also bounds the excess risk of linear losses on the unit ball:
    :math:`\ln2-h(\frac{1+m}2)` is a power series in :math:`m^2` with positive coefficients, so by
    Jensen's inequality the root mean square of the :math:`m_j` is at most the m at which it equals
    :math:`\rho B^2/d`, and :math:`E\langle w,\nu\rangle\le\sqrt d\,m`.
    """
    check_point(p, n, d)
    require(rho > 0, "rho", "positive", rho)
    return float(_zcdp_values(np.array([p]), n, d, moment_order, rho, squared, fine=True)[0])


def _zcdp_values(
    p: Floats,
    n: int,
    d: int,
    moment_order: float,
    rho: float,
    squared: bool,
    *,
    fine: bool = False,
) -> Floats:
    """Return the bound of `hypercube_cdp` at each spike probability of `p`."""
    if squared:

        def unexplained(count: Floats) -> Floats:
            """Return the share of a sign's squared error that is left at each number of spikes."""
            return np.maximum(0.0, 1 - 2 * rho / d * count**2)

        largest = math.floor(math.sqrt(d / (2 * rho)))
        mean = expectation(unexplained, n, p, largest=largest, fine=fine)
        return np.asarray(d * mean_power(p, moment_order, 2) * mean)

    def wrong_signs(count: Floats) -> Floats:
        """Return the least share of wrong signs at each number of spikes."""
        return entropy_inverse(rho / d * count**2)

    largest = math.floor(math.sqrt(d * LOG_2 / rho))
    mean = expectation(wrong_signs, n, p, largest=largest, fine=fine)
    return np.asarray(2 * math.sqrt(d) * mean_power(p, moment_order) * mean)


def hypercube_cdp_closed(p: float, n: int, d: int, moment_order: float, rho: float) -> float:
    r"""Return a closed lower bound on the mean l2 error of rho-zCDP algorithms, at p.

    It is E5 of theory/kamath-liu-zhang.md, 4.5, at spike probability p and in moment units:

    .. math:: E\|\hat\mu-\mu\|_2\ge\sqrt d\,p^a\big(1-np\sqrt{2\rho/d}\big)_+

    At the best p it is at least :math:`0.1767\sqrt d\min(1,(\sqrt d/(\sqrt\rho n))^a)`: the private
    term of Kamath et al. (2022), Lemma 6.3, with an explicit constant.
    """
    check_point(p, n, d)
    factor = max(0.0, 1 - n * p * math.sqrt(2 * rho / d))
    return math.sqrt(d) * mean_scale(p, moment_order) * factor


def wrong_sign_fraction(d: int, exponent: Floats) -> Floats:
    r"""Return :math:`g_d(t)`, the least expected share of wrong signs at each t of `exponent`.

    The signs are d uniform ones, and no two sign vectors differ in likelihood by more than a factor
    :math:`e^t`. P3 of theory/kamath-liu-zhang.md, 4.5, is a minimum over s. It is attained at the
    last s whose breakpoint :math:`e^{t_s}-1=(\frac d2-s)/\sum_{j<s}F_d(j)`, which decreases in s,
    is at least :math:`e^t-1`.
    """
    t = np.asarray(exponent, dtype=np.float64)
    log_cdf, log_cdf_shifted, breakpoints = _sign_table(d)
    positive = np.maximum(t, 1e-300)
    # This is the logarithm of e^t - 1, without overflow.
    log_gain = positive + np.log(-np.expm1(-positive))
    # Breakpoints decrease, so that this is the number of those that are at least `log_gain`.
    index = len(breakpoints) - np.searchsorted(breakpoints[::-1], log_gain, side="left")
    top = np.logaddexp(0.0, log_gain + log_cdf_shifted[index])
    bottom = np.logaddexp(0.0, log_gain + log_cdf[index])
    return np.asarray(np.where(t > 0, 0.5 * np.exp(top - bottom), 0.5))


@lru_cache(maxsize=256)
def _sign_table(d: int) -> tuple[Floats, Floats, Floats]:
    """Return the tables of `wrong_sign_fraction`, all in logarithms, for s = 0 to (d - 1)/2.

    They are the cdf of Bin(d, 1/2) at s, that of Bin(d - 1, 1/2) at s - 1, and the breakpoints for
    s from 1 on.
    """
    s = np.arange((d + 1) // 2, dtype=np.float64)
    half = np.full(1, 0.5)
    log_cdf = np.logaddexp.accumulate(log_pmf(s, d, half))
    log_cdf_shifted = np.full(len(s), -1e300)
    if len(s) > 1:
        log_cdf_shifted[1:] = np.logaddexp.accumulate(log_pmf(s[:-1], d - 1, half))
    sums = np.logaddexp.accumulate(log_cdf)[:-1]
    breakpoints = np.log(d / 2 - s[1:]) - sums
    return log_cdf, log_cdf_shifted, breakpoints


def hypercube_pure(
    p: float, n: int, d: int, moment_order: float, epsilon: float, *, form: Form = "l2"
) -> float:
    r"""Return P3 of theory/kamath-liu-zhang.md, 4.5: the hypercube bound at p, for epsilon-DP
    algorithms.

    .. math::
        2\sqrt d\,p^aE[g_d(\varepsilon B)],\quad2d\,p^{2a}E[g_d(\varepsilon B)],\quad
        \sqrt d\,p^aE\big[1-\sqrt{1-2g_d(\varepsilon B)}\big]

    These bound the mean error, its square (P4), and the excess risk of linear losses on the unit
    ball (P5).
    """
    check_point(p, n, d)
    require(epsilon > 0, "epsilon", "positive", epsilon)
    linear = form == "linear"
    mean = float(
        _mean_share_of_wrong_signs(np.array([p]), n, d, epsilon, fine=True, linear=linear)[0]
    )
    size = mean_scale(p, moment_order)
    if linear:
        return math.sqrt(d) * size * mean
    return (2 * d * size**2 if form == "squared" else 2 * math.sqrt(d) * size) * mean


def _mean_share_of_wrong_signs(
    p: Floats,
    n: int,
    d: int,
    epsilon: float,
    *,
    step: float = 1 / 3,
    fine: bool = False,
    linear: bool = False,
) -> Floats:
    r"""Return the mean share f of wrong signs under epsilon-DP, at every spike probability.

    With `linear` it is the mean of :math:`1-\sqrt{1-2f}`, the share of the linear loss left.
    """

    def fraction(count: Floats) -> Floats:
        """Return the least share of wrong signs, or of the linear loss, at given counts."""
        double_fraction = 2 * wrong_sign_fraction(d, epsilon * count)
        if linear:
            return np.asarray(double_fraction / (1 + np.sqrt(np.maximum(0.0, 1 - double_fraction))))
        return np.asarray(double_fraction / 2)

    # Beyond d ln 2 the fraction falls like exp(-t), so counts with less than 1e-26 are dropped.
    largest = math.floor((d * LOG_2 + 60) / epsilon)
    scale = 0.7 * math.sqrt(d) / epsilon
    return expectation(fraction, n, p, scale=scale, largest=largest, step=step, fine=fine)


@lru_cache(maxsize=4096)
def best_cdp(
    n: int,
    d: int,
    moment_order: float,
    rho: float,
    largest: float,
    squared: bool = False,
) -> float:
    """Return the spike probability in (0, largest] that maximises `hypercube_cdp`."""
    low, high = search_range(math.sqrt(d / rho), n, largest)

    def values(p: Floats) -> Floats:
        """Return the bound at each spike probability of `p`, by a coarse sum."""
        return _zcdp_values(p, n, d, moment_order, rho, squared)

    return maximise(values, low, high)


def rough_cdp(
    n: int, d: int, moment_order: float, rho: float, largest: float, squared: bool
) -> float:
    """Return about the largest `hypercube_cdp`: on a grid, as if B were its mean n p or 0."""
    p = np.geomspace(*search_range(math.sqrt(d / rho), n, largest), ROUGH_POINTS)
    deficit, empty = rho / d * (n * p) ** 2, _probability_of_no_spike(p, n)
    if squared:
        values = d * mean_power(p, moment_order, 2) * np.maximum(1 - 2 * deficit, empty)
    else:
        size = 2 * math.sqrt(d) * mean_power(p, moment_order)
        values = size * np.maximum(entropy_inverse(deficit), empty / 2)
    return float(np.max(values))


def _probability_of_no_spike(p: Floats, n: int) -> Floats:
    """Return the probability that none of n records is a spike.

    With a large budget, most of a bound comes from this case.
    """
    return np.asarray(np.exp(n * np.log1p(-np.minimum(p, 1 - 1e-16))))


def best_cdp_closed(n: int, d: int, moment_order: float, rho: float, largest: float) -> float:
    r"""Return the spike probability in (0, largest] that maximises `hypercube_cdp_closed`.

    .. math:: \min\big(p_{\max},\frac a{(1+a)n}\sqrt{d/(2\rho)}\big),\quad a=1-\tfrac1k
    """
    a = spike_exponent(moment_order)
    return min(largest, a / (1 + a) / n * math.sqrt(d / (2 * rho)))


def rough_pure(
    n: int, d: int, moment_order: float, epsilon: float, largest: float, squared: bool
) -> float:
    """Return about the largest `hypercube_pure`: on a grid, as if B were its mean n p or 0."""
    p = np.geomspace(*search_range(d / epsilon, n, largest), ROUGH_POINTS)
    size = (
        d * mean_power(p, moment_order, 2)
        if squared
        else math.sqrt(d) * mean_power(p, moment_order)
    )
    wrong = np.maximum(wrong_sign_fraction(d, epsilon * n * p), _probability_of_no_spike(p, n) / 2)
    return float(np.max(2 * size * wrong))


@lru_cache(maxsize=4096)
def best_pure(
    n: int,
    d: int,
    moment_order: float,
    epsilon: float,
    largest: float,
    form: Form = "l2",
) -> float:
    """Return the spike probability in (0, largest] that maximises `hypercube_pure`.

    `wrong_sign_fraction` has a kink at every breakpoint. If very many spikes are expected, their
    spread does not blur the kinks, and each is a local maximum: the three highest of about 128
    kinks near the best grid point are refined.
    """
    power = 2 if form == "squared" else 1
    low, high = search_range(d / epsilon, n, largest)
    linear = form == "linear"

    def values(p: Floats, step: float) -> Floats:
        """Return the bound at each spike probability of `p`, for a stride of `expectation`."""
        return mean_power(p, moment_order, power) * _mean_share_of_wrong_signs(
            p, n, d, epsilon, step=step, linear=linear
        )

    best = maximise(
        lambda p: values(p, 1 / 3), low, high, rounds=4, refined=lambda p: values(p, 1 / 16)
    )
    if n * best < d * d / 9:
        return best
    kinks = np.logaddexp(0.0, _sign_table(d)[2]) / (epsilon * n)
    nearby_kinks = kinks[(kinks > best / 1.3) & (kinks < min(high, 1.3 * best))]
    nearby_kinks = nearby_kinks[:: max(1, len(nearby_kinks) // 128)]
    if not len(nearby_kinks):
        return best
    highest = nearby_kinks[np.argsort(values(nearby_kinks, 1 / 12))[-3:]]
    width = 1 + 1 / d
    tried = [best]
    for kink in highest:
        top = min(high, float(kink) * width)
        tried.append(maximise(lambda p: values(p, 1 / 16), float(kink) / width, top, points=17))
    return tried[int(np.argmax(values(np.array(tried), 1 / 16)))]
