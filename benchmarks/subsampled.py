"""Intervals by subsampling, where none is proven: `python -m benchmarks.subsampled`.

Prints the table of docs/theory/bounds-of-runs.md, 4.1. Half of the budget answers on all records.
The other half answers on each of a few disjoint blocks, in parallel. The interval is a ball about
the answer whose radius is a quantile of the blocks' distances from their own average, shrunk by the
root of a block's share. A coverage is that of nominal 95 %.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.catalogue import make_method
from dpsco_core.data.rows import DenseRows
from dpsco_core.privacy.budget import ZCDP
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems import OptimisationProblem
from dpsco_core.scenario import Scenario

LAWS = ("student-t", "pareto", "skewed-pareto", "log-normal", "gaussian", "elliptical-t")
METHODS = (
    ("mean.adaptive", "mean", 5),
    ("sco.clipped", "quadratic", 5),
    ("sco.cwme", "quadratic", 5),
)
BLOCKS, LEVEL, RHO = 12, 0.95, 0.5


def private_answer(method: Any, problem: Any, records: Any, point: Scenario, seed: int) -> Vector:
    """Return one private answer that spends half of a point's budget."""
    budget = ZCDP(rho=RHO / 2)
    setting = problem.setting(records.n, budget)
    plan = method.plan(setting)
    value = method.release(records, plan, Ledger(budget), np.random.default_rng(seed)).value
    return np.asarray(value)


def is_covered(method: Any, point: Scenario, seed: int) -> bool:
    """Return whether the ball of a data set drawn by this seed contains the mean or minimiser."""
    problem = point.instance.problem
    records: Any = problem.sample(point.n, np.random.default_rng([seed, 1]))
    size = point.n // BLOCKS
    part: Callable[[int], Any]
    if isinstance(problem, OptimisationProblem):
        part = lambda i: records.part(i * size, (i + 1) * size)  # noqa: E731
        truth = problem.minimiser
    else:
        part = lambda i: DenseRows(records.x[i * size : (i + 1) * size])  # noqa: E731
        truth = problem.law.mean
    whole = private_answer(method, problem, records, point, 1000 * seed)
    parts = np.array(
        [
            private_answer(method, problem, part(i), point, 1000 * seed + 1 + i)
            for i in range(BLOCKS)
        ]
    )
    distances = np.linalg.norm(parts - parts.mean(axis=0), axis=1)
    # The first root makes up for the blocks' average, which is closer to each block than the true
    # mean is. The second root is that of a block's share of the records.
    radius = np.quantile(distances, LEVEL) / np.sqrt(1 - 1 / BLOCKS) * np.sqrt(size / point.n)
    return bool(np.linalg.norm(whole - truth) <= radius)


def main(trials: int = 200, records: int = 6000) -> None:
    """Print the coverages in per cent as a table in Markdown, over `trials` data sets each."""
    print("| method | " + " | ".join(LAWS) + " |")
    print("|---" * (1 + len(LAWS)) + "|")
    for slug, problem, d in METHODS:
        method = make_method(slug, "tight", "practical")
        row = []
        for law in LAWS:
            point = Scenario(
                problem=problem, distribution=law, n=records, d=d, p=2.5, methods=(slug,)
            )
            point = replace(point, epsilon=None, delta=None, rho=RHO)
            row.append(np.mean([is_covered(method, point, seed) for seed in range(trials)]))
            print(slug, law, row[-1], file=sys.stderr, flush=True)
        print(f"| `{slug}` | " + " | ".join(f"{100 * value:.0f}" for value in row) + " |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
