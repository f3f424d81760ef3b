"""Support points and radii: a maximiser in the set, of which the support function is the value.

Faults that these tests would catch: a vertex of the wrong sign, a point outside the set, an answer
that depends on rounding at ties, a radius that is half the diameter where the set is off centre.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsco_core.geometry import (
    L1Ball,
    LqBall,
    Simplex,
    SolidSimplex,
    SparseHull,
    lq_norm,
    row_norms,
)
from tests.folded import each
from tests.geometry.sets import NAMES, SYMMETRIC, D, all_sets

SETS = all_sets()
coordinates = st.one_of(
    st.floats(-3, 3), st.floats(-1e6, 1e6), st.sampled_from([0.0, -0.0, 0.5, -0.5, 1.0, 1e-9])
)
vectors = st.lists(coordinates, min_size=D, max_size=D).map(np.array)


@pytest.mark.parametrize("name", NAMES)
def test_the_support_function_is_attained_at_the_support_point(name: str) -> None:
    constraint = SETS[name]

    @given(vectors, vectors)
    @settings(max_examples=40, deadline=None)
    def claims(g: np.ndarray, v: np.ndarray) -> None:
        """Assert that the support point is in the set, and that no other point has more."""
        w = constraint.support_point(g)
        assert w.shape == (D,)
        assert constraint.contains(w, 1e-12)
        size = constraint.l2_radius * lq_norm(g, 2.0)
        assert abs(constraint.support(g) - float(g @ w)) <= 1e-13 * size
        assert float(g @ constraint.project(v)) <= float(g @ w) + 1e-12 * size
        np.testing.assert_array_equal(constraint.support_point(g.copy()), w)

    claims()


@each("name", NAMES)
@each("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_a_support_point_depends_on_the_direction_alone(name: str, scale: float) -> None:
    g = np.random.default_rng(30).standard_normal(D)
    w = SETS[name].support_point(g)
    np.testing.assert_allclose(SETS[name].support_point(scale * g), w, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_the_zero_direction_has_a_support_point(name: str) -> None:
    w = SETS[name].support_point(np.zeros(D))
    assert SETS[name].contains(w, 1e-12)


def test_of_equal_coordinates_the_first_is_chosen() -> None:
    g = np.array([1.0, -2.0, 2.0, 2.0])
    assert L1Ball(d=4, radius=3.0).support_point(g).tolist() == [0, -3, 0, 0]
    assert Simplex(d=4, radius=3.0).support_point(g).tolist() == [0, 0, 3, 0]
    assert SolidSimplex(d=4, radius=3.0).support_point(-np.abs(g)).tolist() == [0, 0, 0, 0]
    flat = SparseHull(d=4, sparsity=2, radius=math.sqrt(4.5)).support_point(g)
    np.testing.assert_allclose(flat, [0, -1, 1, 1])


@pytest.mark.parametrize("d", [2, 3, 5])
def test_support_points_of_nearly_flat_directions_are_those_of_the_ball_at_full_sparsity(
    d: int,
) -> None:
    """The test fails if rounding decides whether the l1 norm is above sqrt(d) times the l2 norm."""
    rng, hull = np.random.default_rng(33), SparseHull(d=d, sparsity=d, radius=2.0)
    for log_size in rng.uniform(-16, -3, size=1000):
        g = rng.choice([-1.0, 1.0], size=d) + 10**log_size * rng.standard_normal(d)
        np.testing.assert_allclose(hull.support_point(g), 2 * g / lq_norm(g, 2.0), rtol=1e-12)


@pytest.mark.parametrize("q", [1.0001, 1.1, 3.0, 1e3])
def test_an_lq_support_point_is_where_hoelder_is_an_equality(q: float) -> None:
    g = np.random.default_rng(31).standard_normal(40)
    ball = LqBall(d=40, exponent=q, radius=2.0)
    w = ball.support_point(g)
    assert lq_norm(w, q) == pytest.approx(2.0, rel=1e-14)
    assert float(g @ w) == pytest.approx(ball.support(g), rel=1e-13)


@each("name", NAMES)
@each("q", [1.0, 1.3, 2.0, 5.0, math.inf])
def test_the_radius_in_a_norm_is_not_exceeded_and_reached(name: str, q: float) -> None:
    """The radius is reached within 1 % at support points of axes, sparse signs and random
    directions.
    """
    constraint = SETS[name]
    rng = np.random.default_rng(32)
    directions = [*np.eye(D), *-np.eye(D), *rng.standard_normal((200, D)), np.ones(D)]
    directions += [np.where(np.arange(D) < k, 1.0, 0.0) for k in range(1, D + 1)]
    points = np.array([constraint.support_point(g) for g in directions])
    reached = float(row_norms(points, q).max())
    assert 0.99 * constraint.radius_in(q) <= reached <= constraint.radius_in(q) * (1 + 1e-12)
    if q == 2:
        assert constraint.radius_in(q) == pytest.approx(constraint.l2_radius, rel=1e-12)
    if name in SYMMETRIC:
        assert constraint.radius_in(q) == constraint.diameter_in(q) / 2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [1e-3, 0.1, 10.0])
def test_projected_noise_is_bounded_pathwise_by_the_support_function(
    name: str, scale: float
) -> None:
    """The inequality is theory/su-zhao-wang.md, 8, item 18, for a point of the set."""
    constraint = SETS[name]
    rng = np.random.default_rng(33)
    for h in rng.standard_normal((100, D)) * scale:
        w = constraint.project(rng.standard_normal(D))
        step = constraint.project(w + h) - w
        square, inner = float(step @ step), float(h @ step)
        rounding = 1e-13 * constraint.l2_radius * (lq_norm(h, 2.0) + constraint.l2_radius)
        assert square <= inner + rounding
        assert inner <= constraint.support(h) + constraint.support(-h) + rounding
