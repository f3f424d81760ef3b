"""Projections: optimal by their variational inequality, against cvxpy, and at extreme scales.

Faults that these tests would catch: a threshold off by one entry, a root that stops early, sums
that overflow or cancel, a support function that belongs to another set.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.geometry import (
    Ball,
    Box,
    ConstraintSet,
    GroupBall,
    L1Ball,
    LqBall,
    Simplex,
    SparseHull,
    lq_ball,
    lq_norm,
    row_norms,
)
from tests.folded import crossed, each
from tests.geometry.sets import ASYMMETRIC, NAMES, SYMMETRIC, D, all_sets

Vector = NDArray[np.float64]
SETS = all_sets()


def gap(constraint: ConstraintSet, w: Vector, p: Vector) -> float:
    """Return the maximum over v in C of <w - p, v - p>, which is 0 if and only if p is the
    projection of w.
    """
    return constraint.support(w - p) - float((w - p) @ p)


coordinates = st.one_of(
    st.floats(-3, 3), st.floats(-1e6, 1e6), st.sampled_from([0.0, 0.5, -0.5, 1.0, -1.0, 1e-9])
)
vectors = st.lists(coordinates, min_size=D, max_size=D).map(np.array)


@pytest.mark.parametrize("name", NAMES)
def test_a_projection_is_feasible_optimal_idempotent_and_nonexpansive(name: str) -> None:
    constraint = SETS[name]
    size = constraint.l2_radius

    @given(vectors, vectors)
    @settings(max_examples=60, deadline=None)
    def claims(v: Vector, w: Vector) -> None:
        """Assert the four properties for a pair of points."""
        p, q = constraint.project(v), constraint.project(w)
        assert constraint.contains(p, 1e-12)
        scale = 1e-13 * (size + lq_norm(v - p, 2.0))
        assert abs(gap(constraint, v, p)) <= 100 * size * scale
        assert lq_norm(constraint.project(p) - p, 2.0) <= 1e-11 * size
        slack = 1e-12 * (lq_norm(v, 2.0) + lq_norm(w, 2.0) + size)
        assert lq_norm(p - q, 2.0) <= lq_norm(v - w, 2.0) + slack

    claims()


def constraints(name: str, w: cp.Variable) -> list[cp.Constraint]:
    """Return the same set as constraints of cvxpy."""
    c = SETS[name]
    described: dict[type, Callable[[], list[cp.Constraint]]] = {
        Ball: lambda: [cp.norm2(w) <= c.radius],
        L1Ball: lambda: [cp.norm1(w) <= c.radius],
        Simplex: lambda: [w >= 0, cp.sum(w) == c.radius],
        LqBall: lambda: [cp.pnorm(w, c.exponent, approx=False) <= c.radius],
        Box: lambda: [cp.abs(w) <= c.half_widths],
        GroupBall: lambda: [
            sum(cp.norm2(w[i : i + 3]) for i in range(0, D, c.group_size)) <= c.radius
        ],
        SparseHull: lambda: [
            cp.norm1(w) <= math.sqrt(c.sparsity) * c.radius,
            cp.norm2(w) <= c.radius,
        ],
    }
    if name == "solid simplex":
        return [w >= 0, cp.sum(w) <= c.radius]
    return described[type(c)]()


TIGHT = dict.fromkeys(
    ("tol_gap_abs", "tol_gap_rel", "tol_feas", "tol_infeas_abs", "tol_infeas_rel"), 1e-13
)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # At 1e-13 the solver must warn.
@pytest.mark.parametrize("name", NAMES)
def test_a_projection_is_that_of_cvxpy(name: str) -> None:
    v = np.random.default_rng(8).standard_normal(D) * 1.5
    w = cp.Variable(D)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w - v)), constraints(name, w))
    problem.solve(solver=cp.CLARABEL, **TIGHT)
    assert w.value is not None
    p = SETS[name].project(v)
    # For these sets the solver stops at a gap of 1e-11, so the point may err by the root of that.
    hard = name in ("l40", "sparse")
    assert np.abs(p - w.value).max() <= (1e-6 if hard else 1e-8)
    value = float(np.sum((p - v) ** 2))
    assert value == pytest.approx(problem.value, rel=1e-8)


@each("name", NAMES)
@each("scale", [1e-140, 1e-9, 1e9, 1e140])
def test_a_projection_scales_with_the_set(name: str, scale: float) -> None:
    constraint = all_sets(scale=scale)[name]
    v = np.random.default_rng(9).standard_normal(D) * 1.5
    expected = SETS[name].project(v)
    projected = constraint.project(v * scale) / scale
    assert np.abs(projected - expected).max() <= 1e-11
    assert constraint.contains(projected * scale)
    assert constraint.support(v * scale) / scale / scale == pytest.approx(SETS[name].support(v))


@pytest.mark.parametrize("name", NAMES)
def test_a_far_point_projects_onto_a_face(name: str) -> None:
    """At a distance of 1e12 the projection is a maximiser of <v, .>, to the last digits."""
    constraint = SETS[name]
    v = np.random.default_rng(10).standard_normal(D)
    p = constraint.project(1e12 * v)
    assert constraint.contains(p, 1e-12)
    assert float(v @ p) == pytest.approx(constraint.support(v), rel=1e-9)


@each("name", NAMES)
@each("size", [1e17, 1e300])
def test_huge_entries_cost_no_accuracy(name: str, size: float) -> None:
    constraint = SETS[name]
    v = np.zeros(D)
    v[[2, 7]] = size, -size / 3
    p = constraint.project(v)
    assert constraint.contains(p, 1e-12)
    assert float(v @ p) == pytest.approx(constraint.support(v), rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_points_inside_stay_and_zero_is_allowed(name: str) -> None:
    constraint = SETS[name]
    centre = constraint.centre
    assert constraint.contains(centre)
    assert np.abs(constraint.project(centre) - centre).max() <= 1e-14
    assert constraint.contains(constraint.project(np.zeros(D)), 1e-12)
    assert constraint.project(np.zeros(D)).shape == (D,)
    assert not constraint.contains(np.full(D, 1e3))
    assert not constraint.contains(np.full(D, math.nan))


@pytest.mark.parametrize(("q", "name"), crossed(3, [1.0, 1.3, 2.0, 5.0, math.inf], NAMES))
def test_the_diameter_in_a_norm_is_reached_and_not_exceeded(name: str, q: float) -> None:
    """The diameter is reached along axes, by signs of few coordinates or by pairs of points, to
    within 1 %.
    """
    constraint = SETS[name]
    bound = constraint.diameter_in(q)
    rng = np.random.default_rng(11)
    directions = [*np.eye(D), *-np.eye(D), *rng.standard_normal((100, D)), np.ones(D)]
    directions += [np.where(np.arange(D) < k, 1.0, 0.0) for k in range(1, D + 1)]
    points = [constraint.project(1e6 * g) for g in directions]
    points += [-p for p in points if constraint.contains(-p)]
    reached = max(float(row_norms(np.array(points) - a, q).max()) for a in points)
    assert reached <= bound * (1 + 1e-9)
    assert reached >= bound * 0.99
    if q == 2:
        assert constraint.diameter == pytest.approx(bound)
        assert max(lq_norm(p, 2.0) for p in points) <= constraint.l2_radius * (1 + 1e-9)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_a_symmetric_set_is_the_unit_ball_of_its_norm(name: str) -> None:
    constraint = SETS[name]
    rng = np.random.default_rng(12)
    for g in rng.standard_normal((30, D)):
        p = constraint.project(50 * g)
        assert constraint.minkowski_norm(p) == pytest.approx(1, rel=1e-11)
        assert constraint.minkowski_norm(-3 * p) == pytest.approx(3, rel=1e-11)
        v = rng.standard_normal(D)
        # The inequality is |<x, y>| <= |x|_C |y|_C*, with the gauge of the set and its dual norm.
        assert g @ v <= constraint.minkowski_norm(v) * constraint.support(g) * (1 + 1e-12)
        inner = v / lq_norm(v, 2.0) * constraint.inradius
        assert constraint.contains(inner, 1e-12)
    # The inradius is the least support over unit vectors, which is reached at an axis or a sign
    # vector.
    ends = [constraint.support(u) for u in (*np.eye(D), np.ones(D) / math.sqrt(D))]
    groups = np.where(np.arange(D) % 3 == 0, 1.0, 0.0) / math.sqrt(D / 3)
    assert min(*ends, constraint.support(groups)) == pytest.approx(constraint.inradius, rel=1e-12)


@pytest.mark.parametrize("name", ASYMMETRIC)
def test_an_asymmetric_set_has_no_norm(name: str) -> None:
    with pytest.raises(InvalidInput, match="constraint must be symmetric about 0"):
        SETS[name].minkowski_norm(np.ones(D))
    with pytest.raises((InvalidInput, NotApplicable)):
        _ = SETS[name].inradius


@each("exponent", [1.01, 1.2, 1.7, 2.0, 2.5, 6.0, 100.0])
@each("target", [1e-8, 0.01, 0.5, 0.99, 1 - 1e-9])
def test_the_lq_projection_is_optimal_near_to_and_far_from_the_ball(
    exponent: float, target: float
) -> None:
    v = np.random.default_rng(15).standard_cauchy(40)
    v[3] = 0
    ball = LqBall(d=40, exponent=exponent, radius=target * lq_norm(v, exponent))
    p = ball.project(v)
    assert ball.contains(p, 1e-14) and p[3] == 0
    residual = v - p
    assert abs(gap(ball, v, p)) <= 1e-13 * ball.l2_radius * lq_norm(v, 2.0)
    # The residual is parallel to the normal of the sphere.
    if 0.01 <= target <= 0.99:
        normal = np.sign(p) * np.abs(p / np.abs(p).max()) ** (exponent - 1)
        cosine = residual @ normal / lq_norm(residual, 2.0) / lq_norm(normal, 2.0)
        assert cosine == pytest.approx(1, abs=1e-10)


def test_lq_projections_tend_to_those_of_the_limiting_sets() -> None:
    v = np.random.default_rng(16).standard_normal(30)
    close_exponents = {1.0: 1 + 1e-9, 2.0: 2 + 1e-9, math.inf: 1e7}
    for q, close in close_exponents.items():
        exact = lq_ball(30, q, 1.5)
        projected = LqBall(d=30, exponent=close, radius=1.5).project(v)
        assert np.abs(projected - exact.project(v)).max() <= 1e-5
    assert [type(lq_ball(2, q, 1.0)) for q in (1.0, 1.5, 2.0, math.inf)] == [
        L1Ball,
        LqBall,
        Ball,
        Box,
    ]


def test_groups_and_sparse_hulls_have_simple_sets_as_special_cases() -> None:
    v = np.random.default_rng(17).standard_normal(D)
    pairs = [
        (GroupBall(d=D, group_size=1, radius=0.8), L1Ball(d=D, radius=0.8)),
        (GroupBall(d=D, group_size=D, radius=0.8), Ball(d=D, radius=0.8)),
        (SparseHull(d=D, sparsity=1, radius=0.8), L1Ball(d=D, radius=0.8)),
        (SparseHull(d=D, sparsity=D, radius=0.8), Ball(d=D, radius=0.8)),
    ]
    for ball, same_ball in pairs:
        assert np.abs(ball.project(v) - same_ball.project(v)).max() <= 1e-14
        assert ball.support(v) == pytest.approx(same_ball.support(v), rel=1e-14)
        assert ball.inradius == pytest.approx(same_ball.inradius)
        width, same_width = ball.gaussian_width(), same_ball.gaussian_width()
        assert width.lower * (1 - 1e-10) <= same_width.value <= width.upper * (1 + 1e-10)


@given(st.integers(1, 8), st.lists(st.integers(-3, 3), min_size=8, max_size=8))
@settings(max_examples=150, deadline=None)
def test_points_with_equal_entries_are_projected_correctly(
    sparsity: int, entries: list[int]
) -> None:
    v = np.array(entries, dtype=float)
    for constraint in (
        SparseHull(d=8, sparsity=sparsity, radius=0.9),
        L1Ball(d=8, radius=1.0),
        Simplex(d=8, radius=1.0),
    ):
        p = constraint.project(v)
        assert constraint.contains(p, 1e-12)
        assert abs(gap(constraint, v, p)) <= 1e-11


def test_the_sparse_hull_lies_between_the_sparse_vectors_and_twice_their_hull() -> None:
    hull = SETS["sparse"]
    assert isinstance(hull, SparseHull)
    rng = np.random.default_rng(18)
    for g in rng.standard_normal((200, D)):
        top = np.sort(np.abs(g))[-hull.sparsity :]
        sparse = hull.radius * lq_norm(top, 2.0)
        assert sparse * (1 - 1e-12) <= hull.support(g) <= 2 * sparse


@pytest.mark.parametrize(
    "make",
    [
        lambda: L1Ball(d=0, radius=1.0),
        lambda: Simplex(d=2, radius=-1.0),
        lambda: LqBall(d=2, exponent=1.0, radius=1.0),
        lambda: LqBall(d=2, exponent=math.inf, radius=1.0),
        lambda: Box(half_widths=np.array([1.0, 0.0])),
        lambda: GroupBall(d=5, group_size=2, radius=1.0),
        lambda: SparseHull(d=3, sparsity=4, radius=1.0),
        lambda: SparseHull(d=3, sparsity=0, radius=1.0),
        lambda: lq_ball(2, 0.5, 1.0),
    ],
)
def test_an_invalid_set_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidInput, match="must be"):
        make()


def test_the_noise_of_a_projected_point_is_bounded_by_the_width() -> None:
    """The inequality compares 0.00164 on average with 0.0594 and 0.02 (theory/su-zhao-wang.md, 8,
    item 18).
    """
    ball = L1Ball(d=200, radius=1.0)
    w = np.zeros(200)
    w[:3] = 0.5, -0.3, 0.2
    rng = np.random.default_rng(19)
    squares = []
    for h in rng.standard_normal((1000, 200)) * 0.01:
        step = ball.project(w + h) - w
        square, inner = float(step @ step), float(h @ step)
        assert square <= inner + 1e-14
        assert inner <= ball.support(h) + ball.support(-h) + 1e-14
        squares.append(square)
    assert np.mean(squares) == pytest.approx(0.00164, rel=0.05)
    assert 2 * 0.01 * ball.gaussian_width().value == pytest.approx(0.0594, rel=0.01)
