"""The deliberate faults: every private method, broken in every way, and the check that finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.trust import checks, faults
from tests.trust.cases import CASES, Case, case


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A way to break a method, and the check that must find it out."""

    name: str
    make: Callable[[pytest.MonkeyPatch, Case], None]
    check: checks.Check
    # The function returns the reason why a case cannot have the fault, or an empty string.
    without: Callable[[Case], str] = lambda case: ""
    # Advice for a method in which the fault is not found.
    advice: str = "a small run that shows it is set by Stage.small"


FAULTS = (
    Fault(
        name="clip removed",
        make=faults.no_clip,
        check=checks.check_attained,
        advice="clip by the functions of methods/records/base.py, which the fault removes",
    ),
    Fault(name="noise halved", make=faults.half_the_noise, check=checks.check_noise),
    Fault(name="sensitivity halved", make=faults.half_the_sensitivity, check=checks.check_attained),
    Fault(
        name="radius from the data",
        make=faults.radius_from_the_data,
        check=checks.check_plan_is_fixed,
        without=faults.reads_no_constant,
        advice="the plan reads constants of the problem that leave what is released as it is",
    ),
    Fault(name="seed reused", make=faults.one_seed_for_all, check=checks.check_noise_is_fresh),
    Fault(name="budget spent twice", make=faults.budget_spent_twice, check=checks.check_ledger),
    Fault(
        name="release off the books",
        make=faults.second_run_off_the_books,
        check=checks.check_ledger,
    ),
    Fault(
        name="block split reused",
        make=faults.split_reused,
        check=checks.check_attained,
        without=faults.splits_nothing,
        advice="Stage.small must set a run of more than one block, step or phase",
    ),
)
SPLIT = FAULTS[-1]


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A case of a method with a fault."""

    case: str
    fault: Fault

    @property
    def not_applicable(self) -> str:
        """Return the reason why the method cannot have the fault, or "" if it can."""
        return self.fault.without(case(self.case))


MUTANTS = tuple(Mutant(case=name, fault=fault) for name in CASES for fault in FAULTS)


def killed(mutant: Mutant, patch: pytest.MonkeyPatch) -> str:
    """Return the message of the check that fails on the broken method, or "" if the
    check passes.
    """
    place = case(mutant.case)
    mutant.fault.make(patch, place)
    try:
        mutant.fault.check(place)
    except AssertionError as failure:
        return str(failure).partition("\n")[0] or "found"
    return ""
