"""The cost of a scenario: known for every problem and method, before any work is done."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.catalogue import (
    METHODS,
    PROBLEM_SLUGS,
    distributions_for,
    make_method,
    method_card,
    method_class,
    methods_for,
)
from dpsco_core.runs.cost import EVALUATION, OVERHEAD, cost, machine_speed, release_seconds
from dpsco_core.runs.study import cells, run_cell, study
from dpsco_core.scenario import Scenario
from tests.accepts import first_accepted
from tests.folded import one_in
from tests.methods.euclidean.optimisation_helpers import RISKS

SMALL = Scenario(problem="logistic", n=2000, d=5, trials=3)
OPTIMISERS = [m for m in METHODS if "mean" not in m.card.problems]
DESCENTS = sorted(m.card.slug for m in OPTIMISERS if m.cost.unit == "step")
ROUGH = sorted(m.card.slug for m in OPTIMISERS if m.cost.rough_steps is not None)
PAIRS = [(problem, slug) for problem in PROBLEM_SLUGS for slug in methods_for(problem)]


def refuses(scenario: Scenario) -> bool:
    (slug,) = scenario.methods
    try:
        make_method(slug, scenario.calibration, scenario.tuning).plan(scenario.setting)
    except NotApplicable:
        return True
    return False


@pytest.mark.parametrize(("problem", "slug"), one_in(2, PAIRS))
def test_every_method_on_every_problem_has_a_price_unless_it_refuses(
    problem: str, slug: str
) -> None:
    scenario = replace(SMALL, problem=problem, methods=(slug,), trials=1)
    seconds = release_seconds(scenario, slug)
    assert (seconds == 0) == refuses(scenario)
    whole = cost(scenario)
    assert whole.cells == 1
    assert seconds * machine_speed() < whole.seconds < math.inf
    assert 0 < whole.largest_cell <= whole.seconds
    # More records may need fewer steps of a descent, but never a smaller step.
    if seconds > 0 and slug not in DESCENTS:
        assert release_seconds(replace(scenario, n=200_000), slug) > seconds


# One law in so many, the others in the slow suite: which, differs from problem to problem.
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("calibration", ["tight", pytest.param("paper", marks=pytest.mark.slow)])
@pytest.mark.parametrize("tuning", ["practical", pytest.param("theory", marks=pytest.mark.slow)])
@pytest.mark.parametrize("problem", one_in(2, PROBLEM_SLUGS))
def test_a_scenario_of_all_methods_has_a_price_on_every_law_in_every_tuning(
    problem: str, calibration: Any, tuning: Any, every: int
) -> None:
    everything = replace(
        SMALL,
        problem=problem,
        methods=methods_for(problem),
        calibration=calibration,
        tuning=tuning,
        axis="epsilon",
        grid=(0.1, 1.0),
    )
    # A pure budget on every other law.
    first = PROBLEM_SLUGS.index(problem)
    for i, law in enumerate(distributions_for(problem), first):
        if i % every:
            continue
        price = cost(replace(everything, distribution=law, delta=(0.0, 1e-6)[i % 2]))
        assert price.cells == 2 * 3 * len(everything.methods)
        assert 0 < price.largest_cell < price.seconds < math.inf


def test_the_prices_of_methods_add_up() -> None:
    chosen = ("sco.erm", "sco.clipped", "sco.private-sgd")
    alone = [cost(replace(SMALL, methods=(slug,))) for slug in chosen]
    none = cost(replace(SMALL, methods=()))
    together = cost(replace(SMALL, methods=chosen))
    expected = sum(price.seconds for price in alone) - 2 * none.seconds
    assert together.seconds == pytest.approx(expected, rel=1e-9)
    assert together.largest_cell == max(price.largest_cell for price in alone)


@pytest.mark.parametrize("slug", DESCENTS)
def test_a_descent_costs_as_much_as_its_planned_steps(slug: str) -> None:
    problem = first_accepted(slug, SMALL.problem, "quadratic")
    users = method_class(slug).card.level == "user"
    scenario = replace(SMALL, problem=problem, m=3 if users else 1)
    steps = make_method(slug, "tight", "practical").plan(scenario.setting).passes
    assert steps >= 1
    each = method_class(slug).cost.seconds(scenario.n * scenario.m, scenario.d)
    assert release_seconds(scenario, slug) == pytest.approx(steps * each)


@pytest.mark.parametrize("slug", ROUGH)
def test_steps_that_are_not_planned_are_estimated_within_a_factor_of_twenty(slug: str) -> None:
    problems = method_card(slug).problems
    problem = SMALL.problem if SMALL.problem in problems else problems[0]
    for n, d in ((2000, 5), (10_000, 10), (50_000, 20)):
        scenario = replace(SMALL, problem=problem, m=10, n=n, d=d)
        exact, rough = (release_seconds(scenario, slug, exact=exact) for exact in (True, False))
        assert exact / 2 < rough < 20 * exact


def test_a_refusal_costs_no_release_and_no_evaluation() -> None:
    refused = replace(SMALL, methods=("sco.cwme-strong",), trials=1)
    nothing = cost(replace(refused, methods=()))
    assert release_seconds(refused, "sco.cwme-strong") == 0
    added = cost(refused).seconds - nothing.seconds
    assert added == pytest.approx(OVERHEAD * machine_speed())


@pytest.mark.parametrize(
    ("problem", "distribution", "averaged"),
    [
        ("huber", "student-t", True),
        ("logistic", "gaussian", True),
        ("huber", "hypercube", False),
        ("geometric-median", "spike", False),
        ("quadratic", "student-t", False),
        ("least-squares", "log-normal", False),
    ],
)
def test_a_risk_that_is_an_average_costs_its_evaluation(
    problem: str, distribution: str, averaged: bool
) -> None:
    scenario = replace(
        SMALL, problem=problem, distribution=distribution, methods=("sco.erm",), trials=1
    )
    (outcome,) = study(scenario)
    assert (outcome.error_uncertainty > 0) == averaged
    seconds = cost(scenario).seconds - cost(replace(scenario, methods=())).seconds
    known = OVERHEAD + release_seconds(scenario, "sco.erm")
    extra = EVALUATION if averaged else 0.0
    assert seconds / machine_speed() == pytest.approx(known + extra)


@pytest.mark.slow
@pytest.mark.parametrize("slug", [m.card.slug for m in OPTIMISERS])
def test_predictions_are_of_the_right_order(slug: str) -> None:
    """Within a factor of 10 of the clock, summed over the problems: other work may share it."""
    measured = predicted = 0.0
    for problem in RISKS:
        scenario = replace(SMALL, problem=problem, methods=(slug,), trials=1)
        (cell,) = cells(scenario)
        run_cell(cell)  # warms what is cached
        started = time.perf_counter()
        outcome = run_cell(cell)
        if outcome.not_applicable is None:
            measured += time.perf_counter() - started
            predicted += cost(scenario).seconds
    assert predicted > 0
    assert 0.1 < measured / predicted < 10
