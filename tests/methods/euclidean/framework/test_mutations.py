"""Deliberate faults, each shown to be caught by a check that the other tests use.

A check must pass without the patch and raise AssertionError with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
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
from tests.methods.euclidean.framework import faults
from tests.methods.euclidean.framework.checks import (
    check_neighbours,
    check_worst_neighbours,
    with_steps,
)
from tests.methods.euclidean.framework.helpers import (
    CONCENTRATED,
    logistic_problem,
    quadratic_problem,
    replace_record,
    without_the_walk,
)
from tests.methods.mean import faults as estimator_faults

N, D = 24, 3
CLIPPED = ClippedDescent(radius=0.4)
STRONG = StrongCoordinatewiseDescent(threshold=0.3, steps=4)
ALL = (
    CLIPPED,
    CoordinatewiseDescent(threshold=0.3),
    SmoothedDescent(tau=0.5),
    IterativeDescent(radius=0.4, groups=3),
    STRONG,
)
NORM_CLIPPING = (CLIPPED,)


def problems(method: Any) -> tuple[Any, ...]:
    """Return the problems that a method can solve, in D dimensions."""
    strong = isinstance(method, StrongCoordinatewiseDescent)
    return (quadratic_problem(D),) if strong else (quadratic_problem(D), logistic_problem(D))


def data(problem: Any, n: int = N) -> tuple[Any, Any]:
    """Return the setting and a sample of a problem."""
    return problem.setting(n, CONCENTRATED), problem.sample(n, np.random.default_rng(0))


def sensitivity_holds(method: Any) -> None:
    """Check the sensitivity at the centre with far records, which attain it."""
    for problem in problems(method):
        setting, sample = data(problem)
        outlier = np.full(D, 1e9)
        sample_a, sample_b = (
            replace_record(sample, 5, outlier, 0.0),
            replace_record(sample, 5, outlier, 1.0),
        )
        if not hasattr(sample, "targets"):
            sample_b = replace_record(sample, 5, -outlier)
        check_neighbours(with_steps(method, 4), setting, sample_a, sample_b, np.zeros((4, D)))


def sensitivity_holds_for_any_record(method: Any) -> None:
    """Assert that no neighbour moves a release by more than its sensitivity."""
    for problem in problems(method):
        setting, sample = data(problem, 8)
        check_worst_neighbours(with_steps(method, 2), setting, sample, np.zeros((2, D)))


def the_smallest_ball_is_not_left(method: Any) -> None:
    """Check the sensitivity where a gradient is 10^325 times as long as the clip radius."""
    problem = logistic_problem(D)
    setting, sample = data(problem, 4)
    sample_a = replace_record(sample, 0, np.array([1.234e23, 0.0, 0.0]), -1e150)
    sample_b = replace_record(sample, 0, np.array([1.234e23, 0.0, 0.0]), 1e150)
    smallest = with_steps(ClippedDescent(radius=1e-150), 1)
    check_neighbours(smallest, setting, sample_a, sample_b, np.zeros((1, D)))


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A patch, the check that must catch it, and the methods in which it can occur."""

    patch: Callable[[pytest.MonkeyPatch], None]
    check: Callable[[Any], None]
    methods: tuple[Any, ...] = ALL


FAULTS = (
    Fault(patch=faults.no_clip, check=sensitivity_holds),
    Fault(patch=faults.twice_the_radius, check=sensitivity_holds, methods=NORM_CLIPPING),
    Fault(patch=faults.nan_is_kept, check=sensitivity_holds_for_any_record),
    Fault(
        patch=faults.radius_over_the_length_of_the_row,
        check=the_smallest_ball_is_not_left,
        methods=NORM_CLIPPING,
    ),
    Fault(patch=faults.a_step_sees_other_records_too, check=sensitivity_holds),
    Fault(patch=estimator_faults.half_the_sensitivity, check=sensitivity_holds),
    Fault(patch=faults.one_block_for_all_steps, check=sensitivity_holds, methods=(STRONG,)),
    Fault(patch=faults.blocks_overlap, check=sensitivity_holds, methods=(STRONG,)),
)
CASES = [
    pytest.param(fault, method, id=f"{fault.patch.__name__}-{fault.check.__name__}-{method}")
    for fault in FAULTS
    for method in fault.methods
]


@pytest.fixture(autouse=True)
def no_walk() -> Iterator[None]:
    """Run each test without the random walk."""
    with without_the_walk():
        yield


@cache  # Each check runs once for all faults of a method.
def honest(check: Callable[[Any], None], method: Any) -> None:
    """Run the check without any fault."""
    check(method)


@pytest.mark.parametrize(("fault", "method"), CASES)
def test_a_deliberate_fault_is_caught(
    fault: Fault, method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest(fault.check, method)
    fault.patch(monkeypatch)
    with pytest.raises(AssertionError):
        fault.check(method)
