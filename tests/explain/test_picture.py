"""The numbers of the picture are those of the method and of the law that it shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.catalogue import DISTRIBUTION_SLUGS, HARD_INSTANCES
from dpsco_core.explain.picture import EPSILONS, ORDERS, SIZES, adaptive_plan, picture
from dpsco_core.methods.mean import AdaptiveClipping, SimpleClipping
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.mechanisms import gaussian_noise_std
from dpsco_core.scenario import Scenario


@pytest.mark.parametrize("law", [s for s in DISTRIBUTION_SLUGS if s not in HARD_INSTANCES])
def test_the_records_are_of_the_law_at_every_order(law: str) -> None:
    scenario = Scenario(distribution=law, offset=1.2)
    shown = picture(scenario)
    for i, order in enumerate(ORDERS):
        problem = replace(scenario, d=2, p=order).instance.problem
        assert np.array_equal(shown.means[i], problem.distribution.mean)  # type: ignore[union-attr]
        assert np.linalg.norm(shown.means[i]) == pytest.approx(1.2)
        # 500 records whose variance is at most 1: 7 standard errors of 1/sqrt(500).
        assert np.abs(shown.records[i].mean(axis=0) - shown.means[i]).max() < 7 / np.sqrt(500)


def test_radius_and_noise_are_those_of_simple_clipping_at_the_same_setting() -> None:
    scenario = Scenario(distribution="student-t", p=3.0, n=200, epsilon=2.0)
    shown = picture(scenario)
    n, epsilon, p = shown.start
    assert (SIZES[n], EPSILONS[epsilon], ORDERS[p]) == (200, 2.0, 3.0)
    plan = SimpleClipping().plan(replace(scenario, d=2).setting)
    assert shown.radii[p, n, epsilon] == plan.clip_radius
    assert shown.rhos[epsilon] == plan.rho
    assert plan.noise_std == pytest.approx(
        gaussian_noise_std(2 * shown.radii[p, n, epsilon] / 200, shown.rhos[epsilon]), rel=1e-12
    )


def test_the_private_choice_is_that_of_adaptive_clipping_at_the_same_setting() -> None:
    scenario = Scenario(distribution="student-t", p=3.0, n=500, epsilon=2.0)
    shown = picture(scenario)
    n, epsilon, p = shown.start
    plan = AdaptiveClipping().plan(replace(scenario, d=2).setting)
    top, target, choice, left = shown.choices[p, n, epsilon]
    assert np.allclose(top * shown.ladders[n], plan.radii, rtol=1e-12)
    assert (target, choice, left) == (plan.target, plan.epsilon, plan.release_rho)
    assert 0 < left < shown.rhos[epsilon]
    assert shown.choices[p, 0, 0, 2] == 0  # 20 records at epsilon = 0.1 are too few
    assert shown.choices[p, 0, 0, 3] == pytest.approx(shown.rhos[0], rel=1e-9)


def test_no_centre_is_chosen_in_the_picture_however_wide_the_set() -> None:
    wide = picture(Scenario(diameter=100.0))
    assert np.isfinite(wide.choices).all() and (wide.choices[..., (0, 1, 3)] > 0).all()
    problem = Scenario(diameter=100.0, d=2).instance.problem
    setting = problem.setting(500, ApproxDP(epsilon=10.0, delta=1e-6))
    assert AdaptiveClipping().plan(setting).centre is not None
    assert adaptive_plan(setting).centre is None


def test_a_heavier_tail_sends_the_farthest_record_farther() -> None:
    shown = picture(Scenario(distribution="skewed-pareto"))
    farthest = np.linalg.norm(shown.records, axis=2).max(axis=1)
    assert (np.diff(farthest) < 0).all() and farthest[0] > 5 * farthest[-1]


def test_a_hard_instance_gives_way_to_the_skewed_law() -> None:
    for law in HARD_INSTANCES:
        assert picture(Scenario(distribution=law)).law == "skewed-pareto"


def test_other_budgets_have_their_place_too() -> None:
    assert picture(Scenario(epsilon=1.0, delta=0.0)).delta == 1e-6
    concentrated = picture(Scenario(epsilon=None, delta=None, rho=0.5))
    assert EPSILONS[concentrated.start[1]] == 1.0 and concentrated.delta == 1e-6
