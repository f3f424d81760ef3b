"""The certified solvers: certificates bound the truth, and every private run has one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsco_core.base.errors import InvalidInput
from dpsco_core.geometry.ball import Ball
from dpsco_core.methods.euclidean import solver
from dpsco_core.methods.euclidean.solver import (
    Certified,
    certificate,
    minimise_strongly_convex,
    spectral_descent,
    staged_subgradients,
)

Array = NDArray[np.float64]


def quadratic(seed: int, d: int, modulus: float, smoothness: float) -> tuple[Array, Array]:
    """Return a Hessian with the given extreme eigenvalues, and a linear term."""
    rng = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(rng.standard_normal((d, d)))
    eigenvalues = np.geomspace(modulus, smoothness, d)
    return rotation @ np.diag(eigenvalues) @ rotation.T, rng.standard_normal(d)


def minimiser(hessian: Array, c: Array, radius: float) -> Array:
    """Return the minimiser of w'Hw/2 + c'w over the ball, by bisection on the multiplier."""
    d, low, high = len(c), 0.0, 1e6
    w = np.linalg.solve(hessian, -c)
    if np.linalg.norm(w) <= radius:
        return w
    for _ in range(200):
        middle = (low + high) / 2
        w = np.linalg.solve(hessian + middle * np.eye(d), -c)
        low, high = (middle, high) if np.linalg.norm(w) > radius else (low, middle)
    return w


@pytest.mark.parametrize("radius", [0.05, 1.0, 100.0])
@pytest.mark.parametrize("modulus", [1e-3, 0.1])
def test_the_certificate_bounds_the_suboptimality_and_the_distance(
    radius: float, modulus: float
) -> None:
    """Points are random in the ball, on its sphere, and near minimisers inside and outside."""
    rng = np.random.default_rng(1)
    for seed in range(20):
        hessian, c = quadratic(seed, 6, modulus, 3.0)
        ball, best = Ball(d=6, radius=radius), minimiser(hessian, c, radius)

        def risk(w: Array, hessian: Array = hessian, c: Array = c) -> float:
            """Return the quadratic at w."""
            return float(w @ hessian @ w / 2 + c @ w)

        for scale in (10.0, 1.0, 1e-2, 1e-5):
            w = ball.project(best + scale * radius * rng.standard_normal(6))
            g = hessian @ w + c
            excess = risk(w) - risk(best)
            for mu in (0.0, modulus):
                bound = certificate(ball, w, g, mu)
                assert bound >= excess - 1e-13 * radius * np.linalg.norm(g)
            assert np.linalg.norm(w - best) <= math.sqrt(2 * bound / modulus) * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("radius", [0.1, 30.0])
@pytest.mark.parametrize("stall", [False, True])
def test_a_strongly_convex_run_is_certified(
    radius: float, stall: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is tried with the fast heuristic, and with one that gives up at once."""
    if stall:

        def lazy(gradient: object, ball: Ball, **_: object) -> Certified:
            """Return the centre of the ball, with no certificate."""
            return Certified(value=ball.centre, accuracy=math.inf, gradient_calls=1)

        monkeypatch.setattr(solver, "spectral_descent", lazy)
    for seed in range(4):
        hessian, c = quadratic(seed, 8, 2e-3, 2.0)
        calls = 0

        def gradient(w: Array, hessian: Array = hessian, c: Array = c) -> Array:
            """Return the gradient of the quadratic, and count the call."""
            nonlocal calls
            calls += 1
            return hessian @ w + c

        solved = minimise_strongly_convex(
            gradient, Ball(d=8, radius=radius), smoothness=2.0, modulus=2e-3, accuracy=1e-18
        )
        assert solved.accuracy <= 1e-18
        assert solved.gradient_calls in (calls, calls + 1)
        best = minimiser(hessian, c, radius)
        # This is the distance that objective perturbation relies on, up to the rounding of the
        # reference.
        assert np.linalg.norm(solved.value - best) <= math.sqrt(2e-18 / 2e-3) + 1e-9
        assert np.linalg.norm(solved.value) <= radius * (1 + 1e-12)


def test_the_accelerated_loop_needs_the_number_of_steps_of_its_rate() -> None:
    """Once the heuristic has stalled, sqrt(M/mu) ln(...) steps suffice."""
    hessian, c = quadratic(0, 30, 1e-4, 1.0)
    ball = Ball(d=30, radius=1.0)
    original = solver.spectral_descent

    def stalled(gradient: object, ball: Ball, **_: object) -> Certified:
        """Return the centre of the ball, with no certificate."""
        return Certified(value=ball.centre, accuracy=math.inf, gradient_calls=0)

    solver.spectral_descent = stalled  # type: ignore[assignment]
    try:
        solved = minimise_strongly_convex(
            lambda w: hessian @ w + c, ball, smoothness=1.0, modulus=1e-4, accuracy=1e-12
        )
    finally:
        solver.spectral_descent = original
    start = 2 * ball.radius * float(np.linalg.norm(c)) + 1e-4 * ball.radius**2
    sufficient = (1e-12 / (2 * ball.radius)) ** 2 / 2
    steps = math.sqrt(1e4) * math.log(start / sufficient)
    assert solved.gradient_calls <= 1.2 * steps + 10


def test_a_linear_loss_is_minimised_on_the_sphere() -> None:
    c = np.array([3.0, -4.0])
    solved = spectral_descent(lambda w: c, Ball(d=2, radius=2.0), relative_accuracy=1e-9)
    np.testing.assert_allclose(solved.value, [-1.2, 1.6], rtol=1e-9)


@pytest.mark.parametrize("radius", [0.3, 5.0])
def test_kinks_are_minimised_and_the_certificate_holds(radius: float) -> None:
    """The mean distance to points along a line is minimised by a median, found on a fine grid."""
    rng = np.random.default_rng(0)
    points = np.sort(rng.standard_normal(101) + 1)
    ball = Ball(d=1, radius=radius)

    def risk(w: float) -> float:
        """Return the mean absolute distance from the points."""
        return float(np.abs(points - w).mean())

    solved = staged_subgradients(
        lambda w: np.array([np.sign(w[0] - points).mean()]),
        ball,
        step_size=radius,
        relative_accuracy=1e-3,
        limit=400,
    )
    best = min(risk(w) for w in np.linspace(-radius, radius, 20_001))
    assert -1e-9 <= risk(float(solved.value[0])) - best <= solved.accuracy
    assert solved.accuracy <= 1e-3 * radius
    assert solved.gradient_calls <= 400


def test_an_impossible_request_is_refused() -> None:
    ball = Ball(d=1, radius=1.0)
    with pytest.raises(InvalidInput, match="modulus"):
        minimise_strongly_convex(lambda w: w, ball, smoothness=1.0, modulus=0.0, accuracy=1e-3)
    with pytest.raises(InvalidInput, match="accuracy"):
        minimise_strongly_convex(lambda w: w, ball, smoothness=1.0, modulus=1.0, accuracy=0.0)
