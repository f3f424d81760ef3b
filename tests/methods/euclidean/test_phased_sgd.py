"""Phased SGD: the sensitivity of a phase by brute force, disjoint phases, refusals."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.methods.euclidean import phased_sgd
from dpsco_core.methods.euclidean.phased_sgd import Phase, PhasedSgd, bounded_risk, phase_average
from dpsco_core.privacy import ZCDP
from tests.methods.euclidean.losses import (
    BUDGETS,
    CONCENTRATED,
    PURE,
    SMOOTH,
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
VARIANTS = [
    PhasedSgd(calibration=c, tuning=t)
    for c, t in itertools.product(("tight", "paper"), ("practical", "theory"))
]


def largest_move(kind: str, step_size: float, batch: int) -> float:
    """Return how far one replaced record moves a phase's average, in units of 2 L eta, by brute
    force over extreme records.
    """
    n, d, replaced = 23, 3, 4
    losses = PhasedSgd().plan(make_setting(kind, n, d)).losses
    phase = Phase(start=2, stop=n, step_size=step_size, sensitivity=1.0, noise_std=1.0)
    start, distance = np.array([0.3, -0.2, 0.6]), 0.0
    for seed in range(4):
        averages = [
            phase_average(losses.of(sample(kind, x, y)), start, phase, batch, losses)
            for x, y in neighbours(n, d, replaced, seed)
        ]
        gaps = [float(np.linalg.norm(averages[0] - a)) for a in averages[1:]]
        # The maximum of numpy keeps a NaN, so a broken average fails.
        distance = float(np.max([distance, *gaps]))
    return distance / (2 * losses.lipschitz * step_size)


@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("batch", [1, 4, 50])
@pytest.mark.parametrize("fraction", [0.02, 1.0])
def test_a_record_moves_the_average_by_at_most_its_sensitivity(
    kind: str, batch: int, fraction: float
) -> None:
    """The step sizes include the largest allowed one, and other records are as extreme as the
    replaced one.
    """
    smoothness = {"logistic": 0.25, "linear": 4.0}.get(kind, 1.0)
    distance = largest_move(kind, fraction * 2 / smoothness / batch, batch)
    assert distance <= 1 + 1e-9
    if fraction < 1 and batch == 1:
        assert distance > 0.2, "the sensitivity is of the right size"


@pytest.mark.parametrize("batch", [1, 3])
def test_too_large_a_step_is_refused_before_a_record_is_seen(batch: int) -> None:
    with pytest.raises(InvalidInput, match="step_size must be at most"):
        largest_move("mean", 2.01 / batch, batch)


@pytest.mark.parametrize("method", VARIANTS)
@pytest.mark.parametrize("kind", SMOOTH)
def test_every_phase_of_every_plan_may_be_released(method: PhasedSgd, kind: str) -> None:
    for n, d, budget in itertools.product((2, 7, 1000, 300_000), (1, 50), BUDGETS):
        setting = make_setting(kind, n, d, budget)
        plan = method.plan(setting)
        losses, first_phase = plan.losses, plan.phases[0]
        assert plan.batch * first_phase.step_size * losses.smoothness <= 2 * (1 + 1e-12)
        stops = [p.stop for p in plan.phases]
        assert [p.start for p in plan.phases] == [0, *stops[:-1]]
        assert stops[-1] <= n
        for i, phase in enumerate(plan.phases, start=1):
            assert phase.stop - phase.start == n // 2**i >= 1
            assert phase.step_size == pytest.approx(
                first_phase.step_size * 4.0 ** (1 - i), rel=1e-12
            )
            scale = (
                2
                * losses.lipschitz
                * phase.step_size
                / math.sqrt(2 * expected_rho(method.calibration, budget))
            )
            assert phase.noise_std == pytest.approx(scale, rel=1e-9)


@pytest.mark.parametrize("method", VARIANTS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_the_whole_budget_is_spent_on_every_phase(method: PhasedSgd, budget: Any) -> None:
    x, y = make_records(100, 3)
    result = run(method, make_setting("logistic", 100, 3, budget), sample("logistic", x, y))
    check_spent(method, budget, result.ledger)
    entries, phases = (
        result.ledger.entries,
        method.plan(make_setting("logistic", 100, 3, budget)).phases,
    )
    assert [e.noise for e in entries] == pytest.approx([p.noise_std for p in phases])
    assert len({e.part for e in entries}) == len(phases)
    # The iterates inside a phase are not private; only its noisy end is returned.
    assert result.iterates is not None
    assert len(result.iterates) == len(phases) + 1


def test_releases_are_the_averages_and_later_phases_start_there(releases: Releases) -> None:
    """The test goes phase by phase without noise; a record moves no phase before its own."""
    n, d, replaced = 64, 3, 40  # The replaced record is in the second phase.
    setting, method = make_setting("logistic", n, d), PhasedSgd(tuning="theory")
    runs, diagnostics = [], set()
    for x, y in neighbours(n, d, replaced):
        releases.values.clear()
        result = run(method, setting, sample("logistic", x, y))
        diagnostics.add(tuple(result.diagnostics.items()))
        runs.append([v.copy() for v in releases.values])
    assert len(diagnostics) == 1, "nothing but the setting decides them"
    plan = method.plan(setting)
    for values in runs[1:]:
        np.testing.assert_array_equal(values[0], runs[0][0])
        distance = np.linalg.norm(values[1] - runs[0][1])
        assert distance <= 2 * plan.losses.lipschitz * plan.phases[1].step_size * (1 + 1e-9)
    x, y = neighbours(n, d, replaced)[0]
    losses = plan.losses.of(sample("logistic", x, y))
    w = np.zeros(d)
    for phase, value in zip(plan.phases, runs[0], strict=True):
        total = np.zeros(d)
        v = w
        for i in range(phase.start, phase.stop):
            total += v
            v = losses.constraint.project(v - phase.step_size * losses.gradient(v, i))
        w = total / (phase.stop - phase.start)
        np.testing.assert_allclose(value, w, rtol=1e-9, atol=1e-15)


def test_the_theorem_has_its_step_size_and_log_n_phases() -> None:
    plan = PhasedSgd(tuning="theory").plan(make_setting("logistic", 1024, 100, ZCDP(rho=0.5)))
    assert len(plan.phases) == 10
    assert plan.phases[0].step_size == pytest.approx(2 * min(4 / 32, 1 / 20) / 4)


def test_the_practical_plan_has_the_smaller_bound() -> None:
    for n, d in itertools.product((100, 10_000), (2, 200)):
        setting = make_setting("logistic", n, d)
        bounds = []
        for method in (PhasedSgd(), PhasedSgd(tuning="theory")):
            plan = method.plan(setting)
            eta = 4 * plan.phases[0].step_size
            bounds.append(bounded_risk(setting, 0.5, 1.0, len(plan.phases), eta))
        assert bounds[0] <= bounds[1] * 1.01


def test_an_unsupported_setting_is_refused_with_a_reason() -> None:
    with pytest.raises(NotApplicable, match=r"kinks.*sco\.private-sgd") as refusal:
        PhasedSgd().plan(make_setting("hinge"))
    assert refusal.value.changes == (("problem", "huber"),)
    with pytest.raises(NotApplicable, match="kinks"):
        PhasedSgd().plan(make_setting("other"))
    with pytest.raises(NotApplicable, match="cannot give pure DP"):
        PhasedSgd().plan(make_setting("logistic", budget=PURE))
    with pytest.raises(NotApplicable, match="needs a Lipschitz loss"):
        PhasedSgd(tuning="theory").plan(make_setting("logistic", lipschitz=False))
    with pytest.raises(NotApplicable, match="only one"):
        PhasedSgd().plan(make_setting("logistic", n=1))


def test_a_refusal_of_too_large_a_step_names_about_the_smallest_n_that_is_accepted() -> None:
    """With D/L = 200 and beta = 100, eta/4 = 50 min{4/sqrt n, ...} exceeds 2/beta for every n
    below 10^8.
    """
    setting = make_setting("huber", 100, 1, ZCDP(rho=1e6), radius=100.0)
    model = replace(setting.constants.linear_model, curvature=100.0)  # type: ignore[type-var]
    setting = replace(setting, constants=replace(setting.constants, linear_model=model))
    method = PhasedSgd(tuning="theory")
    with pytest.raises(NotApplicable, match="above 2/beta") as refusal:
        method.plan(setting)
    ((name, fewest_records),) = refusal.value.changes
    assert name == "n" and isinstance(fewest_records, int)
    method.plan(replace(setting, n=fewest_records))
    with pytest.raises(NotApplicable):
        method.plan(replace(setting, n=int(0.9 * fewest_records)))
    assert PhasedSgd().plan(setting).phases[0].step_size <= 0.02 * (1 + 1e-12)


def test_the_method_learns() -> None:
    """On logistic data with n = 20,000 the risk is far below that of the centre."""
    n, d = 20_000, 3
    rng = np.random.default_rng(0)
    x, _ = make_records(n, d)
    best = np.array([3.0, -2.0, 1.0])
    y = (rng.random(n) < 1 / (1 + np.exp(-x @ best))).astype(float)
    setting = make_setting("logistic", n, d, radius=5.0)
    losses = sample("logistic", x, y, radius=5.0)
    result = run(PhasedSgd(), setting, losses)
    gained = losses.risk(np.zeros(d)) - losses.risk(result.value)
    assert gained > 0.9 * (losses.risk(np.zeros(d)) - losses.risk(best))


def no_shrinking(patch: pytest.MonkeyPatch) -> None:
    """Take the shrinking of records and the clip of gradients away."""
    patch.setattr(phased_sgd.Losses, "of", lambda self, s: s)
    patch.setattr(phased_sgd, "clipped_gradient", lambda s, w, i, limit: s.gradient(w, i))


def sensitivity_of_one_gradient(patch: pytest.MonkeyPatch) -> None:
    """Calibrate the noise of every phase to half the sensitivity."""
    honest = phased_sgd.gaussian_noise_std
    patch.setattr(phased_sgd, "gaussian_noise_std", lambda s, rho: honest(s / 2, rho))


@pytest.mark.parametrize(
    ("fault", "test"),
    [
        (
            no_shrinking,
            lambda: test_a_record_moves_the_average_by_at_most_its_sensitivity("mean", 1, 1.0),
        ),
        (
            sensitivity_of_one_gradient,
            lambda: test_every_phase_of_every_plan_may_be_released(PhasedSgd(), "logistic"),
        ),
        (
            sensitivity_of_one_gradient,
            lambda: test_the_whole_budget_is_spent_on_every_phase(PhasedSgd(), CONCENTRATED),
        ),
    ],
)
def test_a_fault_is_caught(fault: Any, test: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    with pytest.raises((AssertionError, ValueError, RuntimeWarning)):
        test()
