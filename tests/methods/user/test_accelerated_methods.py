"""User-level accelerated ERM: sensitivity, noise, budget, limits, refusals, and accuracy."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.geometry import Simplex
from dpsco_core.methods.user.accelerated import batches as accelerated_batches
from dpsco_core.methods.user.accelerated.optimiser import UserAccelerated
from dpsco_core.methods.user.accelerated.schedule import calibrated_filter, theory_radius
from dpsco_core.methods.user.base import user_level
from dpsco_core.methods.user.printed_schedules import best_decay, erm_condition
from dpsco_core.methods.user.release import open_releases
from dpsco_core.privacy import ApproxDP, Ledger
from dpsco_core.privacy.filter.plan import Tuning, phase_plan
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.privacy.filter.sensitivity import SCORE_SENSITIVITY
from dpsco_core.privacy.mechanisms.steps import BudgetExceeded
from dpsco_core.problems.samples.users import ItemSample, sample_users
from dpsco_core.scenario import Scenario
from tests.methods.euclidean.losses import CONCENTRATED, PURE, sample
from tests.methods.user.accelerated_checks import (
    check_batches,
    check_draws,
    check_noise,
    check_replaced_user,
    check_target,
    check_worst_user,
)
from tests.methods.user.accelerated_helpers import (
    BUDGET,
    Recorder,
    items_of,
    means_of,
    run,
    users_setting,
)

UNIT_BUDGET = ApproxDP(epsilon=1.0, delta=1e-6)
Patch = pytest.MonkeyPatch


def test_the_bound_on_a_move_is_nearly_attained(monkeypatch: Patch) -> None:
    check_worst_user(monkeypatch)


@pytest.mark.parametrize("user", [5, pytest.param(1500, marks=pytest.mark.slow), 2900])
def test_only_the_users_own_phase_sees_the_user(monkeypatch: Patch, user: int) -> None:
    method = UserAccelerated(tuning="theory")
    assert len(method.plan(users_setting("logistic", 3000, 4)).phases) >= 2
    check_replaced_user(monkeypatch, method, "logistic", 3000, user)


def test_the_noise_is_the_one_proven_in_the_note(monkeypatch: Patch) -> None:
    check_noise(monkeypatch)


def test_the_noise_of_the_threshold_is_drawn_once_per_phase() -> None:
    check_draws()


def test_batches_are_redrawn_at_every_step_without_replacement(monkeypatch: Patch) -> None:
    check_batches(monkeypatch)


@pytest.mark.parametrize("tuning", ["practical", "theory"])
@pytest.mark.parametrize("kind", ["logistic", "mean", "linear"])
def test_every_phase_has_the_whole_budget_and_users_of_its_own(kind: str, tuning: str) -> None:
    method = UserAccelerated(tuning=tuning)
    for n, budget in ((10_001, BUDGET), (20_000, UNIT_BUDGET)):
        setting = users_setting(kind, n, 50, budget=budget)
        plan = method.plan(setting)
        stops = [phase.stop for phase in plan.phases]
        assert [phase.start for phase in plan.phases] == [0, *stops[:-1]]
        assert stops[-1] == n
        assert len(plan.phases) > 1 or tuning == "practical"
        for first_phase, next_phase in itertools.pairwise(plan.phases):
            assert next_phase.regulariser == pytest.approx(8 * first_phase.regulariser)
            assert first_phase.users == n >> (1 + plan.phases.index(first_phase))
        for phase in plan.phases:
            release = phase.filter.release
            assert release.total_epsilon == pytest.approx(budget.epsilon, rel=1e-12)
            assert release.total_delta == pytest.approx(budget.delta, rel=1e-12)
            assert release.test.steps == phase.steps
            assert release.test.sensitivity == SCORE_SENSITIVITY == 2.0
        ledger = Ledger(budget)
        users = means_of(np.zeros((n, 3)), 50) if kind == "mean" else None
        if users is not None:
            method.release(users, method.plan(setting), ledger, np.random.default_rng(0))
            assert ledger.spent() == budget


def test_the_theory_has_the_notes_schedule() -> None:
    """The schedule has lambda by (R1) from the noise of the first phase, p = 3, halving users and
    four phases.
    """
    setting = users_setting("logistic", 200_000, 90, budget=UNIT_BUDGET)
    plan = UserAccelerated(tuning="theory").plan(setting)
    level = user_level(setting, UNIT_BUDGET, plan.losses)
    assert len(plan.phases) == 4
    for phase in plan.phases:
        radius = 2 / math.sqrt(90) * (1 + math.sqrt(2 * math.log(200_000 * phase.steps / 0.01)))
        assert phase.filter.keep.score_radius == pytest.approx(radius)
        assert phase.filter.keep.form == "B" and phase.filter.keep.upper == 1.0
        ratio = (plan.losses.smoothness + phase.regulariser) / phase.regulariser
        steps = math.ceil((1 + math.sqrt(ratio)) * math.log(200_000 * 3 * 90))
        assert phase.steps == steps
    guess = math.ceil(
        (1 + math.sqrt(1 + 0.25 / _printed_regulariser(level))) * math.log(200_000 * 3 * 90)
    )
    opening = calibrated_filter(level, theory_radius(level, guess), 100_000, guess)
    assert opening is not None
    noise = 3 * opening.release.noise_std**2 / guess
    expected = math.sqrt(1 / (200_000 * 90) + noise) / 2
    assert plan.phases[0].regulariser == pytest.approx(expected)


def _printed_regulariser(level: Any) -> float:
    """Return the regulariser as the paper prints it, without the diameter and the constants."""
    n, m, d, eps = level.n, level.m, level.d, level.epsilon
    return 0.5 * (1 / math.sqrt(n * m) + math.sqrt(d) / (eps * n * math.sqrt(m)))


@pytest.mark.parametrize(("items", "radius"), [(1, 2.0), (9, 2.0), (100, 0.6), (10**6, 0.006)])
def test_the_practical_radius_is_three_l_over_root_m_and_at_most_l(
    items: int, radius: float
) -> None:
    plan = UserAccelerated().plan(users_setting("mean", 3000, items))
    assert plan.phases[0].filter.keep.filter_radius == pytest.approx(2 * radius)
    assert plan.phases[0].filter.keep.score_radius == pytest.approx(2 * radius)


def test_users_of_one_item_never_fail_the_test_by_their_spread(monkeypatch: Patch) -> None:
    """Opposite gradients of norm L count as near, so the score is the number of users."""
    recorder = Recorder(monkeypatch)
    means = np.zeros((3000, 3))
    means[:, 0] = np.where(np.arange(3000) % 2, 1.0, -1.0)
    run(UserAccelerated(), users_setting("linear", 3000, 1), _linear_users(means))
    threshold, *scores = recorder.scores
    assert set(scores) == {3000.0} and threshold < 3000


def _linear_users(x: np.ndarray) -> ItemSample:
    """Return users with one item each and linear losses."""
    return ItemSample(records=sample("linear", x), items=1)


def test_without_noise_the_method_is_phased_regularised_erm(monkeypatch: Patch) -> None:
    """With a huge tau and 400 steps, each phase ends at its regularised minimiser, which has a
    closed form.
    """
    Recorder(monkeypatch)
    rng = np.random.default_rng(7)
    means = 0.3 * rng.normal(size=(4000, 3)) + np.array([0.5, -0.2, 0.1])
    setting = users_setting("mean", 4000, 5)
    keep = RobustFilter(score_radius=1e6, filter_radius=1e6)
    base = UserAccelerated().plan(setting)
    parts = [(0, 2000, 0.5), (2000, 3000, 4.0), (3000, 4000, 32.0)]
    phases = tuple(
        replace(
            base.phases[0],
            start=a,
            stop=b,
            regulariser=pull,
            stages=(200, 200),
            filter=phase_plan(b - a, 400, 4.0, 1e-6, keep=keep, tuning=Tuning()),
        )
        for a, b, pull in parts
    )
    plan = replace(base, smoothness=1.0, phases=phases, losses=replace(base.losses))
    users = means_of(means, 5)
    release = UserAccelerated().release(users, plan, Ledger(BUDGET), np.random.default_rng(0))
    bound = plan.losses.feature_bound
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    clipped = means * np.minimum(1, bound / lengths)
    x = np.zeros(3)
    for a, b, pull in parts:
        x = (clipped[a:b].mean(axis=0) + pull * x) / (1 + pull)
    assert np.allclose(release.value, x, atol=1e-7)
    assert release.diagnostics["steps"] == 1200
    assert release.diagnostics["gradient_calls"] == 400 * 5 * 4000


def test_outliers_are_left_out(monkeypatch: Patch) -> None:
    """One user in ten thousand is at the far end of the ball, and the released mean is that of the
    others.
    """
    recorder = Recorder(monkeypatch)
    means = np.zeros((5000, 2))
    means[:3] = 0.99
    setting = users_setting("mean", 5000, 10_000, d=2)
    run(UserAccelerated(), setting, means_of(means, 10_000))
    assert np.abs(recorder.values[0]).max() == 0.0


def test_scattered_users_halt_at_the_start() -> None:
    rng = np.random.default_rng(8)
    signs = rng.choice([-0.9, 0.9], size=(3000, 1)) * np.ones((3000, 3)) / math.sqrt(3)
    release = run(UserAccelerated(), users_setting("mean", 3000, 10**6), means_of(signs, 10**6))
    assert np.array_equal(release.value, np.zeros(3))
    assert release.diagnostics["halted_phase"] == 1.0
    assert release.diagnostics["gradient_calls"] == 3000 * 10**6
    assert "ended there" in release.notes[-1]


def test_a_later_halt_returns_what_the_phases_before_released() -> None:
    """The second phase's users are scattered, so the result is the end of the first phase."""
    method = UserAccelerated(tuning="theory")
    setting = users_setting("mean", 3000, 10**6)
    plan = method.plan(setting)
    first_phase = plan.phases[0]
    means = np.tile([0.3, 0.1, 0.0], (3000, 1))
    quiet = run(method, setting, means_of(means, 10**6))
    means[first_phase.stop :, 0] = np.linspace(-0.9, 0.9, 3000 - first_phase.stop)
    release = run(method, setting, means_of(means, 10**6))
    assert release.diagnostics["halted_phase"] == 2.0
    assert release.diagnostics["steps"] == first_phase.steps
    assert quiet.diagnostics["halted_phase"] == 0.0
    assert np.allclose(release.value, [0.3, 0.1, 0.0], atol=0.05)


def test_honest_users_seldom_halt() -> None:
    halts = 0.0
    for seed in range(20):
        setting = users_setting("logistic", 1500, 5)
        users = items_of("logistic", 1500, 5, seed=seed)
        halts += run(UserAccelerated(), setting, users, seed).diagnostics["halted_phase"] > 0
    assert halts <= 3  # At 1 % each, 20 runs have more than 3 halts with probability 4e-5.


def test_the_method_runs_on_a_simplex() -> None:
    setting = users_setting("mean", 3000, 100)
    shape = Simplex(d=3, radius=1.0)
    setting = replace(setting, constraint=shape)
    users = replace(means_of(np.tile([1.0, 0.5, -1.0], (3000, 1)), 100), constraint=shape)
    method = UserAccelerated()
    release = method.release(users, method.plan(setting), Ledger(BUDGET), np.random.default_rng(0))
    assert shape.contains(release.value, 1e-9)
    assert release.value[0] > 0.5


@pytest.mark.parametrize("n", [1, 2, 50, 60])
def test_too_few_users_are_refused_with_the_number_that_is_enough(n: int) -> None:
    method = UserAccelerated()
    with pytest.raises(NotApplicable, match="too few sure to be in the mean; it needs") as refusal:
        method.plan(users_setting("logistic", n, 10, budget=UNIT_BUDGET))
    ((name, fewest_users),) = refusal.value.changes
    assert name == "n" and isinstance(fewest_users, int) and 100 < fewest_users < 400
    method.plan(users_setting("logistic", fewest_users, 10, budget=UNIT_BUDGET))
    with pytest.raises(NotApplicable):
        method.plan(users_setting("logistic", fewest_users - 1, 10, budget=UNIT_BUDGET))


def test_the_theory_names_the_users_of_two_phases() -> None:
    method = UserAccelerated(tuning="theory")
    with pytest.raises(NotApplicable, match="two phases at least") as refusal:
        method.plan(users_setting("logistic", 900, 10, budget=UNIT_BUDGET))
    ((_, fewest_users),) = refusal.value.changes
    assert isinstance(fewest_users, int)
    assert (
        len(method.plan(users_setting("logistic", fewest_users, 10, budget=UNIT_BUDGET)).phases)
        == 2
    )
    with pytest.raises(NotApplicable):
        method.plan(users_setting("logistic", fewest_users - 1, 10, budget=UNIT_BUDGET))


def test_an_unsupported_setting_is_refused_with_a_reason() -> None:
    for budget in (PURE, CONCENTRATED):
        with pytest.raises(NotApplicable):
            UserAccelerated().plan(users_setting("logistic", 5000, 3, budget=budget))
    with pytest.raises(NotApplicable, match=r"kinks.*user\.accelerated-nonsmooth"):
        UserAccelerated().plan(users_setting("hinge", 5000, 3))
    with pytest.raises(NotApplicable, match="needs a Lipschitz loss"):
        UserAccelerated(tuning="theory").plan(users_setting("logistic", 5000, 3, lipschitz=False))
    with pytest.raises(InvalidInput, match="m must be the items of a user"):
        run(UserAccelerated(), users_setting("logistic", 5000, 3), items_of("logistic", 5000, 2))


def test_the_printed_constants_are_refused_where_their_theorem_fails() -> None:
    method = UserAccelerated(calibration="paper", tuning="theory")
    setting = users_setting("logistic", 10_000, 2, budget=UNIT_BUDGET)
    with pytest.raises(NotApplicable, match=r"Theorem C\.1 needs.*would draw K=") as refusal:
        method.plan(setting)
    ((name, fewest_users),) = refusal.value.changes
    assert name == "n" and isinstance(fewest_users, int)
    plan = method.plan(replace(setting, n=fewest_users))
    with pytest.raises(NotApplicable):
        method.plan(replace(setting, n=fewest_users - 1))
    level = user_level(replace(setting, n=fewest_users), UNIT_BUDGET, plan.losses)
    left, right = erm_condition(level, best_decay(fewest_users))
    assert left > right
    assert len(plan.phases) == math.floor(math.log2(fewest_users))
    tau = math.log(fewest_users * 3 * 2) / math.sqrt(2)
    for phase in plan.phases:
        k, release = phase.users, phase.filter.release
        assert release.test.threshold == pytest.approx(0.8 * k)
        assert release.test.threshold_scale == pytest.approx(8.0)
        assert release.test.score_scale == pytest.approx(16.0)
        logarithm = math.log(fewest_users * 3 * math.e / 1e-6)
        printed = 1000 * tau * math.sqrt(phase.steps) * logarithm / k
        assert phase.noise_std == pytest.approx(printed, rel=1e-9)
        assert phase.filter.keep.inclusion == "coins"
        assert release.total_epsilon == pytest.approx(1.0)
        assert release.total_delta == pytest.approx(1e-6)
    assert "every step uses all users" in plan.notes[0]
    with pytest.raises(NotApplicable, match="at most 10"):
        method.plan(users_setting("logistic", 10**6, 2, budget=ApproxDP(epsilon=11.0, delta=1e-9)))
    with pytest.raises(NotApplicable, match=r"below 1/\(nm\)"):
        method.plan(users_setting("logistic", 10**6, 2, budget=ApproxDP(epsilon=1.0, delta=1e-6)))


def test_printed_noise_on_the_practical_schedule_runs() -> None:
    setting = users_setting("mean", 10_000, 3, budget=UNIT_BUDGET)
    release = run(UserAccelerated(calibration="paper"), setting, means_of(np.zeros((10_000, 3)), 3))
    assert release.diagnostics["score_threshold"] == pytest.approx(8000)
    assert "As printed a step draws" in release.notes[0]


def test_separate_tests_win_for_few_steps_and_above_threshold_for_many() -> None:
    case = user_level(
        users_setting("logistic", 5000, 3),
        BUDGET,
        UserAccelerated().plan(users_setting("logistic", 5000, 3)).losses,
    )
    short_plan, long_plan = (
        calibrated_filter(case, 1.0, 5000, 1),
        calibrated_filter(case, 1.0, 5000, 16),
    )
    assert short_plan is not None and long_plan is not None
    assert isinstance(short_plan.release, accelerated_batches.BatchGaussian)
    assert short_plan.release.drawn == 5000
    assert not isinstance(long_plan.release, accelerated_batches.BatchGaussian)
    assert long_plan.release.test.threshold_scale > 0


def test_the_private_error_falls_with_the_items() -> None:
    """For half the squared distance on hypercube records the excess risk is the squared noise, with
    slope -1 in m.
    """
    scenario = Scenario(problem="quadratic", distribution="hypercube", methods=(), n=3000, d=5)
    sizes, errors = (10, 100, 1000, 10_000), []
    for m in sizes:
        total = 0.0
        for seed in range(25):
            rng = np.random.default_rng([seed, m])
            problem = scenario.instance.problem.draw(rng)
            setting, law = problem.setting(3000, BUDGET, m=m), problem.distribution
            counts = rng.binomial(m, law.spike_probability, size=3000)
            means = (counts / m)[:, None] * law.spike
            users = replace(means_of(means, m), constraint=problem.constraint)
            value = run(UserAccelerated(), setting, users, seed).value
            total += problem.excess_risk(value).value / 25
        errors.append(total)
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert -1.35 < slope < -0.75
    assert all(b < a for a, b in itertools.pairwise(errors))


def test_a_million_items_are_never_drawn() -> None:
    """The users' means are all that is read, so the arrays are as large as at one item per user."""
    means = np.full((10_000, 5), 0.1)
    peaks = []
    for m in (1, 10**6):
        setting = users_setting("mean", 10_000, m, d=5, budget=UNIT_BUDGET)
        users = means_of(means, m)
        tracemalloc.start()
        run(UserAccelerated(), setting, users)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 3 * max(peaks[0], means.nbytes)


def test_the_methods_error_is_below_that_without_data() -> None:
    check_target()


def test_the_method_reaches_its_target_at_the_default_size() -> None:
    """On logistic data with n = 10,000, m = 10, d = 10 and epsilon = 1, the risk is below half that
    of the start.
    """
    scenario = Scenario(problem="logistic", methods=(), n=10_000, d=10)
    rng = np.random.default_rng(0)
    problem = scenario.instance.problem
    setting = problem.setting(10_000, UNIT_BUDGET, m=10)
    users = sample_users(problem, 10_000, 10, rng)
    release = run(UserAccelerated(), setting, users)
    start = problem.excess_risk(np.zeros(10)).value
    assert problem.excess_risk(release.value).value < 0.5 * start


def test_phases_that_divide_epsilon_differently_fit_the_budget_together() -> None:
    """Where tests take 0.2 and 0.5 of epsilon, the most expensive phase counts as a whole."""
    keep, rng = RobustFilter(score_radius=1.0, filter_radius=1.0), np.random.default_rng(0)
    plans = [
        phase_plan(5000, 9, 4.0, 1e-6, keep=keep, tuning=Tuning(test_share=share))
        for share in (0.2, 0.5)
    ]
    ledger = Ledger(BUDGET)
    for part, plan in zip(ledger.disjoint(2), plans, strict=True):
        open_releases(plan, 3, part, rng, "phase")
    assert ledger.spent() == BUDGET
    ledger = Ledger(BUDGET)
    (users,) = ledger.disjoint(1)
    open_releases(plans[0], 3, users, rng, "phase")
    with pytest.raises(BudgetExceeded):  # Both phases would use the same users.
        open_releases(plans[1], 3, users, rng, "phase")
