"""Noisy mirror descent: private SGD at q = 2, sensitivity, noise and potentials."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpsco_core.base.errors import NotApplicable
from dpsco_core.geometry.geometries import GEOMETRIES, L2, Geometry
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.euclidean import private_sgd
from dpsco_core.methods.euclidean.private_sgd import PrivateSgd, fresh_order, run_steps
from dpsco_core.methods.lq import noisy as lp_noisy
from dpsco_core.methods.lq.noisy import (
    NoisyMirrorDescent,
    best_potential,
    own_exponent,
    potential_of,
)
from dpsco_core.privacy import ZCDP, ApproxDP, Ledger, shuffle_steps
from dpsco_core.privacy.mechanisms import noise as draws
from tests.folded import each
from tests.geometry.sets import divergence
from tests.methods.euclidean.losses import (
    APPROXIMATE,
    BUDGETS,
    CONCENTRATED,
    FALSE_ALARM,
    PURE,
    SMOOTH,
    Array,
    make_records,
    neighbours,
    sample,
)
from tests.methods.lq.helpers import (
    L1,
    LARGE,
    SMALL,
    geometric_setting,
    lq_geometry,
    place_on,
    plain_records,
)

KINDS = (*SMOOTH, "hinge", "other")
TUNINGS = ("practical", "theory")
EVERY_GEOMETRY = tuple(Geometry(kind=k, q=1.5 if k == "lq" else None) for k in GEOMETRIES)
D = 5  # The dimension is that of one whole group of coordinates.


def run(method: Any, setting: Any, losses: Any, seed: int = 0, rng: Any = None) -> Any:
    """Run a method; check its ledger and its answer, and return its release."""
    ledger = Ledger(setting.budget)
    rng = np.random.default_rng(seed) if rng is None else rng
    result = method.release(losses, method.plan(setting), ledger, rng)
    assert result.ledger is ledger
    assert setting.body.contains(result.value, 1e-9)
    return result


@each("kind", KINDS)
@each("tuning", TUNINGS)
@each("budget", [CONCENTRATED, APPROXIMATE])
def test_at_q_2_noisy_mirror_descent_is_private_sgd(kind: str, tuning: Any, budget: Any) -> None:
    setting = geometric_setting(kind, L2, 60, 3, budget)
    x, y = make_records(60, 3)
    losses = sample(kind, x, y)
    mirror_run = run(NoisyMirrorDescent(tuning=tuning), setting, losses)
    sgd_run = run(PrivateSgd(tuning=tuning), setting, losses)
    np.testing.assert_allclose(mirror_run.value, sgd_run.value, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(mirror_run.iterates, sgd_run.iterates, rtol=1e-9, atol=1e-12)
    assert mirror_run.ledger.entries == sgd_run.ledger.entries
    assert mirror_run.diagnostics["step_size"] == pytest.approx(sgd_run.diagnostics["step_size"])


@pytest.mark.parametrize("geometry", [*EVERY_GEOMETRY, lq_geometry(1.1), lq_geometry(4.0)], ids=str)
@pytest.mark.parametrize("tuning", TUNINGS)
def test_the_method_runs_in_every_set_and_stays_there(geometry: Geometry, tuning: Any) -> None:
    for kind, budget in (("hinge", APPROXIMATE), ("linear", ZCDP(rho=40.0))):
        setting = geometric_setting(kind, geometry, 60, D, budget)
        x, y = make_records(60, D)
        losses = place_on(geometry, sample(kind, x, y))
        result = run(NoisyMirrorDescent(tuning=tuning), setting, losses)
        assert all(setting.body.contains(w, 1e-9) for w in result.iterates)
        repeated = run(NoisyMirrorDescent(tuning=tuning), setting, losses)
        np.testing.assert_array_equal(result.value, repeated.value)


@pytest.mark.parametrize("kind", KINDS)
def test_one_record_moves_one_step_of_four_by_at_most_the_sensitivity(kind: str) -> None:
    """The moves are found by brute force at fixed points, which stand for the earlier releases,
    with equal noise and order.

    Steps of a single record are covered by `tests/trust`.
    """
    n, d, replaced, batch = 30, 3, 7, 4
    method = NoisyMirrorDescent()
    setting = geometric_setting(kind, lq_geometry(1.5), n, d)
    plan = replace(method.plan(setting), batch=batch)
    points = np.random.default_rng(1).standard_normal((n, d)) / 4
    largest = 0.0

    def pulls(x: Array, y: Array, seed: int) -> tuple[Array, Array]:
        """Return the noisy gradients of a run, and its order of the records."""
        noisy_pulls: list[Array] = []

        def move(w: Array, pull: Array) -> Array:
            """Record a noisy gradient, and return the next given point."""
            noisy_pulls.append(pull.copy())
            return points[len(noisy_pulls)]

        rng = np.random.default_rng(seed)
        order, idle = fresh_order(n, plan, rng)
        losses = plan.losses.of(sample(kind, x, y))
        steps = plan.open(Ledger(setting.budget), d)
        run_steps(plan, losses, order, idle, steps, rng, start=points[0], move=move)
        return np.array(noisy_pulls), order

    for seed in range(4):
        base, order = pulls(*neighbours(n, d, replaced)[0], seed)
        place = order.tolist().index(replaced) // batch if replaced in order else -1
        for x, y in neighbours(n, d, replaced)[1:]:
            gaps = np.linalg.norm(pulls(x, y, seed)[0] - base, axis=1) * batch
            assert not np.delete(gaps, place).any() if place >= 0 else not gaps.any()
            largest = max(largest, float(np.max(gaps)))
    bound = plan.step_size * plan.l2_sensitivity
    assert 0.3 * bound < largest <= bound * (1 + 1e-9)


@pytest.mark.parametrize(
    ("budget", "tuning", "geometry"),
    list(itertools.product(BUDGETS, TUNINGS, (L1, lq_geometry(1.5), lq_geometry(4.0)))),
)
def test_the_ledger_spends_the_budget(budget: Any, tuning: Any, geometry: Geometry) -> None:
    n = 100
    setting = geometric_setting("hinge", geometry, n, 3, budget)
    losses = place_on(geometry, plain_records("hinge", n, 3))
    result = run(NoisyMirrorDescent(tuning=tuning), setting, losses)
    assert result.ledger.spent() == budget
    (entry,) = result.ledger.entries
    assert entry.sensitivity == 2.0
    if isinstance(budget, ApproxDP):
        multiplier = shuffle_steps(n, budget.epsilon, budget.delta).noise_multiplier
    else:
        multiplier = 1 / math.sqrt(2 * budget.rho)
    assert entry.noise == pytest.approx(2 * multiplier, rel=1e-12)


@pytest.mark.parametrize("geometry", [L1, lq_geometry(1.5), L2, lq_geometry(4.0)], ids=str)
@pytest.mark.parametrize("batch", [1, 3])
def test_the_noise_of_the_steps_has_the_ledgers_scale(geometry: Geometry, batch: int) -> None:
    """With zero gradients a step is eta times the mean of `batch` noises; chi-square at 1e-6."""
    n, d = 120, 40
    setting = geometric_setting("linear", geometry, n, d)
    plan = replace(NoisyMirrorDescent().plan(setting), batch=batch)
    ledger, rng = Ledger(setting.budget), np.random.default_rng(0)
    order, idle = fresh_order(n, plan, rng)
    pulls: list[Array] = []
    run_steps(
        plan,
        sample("linear", np.zeros((n, d))),
        order[:60],
        idle,
        plan.open(ledger, d),
        rng,
        move=lambda w, pull: (pulls.append(pull.copy()), w)[1],
    )
    assert len(pulls) == 60 // batch
    scale = plan.step_size * ledger.entries[0].noise / math.sqrt(batch)
    total = float(np.square(np.array(pulls) / scale).sum())
    law = stats.chi2(len(pulls) * d)
    assert 2 * min(law.cdf(total), law.sf(total)) > FALSE_ALARM


def test_slow_steps_take_several_records_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lp_noisy, "NESTED_SEARCHES", 10)
    monkeypatch.setattr(lp_noisy, "SEARCHES", 10)
    n, d, sizes = 100, 3, set()
    # These potentials need only a sort and a rescaling.
    quick = {(L1, 2.0), (lq_geometry(1.5), 1.5)}
    for geometry, tuning in itertools.product((lq_geometry(4.0), L1, lq_geometry(1.5)), TUNINGS):
        setting = geometric_setting("hinge", geometry, n, d)
        method = NoisyMirrorDescent(tuning=tuning)  # type: ignore[arg-type]
        result = run(method, setting, place_on(geometry, plain_records("hinge", n, d)))
        batch = 1 if (geometry, result.diagnostics["mirror_exponent"]) in quick else 6
        sizes.add(batch)
        assert result.diagnostics["batch_size"] == batch
        assert result.diagnostics["gradient_calls"] == 51
        assert result.diagnostics["steps"] >= math.ceil(51 / batch) == len(range(0, 51, batch))
        assert method.plan(setting).idle is (tuning == "theory" and batch == 1)
    assert sizes == {1, 6}


@pytest.mark.parametrize("geometry", [*EVERY_GEOMETRY, lq_geometry(1.1), lq_geometry(4.0)], ids=str)
def test_the_bound_on_the_divergence_holds_on_the_whole_set(geometry: Geometry) -> None:
    """The bound holds at extreme points and is attained up to a factor of 2."""
    d = 10
    setting = geometric_setting("hinge", geometry, 40, d)
    potential = potential_of(setting.body, own_exponent(setting))
    rng, largest = np.random.default_rng(0), 0.0
    corners = [*np.eye(d), np.ones(d), *rng.standard_normal((300, d))]
    for direction in corners:
        u = setting.body.support_point(direction)
        largest = max(largest, divergence(potential.mirror, u, potential.start))
    assert potential.divergence / 2 < largest <= potential.divergence * (1 + 1e-9)


@pytest.mark.parametrize("exponent", [1.0, 1.1, 1.5, 2.0])
@pytest.mark.parametrize("size", [0.1, 3.0])
def test_the_energy_bounds_that_of_gradient_plus_noise(exponent: float, size: float) -> None:
    """The worst of several gradients is tested, one-sided at 1e-6; at q = 2 the bound is exact."""
    d, std = 20, 0.7
    space = RegularSpace(d=d, exponent=exponent)
    bound = potential_of(L2.constraint(d, 1.0), exponent).energy(size, std)
    rng = np.random.default_rng(0)
    noise = std * rng.standard_normal((20_000, d))
    for gradient in (np.eye(d)[0], np.ones(d) / math.sqrt(d), np.zeros(d)):
        squares = np.linalg.norm(size * gradient + noise, space.dual, axis=1) ** 2
        error = stats.norm.isf(FALSE_ALARM) * squares.std() / math.sqrt(len(squares))
        assert squares.mean() - error < bound
    if exponent == 2:
        assert bound == pytest.approx(size**2 + d * std**2)


def test_the_practical_potential_has_the_least_bound() -> None:
    """In few dimensions the best potential is the square even for l1, and in many an exponent near
    1 is far better.
    """
    for geometry, d in itertools.product((L1, lq_geometry(1.1), lq_geometry(1.5)), (3, 2000)):
        setting = geometric_setting("hinge", geometry, 40, d)
        best = best_potential(setting, 1.0, 2.0)
        natural = potential_of(setting.body, own_exponent(setting))
        euclidean = potential_of(setting.body, 2.0)
        bounds = [p.divergence * p.energy(1.0, 2.0) for p in (best, natural, euclidean)]
        assert bounds[0] <= min(bounds[1:]) * (1 + 1e-12)
        if d == 2000:
            assert bounds[0] < 0.5 * bounds[2]


def test_theory_tuning_has_the_potential_of_its_own_norm_and_of_l2_above_2() -> None:
    n, d = 1000, 30
    for geometry in (*SMALL, *LARGE, Geometry(kind="group-l1"), Geometry(kind="sparse")):
        setting = geometric_setting("hinge", geometry, n, d)
        plan = NoisyMirrorDescent(tuning="theory").plan(setting)
        q = geometry.exponent
        assert plan.potential.space == RegularSpace(d=d, exponent=min(q, 2.0))
        potential, std = plan.potential, plan.noise_std
        size = math.sqrt(2 * potential.divergence / n)
        root = math.sqrt(potential.energy(0.0, std))
        if plan.batch == 1:
            assert plan.step_size == pytest.approx(size / (1 + root))


def test_the_mean_excess_on_the_l1_ball_is_below_its_bound() -> None:
    """The risk is F(w) = -w_1/2 with the l1 potential; one-sided at 1e-6, and the method learns."""
    n, d, runs = 1000, 30, 20
    setting = geometric_setting("linear", L1, n, d, ZCDP(rho=2.0))
    method = NoisyMirrorDescent()
    plan, rng = method.plan(setting), np.random.default_rng(0)
    assert plan.potential.mirror.exponent < 2
    energy = plan.potential.energy(1.0, plan.noise_std)
    calls, size = plan.gradient_calls, plan.step_size
    bound = plan.potential.divergence / (size * calls) + size / 2 * energy
    excess = []
    for _ in range(runs):
        x = np.zeros((n, d))
        x[:, 0] = np.where(rng.random(n) < 0.75, 1.0, -1.0)
        result = run(method, setting, place_on(L1, sample("linear", x)), rng=rng)
        excess.append(0.5 * (1 - result.value[0]))
    error = float(np.std(excess)) / math.sqrt(runs)
    assert np.mean(excess) - stats.norm.isf(FALSE_ALARM) * error < bound
    assert np.mean(excess) < 0.45


@pytest.mark.parametrize("geometry", [L1, lq_geometry(1.5), lq_geometry(4.0)], ids=str)
def test_pure_budgets_unbounded_records_and_other_regimes_are_refused(geometry: Geometry) -> None:
    with pytest.raises(NotApplicable, match="cannot give pure DP"):
        NoisyMirrorDescent().plan(geometric_setting("hinge", geometry, budget=PURE))
    with pytest.raises(NotApplicable, match="needs a Lipschitz loss") as refusal:
        NoisyMirrorDescent(tuning="theory").plan(
            geometric_setting("hinge", geometry, lipschitz=False)
        )
    assert refusal.value.changes == (("tuning", "practical"),)
    NoisyMirrorDescent().plan(geometric_setting("hinge", geometry, lipschitz=False))
    paper = NoisyMirrorDescent(calibration="paper")
    with pytest.raises(NotApplicable, match="budgets only"):
        paper.plan(geometric_setting("hinge", geometry))
    setting = geometric_setting("hinge", geometry, 10_000, 3, ApproxDP(epsilon=0.05, delta=1e-6))
    assert paper.plan(setting).noise_std == pytest.approx(190.900772, rel=1e-8)
    ledger = Ledger(setting.budget)
    paper.plan(setting).open(ledger, 3)
    assert ledger.spent() == setting.budget


def no_clip(patch: pytest.MonkeyPatch) -> None:
    """Take the shrinking of records and the clip of gradients away."""
    patch.setattr(private_sgd, "clipped_gradient", lambda s, w, i, limit: s.gradient(w, i))
    patch.setattr(private_sgd.Losses, "of", lambda self, s: s)


def noise_over_root_2(patch: pytest.MonkeyPatch) -> None:
    """Divide the Gaussian noise of each step by the square root of 2."""
    honest = draws.gaussian_noise
    patch.setattr(
        "dpsco_core.privacy.mechanisms.steps.gaussian_noise",
        lambda shape, std, rng: honest(shape, std / math.sqrt(2), rng),
    )


def half_the_sensitivity(patch: pytest.MonkeyPatch) -> None:
    """Halve the sensitivity of every plan."""
    honest = NoisyMirrorDescent.plan

    def halved(self: Any, setting: Any) -> Any:
        """Make a plan with half the sensitivity."""
        plan = honest(self, setting)
        return replace(plan, l2_sensitivity=plan.l2_sensitivity / 2)

    patch.setattr(NoisyMirrorDescent, "plan", halved)


@pytest.mark.parametrize(
    ("fault", "test"),
    [
        (
            no_clip,
            lambda: test_one_record_moves_one_step_of_four_by_at_most_the_sensitivity("mean"),
        ),
        (
            half_the_sensitivity,
            lambda: test_one_record_moves_one_step_of_four_by_at_most_the_sensitivity("linear"),
        ),
        (
            noise_over_root_2,
            lambda: test_the_noise_of_the_steps_has_the_ledgers_scale(lq_geometry(1.5), 3),
        ),
    ],
)
def test_a_fault_is_caught(fault: Any, test: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    test()
    fault(monkeypatch)
    with np.errstate(all="ignore"), pytest.raises((AssertionError, ValueError)):
        test()
