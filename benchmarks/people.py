"""Means of people with several records: `python -m benchmarks.people`.

Prints the tables of docs/theory/user-level-means.md, 5: mean errors on Student t data whose tail
index is p + 0.2, at (1, 1e-6). A radius in hindsight is chosen by looking at the errors, and is not
private.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from dpsco_core.catalogue import make_method
from dpsco_core.data.users import UserRows
from dpsco_core.methods.records.base import clipped_mean
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

POOLED, ADAPTIVE = "mean.sample", "user.mean-adaptive"
CLIPPED = ("user.mean-group", "user.mean-clipped")
METHODS = (POOLED, *CLIPPED, ADAPTIVE)
PROTOTYPE = Scenario(n=1000, m=256, d=10, p=2.0, margin=0.2, epsilon=1.0, delta=1e-6)
# Each pair is the norm of the mean and the diameter of the ball.
PLACES = ((1.0, 4.0), (0.8, 4.0), (0.8, 2.0))
TARGETS = {"n=1,000, m=256, d=10, p=2": 0.25}  # The largest allowed ratio to the other methods.
SIZES = (
    *((n, 256, 10, 2.0) for n in (300, 1000, 3000)),
    *((1000, m, 10, 2.0) for m in (4, 16, 64)),
    (1000, 64, 50, 2.0),
    (1000, 64, 10, 4.0),
    (10_000, 16, 10, 2.0),
)
# Multiples of the planned radius that are tried in hindsight.
FACTORS = np.geomspace(0.02, 2.0, 41)


def planned_errors(point: Scenario, trials: int) -> dict[str, float]:
    """Return the mean error, by method, of those that run at the point with their own plans."""
    errors: dict[str, list[float]] = {}
    for outcome in study(replace(point, methods=METHODS, trials=trials).validate()):
        if not outcome.not_applicable:
            errors.setdefault(outcome.method, []).append(outcome.error)
    return {method: sum(values) / len(values) for method, values in errors.items()}


def ratio_to_others() -> dict[str, float]:
    """Return the adaptive method's mean error over that of the best clipped one, by sizes."""
    return {f"n={n:,}, m={m}, d={d}, p={p:g}": _ratio(n, m, d, p) for n, m, d, p in SIZES}


def _ratio(n: int, m: int, d: int, p: float) -> float:
    """Return the adaptive method's mean error over that of the best clipped one, at these sizes."""
    errors = planned_errors(replace(PROTOTYPE, n=n, m=m, d=d, p=p), 10)
    return errors[ADAPTIVE] / min(errors[slug] for slug in CLIPPED)


def hindsight_errors(point: Scenario, trials: int) -> dict[str, float]:
    """Return the mean error of each clipped mean at its best radius in hindsight, by method."""
    problem = point.instance.problem
    errors = {slug: np.zeros(len(FACTORS)) for slug in CLIPPED}
    plans = {slug: make_method(slug, "tight", "practical").plan(point.setting) for slug in CLIPPED}
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        users = UserRows(records=problem.sample(point.n * point.m, rng), items=point.m)
        for slug, rows in zip(CLIPPED, (users.records, users.means()), strict=True):
            noise = plans[slug].noise.noise_std * rng.standard_normal(point.d)
            for i, factor in enumerate(FACTORS):
                value = clipped_mean(rows, factor * plans[slug].statistic.radius) + factor * noise
                errors[slug][i] += np.linalg.norm(value - problem.law.mean) / trials
    return {slug: float(values.min()) for slug, values in errors.items()}


def main(trials: int = 20) -> None:
    """Print the errors by norm and diameter, and those by sizes, as two tables in Markdown."""
    print("| n = 1,000, m = 256, d = 10, p = 2 | " + " | ".join(METHODS) + " |")
    print("|---" * (1 + len(METHODS)) + "|")
    for offset, diameter in PLACES:
        point = replace(PROTOTYPE, offset=offset, diameter=diameter)
        errors = planned_errors(point, trials)
        cells = " | ".join(f"{errors[m]:.2g}" for m in METHODS)
        print(f"| planned, norm {offset:g}, diameter {diameter:g} | {cells} |", flush=True)
    for offset, diameter in PLACES[:2]:
        best = hindsight_errors(replace(PROTOTYPE, offset=offset, diameter=diameter), trials)
        cells = " | ".join(f"{best[m]:.2g}" for m in CLIPPED)
        print(f"| best radius in hindsight, norm {offset:g} | | {cells} | |", flush=True)
    print("\n| n, m, d, p | " + " | ".join(METHODS) + " | adaptive over the best other |")
    print("|---" * (2 + len(METHODS)) + "|")
    for n, m, d, p in SIZES:
        errors = planned_errors(replace(PROTOTYPE, n=n, m=m, d=d, p=p), trials)
        ratio = errors[ADAPTIVE] / min(errors[slug] for slug in CLIPPED)
        cells = " | ".join(f"{errors[slug]:.2g}" for slug in METHODS)
        print(f"| {n:,}, {m}, {d}, {p:g} | {cells} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
