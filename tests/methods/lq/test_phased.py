"""Phased SGD on the whole space: sensitivity, and agreement with phased SGD on a ball."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.geometry.ball import Ball
from dpsco_core.geometry.geometries import L2, Geometry
from dpsco_core.methods.euclidean import phased_sgd
from dpsco_core.methods.euclidean.lipschitz import Losses
from dpsco_core.methods.euclidean.phased_sgd import (
    Phase,
    PhasedSgd,
    phase_average,
)
from dpsco_core.methods.lq.phased import UnconstrainedPhasedSgd
from dpsco_core.privacy import ZCDP, ApproxDP, Budget, Ledger, gaussian_delta, gaussian_rho
from tests.methods.euclidean.losses import (
    BUDGETS,
    CONCENTRATED,
    PURE,
    Releases,
    make_records,
    neighbours,
    releases,
    sample,
)
from tests.methods.lq.helpers import LARGE, SMALL, geometric_setting, lq_geometry, plain_records
from tests.trust import mean_faults

__all__ = ["releases"]
KINDS = ("logistic", "huber")
VARIANTS = [
    UnconstrainedPhasedSgd(calibration=c, tuning=t)
    for c, t in itertools.product(("tight", "paper"), ("practical", "theory"))
]
SMALL_BUDGETS = [b for b in BUDGETS if isinstance(b, ApproxDP) and b.epsilon <= 1]


def run(method: Any, setting: Any, losses: Any, seed: int = 0) -> Any:
    """Run a method; check its ledger and its points, and return its release."""
    ledger = Ledger(setting.budget)
    result = method.release(losses, method.plan(setting), ledger, np.random.default_rng(seed))
    assert np.isfinite(result.value).all() and np.isfinite(result.iterates).all()
    assert result.ledger is ledger
    return result


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", [1, 4, 50])
@pytest.mark.parametrize("fraction", [0.02, 1.0])
def test_a_record_moves_the_average_by_at_most_its_sensitivity(
    kind: str, batch: int, fraction: float
) -> None:
    """There is no projection, the step sizes include the largest allowed one, and other records are
    as extreme.
    """
    n, d = 23, 3
    losses = UnconstrainedPhasedSgd().plan(geometric_setting(kind, lq_geometry(4.0), n, d)).losses
    step_size = fraction * 2 / losses.smoothness / batch
    phase = Phase(start=2, stop=n, step_size=step_size, sensitivity=1.0, noise_std=1.0)
    distance = 0.0
    for seed in range(4):
        averages = [
            phase_average(
                losses.of(sample(kind, x, y)),
                np.array([3.0, -2.0, 6.0]),
                phase,
                batch,
                losses,
                projected=False,
            )
            for x, y in neighbours(n, d, 4, seed)
        ]
        gaps = [float(np.linalg.norm(averages[0] - a)) for a in averages[1:]]
        distance = float(np.max([distance, *gaps]))
    sensitivity = 2 * losses.lipschitz * step_size
    assert distance <= sensitivity * (1 + 1e-9)
    if fraction < 1 and batch == 1:
        assert distance > 0.2 * sensitivity, "the sensitivity is of the right size"
    wide, ordinary = (
        replace(phase, step_size=2.01 / losses.smoothness / batch),
        plain_records(kind, n, d),
    )
    with pytest.raises(InvalidInput, match="step_size must be at most"):
        phase_average(ordinary, np.zeros(d), wide, batch, losses, projected=False)


@pytest.mark.parametrize("method", VARIANTS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_phase_of_every_plan_may_be_released(
    method: UnconstrainedPhasedSgd, kind: str
) -> None:
    budgets = SMALL_BUDGETS if method.calibration == "paper" else BUDGETS
    for geometry, n, d, budget in itertools.product(LARGE, (2, 7, 1000, 300_000), (1, 50), budgets):
        plan = method.plan(geometric_setting(kind, geometry, n, d, budget))
        losses, first_phase = plan.losses, plan.phases[0]
        assert plan.batch * first_phase.step_size * losses.smoothness <= 2 * (1 + 1e-12)
        stops = [p.stop for p in plan.phases]
        assert [p.start for p in plan.phases] == [0, *stops[:-1]] and stops[-1] <= n
        for i, phase in enumerate(plan.phases, start=1):
            assert phase.stop - phase.start == n // 2**i >= 1
            assert phase.step_size == pytest.approx(
                first_phase.step_size * 4.0 ** (1 - i), rel=1e-12
            )
            assert phase.noise_std == pytest.approx(
                factor(method.calibration, budget) * losses.lipschitz * phase.step_size, rel=1e-9
            )


def factor(calibration: str, budget: Budget) -> float:
    """Return the factor c of theory/su-zhao-wang.md, 2.4: the noise of a phase over L eta."""
    if calibration == "paper":
        assert isinstance(budget, ApproxDP)
        return math.sqrt(8 * math.log(1.25 / budget.delta)) / budget.epsilon
    rho = budget.rho if isinstance(budget, ZCDP) else None
    if isinstance(budget, ApproxDP):
        rho = gaussian_rho(budget.epsilon, budget.delta)
    assert rho is not None
    return 2 / math.sqrt(2 * rho)


@pytest.mark.parametrize("method", VARIANTS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_a_run_spends_the_budget_or_the_cost_proven_by_lemma_2(
    method: UnconstrainedPhasedSgd, budget: Any
) -> None:
    setting = geometric_setting("logistic", lq_geometry(4.0), 100, 3, budget)
    if method.calibration == "paper" and isinstance(budget, ApproxDP) and budget.epsilon > 1:
        with pytest.raises(NotApplicable, match="epsilon <= 1") as refusal:
            method.plan(setting)
        assert refusal.value.changes == (("epsilon", 1.0),)
        return
    result = run(method, setting, plain_records("logistic", 100, 3))
    phases, entries = method.plan(setting).phases, result.ledger.entries
    spent = result.ledger.spent()
    if method.calibration == "tight" or isinstance(budget, ZCDP):
        assert spent == budget
    else:
        assert isinstance(spent, ApproxDP) and 0.5 * budget.epsilon < spent.epsilon < budget.epsilon
        rho = 2 / factor("paper", budget) ** 2
        assert gaussian_delta(rho, spent.epsilon) == pytest.approx(budget.delta, rel=1e-6)
    assert [e.noise for e in entries] == pytest.approx([p.noise_std for p in phases])
    assert len({e.part for e in entries}) == len(phases)
    assert len(result.iterates) == len(phases) + 1, "points inside a phase are not private"


@pytest.mark.parametrize("tuning", ["practical", "theory"])
def test_at_q_2_it_is_phased_sgd_without_the_projection(tuning: Any) -> None:
    """With equal noise it equals a run in a ball that is never left, and differs in a small ball.

    The practical plans are equal; theory has another step size.
    """
    n, d = 300, 3
    setting = geometric_setting("logistic", L2, n, d, ZCDP(rho=1e-2))
    losses = plain_records("logistic", n, d)
    method = UnconstrainedPhasedSgd(tuning=tuning)
    free = run(method, setting, losses)
    plan = method.plan(setting)
    if tuning == "practical":
        assert plan == PhasedSgd().plan(setting)
    runs = []
    for radius in (1e6, 1e-3):
        wide_losses = replace(losses, constraint=Ball(d=d, radius=radius))  # type: ignore[type-var]
        ledger, rng = Ledger(setting.budget), np.random.default_rng(0)
        runs.append(PhasedSgd().release(wide_losses, replace(plan, projected=True), ledger, rng))
    np.testing.assert_allclose(free.value, runs[0].value, rtol=1e-12)
    assert np.linalg.norm(free.iterates, axis=1).max() > 1e-3 > np.linalg.norm(runs[1].value) / 1.01


@pytest.mark.parametrize("geometry", LARGE, ids=str)
def test_the_method_leaves_the_constraint_set_and_ignores_the_diameter(
    geometry: Geometry, releases: Releases
) -> None:
    """In theory tuning without noise the set changes neither the plan nor the result."""
    n, d = 4000, 3
    x, _ = make_records(n, d)
    losses = sample("logistic", x, (x[:, 0] > 0).astype(float), radius=1e-3)
    method = UnconstrainedPhasedSgd(tuning="theory")
    wheres = [geometric_setting("logistic", geometry, n, d, radius=r) for r in (1e-3, 10.0)]
    plan, other_plan = (method.plan(where) for where in wheres)
    assert plan == replace(other_plan, setting=plan.setting)
    values = [run(method, where, losses).value for where in wheres]
    np.testing.assert_array_equal(values[0], values[1])
    assert not losses.constraint.contains(values[0])


def test_theory_tuning_has_the_step_size_of_the_note_and_floor_log_n_phases() -> None:
    for n, rho, d in ((1000, 0.5, 5), (1000, 1e-4, 50)):
        plan = UnconstrainedPhasedSgd(tuning="theory").plan(
            geometric_setting("logistic", lq_geometry(4.0), n, d, ZCDP(rho=rho))
        )
        c = 2 / math.sqrt(2 * rho)
        assert len(plan.phases) == 9
        assert 4 * plan.phases[0].step_size == pytest.approx(
            min(1 / math.sqrt(n), 1 / (c * math.sqrt(d)))
        )


def test_a_theorem_whose_step_is_too_large_names_the_n_that_helps() -> None:
    """With beta = 400 and L = 1, eta/4 = 1/(4 sqrt n) is above 2/beta below n = 2500."""
    setting = geometric_setting("huber", lq_geometry(4.0), 100, 1, ZCDP(rho=1e6))
    model = replace(setting.constants.linear_model, curvature=400.0)  # type: ignore[type-var]
    setting = replace(setting, constants=replace(setting.constants, linear_model=model))
    method = UnconstrainedPhasedSgd(tuning="theory")
    with pytest.raises(NotApplicable, match="above 2/beta") as refusal:
        method.plan(setting)
    assert refusal.value.changes == (("n", 2500),)
    method.plan(replace(setting, n=2500))
    with pytest.raises(NotApplicable):
        method.plan(replace(setting, n=2400))
    assert UnconstrainedPhasedSgd().plan(setting).phases[0].step_size <= 0.005 * (1 + 1e-12)


@pytest.mark.parametrize("geometry", [g for g in SMALL if g.exponent < 2], ids=str)
def test_below_q_2_the_method_refuses(geometry: Geometry) -> None:
    with pytest.raises(NotApplicable, match=r"q >= 2.*lp\.regularized") as refusal:
        UnconstrainedPhasedSgd().plan(geometric_setting("logistic", geometry))
    assert refusal.value.changes == (("geometry", "l2"), ("q", None))


@pytest.mark.parametrize("kind", ["hinge", "other", "mean", "linear"])
@pytest.mark.parametrize("geometry", LARGE, ids=str)
def test_losses_that_are_not_smooth_and_lipschitz_everywhere_are_refused(
    kind: str, geometry: Geometry
) -> None:
    with pytest.raises(NotApplicable, match=r"all of R\^d") as refusal:
        UnconstrainedPhasedSgd().plan(geometric_setting(kind, geometry))
    assert refusal.value.changes == (("problem", "huber"),)


def test_unsupported_budgets_and_records_are_refused() -> None:
    with pytest.raises(NotApplicable, match="cannot give pure DP"):
        UnconstrainedPhasedSgd().plan(geometric_setting("huber", L2, budget=PURE))
    with pytest.raises(NotApplicable, match="only one"):
        UnconstrainedPhasedSgd().plan(geometric_setting("huber", L2, n=1))
    with pytest.raises(NotApplicable, match="needs a Lipschitz loss") as refusal:
        UnconstrainedPhasedSgd(tuning="theory").plan(
            geometric_setting("huber", L2, lipschitz=False)
        )
    assert refusal.value.changes == (("tuning", "practical"),)
    plan = UnconstrainedPhasedSgd().plan(geometric_setting("huber", L2, lipschitz=False))
    assert math.isfinite(plan.losses.feature_bound)


@pytest.mark.parametrize("geometry", LARGE, ids=str)
def test_the_method_learns(geometry: Geometry) -> None:
    """On logistic data with n = 20,000 it gains nine tenths of what the true parameter gains
    over 0.
    """
    n, d = 20_000, 3
    rng = np.random.default_rng(0)
    x, _ = make_records(n, d)
    best = geometry.point(d, 3.0, 5.0)
    y = (rng.random(n) < 1 / (1 + np.exp(-x @ best))).astype(float)
    losses = sample("logistic", x, y)
    setting = geometric_setting("logistic", geometry, n, d, radius=5.0)
    value = run(UnconstrainedPhasedSgd(), setting, losses).value
    start = losses.risk(np.zeros(d))
    assert start - losses.risk(value) > 0.9 * (start - losses.risk(best))


def no_shrinking(patch: pytest.MonkeyPatch) -> None:
    """Take the shrinking of records and the clip of gradients away."""
    patch.setattr(Losses, "of", lambda self, s: s)
    patch.setattr(phased_sgd, "clipped_gradient", lambda s, w, i, limit: s.gradient(w, i))


def half_the_sensitivity(patch: pytest.MonkeyPatch) -> None:
    mean_faults.half_the_sensitivity(patch)


@pytest.mark.parametrize(
    ("fault", "test"),
    [
        (
            no_shrinking,
            lambda: test_a_record_moves_the_average_by_at_most_its_sensitivity("huber", 1, 1.0),
        ),
        (
            half_the_sensitivity,
            lambda: test_a_run_spends_the_budget_or_the_cost_proven_by_lemma_2(
                VARIANTS[0], CONCENTRATED
            ),
        ),
    ],
)
def test_a_fault_is_caught(fault: Any, test: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    test()
    fault(monkeypatch)
    with np.errstate(all="ignore"), pytest.raises((AssertionError, ValueError)):
        test()
