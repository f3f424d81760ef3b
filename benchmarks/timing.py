"""Clocks: one thread, one process, ratios of what is measured in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

Work = Callable[[], object]
ROUNDS = 25


def time_call(work: Work) -> float:
    """Return the wall-clock seconds of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def ratios(reference: Work, works: dict[str, Work], rounds: int = ROUNDS) -> dict[str, float]:
    """Return the median ratio of each work's time to that of the reference, by name.

    The reference runs right before each work, so that a machine that slows down slows both. Only
    the processor time of this process counts, whatever else the machine does.
    """

    def spent(work: Work) -> float:
        """Do the work; return the processor seconds of this process."""
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
    """Return the least seconds of one call over some rounds of at least `shortest` seconds."""
    first_seconds = time_call(work)  # This call also fills the caches.
    calls = max(1, round(shortest / max(first_seconds, 1e-9)))

    def repeat_work() -> None:
        """Do the work as often as fills one round."""
        for _ in range(calls):
            work()

    return min(time_call(repeat_work) for _ in range(rounds)) / calls


def exponent(sizes: list[int], times: list[float]) -> float:
    """Return the least-squares slope of log time against log size."""
    slope, _ = np.polyfit(np.log(sizes), np.log(times), 1)
    return float(slope)
