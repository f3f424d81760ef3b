"""Where a record moves a step as far as its entry says, and which step it moves.

That no record moves one further, `tests/trust/test_hostile.py` tries for all methods. The query
points are fixed here: a neighbour changes them only through noisy releases, which adaptive
composition covers.
"""

from __future__ import annotations

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
from tests.methods.euclidean.framework.checks import (
    check_neighbours,
    statistics_of_steps,
    with_steps,
)
from tests.methods.euclidean.framework.helpers import (
    CONCENTRATED,
    Array,
    logistic_problem,
    quadratic_problem,
    replace_record,
    without_the_walk,
)

D = 3


@pytest.fixture(autouse=True)
def no_walk() -> Iterator[None]:
    """Run each test without the random walk."""
    with without_the_walk():
        yield


def problems(method: Any) -> list[Any]:
    """Return the problems that a method can solve, in D dimensions."""
    strong = isinstance(method, StrongCoordinatewiseDescent)
    return [quadratic_problem(D)] if strong else [quadratic_problem(D), logistic_problem(D)]


def query_points(problem: Any, steps: int = 3) -> Array:
    """Return the centre, boundary points, and points between."""
    rng, radius = np.random.default_rng(7), problem.constraint.radius
    queries = rng.standard_normal((steps, D))
    queries *= radius * np.linspace(0, 1, steps)[:, None] / np.linalg.norm(queries, axis=1)[:, None]
    return np.asarray(queries)


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
    """The test would fail for half of the sensitivity, and for nine tenths of it."""
    for problem in problems(method):
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
