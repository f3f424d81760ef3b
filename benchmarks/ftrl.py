"""Noise that cancels against the other ways to one pass: `python -m benchmarks.ftrl`.

Prints the tables of docs/theory/practice.md, 1.6: mean excess risks at d = 20, p = 3 and (1, 1e-6).
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from dpsco_core.methods.euclidean import CorrelatedDescent
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy import CorrelatedSteps, Ledger
from dpsco_core.privacy.mechanisms.correlated import encoding_norm
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

ONE_PASS = ("sco.ftrl", "sco.phased-sgd", "sco.private-sgd")
METHODS = (*ONE_PASS, "sco.clipped", "sco.adaptive", "sco.erm")
CASES = (
    *(("logistic", n, 4.0) for n in (3000, 10_000, 100_000)),
    *((problem, 10_000, 4.0) for problem in ("hinge", "huber", "quadratic", "geometric-median")),
    *((problem, 10_000, 400.0) for problem in ("logistic", "hinge", "huber", "geometric-median")),
)


def excess_risks(problem: str, n: int, diameter: float, trials: int) -> dict[str, float]:
    """Return the mean excess risk over the trials, by method, of those that run on the problem."""
    scenario = Scenario(
        problem=problem, methods=METHODS, n=n, d=20, p=3.0, diameter=diameter, trials=trials
    )
    errors: dict[str, list[float]] = {}
    for outcome in study(replace(scenario, epsilon=1.0, delta=1e-6)):
        if not outcome.not_applicable:
            errors.setdefault(outcome.method, []).append(outcome.error)
    return {method: sum(values) / len(values) for method, values in errors.items()}


class IndependentSteps(CorrelatedSteps):
    """Equally private steps with independent noise."""

    def release(self, value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Release a value with noise that is independent of the other steps."""
        std = self.encoding.noise_std / encoding_norm(self.encoding.steps)
        return np.asarray(value + rng.normal(scale=std, size=value.shape))


class IndependentLedger(Ledger):
    """A ledger that opens steps with independent noise, for the comparison alone."""

    def open(self, sequence: Any, *, label: str = "") -> Any:
        """Return steps with independent noise, which are as private as those of the base class."""
        return IndependentSteps(encoding=super().open(sequence, label=label).encoding)

    def disjoint(self, blocks: int) -> tuple[Ledger, ...]:
        """Return one ledger for each disjoint block of records, all with independent noise."""
        return tuple(
            IndependentLedger(b.budget, _parent=b._parent, _part=b._part)
            for b in super().disjoint(blocks)
        )


def compare_noises(problem: str, steps: int | None, trials: int) -> tuple[int, float, float]:
    """Return the number of steps, and mean excess risks with correlated and independent noise.

    `steps` replaces the planned number of steps; the steps together are then as long as planned.
    """
    point = Scenario(problem=problem, n=10_000, d=20, p=3.0, epsilon=1.0, delta=1e-6)
    method = CorrelatedDescent()
    plan = method.plan(point.setting)
    if steps is not None:
        size = plan.phases[-1].descent.step_size * plan.steps / steps
        method = CorrelatedDescent(
            descent=Descent(steps=steps, step_size=size, averaged=max(1, steps // 2))
        )
        plan = method.plan(point.setting)
    means = []
    for kind in (Ledger, IndependentLedger):
        total = 0.0
        for seed in range(trials):
            rng = np.random.default_rng(seed)
            problem_drawn = point.instance.problem.draw(rng)
            value = method.release(
                problem_drawn.sample(point.n, rng), plan, kind(point.budget), rng
            ).value
            total += problem_drawn.excess_risk(value).value
        means.append(total / trials)
    return plan.steps, means[0], means[1]


def main(trials: int = 20) -> None:
    """Print both tables in Markdown: the methods' excess risks, and those of the two noises."""
    print("| problem | n | diameter | " + " | ".join(METHODS) + " |")
    print("|---" * (3 + len(METHODS)) + "|")
    for problem, n, diameter in CASES:
        mean_errors = excess_risks(problem, n, diameter, trials)
        cells = (f"{mean_errors[m]:.2g}" if m in mean_errors else "n/a" for m in METHODS)
        print(f"| {problem} | {n:,} | {diameter:g} | " + " | ".join(cells) + " |", flush=True)
    print("\n| problem, n = 10,000 | steps | correlated | independent |")
    print("|---|---|---|---|")
    for problem in ("logistic", "hinge", "huber", "geometric-median"):
        for steps in (None, 100):
            plan_used, correlated, independent = compare_noises(problem, steps, trials)
            print(f"| {problem} | {plan_used} | {correlated:.2g} | {independent:.2g} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
