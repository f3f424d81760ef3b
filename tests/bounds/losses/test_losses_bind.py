"""On the instances of a loss, no private optimiser of the catalogue beats the loss's lower
bounds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.cards import MethodCard
from dpsco_core.catalogue import default_methods, method_card, methods_for
from dpsco_core.explain.hardest import hardest_case, impossible
from dpsco_core.results.report import bound_setting, evaluate_all
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario
from tests.bounds.test_lower_bounds_bind import Comparison, compare
from tests.folded import one_in

CASES = (
    ("absolute", "one-hot"),
    ("absolute", "any-labels"),
    ("huber", "one-hot"),
    ("huber", "any-labels"),
    ("hinge", "one-hot"),
    ("logistic", "one-hot"),
    ("geometric-median", "far-points"),
)
ON_SIMPLEX = (("hinge", "corner-labels"), ("logistic", "corner-labels"))
BUDGETS: tuple[dict[str, Any], ...] = (
    {"epsilon": None, "delta": None, "rho": 0.3},
    {"epsilon": 2.0, "delta": 1e-5},
    {"epsilon": 2.0, "delta": 0.0},
)


def make_scenario(problem: str, law: str, budget: dict[str, Any], **fields: Any) -> Scenario:
    """Return a small scenario of a problem on a law under a budget, with some fields changed."""
    common: dict[str, Any] = {
        "n": 250,
        "d": 6,
        "p": 2.5,
        "diameter": 4.0,
        "offset": 0.0,
        "seed": 1,
        "methods": (),
    }
    return Scenario(problem=problem, distribution=law, **common | budget | fields)


def is_private(card: MethodCard) -> bool:
    """Return whether a method is private for single records."""
    return card.privacy != "none" and card.level == "item"


def compare_with_bounds(
    problem: str, law: str, budget: dict[str, Any], trials: int
) -> list[Comparison]:
    """Compare the quick private methods for a problem with all bounds that hold there."""
    chosen = make_scenario(problem, law, budget)
    methods = [m for m in methods_for(problem) if is_private(method_card(m))]
    quick = [m for m in methods if m in default_methods(problem)] or methods[:2]
    return [c for method in quick for c in compare(chosen, method, trials)]


@pytest.mark.parametrize(("problem", "law"), CASES)
def test_no_private_optimiser_beats_the_bounds_of_its_own_loss(problem: str, law: str) -> None:
    comparisons = [
        c for budget in BUDGETS[:2] for c in compare_with_bounds(problem, law, budget, 24)
    ]
    assert [(c.method, c.bound, c.ratio) for c in comparisons if c.is_below] == []
    assert {c.bound.rsplit("-", 1)[1] for c in comparisons} >= {"cdp"}
    assert all(c.bound.startswith(f"lower.sco.{problem}") for c in comparisons)


@pytest.mark.parametrize(("problem", "law"), one_in(2, ON_SIMPLEX))
def test_no_private_optimiser_beats_the_bounds_of_the_simplex(problem: str, law: str) -> None:
    comparisons = []
    for budget in BUDGETS[:2]:
        chosen = make_scenario(problem, law, budget, geometry="simplex")
        methods = [m for m in methods_for(problem) if is_private(method_card(m))]
        comparisons += [c for m in methods[:12] for c in compare(chosen, m, 16)]
    assert [(c.method, c.bound, c.ratio) for c in comparisons if c.is_below] == []
    assert {c.bound for c in comparisons} >= {f"lower.sco.{problem}-corners-cdp"}


@pytest.mark.parametrize(
    "geometry", one_in(2, ["linf", "l1", "simplex", "group-l1", "solid-simplex"])
)
def test_no_private_optimiser_beats_the_bounds_of_the_median_on_other_sets(geometry: str) -> None:
    problem, comparisons = "geometric-median", []
    for budget in BUDGETS[:2]:
        chosen = make_scenario(problem, "far-points", budget, geometry=geometry, d=10)
        methods = [m for m in methods_for(problem) if is_private(method_card(m))]
        comparisons += [c for m in methods[:8] for c in compare(chosen, m, 16)]
    assert [(c.method, c.bound, c.ratio) for c in comparisons if c.is_below] == []
    name = "lower.sco.geometric-median-" + ("" if geometry == "linf" else "words-")
    assert {c.bound for c in comparisons} == {f"{name}cdp", f"{name}approx"}


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "law"), CASES)
def test_no_private_optimiser_beats_the_bounds_in_200_trials(problem: str, law: str) -> None:
    comparisons = [c for budget in BUDGETS for c in compare_with_bounds(problem, law, budget, 200)]
    assert [(c.method, c.bound, c.ratio) for c in comparisons if c.is_below] == []


@pytest.mark.parametrize(("problem", "law"), CASES)
def test_the_hardest_data_of_a_loss_are_its_own_instance(problem: str, law: str) -> None:
    """Its region of impossible errors is the loss's bound at the spike probability of the data."""
    chosen = make_scenario(problem, law, BUDGETS[0])
    (floor,) = impossible(chosen)
    assert floor.bound.card.instance_problem == problem
    assert floor.value > 0
    probability = chosen.setting.spike_probability
    assert bound_setting(chosen, floor.bound).spike_probability == probability
    if law == "one-hot" and problem in ("absolute", "huber"):
        return  # Such data are not the hardest for these losses: arbitrary labels are harder.
    ordinary = replace(chosen, distribution="student-t", methods=default_methods(problem))
    hardest = hardest_case(ordinary)
    assert hardest is not None
    assert (hardest.problem, hardest.distribution) == (problem, law)


@pytest.mark.parametrize("geometry", ["l1", "linf", "simplex", "solid-simplex", "group-l1"])
@pytest.mark.parametrize("problem", ["absolute", "huber", "hinge", "logistic"])
def test_a_hidden_parameter_has_a_bound_on_every_set(problem: str, geometry: str) -> None:
    chosen = make_scenario(
        problem, "one-hot", BUDGETS[0], geometry=geometry, d=10, methods=("sco.erm",)
    )
    (hardest,) = impossible(chosen)
    assert hardest.value > 0 and not hardest.failures
    (outcome,) = study(replace(chosen, trials=1))
    assert outcome.not_applicable or np.isfinite(outcome.error)
    ordinary = replace(chosen, distribution="gaussian", methods=())
    slug = f"lower.sco.{problem}-cdp"
    (row,) = [e for e in evaluate_all(ordinary) if e.bound.card.slug == slug]
    assert row.value > 0 and not row.failures and row.applies
