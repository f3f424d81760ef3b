"""What a cell will cost: seconds on the machine at hand, before any work is done.

Coefficients were fitted on one machine (`benchmarks/cost.py` fits and checks them); they are scaled
by the time of a small reference computation, measured once in each process.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpsco_core.scenario import Limits, Scenario


@dataclass(frozen=True, kw_only=True)
class Coefficients:
    """Seconds = fixed + per_row * n + per_element * n * d, on the reference machine, in ns."""

    fixed: float
    per_row: float
    per_element: float

    def seconds(self, n: int, d: int) -> float:
        """Return the seconds at n rows of dimension d."""
        return 1e-9 * (self.fixed + self.per_row * n + self.per_element * n * d)


REFERENCE_SECONDS = 1.35e-3

SAMPLING: dict[str, Coefficients] = {}
RELEASE: dict[str, Coefficients] = {}
# Iterative updating also searches directions among its k group means.
SEARCH_NS = 6.0


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Predicted work of a scenario.

    Parameters
    ----------
    cells : int
        Methods times points times trials.
    seconds : float
        In all, one cell after another.
    largest_cell : float
        Seconds of the slowest cell, its sampling included.
    """

    cells: int
    seconds: float
    largest_cell: float


def cost(scenario: Scenario) -> Cost:
    """Return the predicted work of `scenario`; within a factor of 2 for cells of 2 ms and more."""
    speed = machine_speed()
    total = largest = 0.0
    for _, point in scenario.points():
        sampling = SAMPLING[point.distribution].seconds(point.n, point.d)
        releases = [RELEASE[m].seconds(point.n, point.d) for m in scenario.methods]
        total += sampling + sum(releases)
        largest = max(largest, sampling + max(releases, default=0.0))
    return Cost(
        cells=scenario.cells,
        seconds=total * speed * scenario.trials,
        largest_cell=largest * speed,
    )


def too_large(scenario: Scenario, limits: Limits) -> str:
    """Return one sentence if the work is above what a place allows, otherwise an empty string."""
    predicted = cost(scenario)
    if predicted.seconds <= limits.seconds:
        return ""
    trials = max(1, math.floor(scenario.trials * limits.seconds / predicted.seconds))
    return (
        f"This run would take about {predicted.seconds:,.0f} s, and {limits.where} allows "
        f"{limits.seconds:,.0f} s: use at most {trials} trials, a smaller n or d, or the "
        "command line."
    )


@lru_cache(maxsize=1)
def machine_speed() -> float:
    """Return the time of a reference computation here over that on the reference machine."""
    rng = np.random.default_rng(0)
    best = math.inf
    for _ in range(5):
        started = time.perf_counter()
        x = rng.standard_normal(100_000)
        np.exp(x, out=x)
        np.clip(x, 0.1, 2.0, out=x).sum()
        best = min(best, time.perf_counter() - started)
    return best / REFERENCE_SECONDS
