"""Estimators reduce to simpler ones in their limits, and keep the symmetries of their formulas."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from dpsco_core.base.errors import NotApplicable
from dpsco_core.data import DenseRows
from dpsco_core.methods.mean import (
    CoordinatewiseCDP,
    CoordinatewisePure,
    IterativeUpdating,
    MedianOfMeans,
    NoiseSmoothing,
    SampleMean,
    SimpleClipping,
)
from dpsco_core.methods.mean.clipped import theorem_radius
from dpsco_core.methods.mean.coordinatewise import theory_threshold
from dpsco_core.methods.mean.iterative import group_radius, theory_groups, walk_length
from dpsco_core.methods.records.base import clip_to_ball, hinge_bias, hinge_constant
from dpsco_core.privacy import ZCDP, ApproxDP, Ledger
from dpsco_core.problems.base import Setting
from tests.folded import each
from tests.methods.mean.checks import PRIVATE, make_setting, run

X = np.random.default_rng(0).standard_t(2.5, size=(60, 4))
SETTING = make_setting(n=60, d=4)
BUDGET = SETTING.budget


def exact(method: Any, x: np.ndarray = X, setting: Setting = SETTING) -> np.ndarray:
    """Return the first value that a method would release without noise."""
    return run(method, setting, x).exact[0]


def public(method: Any, x: np.ndarray = X) -> np.ndarray:
    """Return the answer of a method without privacy, after checking that it spends nothing."""
    setting = replace(SETTING, n=len(x), d=x.shape[1])
    ledger = Ledger(setting.budget)
    value = method.release(
        DenseRows(x), method.plan(setting), ledger, np.random.default_rng(0)
    ).value
    assert ledger.spent() is None
    return value


@pytest.mark.parametrize(
    "method",
    [
        SimpleClipping(radius=1e4),
        CoordinatewiseCDP(threshold=1e4),
        CoordinatewisePure(threshold=1e4, blocks=2),
        NoiseSmoothing(tau=1e7),
    ],
    ids=str,
)
def test_without_clipping_and_noise_a_method_is_the_sample_mean(method: Any) -> None:
    np.testing.assert_allclose(exact(method), X.mean(axis=0), rtol=1e-11)
    free = make_setting(n=60, d=4, budget=ZCDP(rho=1e12))
    value = method.release(
        DenseRows(X), method.plan(free), Ledger(free.budget), np.random.default_rng(0)
    ).value
    # The noise is below 2e7/60 * sqrt(4/2e12), and its deviations are below 10.
    np.testing.assert_allclose(value, X.mean(axis=0), atol=10 * 2e7 / 60 * math.sqrt(4 / 2e12))
    np.testing.assert_allclose(public(SampleMean()), X.mean(axis=0), rtol=1e-12)


def test_group_means_average_to_the_clipped_mean_for_every_split() -> None:
    whole = exact(SimpleClipping(radius=1.5))
    for seed in range(5):
        groups = run(IterativeUpdating(radius=1.5, groups=6), SETTING, X, seed).exact[0]
        np.testing.assert_allclose(groups.mean(axis=0), whole, rtol=1e-12)
    group_means = run(IterativeUpdating(radius=1.5, groups=1), SETTING, X).exact[0]
    np.testing.assert_allclose(group_means[0], whole, rtol=1e-12)


def test_group_means_do_not_depend_on_the_size_of_blocks() -> None:
    # At this width a block holds 1638 rows.
    x = np.random.default_rng(0).standard_t(2.5, size=(4000, 40))
    setting = make_setting(n=4000, d=40)
    groups = run(IterativeUpdating(radius=3.0, groups=2), setting, x).exact[0]
    whole = run(SimpleClipping(radius=3.0), setting, x).exact[0]
    np.testing.assert_allclose(groups.mean(axis=0), whole, rtol=1e-11)
    blocks = run(CoordinatewiseCDP(threshold=1.0, blocks=2), setting, x).exact[0]
    np.testing.assert_allclose(blocks, np.clip(x, -3, 3).mean(axis=0), rtol=1e-11)


def test_with_one_or_two_blocks_the_median_is_the_clipped_mean() -> None:
    expected = np.clip(X, -1.5, 1.5).mean(axis=0)
    for blocks in (1, 2):
        method = CoordinatewiseCDP(threshold=0.5, blocks=blocks)
        np.testing.assert_allclose(exact(method), expected, rtol=1e-12)
        assert method.plan(SETTING).statistic.coordinate_sensitivity(SETTING.n) == pytest.approx(
            3 / 60, rel=1e-14
        )


@pytest.mark.parametrize("blocks", [3, 4, 7, 60])
def test_without_clipping_the_coordinatewise_method_is_the_median_of_means(blocks: int) -> None:
    expected = np.median(
        [X[i * (60 // blocks) : (i + 1) * (60 // blocks)].mean(axis=0) for i in range(blocks)],
        axis=0,
    )
    method = CoordinatewiseCDP(threshold=1e4, blocks=blocks)
    np.testing.assert_allclose(exact(method), expected, rtol=1e-12)
    np.testing.assert_allclose(public(MedianOfMeans(blocks=blocks)), expected, rtol=1e-12)


def test_median_of_means_needs_as_many_records_as_blocks() -> None:
    with pytest.raises(NotApplicable, match="9 blocks need at least as many records, and n=8"):
        MedianOfMeans(blocks=9).plan(make_setting(n=8))
    assert MedianOfMeans().plan(make_setting(n=3)).statistic.blocks == 3
    assert (
        MedianOfMeans().plan(make_setting(n=1000, d=20)).statistic.blocks == 27
    )  # The expected number is ceil(4 ln(2d/0.05)).


CLIPPING = (
    SimpleClipping(radius=1.5),
    CoordinatewiseCDP(threshold=0.3, blocks=6),
    CoordinatewisePure(threshold=0.3, blocks=5),
    NoiseSmoothing(tau=0.7, smoothing_variance=0.25),
)


@pytest.mark.parametrize("method", CLIPPING, ids=str)
def test_statistics_follow_signs_coordinates_and_units(method: Any) -> None:
    order = [2, 0, 3, 1]
    np.testing.assert_allclose(exact(method, -X), -exact(method), rtol=1e-12)
    np.testing.assert_allclose(exact(method, X[:, order]), exact(method)[order], rtol=1e-12)
    level = next(v for v in ("radius", "threshold", "tau") if hasattr(method, v))
    scaled = replace(method, **{level: 8 * getattr(method, level)})
    np.testing.assert_allclose(exact(scaled, 8 * X), 8 * exact(method), rtol=1e-12)


def test_a_clipped_mean_follows_rotations_and_ignores_the_order_of_records() -> None:
    rotation, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))
    method = SimpleClipping(radius=1.5)
    np.testing.assert_allclose(exact(method, X @ rotation), exact(method) @ rotation, rtol=1e-11)
    shuffled = np.random.default_rng(2).permutation(X)
    for symmetric in (method, NoiseSmoothing(tau=0.7), CoordinatewiseCDP(threshold=0.3)):
        np.testing.assert_allclose(exact(symmetric, shuffled), exact(symmetric), rtol=1e-11)


def test_median_of_blocks_ignores_order_within_and_of_blocks_but_not_across() -> None:
    method = CoordinatewiseCDP(threshold=0.3, blocks=6)
    rng, blocks = np.random.default_rng(3), X.reshape(6, 10, 4)
    # Each coordinate is permuted by itself, which blocks of marginal medians allow.
    permuted = rng.permuted(blocks, axis=1)
    np.testing.assert_allclose(exact(method, permuted.reshape(60, 4)), exact(method), rtol=1e-12)
    of_blocks = blocks[rng.permutation(6)].reshape(60, 4)
    np.testing.assert_allclose(exact(method, of_blocks), exact(method), rtol=1e-12)
    assert not np.allclose(exact(method, rng.permutation(X)), exact(method))


def test_a_shift_of_the_records_shifts_the_answer_only_where_nothing_is_clipped() -> None:
    shift = np.array([1.0, -2.0, 0.5, 3.0])
    wide = CoordinatewiseCDP(threshold=100.0, blocks=5)
    np.testing.assert_allclose(exact(wide, X + shift), exact(wide) + shift, rtol=1e-11)
    narrow = CoordinatewiseCDP(threshold=0.3, blocks=5)
    assert not np.allclose(exact(narrow, X + shift), exact(narrow) + shift, atol=0.1)
    assert np.all(np.abs(exact(narrow, X + 100)) <= 0.9 + 1e-12)


def test_clipping_is_the_projection_on_the_ball() -> None:
    def clip(x: np.ndarray, radius: float) -> np.ndarray:
        """Return the clipped rows."""
        safe, weights = clip_to_ball(x, radius)
        return safe * weights[:, None]

    clipped = clip(X, 1.5)
    norms = np.linalg.norm(X, axis=1)
    np.testing.assert_array_equal(clipped[norms <= 1.5], X[norms <= 1.5])
    np.testing.assert_allclose(np.linalg.norm(clipped[norms > 1.5], axis=1), 1.5, rtol=1e-14)
    np.testing.assert_allclose(clip(8 * X, 12.0), 8 * clipped, rtol=1e-14)
    shuffled = np.random.default_rng(4).permutation(X)
    distances = np.linalg.norm(clipped - clip(shuffled, 1.5), axis=1)
    assert np.all(distances <= np.linalg.norm(X - shuffled, axis=1) * (1 + 1e-14))
    assert np.all(np.abs(clipped) <= np.abs(X))


@each("method", PRIVATE)
@each("tuning", ["practical", "theory"])
@each("order", [2.0, 3.0, 8.0])
def test_plans_follow_the_units_of_the_data(method: Any, tuning: Any, order: float) -> None:
    """A plan that is not homogeneous in the units of the data has lost a moment."""
    setting = make_setting(n=5000, d=6, order=order)
    scaled = make_setting(
        n=5000,
        d=6,
        order=order,
        coordinate_moment=7.0**order,
        directional_moment=7 * 2.0,
        mean_bound=7.0,
    )
    for calibration in ("tight", "paper"):
        instance = method(tuning=tuning, calibration=calibration)
        plan, scaled_plan = instance.plan(setting), instance.plan(scaled)
        for name in (
            "clip_radius",
            "threshold",
            "tau",
            "noise",
            "noise_std",
            "group_radius",
            "answer_radius",
        ):
            # A plan's noise may also be a mechanism, which is no number.
            if isinstance(getattr(plan, name, None), float):
                assert getattr(scaled_plan, name) == pytest.approx(
                    7 * getattr(plan, name), rel=1e-6
                )
        for name in ("blocks", "groups", "smoothing_variance", "rho", "share", "inner_steps"):
            assert getattr(scaled_plan, name, None) == getattr(plan, name, None)


def test_theorem_radius_has_the_reference_values_and_minimises() -> None:
    setting = make_setting(n=10_000, d=10, directional_moment=1.0)
    rho = 1 / (1 + 2 * math.sqrt(math.log(1e6))) ** 2
    assert theorem_radius(setting, rho) == pytest.approx(9.862261867, rel=1e-9)
    size = 10 * math.log(6) + math.log(40)
    slope = 4 * math.sqrt(size / rho) / 10_000 + 8 * size / 10_000
    minimum = minimize_scalar(
        lambda r: slope * r + 10**1.5 / 2 * r**-2, bounds=(1, 100), options={"xatol": 1e-10}
    )
    assert theorem_radius(setting, rho) == pytest.approx(float(minimum.x), rel=1e-6)


def test_theory_thresholds_are_those_of_corollary_4_2_with_their_floor() -> None:
    large = make_setting(n=10**9, d=4, order=2.0)
    assert theory_threshold(large, 0.25, "gaussian") == pytest.approx(math.sqrt(0.5 * 1e9 / 2))
    assert theory_threshold(large, 0.25, "laplace") == pytest.approx(math.sqrt(0.25 * 1e9 / 4))
    assert theory_threshold(SETTING, 0.5, "gaussian") == 10
    # The threshold is the least with 3 tau >= R + 1.
    assert theory_threshold(make_setting(mean_bound=50.0), 0.5, "gaussian") == 17
    theory = CoordinatewiseCDP(tuning="theory").plan(make_setting(n=1000, d=20))
    # The number of blocks is ceil(4 ln(40/0.05)) = 27, made even.
    assert theory.statistic.blocks == 28
    assert (
        CoordinatewiseCDP(tuning="theory", calibration="paper")
        .plan(make_setting(1000, 20))
        .statistic.blocks
        == 27
    )


def test_iterative_constants_have_the_reference_values() -> None:
    assert theory_groups() == 2397
    setting = make_setting(n=2397 * 5, d=10, directional_moment=1.0)
    n, k, radius, rho = 2397 * 5, 2397, 22.802972962, 0.0140588188106
    expected = max(
        160 * math.sqrt(10 / n),
        160 * math.sqrt(2) * radius * math.sqrt(k) / n * math.sqrt(10 / rho),
        40 * math.sqrt(2 * radius**2 * k**2 / (rho * n**2) + k / n),
    )
    assert group_radius(setting, radius, k, rho, 0.1) == pytest.approx(expected, rel=1e-12)
    assert group_radius(setting, radius, 2396, rho, 0.1) == math.inf
    # The expected length is 97.8377, rounded up.
    assert walk_length(make_setting(directional_moment=400.0), 1.0) == 98
    assert walk_length(make_setting(directional_moment=4.0), 1.0) == 1
    assert walk_length(SETTING, math.inf) == 1


def test_a_vacuous_theorem_is_reported() -> None:
    method = IterativeUpdating(tuning="theory", calibration="paper")
    setting = make_setting(n=10_000, d=3, budget=ApproxDP(epsilon=1.0, delta=1e-6))
    x = np.random.default_rng(0).normal(size=(10_000, 3))
    ledger = Ledger(setting.budget)
    release = method.release(DenseRows(x), method.plan(setting), ledger, np.random.default_rng(0))
    assert "Theorem 5 says nothing here" in release.notes[0]
    assert not release.value.any()  # The search stops where it starts.


def test_the_estimate_stays_in_the_ball_of_the_public_bound() -> None:
    method, setting = IterativeUpdating(), make_setting(n=60, d=4, mean_bound=0.25)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        release = method.release(DenseRows(X + 5), method.plan(setting), Ledger(BUDGET), rng)
        assert np.linalg.norm(release.value) <= 0.25 * (1 + 1e-12)


@pytest.mark.parametrize("order", [2.0, 2.5, 3.0, 6.0])
def test_hinge_bias_is_the_sharp_clipping_bias(order: float) -> None:
    rng = np.random.default_rng(int(10 * order))
    for distance in (0.05, 0.5, 1.0, 3.0, 30.0):
        values = rng.standard_cauchy((300, 40))
        values -= values.mean(axis=1, keepdims=True)
        values /= np.mean(np.abs(values) ** order, axis=1, keepdims=True) ** (1 / order)
        biases = np.maximum(values - distance, 0).mean(axis=1)
        assert np.all(biases <= hinge_bias(distance, order) * (1 + 1e-12))
    spike = order / (order - 1) * 30.0  # The extremal spike has a mean that is small but not 0.
    assert hinge_bias(30.0, order) == pytest.approx(spike**-order * (spike - 30.0), rel=1e-3)
    constant = hinge_constant(order)
    assert constant == pytest.approx((order - 1) ** (order - 1) / order**order, rel=1e-13)


@pytest.mark.parametrize("order", [3.0, 50.0, 100.0, 1e4])
@pytest.mark.parametrize("distance", [1e-300, 1e-8, 0.5, 2.0])
def test_hinge_bias_never_overflows_nor_does_its_square(distance: float, order: float) -> None:
    assert hinge_bias(distance, order) ** 2 >= 0
    log_bound = (order - 1) * np.log((1 - 1 / order) / distance) - np.log(order)
    assert (hinge_bias(distance, order) == np.inf) == (log_bound >= 350)
