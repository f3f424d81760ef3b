r"""The statistics of an empirical audit: a certified lower bound on epsilon from runs.

A mechanism is run many times on two neighbours. Every event E must satisfy
:math:`P[M(X) \in E] \le e^\varepsilon P[M(X') \in E] + \delta`, so an event whose two probabilities
are known to be far apart refutes a claim. One half of the runs chooses an event; the other half
bounds its two probabilities by Clopper and Pearson's exact intervals. The true epsilon exceeds the
resulting bound except with a stated probability, whatever event was chosen.
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require

Counts = NDArray[np.intp]

LEAST_RUNS = 40  # the least number of runs: ten for each neighbour and each half of the data
CUTS = 256  # the number of candidate thresholds
RIDGE = 1e-9  # the ridge, relative to the scatter, for collinear features


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A lower bound on epsilon that the runs prove."""

    runs: int  # the number of runs on both neighbours, in both halves
    epsilon_lower_bound: float  # a lower bound on epsilon; 0 if the runs prove nothing
    delta: float  # the delta of the claim
    confidence: float  # a lower bound on the probability that the bound holds
    threshold: float  # the threshold of the event
    is_above: bool  # whether the event is that the statistic exceeds the threshold
    hits: int  # the number of runs with the event on the likelier neighbour
    false_hits: int  # the number of runs with the event on the other neighbour
    tested: int  # the number of test runs on each neighbour
    neighbour_place: str = ""  # the differing record of the second data set, in words


def proportion_low(hits: Counts | int, runs: int, level: float) -> Vector:
    """Return a lower confidence limit of a probability, wrong with probability at most `level`.

    It is the one-sided limit of Clopper and Pearson (1934).

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
    """Return an upper confidence limit of a probability; see `proportion_low`."""
    k = np.asarray(hits, dtype=float)
    limits: Vector = np.where(
        k < runs, scipy.special.betainccinv(k + 1, np.maximum(runs - k, 1), level), 1.0
    )
    return limits


def proven_epsilon(
    hits: Counts | int, false_hits: Counts | int, runs: int, delta: float, level: float
) -> Vector:
    r"""Return the epsilon that an event proves, :math:`\ln\frac{p_{low} - \delta}{q_{high}}`.

    It is never below 0. The event has `hits` of `runs` on the likelier neighbour, `false_hits` on
    the other one, and p and q are its two probabilities. Each of the two limits is wrong with
    probability at most ``level / 2``.
    """
    low = proportion_low(hits, runs, level / 2) - delta
    high = proportion_high(false_hits, runs, level / 2)
    ratio: Vector = np.log(np.maximum(low, 1e-300) / high)
    return np.maximum(ratio, 0.0)


def audit(
    # The outputs on the two neighbours, k numbers per run, shape (runs, k). The linear direction
    # that best separates the even runs reduces them to one statistic.
    outputs: Vector,
    neighbour_outputs: Vector,
    *,
    delta: float,  # in [0, 1)
    confidence: float,  # in (0, 1)
) -> Evidence:
    """Return the evidence: the best event of the even runs, tested on the odd runs.

    Raises `InvalidInput` unless both arrays have the same shape, at least 20 runs each, and finite
    numbers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.uniform(size=(2, 1000, 1))
    >>> evidence = audit(noise[0] + 5.0, noise[1], delta=0.0, confidence=0.999)
    >>> evidence.hits, evidence.false_hits, round(evidence.epsilon_lower_bound, 2)
    (500, 0, 4.18)
    """
    require(
        outputs.ndim == 2 and outputs.shape == neighbour_outputs.shape,
        "runs",
        "of one shape",
        neighbour_outputs.shape,
    )
    require(2 * len(outputs) >= LEAST_RUNS, "runs", f"at least {LEAST_RUNS}", 2 * len(outputs))
    require(0 <= delta < 1, "delta", "at least 0 and below 1", delta)
    require(0 < confidence < 1, "confidence", "above 0 and below 1", confidence)
    finite = bool(np.isfinite(outputs).all() and np.isfinite(neighbour_outputs).all())
    require(finite, "runs", "finite numbers", "one that is not")
    first_values, second_values = statistics(outputs, neighbour_outputs)
    level = 1 - confidence
    threshold, is_above, likelier = best_event(first_values[::2], second_values[::2], delta, level)
    p, q = (
        (first_values[1::2], second_values[1::2])
        if likelier
        else (second_values[1::2], first_values[1::2])
    )
    hits, false_hits = (int(((x > threshold) == is_above).sum()) for x in (p, q))
    return Evidence(
        runs=2 * len(outputs),
        epsilon_lower_bound=float(proven_epsilon(hits, false_hits, len(p), delta, level)),
        delta=delta,
        confidence=confidence,
        threshold=threshold,
        is_above=is_above,
        hits=hits,
        false_hits=false_hits,
        tested=len(p),
    )


def statistics(outputs: Vector, neighbour_outputs: Vector) -> tuple[Vector, Vector]:
    """Return one number per run, shape (runs,), along the direction that separates the even runs.

    Outputs are projected on the direction that best separates the two neighbours in runs 0, 2, 4
    and so on.
    """
    direction = separating_direction(outputs[::2], neighbour_outputs[::2])
    return outputs @ direction, neighbour_outputs @ direction


def separating_direction(outputs: Vector, neighbour_outputs: Vector) -> Vector:
    """Return Fisher's linear discriminant of two samples with k numbers per run, shape (k,).

    Any direction is valid; this one is best if the noise is Gaussian and the same on both.
    """
    if outputs.shape[1] == 1:
        return np.ones(1)
    pooled = np.concatenate([outputs, neighbour_outputs])
    scale = pooled.std(axis=0)
    scale = np.where(scale > 0, scale, np.inf)  # a constant feature gets no weight
    gap = (outputs.mean(axis=0) - neighbour_outputs.mean(axis=0)) / scale
    centred = (
        np.concatenate(
            [outputs - outputs.mean(axis=0), neighbour_outputs - neighbour_outputs.mean(axis=0)]
        )
        / scale
    )
    scatter = centred.T @ centred / len(centred)
    scatter += (RIDGE * max(float(np.trace(scatter)), 1e-300) + 1e-300) * np.eye(len(gap))
    direction: Vector = np.linalg.lstsq(scatter, gap, rcond=None)[0] / scale
    return direction


def best_event(
    values: Vector, neighbour_values: Vector, delta: float, level: float
) -> tuple[float, bool, bool]:
    """Return the event that proves the largest epsilon, as three values.

    They are its threshold, whether it lies above the threshold, and whether it is likelier on the
    first data set. Among equally good events the middle one is taken.
    """
    pooled = np.sort(np.concatenate([values, neighbour_values]))
    last_rank = len(pooled) - 1
    even = np.linspace(0, last_rank, min(len(pooled), CUTS))
    # Ranks in geometric steps make the grid of thresholds fine in both tails.
    tails = np.geomspace(1, max(last_rank, 1), min(len(pooled), CUTS // 4))
    ranks = np.unique(np.concatenate([even, tails, last_rank - tails]).round().astype(np.intp))
    ranks = np.unique(np.append(ranks[(ranks >= 0) & (ranks < last_rank)], last_rank // 2))
    cuts = (pooled[ranks] + pooled[ranks + 1]) / 2
    counts_above = [
        len(x) - np.searchsorted(np.sort(x), cuts, side="right") for x in (values, neighbour_values)
    ]
    best, event = -math.inf, (float(cuts[0]), True, True)
    for is_above in (True, False):
        p, q = counts_above if is_above else [len(values) - count for count in counts_above]
        for likelier in (True, False):
            hits, false_hits = (p, q) if likelier else (q, p)
            proven = proven_epsilon(hits, false_hits, len(values), delta, level)
            if proven.max() > best:
                best = float(proven.max())
                tied = np.flatnonzero(proven == proven.max())
                event = (float(cuts[tied[len(tied) // 2]]), is_above, likelier)
    return event


def checkpoints(runs: int) -> tuple[int, ...]:
    """Return the numbers of runs after which an audit looks: 1-2-5 from 100 to `runs`.

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
    """Return the confidence for each of `looks` pieces of evidence so that all hold together.

    The probability that any of them exceeds the true epsilon is then at most 1 - `confidence`.
    """
    return 1 - (1 - confidence) / looks
