"""Projections, as times and as ratios to `np.sort` of the same vector.

`python -m benchmarks.geometry` prints the table. Targets: the l1 ball at d = 100 in 25
microseconds, an l_q ball at d = 1,000 in a millisecond.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from dpsco_core.geometry import (
    Ball,
    Box,
    ConstraintSet,
    GroupBall,
    L1Ball,
    LqBall,
    PowerMirror,
    RegularSpace,
    Simplex,
    SolidSimplex,
    SparseHull,
    mirror_step,
)

ROUNDS = 9
SECONDS = 0.01  # The time of one round in seconds.
TARGETS = {"l1 ball, d = 100": 25.0, "lq ball, q = 1.5, d = 1000": 1000.0}


def best_microseconds(work: Callable[[], object]) -> float:
    """Return the least time of one call over several rounds, in microseconds."""
    work()
    started = time.perf_counter()
    work()
    calls = max(1, int(SECONDS / (time.perf_counter() - started)))
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, (time.perf_counter() - started) / calls)
    return 1e6 * best


def constraint_sets(d: int) -> dict[str, ConstraintSet]:
    """Return the sets in d dimensions whose projections are timed, by name."""
    named_sets: dict[str, ConstraintSet] = {
        "l2 ball": Ball(d=d, radius=1.0),
        "l1 ball": L1Ball(d=d, radius=1.0),
        "simplex": Simplex(d=d, radius=1.0),
        "solid simplex": SolidSimplex(d=d, radius=1.0),
        "cube": Box.cube(d, 0.5),
        "group ball": GroupBall(d=d, group_size=5, radius=1.0),
        "sparse hull": SparseHull(d=d, sparsity=5, radius=1.0),
    }
    for q in (1.1, 1.5, 3.0, 10.0):
        named_sets[f"lq ball, q = {q:g}"] = LqBall(d=d, exponent=q, radius=1.0)
    return named_sets


def time_projections() -> dict[str, dict[str, float]]:
    """Return microseconds, and the ratio to a sort, for every set and size."""
    rows = {}
    for d in (100, 1000):
        w = np.random.default_rng(0).standard_normal(d)
        sort = best_microseconds(lambda w=w: np.sort(w))
        for name, constraint in constraint_sets(d).items():
            microseconds = best_microseconds(lambda c=constraint, w=w: c.project(w))
            rows[f"{name}, d = {d}"] = {
                "microseconds": microseconds,
                "over np.sort": microseconds / sort,
            }
    return rows


def time_steps() -> dict[str, float]:
    """Return the microseconds of an l_1.1 mirror step onto each set, in 100 dimensions."""
    mirror = PowerMirror.for_space(RegularSpace(d=100, exponent=1.1))
    w, g = np.zeros(100), np.random.default_rng(2).standard_normal(100) * 100
    named_sets = {
        k: c
        for k, c in constraint_sets(100).items()
        if "ball, q" in k or k in ("l1 ball", "simplex")
    }
    named_sets["cube"] = Box.cube(100, 0.05)
    return {
        name: best_microseconds(lambda c=c: mirror_step(mirror, c, w, g, 1.0))
        for name, c in named_sets.items()
    }


def main() -> None:
    """Print the times of projections and of mirror steps."""
    print("projections: microseconds, and over np.sort of the same size")
    for name, row in time_projections().items():
        target = f"  target {TARGETS[name]:g} us" if name in TARGETS else ""
        print(f"  {name:<30} {row['microseconds']:9.1f} {row['over np.sort']:9.1f}{target}")
    print("mirror steps of exponent 1.1, d = 100: microseconds")
    for name, microseconds in time_steps().items():
        print(f"  {name:<30} {microseconds:9.1f}")


if __name__ == "__main__":
    main()
