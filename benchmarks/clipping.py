"""The clipping of practice against a radius from the setting: `python -m benchmarks.clipping`.

Prints the table of docs/theory/practice.md, 4: mean excess risks on symmetric and on skewed data,
at d = 10, p = 3 and (1, 1e-6).
"""

from __future__ import annotations

import sys

from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

METHODS = ("sco.erm", "sco.clipped", "sco.adaptive", "sco.automatic", "sco.quantile")
LAWS = ("student-t", "skewed-pareto", "log-normal")
SIZES = (3000, 30_000, 300_000)


def excess_risks(problem: str, law: str, n: int, trials: int) -> dict[str, float]:
    """Return the mean excess risk over the trials, by method, of those that run on the problem."""
    scenario = Scenario(
        problem=problem,
        distribution=law,
        methods=METHODS,
        n=n,
        d=10,
        p=3.0,
        epsilon=1.0,
        delta=1e-6,
        trials=trials,
    )
    errors: dict[str, list[float]] = {}
    for outcome in study(scenario):
        if not outcome.not_applicable:
            errors.setdefault(outcome.method, []).append(outcome.error)
    return {method: sum(values) / len(values) for method, values in errors.items()}


def main(trials: int = 10) -> None:
    """Print the mean excess risks over `trials` runs, one row per problem, law and n."""
    print("| problem | law | n | " + " | ".join(METHODS) + " |")
    print("|---" * (3 + len(METHODS)) + "|")
    for problem in ("quadratic", "logistic"):
        for law in LAWS:
            for n in SIZES:
                mean_errors = excess_risks(problem, law, n, trials)
                cells = (f"{mean_errors[m]:.2g}" if m in mean_errors else "n/a" for m in METHODS)
                print(f"| {problem} | {law} | {n:,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
