r"""Helpers of empirical privacy audits: events of a statistic, and the epsilon that they certify.

For a statistic of the release, every event {statistic > t} and {statistic <= t}, in both
directions, must satisfy :math:`P[M(X)] \le e^\varepsilon P[M(X')] + \delta`. The thresholds are
quantiles of a first part of the runs; on the rest, Clopper and Pearson's bounds are taken at levels
that add up to a false-alarm rate of 1e-6 over all events.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import stats

from dpsco_core.privacy import ApproxDP
from tests.methods.euclidean.losses import FALSE_ALARM, Array

PILOT, THRESHOLDS = 200, 15
LOOKS = (0.35, 0.6, 1.0)  # The audit is evaluated after these shares of its runs.

Draw = Callable[[int], Array]


def certified_excess(
    sample: Array, neighbour_sample: Array, claim: ApproxDP, thresholds: int = THRESHOLDS
) -> float:
    """Return the largest certified P - e^epsilon Q - delta; a positive value refutes the claim."""
    pilot = np.concatenate([sample[:PILOT], neighbour_sample[:PILOT]])
    cuts = np.unique(np.quantile(pilot, np.linspace(0, 1, thresholds + 2)[1:-1]))
    sample, neighbour_sample = sample[PILOT:], neighbour_sample[PILOT:]
    level = FALSE_ALARM / (2 * 4 * thresholds)
    worst = -math.inf
    for cut in cuts:
        for p, q in (
            ((sample > cut).sum(), (neighbour_sample > cut).sum()),
            ((sample <= cut).sum(), (neighbour_sample <= cut).sum()),
            ((neighbour_sample > cut).sum(), (sample > cut).sum()),
            ((neighbour_sample <= cut).sum(), (sample <= cut).sum()),
        ):
            low = 0.0 if p == 0 else float(stats.beta.ppf(level, p, len(sample) - p + 1))
            high = (
                1.0
                if q == len(neighbour_sample)
                else float(stats.beta.isf(level, q + 1, len(neighbour_sample) - q))
            )
            worst = max(worst, low - math.exp(claim.epsilon) * high - claim.delta)
    return worst


def is_flagged(draw: Draw, neighbour_draw: Draw, claim: ApproxDP, runs: int) -> bool:
    """Whether the certified excess is positive at one of three looks, the last at all `runs`.

    The early looks detect most faults quickly. A private release is flagged with probability 3e-6.
    """
    sample, neighbour_sample = np.empty(0), np.empty(0)
    for share in LOOKS:
        missing_runs = int(share * runs) - len(sample)
        sample, neighbour_sample = (
            np.append(sample, draw(missing_runs)),
            np.append(neighbour_sample, neighbour_draw(missing_runs)),
        )
        if certified_excess(sample, neighbour_sample, claim) > 0:
            return True
    return False
