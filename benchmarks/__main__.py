"""Speed, as ratios to a pass over the memory: `make bench`.

Prints a table, writes build/bench.json, and compares with the last one. One process, one thread.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import json  # noqa: E402 (threads are set before numpy loads its BLAS)
import statistics  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks import geometry, logistic  # noqa: E402
from benchmarks.cost import cost_table  # noqa: E402
from dpsco_core.catalogue import make_estimator, methods_for  # noqa: E402
from dpsco_core.privacy import Ledger  # noqa: E402
from dpsco_core.report import evaluate_all  # noqa: E402
from dpsco_core.scenario import Scenario  # noqa: E402

RESULTS = Path("build/bench.json")
N, D = 100_000, 100
ROUNDS = 7
TARGETS = {
    "mean.clipped": 1.6,
    "mean.cwme-cdp": 3.5,
    "mean.cwme-pure": 3.5,
    logistic.CLIPPED_STEP: 1.2,
    **geometry.TARGETS,
}


def ratios(
    reference: Callable[[], object], others: dict[str, Callable[[], object]]
) -> dict[str, float]:
    """Return the median ratio of each time to the reference's, measured in turn."""
    found: dict[str, list[float]] = {name: [] for name in others}
    for round_ in range(ROUNDS + 1):
        base = seconds(reference)
        for name, other in others.items():
            ratio = seconds(other) / base
            if round_:  # the first round warms up
                found[name].append(ratio)
    return {name: statistics.median(values) for name, values in found.items()}


def seconds(work: Callable[[], object]) -> float:
    """Return the time of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def estimators() -> dict[str, float]:
    """Return the time of every estimator over `x.mean(axis=0)`, at n = 100,000, d = 100."""
    scenario = Scenario(n=N, d=D)
    problem, setting = scenario.instance.problem, scenario.setting
    rng = np.random.default_rng(0)
    rows = problem.sample(N, rng)

    def release(slug: str) -> Callable[[], object]:
        method = make_estimator(slug, "tight", "practical")
        method.plan(setting)  # parameters are chosen once, and kept
        return lambda: method.release(rows, setting, Ledger(setting.budget), rng)

    return ratios(
        lambda: rows.x.mean(axis=0), {slug: release(slug) for slug in methods_for("mean")}
    )


def sampling() -> dict[str, float]:
    """Return the time of drawing each distribution over numpy's Student t of the same size."""
    rng = np.random.default_rng(0)
    shape = (20_000, D)
    laws = ("student-t", "pareto", "skewed-pareto", "log-normal", "gaussian", "elliptical-t")
    problems = {law: Scenario(distribution=law, d=D).instance.problem for law in laws}
    return ratios(
        lambda: rng.standard_t(3.5, size=shape),
        {law: (lambda p=p: p.sample(shape[0], rng)) for law, p in problems.items()},
    )


def bounds_milliseconds() -> float:
    """Return the time of every bound at seven points, nothing kept from before, in ms."""
    started = time.perf_counter()
    evaluate_all(Scenario(d=37, axis="n", grid=(511, 1023, 2047, 5119, 10_239, 20_479, 51_199)))
    return 1000 * (time.perf_counter() - started)


def logistic_task() -> dict[str, dict[str, float]]:
    """Print and return excess risk and CPU seconds on logistic regression, at two sizes."""
    found = {}
    for n in (10_000, 100_000):
        print(f"\nlogistic regression, t(3) features, d = 100, rho = 0.5, n = {n:,}")
        print(f"  {'':<34} {'excess risk':>12} {'CPU s':>8}")
        for name, (risk, clock, remark) in logistic.risks(n).items():
            print(f"  {name:<34} {risk:>12.5f} {clock:>8.3f}  {remark}")
            if not remark:
                found[f"{name}, n = {n:,}"] = {"excess risk": risk, "CPU seconds": clock}
    return found


def main() -> None:
    """Run everything, print, compare with the last run, and keep the result."""
    last = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    result: dict[str, dict[str, float]] = {
        f"estimators over x.mean(axis=0), n = {N:,}, d = {D}": estimators(),
        "sampling over numpy's standard_t": sampling(),
        "logistic regression, n = 100,000, d = 100": logistic.clipped_step(ratios),
        "projections, microseconds": {
            name: row["microseconds"] for name, row in geometry.projections().items()
        },
        "every bound at 7 points, ms": {"bounds": bounds_milliseconds()},
        "seconds of a run over the seconds predicted": cost_table(),
    }
    for title, values in result.items():
        print(f"\n{title}")
        for name, value in values.items():
            before = last.get(title, {}).get(name)
            shown = name in TARGETS and any(k in title for k in ("over x", "logistic", "projec"))
            target = f"  target {TARGETS[name]:g}" if shown else ""
            change = f"  (last {before:.2f})" if before is not None else ""
            print(f"  {name:<32} {value:8.2f}{target}{change}")
    result |= logistic_task()
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=2))
    print(f"\nWritten to {RESULTS}.")


if __name__ == "__main__":
    main()
