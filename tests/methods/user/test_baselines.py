"""User-level baselines: sensitivity by brute force, budgets, limits and refusals."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.data import DenseRows
from dpsco_core.methods.euclidean import NoisyGradientDescent, phased_sgd
from dpsco_core.methods.euclidean.phased_sgd import (
    Phase,
    PhasedAverages,
    PhasedSgd,
    phase_average,
)
from dpsco_core.methods.user import clipped_means, group_privacy
from dpsco_core.methods.user.accelerated.sgd import Curvature, accelerated_descent
from dpsco_core.methods.user.chains import records_of
from dpsco_core.methods.user.clipped_means import (
    AcceleratedChoice,
    UserClippedMeans,
    accelerated_risk,
    clipped_user_mean,
)
from dpsco_core.methods.user.group_privacy import UserGroupPrivacy
from dpsco_core.privacy import ZCDP, ApproxDP, Ledger
from dpsco_core.problems.point_losses import HalfSquaredDistance
from dpsco_core.problems.samples.users import MeanSample, pool_items
from tests.folded import crossed, each
from tests.methods.euclidean.losses import (
    APPROXIMATE,
    BUDGETS,
    CONCENTRATED,
    PURE,
    SMOOTH,
    Releases,
    check_spent,
    expected_rho,
    releases,
)
from tests.methods.user.optimiser_helpers import (
    honest_records,
    replaced_users,
    run_users,
    user_setting,
    users,
)

__all__ = ["releases"]
VARIANTS = list(itertools.product(("tight", "paper"), ("practical", "theory")))
CHAINS = [UserGroupPrivacy(calibration=c, tuning=t) for c, t in VARIANTS]
MEANS = [UserClippedMeans(calibration=c, tuning=t) for c, t in VARIANTS]
MEANS += [UserClippedMeans(method=way) for way in ("descent", "accelerated")]
EVERY_KIND = ("logistic", "huber", "mean", "linear", "hinge", "other")
# The losses have this smoothness, or 1 if they are not listed; the 4 of the linear loss is
# arbitrary.
STEEPEST = {"logistic": 0.25, "linear": 4.0}


def chain_pull(kind: str, m: int, step_size: float, batch: int) -> float:
    """Return how far one replaced user moves a chain's average, in units of 2 L eta m, by brute
    force over extreme items.
    """
    n, d, losses = 7, 3, UserGroupPrivacy().plan(user_setting(kind)).losses
    phase = Phase(start=m, stop=n * m, step_size=step_size, sensitivity=1.0, noise_std=1.0)
    start, distance = np.array([0.3, -0.2, 0.6]), 0.0
    for seed in range(3):
        averages = [
            phase_average(losses.of(users(kind, data, m).records), start, phase, batch, losses)
            for data in replaced_users(n, m, d, 2, seed)
        ]
        gaps = [np.linalg.norm(a - b) for a, b in itertools.combinations(averages, 2)]
        # The maximum of numpy keeps a NaN, so a broken average fails.
        distance = float(np.max([distance, *gaps]))
    return distance / (2 * losses.lipschitz * step_size * m)


@pytest.mark.parametrize(
    ("kind", "sizes", "fraction"),
    crossed(2, SMOOTH, [(1, 1), (4, 1), (4, 3), (4, 4), (4, 8)], [0.01, 1.0]),
)
def test_a_user_moves_a_chain_by_at_most_two_eta_l_m(
    kind: str, sizes: tuple[int, int], fraction: float
) -> None:
    """The items are arbitrary, with batches and step sizes up to the largest that is allowed."""
    m, batch = sizes
    distance = chain_pull(kind, m, fraction * 2 / STEEPEST.get(kind, 1.0) / batch, batch)
    assert distance <= 1 + 1e-9
    if fraction < 1:
        assert distance > 0.2, "the sensitivity is of the right size"


@pytest.mark.parametrize("method", CHAINS)
@pytest.mark.parametrize("kind", SMOOTH)
def test_every_phase_of_every_plan_may_be_released(method: UserGroupPrivacy, kind: str) -> None:
    sizes = list(itertools.product((2, 7, 1000), (1, 10, 300), (1, 50), BUDGETS))
    # One in five of the sizes still has every value, and nearly every pair of two values.
    for n, m, d, budget in sizes[::5]:
        setting = user_setting(kind, n, m, d, budget)
        plan = method.plan(setting)
        losses, rho = plan.losses, expected_rho(method.calibration, budget)
        assert [p.start for p in plan.phases] == [0, *[p.stop for p in plan.phases[:-1]]]
        assert plan.phases[-1].stop <= n
        for phase in plan.phases:
            assert phase.stop > phase.start
            assert plan.batch * phase.step_size * losses.smoothness <= 2 * (1 + 1e-12)
            pull = min(setting.constants.diameter, 2 * phase.step_size * losses.lipschitz * m)
            assert phase.sensitivity == pytest.approx(pull, rel=1e-12)
            assert phase.noise_std == pytest.approx(pull / math.sqrt(2 * rho), rel=1e-9)


@each("method", [*CHAINS, *MEANS])
@each("budget", BUDGETS)
def test_the_whole_budget_is_spent(method: Any, budget: Any) -> None:
    setting = user_setting("logistic", 60, 3, 2, budget)
    result = run_users(method, setting, users("logistic", honest_records(60, 3, 2), 3))
    check_spent(method, budget, result.ledger)
    assert result.ledger.flaws == ()


@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize("m", [1, 4])
def test_a_user_moves_the_mean_gradient_by_at_most_two_l_over_n(kind: str, m: int) -> None:
    """Items may be broken or huge and losses may have kinks, and some items attain nearly the
    bound.
    """
    n, d = 9, 3
    losses = UserClippedMeans(tuning="theory").plan(user_setting(kind, n, m, d)).losses
    distance = 0.0
    for seed, w in itertools.product(range(3), (np.zeros(d), np.array([0.3, -0.2, 0.6]))):
        means = [
            clipped_user_mean(losses_of(kind, losses, data, m).user_gradients(w), losses.lipschitz)
            for data in replaced_users(n, m, d, 4, seed)
        ]
        gaps = [np.linalg.norm(a - b) for a, b in itertools.combinations(means, 2)]
        distance = float(np.max([distance, *gaps]))
    assert 0.4 * 2 * losses.lipschitz / n <= distance <= 2 * losses.lipschitz / n * (1 + 1e-9)


def losses_of(kind: str, losses: Any, data: Any, m: int) -> Any:
    """Return users whose features are shrunk to the bound of the losses, if there is one."""
    sample = users(kind, data, m)
    return sample if math.isinf(losses.feature_bound) else sample.bounded(losses.feature_bound)


@pytest.mark.parametrize("method", MEANS)
def test_every_step_adds_the_noise_of_its_share(
    method: UserClippedMeans, releases: Releases
) -> None:
    n, m, d = 30, 3, 2
    setting = user_setting("logistic", n, m, d, APPROXIMATE)
    result = run_users(method, setting, users("logistic", honest_records(n, m, d), m))
    plan, rho = method.plan(setting), expected_rho(method.calibration, APPROXIMATE)
    steps = int(result.diagnostics["steps"])
    expected = 2 * plan.losses.lipschitz / n * math.sqrt(steps / (2 * rho))
    assert releases.stds == pytest.approx([expected] * steps)
    assert plan.diagnostics["noise_std"] == pytest.approx(expected)
    assert result.diagnostics["gradient_calls"] == steps * n * m
    assert isinstance(plan.descent, AcceleratedChoice) == (result.diagnostics["accelerated"] == 1.0)


@pytest.mark.parametrize("kind", SMOOTH)
def test_group_privacy_with_one_item_is_phased_sgd_of_items(kind: str) -> None:
    n, d = 300, 3
    setting = user_setting(kind, n, 1, d, ZCDP(rho=50.0))
    plan, data = UserGroupPrivacy().plan(setting), honest_records(n, 1, d)
    assert all(p.sensitivity < setting.constants.diameter for p in plan.phases)
    items = PhasedAverages(
        setting=setting,
        losses=plan.losses,
        rho=plan.rho,
        batch=plan.batch,
        phases=plan.phases,
    )
    sample = users(kind, data, 1)
    expected = PhasedSgd().release(
        sample.records, items, Ledger(setting.budget), np.random.default_rng(5)
    )
    release = run_users(UserGroupPrivacy(), setting, sample, seed=5)
    np.testing.assert_array_equal(release.value, expected.value)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_clipped_means_with_one_item_is_noisy_descent_of_items(kind: str) -> None:
    n, d = 200, 3
    setting, data = user_setting(kind, n, 1, d), honest_records(n, 1, d, shift=0.3)
    method, sample = UserClippedMeans(method="descent"), users(kind, data, 1)
    plan = method.plan(setting)
    items = NoisyGradientDescent(descent=plan.descent)
    expected = items.release(
        sample.records, items.plan(setting), Ledger(setting.budget), np.random.default_rng(5)
    )
    release = run_users(method, setting, sample, seed=5)
    np.testing.assert_allclose(release.value, expected.value, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("method", ["descent", "accelerated"])
def test_without_noise_clipped_means_is_descent_on_all_items(
    method: Any, releases: Releases
) -> None:
    """Certified losses are not clipped, so that every step uses the pooled gradient."""
    n, m, d = 50, 4, 3
    setting, sample = (
        user_setting("logistic", n, m, d),
        users("logistic", honest_records(n, m, d), m),
    )
    release = run_users(UserClippedMeans(method=method), setting, sample)
    choice, pool = UserClippedMeans(method=method).plan(setting).descent, pool_items(sample)
    assert len(releases.values) == choice.steps
    if isinstance(choice, AcceleratedChoice):
        expected = accelerated_descent(
            np.zeros(d),
            choice.steps,
            choice.objective,
            pool.constraint,
            lambda w, t: pool.mean_gradient(w),
        ).value
    else:
        w, points = np.zeros(d), []
        for _ in range(choice.steps):
            w = pool.constraint.project(w - choice.step_size * pool.mean_gradient(w))
            points.append(w)
        expected = np.mean(points[-choice.averaged :], axis=0)
    np.testing.assert_allclose(release.value, expected, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize(("steps", "h"), [(1, 0.5), (4, 1.0), (9, 3.0), (9, 1.0)])
def test_the_model_of_accelerated_steps_is_exact_on_a_quadratic(steps: int, h: float) -> None:
    """The start's part is that of a run without noise, and each step's part is that of a unit of
    noise in the step alone.
    """
    objective, distance, energy = Curvature(strong_convexity=0.7, smoothness=3.0), 2.0, 0.3
    setting = user_setting("mean", d=1, radius=1e6)
    ball = setting.body

    def end(start: float, kicked: int) -> float:
        """Return the end of accelerated descent with a unit error at the step `kicked`."""
        return float(
            accelerated_descent(
                np.array([start]),
                steps,
                objective,
                ball,
                lambda w, t: h * w + (t == kicked),
            ).value[0]
        )

    noise = sum(end(0.0, t) ** 2 for t in range(steps)) * steps * energy
    expected = h / 2 * (end(distance, -1) ** 2 + noise)
    modelled = accelerated_risk(objective, steps, h, distance, energy)
    assert modelled == pytest.approx(expected, rel=1e-9)


def test_the_better_way_to_step_is_chosen() -> None:
    chosen = set()
    for n, m, rho in itertools.product((100, 10_000), (1, 100), (1e-3, 0.5)):
        setting = user_setting("logistic", n, m, 3, ZCDP(rho=rho))
        ways = [
            UserClippedMeans(method=w).plan(setting).descent
            for w in ("descent", "accelerated", None)
        ]
        risks = [way.modelled_risk for way in ways]
        assert risks[2] <= min(risks[:2]) * 1.02
        chosen.add(type(ways[2]).__name__)
    assert chosen == {"Descent", "AcceleratedChoice"}


def mean_users(data: Any, m: int) -> MeanSample:
    """Return the sample of the users' means."""
    sample = users("mean", data, m)
    means = sample.records.points.x.reshape(sample.users, m, -1).mean(axis=1)
    return MeanSample(
        means=DenseRows(means), items=m, loss=HalfSquaredDistance(), constraint=sample.constraint
    )


def test_users_means_do_as_well_as_their_items() -> None:
    """Clipped means have the same result from means as from items, and one chain has the same
    average in steps on whole users.
    """
    n, m, d = 40, 6, 3
    data, setting = honest_records(n, m, d, shift=0.2), user_setting("mean", n, m, d)
    result, other_result = (
        run_users(UserClippedMeans(), setting, s)
        for s in (users("mean", data, m), mean_users(data, m))
    )
    np.testing.assert_allclose(result.value, other_result.value, rtol=1e-10, atol=1e-13)
    losses = UserGroupPrivacy().plan(setting).losses
    averages = []
    for sample in (users("mean", data, m), mean_users(data, m)):
        read = records_of(sample, 2 * m)
        phase = Phase(
            start=4 * m // read.each,
            stop=n * m // read.each,
            step_size=0.05 * read.each,
            sensitivity=1.0,
            noise_std=1.0,
        )
        start = np.array([0.3, -0.2, 0.6])
        averages.append(phase_average(read.sample, start, phase, 2 * m // read.each, losses))
    np.testing.assert_allclose(averages[0], averages[1], rtol=1e-10)


def test_a_million_items_a_user_take_steps_on_whole_users() -> None:
    n, m, d = 200, 10**6, 2
    setting = user_setting("mean", n, m, d)
    assert UserGroupPrivacy().plan(setting).batch % m == 0
    users = replace(mean_users(honest_records(n, 1, d), 1), items=m)
    result = run_users(UserGroupPrivacy(), setting, users)
    assert result.diagnostics["gradient_calls"] == n * m


def test_steps_move_no_points_apart_where_the_set_is_large() -> None:
    """At D/L = 200 the bound alone would choose steps far longer than 1/beta."""
    setting = user_setting("huber", 20, 2, 3, ZCDP(rho=1e8), radius=100.0)
    assert UserGroupPrivacy().plan(setting).phases[0].step_size == pytest.approx(1.0)


def test_unsupported_settings_are_refused_with_a_reason() -> None:
    for method in (UserGroupPrivacy(), UserClippedMeans()):
        with pytest.raises(NotApplicable, match="cannot give pure DP"):
            method.plan(user_setting("logistic", budget=PURE))
        theory = replace(method, tuning="theory")
        with pytest.raises(NotApplicable, match="needs a Lipschitz loss"):
            theory.plan(user_setting("logistic", lipschitz=False))
        with pytest.raises(InvalidInput, match="m must be the items of a user"):
            run_users(
                method, user_setting("mean", 12, 3), users("mean", honest_records(12, 2, 3), 2)
            )
    for kind in ("hinge", "other"):
        with pytest.raises(NotApplicable, match="kinks") as refusal:
            UserGroupPrivacy().plan(user_setting(kind))
        assert refusal.value.changes == (("problem", "huber"),)
    with pytest.raises(NotApplicable, match="only one"):
        UserGroupPrivacy(tuning="theory").plan(user_setting("logistic", n=1))
    with pytest.raises(NotApplicable, match="need the items"):
        run_users(
            UserGroupPrivacy(), user_setting("mean", 40, 6), mean_users(honest_records(40, 6, 3), 6)
        )


def test_a_theorem_whose_step_is_too_large_names_the_users_that_help() -> None:
    setting = user_setting("huber", 20, 4, 1, ZCDP(rho=1e8), radius=100.0)
    method = UserGroupPrivacy(tuning="theory")
    with pytest.raises(NotApplicable, match="may move points apart") as refusal:
        method.plan(setting)
    ((name, fewest_users),) = refusal.value.changes
    assert name == "n" and isinstance(fewest_users, int)
    method.plan(replace(setting, n=fewest_users))
    with pytest.raises(NotApplicable):
        method.plan(replace(setting, n=int(0.9 * fewest_users)))


def test_more_items_help_the_clipped_mean_only_until_noise_dominates() -> None:
    """The noise of either baseline does not fall with m, since group privacy costs as much for more
    items.
    """
    budget = ApproxDP(epsilon=1.0, delta=1e-6)
    noises = []
    for m in (1, 10_000):
        setting = user_setting("mean", 1000, m, 5, budget)
        noises.append(UserClippedMeans(method="descent").plan(setting))
    per_step = [p.diagnostics["noise_std"] / math.sqrt(p.descent.steps) for p in noises]
    assert per_step[0] == pytest.approx(per_step[1])


def no_clipping(patch: pytest.MonkeyPatch) -> None:
    """Take every clip and every shrinking away."""
    patch.setattr(clipped_means, "clip_to_ball", lambda rows, r: (rows, np.ones(len(rows))))
    patch.setattr(phased_sgd, "clipped_gradient", lambda s, w, i, limit: s.gradient(w, i))
    patch.setattr(phased_sgd.Losses, "of", lambda self, s: s)


def pull_of_one_item(patch: pytest.MonkeyPatch) -> None:
    """Use the pull of a single item for that of a user."""
    patch.setattr(group_privacy, "user_pull", lambda s, losses, step: 2 * step * losses.lipschitz)


def too_long_steps(patch: pytest.MonkeyPatch) -> None:
    """Allow step sizes that are larger than the proof allows."""
    patch.setattr(group_privacy, "step_limit", lambda n, m, d, smoothness: 40.0)


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        (
            no_clipping,
            lambda: test_a_user_moves_the_mean_gradient_by_at_most_two_l_over_n("other", 4),
        ),
        (
            no_clipping,
            lambda: test_a_user_moves_a_chain_by_at_most_two_eta_l_m("mean", (4, 1), 1.0),
        ),
        (
            pull_of_one_item,
            lambda: test_every_phase_of_every_plan_may_be_released(UserGroupPrivacy(), "logistic"),
        ),
        (
            too_long_steps,
            test_steps_move_no_points_apart_where_the_set_is_large,
        ),
    ],
)
def test_a_fault_is_caught(fault: Any, check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    group_privacy._practical_phases.cache_clear()
    try:
        with pytest.raises((AssertionError, ValueError, RuntimeWarning)):
            check()
    finally:
        group_privacy._practical_phases.cache_clear()


def test_the_budgets_of_the_two_notions_agree() -> None:
    """An (epsilon, delta) budget and the rho that meets it give the same plans."""
    rho = expected_rho("tight", APPROXIMATE)
    for method in (UserGroupPrivacy(), UserClippedMeans()):
        plan, other_plan = (
            method.plan(user_setting("mean", budget=b)) for b in (APPROXIMATE, ZCDP(rho=rho))
        )
        assert plan == replace(other_plan, setting=plan.setting)
    assert CONCENTRATED != APPROXIMATE
