"""User-level accelerated ERM on smoothed losses: random moves, sensitivity and accuracy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.data import DenseRows
from dpsco_core.geometry.ball import Ball
from dpsco_core.methods.user.accelerated import smoothing as user_smoothing
from dpsco_core.methods.user.accelerated.nonsmooth import UserAcceleratedNonsmooth
from dpsco_core.methods.user.accelerated.smoothing import (
    ball_coordinates,
    ball_points,
    smoothed_user_gradients,
)
from dpsco_core.privacy import ApproxDP
from dpsco_core.problems.links import AbsoluteLink, LogisticLink
from dpsco_core.problems.point_losses import Distance
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.users import ItemSample, sample_users
from dpsco_core.scenario import Scenario
from tests.methods.user.accelerated_helpers import (
    BUDGET,
    FALSE_ALARM,
    items_of,
    means_of,
    replaced,
    run,
    users_setting,
)

Patch = pytest.MonkeyPatch
UNIT_BUDGET = ApproxDP(epsilon=1.0, delta=1e-6)


def absolute(x: np.ndarray, y: np.ndarray, items: int) -> ItemSample:
    """Return users with the absolute loss."""
    ball = Ball(d=x.shape[1], radius=1.0)
    records = LinearSample(features=DenseRows(x), targets=y, link=AbsoluteLink(), constraint=ball)
    return ItemSample(records=records, items=items)


def check_moves() -> None:
    """Check that smoothing moves are uniform on the ball, by their norms, their means and their
    coordinates.
    """
    for d in (1, 2, 7):
        y = ball_points(20_000, d, 0.3, np.random.default_rng(d))
        norms = np.linalg.norm(y, axis=1)
        assert norms.max() <= 0.3 * (1 + 1e-12)
        assert stats.kstest((norms / 0.3) ** d, "uniform").pvalue > FALSE_ALARM
        assert norms.mean() == pytest.approx(0.3 * d / (d + 1), abs=6 * 0.3 / math.sqrt(20_000))
        assert np.abs(y.mean(axis=0)).max() < 6 * 0.3 / math.sqrt(20_000)
        coordinates = ball_coordinates(20_000, d, np.random.default_rng(d + 100))
        assert stats.ks_2samp(y[:, 0] / 0.3, coordinates).pvalue > FALSE_ALARM


def check_unbiased() -> None:
    """Check that the mean slope of |x| is x/r inside of [-r, r], within six standard errors."""
    m = 200_000
    for x, r in ((0.1, 0.4), (-0.3, 0.4), (0.5, 0.4)):
        users = absolute(np.ones((m, 1)), np.zeros(m), m)
        w, rng = np.array([x]), np.random.default_rng(3)
        gradients = smoothed_user_gradients(users, w, r, rng)[0, 0]
        expected = np.clip(x / r, -1, 1)
        assert gradients == pytest.approx(expected, abs=6 / math.sqrt(m))


def check_fresh_moves() -> None:
    """Check that every user, item and step has a move of its own, so that gradients of equal items
    differ.
    """
    w, rng = np.array([0.01, 0.0]), np.random.default_rng(4)
    points = PointSample(
        points=DenseRows(np.zeros((6, 2))), loss=Distance(), constraint=Ball(d=2, radius=1.0)
    )
    users = ItemSample(records=points, items=1)
    gradients, other_gradients = (smoothed_user_gradients(users, w, 0.5, rng) for _ in range(2))
    all_gradients = np.concatenate([gradients, other_gradients])
    assert len(np.unique(all_gradients[:, 0])) == 12
    pairs = ItemSample(records=points, items=2)
    assert np.linalg.norm(smoothed_user_gradients(pairs, w, 0.5, rng), axis=1).max() < 1 - 1e-6
    x = np.ones((40, 1))
    linear = smoothed_user_gradients(absolute(x, np.zeros(40), 1), np.zeros(1), 0.5, rng)
    assert 5 < (linear > 0).sum() < 35  # If all users shared one move, all signs would be equal.


def test_moves_are_uniform_on_the_ball() -> None:
    check_moves()


def test_moved_gradients_are_those_of_the_smoothed_loss() -> None:
    check_unbiased()


def test_every_item_has_its_own_random_move_in_every_step() -> None:
    check_fresh_moves()


def test_the_smoothed_loss_is_above_the_loss_not_below() -> None:
    """The smoothed loss f_r satisfies f <= f_r <= f + L r d/(d+1), with equality on the right for
    the norm at 0.

    See theory/lowy-liu-asi.md, 7, item 31.
    """
    rng = np.random.default_rng(5)
    for d in (1, 4):
        y = ball_points(100_000, d, 0.5, rng)
        for x in (np.zeros(d), np.full(d, 0.2), np.full(d, 3.0)):
            values = np.linalg.norm(x + y, axis=1)
            slack = 6 * values.std() / math.sqrt(len(values))
            plain, smooth = float(np.linalg.norm(x)), float(values.mean())
            assert plain - slack <= smooth <= plain + 0.5 * d / (d + 1) + slack
        assert np.linalg.norm(y, axis=1).mean() == pytest.approx(0.5 * d / (d + 1), rel=0.01)


def test_a_linear_models_move_needs_one_number_an_item() -> None:
    """The slope has the mean and the variance of the slope at a full move, over many draws."""
    x = np.array([[0.6, -0.3, 0.2]])
    w, r, draws = np.array([0.1, 0.4, -0.2]), 0.8, 100_000
    link = LogisticLink()
    sample = LinearSample(
        features=DenseRows(np.repeat(x, draws, axis=0)),
        targets=np.ones(draws),
        link=link,
        constraint=Ball(d=3, radius=1.0),
    )
    short = sample.bounded(0.35)
    for records, factor in ((sample, 1.0), (short, 0.35 / np.linalg.norm(x))):
        users = ItemSample(records=records, items=1)
        gradients = smoothed_user_gradients(users, w, r, np.random.default_rng(6))[:, 0]
        points = w + ball_points(draws, 3, r, np.random.default_rng(7))
        shrunk = factor * x[0]
        full = link.slope(points @ shrunk, np.ones(draws)) * shrunk[0]
        assert stats.ks_2samp(gradients, full).pvalue > FALSE_ALARM


def test_losses_that_depend_on_means_alone_need_no_random_moves() -> None:
    rng = np.random.default_rng(8)
    state = rng.bit_generator.state
    users = means_of(np.eye(3), 1000)
    w = np.array([0.1, 0.2, 0.3])
    gradients = smoothed_user_gradients(users, w, 0.5, rng)
    assert np.array_equal(gradients, users.user_gradients(w))
    assert rng.bit_generator.state == state
    with pytest.raises(InvalidInput, match="radius must be"):
        smoothed_user_gradients(users, w, 0.0, rng)


@pytest.mark.parametrize("kind", ["hinge", "other", "huber", "mean"])
def test_another_users_items_do_not_change_a_users_moves(kind: str) -> None:
    """With equal generators only the replaced user's gradient differs, whatever it holds."""
    w, moves = np.array([0.1, 0.0, -0.2]), []
    for users in replaced(kind, 12, 5, 4):
        bounded = users.bounded(1.0)
        moves.append(smoothed_user_gradients(bounded, w, 0.3, np.random.default_rng(9)))
    is_unchanged = np.arange(12) != 4
    assert all(np.array_equal(rows[is_unchanged], moves[0][is_unchanged]) for rows in moves)
    assert all(np.isfinite(rows[is_unchanged]).all() for rows in moves)


def test_the_radii_are_those_of_the_theorem_and_of_practice() -> None:
    setting = users_setting("hinge", 8000, 25, budget=UNIT_BUDGET)
    theory = UserAcceleratedNonsmooth(tuning="theory").plan(setting)
    radius = 2 * math.sqrt(3) / (8000 * 5)
    assert theory.radius == pytest.approx(radius)
    assert theory.smoothness == pytest.approx(math.sqrt(3) / radius)
    assert theory.steps > 1000
    plan = UserAcceleratedNonsmooth().plan(setting)
    assert 0.01 * 2 <= plan.radius <= 0.05 * 2
    assert plan.losses.smoothness == pytest.approx(math.sqrt(3) / plan.radius)
    smooth = UserAcceleratedNonsmooth().plan(
        users_setting("logistic", 4000, 25, budget=UNIT_BUDGET)
    )
    assert smooth.losses.smoothness == 0.25
    steep = UserAcceleratedNonsmooth().plan(users_setting("mean", 4000, 25, budget=UNIT_BUDGET))
    assert steep.losses.lipschitz == pytest.approx(2 + steep.radius)


@pytest.mark.parametrize("kind", ["hinge", "other", "huber"])
@pytest.mark.parametrize("calibration", ["tight", "paper"])
def test_the_budget_is_spent_exactly(kind: str, calibration: str) -> None:
    users = items_of(kind, 3000, 3)
    release = run(
        UserAcceleratedNonsmooth(calibration=calibration), users_setting(kind, 3000, 3), users
    )
    assert release.diagnostics["smoothing_radius"] > 0
    assert bool(release.notes) == (calibration == "paper")


def test_an_unsupported_setting_is_refused_with_a_reason() -> None:
    method = UserAcceleratedNonsmooth()
    with pytest.raises(NotApplicable, match="too few sure") as refusal:
        method.plan(users_setting("hinge", 50, 3))
    ((_, fewest_users),) = refusal.value.changes
    assert isinstance(fewest_users, int)
    method.plan(users_setting("hinge", fewest_users, 3))
    with pytest.raises(NotApplicable, match="needs a Lipschitz loss"):
        UserAcceleratedNonsmooth(tuning="theory").plan(
            users_setting("hinge", 5000, 3, lipschitz=False)
        )
    with pytest.raises(NotApplicable, match="Theorem C"):
        UserAcceleratedNonsmooth(calibration="paper", tuning="theory").plan(
            users_setting("hinge", 5000, 3, budget=UNIT_BUDGET)
        )


@pytest.mark.parametrize("problem", ["absolute", "geometric-median"])
def test_the_method_learns(problem: str) -> None:
    """At n = 4,000, m = 25, d = 5 and epsilon = 4 the risk is a tenth of that of the centre."""
    scenario = Scenario(problem=problem, methods=(), n=4000, d=5)
    sampled_problem = scenario.instance.problem
    users = sample_users(sampled_problem, 4000, 25, np.random.default_rng(0))
    release = run(UserAcceleratedNonsmooth(), sampled_problem.setting(4000, BUDGET, m=25), users)
    start = sampled_problem.excess_risk(np.zeros(5)).value
    assert sampled_problem.excess_risk(release.value).value < 0.1 * start


def no_moves(patch: Patch) -> None:
    """Let every random move be zero."""
    patch.setattr(user_smoothing, "ball_coordinates", lambda count, d, rng: np.zeros(count))
    patch.setattr(user_smoothing, "ball_points", lambda count, d, radius, rng: np.zeros((count, d)))


def one_move_for_all(patch: Patch) -> None:
    """Give every user the same random move."""
    coordinates, point = ball_coordinates, ball_points
    patch.setattr(
        user_smoothing,
        "ball_coordinates",
        lambda count, d, rng: np.full(count, coordinates(1, d, rng)),
    )
    patch.setattr(
        user_smoothing,
        "ball_points",
        lambda count, d, radius, rng: np.repeat(point(1, d, radius, rng), count, axis=0),
    )


def moves_of_another_dimension(patch: Patch) -> None:
    """Draw the coordinates of moves in a ball of six more dimensions."""
    coordinates = ball_coordinates
    patch.setattr(
        user_smoothing, "ball_coordinates", lambda count, d, rng: coordinates(count, d + 6, rng)
    )


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        (no_moves, check_unbiased),
        (no_moves, check_fresh_moves),
        (one_move_for_all, check_unbiased),
        (one_move_for_all, check_fresh_moves),
        (moves_of_another_dimension, check_unbiased),
    ],
)
def test_a_fault_is_caught(fault: Any, check: Any, monkeypatch: Patch) -> None:
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        check()


def test_moves_on_the_sphere_are_caught(monkeypatch: Patch) -> None:
    plain = ball_points

    def outer(count: int, d: int, radius: float, rng: np.random.Generator) -> np.ndarray:
        """Draw moves on the sphere in place of the ball."""
        y = plain(count, d, radius, rng)
        return radius * y / np.linalg.norm(y, axis=1, keepdims=True)

    monkeypatch.setitem(globals(), "ball_points", outer)
    with pytest.raises(AssertionError):
        check_moves()
