"""Faults of the Lipschitz methods and their solvers found in a review, each with its test."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from dpsco_core.base.errors import InvalidInput
from dpsco_core.geometry.ball import Ball
from dpsco_core.methods.euclidean.erm import Erm
from dpsco_core.methods.euclidean.perturbation.objective import ObjectivePerturbation
from dpsco_core.methods.euclidean.perturbation.objective_plan import DIGITS, least_ridge
from dpsco_core.methods.euclidean.phased_sgd import RESOLVED, PhasedSgd
from dpsco_core.methods.euclidean.private_sgd import PrivateSgd
from dpsco_core.methods.euclidean.solver import certificate
from dpsco_core.privacy import ZCDP, ApproxDP
from dpsco_core.problems.samples.linear import LinearSample, mean_gradient_rounding
from tests.methods.euclidean.losses import APPROXIMATE, BUDGETS, Array, make_setting, run, sample


@pytest.mark.parametrize("kind", ["logistic", "huber", "mean", "linear"])
@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("radius", [0.3, 20.0])
def test_erm_of_a_smooth_loss_is_scipys_minimum(kind: str, heavy: bool, radius: float) -> None:
    """In a large ball Huber's slopes saturate, and spectral steps alone once cycled at the
    start.
    """
    for seed, (n, d) in enumerate(((3, 1), (30, 2), (300, 6))):
        rng = np.random.default_rng(seed)
        x = rng.standard_t(1.8, (n, d)) if heavy else rng.standard_normal((n, d))
        margins = x @ rng.standard_normal(d)
        y = margins + rng.standard_t(2, n) if kind == "huber" else (margins > 0) * 1.0
        losses = sample(kind, x + 0.5, y, radius=radius)
        result = run(Erm(), make_setting(kind, n, d, radius=radius), losses)
        modulus = 1.0 if kind == "mean" else 0.0
        zero = np.zeros(d)
        start = certificate(losses.constraint, zero, losses.mean_gradient(zero), modulus)
        assert result.diagnostics["certified_accuracy"] <= 1.001e-8 * start
        minimum = minimize(
            losses.risk,
            np.full(d, 0.01),
            jac=losses.mean_gradient,
            method="SLSQP",
            constraints={"type": "ineq", "fun": lambda w: radius**2 - w @ w},
            options={"maxiter": 1000, "ftol": 1e-14},
        )
        reference = losses.risk(losses.constraint.project(minimum.x))
        gap = losses.risk(result.value) - reference
        assert gap <= result.diagnostics["certified_accuracy"] + 1e-12 * (1 + abs(reference))


@pytest.mark.parametrize("tuning", ["practical", "theory"])
def test_a_huge_epsilon_has_a_plan_and_is_spent(tuning: Any) -> None:
    """The number exp(epsilon) exceeds the range of doubles above 709, and the ridge must not become
    0 either.
    """
    for epsilon, n in itertools.product((700.0, 3e3, 1e6), (1, 50)):
        setting = make_setting("logistic", n, 2, ApproxDP(epsilon=epsilon, delta=1e-9))
        x = np.full((n, 2), 0.5)
        result = run(ObjectivePerturbation(tuning=tuning), setting, sample("logistic", x))
        assert result.ledger.spent() == setting.budget
        assert result.diagnostics["ridge"] > 0
    assert least_ridge(10, 0.25, 1e5) == 0.0
    assert least_ridge(10, 0.25, 1e-9) == pytest.approx(0.0125e9, rel=1e-6)


@pytest.mark.parametrize(("n", "d"), [(100_000, 2), (200_000, 1), (3000, 40), (2000, 1000)])
def test_no_data_set_rounds_a_gradient_by_more_than_the_output_noise_hides(n: int, d: int) -> None:
    """With equal records all roundings have the same sign; the reference is exactly rounded
    sums.
    """
    setting = make_setting("logistic", n, d, APPROXIMATE)
    plan = ObjectivePerturbation().plan(setting)
    size = plan.losses.lipschitz + plan.losses.smoothness
    worst = 0.0
    for value, point in itertools.product((0.1, 0.3, 1 / 3, 0.7, 0.9), (0.0, 0.77)):
        x, w = np.zeros((n, d)), np.zeros(d)
        x[:, 0], w[0] = value, point
        losses = plan.losses.of(sample("logistic", x, np.ones(n)))
        gradient: Array = losses.gradient(w, 0)
        exact = math.fsum(itertools.repeat(float(gradient[0]), n)) / n
        worst = max(worst, abs(float(losses.mean_gradient(w)[0]) - exact))
    allowed = mean_gradient_rounding(n, d)
    assert worst <= allowed * size
    assert allowed < DIGITS / 2, "sums are short enough for H to stay small"
    # The solver certifies nu = 1e-12 of the size, and 2 sqrt(alpha/lambda) equals nu/lambda.
    nu = 2 * math.sqrt(plan.accuracy * plan.ridge)
    assert nu >= DIGITS * size
    assert plan.output_sensitivity >= (nu + allowed * size) / plan.ridge


def test_a_mean_gradient_is_the_same_however_it_is_summed() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((5000, 3)), (rng.random(5000) < 0.5) * 1.0
    losses = sample("logistic", x, y)
    assert isinstance(losses, LinearSample)
    w = np.array([0.3, -1.0, 0.2])
    (block,) = losses.gradients(w).blocks()
    np.testing.assert_allclose(losses.mean_gradient(w), block.mean(axis=0), rtol=1e-11)


@pytest.mark.parametrize("level", [1e-170, 1e200])
@pytest.mark.parametrize("method", [PrivateSgd(), PhasedSgd()])
def test_a_constant_outside_the_range_of_products_is_refused(method: Any, level: float) -> None:
    """The square of 1e-170 is 0, so nothing would be clipped; that of 1e200 overflows."""
    setting = make_setting("linear", 4, 2)
    setting = replace(setting, constants=replace(setting.constants, lipschitz=level))
    with pytest.raises(InvalidInput, match="lipschitz must be between"):
        method.plan(setting)


def test_the_gap_includes_the_rounding_of_long_products() -> None:
    """On the sphere in 100,000 dimensions, a product of doubles may lose d units in the last
    place.
    """
    d = 100_000
    g = np.full(d, 0.1)
    w = -g / np.linalg.norm(g)
    exact = max(0.0, math.sqrt(math.fsum(g * g)) + math.fsum(g * w))
    gap = certificate(Ball(d=d, radius=1.0), w, g)
    assert exact <= gap
    assert gap >= d * 2.0**-53 * float(np.linalg.norm(g))


def test_no_later_phase_moves_its_point_by_less_than_rounding() -> None:
    """At a small rho and many records the last phases would be below a unit in the last place."""
    shortened = 0
    for n, d, budget in itertools.product((10, 10**4, 10**6), (1, 50), (*BUDGETS, ZCDP(rho=1e-12))):
        setting = make_setting("logistic", n, d, budget)
        plan = PhasedSgd(tuning="theory").plan(setting)
        for phase in plan.phases[1:]:
            pull = 2 * plan.losses.lipschitz * phase.step_size
            assert pull >= RESOLVED * (phase.stop - phase.start + 1) * 2.0**-53
        shortened += len(plan.phases) < math.floor(math.log2(n))
    assert shortened > 0
