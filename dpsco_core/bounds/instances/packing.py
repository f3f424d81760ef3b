r"""Packing over all sign vectors, by expectiles: it binds every (epsilon, delta)-DP algorithm.

The instance is that of `hypercube`. A bound is the mean, over the number of spikes, of the loss
that remains by `expectiles`, times :math:`q^a` or its square. See theory/sharper-approx-bounds.md,
3.

Every spike probability q, level e and cap gives a valid bound: a coarser grid of any of them, or a
search that stops early, makes the bound smaller and never wrong.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.errors import require
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.instances.binomial import Floats, expectation, maximise
from dpsco_core.bounds.instances.expectiles import (
    CAPS,
    LEVELS,
    distances,
    last_count,
    log_cube,
    omega,
)
from dpsco_core.bounds.instances.groups import (
    Falling,
    falling,
    group_delta,
    log_expm1,
    some_counts,
)
from dpsco_core.bounds.instances.spikes import mean_power

# If at most this many levels may be the best one at some number of spikes, only these are tried.
_FEW_LEVELS = 24


def losses(form: Form, d: int, epsilon: float, delta: float) -> Falling:
    """Return a lower bound on an error as a function of the number of spikes.

    The unit is a coordinate of the spikes' mean or, in the form "squared", its square. Raises
    `InvalidInput` if d, epsilon or delta is outside its range.
    """
    require(d >= 1, "d", "a positive integer", d)
    require(epsilon > 0, "epsilon", "positive", epsilon)
    require(0 <= delta < 1, "delta", "at least 0 and below 1", delta)
    return distances(d, epsilon, delta) if form == "l2" else products(form, d, epsilon, delta)


def average_over_spikes(
    loss: Falling, moment_order: float, power: int, n: int
) -> Callable[[Floats, bool], Floats]:
    """Return the function that maps spike probabilities q to a lower bound in moment units.

    The bound is the mean of `loss` over the number of spikes among n records, times `mean_power`.
    """

    def value(q: Floats, fine: bool) -> Floats:
        """Return the bound at each spike probability of `q`; `fine` is for a final value."""
        scale = max(1.0, 0.05 * loss.last_count)
        mean = expectation(loss, n, q, scale=scale, largest=loss.last_count, fine=fine)
        return np.asarray(mean_power(q, moment_order, power) * mean)

    return value


def packing(
    form: Form, q: float, n: int, d: int, moment_order: float, epsilon: float, delta: float
) -> float:
    """Return a lower bound for (epsilon, delta)-DP algorithms at the spike probability q.

    It bounds the mean l2 error, its square, or the excess risk of linear losses on the unit ball,
    in moment units.

    Examples
    --------
    >>> round(packing("l2", 0.0007, 10_000, 20, 2, 1.0, 1e-6), 6)
    0.093826
    """
    require(n >= 1, "n", "a positive integer", n)
    power = 2 if form == "squared" else 1
    value = average_over_spikes(losses(form, d, epsilon, delta), moment_order, power, n)
    return float(value(np.array([q]), True)[0])


@lru_cache(maxsize=4096)
def best(
    form: Form,
    n: int,
    d: int,
    moment_order: float,
    epsilon: float,
    delta: float,
    largest: float,
) -> float:
    """Return the spike probability in (0, largest] that maximises `packing`.

    The bound holds at every other probability too.
    """
    loss = losses(form, d, epsilon, delta)
    value = average_over_spikes(loss, moment_order, 2 if form == "squared" else 1, n)
    low = min(0.03 / n, largest / 50)
    high = min(largest, 4 * (loss.last_count + 1) / n)
    return maximise(lambda q: value(q, False), min(low, high), high)


# The rest is for squared errors and linear losses, by the scalar product with a sign vector.


@lru_cache(maxsize=256)
def _log_excess_bounds(d: int) -> tuple[Floats, Floats]:
    """Return a grid of levels e, and the log of an upper bound on a mean excess at each of them.

    The excess is that of the scalar product of a unit vector with random signs over e: S3 of
    theory/sharper-approx-bounds.md, 2. It is the least over a grid of gaps, each of which gives an
    upper bound: with fewer gaps `packing` returns a smaller bound.
    """
    if d == 1:
        e = np.linspace(1e-4, 1 - 1e-4, 4000)
        return e, np.log((1 - e) / 2)
    e = math.sqrt(d) * np.geomspace(1e-3, 1 - 1e-4, LEVELS)
    share = np.geomspace(1e-3, 3, 60)
    gaps = np.concatenate([e[:, None] * share, np.broadcast_to(share, (len(e), 60))], axis=1)
    bound = math.log(4 / 27) - 2 * np.log(gaps) + log_cube(e[:, None] - gaps, d)
    return e, np.minimum(bound.min(axis=1), np.log(omega(e)))


@dataclass(frozen=True, eq=False)
class _Levels:
    """The levels e among which P2 and P3 of theory/sharper-approx-bounds.md, 3, take the best."""

    e: Floats  # the levels, in increasing order
    log_excess: Floats  # the log of the bound on the mean excess over each level
    whole: Floats  # the loss that each level leaves at delta = 0, which decreases
    root: float  # the square root of the dimension

    def first_allowed(self, log_growth: Floats) -> NDArray[np.intp]:
        """Return, for each number b of spikes, the index of the first level allowed without a cap.

        `log_growth` holds the log of exp(b epsilon) - 1.
        """
        ratios = np.minimum.accumulate(self.log_excess - np.log(self.e))
        return np.asarray(np.searchsorted(-ratios, log_growth), dtype=np.intp)

    def remaining_loss(self, log_growth: Floats, failure: Floats) -> Floats:
        """Return the largest remaining loss over levels and caps, at each number b of spikes.

        `log_growth` holds the log of exp(b epsilon) - 1, and `failure` the delta of b records.
        Levels whose loss at delta = 0 is below what the first allowed level leaves cannot be the
        best: mostly few others remain.
        """
        start, size = self.first_allowed(log_growth), len(self.e)
        begin = np.minimum(start, size - 1)
        chi = (self.e + self.root) / self.e
        secure = np.where(
            start < size, self.whole[begin] * _success_probability(failure, chi[begin]), 0.0
        )
        width = np.searchsorted(-self.whole, -secure, side="right") - begin
        values = np.zeros(len(start))
        is_narrow = width <= _FEW_LEVELS
        for rows, columns in ((is_narrow, _FEW_LEVELS), (~is_narrow, size)):
            if rows.any():
                places = np.arange(columns)
                if columns < size:
                    places = np.minimum(begin[rows, None] + places, size - 1)
                values[rows] = self._best_over_levels(places, log_growth[rows], failure[rows])
        return values

    def _best_over_levels(
        self, places: NDArray[np.intp], log_growth: Floats, failure: Floats
    ) -> Floats:
        """Return the largest remaining loss over some levels, at each number of spikes.

        `places` are the indices of these levels: shape (k,) if they are common to all numbers of
        spikes, or a row for each. See `remaining_loss` for the others.
        """
        e, whole = self.e[places], self.whole[places]
        growth = np.exp(np.minimum(self.log_excess[places] + log_growth[:, None], 700.0))
        chances, values = failure[:, None], np.zeros(len(failure))
        # The first chi is for a loss without a cap, and the others are for the caps in `CAPS`.
        factors = [((e + self.root) / e, e)]
        factors += [
            ((e + g) / np.maximum(e - w, 1e-300), e - w)
            for g, w in zip(CAPS, omega(CAPS), strict=True)
        ]
        for chi, most_growth in factors:
            left = np.where(growth <= most_growth, whole * _success_probability(chances, chi), 0.0)
            values = np.maximum(values, left.max(axis=1))
        return values


def _success_probability(failure: Floats, chi: Floats) -> Floats:
    """Return the share of a level's loss that remains if privacy fails with chance `failure`.

    `chi` is the factor of that chance in P2 and P3 of theory/sharper-approx-bounds.md, 3.
    """
    return np.asarray(np.maximum(0.0, 1 - np.minimum(failure * chi, 1.0)))


@lru_cache(maxsize=256)
def products(form: Form, d: int, epsilon: float, delta: float) -> Falling:
    """Return the squared error or linear loss that remains, as a function of the number of spikes.

    See P2 and P3 of theory/sharper-approx-bounds.md, 3.

    Examples
    --------
    >>> [round(float(x), 3) for x in products("squared", 20, 1.0, 1e-6).values[[0, 1, 7, 14]]]
    [20.0, 19.771, 13.593, 0.889]
    """
    counts = some_counts(last_count(d, epsilon))
    failure = group_delta(epsilon, delta, counts)
    size = np.count_nonzero(failure < 1)
    counts, failure = counts[:size], failure[:size]
    e, log_excess = _log_excess_bounds(d)
    root = math.sqrt(d)
    whole = d - e * e if form == "squared" else root - e
    levels, log_growth = _Levels(e, log_excess, whole, root), log_expm1(epsilon * counts)
    if delta == 0:
        values = np.append(whole, 0.0)[levels.first_allowed(log_growth)]
    else:
        values = levels.remaining_loss(log_growth, failure)
    values[0] = d if form == "squared" else root
    return falling(counts, values)
