"""Minimisers of objective perturbation's objective in 50 digits, by Newton on the KKT equations.

The equations are those of the constraints that are active at a start near the minimiser; their
residual is computed in 50 digits, a step in doubles. The result is checked: the equations hold,
multipliers have their sign, and the point is in the set. By strong convexity it is then the
minimiser, whatever the start.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp, mpf
from numpy.typing import NDArray
from scipy.special import expit

from dpsco_core.geometry import (
    Ball,
    Box,
    ConstraintSet,
    L1Ball,
    LqBall,
    Simplex,
    SolidSimplex,
)
from dpsco_core.problems.samples.linear import LinearSample

Array = NDArray[np.float64]
Point = list[Any]  # A point is a list of mpf numbers.
DIGITS = 50
# Points within this relative distance of the boundary are taken to lie on it.
BOUNDARY_TOLERANCE = 1e-9


def exact(values: Array) -> Point:
    """Return floats as numbers of mpmath."""
    return [mpf(float(v)) for v in values]


def rounded(values: Point) -> Array:
    """Return numbers of mpmath as an array of floats."""
    return np.array([float(v) for v in values])


class Objective:
    """The logistic risk with shrunk features, plus <tilt, w> and ridge |w|^2."""

    def __init__(self, losses: LinearSample, tilt: Array, ridge: float) -> None:
        """Keep the records, the linear term and the ridge with extended precision."""
        assert losses.shrink is not None
        features = losses.features.x
        self.x = [
            [mpf(float(v)) * mpf(float(factor)) for v in row]
            for row, factor in zip(features, losses.shrink, strict=True)
        ]
        self.rounded = features * losses.shrink[:, None]
        self.targets, self.tilt, self.modulus = exact(losses.targets), exact(tilt), 2 * mpf(ridge)

    def gradient(self, w: Point) -> Point:
        """Return the gradient at w."""
        entries = [t + self.modulus * v for t, v in zip(self.tilt, w, strict=True)]
        for row, target in zip(self.x, self.targets, strict=True):
            slope = (1 / (1 + mp.exp(-mp.fdot(row, w))) - target) / len(self.x)
            entries = [g + slope * v for g, v in zip(entries, row, strict=True)]
        return entries

    def hessian(self, w: Array) -> Array:
        """Return the Hessian at w, in floats."""
        chance = expit(self.rounded @ w)
        weighted = self.rounded.T * (chance * (1 - chance))
        weighted_products: Array = weighted @ self.rounded / len(self.x)
        return weighted_products + float(self.modulus) * np.eye(len(w))


class Surface:
    """The constraint h(w) <= 0 of a set with smooth boundary, with gradient and diagonal Hessian.

    h is (sum of (|w_j|/a_j)^q - 1) / q.
    """

    def __init__(self, body: ConstraintSet) -> None:
        """Read the axes and the exponent of the set's boundary."""
        match body:
            case Ball():
                self.axes, self.power = [mpf(body.radius)] * body.d, mpf(2)
            case LqBall():
                self.axes, self.power = [mpf(body.radius)] * body.d, mpf(body.exponent)
            case _:
                raise NotImplementedError(type(body).__name__)

    def value(self, w: Point) -> Any:
        """Return the constraint function h at w, which is zero on the surface and
        negative inside.
        """
        parts = (abs(v / a) ** self.power for v, a in zip(w, self.axes, strict=True))
        return (mp.fsum(parts) - 1) / self.power

    def gradient(self, w: Point) -> Point:
        """Return the gradient of the constraint function h at w."""
        sides = zip(w, self.axes, strict=True)
        return [mp.sign(v) * abs(v / a) ** (self.power - 1) / a for v, a in sides]

    def hessian(self, w: Array) -> Array:
        """Return the Hessian of the constraint function h at w, in floats."""
        axes, power = rounded(self.axes), float(self.power)
        return np.diag((power - 1) * np.maximum(np.abs(w) / axes, 1e-60) ** (power - 2) / axes**2)


def find_minimiser(body: ConstraintSet, objective: Objective, start: Array) -> Point:
    """Return the minimiser of an objective over `body`; raise `AssertionError` if it cannot be
    certified.
    """
    with mp.workdps(DIGITS):
        if isinstance(body, Box | L1Ball | Simplex | SolidSimplex):
            return _on_a_polytope(body, objective, start)
        return _in_a_smooth_set(Surface(body), objective, start)


def distance(point: Point, array: Array) -> float:
    """Return the Euclidean distance of an exact point from an array."""
    with mp.workdps(DIGITS):
        return float(mp.norm([a - b for a, b in zip(point, exact(array), strict=True)]))


def _solve(matrix: Array, residual: list[Any]) -> Array:
    """Return a Newton step, with rows and columns scaled, since sets and ridges have all sizes."""
    scale = 1 / np.sqrt(np.maximum(np.abs(matrix).max(axis=0), 1e-300))
    scaled = matrix * scale[:, None] * scale
    size = max(abs(v) for v in residual) or mpf(1)
    right = np.array([float(v / size) for v in residual]) * scale
    step: Array = -np.linalg.solve(scaled, right) * scale * float(size)
    return step


def _in_a_smooth_set(surface: Surface, objective: Objective, start: Array) -> Point:
    """Return the minimiser in a set with a smooth surface, by Newton's method from a start."""
    d, w = len(start), exact(start)
    g = objective.gradient(w)
    size = mp.norm(w) + mpf(10) ** -300
    active = surface.value(w) > -BOUNDARY_TOLERANCE and mp.fdot(g, w) < 0
    multiplier = mpf(0)
    if active:
        normal = surface.gradient(w)
        multiplier = -mp.fdot(g, normal) / mp.fdot(normal, normal)
    for _ in range(300):
        hessian = objective.hessian(rounded(w))
        if active:
            normal, row = surface.gradient(w), rounded(surface.gradient(w))
            hessian = hessian + float(multiplier) * surface.hessian(rounded(w))
            matrix = np.block([[hessian, row[:, None]], [row[None, :], np.zeros((1, 1))]])
            residual = [a + multiplier * b for a, b in zip(g, normal, strict=True)]
            residual.append(surface.value(w))
        else:
            matrix, residual = hessian, g
        step = _solve(matrix, residual)
        w = [a + mpf(float(b)) for a, b in zip(w, step[:d], strict=True)]
        if active:
            multiplier += mpf(float(step[d]))
        g = objective.gradient(w)
        if float(np.linalg.norm(step[:d])) < 1e-22 * size:
            break
    else:
        raise AssertionError("Newton's method has not converged")
    assert multiplier >= 0 if active else surface.value(w) <= 0
    return w


def _on_a_polytope(body: Any, objective: Objective, start: Array) -> Point:
    """Return the minimiser on a polytope, by Newton's method on the right face."""
    g = rounded(objective.gradient(exact(start)))
    signs = np.sign(start) if isinstance(body, Box | L1Ball) else np.ones(len(start))
    tight = isinstance(body, Simplex)
    if isinstance(body, Box):
        fixed = (np.abs(start) >= body.half_widths * (1 - 1e-12)) & (g * start < 0)
    else:
        fixed = start == 0
        tight |= bool(np.abs(start).sum() >= body.radius * (1 - 1e-12))
    for _ in range(20):
        w, multiplier = _on_a_face(body, objective, start, fixed, signs, tight)
        g_exact = objective.gradient(w)
        wrong = _wrong(body, w, g_exact, multiplier, fixed, signs)
        if not wrong and (multiplier >= 0 or isinstance(body, Simplex)):
            assert tight or isinstance(body, Box) or mp.fsum(abs(v) for v in w) <= body.radius
            return w
        tight = tight and (multiplier >= 0 or isinstance(body, Simplex))
        for j in wrong:  # An entry was wrongly taken for 0 or for a bound, or wrongly not.
            fixed[j] = not fixed[j]
            if isinstance(body, Box) and fixed[j]:
                signs[j] = float(mp.sign(w[j]))
            elif isinstance(body, L1Ball) and not fixed[j]:
                signs[j] = -float(mp.sign(g_exact[j]))
    raise AssertionError("no face of the polytope has the minimiser")


def _on_a_face(
    body: Any, objective: Objective, start: Array, fixed: Any, signs: Array, tight: bool
) -> tuple[Point, Any]:
    """Return the minimiser on a face's affine hull, and the multiplier of a tight sum
    constraint.
    """
    w, free = exact(start), np.flatnonzero(~fixed)
    for j in np.flatnonzero(fixed):
        w[j] = mpf(float(signs[j] * body.half_widths[j])) if isinstance(body, Box) else mpf(0)
    size, multiplier = mp.norm(w) + mpf(10) ** -300, mpf(0)
    if tight and len(free):
        g = objective.gradient(w)
        multiplier = -mp.fsum(g[j] * int(signs[j]) for j in free) / len(free)
    for _ in range(300 if len(free) else 0):
        gradient = objective.gradient(w)
        residual = [gradient[j] + (multiplier * int(signs[j]) if tight else 0) for j in free]
        matrix = objective.hessian(rounded(w))[np.ix_(free, free)]
        if tight:
            row = signs[free]
            matrix = np.block([[matrix, row[:, None]], [row[None, :], np.zeros((1, 1))]])
            residual.append(mp.fsum(w[j] * int(signs[j]) for j in free) - mpf(body.radius))
        step = _solve(matrix, residual)
        for i, j in enumerate(free):
            w[j] += mpf(float(step[i]))
        if tight:
            multiplier += mpf(float(step[-1]))
        if float(np.linalg.norm(step[: len(free)])) < 1e-22 * size:
            break
    else:
        assert not len(free), "Newton's method has not converged"
    return w, multiplier


def _wrong(
    body: Any, w: Point, g: Point, multiplier: Any, fixed: NDArray[np.bool_], signs: Array
) -> list[int]:
    """Return the coordinates at which the KKT conditions fail."""
    slack = mpf(10) ** -20 * max(mp.norm(g), mpf(10) ** -280)

    def holds(j: int) -> bool:
        """Return whether coordinate j satisfies its condition of optimality."""
        if isinstance(body, Box):
            is_inside = abs(w[j]) <= mpf(float(body.half_widths[j]))
            return bool(g[j] * w[j] <= 0 if fixed[j] else is_inside)
        if not fixed[j]:
            return bool(w[j] * int(signs[j]) >= 0)
        if isinstance(body, L1Ball):
            return bool(abs(g[j]) <= multiplier + slack)
        return bool(g[j] + multiplier >= -slack)

    return [j for j in range(len(w)) if not holds(j)]
