"""Faults of a few methods are found out by checks that these methods pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import pytest

from tests.trust.cases import Case
from tests.trust.checks import Check
from tests.trust.finer import FINER, Finer

PARAMETERS = [
    pytest.param(fault, name, id=f"{name}-{fault.make.__name__}-{fault.place.__name__}")
    for fault in FINER
    for name in fault.cases
]


@lru_cache
def honest(name: str, place: Callable[[str], Case], check: Check) -> None:
    """Run the check without a fault, which raises AssertionError if it fails; a second call for the
    arguments is free.
    """
    check(place(name))


@pytest.mark.parametrize(("fault", "name"), PARAMETERS)
def test_a_fault_of_a_few_methods_is_caught(
    fault: Finer, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest(name, fault.place, fault.check)
    fault.make(monkeypatch)
    with pytest.raises(AssertionError):
        fault.check(fault.place(name))
