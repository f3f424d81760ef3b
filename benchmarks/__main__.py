"""Speed, as ratios in one run: `make bench`.

Prints a table, keeps it in build/bench.json, and compares with the last one. One process and one
thread, but for the studies on two cores. `python -m benchmarks quick` leaves out growth and the
logistic task.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import json  # noqa: E402 (threads are set before numpy loads its BLAS)
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

from benchmarks import (  # noqa: E402
    executors,
    geometry,
    growth,
    logistic,
    means,
    people,
    unequal,
)
from benchmarks.cost import cost_table  # noqa: E402
from benchmarks.timing import ratios  # noqa: E402
from dpsco_core.results.report import evaluate_all  # noqa: E402
from dpsco_core.scenario import Scenario  # noqa: E402

RESULTS = Path("build/bench.json")
SIZE = f"n = {means.N:,}, d = {means.D}"
MEMORY = f"mean estimators over x.mean(axis=0), {SIZE}"
BLAS = f"mean estimators over BLAS, ones @ x, {SIZE}"
SAMPLING = "sampling over numpy's standard_t"
STEP = "logistic regression, n = 100,000, d = 100"
PROJECTIONS = "projections, microseconds"
STUDIES = "studies in two processes"
GROWTH = "growth: exponent of the time"
UNEQUAL = "mean.plan: error over that of the best other private mean"
PEOPLE = "user.mean-adaptive: error over that of the best other private mean"
# The largest allowed value of each measurement; for the efficiency of studies, the smallest one.
TARGETS = {
    MEMORY: {
        # The target is missed: of the time of `x.mean(axis=0)`, norms from memory take 0.8, and the
        # weighted sum from the cache 0.57 to 0.6.
        "mean.clipped": 1.4,
        "mean.cwme-cdp": 2.5,
        "mean.cwme-pure": 2.5,
        "mean.smoothed": 12.0,
        # The target is missed: of the time of `x.mean(axis=0)`, a clipped sum for the centre takes
        # 1.4, products with the centre 0.8, norms and places of rows 0.3, and copying and adding
        # the third of the rows that lies outside the smallest ball 0.9.
        "mean.adaptive": 3.2,
    },
    SAMPLING: dict.fromkeys(means.LAWS, 1 / 3),
    STEP: {logistic.CLIPPED_STEP: 1.1},
    PROJECTIONS: geometry.TARGETS,
    STUDIES: executors.TARGETS,
    UNEQUAL: unequal.TARGETS,
    PEOPLE: people.TARGETS,
}
Table = dict[str, dict[str, float]]


def bounds_milliseconds() -> float:
    """Return the milliseconds that all bounds take at seven values of n, with empty caches."""
    started = time.perf_counter()
    evaluate_all(Scenario(d=37, axis="n", grid=(511, 1023, 2047, 5119, 10_239, 20_479, 51_199)))
    return 1000 * (time.perf_counter() - started)


def logistic_task() -> Table:
    """Print and return the excess risk and CPU seconds of every method and library, at two n."""
    rows = {}
    for n in (10_000, 100_000):
        print(f"\nlogistic regression, t(3) features, d = 100, rho = 0.5, n = {n:,}")
        print(f"  {'':<34} {'excess risk':>12} {'CPU s':>8}")
        for name, (risk, clock, remark) in logistic.measure_methods(n).items():
            print(f"  {name:<34} {risk:>12.5f} {clock:>8.3f}  {remark}")
            if not remark:
                rows[f"{name}, n = {n:,}"] = {"excess risk": risk, "CPU seconds": clock}
    return rows


def growth_table() -> dict[str, float]:
    """Print the seconds of every task at each size; return the fitted exponents, by task."""
    exponents = {}
    print("\ngrowth, seconds at each size")
    for curve in growth.measure():
        name = f"{curve.quantity} in {curve.size_name}"
        sizes = zip(curve.sizes, curve.times, strict=True)
        sizes_text = ", ".join(f"{size:,}: {seconds:.3g}" for size, seconds in sizes)
        print(f"  {name:<34} {sizes_text}")
        exponents[name] = curve.exponent
    return exponents


def show(title: str, values: dict[str, float], previous: Table) -> None:
    """Print the values of one benchmark beside their targets and the values of the last run."""
    print(f"\n{title}")
    for name, value in values.items():
        goal = TARGETS.get(title, {}).get(name)
        missed = goal is not None and (value < goal if title == STUDIES else value > goal)
        target = "" if goal is None else f"  target {goal:.3g}{' MISSED' * missed}"
        previous_value = previous.get(title, {}).get(name)
        change = "" if previous_value is None else f"  (last {previous_value:.2f})"
        print(f"  {name:<38} {value:8.2f}{target}{change}")


def main(quick: bool) -> None:
    """Run the benchmarks, print the results beside those of the last run, and store them.

    `quick` leaves out all that takes minutes, such as growth and the logistic task.
    """
    previous: Table = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    result: Table = {}

    def keep(title: str, values: dict[str, float]) -> None:
        """Keep the values of a benchmark, and print them beside the previous ones."""
        result[title] = values
        show(title, values, previous)
        sys.stdout.flush()

    memory, blas = means.time_over_memory()
    keep(MEMORY, memory)
    keep(BLAS, blas)
    keep(SAMPLING, means.time_sampling())
    keep(STEP, logistic.time_clipped_step(ratios))
    keep(
        PROJECTIONS,
        {name: row["microseconds"] for name, row in geometry.time_projections().items()},
    )
    keep(STUDIES, executors.measure_efficiency())
    keep("every bound at 7 points, ms", {"bounds": bounds_milliseconds()})
    if not quick:
        keep("seconds of a run over the seconds predicted", cost_table())
        keep(GROWTH, growth_table())
        keep(UNEQUAL, unequal.ratio_to_others())
        keep(PEOPLE, people.ratio_to_others())
    for name in means.missing_peers():
        print(f"\n{name} was not measured: it is not installed (`make bench` installs it).")
    if not quick:
        result |= logistic_task()
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(previous | result, indent=2), encoding="utf-8")
    print(f"\nWritten to {RESULTS}. On a busy machine only the ratios mean something.")


if __name__ == "__main__":
    main(quick="quick" in sys.argv[1:])
