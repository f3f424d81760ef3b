"""Conditions with their numbers: the printed numbers decide as the condition itself does."""

from __future__ import annotations

import math
import operator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from dpsco_core.catalogue import BOUNDS, bound, default_methods
from dpsco_core.explain.tables.letters import Condition, conditions
from dpsco_core.explain.tables.table import canonical_point
from dpsco_core.scenario import Scenario

SIGNS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
BUDGETS: tuple[dict[str, Any], ...] = (
    {"epsilon": 1.0, "delta": 1e-6},
    {"epsilon": 0.05, "delta": 1e-3},
    {"epsilon": None, "delta": None, "rho": 0.5},
    {"epsilon": 8.0, "delta": 0.0},
)
SIZES = ((20, 2, 2.0), (1000, 20, 3.0), (10_000, 9, 2.0), (900_000, 1, 6.0))


def compared(condition: Condition) -> bool:
    """Whether the printed numbers of a condition satisfy its printed signs of comparison."""
    values, signs = condition.sides[::2], condition.sides[1::2]
    pairs = zip(values, signs, values[1:], strict=False)
    return all(SIGNS[str(sign)](a, b) for a, sign, b in pairs)


def test_the_numbers_of_every_condition_decide_as_it_does() -> None:
    """The test catches a letter with another meaning in one paper, and a side that is read wrongly.

    A condition may stay silent although its numbers fail only where another one reports.
    """
    numbered, wrong = set(), []
    for row in BOUNDS:
        problem = row.card.problems[0]
        level = "user" if row.card.level == "user" else "item"
        base = Scenario(problem=problem, methods=default_methods(problem, level))
        for budget, (n, d, p) in product(BUDGETS, SIZES):
            m = 50 if level == "user" else 1
            point = canonical_point(replace(base, n=n, d=d, p=p, m=m, **budget))
            all_rows = conditions(point, row)
            for condition in (c for c in all_rows if c.sides):
                numbered.add(condition.text)
                agrees = compared(condition) != bool(condition.failure)
                if not agrees and (condition.failure or not any(c.failure for c in all_rows)):
                    wrong.append((row.card.slug, condition))
    assert not wrong
    assert len(numbered) >= 25


def test_a_condition_shows_the_number_on_both_of_its_sides() -> None:
    point = canonical_point(Scenario(methods=("mean.sample",), n=500, d=20))
    all_rows = conditions(point, bound("upper.mean.smoothed"))
    (condition,) = [c for c in all_rows if c.text == "n >= 100 sqrt(d/rho)"]
    required = 100 * math.sqrt(20 / point.setting.gaussian_rho)
    assert condition.sides == (500, ">=", pytest.approx(required)) and "500" in condition.failure
