r"""A private Assouad argument on the sign hypercube: it binds every (epsilon, delta)-DP algorithm.

After Acharya, Sun and Zhang (2021), with the exact binomial law of the number of spikes and the
exact curve of group privacy. The instance is that of `hypercube`: flipping one sign changes the B
spiked records, so that a test of that sign has to tell apart two data sets that differ in B
records. Output laws of neighbours obey :math:`P(S)\le g(P'(S))`, those of two data sets that differ
in B records :math:`P(S)\le g^{\circ B}(P'(S))`. See theory/sharper-approx-bounds.md, 4.

Every spike probability q gives a valid bound, so that a search which stops early makes the bound
smaller and never wrong. Lines of the group curve and terms below 1e-12 are omitted, which makes the
bound smaller as well.
"""

import math
from functools import lru_cache

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.instances.binomial import Floats, expectation, maximise, search_range
from dpsco_core.bounds.instances.groups import Falling, falling, group_delta, some_counts
from dpsco_core.bounds.instances.spikes import mean_power, mean_scale

# If epsilon is smaller than this, several records are treated as one record at a larger epsilon.
_FINEST = 0.004


def overlap(count: Floats, epsilon: float, delta: float) -> Floats:
    r"""Return :math:`o_b`, the least mass that two output laws share if b records differ.

    `count` holds the numbers b of records in which the data sets differ.

    Examples
    --------
    >>> overlap(np.array([0.0, 1.0, 2.0]), 1.0, 0.0).round(6).tolist()
    [1.0, 0.537883, 0.367879]
    """
    failure = delta / math.expm1(epsilon)
    half = np.exp(-count * epsilon / 2)
    even = half - 2 * failure * (1 - half)
    small = np.exp(-np.maximum(count - 1, 0) * epsilon / 2)
    odd = 2 / (1 + math.exp(epsilon)) * (small - failure * (math.exp(epsilon) + 1 - 2 * small))
    return np.asarray(np.maximum(0.0, np.where(count % 2 == 0, even, odd)))


def harmonic(count: int, epsilon: float, delta: float) -> float:
    r"""Return :math:`\tau_b=\sum_i\frac{2p_iq_i}{p_i+q_i}`, the squared error left for one sign.

    It is the least share of the squared error if the data of both signs differ in b = `count`
    records. The sum is over the straight pieces of the curve of group privacy, which is the least
    of 1 and of lines of slope :math:`e^{(b-2j)\varepsilon}`; piece i has length q and rise p.

    Examples
    --------
    >>> [round(harmonic(b, 1.0, 0.0), 6) for b in (0, 1, 2, 5)]
    [1.0, 0.786448, 0.518581, 0.119101]
    """
    if count == 0:
        return 1.0
    j = np.arange(count + 1.0)
    small = np.exp(-j * epsilon)
    failures = group_delta(epsilon, delta, count - j)
    heights = 1 - small * (1 - failures) + delta * (1 - small) / math.expm1(epsilon)
    logs = (count - 2 * j) * epsilon
    # The lines before the one that is lowest at 0 lie above it everywhere, so they are omitted.
    # Lines with a slope that overflows are omitted too, since omitting a line is always safe.
    start = max(int(np.argmax(-heights)), int(np.argmax(logs <= 690)))
    slopes = np.exp(np.minimum(logs, 690.0))
    heights, slopes = heights[start:], slopes[start:]
    if heights[0] >= 1:
        return 0.0
    cuts = (heights[1:] - heights[:-1]) / (slopes[:-1] - slopes[1:])
    reached = heights[:-1] + slopes[:-1] * cuts
    ends = np.append((reached >= 1) | np.append(False, np.diff(cuts) <= 0), True)
    final = int(np.argmax(ends))
    x = np.append(np.append(0.0, cuts[:final]), min(1.0, (1 - heights[final]) / slopes[final]))
    y = np.append(np.append(heights[0], reached[:final]), 1.0)
    q, p = np.diff(x), np.diff(y)
    total = p + q
    return float(np.sum(np.where(total > 0, 2 * p * q / np.where(total > 0, total, 1.0), 0.0)))


@lru_cache(maxsize=256)
def _tabulate_tau(epsilon: float, delta: float) -> Falling:
    """Return `harmonic` as a function of the number of spikes, 0 beyond 60/epsilon spikes.

    There it is below 1e-12. If epsilon is small, groups of records are treated as single records
    with the epsilon and delta of a group.
    """
    group_size = max(1, math.floor(_FINEST / epsilon))
    delta = float(group_delta(epsilon, delta, np.array(float(group_size))))
    epsilon = group_size * epsilon
    counts = some_counts(60 / epsilon + 1)
    values = np.zeros(len(counts))
    for i, count in enumerate(counts):
        values[i] = harmonic(int(count), epsilon, delta) if delta < 1 else float(count == 0)
        if values[i] < 1e-12:
            break
    return falling(group_size * counts, values)


def squared_overlap(count: Floats, epsilon: float, delta: float) -> Floats:
    r"""Return :math:`\tau_b`, the least share of a sign's squared error, at b = `count` spikes."""
    return _tabulate_tau(epsilon, delta)(count)


def share_left(form: Form, count: Floats, epsilon: float, delta: float) -> Floats:
    r"""Return the least share of a sign's error that privacy leaves, at b = `count` spikes.

    l2: :math:`o_b`; squared: :math:`\tau_b`; linear: :math:`1-\sqrt{1-\tau_b}`.
    """
    if form == "l2":
        return overlap(count, epsilon, delta)
    tau = _tabulate_tau(epsilon, delta)(count)
    return tau if form == "squared" else tau / (1 + np.sqrt(np.maximum(0.0, 1 - tau)))


def _mean_share_left(
    form: Form, q: Floats, n: int, epsilon: float, delta: float, fine: bool
) -> Floats:
    """Return the mean of `share_left` over the random number of spikes, at every probability q.

    `fine` is for a final value: it sums over more numbers of spikes than a search does.
    """
    require(n >= 1, "n", "a positive integer", n)
    require(epsilon > 0, "epsilon", "positive", epsilon)
    require(0 <= delta < 1, "delta", "at least 0 and below 1", delta)
    # At larger epsilon a single spike leaves less than 1e-130 of the bound.
    epsilon = min(epsilon, 600.0)
    # Terms beyond 60/epsilon are below 1e-12 and may be dropped.
    return expectation(
        lambda count: share_left(form, count, epsilon, delta),
        n,
        q,
        scale=0.7 * hidden_spikes(epsilon, delta),
        largest=math.floor(min(60 / epsilon, 1e300)),
        fine=fine,
    )


def hidden_spikes(epsilon: float, delta: float) -> float:
    r"""Return the number b of spikes up to which privacy hides a sign.

    It is the number at which :math:`\varepsilon b/2` or the delta of a group of b records is 1.
    """
    if delta == 0:
        return 2 / epsilon
    log_ratio = math.log(-math.expm1(-epsilon)) + epsilon - math.log(delta)
    return min(2.0, float(np.logaddexp(0.0, log_ratio))) / epsilon


def assouad(
    form: Form, q: float, n: int, d: int, moment_order: float, epsilon: float, delta: float
) -> float:
    r"""Return a lower bound for (epsilon, delta)-DP algorithms at the spike probability q.

    It bounds the mean l2 error, its square, or the excess risk of linear losses on the unit ball,
    in moment units: the mean of `share_left` times :math:`\sqrt d\,q^a`, or times the square of
    that if the form is squared. If the moment order is below 2, spikes are shrunk: see
    `mean_scale`.

    Examples
    --------
    >>> round(assouad("l2", 0.0007, 10_000, 20, 2, 1.0, 1e-6), 7)
    0.0071027
    """
    mean = float(_mean_share_left(form, np.array([q]), n, epsilon, delta, True)[0])
    if form == "squared":
        return d * mean_scale(q, moment_order, 2) * mean
    return math.sqrt(d) * mean_scale(q, moment_order) * mean


@lru_cache(maxsize=4096)
def best(
    form: Form, n: int, moment_order: float, epsilon: float, delta: float, largest: float
) -> float:
    """Return the spike probability in (0, largest] that maximises `assouad`, for every dimension.

    The bound holds at every other probability too.
    """
    power = 2 if form == "squared" else 1
    low, high = search_range(hidden_spikes(epsilon, delta), n, largest)
    return maximise(
        lambda q: (
            mean_power(q, moment_order, power) * _mean_share_left(form, q, n, epsilon, delta, False)
        ),
        low,
        high,
    )
