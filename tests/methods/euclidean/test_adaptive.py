"""Descent with private radii: sensitivities, budget, and comparisons with other radii.

Faults that these tests would catch: a private look that is not charged, composition by the
recursion although a look follows a step, a number or share of steps that a later look changes, k
taken from the data, and an unclipped gradient.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.data import DenseRows
from dpsco_core.geometry.ball import Ball
from dpsco_core.methods.euclidean import AdaptiveDescent, ClippedDescent
from dpsco_core.methods.euclidean.adaptive import (
    LOOK_SHARE,
    LOOKS,
    TEST_SHARE,
    has_settled,
    second_look,
)
from dpsco_core.methods.euclidean.tuning import curvatures, practical_descent
from dpsco_core.methods.mean.ladder import norm_counts, radius_choice
from dpsco_core.methods.records.base import clipped_mean
from dpsco_core.methods.run import descend
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy import ApproxDP, Ledger, PureDP, gaussian_rho
from dpsco_core.privacy.selection import selection_epsilon, selection_rho
from dpsco_core.problems.links import LogisticLink, SquaredLink
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.scenario import Scenario
from tests.methods.euclidean.adaptive_rows import FRESH, LATER, LATEST, TUNED, Row, scenario

CONCENTRATED = {"rho": 0.5, "epsilon": None, "delta": None}
SCENARIO = Scenario(problem="logistic", methods=("sco.adaptive",), n=2000, d=5)
ONE_STEP = Descent(steps=1, step_size=0.5)
MANY_STEPS = Descent(steps=24, step_size=0.1, averaged=12)
NASTY = (math.nan, math.inf, 0.0, 1.0, -3.0, 1e308, -1e200, 1e-320)


def run(scenario: Scenario, method: Any, seed: int = 0) -> Any:
    """Run a method at a scenario; return its release."""
    sample = scenario.instance.problem.sample(scenario.n, np.random.default_rng(1))
    setting = scenario.setting
    return method.release(
        sample, method.plan(setting), Ledger(setting.budget), np.random.default_rng(seed)
    )


@pytest.mark.parametrize("link", [LogisticLink(), SquaredLink()])
def test_no_record_moves_a_score_or_a_clipped_mean_by_more_than_its_sensitivity(link: Any) -> None:
    """All samples of two records over extreme features and targets are tried, with all replacements
    of one.
    """
    radii, w = np.array([1e100, 4.0, 1.0, 0.25, 1e-100]), np.array([0.5])

    def statistics_of(records: tuple[tuple[float, float], ...]) -> tuple[Any, Any]:
        """Return the scores of the radii, and the clipped means, of some records."""
        x, y = (np.array(part) for part in zip(*records, strict=True))
        sample = LinearSample(
            features=DenseRows(x[:, None]), targets=y, link=link, constraint=Ball(d=1, radius=1.0)
        )
        rows = sample.gradients(w)
        scores = radius_choice(radii, norm_counts(rows, radii), 1.3, 1.0).scores
        return scores, np.array([float(clipped_mean(rows, r)[0]) for r in (0.25, 4.0)])

    records = tuple(itertools.product(NASTY, (0.0, 1.0, 1e308, math.nan)))
    statistics = {pair: statistics_of(pair) for pair in itertools.product(records, records[::3])}
    largest = 0.0
    for (_, context), (scores, means) in statistics.items():
        base = statistics[records[0], context]
        assert np.abs(scores - base[0]).max() <= 1.0
        move = np.abs(means - base[1]) / (2 * np.array([0.25, 4.0]) / 2)
        assert move.max() <= 1 + 1e-12
        largest = max(largest, float(np.abs(scores - base[0]).max()))
    assert largest == 1.0


@pytest.mark.parametrize(("descent", "looks"), [(ONE_STEP, 1), (MANY_STEPS, 2)])
def test_the_ledger_has_every_look_and_the_steps_spend_their_share_at_any_radius(
    descent: Descent, looks: int
) -> None:
    scenario = replace(SCENARIO, **CONCENTRATED)
    result = run(scenario, AdaptiveDescent(descent=descent))
    entries = result.ledger.entries
    kinds = [e.mechanism for e in entries]
    assert kinds[0] == "exponential"
    assert kinds.count("exponential") == LOOKS
    assert result.diagnostics["looks"] == looks
    # One Gaussian release is the test between radii, or takes its place.
    assert kinds.count("gaussian") == descent.steps + 1
    steps = [e for e in entries if e.label == "mean of clipped gradients"]
    share = 1 - LOOK_SHARE - TEST_SHARE
    assert math.fsum(e.rho for e in steps) == pytest.approx(share * 0.5, rel=1e-12)
    assert len(steps) == descent.steps and len({e.rho for e in steps}) == 1
    (test,) = (e for e in entries if e.mechanism == "gaussian" and e not in steps)
    assert test.rho == pytest.approx(TEST_SHARE * 0.5, rel=1e-12)
    chosen = [e.epsilon**2 / 8 for e in entries if e.mechanism == "exponential"]
    assert math.fsum(chosen) == pytest.approx(LOOK_SHARE * 0.5, rel=1e-12)
    radii = {e.sensitivity * scenario.n / 2 for e in steps}
    plan = AdaptiveDescent().plan(scenario.setting)
    allowed = np.array([plan.statistic.blind_radius, *plan.statistic.radii])
    assert all(np.isclose(allowed, radius, rtol=1e-12).any() for radius in radii)
    assert result.ledger.spent().rho == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize("descent", [ONE_STEP, MANY_STEPS])
@pytest.mark.parametrize("budget", [(0.1, 1e-9), (1.0, 1e-6), (5.0, 1e-3)])
def test_under_epsilon_and_delta_looks_after_steps_are_composed_by_fixed_pairs(
    budget: tuple[float, float], descent: Descent
) -> None:
    """The recursion would allow more, but is not proven where a look follows a step."""
    scenario = replace(SCENARIO, epsilon=budget[0], delta=budget[1])
    approximate = ApproxDP(epsilon=budget[0], delta=budget[1])
    method = AdaptiveDescent(descent=descent, looks=True)
    rho = method.plan(scenario.setting).rho
    shares = ((LOOK_SHARE, LOOKS),)
    assert rho == selection_rho(approximate, shares, choices_first=False)
    assert 0.98 < rho / gaussian_rho(*budget) < 1
    result = run(scenario, method)
    spent = result.ledger.spent()
    assert spent.epsilon == pytest.approx(budget[0], rel=1e-9)
    entries = result.ledger.entries
    choices = tuple((e.epsilon, 1) for e in entries if e.mechanism == "exponential")
    noise = math.fsum(e.rho for e in entries if e.mechanism == "gaussian")
    fixed = selection_epsilon(budget[1], noise, choices, choices_first=False)
    assert fixed == pytest.approx(budget[0], rel=1e-6)


def test_the_number_of_steps_depends_on_the_first_look_only() -> None:
    scenario = replace(SCENARIO, **CONCENTRATED)
    method = AdaptiveDescent()
    plan = method.plan(scenario.setting)
    for seed in range(5):
        release = run(scenario, method, seed).diagnostics
        radius = release["first_radius"]
        energy = 2 * scenario.d * radius**2 / (plan.descent.rho * scenario.n**2)
        expected = practical_descent(scenario.setting, energy, radius, growing=True)
        assert (release["steps"], release["step_size"]) == (expected.steps, expected.step_size)


def test_the_plan_ignores_the_data_and_the_target_is_at_most_half_the_records() -> None:
    small_plan = AdaptiveDescent(looks=True).plan(replace(SCENARIO, n=20).setting)
    small = small_plan.statistic
    assert small.capped and small.target == 10 and small.looks == LOOKS
    large_plan = AdaptiveDescent().plan(SCENARIO.setting)
    large = large_plan.statistic
    assert not large.capped
    assert large.target == pytest.approx(
        1.5 * 5 * math.sqrt(2 / large_plan.rho) + 4 / large.epsilon
    )
    bounded = replace(
        SCENARIO.setting, constants=replace(SCENARIO.setting.constants, lipschitz=0.5)
    )
    assert AdaptiveDescent().plan(bounded).statistic.top_radius == 0.5


@pytest.mark.parametrize("budget", [{}, CONCENTRATED])
def test_with_too_few_records_for_a_look_the_method_is_clipped_descent(
    budget: dict[str, Any],
) -> None:
    scenario = (
        replace(SCENARIO, n=200, d=5) if not budget else replace(SCENARIO, n=60, d=5, **budget)
    )
    assert AdaptiveDescent().plan(scenario.setting).statistic.looks == 0
    blind, adaptive = (run(scenario, m) for m in (ClippedDescent(), AdaptiveDescent()))
    np.testing.assert_allclose(blind.value, adaptive.value, rtol=1e-9)
    assert {e.mechanism for e in adaptive.ledger.entries} == {"gaussian"}
    assert AdaptiveDescent(looks=False).plan(SCENARIO.setting).statistic.looks == 0


@pytest.mark.parametrize("row", [("logistic", "skewed-pareto"), ("quadratic", "student-t")])
def test_the_larger_radius_is_used_only_if_the_test_decides_for_it(row: tuple[str, str]) -> None:
    """The test depends only on a noisy number, so fixing that number fixes the radius.

    The larger radius is the one that the first release finds, or the one that the setting
    recommends.
    """
    n, d = (20_000, 20) if row[0] == "logistic" else (5000, 50)
    scenario = replace(SCENARIO, problem=row[0], distribution=row[1], n=n, d=d, **CONCENTRATED)
    sample = scenario.instance.problem.sample(scenario.n, np.random.default_rng(1))
    plan = AdaptiveDescent().plan(scenario.setting)
    honest = Ledger.release
    for answer, wider in ((1e6, True), (0.0, False)):

        def fixed(self: Ledger, *args: Any, label: str = "", answer: float = answer) -> Any:
            """Release a value, with a given answer for the test between radii."""
            noisy = honest(self, *args, label=label)
            return np.full(1, answer) if "between" in label else noisy

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Ledger, "release", fixed)
            release = AdaptiveDescent().release(
                sample, plan, Ledger(scenario.setting.budget), np.random.default_rng(0)
            )
        diagnostics = release.diagnostics
        radii = sorted((diagnostics["blind_radius"], diagnostics["found_radius"]))
        assert (radii[0] == diagnostics["blind_radius"]) == (row[0] == "logistic")
        assert radii[0] < radii[1] and diagnostics["clip_radius"] == radii[wider]


@pytest.mark.parametrize(("problem", "arrives"), [("logistic", True), ("geometric-median", False)])
def test_the_answer_averages_full_steps_after_the_second_look_if_their_halves_agree(
    problem: str, arrives: bool
) -> None:
    scenario = replace(SCENARIO, problem=problem, distribution="log-normal", **CONCENTRATED)
    method, agreements = AdaptiveDescent(), []
    for seed in range(10):
        release = run(scenario, method, seed)
        steps = int(release.diagnostics["steps"])
        place = second_look(steps)
        size, beta = release.diagnostics["step_size"], curvatures(scenario.setting)[1]
        w, ball = (
            release.iterates,
            scenario.instance.problem.sample(2, np.random.default_rng(0)).constraint,
        )
        # No iterate is so far out that it would be projected.
        assert len(w) == steps + 1 and np.linalg.norm(w, axis=1).max() < 1.99
        full = [a + (b - a) / (size * beta) for a, b in itertools.pairwise(w)]
        tail = np.array([ball.project(point) for point in full[place:]])
        energy = scenario.d * (release.diagnostics["noise_std"] / beta) ** 2
        agreed = has_settled(tail, energy)
        averaged = w[-int(release.diagnostics["averaged"]) :]
        expected = tail.mean(axis=0) if agreed else averaged.mean(axis=0)
        np.testing.assert_allclose(release.value, expected, rtol=1e-9, atol=1e-12)
        assert not agreed or release.diagnostics["averaged"] == steps - place
        agreements.append(agreed)
    assert np.mean(agreements) > 0.5 if arrives else not any(agreements)


def test_iterates_have_settled_if_noise_explains_the_distance_of_their_halves() -> None:
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((200, 12, 5))
    assert np.mean([has_settled(points, 5.0) for points in noise]) > 0.98
    arriving = noise + np.linspace(4.0, 0.0, 12)[:, None]
    assert not any(has_settled(points, 5.0) for points in arriving)
    assert has_settled(noise[0, :1], 0.0) and not has_settled(noise[0, :2], 0.0)


def test_without_privacy_the_method_is_descent_with_almost_no_clipping() -> None:
    scenario = replace(SCENARIO, problem="quadratic", rho=1e10, epsilon=None, delta=None, n=500)
    sample: Any = scenario.instance.problem.sample(500, np.random.default_rng(1))
    method = AdaptiveDescent(descent=MANY_STEPS)
    setting = scenario.setting
    result = method.release(
        sample, method.plan(setting), Ledger(setting.budget), np.random.default_rng(0)
    )
    exact = descend(sample.constraint, MANY_STEPS, lambda w, _: sample.mean_gradient(w))
    np.testing.assert_allclose(result.value, exact.value, atol=0.02)


def test_a_pure_budget_is_refused() -> None:
    with pytest.raises(NotApplicable):
        AdaptiveDescent().plan(replace(SCENARIO, delta=0.0).setting)
    assert isinstance(replace(SCENARIO, delta=0.0).budget, PureDP)


def test_a_certified_norm_that_is_four_times_too_large_hardly_matters() -> None:
    """With such a norm, the radius that ignores the data errs at least half as much again."""
    scenario = replace(SCENARIO, n=20_000, d=20, **CONCENTRATED)
    setting, problem = scenario.setting, scenario.instance.problem
    model = setting.constants.linear_model
    assert model is not None
    model = replace(model, feature_norm=4 * model.feature_norm)
    loose = replace(setting, constants=replace(setting.constants, linear_model=model))
    runs = [(m, s) for s in (setting, loose) for m in (ClippedDescent(), AdaptiveDescent())]
    errors = np.array([[_error(m, s, problem, t) for m, s in runs] for t in range(12)])
    blind, adaptive, misled, unmoved = np.median(errors, axis=0)
    assert misled > 1.5 * blind
    assert adaptive < 1.3 * blind
    assert unmoved < 1.3 * blind


class StepsAlike(Ledger):
    """A ledger whose looks and tests draw elsewhere, so that the steps of all methods share
    their noise.
    """

    other_rng: np.random.Generator

    def release(self, mechanism: Any, value: Any, rng: Any, *, label: str = "") -> Any:
        """Release a value; all but the clipped means have noise of their own generator."""
        rng = rng if label.startswith("mean of clipped") else self.other_rng
        return super().release(mechanism, value, rng, label=label)


def _error(method: Any, setting: Any, problem: Any, trial: int) -> float:
    """Return the excess risk of a trial whose steps draw their noise alike."""
    sample = problem.sample(setting.n, np.random.default_rng([trial, 2]))
    rng, ledger = np.random.default_rng([trial, 3]), StepsAlike(setting.budget)
    ledger.other_rng = np.random.default_rng([trial, 4])
    result = method.release(sample, method.plan(setting), ledger, rng)
    return float(problem.excess_risk(result.value).value)


def median_ratio(row: Row, trials: int) -> float:
    """Return the median excess risk relative to the radius that ignores the data, on the same
    records.
    """
    point = scenario(row)
    problem: Any = point.instance.problem.draw(np.random.default_rng(4))
    methods = (ClippedDescent(), AdaptiveDescent())
    errors = [[_error(m, point.setting, problem, t) for m in methods] for t in range(trials)]
    blind, adaptive = np.median(errors, axis=0)
    return float(adaptive / blind)


def test_private_radii_gain_where_the_certified_norm_misleads() -> None:
    """The error with private radii is 0.76 of that with a radius that ignores the data, over 40
    data sets.
    """
    assert median_ratio(FRESH[4], 20) < 0.95


@pytest.mark.parametrize(
    "row", [FRESH[9], TUNED[10], pytest.param(TUNED[12], marks=pytest.mark.slow)], ids=str
)
def test_the_radius_from_the_setting_is_near_the_best_fixed_one_on_a_quadratic(row: Row) -> None:
    """Records may be skewed; a radius for symmetric gradients errs 28 and 7 times as much there."""
    point = scenario((row[0], row[1], row[2] // 2, *row[3:]))
    setting = point.setting
    problem: Any = point.instance.problem.draw(np.random.default_rng(4))
    chosen = ClippedDescent().plan(setting).diagnostics["clip_radius"]
    radii = [chosen, *(chosen * np.geomspace(1 / 8, 2, 8))]
    methods = [ClippedDescent(radius=radius) for radius in radii]
    errors = np.array([[_error(m, setting, problem, t) for m in methods] for t in range(10)])
    medians = np.median(errors, axis=0)
    assert medians[0] < 1.9 * medians[1:].min()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "median"), [(TUNED, 0.97), (FRESH, 1.0), (LATER, 1.0), (LATEST, 1.0)]
)
def test_private_radii_err_less_overall_and_nowhere_much_more(
    rows: tuple[Row, ...], median: float
) -> None:
    """The errors are medians of 40 data sets per row, with the same noise in the steps of both
    methods.

    With up to 200 data sets, median and worst of the rows are 0.93 and 1.05, 0.97 and 1.04, 0.94
    and 1.06, 0.95 and 1.03.
    """
    ratios = [median_ratio(row, 40) for row in rows]
    assert np.median(ratios) <= median
    assert max(ratios) <= 1.15
