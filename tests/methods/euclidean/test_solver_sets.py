"""The certified solvers on every convex set.

Faults that these tests would catch: a certificate that another set's support function gave, a
residual with the wrong sign or step, a run that ends uncertified on some set, a solver that leans
on the ball.
"""

from __future__ import annotations

import math
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpsco_core.data import DenseRows
from dpsco_core.geometry import Ball, ConstraintSet, L1Ball
from dpsco_core.methods.euclidean import solver
from dpsco_core.methods.euclidean.solver import (
    Certified,
    certificate,
    certify_settled,
    minimise_strongly_convex,
    residual_bound,
    spectral_descent,
    staged_subgradients,
)
from dpsco_core.problems.links import AbsoluteLink, HingeLink, LogisticLink, SquaredLink
from dpsco_core.problems.samples.linear import LinearSample
from tests.folded import each, one_in
from tests.geometry.sets import NAMES, D, all_sets
from tests.geometry.test_projections import constraints

Array = NDArray[np.float64]
SETS = all_sets()
MODULUS, SMOOTHNESS = 2e-3, 2.0


def quadratic(seed: int, modulus: float = MODULUS, smoothness: float = SMOOTHNESS) -> Any:
    """Return a Hessian and a linear term; the unconstrained minimiser is often outside the set."""
    rng = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(rng.standard_normal((D, D)))
    hessian = rotation @ np.diag(np.geomspace(modulus, smoothness, D)) @ rotation.T
    return (hessian + hessian.T) / 2, rng.standard_normal(D)


def minimiser(constraint: ConstraintSet, hessian: Array, c: Array, smoothness: float) -> Array:
    """Return the minimiser by accelerated projected gradients to an error of e^-45, uncertified."""
    root = math.sqrt(np.linalg.eigvalsh(hessian)[0] / smoothness)
    momentum = (1 - root) / (1 + root)
    x = y = constraint.centre
    for _ in range(int(45 / root)):
        new = constraint.project(y - (hessian @ y + c) / smoothness)
        x, y = new, new + momentum * (new - x)
    return x


@pytest.mark.parametrize("name", one_in(3, NAMES))
def test_certificates_bound_the_suboptimality_and_the_distance(name: str) -> None:
    """Points are random, or follow gradient steps of any length from near the minimiser."""
    constraint = SETS[name]
    for seed in range(3):
        hessian, c = quadratic(seed, modulus=0.05)
        best = minimiser(constraint, hessian, c, SMOOTHNESS)

        def risk(w: Array, hessian: Array = hessian, c: Array = c) -> float:
            """Return the quadratic at w."""
            return float(w @ hessian @ w / 2 + c @ w)

        rng = np.random.default_rng(seed)
        size = constraint.l2_radius
        for scale in (10.0, 1.0, 1e-2, 1e-5):
            w = constraint.project(best + scale * size * rng.standard_normal(D))
            g = hessian @ w + c
            slack = 1e-13 * size * float(np.linalg.norm(g))
            assert certificate(constraint, w, g) >= risk(w) - risk(best) - slack
            assert certificate(constraint, w, g, 0.05) >= risk(w) - risk(best) - slack
            for step in (0.01, 0.5, 20.0):
                v = w - step * g
                u = constraint.project(v)
                bound = residual_bound(u, hessian @ u + c, v, step, 0.05)
                assert bound >= risk(u) - risk(best) - slack
                distance = float(np.linalg.norm(u - best))
                assert distance <= math.sqrt(2 * bound / 0.05) * (1 + 1e-6) + 1e-10


@pytest.mark.parametrize("name", NAMES)
def test_the_residual_bound_is_second_order_where_the_gap_is_first(name: str) -> None:
    """Near the minimiser the gap shrinks like the distance, the residual like its square."""
    constraint = SETS[name]
    hessian, c = quadratic(7, modulus=0.2)
    best = minimiser(constraint, hessian, c, SMOOTHNESS)
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1e-5):
        w = constraint.project(best + scale * rng.standard_normal(D))
        v = w - (hessian @ w + c) / SMOOTHNESS
        u = constraint.project(v)
        bound = residual_bound(u, hessian @ u + c, v, 1 / SMOOTHNESS, 0.2)
        assert bound <= (2 * SMOOTHNESS * scale * 3 * math.sqrt(D)) ** 2 / 0.4


@given(st.integers(0, 10**6), st.sampled_from(NAMES))
@settings(max_examples=60, deadline=None)
def test_settling_keeps_what_a_step_has_reached(seed: int, name: str) -> None:
    """The residual after a step of length 1/M is at most that of any step before it."""
    constraint = SETS[name]
    if isinstance(constraint, Ball):
        return
    hessian, c = quadratic(seed)
    rng = np.random.default_rng(seed)
    w = constraint.project(rng.standard_normal(D))
    step = math.exp(rng.uniform(-2, 6))
    v = w - step * (hessian @ w + c)
    u = constraint.project(v)
    step_bound = residual_bound(u, hessian @ u + c, v, step, MODULUS)
    solved = certify_settled(lambda x: hessian @ x + c, constraint, u, SMOOTHNESS, MODULUS)
    assert solved.accuracy <= step_bound * (1 + 1e-9) + 1e-24


@pytest.mark.parametrize(
    ("stall", "modulus"),
    [
        (True, 10 * MODULUS),
        pytest.param(True, MODULUS, marks=pytest.mark.slow),
        pytest.param(False, MODULUS, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_a_strongly_convex_run_is_certified_on_every_set(
    name: str, stall: bool, modulus: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is tried with the fast heuristic, and with one that gives up at once."""
    if stall:
        # On sets other than the ball the heuristic even claims to have arrived, which must not be
        # trusted.
        claimed = math.inf if isinstance(SETS[name], Ball) else 0.0
        monkeypatch.setattr(
            solver,
            "spectral_descent",
            lambda _, c, **k: Certified(value=c.centre, gradient_calls=0, accuracy=claimed),
        )
    constraint, accuracy = SETS[name], 1e-18
    for seed in range(1 if stall else 2):  # Two seeds with the heuristic are in the slow suite.
        hessian, c = quadratic(seed, modulus)
        calls = 0

        def gradient(w: Array, hessian: Array = hessian, c: Array = c) -> Array:
            """Return the gradient of the quadratic, and count the call."""
            nonlocal calls
            calls += 1
            return hessian @ w + c

        solved = minimise_strongly_convex(
            gradient, constraint, smoothness=SMOOTHNESS, modulus=modulus, accuracy=accuracy
        )
        assert solved.accuracy <= accuracy
        assert solved.gradient_calls == calls
        assert constraint.contains(solved.value, 1e-12)
        best = minimiser(constraint, hessian, c, SMOOTHNESS)
        distance = float(np.linalg.norm(solved.value - best))
        assert distance <= math.sqrt(2 * accuracy / modulus) + 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_a_linear_loss_is_minimised_at_a_support_point(name: str) -> None:
    constraint = SETS[name]
    c = np.random.default_rng(2).standard_normal(D)
    solved = spectral_descent(lambda w: c, constraint, relative_accuracy=1e-9)
    assert solved.accuracy <= 1e-8 * constraint.l2_radius * np.linalg.norm(c)
    value = float(c @ constraint.support_point(-c))
    assert float(c @ solved.value) == pytest.approx(value, rel=1e-7)


LINKS = {"logistic": LogisticLink(), "squared": SquaredLink()}
KINKED = {"hinge": HingeLink(), "absolute": AbsoluteLink()}


def linear_sample(name: str, link: Any, constraint: ConstraintSet) -> LinearSample:
    """Return a sample of a linear model with heavy-tailed targets, or their classes."""
    rng = np.random.default_rng(11)
    x = rng.standard_normal((300, D))
    margin = x @ constraint.support_point(np.linspace(1, 0.1, D))
    y = margin + rng.standard_t(3, 300)
    if name == "logistic":
        y = (y > 0).astype(float)
    elif name == "hinge":
        y = np.sign(y)
    return LinearSample(features=DenseRows(x), targets=y, link=link, constraint=constraint)


@each("loss", LINKS)
@each("name", NAMES)
def test_smooth_risks_are_minimised_to_a_small_certificate(name: str, loss: str) -> None:
    constraint = SETS[name]
    sample = linear_sample(loss, LINKS[loss], constraint)
    solved = spectral_descent(sample.mean_gradient, constraint, relative_accuracy=1e-8, limit=400)
    g = sample.mean_gradient(constraint.centre)
    assert solved.accuracy <= 1e-8 * certificate(constraint, constraint.centre, g)
    assert constraint.contains(solved.value, 1e-12)
    rng = np.random.default_rng(12)
    for scale in (1.0, 1e-2, 1e-4):
        nearby = constraint.project(solved.value + scale * rng.standard_normal(D))
        assert sample.risk(solved.value) <= sample.risk(nearby) + solved.accuracy + 1e-13


@pytest.mark.parametrize("loss", KINKED)
@pytest.mark.parametrize("name", NAMES)
def test_risks_with_kinks_are_minimised_to_a_small_certificate(name: str, loss: str) -> None:
    constraint = SETS[name]
    sample = linear_sample(loss, KINKED[loss], constraint)
    g = sample.mean_gradient(constraint.centre)
    solved = staged_subgradients(
        sample.mean_gradient,
        constraint,
        step_size=constraint.l2_radius / float(np.linalg.norm(g)),
        relative_accuracy=1e-4,
        limit=400,
    )
    assert solved.accuracy <= 5e-3 * certificate(constraint, constraint.centre, g)
    assert constraint.contains(solved.value, 1e-12)


@pytest.mark.parametrize("loss", KINKED)
@pytest.mark.parametrize("name", ["l1", "simplex", "cube", "l1.5", "sparse", "group"])
def test_the_certificate_for_kinks_is_above_the_gap_to_cvxpy(name: str, loss: str) -> None:
    constraint = SETS[name]
    sample = linear_sample(loss, KINKED[loss], constraint)
    x, y = sample.features.x, sample.targets  # type: ignore[attr-defined]
    w = cp.Variable(D)
    margins = x @ w
    losses = cp.pos(1 - cp.multiply(y, margins)) if loss == "hinge" else cp.abs(margins - y)
    problem = cp.Problem(cp.Minimize(cp.sum(losses) / len(y)), constraints(name, w))
    problem.solve(solver=cp.CLARABEL)
    for limit in (20, 100, 400):
        solved = staged_subgradients(
            sample.mean_gradient,
            constraint,
            step_size=constraint.l2_radius,
            relative_accuracy=1e-4,
            limit=limit,
        )
        excess = sample.risk(solved.value) - problem.value
        assert -1e-6 <= excess <= solved.accuracy + 1e-6


def test_the_accelerated_loop_ends_on_an_ill_conditioned_polytope() -> None:
    """The condition number is 1e6 and the start a vertex; the residual, not the gap, certifies."""
    hessian, c = quadratic(3, modulus=2e-6)
    polytope = SETS["l1"]
    assert isinstance(polytope, L1Ball)
    solved = minimise_strongly_convex(
        lambda w: hessian @ w + c, polytope, smoothness=SMOOTHNESS, modulus=2e-6, accuracy=1e-16
    )
    assert solved.accuracy <= 1e-16
