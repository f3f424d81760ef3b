"""Measured errors against the proven ones, and memory.

The mean of the squared errors of independent trials is compared with a proven bound on its
expectation, `Z` standard errors below; the false-alarm rate is 1e-6 by the normal approximation.
"""

from __future__ import annotations

import math
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpsco_core.data import DenseRows, StudentT
from dpsco_core.data.rows import BLOCK_BYTES
from dpsco_core.methods.mean import (
    CoordinatewiseCDP,
    CoordinatewisePure,
    IterativeUpdating,
    MedianOfMeans,
    NoiseSmoothing,
    SampleMean,
    SimpleClipping,
)
from dpsco_core.methods.records.base import hinge_bias, hinge_constant
from dpsco_core.privacy import ZCDP, ApproxDP, Budget, Ledger
from dpsco_core.problems import MeanEstimation
from tests.methods.mean.checks import FALSE_ALARM, PRIVATE, PURE
from tests.methods.mean.formulas import expected_noise

Z = float(stats.norm.isf(FALSE_ALARM))
TRIALS = 120


def squared_errors(
    method: Any, problem: MeanEstimation, n: int, budget: Budget, trials: int = TRIALS
) -> np.ndarray:
    """Return the squared errors of independent runs of a method."""
    setting, rng = problem.setting(n, budget), np.random.default_rng(2024)
    errors = []
    for _ in range(trials):
        rows = problem.sample(n, rng)
        value = method.release(rows, method.plan(setting), Ledger(budget), rng).value
        errors.append(problem.error(value) ** 2)
    return np.array(errors)


def assert_mean_below(errors: np.ndarray, bound: float) -> None:
    """Assert that the mean of squared errors is not significantly above a bound."""
    lowest = errors.mean() - Z * errors.std(ddof=1) / math.sqrt(len(errors))
    assert lowest <= bound, f"a mean squared error of {errors.mean():.4g} against {bound:.4g}"


def student(order: float, d: int = 5, offset: float = 0.8) -> MeanEstimation:
    """Return the problem of the mean of Student's law."""
    law = StudentT(d=d, moment_order=order, offset=offset)
    return MeanEstimation(distribution=law, mean_bound=1.0)


def bias(limit: float, order: float, mean: float) -> float:
    """Return the bound on the bias of clipping a coordinate with moment order `order` and this mean
    to a limit.
    """
    return hinge_bias(limit - abs(mean), order)


@pytest.mark.parametrize("order", [2.0, 3.0])
@pytest.mark.parametrize("blocks", [None, 1, 2, 5, 8])
@pytest.mark.parametrize("family", [CoordinatewiseCDP, CoordinatewisePure])
def test_algorithm_3_meets_its_bound_in_expectation(
    family: Any, blocks: int | None, order: float
) -> None:
    problem, n, budget = student(order), 800, ZCDP(rho=0.5)
    law, d = problem.distribution, problem.distribution.d
    method = family(blocks=blocks)
    setting = problem.setting(n, budget)
    plan, noise = method.plan(setting), expected_noise(method, setting)
    variance = noise**2 * (2 if family is CoordinatewisePure else 1)
    loss = bias(3 * plan.statistic.threshold, order, law.mean[0])
    m = plan.statistic.blocks
    size = plan.setting.n // m
    if m <= 2:
        bound = d * (1 / (m * size) + loss**2) + d * variance
    else:
        spread = m / (math.ceil(m / 2) - 1) / size
        bound = d * (math.sqrt(spread) + loss) ** 2 + d * variance
    assert_mean_below(squared_errors(method, problem, n, budget), bound)


@pytest.mark.parametrize("order", [2.0, 3.0])
@pytest.mark.parametrize("variance", [None, 0.1, 1.0])
def test_algorithm_4_meets_its_bound_in_expectation(variance: float | None, order: float) -> None:
    problem, n, budget = student(order), 800, ZCDP(rho=0.5)
    law, d = problem.distribution, problem.distribution.d
    method = NoiseSmoothing(smoothing_variance=variance)
    setting = problem.setting(n, budget)
    plan = method.plan(setting)
    second_moment = (1 + plan.statistic.smoothing_variance) * (1 + law.mean[0] ** 2)
    loss = 3 * second_moment / (8 * math.sqrt(2) * plan.statistic.tau)
    bound = d * (loss**2 + second_moment / n + expected_noise(method, setting) ** 2)
    assert_mean_below(squared_errors(method, problem, n, budget), bound)


@pytest.mark.parametrize("order", [2.0, 3.0, 6.0])
@pytest.mark.parametrize("tuning", ["practical", "theory"])
def test_simple_clipping_meets_its_bound_in_expectation(tuning: Any, order: float) -> None:
    problem, n, budget = student(order), 800, ZCDP(rho=0.5)
    law, d = problem.distribution, problem.distribution.d
    method = SimpleClipping(tuning=tuning)
    setting = problem.setting(n, budget)
    radius = method.plan(setting).statistic.radius
    reach = (math.sqrt(d) + float(np.linalg.norm(law.mean))) ** order
    loss = hinge_constant(order) * reach * radius ** (1 - order)
    bound = law.variance_trace / n + loss**2 + 2 * d * radius**2 / (budget.rho * n**2)
    assert_mean_below(squared_errors(method, problem, n, budget), bound)


def test_the_comparison_with_a_bound_can_fail() -> None:
    """A radius far below the mean loses most of it: the squared bias is (0.8 - 0.1)^2."""
    errors = squared_errors(SimpleClipping(radius=0.1), student(3.0), 800, ZCDP(rho=0.5))
    with pytest.raises(AssertionError, match="a mean squared error"):
        assert_mean_below(errors, 0.4)


@pytest.mark.parametrize("family", PRIVATE)
@pytest.mark.parametrize("order", [2.0, 3.0])
def test_practical_methods_beat_the_zero_estimator_at_the_default_scenario(
    family: Any, order: float
) -> None:
    """The default scenario has n = 10,000, d = 20 and epsilon = 1, and the zero estimator's error
    is the norm of the mean.
    """
    problem = MeanEstimation(
        distribution=StudentT(d=20, moment_order=order, offset=1.0), mean_bound=1.0
    )
    budget = ApproxDP(epsilon=1.0, delta=1e-6)
    errors = np.sqrt(squared_errors(family(), problem, 10_000, budget, trials=8))
    assert np.max(errors) < (0.4 if family is CoordinatewisePure else 0.3)


def test_the_noise_scales_with_the_budget() -> None:
    """A hundredth of rho has ten times the noise at the same radius."""
    problem, method = student(3.0), SimpleClipping(radius=4.0)
    low, high = ZCDP(rho=1e-4), ZCDP(rho=1e-6)
    ratio = (
        squared_errors(method, problem, 400, high).mean()
        / squared_errors(method, problem, 400, low).mean()
    )
    # The draws are the same, and the sampling error is negligible.
    assert ratio == pytest.approx(100, rel=0.05)


@pytest.mark.parametrize("tuning", ["practical", "theory"])
@pytest.mark.parametrize("family", [*PRIVATE, MedianOfMeans, SampleMean])
def test_no_method_holds_more_than_a_few_blocks_beside_its_input(family: Any, tuning: Any) -> None:
    n, d = 200_000, 20
    method = family(tuning=tuning) if family in PRIVATE else family()
    rows = DenseRows(np.random.default_rng(0).standard_normal((n, d)))
    setting = student(3.0, d=d).setting(n, ZCDP(rho=0.5))
    # The permutation of the records itself takes this memory, in bytes.
    split = 8 * n if family is IterativeUpdating else 0
    method.plan(setting)
    tracemalloc.start()
    try:
        method.release(rows, method.plan(setting), Ledger(setting.budget), np.random.default_rng(0))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < split + 8 * BLOCK_BYTES, f"{peak / BLOCK_BYTES:.1f} blocks"


def test_one_broken_record_in_a_large_set_costs_little() -> None:
    problem, budget = student(3.0), PURE
    n = 4000
    x = problem.sample(n, np.random.default_rng(0)).x.copy()
    x[17] = (math.nan, math.inf, -1e300, 1e300, 0.0)
    for family in PRIVATE:
        own_budget = budget if family is CoordinatewisePure else ZCDP(rho=0.5)
        setting = replace(problem.setting(n, budget), budget=own_budget)
        rng = np.random.default_rng(1)
        value = (
            family().release(DenseRows(x), family().plan(setting), Ledger(own_budget), rng).value
        )
        assert problem.error(value) < 0.3
