"""PLAN, which weights coordinates by privately estimated scales: sensitivity, limits and
accuracy.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.data.rows import DenseRows
from dpsco_core.methods.mean import AdaptiveClipping, RescaledClipping
from dpsco_core.methods.mean.plan import (
    LEAST_WEIGHT,
    OCTAVES,
    RescaledMean,
    mean_logarithms,
    rescale_statistic,
    weights_of,
)
from dpsco_core.privacy import Ledger
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

BROKEN = (math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.0)
SCENARIO = Scenario(n=4000, d=40, p=2.5, decay=1.0, methods=("mean.adaptive", "mean.plan"))


def draw(scenario: Scenario, seed: int = 0) -> DenseRows:
    """Draw the rows of a scenario."""
    return scenario.instance.law.sample(scenario.n, np.random.default_rng(seed))


@pytest.mark.parametrize("n", [8, 9])
@pytest.mark.parametrize("entry", BROKEN)
def test_a_replaced_record_moves_the_log_differences_by_at_most_the_sensitivity(
    n: int, entry: float
) -> None:
    """The sensitivity is attained between equal records, whose differences are 0, and a far one."""
    mean = RescaledClipping(mode="single").plan(SCENARIO.setting).statistic
    assert isinstance(mean, RescaledMean)
    allowed, pairs = mean.sensitivity(n, 3), n // 2
    base = np.zeros((n, 3))
    logarithms = mean_logarithms(DenseRows(base), -5.0, pairs)
    largest = 0.0
    for place in range(n):
        for row in (np.full(3, entry), np.array([entry, 1e3, 1.0])):
            x = base.copy()
            x[place] = row
            change = mean_logarithms(DenseRows(x), -5.0, pairs) - logarithms
            assert np.isfinite(change).all()
            largest = max(largest, float(np.linalg.norm(change)))
    assert largest <= allowed * (1 + 1e-12)
    if abs(entry) > 1e3 and not math.isnan(entry):
        assert largest == pytest.approx(allowed)
    assert allowed == pytest.approx(OCTAVES * math.sqrt(3) / (n // 2))


def test_pairs_do_not_depend_on_where_blocks_end() -> None:
    x = np.random.default_rng(1).standard_normal((20_001, 11)) ** 3
    direct = np.clip(np.log2(np.abs(x[0:-1:2] - x[1::2])), -3.0, -3.0 + OCTAVES).mean(axis=0)
    assert len(list(DenseRows(x).blocks())) > 1
    np.testing.assert_allclose(mean_logarithms(DenseRows(x), -3.0, 10_000), direct, rtol=1e-12)


def test_log_differences_do_not_depend_on_the_mean_and_follow_the_scales() -> None:
    even = Scenario(n=4000, d=8, p=2.5, decay=0.0)
    x = draw(even).x
    scales = 2.0 ** -np.arange(8)
    low = mean_logarithms(DenseRows(x), -20.0, 2000)
    logarithms = mean_logarithms(DenseRows(x * scales + 3.0), -20.0, 2000)
    # Nine octaves contain the differences of a scale between the ends, and clipping limits the
    # other differences.
    shifted = mean_logarithms(DenseRows(x / 2**4 + 3.0), -8.0, 2000)
    assert (np.diff(logarithms) < 0.1).all()
    assert np.abs(mean_logarithms(DenseRows(x / 2**4), -8.0, 2000) - shifted).max() < 1e-9
    assert low.min() > -20.0


def test_weights_are_the_roots_of_scales_and_equal_where_noise_explains_them() -> None:
    logs = np.array([0.0, -2.0, -4.0])
    np.testing.assert_allclose(weights_of(logs, 0.0, -8.0), [1.0, 0.5, 0.25])
    assert (weights_of(logs, 10.0, -8.0) == 1.0).all()
    half = weights_of(logs, math.sqrt(2.0), -8.0)  # The empirical variance is 4.
    np.testing.assert_allclose(half, [1.0, 2**-0.5, 0.5])
    weights = weights_of(np.array([-1e9, 1e9]), 0.0, -8.0)
    assert weights.tolist() == [LEAST_WEIGHT, 1.0]
    assert (weights_of(np.ones(4), 1.0, 0.0) == 1.0).all()


@pytest.mark.parametrize("n", [1, 2, 30])
def test_with_too_few_records_plan_is_adaptive_clipping(n: int) -> None:
    setting = replace(SCENARIO, n=n).setting
    rows = draw(replace(SCENARIO, n=n))
    rescaled, adaptive = RescaledClipping(), AdaptiveClipping()
    values = [
        m.release(rows, m.plan(setting), Ledger(setting.budget), np.random.default_rng(2))
        for m in (rescaled, adaptive)
    ]
    assert values[0].value.tobytes() == values[1].value.tobytes()


def test_weights_of_one_leave_the_plan_unchanged() -> None:
    wide_plan = (
        RescaledClipping().plan(replace(SCENARIO, n=20_000, diameter=400.0).setting).statistic
    )
    assert isinstance(wide_plan, RescaledMean)
    assert rescale_statistic(wide_plan.fine, wide_plan.scale, np.ones(40)) == wide_plan.fine
    wider = rescale_statistic(wide_plan.fine, wide_plan.scale, np.linspace(0.25, 1, 40))
    assert wide_plan.fine.centre is not None
    assert wider.centre is not None
    assert wider.centre.rho == wide_plan.fine.centre.rho
    assert wider.centre.radii[0] > 4 * wide_plan.fine.mean_bound
    assert wider.top_radius > wide_plan.fine.top_radius
    assert wider.mean_bound == pytest.approx(4 * wide_plan.fine.mean_bound)


@pytest.mark.parametrize("fields", [{}, {"diameter": 400.0, "n": 20_000}, {"d": 5}], ids=str)
@pytest.mark.parametrize("budget", [{}, {"rho": 0.1, "epsilon": None, "delta": None}], ids=str)
def test_plan_spends_its_budget_and_starts_with_the_scales(
    fields: dict[str, Any], budget: dict[str, Any]
) -> None:
    scenario = replace(SCENARIO, **fields, **budget)
    setting = scenario.setting
    ledger = Ledger(setting.budget)
    plan = RescaledClipping().plan(setting)
    RescaledClipping().release(draw(scenario), plan, ledger, np.random.default_rng(3))
    first_entry, mean = ledger.entries[0], plan.statistic
    assert isinstance(mean, RescaledMean)
    assert (first_entry.mechanism, first_entry.size, first_entry.rho) == (
        "gaussian",
        setting.d,
        mean.scale_rho,
    )
    assert first_entry.sensitivity == mean.sensitivity(setting.n, setting.d)
    spent = ledger.spent()
    if "rho" in budget:
        assert spent.rho == pytest.approx(0.1, rel=1e-9)  # type: ignore[union-attr]
    else:
        assert spent.epsilon == pytest.approx(1.0, rel=1e-6)  # type: ignore[union-attr]


def test_a_pure_budget_is_refused_and_another_method_suggested() -> None:
    setting = replace(SCENARIO, delta=0.0).setting
    with pytest.raises(NotApplicable, match="cannot give pure DP"):
        RescaledClipping().plan(setting)


def errors(scenario: Scenario) -> dict[str, float]:
    """Run a scenario; return the mean error of each method."""
    by_method: dict[str, list[float]] = {slug: [] for slug in scenario.methods}
    for outcome in study(scenario):
        assert outcome.error is not None
        by_method[outcome.method].append(outcome.error)
    return {slug: float(np.mean(each)) for slug, each in by_method.items()}


def test_plan_errs_far_less_where_scales_fall_and_hardly_more_elsewhere() -> None:
    """The ratios are 0.55 and 1.03 with errors of 0.03 and 0.01, so the false-alarm rate is below
    1e-6.
    """
    many_records = replace(SCENARIO, n=10_000, d=200, offset=0.0, trials=8)
    fallen = errors(many_records)
    assert fallen["mean.plan"] < 0.75 * fallen["mean.adaptive"]
    even = errors(replace(many_records, decay=0.0))
    assert even["mean.plan"] < 1.1 * even["mean.adaptive"]


@pytest.mark.parametrize(
    ("n", "d", "diameter", "epsilon", "decay"),
    [
        (5000, 100, 1e4, 2.0, 0.0),
        (5000, 20, 100.0, 0.5, 0.0),
        (2000, 16, 1e4, 2.0, 0.0),
        (4000, 16, 100.0, 0.5, 1.5),
    ],
)
def test_a_large_set_does_not_prevent_a_centre(
    n: int, d: int, diameter: float, epsilon: float, decay: float
) -> None:
    """The budget left by the scales suffices for a centre, on rows that the scales have stretched.

    A run without a centre would clip around 0, and err at least 5 times as much.
    """
    methods = ("mean.adaptive", "mean.plan")
    scenario = Scenario(
        n=n, d=d, diameter=diameter, epsilon=epsilon, decay=decay, methods=methods, trials=12
    )
    measured = errors(scenario)
    assert measured["mean.plan"] < 1.5 * measured["mean.adaptive"]
