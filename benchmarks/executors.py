"""How well a study uses two cores: `python -m benchmarks.executors`.

Efficiency is the time of the serial study over twice that of the same study in two processes,
which have started by then; their start is shown beside it. It says something on a machine with
two cores that nobody else uses at that time: `spare_share` says how much of them there was.
"""

from __future__ import annotations

import time
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np

from dpsco_core.base.dispatch import workers_of
from dpsco_core.catalogue import make_method
from dpsco_core.data.spread import SpreadRows
from dpsco_core.privacy import Ledger
from dpsco_core.runs.executors import processes
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

WORKERS = 2
TARGETS = {"efficiency, cells of 50 ms": 0.85}
# Studies with cells of about 50 ms and 5 ms on the author's machine, 4 and 2 s in series.
STUDIES = {
    "cells of 50 ms": Scenario(
        methods=("mean.iterative", "mean.smoothed"), n=72_000, d=60, trials=40, seed=1
    ),
    "cells of 50 ms, the data being most of it": Scenario(
        methods=("mean.clipped", "mean.cwme-cdp", "mean.sample"), n=260_000, d=60, trials=20, seed=1
    ),
    "cells of 5 ms": Scenario(
        methods=("mean.clipped", "mean.cwme-cdp"), n=18_000, d=60, trials=200, seed=1
    ),
}


def measure_efficiency() -> dict[str, float]:
    """Return efficiencies, milliseconds per cell and the machine's spare capacity, by name."""
    started = time.perf_counter()
    with processes(WORKERS) as pool:
        for _ in _warm(pool):
            pass
        numbers = {"start of two workers, s": time.perf_counter() - started}
        numbers["spare"] = spare_share(pool)
        for name, scenario in STUDIES.items():
            list(study(replace(scenario, trials=1)))  # This run only fills the caches with plans.
            serial = min(_seconds(scenario, None) for _ in range(2))
            spread = min(_seconds(scenario, pool) for _ in range(2))
            numbers[f"ms of a cell, {name}"] = 1000 * serial / scenario.cells
            numbers[f"efficiency, {name}"] = serial / (WORKERS * spread)
    return numbers


def time_million_rows(n: int = 20_000_000, d: int = 20) -> dict[str, float]:
    """Return the seconds that a private mean takes for a million rows, drawn as they are read.

    One number is for this process alone, and one for two workers. The time grows in proportion to
    n, because all pieces of the rows are alike and few of them are in memory at a time.
    """
    scenario = Scenario(n=n, d=d)
    setting, problem = scenario.setting, scenario.instance.problem
    estimator = make_method("mean.clipped", "tight", "practical")
    plan = estimator.plan(setting)

    def release(pool: Executor | None) -> float:
        """Release a mean, in the pool if there is one; return the seconds for a million rows."""
        rows = problem.stream(n, np.random.default_rng(1))
        source = rows if pool is None else SpreadRows(rows, pool)
        started = time.perf_counter()
        estimator.release(source, plan, Ledger(setting.budget), np.random.default_rng(2))
        return (time.perf_counter() - started) / n * 1e6

    with processes(WORKERS) as pool:
        _warm(pool)
        numbers = {f"s a million rows, d = {d}, here": release(None)}
        numbers[f"s a million rows, d = {d}, two workers"] = release(pool)
    return numbers


def _warm(pool: Executor) -> list[float]:
    """Give every worker of a pool the same load, which starts it; return each one's seconds."""
    calls = [pool.submit(_load, 0.5) for _ in range(workers_of(pool))]
    return [call.result() for call in calls]


def spare_share(pool: Executor) -> float:
    """Return the available share of two cores: the time of a load alone over that of two at once.

    It is 1 if nobody else uses the machine.
    """
    single_seconds = min(_load(0.5) for _ in range(2))
    joint_seconds = min(max(_warm(pool)) for _ in range(2))
    return single_seconds / joint_seconds


def _load(size: float) -> float:
    """Draw 20 million normal numbers for each unit of `size`; return the seconds."""
    started = time.perf_counter()
    rng = np.random.default_rng(0)
    for _ in range(int(200 * size)):
        rng.standard_normal(100_000)
    return time.perf_counter() - started


def _seconds(scenario: Scenario, pool: Executor | None) -> float:
    """Run a study, in the pool if there is one; return the seconds."""
    started = time.perf_counter()
    assert len(list(study(scenario, pool))) == scenario.cells
    return time.perf_counter() - started


def main() -> None:
    """Print every measurement, beside its target where there is one."""
    for name, value in (measure_efficiency() | time_million_rows()).items():
        target = f"  target {TARGETS[name]:g}" if name in TARGETS else ""
        print(f"{name:<56} {value:8.2f}{target}")


if __name__ == "__main__":
    main()
