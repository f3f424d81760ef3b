"""Regularised mirror descent: sensitivity, limits and refusals."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.geometry.geometries import L2, Geometry
from dpsco_core.geometry.mirror import PowerMirror
from dpsco_core.geometry.norms import dual_exponent, lq_norm
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.descent import DescentPlan
from dpsco_core.methods.lq.losses import DualLosses, practical_dual_radius
from dpsco_core.methods.lq.regularized import RegularizedMirrorDescent
from dpsco_core.privacy import ApproxDP, Budget, gaussian_rho, zcdp_rho
from tests.methods.euclidean.losses import (
    BUDGETS,
    CONCENTRATED,
    PURE,
    Array,
    make_records,
    neighbours,
    sample,
)
from tests.methods.lq.helpers import (
    LARGE,
    SMALL,
    Remembering,
    geometric_setting,
    lq_geometry,
    plain_records,
)

KINDS = ("logistic", "huber")
NOISES: tuple[Any, ...] = ("gaussian", "generalized gaussian")
SMALL_BUDGETS = [b for b in BUDGETS if isinstance(b, ApproxDP) and b.epsilon <= 1]


def run(method: Any, setting: Any, losses: Any, seed: int = 0) -> Any:
    """Run a method, check its points, and return its release and a ledger that has kept the noisy
    values.
    """
    ledger = Remembering(setting.budget)
    result = method.release(losses, method.plan(setting), ledger, np.random.default_rng(seed))
    assert np.isfinite(result.value).all() and np.isfinite(result.iterates).all()
    assert result.value.shape == (setting.d,)
    assert len(ledger.entries) == result.diagnostics["steps"]
    return result, ledger


def descend(plan: DescentPlan, losses: Any) -> tuple[Array, Array]:
    """Run the steps of a plan without noise; return its result and its path."""
    descended = plan.descent.run(losses.constraint, lambda w, _: losses.mean_gradient(w))
    return descended.value, descended.path.points


@pytest.mark.parametrize("geometry", SMALL, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_record_moves_a_gradient_by_at_most_its_sensitivity(
    kind: str, geometry: Geometry
) -> None:
    """Arbitrary records are tried in the dual norm, at points near and far."""
    n, d = 11, 3
    plan = RegularizedMirrorDescent().plan(geometric_setting(kind, geometry, n, d))
    dual, largest = dual_exponent(geometry.exponent), 0.0
    assert plan.statistic.dual_sensitivity == pytest.approx(2 / n)
    for seed in range(4):
        data = [plan.losses.of(sample(kind, x, y)) for x, y in neighbours(n, d, 4, seed)]
        rng = np.random.default_rng(seed)
        for size in (0.0, 1.0, 1e3):
            w = size * rng.standard_normal(d)
            gradients = [losses.mean_gradient(w) for losses in data]
            gaps = [lq_norm(gradients[0] - g, dual) for g in gradients[1:]]
            # The maximum of numpy keeps a NaN, so a broken gradient fails.
            largest = max(largest, float(np.max(gaps)))
    allowed = plan.statistic.dual_sensitivity
    assert 0.5 * allowed < largest <= allowed * (1 + 1e-9)


@pytest.mark.parametrize(("budget", "noise"), list(itertools.product(BUDGETS, NOISES)))
def test_the_tight_calibration_spends_the_budget(budget: Budget, noise: Any) -> None:
    n, d = 50, 3
    method = RegularizedMirrorDescent(noise=noise)
    for geometry in SMALL:
        setting = geometric_setting("huber", geometry, n, d, budget)
        _, ledger = run(method, setting, plain_records("huber", n, d))
        plan = method.plan(setting)
        assert ledger.spent() == budget
        assert not ledger.flaws
        space = RegularSpace(d=d, exponent=geometry.exponent)
        if isinstance(budget, ApproxDP):
            exact = gaussian_rho if noise == "gaussian" else zcdp_rho
            rho = exact(budget.epsilon, budget.delta)
        else:
            rho = budget.rho  # type: ignore[union-attr]
        factor = space.l2_ratio**2 if noise == "gaussian" else space.kappa
        expected = math.sqrt(factor * (2 / n) ** 2 * plan.descent.steps / (2 * rho))
        assert [e.noise for e in ledger.entries] == pytest.approx([expected] * plan.descent.steps)


@pytest.mark.parametrize("budget", SMALL_BUDGETS)
def test_the_papers_noise_is_the_printed_one_and_within_the_budget(budget: ApproxDP) -> None:
    n, d = 50, 30
    method = RegularizedMirrorDescent(calibration="paper")
    # The l1 ball is in the logarithmic branch, where the printed kappa is too small.
    for geometry in SMALL:
        setting = geometric_setting("logistic", geometry, n, d, budget)
        _, ledger = run(method, setting, plain_records("logistic", n, d))
        steps, space = (
            method.plan(setting).descent.steps,
            RegularSpace(d=d, exponent=geometry.exponent),
        )
        logarithm = -math.log(budget.delta)
        printed = 64 * space.printed_kappa * steps * logarithm / (n * budget.epsilon) ** 2
        assert ledger.entries[0].noise == pytest.approx(math.sqrt(printed), rel=1e-9)
        assert ledger.entries[0].mechanism == "generalized gaussian"
        assert not ledger.flaws
        spent = ledger.spent()
        assert isinstance(spent, ApproxDP)
        assert 0.2 * budget.epsilon < spent.epsilon < 0.7 * budget.epsilon


@pytest.mark.parametrize("geometry", SMALL, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_without_noise_the_method_converges_linearly_to_the_regularised_minimum(
    kind: str, geometry: Geometry
) -> None:
    """The gradient shrinks by a factor in each step (theory/su-zhao-wang.md, 8, item 5)."""
    n, d, alpha = 200, 4, 0.05
    losses = plain_records(kind, n, d)
    planned = RegularizedMirrorDescent().plan(geometric_setting(kind, geometry, n, d))
    beta = planned.losses.smoothness
    mirror = PowerMirror.for_space(planned.descent.space)
    residuals = []
    for steps in (100, 200, 400):
        all_steps = replace(
            planned.descent,
            steps=steps,
            proximal=2 * beta,
            regulariser=alpha,
            growth=1 + alpha / (2 * beta),
        )
        plan = replace(planned, descent=all_steps)
        w = descend(plan, losses)[1][-1]
        residual = losses.mean_gradient(w) + alpha * mirror.gradient(w)
        residuals.append(lq_norm(residual, dual_exponent(geometry.exponent)))
    start = lq_norm(losses.mean_gradient(np.zeros(d)), dual_exponent(geometry.exponent))
    # This is the factor of the divergence; a norm shrinks by its root.
    factor = 1 / (1 + alpha / (2 * beta))
    floor = 1e-13 * start
    for steps, residual in zip((100, 200, 400), residuals, strict=True):
        assert residual <= 100 * start * factor ** (steps / 2) + floor
    assert residuals[-1] < 1e-3 * residuals[0] + floor


def test_at_q_2_the_method_is_ridge_gradient_descent_with_its_weighted_average() -> None:
    n, d = 60, 3
    losses = plain_records("logistic", n, d)
    plan = RegularizedMirrorDescent().plan(geometric_setting("logistic", L2, n, d))
    plan = replace(
        plan, descent=replace(plan.descent, steps=30, proximal=0.7, regulariser=0.1, growth=1.25)
    )
    value, path = descend(plan, losses)
    w, points = np.zeros(d), []
    for _ in range(30):
        w = (0.7 * w - losses.mean_gradient(w)) / 0.8
        points.append(w)
    np.testing.assert_allclose(path[1:], points, rtol=1e-10, atol=1e-14)
    weights = 1.25 ** np.arange(1, 31)
    np.testing.assert_allclose(value, weights @ np.array(points) / weights.sum(), rtol=1e-10)


def test_the_weights_do_not_overflow() -> None:
    losses = plain_records("logistic", 20, 2)
    plan = RegularizedMirrorDescent().plan(geometric_setting("logistic", L2, 20, 2))
    plan = replace(
        plan, descent=replace(plan.descent, steps=500, proximal=1e-3, regulariser=1.0, growth=1e3)
    )
    value, path = descend(plan, losses)
    np.testing.assert_allclose(value, path[-1], rtol=2e-3)


@pytest.mark.parametrize("geometry", SMALL, ids=str)
def test_a_step_minimises_the_objective_of_the_paper(geometry: Geometry) -> None:
    """At the minimum g + B (u' - u) + alpha u' is 0 (theory/su-zhao-wang.md, 8, item 5)."""
    setting = geometric_setting("huber", geometry, 30, 5)
    method = RegularizedMirrorDescent()
    result, ledger = run(method, setting, plain_records("huber", 30, 5))
    plan, mirror = method.plan(setting), PowerMirror.for_space(method.plan(setting).descent.space)
    for t in range(plan.descent.steps):
        old_dual, new_dual = (mirror.gradient(result.iterates[t + k]) for k in (0, 1))
        left = (
            ledger.noisy[t]
            + plan.descent.proximal * (new_dual - old_dual)
            + plan.descent.regulariser * new_dual
        )
        assert np.abs(left).max() < 1e-9 * (1 + np.abs(ledger.noisy[t]).max())


def test_theory_tuning_has_the_schedule_of_theorem_7_and_its_conditions() -> None:
    """The reference has T = 24 and alpha = 0.501, which violates alpha <= 2 beta by 0.2 %."""
    budget = ApproxDP(epsilon=0.5, delta=1e-6)
    setting = geometric_setting("logistic", lq_geometry(1.25), 100_000, 100, budget)
    method = RegularizedMirrorDescent(tuning="theory")
    with pytest.raises(NotApplicable, match="T=24") as refusal:
        method.plan(setting)
    ((name, fewest_records),) = refusal.value.changes
    assert name == "n" and fewest_records == 2**17
    plan = method.plan(replace(setting, n=fewest_records))
    assert plan.descent.steps == 26
    assert plan.descent.regulariser == pytest.approx(4 * 0.25 / 26 * math.log2(fewest_records / 26))
    assert plan.descent.proximal == 0.5 and plan.descent.growth == pytest.approx(
        1 + plan.descent.regulariser / 0.5
    )
    printed = replace(method, calibration="paper").plan(replace(setting, n=fewest_records))
    assert printed.descent.proximal == 0.25 and printed.descent.growth == plan.descent.growth
    two_records = geometric_setting(
        "logistic", lq_geometry(1.25), 2, 2, ApproxDP(epsilon=0.9, delta=0.5)
    )
    with pytest.raises(NotApplicable, match="T=1 at n=2"):
        method.plan(two_records)


@pytest.mark.parametrize("geometry", [g for g in LARGE if g.exponent > 2], ids=str)
def test_above_q_2_the_method_refuses(geometry: Geometry) -> None:
    setting = geometric_setting("logistic", geometry)
    with pytest.raises(NotApplicable, match=r"q <= 2.*lp\.phased-sgd") as refusal:
        RegularizedMirrorDescent().plan(setting)
    assert refusal.value.changes == (("geometry", "l2"), ("q", None))
    RegularizedMirrorDescent().plan(geometric_setting("logistic", L2))


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("hinge", "has kinks"),
        ("other", "has kinks"),
        ("mean", "grows without bound"),
        ("linear", "no minimum without a constraint"),
    ],
)
def test_losses_that_are_not_smooth_and_lipschitz_everywhere_are_refused(
    kind: str, reason: str
) -> None:
    for geometry in SMALL:
        with pytest.raises(NotApplicable, match=reason) as refusal:
            RegularizedMirrorDescent().plan(geometric_setting(kind, geometry))
        assert refusal.value.changes == (("problem", "huber"),)


def test_unsupported_budgets_and_tails_are_refused() -> None:
    with pytest.raises(NotApplicable, match="cannot give pure DP"):
        RegularizedMirrorDescent().plan(geometric_setting("huber", L2, budget=PURE))
    with pytest.raises(NotApplicable, match="features of this problem are unbounded") as refusal:
        RegularizedMirrorDescent(tuning="theory").plan(
            geometric_setting("huber", L2, lipschitz=False)
        )
    assert refusal.value.changes == (("tuning", "practical"),)
    endless = replace(geometric_setting("huber", L2), constraint=None)
    constants = replace(endless.constants, diameter=math.inf)
    with pytest.raises(NotApplicable, match="constraint set is unbounded") as refusal:
        RegularizedMirrorDescent().plan(replace(endless, constants=constants))
    assert refusal.value.changes == (("diameter", 4.0),)
    paper = RegularizedMirrorDescent(calibration="paper")
    for budget, change in (
        (ApproxDP(epsilon=2.0, delta=1e-6), ("epsilon", 1.0)),
        (ApproxDP(epsilon=0.9, delta=0.9999), ("delta", 1e-6)),
    ):
        setting = geometric_setting("huber", L2, budget=budget)
        with pytest.raises(NotApplicable, match="Theorem 6") as refusal:
            paper.plan(setting)
        assert refusal.value.changes == (change,)
        paper.plan(replace(setting, budget=replace(budget, **dict([change]))))


def test_the_practical_radius_is_that_of_l2_at_q_2_and_smaller_below() -> None:
    wheres = [
        geometric_setting("huber", g, 1000, 20, lipschitz=False)
        for g in (L2, lq_geometry(1.5), lq_geometry(1.0))
    ]
    radii = [practical_dual_radius(where, 0.5) for where in wheres]
    assert radii[0] == pytest.approx(1.0), "the features' norm"
    assert radii[2] < radii[1] < radii[0]
    large = replace(wheres[0], n=10**9)
    expected = (10**9 * math.sqrt(0.5 / 20)) ** 0.5 / 64
    assert practical_dual_radius(large, 0.5) == pytest.approx(expected)


@pytest.mark.parametrize("geometry", SMALL, ids=str)
def test_the_method_learns(geometry: Geometry) -> None:
    """On logistic data with n = 20,000 it gains nine tenths of what the true parameter gains
    over 0.
    """
    n, d = 20_000, 5
    rng = np.random.default_rng(0)
    x, _ = make_records(n, d)
    best = geometry.point(d, 4.0, 5.0)
    y = (rng.random(n) < 1 / (1 + np.exp(-x @ best))).astype(float)
    losses = sample("logistic", x, y)
    setting = geometric_setting("logistic", geometry, n, d, radius=5.0)
    result, _ = run(RegularizedMirrorDescent(), setting, losses)
    start = losses.risk(np.zeros(d))
    assert start - losses.risk(result.value) > 0.9 * (start - losses.risk(best))


def halved(plan: DescentPlan) -> DescentPlan:
    """Return the plan with half the sensitivity."""
    half = plan.statistic.dual_sensitivity / 2
    return replace(plan, statistic=replace(plan.statistic, dual_sensitivity=half))


def half_the_sensitivity(patch: pytest.MonkeyPatch) -> None:
    """Halve the sensitivity of every plan."""
    honest = RegularizedMirrorDescent.plan
    patch.setattr(
        RegularizedMirrorDescent,
        "plan",
        lambda self, s: halved(honest(self, s)),
    )


def no_shrinking(patch: pytest.MonkeyPatch) -> None:
    """Take the shrinking of records away."""
    patch.setattr(DualLosses, "of", lambda self, s: s)


def shrunk_in_the_wrong_norm(patch: pytest.MonkeyPatch) -> None:
    """Shrink in the wrong norm: a bound on the largest entry, the smallest norm, bounds no other
    norm.
    """
    honest = DualLosses.of
    patch.setattr(DualLosses, "of", lambda self, s: honest(replace(self, dual=math.inf), s))


@pytest.mark.parametrize(
    ("fault", "test"),
    [
        (
            half_the_sensitivity,
            lambda: test_a_record_moves_a_gradient_by_at_most_its_sensitivity("huber", L2),
        ),
        (
            half_the_sensitivity,
            lambda: test_the_tight_calibration_spends_the_budget(CONCENTRATED, "gaussian"),
        ),
        (
            no_shrinking,
            lambda: test_a_record_moves_a_gradient_by_at_most_its_sensitivity(
                "logistic", lq_geometry(1.1)
            ),
        ),
        (
            shrunk_in_the_wrong_norm,
            lambda: test_a_record_moves_a_gradient_by_at_most_its_sensitivity(
                "huber", lq_geometry(1.5)
            ),
        ),
    ],
)
def test_a_fault_is_caught(fault: Any, test: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    test()
    fault(monkeypatch)
    with np.errstate(all="ignore"), pytest.raises((AssertionError, ValueError)):
        test()
