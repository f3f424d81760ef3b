"""The list of the best forms of `dpsco fano`: sorted, complete, and without duplicates."""

from __future__ import annotations

from typing import Any

import pytest

from dpsco_core.explain.fano.forms import best_forms
from dpsco_core.explain.fano.instance import floors, mean_instance

BUDGETS: tuple[dict[str, Any], ...] = (
    {"rho": 0.5},
    {"epsilon": 1.0, "delta": 0.0, "rho": None},
    {"epsilon": 1.0, "delta": 1e-6, "rho": None},
)


@pytest.mark.parametrize("budget", BUDGETS, ids=["zcdp", "pure", "approx"])
def test_the_best_forms_are_sorted_and_their_largest_are_the_limits(budget: dict[str, Any]) -> None:
    """The list has every packing of pure DP once, whether or not the budget has a delta."""
    instance = mean_instance(**budget)
    forms = best_forms(instance)
    values = [form.value for form in forms]
    assert values == sorted(values, reverse=True)
    assert len({form.key for form in forms}) == len(forms) == len(set(values))
    for kind, floor in (
        ("zcdp", floors(instance).concentrated),
        ("pure", floors(instance).pure),
    ):
        assert max(f.value for f in forms if f.binds == kind) == pytest.approx(floor, rel=1e-9)
