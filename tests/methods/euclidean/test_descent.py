"""Projected gradient descent: with exact gradients it is the textbook loop, bit for bit.

Faults that these tests would catch: a step too many or too few, an average over the wrong points,
an omitted projection, and a path without its start or its end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.geometry.ball import Ball
from dpsco_core.methods.euclidean import (
    ClippedDescent,
    CoordinatewiseDescent,
    StrongCoordinatewiseDescent,
)
from dpsco_core.methods.records.base import clipped_mean
from dpsco_core.methods.run import KEPT_ITERATES, descend
from dpsco_core.methods.steps import Descent
from tests.folded import each
from tests.methods.euclidean.framework.helpers import (
    CONCENTRATED,
    Array,
    linear_problem,
    logistic_problem,
    quadratic_problem,
    run,
)

PROBLEMS = {"quadratic": quadratic_problem, "linear": linear_problem, "logistic": logistic_problem}
RULES = [
    {"queried": True},
    {"averaged": 1},
    {"averaged": 4},
    {"averaged": 12},
]


def textbook_descent(
    radius: float, w: Array, rule: Descent, gradient: Callable[[Array], Array]
) -> list[Array]:
    """Return all points of projected gradient descent as textbooks state it, from the start on."""
    points = [w]
    for _ in range(rule.steps):
        w = w - rule.step_size * gradient(w)
        norm = math.sqrt(float(w @ w))
        if norm > radius:
            w = w * (radius / norm)
        points.append(w)
    return points


def average(points: list[Array], rule: Descent) -> Array:
    """Return the average of the points that a descent averages."""
    averaged = points[:-1] if rule.queried else points[len(points) - rule.averaged :]
    total = np.zeros(len(points[0]))
    for w in averaged:
        total += w
    return total / len(averaged)


@each("options", RULES, ids=str)
@each("name", PROBLEMS)
@each("step_size", [0.05, 0.9, 30.0])  # The last step size leaves the ball.
def test_with_exact_gradients_descent_is_the_plain_loop_bit_for_bit(
    name: str, step_size: float, options: Any
) -> None:
    sample = PROBLEMS[name](d=5).sample(300, np.random.default_rng(0))
    rule = Descent(steps=12, step_size=step_size, **options)
    descended = descend(sample.constraint, rule, lambda w, _: sample.mean_gradient(w))
    points = textbook_descent(sample.constraint.radius, np.zeros(5), rule, sample.mean_gradient)
    np.testing.assert_array_equal(descended.value, average(points, rule))
    np.testing.assert_array_equal(descended.path.points, np.array(points))
    assert descended.path.steps.tolist() == list(range(13))


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_method_without_noise_and_clipping_is_the_plain_loop_bit_for_bit(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = "dpsco_core.privacy.mechanisms.gaussian.add_gaussian_noise"
    monkeypatch.setattr(place, lambda v, *_: v)
    problem = PROBLEMS[name](d=4)
    sample, setting = (
        problem.sample(500, np.random.default_rng(1)),
        problem.setting(500, CONCENTRATED),
    )
    rule = Descent(steps=20, step_size=0.4, averaged=7)
    result, _ = run(ClippedDescent(radius=1e100, descent=rule), setting, sample)
    radius = sample.constraint.radius
    exact = textbook_descent(
        radius, np.zeros(4), rule, lambda w: clipped_mean(sample.gradients(w), 1e100)
    )
    np.testing.assert_array_equal(result.value, average(exact, rule))
    np.testing.assert_array_equal(result.iterates, np.array(exact))
    points = textbook_descent(radius, np.zeros(4), rule, sample.mean_gradient)
    np.testing.assert_allclose(result.value, average(points, rule), rtol=1e-11, atol=1e-13)
    robust, _ = run(CoordinatewiseDescent(threshold=1e100, descent=rule), setting, sample)
    np.testing.assert_allclose(robust.value, average(points, rule), rtol=1e-11, atol=1e-13)


def test_strong_descent_without_noise_and_clipping_uses_every_block_once_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = "dpsco_core.privacy.mechanisms.gaussian.add_gaussian_noise"
    monkeypatch.setattr(place, lambda v, *_: v)
    problem = quadratic_problem(d=3)
    sample, setting = (
        problem.sample(47, np.random.default_rng(2)),
        problem.setting(47, CONCENTRATED),
    )
    result, _ = run(StrongCoordinatewiseDescent(threshold=1e100, steps=5), setting, sample)
    w, x = np.zeros(3), sample.points.x
    for t in range(5):  # The blocks have 9 records; the last 2 records are left out.
        w = sample.constraint.project(w - 0.5 * (w - x[9 * t : 9 * t + 9].mean(axis=0)))
    np.testing.assert_allclose(result.value, w, rtol=1e-12)


@pytest.mark.parametrize("strong", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("smooth", [1.0, 4.0])
def test_a_quadratic_contracts_by_at_most_its_condition_number(
    strong: float, smooth: float
) -> None:
    """A step of eta = 1/(lambda+L) contracts by L/(lambda+L), which is at most the q of Theorem
    3.2.

    See theory/kamath-liu-zhang.md, 7, item 10.
    """
    rng, d = np.random.default_rng(3), 6
    basis, _ = np.linalg.qr(rng.standard_normal((d, d)))
    spectrum = np.linspace(strong, smooth, d)
    hessian, best = basis @ np.diag(spectrum) @ basis.T, 0.9 * basis[:, 0]
    rule = Descent(steps=30, step_size=1 / (strong + smooth))
    descended = descend(Ball(d=d, radius=1.0), rule, lambda w, _: hessian @ (w - best))
    distances = np.linalg.norm(descended.path.points - best, axis=1)
    factor = smooth / (strong + smooth)
    assert np.all(distances[1:] <= distances[:-1] * factor + 1e-15)
    assert distances[-1] == pytest.approx(0.9 * factor**30, rel=1e-9), "attained along one axis"
    assert factor <= 1 - strong * smooth / (strong + smooth) ** 2


def test_one_step_with_queried_points_returns_the_start() -> None:
    """This is Algorithm 1 of Zhao et al. at T = 1: theory/zhao-et-al.md, 7.3, item 28."""
    ball = Ball(d=3, radius=2.0)
    rule = Descent(steps=1, step_size=1.0, queried=True)
    descended = descend(ball, rule, lambda w, _: np.ones(3))
    np.testing.assert_array_equal(descended.value, ball.centre)
    np.testing.assert_array_equal(descended.path.points, [[0, 0, 0], [-1, -1, -1]])
    result = descend(ball, Descent(steps=1, step_size=1.0), lambda w, _: np.ones(3))
    np.testing.assert_array_equal(result.value, [-1, -1, -1])


def test_the_oracle_is_called_once_per_step_at_the_point_of_that_step() -> None:
    queries: list[tuple[int, float]] = []

    def oracle(w: Array, t: int) -> Array:
        """Record the step and its point, and return a constant gradient."""
        queries.append((t, float(w[0])))
        return np.array([-1.0])

    rule = Descent(steps=4, step_size=0.25, queried=True)
    descended = descend(Ball(d=1, radius=9.0), rule, oracle)
    assert queries == [(0, 0.0), (1, 0.25), (2, 0.5), (3, 0.75)]
    assert descended.value.tolist() == [0.375]
    descended = descend(Ball(d=1, radius=9.0), Descent(steps=4, step_size=0.25, averaged=2), oracle)
    assert descended.value.tolist() == [0.875]


@pytest.mark.parametrize("steps", [1, 2, 199, 200, 201, 1000, 54_321])
def test_the_path_has_its_start_its_end_and_at_most_about_a_hundred_points(steps: int) -> None:
    rule = Descent(steps=steps, step_size=1.0)
    descended = descend(Ball(d=1, radius=1e9), rule, lambda w, _: np.array([-1.0]))
    path = descended.path
    assert path.steps[0] == 0 and path.steps[-1] == steps
    assert len(path.steps) == len(path.points) == min(steps, KEPT_ITERATES) + 1
    assert np.all(np.diff(path.steps) >= 1)
    assert np.diff(path.steps).max() <= steps / KEPT_ITERATES + 2
    np.testing.assert_array_equal(path.points[:, 0], path.steps)
    np.testing.assert_array_equal(path.points[-1], descended.value)


def test_points_of_the_path_are_copies() -> None:
    gradient = np.zeros(1)

    def oracle(w: Array, t: int) -> Array:
        """Return the same gradient at every point."""
        return gradient

    descended = descend(Ball(d=1, radius=1.0), Descent(steps=3, step_size=0.0 + 1e-9), oracle)
    gradient += 5.0
    np.testing.assert_array_equal(descended.path.points, np.zeros((4, 1)))


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("steps", 0),
        ("steps", 2.0),
        ("step_size", 0.0),
        ("step_size", math.inf),
        ("step_size", math.nan),
        ("averaged", 0),
        ("averaged", 4),
    ],
)
def test_a_descent_out_of_range_is_refused(name: str, bad: Any) -> None:
    """An average of more points than there are would have too large a divisor."""
    with pytest.raises(InvalidInput, match=f"^{name} must be"):
        Descent(**({"steps": 3, "step_size": 0.1} | {name: bad}))
