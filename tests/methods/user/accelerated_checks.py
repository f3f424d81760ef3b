"""Checks of user-level accelerated descent that deliberate faults must fail."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpsco_core.methods.user.accelerated.batches import BatchGaussian, batch_plan
from dpsco_core.methods.user.accelerated.optimiser import UserAccelerated
from dpsco_core.methods.user.accelerated.run import AcceleratedPhases
from dpsco_core.methods.user.accelerated.schedule import AcceleratedPhase
from dpsco_core.methods.user.release import FilteredMeans
from dpsco_core.privacy import ApproxDP, Ledger
from dpsco_core.privacy.filter.plan import Tuning, phase_plan
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.privacy.filter.sensitivity import sharp_weights_sensitivity
from dpsco_core.privacy.mechanisms import tested as filtered_module
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.users import ItemSample
from tests.methods.euclidean.losses import make_records, sample
from tests.methods.user.accelerated_helpers import (
    BUDGET,
    FALSE_ALARM,
    Recorder,
    means_of,
    replaced,
    run,
    users_setting,
)
from tests.methods.user.checks import Counting
from tests.methods.user.helpers import note_multiplier


def check_replaced_user(
    patch: pytest.MonkeyPatch, method: Any, kind: str, users: int, user: int, items: int = 4
) -> float:
    """Return the largest move of a mean over its bound when one user is replaced, given equal
    earlier releases.

    The check fails where a score or a mean moves by more than its bound. The user's own phase alone
    sees the user.
    """
    setting = users_setting(kind, users, items)
    plan = method.plan(setting)
    recorder, worst, original = Recorder(patch, jitter=0.05), 0.0, None
    for blocks in replaced(kind, users, items, user):
        run(method, setting, blocks)
        if original is None:
            original = (recorder.values, recorder.scores)
            recorder.replay()
            continue
        assert len(recorder.values) == len(original[0]) == plan.steps
        scores = np.abs(np.array(recorder.scores) - original[1])
        assert scores.max() <= 2.0
        step = 0
        for phase in plan.phases:
            is_affected = phase.start <= user < phase.stop
            bound = phase.filter.release.l2_sensitivity if is_affected else 0.0
            for t in range(step, step + phase.steps):
                distance = float(np.linalg.norm(recorder.values[t] - original[0][t]))
                assert distance <= bound * (1 + 1e-9)
                worst = max(worst, distance / bound if is_affected else 0.0)
            step += phase.steps
        recorder.clear()
    return worst


def check_worst_user(patch: pytest.MonkeyPatch) -> None:
    """Check the moves of a user at either end of the filter or beyond it, with all others at one
    point.

    The first mean moves by 2 (2 tau) 0.95/K, more than a third of the bound, which tends to
    4 (2 tau)/K as K grows.
    """
    setting = users_setting("mean", 2000, 10_000)
    radius = UserAccelerated().plan(setting).phases[0].filter.keep.filter_radius
    recorder, moves = Recorder(patch), []
    for place in (0.95 * radius, -0.95 * radius, 0.99):
        means = np.zeros((2000, 3))
        means[7, 1] = place
        recorder.clear()
        run(UserAccelerated(), setting, means_of(means, 10_000))
        moves.append(recorder.values[0])
        bound = UserAccelerated().plan(setting).phases[0].filter.release.l2_sensitivity
    ratios = [float(np.linalg.norm(a - b)) / bound for a, b in itertools.combinations(moves, 2)]
    assert 0.35 < ratios[0] <= 1 and max(ratios) <= 1


def one_phase(
    setting: Setting, filtered: Any, steps: int, regulariser: float = 0.1
) -> AcceleratedPhases:
    """Return a plan of a single phase, from a practical one."""
    plan = UserAccelerated().plan(setting)
    phase = AcceleratedPhase(
        start=0, stop=setting.n, regulariser=regulariser, stages=(steps,), filter=filtered
    )
    return AcceleratedPhases(
        setting=setting,
        losses=plan.losses,
        smoothness=1.0,
        strong_convexity=0.0,
        phases=(phase,),
    )


def check_noise(patch: pytest.MonkeyPatch) -> None:
    """Check by chi-square at level 1e-6 that the mean gradients have the noise of
    theory/lowy-liu-asi.md, 2.2.
    """
    setting, steps, share = users_setting("mean", 3000, 7, d=500, budget=BUDGET), 12, 0.3
    keep = RobustFilter(score_radius=0.5, filter_radius=0.5)
    filtered = phase_plan(
        3000, steps, 4.0, 1e-6, keep=keep, tuning=Tuning(test_share=share, sharp=True)
    )
    noises: list[np.ndarray] = []

    def spy(value: np.ndarray, std: float, rng: np.random.Generator) -> np.ndarray:
        """Add noise to a value, and record the noise."""
        out = honest(value, std, rng)
        noises.append(out - value)
        return out

    honest = filtered_module.add_gaussian_noise
    patch.setattr(filtered_module, "add_gaussian_noise", spy)
    users = means_of(np.zeros((3000, 500)), 7)
    one_phase(setting, filtered, steps).run(users, Ledger(BUDGET), np.random.default_rng(2))
    # The note theory/lowy-liu-asi.md, 2.2, has sl = (4 log(1/z) + 8 log(T/z))/eps_1, taken at gamma
    # for the threshold and at z = delta/2.
    scale, z, gamma = 4 / (share * 4.0), 5e-7, 0.005
    threshold = 3000 - scale * (math.log(1 / gamma) + 2 * math.log(steps / gamma))
    floor = threshold - scale * (math.log(1 / z) + 2 * math.log(steps / z)) - 2
    bound = sharp_weights_sensitivity(keep, 3000, floor)
    std = bound * math.sqrt(steps) * note_multiplier((1 - share) * 4.0, z)
    total, law = float(np.square(np.array(noises) / std).sum()), stats.chi2(500 * steps)
    assert len(noises) == steps
    assert 2 * min(law.cdf(total), law.sf(total)) > FALSE_ALARM


def check_draws() -> None:
    """Check that noise is drawn once for the threshold of a phase, and once for each score and each
    mean.
    """
    setting = users_setting("mean", 15_000, 2, budget=ApproxDP(epsilon=1.0, delta=1e-6))
    method = UserAccelerated(tuning="theory")
    plan, rng = method.plan(setting), Counting(4)
    users = means_of(np.zeros((15_000, 3)), 2)
    release = method.release(users, method.plan(setting), Ledger(setting.budget), rng)
    assert release.diagnostics["steps"] == plan.steps
    assert rng.calls == {"laplace": len(plan.phases) + plan.steps, "normal": plan.steps}


def check_batches(patch: pytest.MonkeyPatch) -> None:
    """Check that each step of Mode B draws K distinct users afresh, and that all T steps cost the
    budget.
    """
    setting, steps = users_setting("mean", 4000, 3), 5
    keep = RobustFilter(score_radius=40.0, filter_radius=40.0)
    filtered = batch_plan(4000, 1000, steps, 4.0, 1e-6, keep=keep, tuning=Tuning())
    assert filtered is not None
    certificate = filtered.release
    assert isinstance(certificate, BatchGaussian)
    test = certificate.test
    base = certificate.epsilon + test.epsilon
    amplified = math.log1p(0.25 * math.expm1(base))
    assert steps * amplified == pytest.approx(4.0, rel=1e-9)
    assert steps * 0.25 * (certificate.delta + test.failure / steps) == pytest.approx(1e-6)
    slack = 2 / test.epsilon * math.log(1 / (2 * test.failure / steps))
    floor = test.threshold - slack - 2
    assert test.score_floor == pytest.approx(floor)
    smallest = 8 * 40.0 / 1000 / 2  # The limit of the sharp form is half of that in item F6.
    assert certificate.l2_sensitivity >= smallest
    assert certificate.noise_std == pytest.approx(
        certificate.l2_sensitivity * note_multiplier(certificate.epsilon, certificate.delta)
    )
    batches: list[np.ndarray] = []
    plain = FilteredMeans.next

    def spy(self: FilteredMeans, points: np.ndarray) -> Any:
        """Record the points of a batch, and examine them."""
        batches.append(points)
        return plain(self, points)

    patch.setattr(FilteredMeans, "next", spy)
    means = np.zeros((4000, 3))
    means[:, 0] = np.arange(4000) / 4000
    ledger = Ledger(BUDGET)
    users = means_of(means, 3, radius=1.0)
    one_phase(setting, filtered, steps).run(users, ledger, np.random.default_rng(3))
    assert ledger.spent() == BUDGET
    chosen = [set(np.round(4000 * (rows[0, 0] - rows[:, 0]))) for rows in batches]
    assert len(batches) == steps and all(len(c) == 1000 for c in chosen)
    firsts = {tuple(np.round(4000 * (rows[:, 0] - rows[0, 0]))) for rows in batches}
    assert len(firsts) == steps


def check_target() -> None:
    """Check that at epsilon = 4 logistic regression on 4,000 users has less than half of the
    centre's excess risk.
    """
    best = np.array([0.6, -0.5, 0.4])
    x, _ = make_records(40_000, 3, seed=5)
    chances = 1 / (1 + np.exp(-4 * x @ best))
    y = (np.random.default_rng(6).random(40_000) < chances).astype(float)
    users = ItemSample(records=sample("logistic", x, y), items=10)
    release = run(UserAccelerated(), users_setting("logistic", 4000, 10), users)
    risk = users.records.risk
    assert risk(release.value) < risk(np.zeros(3)) - 0.5 * (risk(np.zeros(3)) - risk(best))
