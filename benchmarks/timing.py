"""Clocks: one thread, one process, ratios of what is measured in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

Work = Callable[[], object]
ROUNDS = 25


def time_call(work: Work) -> float:
    """Return the time of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def ratios(reference: Work, works: dict[str, Work], rounds: int = ROUNDS) -> dict[str, float]:
    """Return the median ratio of each processor time to the reference's, measured in turn.

    The reference runs right before each of the others: a machine that slows down slows both. It is
    the time of this process alone: a machine that does something else in between does not count.
    """

    def spent(work: Work) -> float:
        """Do the work; return the seconds of this process."""
        started = time.process_time()
        work()
        return time.process_time() - started

    ratios: dict[str, list[float]] = {name: [] for name in works}
    for round_ in range(rounds + 1):
        for name, work in works.items():
            base = spent(reference)
            ratio = spent(work) / base
            if round_:  # The first round only fills the caches.
                ratios[name].append(ratio)
    return {name: statistics.median(values) for name, values in ratios.items()}


def best_time(work: Work, rounds: int = 3, shortest: float = 0.05) -> float:
    """Return the least time of one call; short calls repeat until they fill `shortest`."""
    first_seconds = time_call(work)  # this round only fills the caches
    calls = max(1, round(shortest / max(first_seconds, 1e-9)))

    def repeated() -> None:
        """Do the work several times."""
        for _ in range(calls):
            work()

    return min(time_call(repeated) for _ in range(rounds)) / calls


def exponent(sizes: list[int], times: list[float]) -> float:
    """Return the least-squares slope of log time against log size."""
    slope, _ = np.polyfit(np.log(sizes), np.log(times), 1)
    return float(slope)
