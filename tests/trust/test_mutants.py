"""Every private method of the catalogue, broken on purpose in every way, is found out.

The list is printed with `-v`, and is in test-results/mutants.txt; docs/verification.md has it as a
table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import get_args

import pytest

from dpsco_core.catalogue import METHODS
from dpsco_core.methods.stage import Told
from tests.conftest import FAULT_PROPERTY
from tests.trust import checks
from tests.trust.cases import CASES, PRIVATE, VARIANTS, case
from tests.trust.faults import REUSED
from tests.trust.mutants import FAULTS, MUTANTS, SPLIT, Mutant, killed

# Whether a plan reads a constant is checked only where no fault is found, since that check takes a
# plan.
APPLICABLE = [m for m in MUTANTS if m.fault is not SPLIT or not m.not_applicable]
PARAMETERS = [  # `make test` runs all methods; the slow suite runs their second ways to be private.
    pytest.param(m, id=f"{m.case}-{m.fault.name}", marks=[pytest.mark.slow] * (m.case in VARIANTS))
    for m in APPLICABLE
]


@lru_cache
def honest(name: str, check: checks.Check) -> None:
    """Run the check without a fault, which raises AssertionError if it fails; a second call for the
    arguments is free.
    """
    check(case(name))


@pytest.mark.parametrize("mutant", PARAMETERS)
def test_a_mutant_is_killed_by_a_check_that_the_method_passes(
    mutant: Mutant,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    honest(mutant.case, mutant.fault.check)
    words = killed(mutant, monkeypatch)
    if not words:
        assert mutant.not_applicable, f"the fault is not found out: {mutant.fault.advice}"
        return
    check = mutant.fault.check.__name__
    record_property(
        FAULT_PROPERTY, f"{mutant.case}: {mutant.fault.name}: killed by {check}: {words}"
    )


def test_every_private_method_has_every_fault_or_a_reason() -> None:
    listed = {(m.case, m.fault.name) for m in MUTANTS}
    assert listed >= {(slug, fault.name) for slug in PRIVATE for fault in FAULTS}
    assert all(m.not_applicable for m in MUTANTS if m not in APPLICABLE)


@pytest.mark.parametrize("name", CASES)
def test_a_method_whose_ledger_counts_blocks_has_the_fault_that_reuses_them(name: str) -> None:
    place = case(name)
    entries = checks.booked(place.play(place.crowd(0)))
    if any(e.part is not None or e.disjoint_blocks > 1 for e in entries):
        assert place.method.stage.splits, "name in Stage.splits what divides its records"


def test_every_way_to_divide_records_is_broken_in_some_method() -> None:
    kinds = {split.told for m in METHODS for split in m.stage.splits}
    assert kinds == set(REUSED) == set(get_args(Told))
