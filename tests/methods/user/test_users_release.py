"""Tested releases: plans, budgets, noise, halting, and audits of what they claim."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.methods.user import open_releases, release_mean
from dpsco_core.privacy import (
    ZCDP,
    ApproxDP,
    BudgetExceeded,
    LaplaceNoise,
    Ledger,
    PureDP,
    TestedReleases,
    gaussian_delta,
    subsample,
)
from dpsco_core.privacy.filter.plan import Tuning, phase_plan, recommended_count, single_test_plan
from dpsco_core.privacy.filter.sensitivity import changed_members
from dpsco_core.privacy.mechanisms.tested import NoisyTest, TestedGaussian
from tests.folded import crossed, each, one_in
from tests.methods.user.checks import (
    DELTA,
    EPSILON,
    Counting,
    certificate,
    check_audit,
    check_halting_law,
    check_noise,
    check_threshold_noise,
    halting_law,
)
from tests.methods.user.helpers import keep_of, note_multiplier

BUDGET = ApproxDP(epsilon=EPSILON, delta=DELTA)
KINDS = [(form, inclusion) for form in "AB" for inclusion in ("weights", "coins")]


def gaussian(epsilon: float, delta: float) -> TestedGaussian:
    """Return the Gaussian mechanism of sensitivity 1 that follows a single test."""
    test = NoisyTest(kind="single", steps=1, threshold=0.0, epsilon=1.0, failure=0.1)
    return TestedGaussian(test=test, l2_sensitivity=1.0, epsilon=epsilon, delta=delta)


@pytest.mark.parametrize(
    ("epsilon", "delta", "golden"),
    [
        (1.0, 1e-6, 4.224679),
        (0.8, 5e-7, 5.375690),
        (0.5, 1e-6, 8.057618),
        (4.0, 1e-6, 1.193519),
        (8.0, 1e-6, 0.652935),
    ],
)
def test_the_gaussian_multiplier_is_exact(epsilon: float, delta: float, golden: float) -> None:
    g = gaussian(epsilon, delta).noise_multiplier
    assert g == pytest.approx(golden, abs=6e-7)
    assert g == pytest.approx(note_multiplier(epsilon, delta), rel=1e-6)
    assert gaussian_delta(1 / (2 * g * g), epsilon) == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "delta", "ratio"),
    [(9.0, 1e-3, 1.27), (10.0, 1e-3, 2.0), (10.0, 1e-6, 1.15)],
)
def test_the_textbook_gaussian_violates_its_delta_at_large_epsilon(
    epsilon: float, delta: float, ratio: float
) -> None:
    # The noise has sigma^2 = 2 log(2/delta)/epsilon^2.
    rho = epsilon**2 / (4 * math.log(2 / delta))
    assert gaussian_delta(rho, epsilon) / delta == pytest.approx(ratio, rel=0.01)
    assert gaussian_delta(64 / (4 * math.log(2e3)), 8.0) < 1e-3


@pytest.mark.parametrize(
    ("epsilon", "count", "noise"), [(1.0, 302, 149), (2.0, 154, 78), (4.0, 81, 40), (8.0, 44, 21)]
)
def test_the_recommended_groups_and_their_noise_are_those_of_the_theory(
    epsilon: float, count: int, noise: int
) -> None:
    assert recommended_count(epsilon, DELTA) == count
    plan = single_test_plan(count, epsilon, DELTA, keep=keep_of("B", radius=0.25))
    assert round(plan.release.noise_std * count / 0.25) == noise


@each(("form", "inclusion"), KINDS)
@each("upper", [2 / 3, 0.9])
@each(("epsilon", "delta"), [(0.1, 1e-9), (1.0, 1e-6), (1 / 3, 0.3), (7.0, 1e-3)])
def test_a_release_spends_the_budget_to_the_last_bit(
    form: str, inclusion: str, upper: float, epsilon: float, delta: float
) -> None:
    budget, keep = ApproxDP(epsilon=epsilon, delta=delta), keep_of(form, upper, inclusion)
    for share, steps in itertools.product((0.1, 0.4, 1 / 3), (1, 3, 17)):
        tuning = Tuning(test_share=share)
        plans = [phase_plan(10**6, steps, epsilon, delta, keep=keep, tuning=tuning)]
        if steps == 1:
            plans += [single_test_plan(10**6, epsilon, delta, keep=keep, tuning=tuning)]
        for plan in plans:
            ledger = Ledger(budget)
            open_releases(plan, 3, ledger, np.random.default_rng(0), "phase")
            assert ledger.spent() == budget
            assert ledger.flaws == ()
            assert ledger.bound_by() == ("approx",)
            with pytest.raises(BudgetExceeded):
                ledger.release(
                    LaplaceNoise(l1_sensitivity=1.0, epsilon=1e-6),
                    np.zeros(1),
                    np.random.default_rng(0),
                )


def test_a_sharp_plan_has_less_noise_and_is_otherwise_the_same() -> None:
    keep, sharp = keep_of("B"), Tuning(sharp=True)
    plain = phase_plan(20_000, 9, EPSILON, DELTA, keep=keep).release
    sharp_release = phase_plan(20_000, 9, EPSILON, DELTA, keep=keep, tuning=sharp).release
    assert 0.45 < sharp_release.noise_std / plain.noise_std < 0.6
    assert sharp_release.test == plain.test and sharp_release.total_delta == plain.total_delta


def test_the_ledger_records_the_test_and_the_release() -> None:
    plan = phase_plan(2000, 4, EPSILON, DELTA, keep=keep_of("B"))
    ledger = Ledger(BUDGET)
    open_releases(plan, 3, ledger, np.random.default_rng(0), "gradients")
    test, release = ledger.entries
    assert (test.mechanism, release.mechanism) == ("noisy test", "tested gaussian")
    assert (test.label, release.label) == ("gradients: test", "gradients")
    assert test.sensitivity == 2.0 and test.noise == pytest.approx(8 / 0.4)
    assert plan.release.test.threshold_scale == pytest.approx(4 / 0.4)
    assert (test.epsilon, test.delta, test.rho) == (0.4, 0.0, 0.0)
    assert release.sensitivity == plan.release.l2_sensitivity
    assert release.noise == plan.release.noise_std
    assert release.epsilon == 0.6 and release.delta == pytest.approx(DELTA, rel=1e-15)
    assert (test.size, release.size) == (4, 12)


def test_phases_on_disjoint_users_each_have_the_whole_budget() -> None:
    ledger, rng = Ledger(BUDGET), np.random.default_rng(0)
    keep = keep_of("B")
    for users, block in zip((1500, 1200, 700), ledger.disjoint(3), strict=True):
        plan = single_test_plan(users, EPSILON, DELTA, keep=keep)
        release_mean(np.zeros((users, 2)), plan, block, rng, fallback=np.zeros(2))
        assert block.spent() == BUDGET
        assert ledger.spent() == BUDGET
        with pytest.raises(BudgetExceeded):
            release_mean(np.zeros((users, 2)), plan, block, rng, fallback=np.zeros(2))
    assert len(ledger.entries) == 6


@pytest.mark.parametrize(
    "budget", [ZCDP(rho=1.0), PureDP(epsilon=9.0), ApproxDP(epsilon=1, delta=9e-7)]
)
def test_a_release_that_exceeds_the_budget_records_and_draws_nothing(budget: object) -> None:
    plan, rng = phase_plan(2000, 4, EPSILON, DELTA, keep=keep_of("B")), Counting(0)
    ledger = Ledger(budget)
    with pytest.raises(BudgetExceeded, match=r"epsilon=1, delta=1e-06 does not fit"):
        open_releases(plan, 3, ledger, rng, "phase")
    assert ledger.entries == () and not rng.calls


@pytest.mark.parametrize(("form", "inclusion"), KINDS)
@pytest.mark.parametrize("steps", [0, 5])
def test_too_few_points_are_refused_with_the_number_that_is_enough(
    form: str, inclusion: str, steps: int
) -> None:
    keep = keep_of(form, 2 / 3, inclusion)

    def plan(count: int):
        """Return the plan of a release for this many points."""
        if steps:
            return phase_plan(count, steps, EPSILON, DELTA, keep=keep)
        return single_test_plan(count, EPSILON, DELTA, keep=keep)

    with pytest.raises(NotApplicable, match="it needs ") as refusal:
        plan(40)
    fewest_points = int(refusal.value.nearest.split()[0])
    assert plan(fewest_points).smallest_weight >= fewest_points / 3
    with pytest.raises(NotApplicable, match=f"it needs {fewest_points}\\."):
        plan(fewest_points - 1)


def test_a_plan_that_no_number_of_points_allows_says_so() -> None:
    with pytest.raises(NotApplicable, match="more than a billion"):
        single_test_plan(40, 1e-9, DELTA, keep=keep_of("B"))


def test_form_a_needs_a_floor_above_its_upper_share() -> None:
    plan = single_test_plan(400, EPSILON, DELTA, keep=keep_of("A", 2 / 3, "coins"))
    assert plan.release.test.score_floor >= 400 * 2 / 3
    assert plan.smallest_weight == pytest.approx(plan.release.test.score_floor)
    changed = changed_members(keep_of("A", 2 / 3, "coins"), 400, DELTA / 3)
    assert plan.release.l2_sensitivity == pytest.approx(
        4 * (2 + changed) / plan.smallest_weight, rel=1e-8
    )
    assert plan.release.failure == pytest.approx(DELTA / 3)


def test_the_plan_of_coins_in_form_b_pays_for_their_number() -> None:
    steps = 3
    plan = phase_plan(20_000, steps, EPSILON, DELTA, keep=keep_of("B", 2 / 3, "coins"))
    part = DELTA / 4  # The four parts of delta are zeta_E, delta_2, T zeta_B and 2 T zeta_S.
    assert plan.release.test.failure == pytest.approx(part)
    assert plan.release.failure == pytest.approx(2 * part)
    floor = (plan.release.test.score_floor - 10_000) / 0.5
    floor -= math.sqrt(20_000 * math.log(2 * steps / part) / 2)
    assert plan.smallest_weight == pytest.approx(floor)


@pytest.mark.parametrize("kind", ["single", "sequence"])
@pytest.mark.parametrize("failure", [1e-2, 1e-6])
def test_noises_exceed_their_reach_with_the_stated_probability(kind: str, failure: float) -> None:
    test = certificate(kind, 1 if kind == "single" else 6, 50.0).test
    reach = test.reach(failure)
    scores = [test.threshold + reach] * test.steps
    halts = 1 - halting_law(scores, test.threshold, test.score_scale, kind)[-1]
    passes = halting_law([test.threshold - reach], test.threshold, test.score_scale, kind)[-1]
    if kind == "single":
        assert halts == pytest.approx(failure) and passes == pytest.approx(failure)
    else:
        assert halts <= failure + 1e-12 and passes <= failure / test.steps
        assert reach == pytest.approx(4 * math.log(1 / failure) + 8 * math.log(6 / failure))
    floor = test.threshold - test.reach(test.failure) - 2
    assert test.score_floor == pytest.approx(floor)


def test_concentrated_points_pass_and_scattered_ones_halt_with_the_last_point() -> None:
    rng, keep, fallback = np.random.default_rng(0), keep_of("B"), np.array([3.0, 4.0])
    plan = single_test_plan(302, EPSILON, DELTA, keep=keep)
    halts = 0
    for _ in range(300):
        close = rng.normal(size=(302, 2)) * 0.05
        halts += release_mean(close, plan, Ledger(BUDGET), rng, fallback=fallback).halted
    # Each run halts with probability false_halt = 0.005; more than 10 of 300 do so with
    # probability 5e-7.
    assert halts <= 10
    scattered = rng.choice([-1.0, 1.0], size=(302, 2)) * 10
    for _ in range(50):
        ledger = Ledger(BUDGET)
        release = release_mean(scattered, plan, ledger, rng, fallback=fallback)
        assert release.halted and (release.value == fallback).all()
        assert ledger.spent() == BUDGET, "a halt is an output, and costs what a release does"


def test_a_phase_halts_at_its_first_failure_and_stays_halted() -> None:
    plan = phase_plan(2000, 5, EPSILON, DELTA, keep=keep_of("B"))
    rng = Counting(1)
    means = open_releases(plan, 1, Ledger(BUDGET), rng, "phase")
    assert means.next(np.zeros((2000, 1))) is not None
    scattered = 100.0 * np.arange(2000)[:, None]
    assert means.next(scattered) is None
    assert means.steps.halted
    calls = dict(rng.calls)
    with pytest.raises(BudgetExceeded, match="a test has failed, which ends the sequence"):
        means.next(np.zeros((2000, 1)))
    with pytest.raises(BudgetExceeded, match="a release needs a test of its own"):
        means.steps.noisy(np.zeros(1))
    assert rng.calls == calls


def test_no_release_without_a_test_of_its_own_and_no_more_tests_than_accounted_for() -> None:
    rng = Counting(2)
    steps = Ledger(ApproxDP(epsilon=2.0, delta=1e-5)).open(
        TestedReleases(release=certificate("sequence", 2, -1e6), size=2, rng=rng), label="x"
    )
    with pytest.raises(BudgetExceeded, match="a release needs a test of its own"):
        steps.noisy(np.zeros(2))
    assert steps.passes(0.0)
    with pytest.raises(InvalidInput, match="value must be of 2 coordinates"):
        steps.noisy(np.zeros(1))
    with pytest.raises(InvalidInput, match="value must be finite"):
        steps.noisy(np.array([0.0, np.nan]))
    steps.noisy(np.zeros(2))
    with pytest.raises(BudgetExceeded, match="a release needs a test of its own"):
        steps.noisy(np.zeros(2))
    with pytest.raises(InvalidInput, match="score must be finite"):
        steps.passes(math.nan)
    assert steps.passes(0.0)
    steps.noisy(np.zeros(2))
    with pytest.raises(BudgetExceeded, match="3 tests, and 2 were accounted for"):
        steps.passes(0.0)
    assert rng.calls == {"laplace": 3, "normal": 2}


@pytest.mark.parametrize(("form", "inclusion"), crossed(2, ["A", "B"], ["weights", "coins"]))
def test_broken_users_change_no_outcome_but_their_own(form: str, inclusion: str) -> None:
    keep = keep_of(form, 2 / 3, inclusion)
    plan = single_test_plan(4000, EPSILON, DELTA, keep=keep)
    x = np.random.default_rng(0).normal(size=(4000, 2)) * 0.01
    values = []
    for bad in (np.nan, np.inf, 1e300, 1e9, 77.0):
        x[17] = bad
        release = release_mean(
            x, plan, Ledger(BUDGET), np.random.default_rng(4), fallback=np.zeros(2)
        )
        assert not release.halted
        values.append(release.value)
    assert all((value == values[0]).all() for value in values)


def test_the_noise_of_releases_has_the_scale_of_the_theory() -> None:
    check_noise()


@pytest.mark.parametrize("kind", ["single", "sequence"])
def test_tests_fail_with_the_frequency_of_their_law(kind: str) -> None:
    check_halting_law(kind)


def test_the_noise_of_the_threshold_is_drawn_once_per_phase() -> None:
    check_threshold_noise()


# The quick suite has the pair whose score is near the threshold.
@pytest.mark.parametrize("pair", one_in(4, [3, 0, 1, 2]))
def test_no_event_refutes_the_claim_on_worst_neighbours(pair: int) -> None:
    check_audit(telling=(pair,))


def test_above_threshold_is_private_exactly() -> None:
    """The law of the halting time at neighbouring score sequences is within a factor of e^epsilon,
    which is nearly attained.
    """
    rng = np.random.default_rng(0)
    scale, largest = 8.0, 0.0  # The noise scale of 8 is that of epsilon = 1 at sensitivity 2.
    for _ in range(60):
        scores = rng.uniform(-8, 8, size=4)
        neighbour_scores = scores + rng.choice([-2.0, 2.0], size=4)
        law = halting_law(list(scores), 0.0, scale, "sequence")
        neighbour_law = halting_law(list(neighbour_scores), 0.0, scale, "sequence")
        largest = max(largest, np.abs(np.log(law / neighbour_law)).max())
    calm, lower = [30.0] * 30, [28.0] * 29 + [32.0]
    law = halting_law([*calm, -200.0], 0.0, scale, "sequence")
    neighbour_law = halting_law([*lower, -202.0], 0.0, scale, "sequence")
    largest = max(largest, np.abs(np.log(law / neighbour_law)).max())
    assert 0.4 < largest <= 1.0 + 1e-6


def test_above_threshold_is_as_accurate_as_lemma_a9_says() -> None:
    """An answer is off by at most alpha = 8 log(2T/gamma)/epsilon, at sensitivity 1."""
    steps, gamma, runs, wrong = 10, 0.2, 2000, 0
    rng = np.random.default_rng(6)
    test = NoisyTest(
        kind="sequence", steps=steps, threshold=0.0, epsilon=1.0, failure=0.1, sensitivity=1.0
    )
    release = TestedGaussian(test=test, l2_sensitivity=1.0, epsilon=1.0, delta=1e-6)
    alpha = 8 * math.log(2 * steps / gamma)
    for _ in range(runs):
        phase = Ledger(ApproxDP(epsilon=2.0, delta=0.2)).open(
            TestedReleases(release=release, size=1, rng=rng), label="x"
        )
        wrong += not all(phase.passes(1.0001 * alpha) for _ in range(steps - 1)) or phase.passes(
            -1.0001 * alpha
        )
    assert wrong / runs <= gamma
    assert alpha >= test.reach(gamma / 2) * 0.9


def test_subsampling_lowers_the_epsilon_of_a_release() -> None:
    for epsilon, (batch, count) in itertools.product((1e-3, 0.5, 3.0, 50.0), ((1, 7), (99, 100))):
        base = ApproxDP(epsilon=epsilon, delta=1e-5)
        amplified = subsample(base, batch_size=batch, count=count)
        linear = math.expm1(epsilon) * batch / count
        assert amplified.epsilon <= min(linear, epsilon)
        assert math.expm1(amplified.epsilon) == pytest.approx(linear, rel=1e-9)
        assert amplified.delta == pytest.approx(1e-5 * batch / count)
        assert subsample(base, batch_size=count, count=count) == base
    assert subsample(ApproxDP(epsilon=1e4, delta=0.1), batch_size=1, count=10).epsilon < 1e4
    with pytest.raises(InvalidInput, match="batch_size must be at most 5, got batch_size=6"):
        subsample(ApproxDP(epsilon=1.0, delta=0.1), batch_size=6, count=5)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"steps": 2}, "steps must be 1 for a test"),
        ({"steps": 0}, "steps must be a positive integer"),
        ({"failure": 0.6}, "failure must be above 0 and at most 1/2"),
        ({"failure": 0.0}, "failure must be above 0"),
        ({"epsilon": math.inf}, "epsilon must be a positive number"),
        ({"threshold": math.nan}, "threshold must be finite"),
        ({"sensitivity": 0.0}, "sensitivity must be a positive number"),
    ],
)
def test_a_test_with_invalid_parameters_is_refused(fields: dict[str, float], sentence: str) -> None:
    usual = {"kind": "single", "steps": 1, "threshold": 3.0, "epsilon": 1.0, "failure": 0.1}
    with pytest.raises(InvalidInput, match=sentence):
        NoisyTest(**{**usual, **fields})


def test_invalid_tunings_and_points_are_refused() -> None:
    for fields in ({"test_share": 1.0}, {"false_halt": 0.6}, {"least_kept": 0.0}):
        with pytest.raises(InvalidInput, match=f"{next(iter(fields))} must be"):
            Tuning(**fields)
    plan = single_test_plan(302, EPSILON, DELTA, keep=keep_of("B"))
    with pytest.raises(InvalidInput, match="points must be 302 rows, got points=301"):
        release_mean(
            np.zeros((301, 1)), plan, Ledger(BUDGET), np.random.default_rng(0), fallback=np.zeros(1)
        )
