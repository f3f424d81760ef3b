"""Noise that cancels against the other ways to one pass: `python -m benchmarks.ftrl`.

Prints the table of docs/theory/practice.md, 1.6: mean excess risks at d = 20, p = 3 and (1, 1e-6).
"""

from __future__ import annotations

import sys
from dataclasses import replace

from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

ONE_PASS = ("sco.ftrl", "sco.phased-sgd", "sco.private-sgd")
METHODS = (*ONE_PASS, "sco.clipped", "sco.adaptive", "sco.erm")
CASES = (
    *(("logistic", n, 4.0) for n in (3000, 10_000, 100_000)),
    *((problem, 10_000, 4.0) for problem in ("hinge", "huber", "quadratic", "geometric-median")),
    *((problem, 10_000, 400.0) for problem in ("logistic", "hinge", "huber", "geometric-median")),
)


def risks(problem: str, n: int, diameter: float, trials: int) -> dict[str, float]:
    """Return the mean excess risk of every method that runs there."""
    scenario = Scenario(
        problem=problem, methods=METHODS, n=n, d=20, p=3.0, diameter=diameter, trials=trials
    )
    found: dict[str, list[float]] = {}
    for outcome in study(replace(scenario, epsilon=1.0, delta=1e-6)):
        if not outcome.not_applicable:
            found.setdefault(outcome.method, []).append(outcome.error)
    return {method: sum(values) / len(values) for method, values in found.items()}


def main(trials: int = 20) -> None:
    """Print the table, in Markdown."""
    print("| problem | n | diameter | " + " | ".join(METHODS) + " |")
    print("|---" * (3 + len(METHODS)) + "|")
    for problem, n, diameter in CASES:
        found = risks(problem, n, diameter, trials)
        cells = (f"{found[m]:.2g}" if m in found else "n/a" for m in METHODS)
        print(f"| {problem} | {n:,} | {diameter:g} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
