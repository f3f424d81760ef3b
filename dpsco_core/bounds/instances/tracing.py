r"""Tracing with an anti-copy: lower bounds that bind every (epsilon, delta)-DP algorithm.

A record is 0 with probability 1 - q and :math:`q^{-1/k}s` with probability q. The signs
:math:`s_j=\pm1` are independent with means :math:`\Theta_j=rT_j`, and every trial draws anew the
:math:`T_j=2\,\mathrm{Beta}(\frac u2,\frac u2)-1`: u is the *shape* of the prior and r its *spread*.
The mean of a record is :math:`q^a\Theta` with a = 1 - 1/k. An accurate output is correlated with
the records that made it, and privacy bounds the correlation of each. See
theory/approx-lower-bounds.md, 1 to 3.

Methods with `at` in their name return a bound at one or more q and u. Those that begin with `best`
return the q and the u at which the bound is largest, over a fixed grid of u and the best q for each
u, so that no bound rises with n, epsilon, delta or k. Every q up to the cap and every u gives a
valid bound: a coarser grid of u, or a q that is not quite the best, makes it smaller, never wrong.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.instances.binomial import Floats
from dpsco_core.bounds.instances.leakage import FULL, Leakage
from dpsco_core.bounds.instances.spikes import spike_exponent
from dpsco_core.data.spike_scale import centring_shrink

# These shapes u are tried; steps of 5 % lose less than 1e-4 of a bound.
SHAPES = np.geomspace(0.1, 4000.0, 218)
# An interval of length 60 in ln x is halved this often, to 1e-3. The chord method then reaches
# 1e-11 where there is no kink. Data have a single shape, for which halving alone reaches 1e-12.
_HALVINGS, _CHORDS = 16, 6
_HALVINGS_ALONE = 46
_NEWTON_STEPS = 12


def largest_tracing_probability(
    d: int, moment_order: float, mean_bound: float, spread: float = FULL
) -> float:
    r"""Return the largest spike probability q at which the tracing prior is in the class.

    The class has moments of at most 1 and means of norm at most R = `mean_bound`. For k >= 2 the
    result is :math:`\min(q_k,(R/(r\sqrt d))^{1/a})` with :math:`q_k=1` for k <= 3 and
    :math:`\frac{2(k-1)}{(k-2)(k+1)}` above: theory/approx-lower-bounds.md, 1.
    """
    require(mean_bound >= 0, "mean_bound", "at least 0", mean_bound)
    k = moment_order
    moments = 1.0 if k <= 3 else 2 * (k - 1) / ((k - 2) * (k + 1))
    longest = spread * math.sqrt(d) * centring_shrink(k)
    if mean_bound >= longest:
        return moments
    return min(moments, math.pow(mean_bound / longest, 1 / spike_exponent(k)))


@lru_cache(maxsize=4096)
def tracing_shape(d: int, moment_order: float) -> float:
    r"""Return the shape u of the prior of the catalogue's data.

    It is the best one for the bound T1 if q has no cap, when T1 is a multiple of
    :math:`G^{(1+a)/2}u^{-(1-a)/2}`. In dimension 1, where T1 is 0, it is the best one for T2, with
    :math:`G=\frac u{1+u}`: u = 2 (k - 1).

    Examples
    --------
    >>> [round(tracing_shape(d, 2.0), 2) for d in (1, 2, 20, 10_000)]
    [2.0, 8.77, 2.37, 2.0]
    """
    a = spike_exponent(moment_order)
    if d == 1:
        return 2 * (moment_order - 1)
    grid = np.geomspace(0.5, 40 * moment_order, 1 + 16 * 64)
    gain = median_gain(grid, d, 1.0)
    is_positive = gain > 0
    logs = np.where(is_positive, np.log(np.where(is_positive, gain, 1.0)), -np.inf)
    return float(grid[int(np.argmax((1 + a) * logs - (1 - a) * np.log(grid)))])


def median_gain(u: Floats, d: int, spread: float) -> Floats:
    """Return the gain G of the bound T1 at each shape u; 0 where T1 proves nothing.

    See (T1) of theory/approx-lower-bounds.md, 3.
    """
    excess = d * u / (1 + u) - 1
    variance = 2 * d * u / ((1 + u) ** 2 * (u + 3))
    factor = np.maximum(0.0, 1 - variance / (2 * np.maximum(excess, 1e-100) ** 2))
    return np.asarray(np.where(excess > 0, spread**2 * excess * factor**2, 0.0))


def _positive_root(u: Floats, x: Floats, gain: Floats) -> Floats:
    r"""Return the positive root of :math:`u\alpha^2+x\alpha=G`, without cancellation."""
    return np.asarray(2 * gain / (x + np.sqrt(x * x + 4 * u * gain) + 1e-300))


def mean_scale(q: float, moment_order: float) -> float:
    """Return the mean of a record over the biases of its signs, at the spike probability q."""
    return math.pow(q, spike_exponent(moment_order)) * centring_shrink(moment_order)


@dataclass(frozen=True, kw_only=True)
class TracingBounds:
    """The lower bounds by tracing of theory/approx-lower-bounds.md, 3, in moment units."""

    n: int  # the number of records
    d: int  # the dimension
    moment_order: float  # the moment order k > 1
    leakage: Leakage  # what the output of a private algorithm may reveal of a record

    def __post_init__(self) -> None:
        """Refuse numbers of records or dimensions below 1."""
        require(self.n >= 1, "n", "a positive integer", self.n)
        require(self.d >= 1, "d", "a positive integer", self.d)

    @property
    def power(self) -> float:
        """The exponent of q in the size of a mean."""
        return spike_exponent(self.moment_order)

    def _mean_size(self, q: Floats) -> Floats:
        """Return the mean of a record over the biases of its signs, at each q."""
        return np.asarray(q**self.power * centring_shrink(self.moment_order))

    def gain(self, u: Floats) -> Floats:
        """Return the gain G of T1 at each shape u, for the spread of the leakage."""
        return median_gain(u, self.d, self.leakage.spread)

    def _second_moment(self, u: Floats) -> Floats:
        r"""Return the second moment :math:`S_2=E\|\Theta\|^2` of the biases."""
        return np.asarray(self.d * self.leakage.spread**2 / (1 + u))

    def l2_at(self, q: Floats, u: Floats) -> Floats:
        """Return T1, a lower bound on the mean l2 error, at each q and u; 0 for d = 1."""
        x = self.n * q * self.leakage.kappa(self.d)
        return np.asarray(self._mean_size(q) * _positive_root(u, x, self.gain(u)))

    def squared_at(self, q: Floats, u: Floats) -> Floats:
        """Return a lower bound on the mean squared error at each q and u.

        It is T2, or the square of T1 if that is larger.
        """
        best = self.l2_at(q, u) ** 2
        for c, slack in self._squared_pairs(u):
            x = self.n * q
            left = np.maximum(0.0, u * self._second_moment(u) - x * slack)
            best = np.maximum(best, (self._mean_size(q) * _positive_root(u, x * c, left)) ** 2)
        return np.asarray(best)

    def _squared_pairs(self, u: Floats) -> tuple[tuple[Floats, float], ...]:
        r"""Return the pairs (c, h) of T2, with every c at least :math:`h/\sqrt{S_2}`.

        The proof needs that, and Lemma A remains true if its c is raised.
        """
        pairs = ((c, 2 * e * self.leakage.spread * self.d) for c, e in self.leakage.pairs)
        return tuple((np.maximum(c, h / np.sqrt(self._second_moment(u))), h) for c, h in pairs)

    def linear_at(self, q: Floats, u: Floats) -> Floats:
        r"""Return T3 at each q and u: a lower bound on an excess risk.

        It is the mean excess risk of :math:`-\langle w,x\rangle` on the unit ball.
        """
        return np.asarray(np.maximum(0.0, np.max(self._linear_forms(q, u), axis=0)))

    def _linear_forms(self, q: Floats, u: Floats) -> Floats:
        """Return the forms of T3, one in each row; a form is negative where it proves nothing."""
        norm, ceiling = self._linear_units(u)
        x = self.n * q
        pairs = self._linear_pairs(u)
        forms = [x * e + x * c / np.hypot(1.0, x * c) for c, e in pairs]
        x = x * self.leakage.kappa(self.d)
        forms.append(x / (u * norm))
        ratio = np.minimum(1.0, _positive_root(u, x, self.gain(u)) / norm)
        forms.append(np.sqrt((1 - ratio) * (1 + ratio)))
        return np.asarray(np.stack([self._mean_size(q) * norm * (ceiling - y) for y in forms]))

    def _linear_units(self, u: Floats) -> tuple[Floats, Floats]:
        r"""Return :math:`S=\sqrt{E\|\Theta\|^2}` and a lower bound on :math:`E\|\Theta\|/S`."""
        return np.sqrt(self._second_moment(u)), 1 - u / (self.d * (u + 3))

    def _linear_pairs(self, u: Floats) -> tuple[tuple[Floats, Floats], ...]:
        r"""Return :math:`x/(nq)` and :math:`\eta/(nq)` of T3, for every pair."""
        scale = u * np.sqrt(self._second_moment(u))
        longest = math.sqrt(self.d) * (1 + np.sqrt(1 + u))
        return tuple((c / scale, e * longest / scale) for c, e in self.leakage.pairs)

    # The next methods find the spike probability q with the largest bound, for each shape u.

    def best_l2(self, largest: float, u: Floats = SHAPES) -> tuple[float, float]:
        r"""Return the q in (0, largest] and the u in `u` at which T1 is largest.

        At a given u the best q is that with :math:`nq\kappa=\sqrt{4uG}\frac a{\sqrt{1-a^2}}`, or
        the cap `largest`.
        """
        a = self.power
        gain = self.gain(u)
        x = np.sqrt(4 * u * gain) * a / math.sqrt((1 - a) * (1 + a))
        q = self._spike_probability_of(x, self.leakage.kappa(self.d), largest)
        return _best_candidate(self.l2_at, (q,), u)

    def best_squared(self, largest: float, u: Floats = SHAPES) -> tuple[float, float]:
        r"""Return the q in (0, largest] and the u at which `squared_at` is largest.

        At a given u and pair (c, h), write :math:`\alpha=\sqrt{S_2}\beta` and
        :math:`h=c\sqrt{S_2}\sigma`. The slope in :math:`x=nqc` is 0 at
        :math:`x=u\sqrt{S_2}\frac{1-\beta^2}{\beta+\sigma}`, for the positive root of
        :math:`(1+a)\beta^3+(1+2a)\sigma\beta^2-(1-a)\beta-\sigma`.
        """
        a, longest = self.power, np.sqrt(self._second_moment(u))
        candidates = []
        for c, h in self._squared_pairs(u):
            slack = h / (c * longest)
            share = _largest_share(a, slack)
            x = u * longest * (1 - share) * (1 + share) / (share + slack)
            candidates.append(self._spike_probability_of(x, c, largest))
        q, shape = self.best_l2(largest, u)
        best = _best_candidate(self.squared_at, tuple(candidates), u)
        value = self.squared_at(np.array([q, best[0]]), np.array([shape, best[1]]))
        return (q, shape) if value[0] > value[1] else best

    def best_linear(self, largest: float, u: Floats = SHAPES) -> tuple[float, float]:
        """Return the q in (0, largest] and the u at which T3 is largest."""
        a = self.power
        norm, ceiling = self._linear_units(u)
        candidates = []
        for c, e in self._linear_pairs(u):
            slack = e / c

            def rises(x: Floats, slack: Floats = slack, ceiling: Floats = ceiling) -> Floats:
                """Return a number with the sign of the linear bound's slope at x."""
                root = np.sqrt(1 + x * x)
                return np.asarray(a * (ceiling - slack * x - x / root) - slack * x - x / root**3)

            # The derivative changes sign once, because beyond x = 1 the last two terms exceed a.
            candidates.append(
                self._spike_probability_of(_change_of_sign(rises, np.ones_like(u)), c, largest)
            )
        kappa = self.leakage.kappa(self.d)
        candidates.append(
            self._spike_probability_of(a / (1 + a) * ceiling, kappa / (u * norm), largest)
        )
        gain = self.gain(u)

        def rises_by_distance(x: Floats) -> Floats:
            """Return a number with the sign of the slope at x of the linear bound by distance."""
            alpha = _positive_root(u, x, gain)
            ratio = np.minimum(1 - 1e-15, alpha / norm)
            left = np.sqrt((1 - ratio) * (1 + ratio))
            return np.asarray(
                a * (ceiling - left) - ratio**2 / left * x / (2 * u * alpha + x + 1e-300)
            )

        top = 4 * np.sqrt(u * gain + 1e-300)
        candidates.append(
            self._spike_probability_of(_change_of_sign(rises_by_distance, top), kappa, largest)
        )
        return _best_candidate(self.linear_at, tuple(candidates), u)

    def best(self, form: Form, largest: float, u: Floats = SHAPES) -> tuple[float, float]:
        """Return the q in (0, largest] and the u at which the bound of a form is largest.

        In dimension 1, where T1 is 0, the form "l2" takes those of the squared error.
        """
        match form:
            case "l2" if self.d > 1:
                return self.best_l2(largest, u)
            case "linear":
                return self.best_linear(largest, u)
        return self.best_squared(largest, u)

    def value_at(self, form: Form, q: float, u: float) -> float:
        """Return the lower bound of a form at a spike probability q and a shape u."""
        points = np.array([q]), np.array([u])
        match form:
            case "l2":
                return float(self.l2_at(*points)[0])
            case "squared":
                return float(self.squared_at(*points)[0])
        return float(self.linear_at(*points)[0])

    def _spike_probability_of(self, x: Floats, per_spike: Floats | float, largest: float) -> Floats:
        """Return the q with x = n q c, where c is `per_spike`, limited to `largest`."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            q = np.where(x > 0, x / (self.n * np.asarray(per_spike)), largest)
        return np.clip(q, min(1e-300, largest), largest)


def _largest_share(a: float, slack: Floats) -> Floats:
    """Return the positive root of the cubic polynomial of `TracingBounds.best_squared`.

    The coefficients change sign once, so that there is one such root. The polynomial is convex
    there, so that Newton's method falls to the root from a point above it.
    """
    root = np.full_like(slack, 1 / math.sqrt(1 + 2 * a))
    for _ in range(_NEWTON_STEPS):
        value = ((1 + a) * root + (1 + 2 * a) * slack) * root**2 - (1 - a) * root - slack
        slope = (3 * (1 + a) * root + 2 * (1 + 2 * a) * slack) * root - (1 - a)
        root = root - value / slope
    return root


def _change_of_sign(rises: Callable[[Floats], Floats], top: Floats) -> Floats:
    """Return, for each shape, the x below `top` at which `rises` changes from + to -."""
    high = np.log(np.maximum(top, 1e-290))
    low = high - 60
    at_low, at_high = rises(np.exp(low)), rises(np.exp(high))
    was_rising = at_low > 0
    halvings, chords = (_HALVINGS_ALONE, 0) if low.size == 1 else (_HALVINGS, _CHORDS)
    for chord in range(-halvings, chords):
        share = np.full_like(low, 0.5)
        if chord >= 0:
            np.divide(at_low, at_low - at_high, out=share, where=(at_low > 0) & (at_high < 0))
        middle = low + share * (high - low)
        value = rises(np.exp(middle))
        is_rising = value > 0
        # By the Illinois rule the value at an end that stays is halved, so that no end stays for
        # long.
        weight = np.where(is_rising == was_rising, 0.5, 1.0) if chord > 0 else 1.0
        low, high = np.where(is_rising, middle, low), np.where(is_rising, high, middle)
        at_low = np.where(is_rising, value, at_low * weight)
        at_high = np.where(is_rising, at_high * weight, value)
        was_rising = is_rising
    return np.asarray(np.exp(middle if chords else (low + high) / 2))


def _best_candidate(
    bound_at: Callable[[Floats, Floats], Floats], candidates: tuple[Floats, ...], u: Floats
) -> tuple[float, float]:
    """Return the q and the u at which a bound is largest, among several tried q for each u."""
    q = np.stack(candidates)
    values = bound_at(q, np.broadcast_to(u, q.shape))
    best = int(np.argmax(values))
    return float(q.flat[best]), float(u[best % len(u)])


def hardest_tracing(
    form: Form,  # what is bounded: the l2 error, its square, or a linear risk
    n: int,
    d: int,
    moment_order: float,
    leakage: Leakage,  # the leakage at the spread of the data, `CONCENTRATED`
    # R bounds the norm of the mean and may be infinite; the probability is 0 only if R is 0.
    mean_bound: float,
) -> tuple[float, float]:
    """Return the spike probability and the shape of the tracing data that are hardest.

    The shape is `tracing_shape`, and the probability the one with the largest bound at that shape.
    """
    shape = tracing_shape(d, moment_order)
    largest = largest_tracing_probability(d, moment_order, mean_bound, leakage.spread)
    if largest == 0:
        return 0.0, shape
    bounds = TracingBounds(n=n, d=d, moment_order=moment_order, leakage=leakage)
    return bounds.best(form, largest, np.array([shape]))[0], shape


def tracing_l2(q: float, n: int, d: int, moment_order: float, leakage: Leakage) -> float:
    """Return T1, a lower bound on the mean l2 error, at q and the best shape of the prior."""
    bounds = TracingBounds(n=n, d=d, moment_order=moment_order, leakage=leakage)
    return float(np.max(bounds.l2_at(np.full(len(SHAPES), q), SHAPES)))


def best_tracing(n: int, d: int, moment_order: float, leakage: Leakage, largest: float) -> float:
    """Return the spike probability in (0, largest] that maximises `tracing_l2`."""
    bounds = TracingBounds(n=n, d=d, moment_order=moment_order, leakage=leakage)
    return bounds.best("l2", largest)[0]
