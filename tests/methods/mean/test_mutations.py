"""Deliberate faults, each shown to be caught by a check that the other tests use.

The faults are patches of the library (`faults.py`). A check must pass without the patch and raise
AssertionError with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpsco_core.methods.mean import (
    CoordinatewiseCDP,
    CoordinatewisePure,
    IterativeUpdating,
    NoiseSmoothing,
    SimpleClipping,
)
from dpsco_core.methods.records import groups
from tests.methods.mean import faults
from tests.methods.mean.checks import (
    ADVERSARIAL,
    APPROXIMATE,
    PRIVATE,
    adversarial,
    check_ledger_equals_budget,
    check_noise,
    check_sensitivity,
    check_split_is_fresh,
    make_setting,
    worst_neighbours,
)

SETTING = make_setting(n=faults.RECORDS, d=60)
X = np.random.default_rng(0).standard_t(2.5, size=(faults.RECORDS, 60))


def noise_is_right(method: Any) -> None:
    """Assert that the noise has the law that the ledger records."""
    check_noise(method, SETTING, X)


def sensitivity_holds(method: Any) -> None:
    """Assert that the worst neighbours move a release by no more than its sensitivity."""
    check_sensitivity(method, SETTING, *worst_neighbours(method, SETTING))


def sensitivity_holds_for_any_record(method: Any) -> None:
    """Assert that no pair of adversarial records moves a release by more than its sensitivity."""
    setting, x = make_setting(n=5, d=3), X[:5, :3]
    for seed, (old, new) in itertools.product(range(3), itertools.combinations(ADVERSARIAL, 2)):
        old_rows, new_rows = x.copy(), x.copy()
        old_rows[2], new_rows[2] = adversarial(old, 3), adversarial(new, 3)
        check_sensitivity(method, setting, old_rows, new_rows, seed=seed)


def split_is_fresh(method: Any) -> None:
    """Assert that each run splits the records anew."""
    check_split_is_fresh(method, make_setting(n=7, d=1))


def budget_is_spent(method: Any) -> None:
    """Assert that the ledger spends exactly the budget."""
    for setting in (SETTING, make_setting(n=faults.RECORDS, d=60, budget=APPROXIMATE)):
        check_ledger_equals_budget(method, setting, X)


ALL = tuple(family() for family in PRIVATE)
TIGHT_GAUSSIAN = tuple(m for m in ALL if not isinstance(m, CoordinatewisePure))
NORM_CLIPPING = (SimpleClipping(radius=6.9e-16), IterativeUpdating(radius=6.9e-16, groups=2))
MEDIANS = (CoordinatewiseCDP(threshold=1.0, blocks=3), CoordinatewisePure(threshold=1.0, blocks=7))
ITERATIVE = (IterativeUpdating(radius=1.0, groups=3),)
SMOOTHED = (NoiseSmoothing(tau=1.0, smoothing_variance=1.0),)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A patch, the check that must catch it, and the methods in which it can occur."""

    patch: Callable[[pytest.MonkeyPatch], None]
    check: Callable[[Any], None]
    methods: tuple[Any, ...] = ALL


FAULTS = (
    Fault(patch=faults.no_clip, check=sensitivity_holds),
    Fault(patch=faults.no_noise, check=noise_is_right),
    Fault(patch=faults.noise_over_root_2, check=noise_is_right),
    Fault(patch=faults.noise_5_percent_too_small, check=noise_is_right),
    Fault(patch=faults.half_the_sensitivity, check=sensitivity_holds),
    Fault(patch=faults.half_the_sensitivity, check=noise_is_right),
    Fault(patch=faults.mean_over_all_but_one, check=sensitivity_holds),
    Fault(patch=faults.nan_is_kept, check=sensitivity_holds_for_any_record),
    Fault(
        patch=faults.far_records_are_rounded_out_of_the_ball,
        check=sensitivity_holds_for_any_record,
        methods=NORM_CLIPPING,
    ),
    Fault(patch=faults.bare_closed_form, check=sensitivity_holds, methods=SMOOTHED),
    Fault(patch=faults.cubic_for_every_entry, check=sensitivity_holds, methods=SMOOTHED),
    Fault(patch=faults.half_of_the_budget, check=budget_is_spent, methods=TIGHT_GAUSSIAN),
    Fault(patch=faults.half_of_the_budget, check=noise_is_right, methods=TIGHT_GAUSSIAN),
    Fault(patch=faults.blocks_of_n_over_m, check=sensitivity_holds, methods=MEDIANS),
    Fault(patch=faults.odd_blocks_like_even_ones, check=sensitivity_holds, methods=MEDIANS),
    Fault(patch=faults.groups_share_records, check=split_is_fresh, methods=ITERATIVE),
    Fault(patch=faults.split_reuses_its_seed, check=split_is_fresh, methods=ITERATIVE),
    Fault(patch=faults.split_is_consecutive, check=split_is_fresh, methods=ITERATIVE),
    Fault(patch=faults.last_records_are_always_left_out, check=split_is_fresh, methods=ITERATIVE),
)
CASES = [
    pytest.param(fault, method, id=f"{fault.patch.__name__}-{fault.check.__name__}-{method}")
    for fault in FAULTS
    for method in fault.methods
]


@pytest.fixture(autouse=True)
def without_the_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Iterative updating's walk comes after the release; here it only costs time."""
    monkeypatch.setattr(groups, "walk_to_centre", lambda points, *_: points[0])


@cache  # runs once for all faults of a method
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
