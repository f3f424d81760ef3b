"""The cost of a scenario is known for every problem and method before any work is done."""

from __future__ import annotations

import itertools
import math
import re
import time
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import (
    METHODS,
    PROBLEM_SLUGS,
    distributions_for,
    make_method,
    method_card,
    method_class,
    methods_for,
)
from dpsco_core.geometry.geometries import GEOMETRIES
from dpsco_core.geometry.mirror import PowerMirror
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.euclidean.solver import CLOSED_FORM
from dpsco_core.privacy import Ledger
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.runs import cost as costing
from dpsco_core.runs.allowed import nearest_allowed
from dpsco_core.runs.cost import (
    EVALUATION,
    OVERHEAD,
    REFERENCE_SECONDS,
    cost,
    machine_speed,
    release_seconds,
    too_large,
)
from dpsco_core.runs.prices import GRADIENTS, MIRROR_STEPS, PROJECTIONS, move_seconds, pass_seconds
from dpsco_core.runs.study import cells, planned, run_cell, study
from dpsco_core.scenario import Scenario
from tests.accepted_problems import first_accepted
from tests.folded import one_in
from tests.methods.euclidean.optimisation_helpers import RISKS

SMALL = Scenario(problem="logistic", n=2000, d=5, trials=3)
OPTIMISERS = [m for m in METHODS if "mean" not in m.card.problems]
DESCENTS = sorted(m.card.slug for m in OPTIMISERS if m.cost.unit == "step")
ROUGH = sorted(m.card.slug for m in OPTIMISERS if m.cost.rough_steps is not None)
PAIRS = [(problem, slug) for problem in PROBLEM_SLUGS for slug in methods_for(problem)]


def refuses(scenario: Scenario) -> bool:
    """Return whether the scenario's only method refuses its setting."""
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
    # More records may need fewer steps of a descent, but never smaller steps.
    if seconds > 0 and slug not in DESCENTS:
        assert release_seconds(replace(scenario, n=200_000), slug) > seconds


# The quick suite tries one law in three, which differ between problems; the slow suite tries the
# others.
@pytest.mark.parametrize("stride", [3, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("calibration", ["tight", pytest.param("paper", marks=pytest.mark.slow)])
@pytest.mark.parametrize("tuning", ["practical", pytest.param("theory", marks=pytest.mark.slow)])
@pytest.mark.parametrize("problem", one_in(2, PROBLEM_SLUGS))
def test_a_scenario_of_all_methods_has_a_price_on_every_law_in_every_tuning(
    problem: str, calibration: Any, tuning: Any, stride: int
) -> None:
    scenario = replace(
        SMALL,
        problem=problem,
        methods=methods_for(problem),
        calibration=calibration,
        tuning=tuning,
        axis="epsilon",
        grid=(0.1, 1.0),
    )
    # Every other law has a pure budget.
    start = PROBLEM_SLUGS.index(problem)
    for i, law in enumerate(distributions_for(problem), start):
        if i % stride:
            continue
        price = cost(replace(scenario, distribution=law, delta=(0.0, 1e-6)[i % 2]))
        assert price.cells == 2 * 3 * len(scenario.methods)
        assert 0 < price.largest_cell < price.seconds < math.inf


def test_the_prices_of_methods_add_up() -> None:
    chosen = ("sco.erm", "sco.clipped", "sco.private-sgd")
    single_costs = [cost(replace(SMALL, methods=(slug,))) for slug in chosen]
    without_methods = cost(replace(SMALL, methods=()))
    all_methods = cost(replace(SMALL, methods=chosen))
    expected = sum(price.seconds for price in single_costs) - 2 * without_methods.seconds
    assert all_methods.seconds == pytest.approx(expected, rel=1e-9)
    assert all_methods.largest_cell == max(price.largest_cell for price in single_costs)


@pytest.mark.parametrize("slug", DESCENTS)
def test_a_descent_costs_as_much_as_its_planned_steps(slug: str) -> None:
    problem = first_accepted(slug, SMALL.problem, "quadratic")
    users = method_class(slug).card.level == "user"
    scenario = replace(SMALL, problem=problem, m=3 if users else 1)
    plan, family = (
        make_method(slug, "tight", "practical").plan(scenario.setting),
        method_class(slug),
    )
    assert plan.passes >= 1
    is_averaged = family.needs_only_means and scenario.setting.constants.structure == "mean"
    visited, numbers = scenario.n * scenario.m, scenario.n * scenario.m * scenario.d
    step = pass_seconds(family.cost, scenario.n if is_averaged else visited, scenario.d, problem)
    move_time = plan.moves * move_seconds(scenario.setting, plan.mirror)
    expected = plan.passes * step + 1e-9 * plan.pieces * family.cost.per_piece + move_time
    expected += 1e-9 * numbers if is_averaged else 0.0  # The users' means are formed once.
    assert release_seconds(scenario, slug) == pytest.approx(expected)


@pytest.mark.parametrize(
    "slug",
    ["sco.output-perturbation", "sco.objective-perturbation", "sco.pure-objective-perturbation"],
)
@pytest.mark.parametrize("problem", ["linear", "quadratic"])
def test_a_closed_form_costs_one_pass_and_no_solver(slug: str, problem: str) -> None:
    delta = 1e-6 if slug == "sco.objective-perturbation" else 0.0
    closed = replace(SMALL, problem=problem, methods=(slug,), n=100_000, d=2, delta=delta)
    assert planned(closed, slug).has_closed_form
    solved = replace(closed, problem="logistic")
    assert not planned(solved, slug).has_closed_form
    seconds = release_seconds(closed, slug)
    assert seconds < release_seconds(solved, slug) / 5
    assert seconds == pytest.approx(CLOSED_FORM.seconds(closed.n, closed.d))


@pytest.mark.parametrize(
    ("slug", "problem"), [("mean.iterative", "mean"), ("sco.iterative", "hinge")]
)
def test_a_deepest_point_costs_more_with_each_of_the_first_dimensions(
    slug: str, problem: str
) -> None:
    price = method_class(slug).cost
    steps = [price.seconds(1000, d) for d in (1, 2, 3)]
    assert steps[0] < steps[1] / 2 < steps[2] / 10
    # The part of the price that is added to the fixed cost stays the same.
    rest = price.seconds(5000, 2) - price.seconds(1000, 2)
    assert rest == pytest.approx(1e-9 * 4000 * (price.per_row + 2 * price.per_element))


@pytest.mark.parametrize("problem", ["linear", "quadratic"])
@pytest.mark.parametrize("geometry", ["l2", "l1", "linf", "simplex", "sparse"])
def test_an_exact_step_of_the_minimiser_is_priced_as_such(problem: str, geometry: Any) -> None:
    for law in ("gaussian", "student-t"):
        point = replace(
            SMALL, problem=problem, methods=("sco.erm",), geometry=geometry, distribution=law
        )
        plan = planned(point, "sco.erm")
        sample = point.instance.problem.draw(np.random.default_rng(0)).sample(
            point.n, np.random.default_rng(1)
        )
        answer = make_method("sco.erm", "tight", "practical").release(
            sample, plan, Ledger(point.setting.budget), np.random.default_rng(2)
        )
        assert answer.iterate_steps is not None
        assert abs(int(answer.iterate_steps[-1]) - plan.moves) <= 1


REPRODUCTION = Scenario(
    problem="geometric-median",
    distribution="skewed-pareto",
    methods=("lp.shuffled-mirror-descent",),
    n=100_000,
    d=2,
    epsilon=None,
    delta=None,
    rho=35.0,
    p=2.0,
    margin=2.0,
    geometry="lq",
    q=1.5,
    diameter=10.0,
    trials=200,
)


def test_a_cell_with_one_step_per_record_is_refused_where_it_takes_too_long() -> None:
    slug = "lp.shuffled-mirror-descent"
    plan = planned(REPRODUCTION, slug)
    assert plan.moves == REPRODUCTION.n
    move_time = plan.moves * move_seconds(REPRODUCTION.setting, plan.mirror)
    seconds = release_seconds(REPRODUCTION, slug)
    assert seconds > move_time
    # The reference time was measured on the reference machine.
    assert 15.2 / 3 < seconds < 15.2 * 3
    large = replace(REPRODUCTION, n=1_000_000, trials=1)
    problem = too_large(large, replace(DASHBOARD, seconds=math.inf))
    assert re.fullmatch(
        r"A single trial would take about \d+ s, and the dashboard allows 10 s: use a smaller n "
        r"or d, or the command line\.",
        problem,
    )
    assert nearest_allowed(large, replace(DASHBOARD, seconds=math.inf)) is not None


@pytest.mark.parametrize(
    "slug",
    [
        "lp.shuffled-mirror-descent",
        "lp.batched-mirror-descent",
        "lp.euclidean-reduction",
        "lp.noisy-mirror-descent",
        "sco.ftrl",
        "sco.phased-sgd",
        "sco.private-sgd",
        "sco.sgd",
    ],
)
def test_more_steps_of_one_pass_cost_more(slug: str) -> None:
    q = 3.0 if slug == "lp.euclidean-reduction" else 2.0
    scenario = replace(REPRODUCTION, problem="huber", methods=(slug,), q=q, distribution="gaussian")
    prices = []
    for rho in (0.01, 0.3, 35.0):
        point = replace(scenario, rho=rho, n=20_000, d=3)
        plan = planned(point, slug)
        step_seconds = move_seconds(point.setting, plan.mirror)
        step_seconds += 1e-9 * method_class(slug).cost.per_piece
        prices.append((plan.moves, release_seconds(point, slug)))
        assert prices[-1][1] > plan.moves * step_seconds
    assert sorted(prices) == sorted(prices, key=lambda pair: pair[1])


def test_every_geometry_and_problem_has_its_part_of_a_price() -> None:
    assert set(GRADIENTS) == set(SCO_PROBLEMS)
    for kind in GEOMETRIES:
        for q in (1.0, 1.2, 2.0, 3.0, math.inf) if kind == "lq" else (None,):
            point = replace(SMALL, geometry=kind, q=q)
            small, large = point.setting, replace(point, d=500).setting
            assert 0 < move_seconds(small, None) < move_seconds(large, None)
            if isinstance(small.body, tuple(MIRROR_STEPS)):
                mirror = PowerMirror.for_space(RegularSpace(d=5, exponent=1.2))
                assert move_seconds(small, mirror) > 0


def test_a_step_costs_less_where_the_minimiser_lies_inside_the_set() -> None:
    """A minimiser inside the set needs no search, while a linear loss is least on the boundary."""
    small_set, large_set = (
        replace(SMALL, problem=problem, geometry="lq", q=1.5).setting
        for problem in ("logistic", "linear")
    )
    free, searched = (where.seconds(0, 5) for where in PROJECTIONS[type(small_set.body)])
    assert free < move_seconds(small_set, None) < move_seconds(large_set, None) / 2
    assert move_seconds(large_set, None) < searched


@pytest.mark.parametrize("slug", ["sco.smoothed", "sco.automatic", "lp.noisy-mirror-descent"])
def test_an_expensive_gradient_raises_only_the_cost_of_work_on_records(slug: str) -> None:
    """The overhead of a step, which no loss changes, is not charged again."""
    price = method_class(slug).cost
    small, large = (
        pass_seconds(price, n, 50, "geometric-median") - pass_seconds(price, n, 50, "logistic")
        for n in (100, 10_000)
    )
    assert small < price.seconds(100, 50) / 4
    assert large > 20 * small


def test_a_step_on_several_records_costs_more_than_one_record() -> None:
    small, large = (
        planned(replace(SMALL, problem="huber", methods=("sco.sgd",), n=n), "sco.sgd")
        for n in (2000, 200_000)
    )
    assert small.pieces == small.moves == 2000
    assert large.pieces == 3 * large.moves


def test_a_mirror_step_that_ends_inside_the_set_needs_no_search() -> None:
    point = replace(SMALL, problem="logistic", geometry="l1", d=50)
    mirror = PowerMirror.for_space(RegularSpace(d=50, exponent=1.2))
    expected = move_seconds(point.setting, mirror)
    assert expected < MIRROR_STEPS[type(point.setting.body)].seconds(0, 50) / 2
    assert expected < move_seconds(replace(point, problem="linear").setting, mirror) / 2
    simplex = replace(point, geometry="simplex").setting
    assert move_seconds(simplex, mirror) == MIRROR_STEPS[type(simplex.body)].seconds(0, 50)


@pytest.mark.parametrize("slug", ["user.accelerated", "user.accelerated-strong"])
def test_a_step_on_part_of_the_users_has_the_whole_overhead_of_a_step(slug: str) -> None:
    assert method_class(slug).cost.fixed == 0 < method_class(slug).cost.per_piece


@pytest.mark.parametrize(("problem", "passes"), [("quadratic", 1), ("linear", 1), ("logistic", 40)])
def test_a_minimiser_that_follows_from_the_mean_reads_the_records_once(
    problem: str, passes: int
) -> None:
    assert (
        planned(replace(SMALL, problem=problem, methods=("sco.erm",)), "sco.erm").passes == passes
    )


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
    without_methods = cost(replace(refused, methods=()))
    assert release_seconds(refused, "sco.cwme-strong") == 0
    added = cost(refused).seconds - without_methods.seconds
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
    expected = OVERHEAD + release_seconds(scenario, "sco.erm")
    extra = EVALUATION if averaged else 0.0
    assert seconds / machine_speed() == pytest.approx(expected + extra)


@pytest.mark.slow
@pytest.mark.parametrize("slug", [m.card.slug for m in OPTIMISERS])
def test_predictions_are_of_the_right_order(slug: str) -> None:
    """A prediction is within a factor of 10 of the thread's own CPU time, summed over the problems.

    Wall time is not used, since other work of the machine does not belong to the cell.
    """
    measured = predicted = 0.0
    # Some methods are for sets with corners only.
    for problem, geometry in product(RISKS, ("l2", "l1")):
        scenario = replace(SMALL, problem=problem, geometry=geometry, methods=(slug,), trials=1)
        (cell,) = cells(scenario)
        # The first run fills the caches.
        if run_cell(cell).not_applicable is None:
            started = time.thread_time()
            run_cell(cell)
            measured += time.thread_time() - started
            predicted += cost(scenario).seconds
    assert predicted > 0
    assert 0.1 < measured / predicted < 10


@pytest.mark.parametrize("clock", ["thread_time", "perf_counter"])
def test_the_speed_of_the_machine_is_the_processor_time_of_one_thread_where_there_is_one(
    clock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = itertools.count()

    def wait_for_others() -> float:
        """Return a time that includes long waits for other threads."""
        return 100 * REFERENCE_SECONDS * next(ticks)

    clocks = {"perf_counter": wait_for_others}
    clocks |= {clock: lambda: 2 * REFERENCE_SECONDS * next(ticks)}
    monkeypatch.setattr(costing, "time", SimpleNamespace(**clocks))
    assert machine_speed.__wrapped__() == pytest.approx(2.0)
