"""The numbers of the picture are those of the method and of the law that it shows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.catalogue import DISTRIBUTION_SLUGS, HARD_INSTANCES
from dpsco_core.data import DenseRows
from dpsco_core.explain.picture import SHOWN_RECORDS, adaptive_mean, clipped_averages, picture
from dpsco_core.methods.mean import AdaptiveClipping, SimpleClipping
from dpsco_core.methods.mean.ladder import norm_counts
from dpsco_core.methods.records.base import clipped_mean
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.mechanisms import gaussian_noise_std
from dpsco_core.scenario import Scenario

ORDERS = (2.0, 2.5, 3.0, 4.0, 6.0, 10.0)


@pytest.mark.parametrize("law", [s for s in DISTRIBUTION_SLUGS if s not in HARD_INSTANCES])
def test_the_records_are_of_the_law_at_every_order(law: str) -> None:
    for order in ORDERS:
        scenario = Scenario(distribution=law, offset=1.2, p=order, n=500)
        drawn_picture = picture(scenario)
        problem = replace(scenario, d=2).instance.problem
        assert np.array_equal(drawn_picture.mean, problem.distribution.mean)  # type: ignore[union-attr]
        assert np.linalg.norm(drawn_picture.mean) == pytest.approx(1.2)
        # Of 500 records with variance at most 1, the mean is within 7 standard errors of
        # 1/sqrt(500).
        assert np.abs(drawn_picture.plain - drawn_picture.mean).max() < 7 / np.sqrt(500)
        assert drawn_picture.plain == pytest.approx(drawn_picture.records.mean(axis=0))


def test_radius_and_noise_are_those_of_simple_clipping_at_the_same_setting() -> None:
    for n in (150, 12_345):
        scenario = Scenario(distribution="student-t", p=3.3, n=n, epsilon=1.7)
        drawn_picture = picture(scenario)
        assert (drawn_picture.n, drawn_picture.epsilon, drawn_picture.p) == (n, 1.7, 3.3)
        assert len(drawn_picture.records) == min(n, SHOWN_RECORDS)
        plan = SimpleClipping().plan(replace(scenario, d=2).setting)
        assert (drawn_picture.blind, drawn_picture.rho) == (plan.statistic.radius, plan.noise.rho)
        noise_std = gaussian_noise_std(2 * drawn_picture.blind / n, drawn_picture.rho)
        assert plan.noise.noise_std == pytest.approx(noise_std, rel=1e-12)


def test_the_averages_are_those_of_all_records_clipped() -> None:
    x = np.random.default_rng(0).standard_t(2.0, (1000, 2))
    x[0] = 0.0
    radii = np.geomspace(0.1, 300, 50)
    means = [clipped_mean(DenseRows(x), float(radius)) for radius in radii]
    assert clipped_averages(x, radii) == pytest.approx(np.array(means), abs=1e-12)
    drawn_picture = picture(Scenario(n=500, p=2.0))
    for radius, average in zip(drawn_picture.clipped.radii, drawn_picture.averages, strict=True):
        truth = clipped_mean(DenseRows(drawn_picture.records), float(radius))
        assert average == pytest.approx(truth, abs=1e-12)


def test_some_records_are_clipped_initially_and_the_best_radius_is_the_minimum() -> None:
    for scenario in (
        Scenario(),
        Scenario(n=1_000_000, epsilon=10.0, p=2.0),
        Scenario(distribution="gaussian", p=20.0, n=100_000),
        Scenario(n=20, epsilon=0.1),
    ):
        drawn_picture = picture(scenario)
        assert (np.linalg.norm(drawn_picture.records, axis=1) > drawn_picture.start).any()
        law, n = drawn_picture.clipped, drawn_picture.n
        errors = [
            law.parts(n, float(r), gaussian_noise_std(2 * r / n, drawn_picture.rho)).error
            for r in law.radii
        ]
        assert errors[law.radii.tolist().index(drawn_picture.best)] == min(errors)
        assert drawn_picture.start <= max(drawn_picture.best, law.radii[0])
        assert max(drawn_picture.blind, drawn_picture.ladder.max()) <= law.radii[-1]


def test_the_private_choice_is_that_of_adaptive_clipping_at_the_same_setting() -> None:
    scenario = Scenario(distribution="student-t", p=3.0, n=500, epsilon=2.0)
    drawn_picture = picture(scenario)
    plan = AdaptiveClipping().plan(replace(scenario, d=2).setting).statistic
    assert np.array_equal(drawn_picture.ladder, plan.radii)
    assert np.array_equal(
        drawn_picture.longer, norm_counts(DenseRows(drawn_picture.records), plan.radii)
    )
    assert drawn_picture.choice_epsilon == plan.epsilon
    assert (drawn_picture.target, drawn_picture.choice_rho) == (plan.target, plan.release_rho)
    assert 0 < drawn_picture.choice_rho < drawn_picture.rho
    too_few = picture(replace(scenario, n=20, epsilon=0.1))  # There are too few records here.
    assert too_few.choice_epsilon == 0 and too_few.choice_rho == pytest.approx(
        too_few.rho, rel=1e-9
    )


def test_no_centre_is_chosen_in_the_picture_however_wide_the_set() -> None:
    wide = picture(Scenario(diameter=100.0, n=500, epsilon=10.0))
    assert np.isfinite(wide.ladder).all() and min(wide.target, wide.choice_rho) > 0
    problem = Scenario(diameter=100.0, d=2).instance.problem
    setting = problem.setting(500, ApproxDP(epsilon=10.0, delta=1e-6))
    assert AdaptiveClipping().plan(setting).statistic.centre is not None
    assert adaptive_mean(setting).centre is None


def test_a_heavier_tail_sends_the_farthest_record_farther() -> None:
    record_sets = [
        picture(Scenario(distribution="skewed-pareto", n=500, p=p)).records for p in ORDERS
    ]
    farthest = np.linalg.norm(record_sets, axis=2).max(axis=1)
    assert (np.diff(farthest) < 0).all() and farthest[0] > 5 * farthest[-1]


def test_a_hard_instance_is_replaced_by_the_skewed_law() -> None:
    for law in HARD_INSTANCES:
        assert picture(Scenario(distribution=law)).law == "skewed-pareto"


def test_other_budgets_are_also_shown() -> None:
    pure = picture(Scenario(epsilon=1.0, delta=0.0))
    assert (pure.epsilon, pure.delta) == (1.0, 1e-6)
    concentrated = picture(Scenario(epsilon=None, delta=None, rho=0.5))
    assert concentrated.rho == 0.5 and concentrated.delta == 1e-6
    assert 0.5 < concentrated.epsilon < 0.5 + 2 * math.sqrt(0.5 * math.log(1e6))
