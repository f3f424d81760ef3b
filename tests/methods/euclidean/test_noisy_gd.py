"""Noisy gradient descent: sensitivity, ledger, the limit without noise, and the theorem."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.euclidean.noisy_gd import NoisyGradientDescent
from dpsco_core.methods.records import base
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy import ZCDP
from tests.methods.euclidean.losses import (
    BUDGETS,
    CONCENTRATED,
    FALSE_ALARM,
    PURE,
    Releases,
    check_spent,
    expected_rho,
    make_records,
    make_setting,
    neighbours,
    releases,
    run,
    sample,
)

__all__ = ["releases"]
KINDS = ("logistic", "huber", "hinge", "mean", "linear", "other")
VARIANTS = [
    NoisyGradientDescent(calibration=c, tuning=t)
    for c, t in itertools.product(("tight", "paper"), ("practical", "theory"))
]


# Distances are Lipschitz for all records, so they have no uncertified case.
@pytest.mark.parametrize(
    ("kind", "certified"), [(k, c) for k in KINDS for c in (True, False) if c or k != "other"]
)
def test_a_record_moves_no_step_by_more_than_its_sensitivity(
    kind: str, certified: bool, releases: Releases
) -> None:
    """The check is at the first step, where all runs see the same point."""
    n, d = 20, 3
    method, setting = NoisyGradientDescent(), make_setting(kind, n, d, lipschitz=certified)
    limit = method.plan(setting).losses.lipschitz
    first_values, largest, diagnostics = [], 0.0, set()
    for x, y in neighbours(n, d, 5):
        releases.values.clear()
        result = run(method, setting, sample(kind, x, y))
        assert all(np.linalg.norm(v) <= limit * (1 + 1e-9) for v in releases.values)
        diagnostics.add(tuple(result.diagnostics.items()))
        first_values.append(releases.values[0])
    assert len(diagnostics) == 1, "nothing but the setting decides them"
    for value in first_values[1:]:
        distance = float(np.linalg.norm(value - first_values[0]))
        assert distance <= result.ledger.entries[0].sensitivity * (1 + 1e-9)
        largest = max(largest, distance / result.ledger.entries[0].sensitivity)
    assert result.ledger.entries[0].sensitivity == pytest.approx(2 * limit / n)
    assert largest > 0.2, "the sensitivity is of the right size"


@pytest.mark.parametrize("method", VARIANTS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_all_steps_together_spend_the_budget(method: Any, budget: Any) -> None:
    x, y = make_records(60, 3)
    result = run(method, make_setting("hinge", 60, 3, budget), sample("hinge", x, y))
    check_spent(method, budget, result.ledger)
    entries, steps = result.ledger.entries, result.diagnostics["steps"]
    assert len(entries) == steps
    scale = 2 / 60 / math.sqrt(2 * expected_rho(method.calibration, budget) / steps)
    assert [e.noise for e in entries] == pytest.approx([scale] * len(entries), rel=1e-9)
    assert result.diagnostics["noise_std"] == pytest.approx(scale, rel=1e-9)
    assert result.diagnostics["gradient_calls"] == 60 * steps


def test_without_noise_the_method_is_gradient_descent(releases: Releases) -> None:
    n, d = 50, 4
    x, y = make_records(n, d)
    losses = sample("logistic", x, y)
    method = NoisyGradientDescent(descent=Descent(steps=30, step_size=2.0))
    result = run(method, make_setting("logistic", n, d), losses)
    w = np.zeros(d)
    for _ in range(30):
        w = losses.constraint.project(w - 2.0 * losses.mean_gradient(w))
    np.testing.assert_allclose(result.value, w, rtol=1e-12)


@pytest.mark.parametrize(("n", "d", "rho"), [(20, 3, 0.5), (300, 50, 0.1), (5, 40, 0.01)])
def test_the_theorem_balances_noise_and_gradient(n: int, d: int, rho: float) -> None:
    """It has T = rho n^2/(2d), and its step size minimises the bound of the docstring."""
    plan = NoisyGradientDescent(tuning="theory").plan(make_setting("hinge", n, d, ZCDP(rho=rho)))
    descent = plan.descent
    assert descent.queried
    assert descent.steps == max(1, math.floor(rho * n**2 / (2 * d)))

    def bound(eta: float) -> float:
        """Return the theorem's bound at a step size eta."""
        noise = 2 * d * descent.steps / (rho * n**2)
        return 1 / (2 * eta * descent.steps) + eta / 2 * (1 + noise)

    assert bound(descent.step_size) <= min(
        bound(1.01 * descent.step_size), bound(descent.step_size / 1.01)
    )


def test_the_theorem_makes_at_most_a_thousand_passes() -> None:
    plan = NoisyGradientDescent(tuning="theory").plan(make_setting("hinge", 10**6, 3))
    assert plan.descent.steps == 1000


def test_the_average_is_within_the_theorems_bound() -> None:
    """The excess empirical risk of the hinge loss in 60 runs is compared, one-sided at 1e-6."""
    n, d, rho = 100, 5, 0.05
    x, _ = make_records(n, d, shift=0.3)
    losses, setting = sample("hinge", x), make_setting("hinge", n, d, ZCDP(rho=rho))
    descent = NoisyGradientDescent(tuning="theory").plan(setting).descent
    noise = 2 * d * descent.steps / (rho * n**2)
    bound = 1 / (2 * descent.step_size * descent.steps) + descent.step_size / 2 * (1 + noise)
    w = np.zeros(d)
    for _ in range(2000):
        w = losses.constraint.project(w - 0.01 * losses.mean_gradient(w))
    excess = [
        losses.risk(run(NoisyGradientDescent(tuning="theory"), setting, losses, seed).value)
        - losses.risk(w)
        for seed in range(60)
    ]
    error = float(np.std(excess)) / math.sqrt(60)
    assert 0 < np.mean(excess) - stats.norm.isf(FALSE_ALARM) * error < bound


def test_an_unsupported_setting_is_refused_with_a_reason() -> None:
    with pytest.raises(NotApplicable, match="cannot give pure DP"):
        NoisyGradientDescent().plan(make_setting("hinge", budget=PURE))
    with pytest.raises(NotApplicable, match="needs a Lipschitz loss") as refusal:
        NoisyGradientDescent(tuning="theory").plan(make_setting("hinge", lipschitz=False))
    assert refusal.value.changes == (("tuning", "practical"),)


def no_clip(patch: pytest.MonkeyPatch) -> None:
    """Let the method use records unclipped."""
    patch.setattr(base, "clip_to_ball", lambda block, radius: (block, np.ones(len(block))))


def test_a_missing_clip_is_caught(monkeypatch: pytest.MonkeyPatch, releases: Releases) -> None:
    """Broken records are hidden from the clip only if they are shrunk before."""
    no_clip(monkeypatch)
    monkeypatch.setattr("dpsco_core.methods.euclidean.lipschitz.Losses.of", lambda self, s: s)
    with pytest.raises((AssertionError, ValueError, RuntimeWarning)):
        test_a_record_moves_no_step_by_more_than_its_sensitivity("linear", True, releases)


def test_every_step_at_the_whole_budget_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpsco_core.privacy.ledger.fits", lambda total, budget: True)
    honest = NoisyGradientDescent.plan

    def greedy(self: NoisyGradientDescent, setting: Any) -> Any:
        """Plan to spend the whole budget in each step."""
        plan = honest(self, setting)
        return replace(plan, rho_step=plan.rho)

    monkeypatch.setattr(NoisyGradientDescent, "plan", greedy)
    with pytest.raises(AssertionError):
        test_all_steps_together_spend_the_budget(NoisyGradientDescent(), CONCENTRATED)
