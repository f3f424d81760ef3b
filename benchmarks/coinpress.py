"""Adaptive clipping beside CoinPress: `python -m benchmarks.coinpress`.

Repeats the 200 settings of docs/theory/adaptive-methods.md, 1.4: the ratio of the mean errors for
p = 2 and margin 0.2, in the geometric mean and at its largest, for each law.
"""

from __future__ import annotations

import itertools
import math
import sys

from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

METHODS = ("mean.adaptive", "mean.coinpress")
LAWS = ("student-t", "skewed-pareto", "log-normal", "elliptical-t", "hypercube")
SIZES = ((500, 5), (2000, 5), (20_000, 20), (5000, 100), (10_000, 200))
BUDGETS = (0.05, 0.5)
DIAMETERS = (4.0, 40.0, 400.0, 10_000.0)


def error_ratio(law: str, n: int, d: int, rho: float, diameter: float, trials: int) -> float:
    """Return the mean error of adaptive clipping over that of CoinPress; NaN if one cannot run."""
    point = Scenario(
        distribution=law,
        methods=METHODS,
        n=n,
        d=d,
        p=2.0,
        margin=0.2,
        epsilon=None,
        delta=None,
        rho=rho,
        diameter=diameter,
        trials=trials,
    ).validate()
    errors = dict.fromkeys(METHODS, 0.0)
    for outcome in study(point):
        if outcome.not_applicable:
            return math.nan
        errors[outcome.method] += outcome.error
    return errors[METHODS[0]] / errors[METHODS[1]]


def main(trials: int = 14) -> None:
    """Print the ratios of errors over all settings, one row per law, as a table in Markdown."""
    print(
        "| law | settings | geometric mean | above 1.02 | largest | where (n, d, rho, diameter) |"
    )
    print("|---" * 6 + "|")
    all_ratios: list[float] = []
    for law in LAWS:
        places = tuple(itertools.product(SIZES, BUDGETS, DIAMETERS))
        ratios = {
            (n, d, rho, diameter): error_ratio(law, n, d, rho, diameter, trials)
            for (n, d), rho, diameter in places
        }
        finite_ratios = {place: value for place, value in ratios.items() if not math.isnan(value)}
        all_ratios += finite_ratios.values()
        worst = max(finite_ratios, key=finite_ratios.__getitem__)
        print(
            f"| {law} | {len(finite_ratios)} | {_row(list(finite_ratios.values()))} | {worst} |",
            flush=True,
        )
    print(f"| all | {len(all_ratios)} | {_row(all_ratios)} | |")


def _row(values: list[float]) -> str:
    """Return the geometric mean, the number above 1.02 and the largest of some ratios as cells."""
    mean = math.exp(math.fsum(map(math.log, values)) / len(values))
    worse_count = sum(value > 1.02 for value in values)
    return f"{mean:.2f} | {worse_count} | {max(values):.2f}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 14)
