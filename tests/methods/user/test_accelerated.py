"""The accelerated method AC-SA and its stages: the printed step, guarantees and halting."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.geometry import Ball, Box, Simplex
from dpsco_core.methods.user import accelerated_descent, staged_descent
from dpsco_core.methods.user.accelerated.sgd import (
    Curvature,
    State,
    accelerated_gap,
    accelerated_step,
    query_point,
    query_weights,
    stage_lengths,
    staged_gap,
)

CURVES = [Curvature(strong_convexity=mu, smoothness=s) for mu, s in ((0.1, 1.0), (1, 1), (0.01, 3))]
SETS = [Ball(d=4, radius=1.0), Box.cube(4, 0.4), Simplex(d=4, radius=1.0)]


def from_gap(lengths, objective: Curvature, gap: float, variance: float) -> float:
    """Return the bound after some stages from a start whose gap is `gap`, which strong convexity
    turns into a distance.
    """
    return staged_gap(lengths, objective, 2 * gap / objective.strong_convexity, variance)


class Quadratic:
    """(x - c)' H (x - c)/2 on a set, with its constrained minimum by projected descent."""

    def __init__(self, objective: Curvature, constraint, seed: int) -> None:
        """Draw a quadratic with the given curvatures, and find its minimiser on the set."""
        rng = np.random.default_rng(seed)
        rotation, _ = np.linalg.qr(rng.normal(size=(4, 4)))
        curves = np.linspace(objective.strong_convexity, objective.smoothness, 4)
        self.h = rotation * curves @ rotation.T
        self.c = rng.normal(size=4)
        x = constraint.centre
        for _ in range(int(60 * objective.smoothness / objective.strong_convexity)):
            x = constraint.project(x - self.gradient(x) / objective.smoothness)
        self.minimiser = x

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return the gradient of the quadratic at x."""
        return self.h @ (x - self.c)

    def gap(self, x: np.ndarray) -> float:
        """Return the excess of the quadratic at x over its minimum."""
        a, b = x - self.c, self.minimiser - self.c
        return float(a @ self.h @ a - b @ self.h @ b) / 2


@pytest.mark.parametrize("objective", CURVES, ids=str)
@pytest.mark.parametrize("constraint", SETS, ids=lambda c: type(c).__name__)
def test_without_noise_the_gap_is_within_its_guarantee(objective: Curvature, constraint) -> None:
    start = constraint.project(np.ones(4))
    problems = [Quadratic(objective, constraint, seed) for seed in range(3)]
    for problem, steps in itertools.product(problems, (1, 2, 5, 30)):
        run = accelerated_descent(
            start, steps, objective, constraint, lambda x, t, p=problem: p.gradient(x)
        )
        distance = float(np.sum((start - problem.minimiser) ** 2))
        assert constraint.contains(run.value)
        assert problem.gap(run.value) <= accelerated_gap(objective, steps, distance, 0.0) + 1e-12
        assert run.steps == steps and not run.halted


def test_acceleration_is_faster_than_descent() -> None:
    """A fault in the extrapolation gives a rate of 1/T or worse, which 60 steps reveal."""
    objective, constraint = Curvature(strong_convexity=1e-4, smoothness=1.0), Ball(d=60, radius=9.0)
    curves = np.geomspace(1e-4, 1, 60)
    x = y = np.ones(60)
    for _ in range(60):
        x = constraint.project(x - curves * x)
    run = accelerated_descent(y, 60, objective, constraint, lambda w, t: curves * w)
    assert curves @ run.value**2 < 0.3 * curves @ x**2


@pytest.mark.parametrize("objective", CURVES, ids=str)
def test_with_noise_the_mean_gap_is_within_its_guarantee(objective: Curvature) -> None:
    constraint, rng, std, runs = Ball(d=4, radius=1.0), np.random.default_rng(0), 0.5, 300
    problem, start = Quadratic(objective, constraint, 1), np.zeros(4)
    distance, variance = float(problem.minimiser @ problem.minimiser), 4 * std**2
    for lengths in ((1,), (8,), (40,), (6, 12, 20)):
        gaps = [
            problem.gap(
                staged_descent(
                    start,
                    lengths,
                    objective,
                    constraint,
                    lambda x, t: problem.gradient(x) + rng.normal(scale=std, size=4),
                ).value
            )
            for _ in range(runs)
        ]
        mean, error = np.mean(gaps), np.std(gaps) / math.sqrt(runs)
        if len(lengths) == 1:
            bound = accelerated_gap(objective, lengths[0], distance, variance)
        else:
            bound = from_gap(lengths, objective, problem.gap(start), variance)
        assert 0 < mean <= bound + 4.9 * error


def test_weights_of_the_query_point_sum_to_one_and_the_first_is_the_start() -> None:
    for objective, t in itertools.product(CURVES, (1, 2, 3, 10, 1000)):
        assert sum(query_weights(objective, t)) == pytest.approx(1, rel=1e-14)
    start = State(point=np.array([1.0, 2.0]), aggregate=np.array([1.0, 2.0]))
    np.testing.assert_allclose(query_point(start, CURVES[0]), [1.0, 2.0], rtol=1e-15)


@pytest.mark.parametrize("objective", CURVES, ids=str)
@pytest.mark.parametrize("constraint", SETS, ids=lambda c: type(c).__name__)
def test_one_step_is_a_projected_step(objective: Curvature, constraint) -> None:
    rng = np.random.default_rng(3)
    start, gradient = constraint.project(rng.normal(size=4)), rng.normal(size=4)
    new_state = accelerated_step(
        State(point=start, aggregate=start), gradient, objective, constraint
    )
    step = gradient / (objective.strong_convexity + 2 * objective.smoothness)
    np.testing.assert_allclose(new_state.aggregate, constraint.project(start - step), atol=1e-14)
    assert new_state.steps == 1


def test_the_second_step_is_the_printed_one() -> None:
    mu, smooth, constraint = 0.5, 2.0, Ball(d=2, radius=100.0)
    objective = Curvature(strong_convexity=mu, smoothness=smooth)
    x, ag, g = np.array([1.0, -1.0]), np.array([0.5, 3.0]), np.array([0.2, 0.7])
    alpha, gamma = 2 / 3, 4 * smooth / 6
    whole = gamma + (1 - alpha**2) * mu
    md = (1 - alpha) * (mu + gamma) / whole * ag + alpha * ((1 - alpha) * mu + gamma) / whole * x
    new = (alpha * mu * md + ((1 - alpha) * mu + gamma) * x - alpha * g) / (mu + gamma)
    state = State(point=x, aggregate=ag, steps=1)
    np.testing.assert_allclose(query_point(state, objective), md, rtol=1e-14)
    new_state = accelerated_step(state, g, objective, constraint)
    np.testing.assert_allclose(new_state.point, new, rtol=1e-14)
    np.testing.assert_allclose(new_state.aggregate, alpha * new + (1 - alpha) * ag, rtol=1e-14)


@pytest.mark.parametrize("objective", CURVES, ids=str)
@pytest.mark.parametrize("variance", [0.0, 1e-4, 1e-2, 10.0])
def test_stages_halve_the_bound_and_use_all_steps(objective: Curvature, variance: float) -> None:
    for steps in (1, 7, 60, 1000):
        lengths = stage_lengths(steps, objective, 1.0, variance)
        assert sum(lengths) == steps
        length = max(
            4 * math.sqrt(objective.smoothness / objective.strong_convexity),
            32 * variance / objective.strong_convexity,
        )
        if math.ceil(length) > steps:
            assert lengths == (steps,)
            continue
        assert lengths[0] == (math.ceil(length) if len(lengths) > 1 else steps)
        for k in range(1, len(lengths) + 1):
            assert from_gap(lengths[:k], objective, 1.0, variance) <= 2.0**-k * (1 + 1e-12)
    assert len(stage_lengths(20_000, objective, 1.0, 0.0)) > 200 / math.sqrt(300)


def test_stages_converge_geometrically_without_noise() -> None:
    objective, constraint = CURVES[2], Ball(d=4, radius=1.0)
    problem = Quadratic(objective, constraint, 2)
    lengths = stage_lengths(1500, objective, 1.0, 0.0)
    run = staged_descent(
        np.zeros(4), lengths, objective, constraint, lambda x, t: problem.gradient(x)
    )
    assert problem.gap(run.value) <= from_gap(lengths, objective, problem.gap(np.zeros(4)), 0.0)
    assert from_gap(lengths, objective, 1.0, 0.0) < 1e-6
    assert run.steps == 1500


def test_an_oracle_that_ends_leaves_the_aggregate_of_the_steps_before() -> None:
    objective, constraint = CURVES[0], Ball(d=4, radius=1.0)
    problem, queried_steps = Quadratic(objective, constraint, 0), []

    def oracle(x: np.ndarray, t: int) -> np.ndarray | None:
        """Record a step; return the gradient, or None from step 5 on."""
        queried_steps.append(t)
        return problem.gradient(x) if t < 5 else None

    start = np.full(4, 0.1)
    run = staged_descent(start, (3, 9, 4), objective, constraint, oracle)
    assert run.halted and run.steps == 5 and queried_steps == [0, 1, 2, 3, 4, 5]
    five = staged_descent(start, (3, 2), objective, constraint, lambda x, t: problem.gradient(x))
    np.testing.assert_array_equal(run.value, five.value)
    halted_run = staged_descent(start, (3,), objective, constraint, lambda x, t: None)
    assert halted_run.halted and halted_run.steps == 0 and (halted_run.value == start).all()


@pytest.mark.parametrize(
    ("mu", "smooth", "sentence"),
    [
        (0.0, 1.0, "strong_convexity must be a positive number, got strong_convexity=0.0"),
        (2.0, 1.0, "smoothness must be finite and at least strong_convexity, got smoothness=1.0"),
        (2.0, math.inf, "smoothness must be finite"),
    ],
)
def test_an_objective_refuses_what_has_no_guarantee(
    mu: float, smooth: float, sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        Curvature(strong_convexity=mu, smoothness=smooth)
    for steps in (0, -1):
        with pytest.raises(InvalidInput, match="steps must be a positive integer"):
            stage_lengths(steps, CURVES[0], 1.0, 0.0)
