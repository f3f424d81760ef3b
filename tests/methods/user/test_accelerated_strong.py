"""User-level accelerated ERM for strongly convex losses: stages, refusals, sensitivity."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.user.accelerated.strong import UserAcceleratedStrong, distances
from dpsco_core.privacy import ApproxDP
from tests.methods.user.accelerated_checks import check_replaced_user
from tests.methods.user.accelerated_helpers import BUDGET, means_of, run, users_setting

UNIT_BUDGET = ApproxDP(epsilon=1.0, delta=1e-6)
Patch = pytest.MonkeyPatch


def test_the_distances_of_the_stages_are_square_roots() -> None:
    for start_distance, limit in ((1000.0, 0.5), (3.0, 1.0)):
        k = math.ceil(math.log2(math.log2(start_distance / limit))) + 1
        radii = distances(start_distance, limit, k)
        for a, b in itertools.pairwise(radii):
            assert b / limit == pytest.approx(math.sqrt(a / limit))
        assert radii[-1] <= 2 * limit
    assert distances(1.0, 4.0, 3) == (1.0, 1.0, 1.0)


def test_strong_stages_have_users_of_their_own_and_shrinking_distances() -> None:
    setting = users_setting("mean", 30_000, 10**4, budget=BUDGET)
    plan = UserAcceleratedStrong(tuning="theory").plan(setting)
    stages = len(plan.phases) // 2
    assert stages >= 2
    stops = [phase.stop for phase in plan.phases]
    assert [phase.start for phase in plan.phases] == [0, *stops[:-1]]
    opening = [phase.regulariser for phase in plan.phases[::2]]
    assert all(b > a for a, b in itertools.pairwise(opening))
    run(UserAcceleratedStrong(tuning="theory"), setting, means_of(np.zeros((30_000, 3)), 10**4))


def test_the_strong_method_refuses_unsupported_settings() -> None:
    with pytest.raises(NotApplicable, match="strongly convex loss for every item"):
        UserAcceleratedStrong().plan(users_setting("logistic", 5000, 3))
    method = UserAcceleratedStrong(tuning="theory")
    with pytest.raises(NotApplicable, match="stages of 2 phases") as refusal:
        method.plan(users_setting("mean", 500, 10, budget=UNIT_BUDGET))
    ((_, fewest_users),) = refusal.value.changes
    assert isinstance(fewest_users, int)
    method.plan(users_setting("mean", fewest_users, 10, budget=UNIT_BUDGET))
    with pytest.raises(NotApplicable):
        UserAcceleratedStrong(calibration="paper", tuning="theory").plan(
            users_setting("mean", 10_000, 10, budget=UNIT_BUDGET)
        )


def test_a_replaced_user_moves_the_strong_method_within_its_sensitivity(monkeypatch: Patch) -> None:
    check_replaced_user(monkeypatch, UserAcceleratedStrong(), "mean", 400, 3)


def test_the_strong_method_finds_the_mean_to_within_a_tenth() -> None:
    rng = np.random.default_rng(9)
    means = np.array([0.4, -0.3, 0.2]) + rng.normal(size=(3000, 3)) / 100
    for method in (UserAcceleratedStrong(), UserAcceleratedStrong(tuning="theory")):
        n = 3000 if method.tuning == "practical" else 12_000
        data = np.concatenate([means] * (n // 3000))
        release = run(method, users_setting("mean", n, 10**4), means_of(data, 10**4))
        assert np.linalg.norm(release.value - [0.4, -0.3, 0.2]) < 0.1
