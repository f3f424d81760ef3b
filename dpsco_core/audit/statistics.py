r"""The statistics of an empirical audit: a certified lower bound on epsilon from runs.

A mechanism is run many times on two neighbours. Every event E must keep
:math:`P[M(X) \in E] \le e^\varepsilon P[M(X') \in E] + \delta`, so that any event whose two
probabilities are known to be far apart refutes a claim. One half of the runs chooses an event, the
other half bounds its two probabilities by Clopper and Pearson's exact intervals: the bound on
epsilon is exceeded by the truth but for a stated probability, whatever was chosen and however.
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require

Counts = NDArray[np.intp]

LEAST_RUNS = 40  # in all: ten a neighbour and a half
CUTS = 256  # thresholds that are tried
RIDGE = 1e-9  # a share of the scatter, for features that repeat each other


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What some runs prove about epsilon."""

    runs: int  # on both neighbours together, both halves
    epsilon_lower_bound: float  # at least 0; 0 where the runs prove nothing
    delta: float  # at which delta
    confidence: float  # the probability, at least, that the true epsilon is not below the bound
    threshold: float  # a value of the statistic; the event is to be above it, or not
    above: bool  # whether the event is above the threshold
    # how often the event happened on the likelier neighbour and on the other
    hits: int
    false_hits: int
    tested: int  # out of how many runs each
    against: str = ""  # where the record is on the second of the two neighbours


def proportion_low(hits: Counts | int, runs: int, level: float) -> Vector:
    """Lower confidence limit of a probability: it errs with probability at most `level`.

    Clopper and Pearson (1934), one side.

    Examples
    --------
    >>> round(float(proportion_low(10, 10, 0.05)), 6)  # 0.05 ** (1 / 10)
    0.741134
    """
    k = np.asarray(hits, dtype=float)
    limits: Vector = np.where(
        k > 0, scipy.special.betaincinv(np.maximum(k, 1), runs - k + 1, level), 0.0
    )
    return limits


def proportion_high(hits: Counts | int, runs: int, level: float) -> Vector:
    """Upper confidence limit of a probability; see `proportion_low`."""
    k = np.asarray(hits, dtype=float)
    limits: Vector = np.where(
        k < runs, scipy.special.betainccinv(k + 1, np.maximum(runs - k, 1), level), 1.0
    )
    return limits


def proven_epsilon(
    hits: Counts | int, false_hits: Counts | int, runs: int, delta: float, level: float
) -> Vector:
    r"""Return :math:`\ln\frac{p_{low} - \delta}{q_{high}}`, never below 0.

    Each of the two limits errs with probability at most ``level / 2``.
    """
    low = proportion_low(hits, runs, level / 2) - delta
    high = proportion_high(false_hits, runs, level / 2)
    ratio: Vector = np.log(np.maximum(low, 1e-300) / high)
    return np.maximum(ratio, 0.0)


def audit(
    # What was let out on the two neighbours, run by run: k numbers of each, shape (runs, k). They
    # are turned into one statistic by the linear direction that separates the even runs best.
    one: Vector,
    two: Vector,
    *,
    delta: float,  # in [0, 1)
    confidence: float,  # in (0, 1)
) -> Evidence:
    """Return what the runs prove: the best event of the even ones, tested on the odd ones.

    Raises `InvalidInput` unless both have the same shape, with at least 20 runs each, and all
    numbers are finite.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.uniform(size=(2, 1000, 1))
    >>> evidence = audit(noise[0] + 5.0, noise[1], delta=0.0, confidence=0.999)
    >>> evidence.hits, evidence.false_hits, round(evidence.epsilon_lower_bound, 2)
    (500, 0, 4.18)
    """
    require(one.ndim == 2 and one.shape == two.shape, "runs", "of one shape", two.shape)
    require(2 * len(one) >= LEAST_RUNS, "runs", f"at least {LEAST_RUNS}", 2 * len(one))
    require(0 <= delta < 1, "delta", "at least 0 and below 1", delta)
    require(0 < confidence < 1, "confidence", "above 0 and below 1", confidence)
    finite = bool(np.isfinite(one).all() and np.isfinite(two).all())
    require(finite, "runs", "finite numbers", "one that is not")
    first, second = statistics(one, two)
    level = 1 - confidence
    threshold, above, likelier = best_event(first[::2], second[::2], delta, level)
    p, q = (first[1::2], second[1::2]) if likelier else (second[1::2], first[1::2])
    hits, false_hits = (int(((x > threshold) == above).sum()) for x in (p, q))
    return Evidence(
        runs=2 * len(one),
        epsilon_lower_bound=float(proven_epsilon(hits, false_hits, len(p), delta, level)),
        delta=delta,
        confidence=confidence,
        threshold=threshold,
        above=above,
        hits=hits,
        false_hits=false_hits,
        tested=len(p),
    )


def statistics(one: Vector, two: Vector) -> tuple[Vector, Vector]:
    """Return one number a run, shape (runs,): along the direction that separates the even runs."""
    direction = separating_direction(one[::2], two[::2])
    return one @ direction, two @ direction


def separating_direction(one: Vector, two: Vector) -> Vector:
    """Return Fisher's linear discriminant of two samples, shape (k,); k numbers a run.

    Any direction is valid; this one is best for Gaussian noise that is the same on both.
    """
    if one.shape[1] == 1:
        return np.ones(1)
    both = np.concatenate([one, two])
    scale = both.std(axis=0)
    scale = np.where(scale > 0, scale, np.inf)  # what never changes says nothing
    gap = (one.mean(axis=0) - two.mean(axis=0)) / scale
    centred = np.concatenate([one - one.mean(axis=0), two - two.mean(axis=0)]) / scale
    scatter = centred.T @ centred / len(centred)
    scatter += (RIDGE * max(float(np.trace(scatter)), 1e-300) + 1e-300) * np.eye(len(gap))
    direction: Vector = np.linalg.lstsq(scatter, gap, rcond=None)[0] / scale
    return direction


def best_event(one: Vector, two: Vector, delta: float, level: float) -> tuple[float, bool, bool]:
    """Return the event that proves most on these runs: threshold, whether above, and for whom.

    Of events that prove the same, the one in the middle is taken.
    """
    pooled = np.sort(np.concatenate([one, two]))
    last = len(pooled) - 1
    even = np.linspace(0, last, min(len(pooled), CUTS))
    tails = np.geomspace(1, max(last, 1), min(len(pooled), CUTS // 4))  # few are beyond
    ranks = np.unique(np.concatenate([even, tails, last - tails]).round().astype(np.intp))
    ranks = np.unique(np.append(ranks[(ranks >= 0) & (ranks < last)], last // 2))
    cuts = (pooled[ranks] + pooled[ranks + 1]) / 2
    over = [len(x) - np.searchsorted(np.sort(x), cuts, side="right") for x in (one, two)]
    best, event = -math.inf, (float(cuts[0]), True, True)
    for above in (True, False):
        p, q = over if above else [len(one) - count for count in over]
        for likelier in (True, False):
            hits, false_hits = (p, q) if likelier else (q, p)
            proven = proven_epsilon(hits, false_hits, len(one), delta, level)
            if proven.max() > best:
                best = float(proven.max())
                tied = np.flatnonzero(proven == proven.max())
                event = (float(cuts[tied[len(tied) // 2]]), above, likelier)
    return event


def checkpoints(runs: int) -> tuple[int, ...]:
    """Return the numbers of runs at which an audit is looked at: 1-2-5 from 100 to `runs`.

    Examples
    --------
    >>> checkpoints(2000)
    (100, 200, 500, 1000, 2000)
    >>> checkpoints(60)
    (60,)
    """
    steps = [d * 10**e for e in range(2, 10) for d in (1, 2, 5)]
    return (*(step for step in steps if step < runs), runs)


def shared_confidence(confidence: float, looks: int) -> float:
    """Return the confidence of one of `looks` pieces of evidence, such that all hold together.

    The probability that any of them exceeds the true epsilon is then at most 1 - `confidence`.
    """
    return 1 - (1 - confidence) / looks
