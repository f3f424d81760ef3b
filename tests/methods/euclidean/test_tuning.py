"""The model behind the practical tuning predicts what descent does."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.geometry.ball import Ball
from dpsco_core.methods.euclidean import ClippedDescent, CoordinatewiseDescent, SmoothedDescent
from dpsco_core.methods.euclidean.tuning import (
    SPARED,
    curvatures,
    modelled_risk,
    practical_descent,
    practical_limit,
    practical_radius,
)
from dpsco_core.methods.run import descend
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy import ZCDP, ApproxDP
from dpsco_core.runs.study import Cell, canonical, run_cell
from dpsco_core.scenario import Scenario
from tests.folded import each
from tests.methods.euclidean.framework.helpers import (
    APPROXIMATE,
    CONCENTRATED,
    linear_problem,
    logistic_problem,
    quadratic_problem,
    run,
)

PROBLEMS = [
    quadratic_problem(),
    quadratic_problem(5, radius=3.0),
    logistic_problem(),
    linear_problem(),
]
FAMILIES = (ClippedDescent, CoordinatewiseDescent, SmoothedDescent)
WIDE_SET = Ball(d=1, radius=1e9)


def response(rule: Descent, curvature: float, start: float, impulse: int | None) -> float:
    """Return the final distance from the minimiser of a run that starts at distance `start`, with a
    unit of noise in the gradient of step `impulse`.
    """

    def oracle(w: np.ndarray, t: int) -> np.ndarray:
        """Return the gradient of a quadratic, with an impulse at one step."""
        return curvature * (w - start) + (1.0 if t == impulse else 0.0)

    return float(descend(WIDE_SET, rule, oracle).value[0] - start)


@each("steps", [1, 2, 7, 24])
@each("fraction", [0.05, 0.6, 1.0])
@each("curvature", [0.3, 2.0])
def test_the_model_agrees_with_the_linear_recursion(
    steps: int, fraction: float, curvature: float
) -> None:
    """The loop runs on one impulse at a time, which gives the bias and the weight of every
    step's noise.
    """
    for averaged in {1, max(1, steps // 2), steps}:
        rule = Descent(steps=steps, step_size=fraction / curvature, averaged=averaged)
        bias = response(rule, curvature, 3.0, None)
        weights = np.array([response(rule, curvature, 0.0, s) for s in range(steps)])
        risk = curvature / 2 * (bias**2 + steps * 0.7 * float(weights @ weights))
        modelled = modelled_risk(curvature, steps, rule.step_size, averaged, 3.0, 0.7)
        assert modelled == pytest.approx(risk, rel=1e-9, abs=1e-15)


def test_the_model_has_its_limiting_values() -> None:
    # After one Newton step, only the noise contributes to the risk.
    assert modelled_risk(1.0, 1, 1.0, 1, 2.0, 0.5) == 0.25
    start = modelled_risk(1.0, 1, 1e-6, 1, 2.0, 0.5)  # Tiny steps leave only the start.
    assert start == pytest.approx(2.0, rel=1e-5)
    assert modelled_risk(2.0, 1000, 0.25, 1, 5.0, 0.0) < 1e-200


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_a_spread_of_curvatures_slows_the_approach_and_leaves_the_noise(steps: int) -> None:
    h, size, spread = 2.0, 0.4, 0.3
    for averaged in {1, steps}:
        slow = modelled_risk(h - spread, steps, size, averaged, 3.0, 0.0) * h / (h - spread)
        noise = modelled_risk(h, steps, size, averaged, 0.0, 0.7)
        modelled = modelled_risk(h, steps, size, averaged, 3.0, 0.7, spread)
        assert modelled == pytest.approx(slow + noise, rel=1e-9)
    assert modelled_risk(h, 1, 1 / h, 1, 3.0, 0.0, spread) == pytest.approx(
        h / 2 * (spread / h * 3.0) ** 2
    ), "what one Newton step leaves"


def test_the_model_predicts_a_simulated_run() -> None:
    """The prediction is compared with 20,000 runs; a mean of scaled chi-squares is within its 1e-6
    quantiles.
    """
    rng, runs, (h, steps, size, averaged) = np.random.default_rng(0), 20_000, (0.8, 9, 0.5, 4)
    w, total = np.zeros(runs), np.zeros(runs)
    for t in range(steps):
        w = w - size * (h * (w - 1.5) + math.sqrt(steps * 0.3) * rng.standard_normal(runs))
        total += w if t >= steps - averaged else 0.0
    losses = h / 2 * (total / averaged - 1.5) ** 2
    expected = modelled_risk(h, steps, size, averaged, 1.5, 0.3)
    error = float(losses.std()) / math.sqrt(runs)
    assert abs(float(losses.mean()) - expected) < 4.9 * error


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_less_noise_never_costs_more_than_it_saves(problem: Any) -> None:
    setting = problem.setting(1000, CONCENTRATED)
    descents = [practical_descent(setting, v) for v in np.geomspace(1e-12, 1e6, 9)]
    risks = [one.modelled_risk for one in descents]
    smallest, _ = curvatures(setting)
    spared = SPARED * setting.constants.variance_trace / (2 * smallest * setting.n)
    for smaller_risk, larger_risk in itertools.pairwise(risks):
        assert smaller_risk <= larger_risk * (1 + SPARED) + spared
    assert risks[0] < 1e-3 * risks[-1] or problem.card.slug == "linear"


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_the_steps_are_stable_and_the_average_exists(problem: Any) -> None:
    setting = problem.setting(1000, CONCENTRATED)
    _, largest = curvatures(setting)
    for energy in np.geomspace(1e-12, 1e6, 4):
        descent = practical_descent(setting, energy)
        assert 0 < descent.step_size <= (1 + 1e-12) / largest
        assert 1 <= descent.averaged <= descent.steps
        assert not descent.queried


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_a_larger_budget_means_less_noise(family: Any, problem: Any) -> None:
    total = []
    for rho in (1e-4, 1e-2, 1.0, 100.0):
        plan = family().plan(problem.setting(1000, ZCDP(rho=rho)))
        total.append(plan.diagnostics["noise_std"] / math.sqrt(plan.descent.steps))
    assert total == sorted(total, reverse=True)
    small, large = (
        family().plan(problem.setting(1000, ApproxDP(epsilon=e, delta=1e-6))) for e in (0.1, 2.0)
    )
    assert small.rho < large.rho


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_without_privacy_the_method_is_descent_without_noise(problem: Any) -> None:
    """At rho = 10^12 a run ends where the same steps on exact clipped gradients end."""
    n = 500
    setting, sample = (
        problem.setting(n, ZCDP(rho=1e12)),
        problem.sample(n, np.random.default_rng(0)),
    )
    radius = 1e4  # The radius is above every gradient of this sample.
    for gradients in sample.gradients(np.zeros(setting.d)).blocks():
        assert np.linalg.norm(gradients, axis=1).max() < radius / 2
    plan = ClippedDescent(radius=radius).plan(setting)
    result, _ = run(ClippedDescent(radius=radius), setting, sample)
    exact = descend(sample.constraint, plan.descent, lambda w, _: sample.mean_gradient(w))
    noise = plan.diagnostics["noise_std"]
    assert noise < 1e-3
    np.testing.assert_allclose(result.value, exact.value, atol=20 * noise * plan.descent.steps)


@pytest.mark.parametrize("problem", PROBLEMS[:2], ids=str)
def test_without_privacy_and_clipping_the_minimum_of_the_empirical_risk_is_found(
    problem: Any,
) -> None:
    n = 2000
    setting, sample = (
        problem.setting(n, ZCDP(rho=1e12)),
        problem.sample(n, np.random.default_rng(1)),
    )
    result, _ = run(ClippedDescent(radius=1e4), setting, sample)
    best = sample.constraint.project(sample.points.x.mean(axis=0))
    np.testing.assert_allclose(result.value, best, atol=1e-3)


@pytest.mark.parametrize("level", [practical_radius, practical_limit])
@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_clip_levels_grow_slowly_with_records_and_budget(level: Any, problem: Any) -> None:
    by_records = [level(problem.setting(n, CONCENTRATED), 0.5) for n in (10, 10**4, 10**9, 10**14)]
    by_budget = [level(problem.setting(1000, CONCENTRATED), rho) for rho in (1e-6, 1.0, 1e12)]
    for levels in (by_records, by_budget):
        assert all(0 < value < math.inf for value in levels)
        assert levels == sorted(levels)
    assert by_records[-1] > by_records[0], "so that the bias vanishes"
    assert by_records[-1] < 1e14 ** (1 / 2.9) * by_records[0]


def test_a_clip_radius_is_never_above_the_lipschitz_constant() -> None:
    setting = logistic_problem().setting(10**9, CONCENTRATED)
    bounded = replace(setting, constants=replace(setting.constants, lipschitz=0.25))
    assert practical_radius(bounded, 0.5) == 0.25


def test_levels_scale_with_the_data() -> None:
    small, large = (
        quadratic_problem().setting(1000, CONCENTRATED),
        quadratic_problem().setting(1000, CONCENTRATED),
    )
    c = small.constants
    scaled = replace(
        c,
        coordinate_moment=c.coordinate_moment * 10**small.moment_order,
        variance_trace=c.variance_trace * 100,
        mean_gradient_bound=c.mean_gradient_bound * 10,
    )
    large = replace(large, constants=scaled)
    for level in (practical_radius, practical_limit):
        assert level(large, 0.5) == pytest.approx(10 * level(small, 0.5), rel=1e-12)


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_curvatures_are_certified_or_assumed_and_ordered(problem: Any) -> None:
    smallest, largest = curvatures(problem.setting(100, APPROXIMATE))
    assert 0 < smallest <= largest < math.inf
    constants = problem.constants
    if constants.strong_convexity > 0:
        assert smallest == constants.strong_convexity
    if constants.smoothness > 0:
        assert largest == constants.smoothness


def test_without_smoothness_and_without_a_bound_there_is_no_step_size() -> None:
    setting = quadratic_problem().setting(100, CONCENTRATED)
    for bound, match in ((math.inf, "certifies neither"), (0.0, "nothing to minimise")):
        changed = replace(setting.constants, smoothness=math.inf, mean_gradient_bound=bound)
        with pytest.raises(NotApplicable, match=match):
            curvatures(replace(setting, constants=changed))


def least_squares(distribution: str, n: int, d: int, rho: float) -> Scenario:
    """Return a scenario of least squares under zCDP."""
    return Scenario(
        problem="least-squares",
        distribution=distribution,
        methods=("sco.clipped",),
        n=n,
        d=d,
        rho=rho,
        epsilon=None,
        delta=None,
    )


def test_gradients_that_spread_with_the_distance_take_more_than_one_step() -> None:
    """One Newton step would suffice if all records had the curvature of their mean."""
    setting = least_squares("student-t", 20_000, 10, 0.5).setting
    blind = replace(setting, constants=replace(setting.constants, minimum_variance=math.inf))
    new, old = (ClippedDescent().plan(at) for at in (setting, blind))
    assert old.descent.steps == 1 < new.descent.steps
    assert new.diagnostics["clip_radius"] < old.diagnostics["clip_radius"]


@pytest.mark.parametrize(("distribution", "n"), [("student-t", 200), ("hypercube", 20_000)])
def test_a_spread_too_large_for_the_model_or_not_certified_changes_nothing(
    distribution: str, n: int
) -> None:
    """The cases are too few records, and a law whose curvature is not certified in every
    direction.
    """
    setting = least_squares(distribution, n, 30, 0.1).setting
    blind = replace(setting, constants=replace(setting.constants, minimum_variance=math.inf))
    assert setting.constants.variance_growth > 0
    assert ClippedDescent().plan(setting).diagnostics == ClippedDescent().plan(blind).diagnostics


# On least squares one step with a radius for the worst point erred 4 to 9 times as much as the best
# radius.
LEAST_SQUARES = (
    pytest.param("student-t", 20_000, 10, 0.5, marks=pytest.mark.slow),
    pytest.param("skewed-pareto", 100_000, 20, 0.05, marks=pytest.mark.slow),
    ("log-normal", 5000, 10, 1.0),
)


@pytest.mark.parametrize(("distribution", "n", "d", "rho"), LEAST_SQUARES)
def test_on_least_squares_the_radius_is_nearly_as_good_as_the_best_in_hindsight(
    distribution: str, n: int, d: int, rho: float
) -> None:
    """The median excess risk is relative to the best of 11 radii, each with its own steps, on one
    seed.

    On other seeds the ratio is 1.15, 1.31 and 1.35; before, it was 2.9, 8.5 and 9.0.
    """
    scenario = least_squares(distribution, n, d, rho)
    plan = ClippedDescent().plan(scenario.setting)
    radius = plan.diagnostics["clip_radius"]
    methods = [ClippedDescent(radius=radius * 2 ** (k / 2)) for k in range(-7, 4)]
    methods.append(ClippedDescent())
    problem = scenario.instance.problem
    errors = np.empty((20, len(methods)))
    for trial in range(len(errors)):
        sample = problem.sample(n, np.random.default_rng([trial, 5]))
        for k, method in enumerate(methods):
            released, _ = run(method, scenario.setting, sample, seed=trial)
            errors[trial, k] = problem.excess_risk(released.value).value
    medians = np.median(errors, axis=0)
    assert medians[-1] <= 1.5 * medians[:-1].min()


@pytest.mark.parametrize("geometry", ["l2", "linf"])
@pytest.mark.parametrize("method", ["sco.clipped", "sco.noisy-gd"])
def test_a_run_on_a_large_set_arrives_where_gradients_do_not_grow(
    method: str, geometry: str
) -> None:
    """The geometric median's risk is curved at the median only; before, 5.8 of 6.8 remained."""
    point = Scenario(
        problem="geometric-median",
        distribution="log-normal",
        methods=(method,),
        n=2000,
        d=20,
        p=20.0,
        diameter=20.0 if geometry == "l2" else 6.0,
        offset=9.0 if geometry == "l2" else 2.5,
        geometry=geometry,
    )
    start = point.instance.problem.excess_risk(point.setting.body.centre).value
    outcome = run_cell(Cell(point=canonical(point), method=method, x=None, trial=0))
    assert outcome.error < 0.02 * start
