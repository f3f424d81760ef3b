"""Replacing one record moves the exact statistic of each step by at most its entry's sensitivity.

The query points are fixed here: a neighbour changes them only through noisy releases, which
adaptive composition covers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dpsco_core.methods.euclidean import (
    ClippedDescent,
    CoordinatewiseDescent,
    IterativeDescent,
    SmoothedDescent,
    StrongCoordinatewiseDescent,
)
from tests.folded import each
from tests.methods.euclidean.framework.checks import (
    RECORDS,
    TARGETS,
    check_neighbours,
    check_worst_neighbours,
    statistics_of_steps,
    with_steps,
)
from tests.methods.euclidean.framework.helpers import (
    CONCENTRATED,
    Array,
    linear_problem,
    logistic_problem,
    quadratic_problem,
    replace_record,
    without_the_walk,
)
from tests.methods.mean.checks import adversarial

METHODS = [
    *(
        family(calibration=calibration)
        for family in (ClippedDescent, CoordinatewiseDescent, SmoothedDescent)
        for calibration in ("tight", "paper")
    ),
    IterativeDescent(groups=3),
    CoordinatewiseDescent(blocks=2, threshold=1.5),
    CoordinatewiseDescent(blocks=3, threshold=0.1),
    ClippedDescent(radius=0.3),
    SmoothedDescent(tau=0.4),
    StrongCoordinatewiseDescent(),
    StrongCoordinatewiseDescent(blocks=2, calibration="paper"),
]
LEVELS = [
    method
    for level in (1e-150, 6.9e-16, 1e15, 1e150)
    for method in (
        ClippedDescent(radius=level),
        CoordinatewiseDescent(threshold=level),
        SmoothedDescent(tau=level),
        IterativeDescent(radius=level, groups=2),
        StrongCoordinatewiseDescent(threshold=level),
    )
]
N, D = 13, 3


@pytest.fixture(autouse=True)
def no_walk() -> Iterator[None]:
    """Run each test without the random walk."""
    with without_the_walk():
        yield


def problems(method: Any) -> list[Any]:
    """Return the problems that a method can solve, in D dimensions."""
    strong = isinstance(method, StrongCoordinatewiseDescent)
    return (
        [quadratic_problem(D)]
        if strong
        else [quadratic_problem(D), logistic_problem(D), linear_problem(D)]
    )


def query_points(problem: Any, steps: int = 3) -> Array:
    """Return the centre, boundary points, and points between."""
    rng, radius = np.random.default_rng(7), problem.constraint.radius
    queries = rng.standard_normal((steps, D))
    queries *= radius * np.linspace(0, 1, steps)[:, None] / np.linalg.norm(queries, axis=1)[:, None]
    return np.asarray(queries)


@pytest.mark.parametrize("method", LEVELS, ids=str)
def test_no_record_moves_it_further_at_any_clip_level(method: Any) -> None:
    """Gradients are c_i x_i: their length overflows or underflows where neither factor does."""
    for problem in problems(method):
        setting = problem.setting(N, CONCENTRATED)
        sample = problem.sample(N, np.random.default_rng(0))
        check_worst_neighbours(with_steps(method, 2), setting, sample, query_points(problem, 2))


@each("method", METHODS[:10], ids=str)
@each(("old", "new"), list(itertools.combinations(TARGETS, 2)))
def test_no_flipped_or_broken_target_moves_a_release_by_more_than_its_sensitivity(
    method: Any, old: float, new: float
) -> None:
    problem = logistic_problem(D)
    setting, sample = problem.setting(N, CONCENTRATED), problem.sample(N, np.random.default_rng(0))
    for record in ((1.0, -2.0, 0.5), (1e9, 0.0, 0.0), (1e149, 1e149, 0.0)):
        sample_a = replace_record(sample, 5, np.array(record), old)
        sample_b = replace_record(sample, 5, np.array(record), new)
        check_neighbours(
            with_steps(method, 2), setting, sample_a, sample_b, query_points(problem, 2)
        )


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_no_record_exceeds_the_sensitivity_where_all_other_records_are_broken(method: Any) -> None:
    for problem in problems(method):
        setting, ordinary = problem.setting(N, CONCENTRATED), np.array([1.0, -2.0, 0.3])
        for broken_record, target in RECORDS[::3]:
            sample = problem.sample(N, np.random.default_rng(0))
            for i in range(N):
                sample = replace_record(sample, i, adversarial(broken_record, D), target)
            neighbour = replace_record(sample, 6, ordinary, 1.0)
            check_neighbours(
                with_steps(method, 2), setting, sample, neighbour, query_points(problem, 2)
            )


ATTAINING = [
    ClippedDescent(radius=0.3),
    ClippedDescent(),
    CoordinatewiseDescent(),
    SmoothedDescent(tau=0.4),
    IterativeDescent(groups=3, radius=1.0),
    StrongCoordinatewiseDescent(blocks=1),
]


@pytest.mark.parametrize("method", ATTAINING, ids=str)
def test_the_sensitivity_is_attained(method: Any) -> None:
    """If no neighbours attained it, the checks above would accept half of the sensitivity."""
    for problem in problems(method)[:2]:
        setting = problem.setting(12, CONCENTRATED)
        sample = problem.sample(12, np.random.default_rng(0))
        outlier = np.full(D, 1e9)
        queried = np.zeros((2, D))  # At this point a logistic slope of 1/2 - y has both signs.
        sample_a, sample_b = (
            replace_record(sample, 4, outlier, 0.0),
            replace_record(sample, 4, outlier, 1.0),
        )
        if not hasattr(sample, "targets"):
            sample_b = replace_record(sample, 4, -outlier)
        check_neighbours(with_steps(method, 2), setting, sample_a, sample_b, queried, attained=True)


@pytest.mark.parametrize("calibration", ["tight", "paper"])
def test_a_record_moves_only_its_own_block(calibration: Any) -> None:
    problem, steps = quadratic_problem(D), 4
    setting, sample = (
        problem.setting(22, CONCENTRATED),
        problem.sample(22, np.random.default_rng(0)),
    )
    method = StrongCoordinatewiseDescent(steps=steps, calibration=calibration)
    recorder = statistics_of_steps(method, setting, sample, query_points(problem, steps))
    for i in range(22):  # The blocks have 5 records; the last 2 records are left out.
        neighbour = replace_record(sample, i, np.full(D, 1e9))
        neighbour_recorder = statistics_of_steps(
            method, setting, neighbour, query_points(problem, steps)
        )
        pairs = zip(recorder.exact, neighbour_recorder.exact, strict=True)
        moved_steps = [t for t, (a, b) in enumerate(pairs) if np.any(a != b)]
        assert moved_steps == ([i // 5] if i < 20 else [])
