"""Optimisers under pure DP, beside the best one with a small delta: mean excess risks.

python -m benchmarks.pure
"""

from __future__ import annotations

import statistics

from dpsco_core.base.cards import BOUNDED_PROBLEMS
from dpsco_core.catalogue import methods_under
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

DELTA, RIVAL = 1e-6, "sco.clipped"
SIZES = ((3000, 5), (10_000, 5), (10_000, 20), (30_000, 20))
TRIALS = 6


def mean_error(problem: str, method: str, n: int, d: int, delta: float) -> float:
    """Return the mean excess risk of a method; NaN if it does not run."""
    point = Scenario(
        problem=problem,
        methods=(method,),
        n=n,
        d=d,
        epsilon=1.0,
        delta=delta,
        trials=TRIALS,
        seed=1,
    ).validate()
    outcomes = list(study(point))
    if any(o.not_applicable for o in outcomes):
        return float("nan")
    return statistics.mean(o.error for o in outcomes)


def main() -> None:
    """Print one table per problem, one row per size, one column per method."""
    for problem in BOUNDED_PROBLEMS:
        methods = methods_under(problem, "item", "pure")
        print(f"| {problem}: n, d | " + " | ".join((*methods, f"{RIVAL}, delta={DELTA:g}")) + " |")
        print("|---" * (len(methods) + 2) + "|")
        for n, d in SIZES:
            errors = [mean_error(problem, m, n, d, 0.0) for m in methods]
            errors.append(mean_error(problem, RIVAL, n, d, DELTA))
            print(f"| {n:,}, {d} | " + " | ".join(f"{e:.2g}" for e in errors) + " |")


if __name__ == "__main__":
    main()
