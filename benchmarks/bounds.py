"""How long all bounds of a setting take, over problem, set, budget and items per user.

`python -m benchmarks.bounds` prints CPU milliseconds, warm: the process has evaluated the setting
before, and now one slider has moved; the least of several steps, as other work on the machine only
adds to it. For each slider it lists the cells above the limit of 50 ms
with their three slowest rows, and then the rows by the time that they take in all cells.
`python -m benchmarks.bounds n mean` looks at one slider, and at the problems whose names follow.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import statistics  # noqa: E402 (threads are set before numpy loads its BLAS)
import sys  # noqa: E402
import time  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Iterator, Sequence  # noqa: E402
from dataclasses import replace  # noqa: E402

from dpsco_core.catalogue import PROBLEM_SLUGS, bounds_for  # noqa: E402
from dpsco_core.explain.tables.matrix import BUDGETS, ITEMS, scenario_of  # noqa: E402
from dpsco_core.geometry.geometries import GEOMETRIES  # noqa: E402
from dpsco_core.results.report import evaluate  # noqa: E402
from dpsco_core.scenario import Scenario  # noqa: E402

LIMIT = 50.0  # The largest allowed CPU time in milliseconds.
REPEATS = 3
SLIDERS = ("n", "d", "epsilon", "delta", "p", "m", "diameter")


def has_slider(point: Scenario, slider: str) -> bool:
    """Return whether a scenario has a slider: delta needs a suitable budget, m needs users."""
    if slider == "delta":
        return bool(point.delta)
    return slider != "m" or point.level == "user"


def move_scenario(point: Scenario, slider: str, step: int) -> Scenario:
    """Return the scenario with one slider moved some steps, to values in no cache.

    Where the budget is one of rho, the slider of epsilon is that of rho.
    """
    factor = 1.07**step
    match slider:
        case "n":
            return replace(point, n=round(point.n * factor))
        case "d":
            return replace(point, d=point.d + 5 * step)
        case "p":
            return replace(point, p=(point.p or 2.0) + 0.05 * step)
        case "m":
            return replace(point, m=point.m + 3 * step)
        case "diameter":
            return replace(point, diameter=point.diameter * factor)
        case "delta":
            return replace(point, delta=(point.delta or 0.0) * factor)
        case _ if point.rho is not None:
            return replace(point, rho=point.rho * factor)
        case _:
            return replace(point, epsilon=(point.epsilon or 1.0) * factor)


def row_times(point: Scenario) -> dict[str, float]:
    """Return the CPU milliseconds of every bound at a setting, by slug."""
    times = {}
    for row in bounds_for(point.problem, point.level):
        started = time.process_time()
        evaluate(point, row)
        times[row.card.slug] = 1e3 * (time.process_time() - started)
    return times


def cells(problems: Sequence[str]) -> Iterator[tuple[str, Scenario]]:
    """Yield the name and scenario of each allowed problem, set, budget and number of items."""
    for problem in problems:
        for geometry in GEOMETRIES:
            for budget in BUDGETS:
                for m in ITEMS:
                    point = scenario_of(problem, geometry, budget, m)
                    if point is not None:
                        yield f"{problem} {geometry} {budget} {m}", point


def least_times(point: Scenario, slider: str) -> dict[str, float]:
    """Return the least CPU milliseconds of each bound over several steps of a slider, by slug.

    The caches are warm: the bounds have been evaluated at the point itself before.
    """
    row_times(point)
    runs = [row_times(move_scenario(point, slider, step)) for step in range(1, REPEATS + 1)]
    return {slug: min(run[slug] for run in runs) for slug in runs[0]}


def main(sliders: Sequence[str], problems: Sequence[str]) -> None:
    """Print, for each slider, the cells above the limit and the bounds that take longest."""
    for slider in sliders:
        totals, rows, slow = [], Counter[str](), 0
        for name, point in cells(problems):
            if not has_slider(point, slider):
                continue
            times = least_times(point, slider)
            total = sum(times.values())
            totals.append(total)
            rows.update(times)
            if total > LIMIT:
                slow += 1
                worst = sorted(times.items(), key=lambda item: -item[1])[:3]
                words = ", ".join(f"{slug} {spent:.0f}" for slug, spent in worst)
                print(f"{slider}  {name}: {total:.0f} ms ({words})")
        print(
            f"{slider}: {slow} of {len(totals)} cells above {LIMIT:g} ms; median "
            f"{statistics.median(totals):.1f} ms, largest {max(totals):.0f} ms"
        )
        for slug, spent in rows.most_common(12):
            print(f"    {slug}: {spent / len(totals):.2f} ms a cell")


if __name__ == "__main__":
    words = sys.argv[1:]
    main(
        [word for word in words if word in SLIDERS] or SLIDERS,
        [word for word in words if word in PROBLEM_SLUGS] or PROBLEM_SLUGS,
    )
