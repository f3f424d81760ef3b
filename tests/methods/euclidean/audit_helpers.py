r"""What empirical audits of privacy share: events of a statistic, and what they certify.

Of a statistic of what is released, every event {statistic > t} and {statistic <= t}, in both
directions, must keep :math:`P[M(X)] \le e^\varepsilon P[M(X')] + \delta`. The thresholds are the
quantiles of a first part of the runs; on the rest Clopper and Pearson's bounds are taken at a level
that adds up to a false-alarm rate of 1e-6 over all events.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import stats

from dpsco_core.privacy import ApproxDP
from tests.methods.euclidean.losses import FALSE_ALARM, Array

PILOT, THRESHOLDS = 200, 15
LOOKS = (0.35, 0.6, 1.0)  # after which shares of the runs `flagged` looks

Draw = Callable[[int], Array]


def excess(one: Array, two: Array, claim: ApproxDP, thresholds: int = THRESHOLDS) -> float:
    """Return the largest certified P - e^epsilon Q - delta; above 0 the claim is refuted."""
    pilot = np.concatenate([one[:PILOT], two[:PILOT]])
    cuts = np.unique(np.quantile(pilot, np.linspace(0, 1, thresholds + 2)[1:-1]))
    one, two = one[PILOT:], two[PILOT:]
    level = FALSE_ALARM / (2 * 4 * thresholds)
    worst = -math.inf
    for cut in cuts:
        for p, q in (
            ((one > cut).sum(), (two > cut).sum()),
            ((one <= cut).sum(), (two <= cut).sum()),
            ((two > cut).sum(), (one > cut).sum()),
            ((two <= cut).sum(), (one <= cut).sum()),
        ):
            low = 0.0 if p == 0 else float(stats.beta.ppf(level, p, len(one) - p + 1))
            high = 1.0 if q == len(two) else float(stats.beta.isf(level, q + 1, len(two) - q))
            worst = max(worst, low - math.exp(claim.epsilon) * high - claim.delta)
    return worst


def flagged(one: Draw, two: Draw, claim: ApproxDP, runs: int) -> bool:
    """Whether `excess` is positive at one of three looks, the last of which is at all `runs`.

    For faults, which most often show at the first. Of what is private it would be true with a
    chance of 3e-6.
    """
    first, second = np.empty(0), np.empty(0)
    for share in LOOKS:
        more = int(share * runs) - len(first)
        first, second = np.append(first, one(more)), np.append(second, two(more))
        if excess(first, second, claim) > 0:
            return True
    return False
