"""Constrained mirror steps: optimal by their variational inequality, and against a generic solver.

Faults that these tests would catch: a root in the wrong variable, a step that ignores where it
starts, and powers that overflow for exponents close to 1.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.geometry import (
    Ball,
    Box,
    ConstraintSet,
    EntropyMirror,
    GroupBall,
    L1Ball,
    LqBall,
    PowerMirror,
    RegularSpace,
    Simplex,
    SolidSimplex,
    bregman_point,
    lq_norm,
    mirror_step,
)
from tests.folded import each
from tests.geometry.sets import divergence

D = 6
S = (1.05, 1.2, 1.5, 1.9, 2.0, 3.0)


def sets(s: float, scale: float = 1.0, d: int = D) -> dict[str, ConstraintSet]:
    """Return constraint sets for steps of the mirror map of exponent s, by name."""
    widths = np.random.default_rng(1).uniform(0.05, 0.6, d)
    return {
        "own ball": LqBall(d=d, exponent=s, radius=0.5 * scale),
        "box": Box(half_widths=widths * scale),
        "l1": L1Ball(d=d, radius=0.8 * scale),
        "simplex": Simplex(d=d, radius=0.7 * scale),
        "solid simplex": SolidSimplex(d=d, radius=0.6 * scale),
        "l1.3": LqBall(d=d, exponent=1.3, radius=0.5 * scale),
        "l4": LqBall(d=d, exponent=4.0, radius=0.4 * scale),
        "l2": Ball(d=d, radius=0.45 * scale),
    }


NAMES = tuple(sets(1.5))


def residual(mirror: PowerMirror, c: ConstraintSet, u: np.ndarray, w: np.ndarray) -> float:
    """Return the largest <u - grad Phi(w), v - w> over v in C, over |u| |w|: 0 only at the
    minimiser.
    """
    slope = u - mirror.gradient(w)
    scale = lq_norm(u, 2.0) * max(lq_norm(w, 2.0), 1e-3 * c.l2_radius)
    return abs(c.support(slope) - float(slope @ w)) / scale


@each("s", S)
@each("name", NAMES)
@each("scale", [1e-140, 1.0, 1e140])
def test_a_step_is_feasible_and_optimal(s: float, name: str, scale: float) -> None:
    mirror, constraint = PowerMirror(exponent=s, kappa=1.7), sets(s, scale)[name]
    rng = np.random.default_rng(2)
    for size in (0.1, 2.0, 50.0):
        u = rng.standard_normal(D) * size * scale
        u[1] = 0
        w = bregman_point(mirror, constraint, u)
        assert constraint.contains(w, 1e-12)
        assert residual(mirror, constraint, u, w) <= 1e-12


@each("s", [1.2, 1.5, 1.9, 3.0])
@each("name", NAMES)
def test_a_step_is_that_of_a_generic_solver(s: float, name: str) -> None:
    mirror, constraint = PowerMirror(exponent=s, kappa=1.7), sets(s)[name]
    rng = np.random.default_rng(3)
    w0 = np.abs(constraint.project(rng.standard_normal(D))) + 0.01
    w0 = constraint.project(w0)
    g = rng.standard_normal(D)

    def objective(w: np.ndarray) -> float:
        """Return the objective of the step."""
        return float(g @ w) + 0.8 * divergence(mirror, w, w0)

    def slope(w: np.ndarray) -> np.ndarray:
        """Return the gradient of the objective."""
        return g + 0.8 * (mirror.gradient(w) - mirror.gradient(w0))

    stepped = mirror_step(mirror, constraint, w0, g, 0.8)
    # The reference is projected gradient descent with the Euclidean projection, from another start.
    w, step = constraint.centre + 0.0, 1.0
    w = constraint.project(w + 0.05)
    for _ in range(4000):
        new = constraint.project(w - step * slope(w))
        while objective(new) > objective(w) + slope(w) @ (new - w) + (
            lq_norm(new - w, 2.0) ** 2 / (2 * step) + 1e-16
        ):
            step /= 2
            new = constraint.project(w - step * slope(w))
        if lq_norm(new - w, 2.0) < 1e-13:
            break
        w, step = new, step * 1.3
    assert objective(stepped) <= objective(w) + 1e-12
    assert objective(w) <= objective(stepped) + 1e-8


@pytest.mark.parametrize("s", [1.3, 1.5, 2.0])
def test_a_step_on_the_simplex_is_that_of_slsqp(s: float) -> None:
    mirror = PowerMirror(exponent=s, kappa=1 / (s - 1))
    g, w0 = np.array([0.5, -1.0, 0.2, 0.0]), np.full(4, 0.25)
    step = mirror_step(mirror, Simplex(d=4, radius=1.0), w0, g, 0.7)
    solution = minimize(
        lambda w: float(g @ w) + 0.7 * divergence(mirror, w, w0),
        w0,
        jac=lambda w: g + 0.7 * (mirror.gradient(w) - mirror.gradient(w0)),
        bounds=[(0, None)] * 4,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-15},
    )
    assert np.abs(step - solution.x).max() < 1e-6
    value = float(g @ step) + 0.7 * divergence(mirror, step, w0)
    assert value <= float(solution.fun) + 1e-12


@each("s", S)
@each("name", [n for n in NAMES if n != "simplex"])
def test_an_interior_minimiser_is_returned_as_it_is(s: float, name: str) -> None:
    mirror, constraint = PowerMirror(exponent=s, kappa=2.0), sets(s)[name]
    inner = np.linspace(0.001, 0.01, D)
    point = bregman_point(mirror, constraint, mirror.gradient(inner))
    assert np.abs(point - inner).max() <= 1e-13


@pytest.mark.parametrize("name", NAMES)
def test_exponent_two_is_the_euclidean_projection(name: str) -> None:
    constraint, mirror = sets(2.0)[name], PowerMirror(exponent=2.0, kappa=1.6)
    rng = np.random.default_rng(4)
    u = rng.standard_normal(D)
    assert np.abs(bregman_point(mirror, constraint, u) - constraint.project(u / 1.6)).max() < 1e-12
    group = GroupBall(d=D, group_size=2, radius=0.3)
    assert np.abs(bregman_point(mirror, group, u) - group.project(u / 1.6)).max() < 1e-15


@pytest.mark.parametrize("q", [1.0, 1.02, 1.1, 1.5])
@pytest.mark.parametrize("d", [2, 300])
def test_steps_of_the_mirror_map_of_a_space(q: float, d: int) -> None:
    """The exponents include the logarithmic branch, where s is not q."""
    mirror = PowerMirror.for_space(RegularSpace(d=d, exponent=q))
    u = np.random.default_rng(5).standard_normal(d) * 30
    for constraint in sets(mirror.exponent, d=d).values():
        w = bregman_point(mirror, constraint, u)
        assert constraint.contains(w, 1e-12)
        assert residual(mirror, constraint, u, w) <= 1e-11


def test_entropy_steps_multiply_weights() -> None:
    mirror, simplex = EntropyMirror(radius=2.0), Simplex(d=3, radius=2.0)
    w0, g = np.array([1.0, 1.0, 0.0]), np.array([1.0, -1.0, -50.0])
    step = mirror_step(mirror, simplex, w0, g, 3.0)
    expected = w0 * np.exp(-g / 3.0 / 2.0)
    assert step == pytest.approx(2 * expected / expected.sum(), rel=1e-14)
    assert step[2] == 0  # A weight of 0 stays 0.


def test_a_set_without_a_known_mirror_step_is_refused() -> None:
    with pytest.raises(NotApplicable, match="No mirror step of exponent 1.5 .* the group-l1 ball"):
        bregman_point(
            PowerMirror(exponent=1.5), GroupBall(d=4, group_size=2, radius=1.0), np.ones(4)
        )
    for wrong in (L1Ball(d=3, radius=1.0), Simplex(d=3, radius=2.0)):
        with pytest.raises(NotApplicable, match="on its simplex only"):
            bregman_point(EntropyMirror(), wrong, np.ones(3))
    for weight in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(InvalidInput, match="weight must be finite and positive"):
            mirror_step(
                PowerMirror(exponent=1.5), L1Ball(d=2, radius=1.0), *np.ones((2, 2)), weight
            )
