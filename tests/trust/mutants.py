"""The list of deliberate faults: every private method, broken in every way, and what finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from dpsco_core.catalogue import method_class
from tests.trust import checks, faults
from tests.trust.cases import CASES, Case, case


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A way to break a method, and the check that must find it out."""

    name: str
    make: Callable[[pytest.MonkeyPatch, Case], None]
    check: checks.Check


FAULTS = (
    Fault(name="clip removed", make=faults.no_clip, check=checks.check_attained),
    Fault(name="noise halved", make=faults.half_the_noise, check=checks.check_noise),
    Fault(name="sensitivity halved", make=faults.half_the_sensitivity, check=checks.check_attained),
    Fault(
        name="radius from the data",
        make=faults.radius_from_the_data,
        check=checks.check_plan_is_fixed,
    ),
    Fault(name="seed reused", make=faults.one_seed_for_all, check=checks.check_noise_is_fresh),
    Fault(name="budget spent twice", make=faults.budget_spent_twice, check=checks.check_ledger),
    Fault(
        name="release off the books",
        make=faults.second_run_off_the_books,
        check=checks.check_ledger,
    ),
    Fault(name="block split reused", make=faults.split_reused, check=checks.check_attained),
)
SPLIT = FAULTS[-1]


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A case of a method with a fault, or the reason why it cannot have it."""

    case: str
    fault: Fault
    not_applicable: str = ""


def mutant(name: str, fault: Fault) -> Mutant:
    """Return a cell of the table."""
    reason = ""
    if fault is SPLIT and not method_class(case(name).slug).stage.splits:
        reason = "every release looks at all records"
    return Mutant(case=name, fault=fault, not_applicable=reason)


MUTANTS = tuple(mutant(name, fault) for name in CASES for fault in FAULTS)


def killed(one: Mutant, patch: pytest.MonkeyPatch) -> str:
    """Break the method, and return what the check says; "" where it finds nothing."""
    place = case(one.case)
    one.fault.make(patch, place)
    try:
        one.fault.check(place)
    except AssertionError as failure:
        return str(failure).partition("\n")[0] or "found"
    return ""
