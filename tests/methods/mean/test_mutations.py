"""Deliberate faults that only the tests of these estimators know, each caught by their checks.

The sensitivity of an odd number of blocks, and the law of the secret split: `tests/trust/finer.py`
has the other faults. A check must pass without the patch and raise AssertionError with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from dpsco_core.methods.mean import CoordinatewiseCDP, CoordinatewisePure, IterativeUpdating
from dpsco_core.methods.records import groups
from tests.methods.mean.checks import (
    check_sensitivity,
    check_split_is_fresh,
    make_setting,
    worst_neighbours,
)
from tests.trust import mean_faults

SETTING = make_setting(n=mean_faults.RECORDS, d=60)


def sensitivity_holds(method: Any) -> None:
    """Assert that the worst neighbours move a release by no more than its sensitivity."""
    check_sensitivity(method, SETTING, *worst_neighbours(method, SETTING))


def split_is_fresh(method: Any) -> None:
    """Assert that each run splits the records anew."""
    check_split_is_fresh(method, make_setting(n=7, d=1))


MEDIANS = (CoordinatewiseCDP(threshold=1.0, blocks=3), CoordinatewisePure(threshold=1.0, blocks=7))
ITERATIVE = (IterativeUpdating(radius=1.0, groups=3),)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A patch, the check that must catch it, and the methods in which it can occur."""

    patch: Callable[[pytest.MonkeyPatch], None]
    check: Callable[[Any], None]
    methods: tuple[Any, ...]


FAULTS = (
    Fault(patch=mean_faults.blocks_of_n_over_m, check=sensitivity_holds, methods=MEDIANS),
    Fault(patch=mean_faults.odd_blocks_like_even_ones, check=sensitivity_holds, methods=MEDIANS),
    Fault(patch=mean_faults.split_reuses_its_seed, check=split_is_fresh, methods=ITERATIVE),
    Fault(patch=mean_faults.split_is_consecutive, check=split_is_fresh, methods=ITERATIVE),
    Fault(
        patch=mean_faults.last_records_are_always_left_out,
        check=split_is_fresh,
        methods=ITERATIVE,
    ),
)
CASES = [
    pytest.param(fault, method, id=f"{fault.patch.__name__}-{fault.check.__name__}-{method}")
    for fault in FAULTS
    for method in fault.methods
]


@pytest.fixture(autouse=True)
def without_the_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the walk of iterative updating, which comes after the release and only costs time
    here.
    """
    monkeypatch.setattr(groups, "walk_to_centre", lambda points, *_: points[0])


@cache  # The honest run is cached, so that all faults of a method share it.
def honest(check: Callable[[Any], None], method: Any) -> None:
    """Run the check on the method without any fault; a second call for the pair is free."""
    check(method)


@pytest.mark.parametrize(("fault", "method"), CASES)
def test_a_deliberate_fault_is_caught(
    fault: Fault, method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest(fault.check, method)
    fault.patch(monkeypatch)
    with pytest.raises(AssertionError):
        fault.check(method)
