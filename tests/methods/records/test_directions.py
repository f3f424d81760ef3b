"""The direction search: exact in one and two dimensions, feasible beyond.

See theory/zhao-et-al.md, 7.2.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_core.methods.records.base import into_ball
from dpsco_core.methods.records.directions import (
    _critical_directions,
    _furthest_in_plane,
    furthest_direction,
    quantile_of_projections,
    walk_to_centre,
)
from tests.folded import each, one_in

ANGLES = np.linspace(0, 2 * math.pi, 20_001)
CIRCLE = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
HALF_STEP = math.pi / 20_000
CONTRACTION = 233 / 256


def cloud(seed: int, points: int, d: int) -> np.ndarray:
    """Return points around a random place, with light or heavy tails, some of them repeated."""
    rng = np.random.default_rng([seed, points, d])
    x = rng.standard_t(rng.choice([1.5, 3, 30]), size=(points, d)) + 4 * rng.normal(size=d)
    return np.round(x) if seed % 3 == 0 else x


def brute_force_value(offsets: np.ndarray, directions: np.ndarray, left_out: int) -> float:
    """Return the largest value over given directions of the order statistic that leaves out
    `left_out` points.
    """
    return float(np.sort(directions @ offsets.T, axis=1)[:, left_out].max())


def search(offsets: np.ndarray, left_out: int, seed: int = 0) -> tuple[float, np.ndarray]:
    """Return the value and the direction of the search, after checking that the direction attains
    the value.
    """
    value, u = furthest_direction(offsets, left_out, np.random.default_rng(seed))
    assert np.linalg.norm(u) == pytest.approx(1, rel=1e-12)
    # The value is attained by the direction, and so never exceeds the maximum.
    assert value == pytest.approx(np.sort(offsets @ u)[left_out], rel=1e-12, abs=1e-12)
    return value, u


@each("seed", range(30))
def test_one_dimension_is_solved_exactly(seed: int) -> None:
    points = 1 + seed
    for left_out in {0, points // 10, points // 3}:
        offsets = cloud(seed, points, 1)
        v = np.sort(offsets[:, 0])
        value, _ = search(offsets, left_out)
        assert value == max(v[left_out], -v[points - 1 - left_out])


@each("seed", range(15))
@each("points", [1, 2, 7, 20, 64, 65, 150])
def test_two_dimensions_are_solved_exactly(seed: int, points: int) -> None:
    offsets = cloud(seed, points, 2)
    left_out = (0, points // 10, int(0.4 * points))[seed % 3]
    value, _ = search(offsets, left_out)
    longest = float(np.linalg.norm(offsets, axis=1).max())
    grid_value = brute_force_value(offsets, CIRCLE, left_out)
    assert grid_value - 1e-9 * longest <= value <= grid_value + HALF_STEP * longest + 1e-12


@each("seed", range(15))
@each("points", [1, 2, 5, 16, 40, 90])
def test_the_two_planar_solvers_agree(seed: int, points: int) -> None:
    offsets = cloud(seed, points, 2)
    for left_out in {0, points // 10, points // 2}:
        value, _ = _furthest_in_plane(offsets, left_out)
        listed = quantile_of_projections(offsets, _critical_directions(offsets), left_out)
        assert value == pytest.approx(float(listed.max()), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("d", [1, 2, 3, 8])
@pytest.mark.parametrize("points", [1, 10, 80])
def test_a_search_at_the_points_themselves_stays(d: int, points: int) -> None:
    value, _ = search(np.zeros((points, d)), points // 10)
    assert value == 0
    walked = walk_to_centre(np.zeros((points, d)), points // 10, 50, np.random.default_rng(0))
    assert not walked.any()


@pytest.mark.parametrize("d", [1, 2, 3, 8])
@pytest.mark.parametrize("points", [1, 10, 80])
def test_equal_points_are_approached_by_a_quarter_at_every_step(d: int, points: int) -> None:
    q = np.arange(1.0, d + 1)
    value, u = search(np.tile(q, (points, 1)), points // 10)
    assert value == pytest.approx(np.linalg.norm(q), rel=1e-9)
    np.testing.assert_allclose(u, q / np.linalg.norm(q), atol=1e-7)
    for steps in range(4):
        centre = walk_to_centre(np.tile(q, (points, 1)), 0, steps, np.random.default_rng(0))
        np.testing.assert_allclose(centre, (1 - 0.75**steps) * q, atol=1e-6)


@pytest.mark.parametrize("points", [9, 20, 90])
@pytest.mark.parametrize("seed", range(6))
def test_the_search_follows_rotations_scales_and_orders(points: int, seed: int) -> None:
    offsets, left_out = cloud(seed, points, 2), points // 5
    value, u = search(offsets, left_out)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    turned, v = search(offsets @ turn, left_out)
    assert turned == pytest.approx(value, rel=1e-9)
    turned_back = quantile_of_projections(offsets @ turn, (u @ turn)[None, :], left_out)[0]
    assert turned_back == pytest.approx(turned, rel=1e-7, abs=1e-9), "both directions are best"
    assert search(7 * offsets, left_out)[0] == pytest.approx(7 * value, rel=1e-9)
    mixed = np.random.default_rng(seed).permutation(offsets)
    assert search(mixed, left_out)[0] == pytest.approx(value, rel=1e-9)
    assert v.shape == (2,)


@pytest.mark.parametrize("seed", one_in(3, range(25)))
@pytest.mark.parametrize("d", [1, 2])
def test_lemmas_7_and_8_hold_around_any_reference_point(seed: int, d: int) -> None:
    """With the empirical r_0 the lemmas are inequalities without probability."""
    rng = np.random.default_rng([seed, d])
    points = int(rng.integers(10, 60))
    left_out = int(rng.integers(0, points // 3 + 1))
    q = cloud(seed, points, d) + 20 * rng.normal(size=d)
    target = q.mean(axis=0) + rng.normal(size=d)
    circle = CIRCLE if d == 2 else np.array([[1.0], [-1.0]])
    offsets = q - target
    slack = HALF_STEP * float(np.linalg.norm(offsets, axis=1).max()) if d == 2 else 1e-12
    r0 = float(np.sort(circle @ offsets.T, axis=1)[:, points - 1 - left_out].max()) + slack

    centre = np.zeros(d)
    for _ in range(60):
        distance = float(np.linalg.norm(target - centre))
        value, u = search(q - centre, left_out)
        assert abs(value - distance) <= r0 + 1e-9
        if distance >= 4 * r0:
            assert u @ (target - centre) >= 0.5 * distance - 1e-9
        if value <= 0:
            assert distance <= r0 + 1e-9
            break
        centre = centre + 0.25 * value * u
        if distance > 4 * r0:
            new_distance = float(np.linalg.norm(target - centre))
            assert new_distance**2 <= CONTRACTION * distance**2 * (1 + 1e-9)
    final = walk_to_centre(q, left_out, 60, np.random.default_rng(0))
    start = float(np.linalg.norm(target))
    if start <= 4 * r0 * CONTRACTION**-30:  # From a start within this distance 60 steps suffice.
        assert np.linalg.norm(final - target) <= 6 * r0 + 1e-9


@pytest.mark.parametrize("points", [8, 40, 200])
def test_beyond_two_dimensions_the_value_is_feasible_and_close(points: int) -> None:
    """The search is compared with 20,000 directions on the sphere; far from the points it loses
    little.
    """
    i = np.arange(20_000)
    height = 1 - (2 * i + 1) / 20_000
    turn = i * math.pi * (3 - math.sqrt(5))
    flat = np.sqrt(1 - height**2)
    sphere = np.column_stack([flat * np.cos(turn), flat * np.sin(turn), height])
    ratios = []
    for seed in range(20):
        offsets, left_out = cloud(3 * seed + 1, points, 3), points // 5
        value, _ = search(offsets, left_out, seed)
        longest = float(np.sort(np.linalg.norm(offsets, axis=1))[-1 - left_out])
        best = brute_force_value(offsets, sphere, left_out)
        # No direction is further than 0.02 from the grid.
        assert value <= best + 0.02 * float(np.linalg.norm(offsets, axis=1).max())
        ratios.append((best - value) / longest)
    assert np.median(ratios) < 0.02
    assert max(ratios) < 0.1


@pytest.mark.parametrize("d", [3, 10, 40])
def test_the_walk_reaches_the_middle_of_a_cloud(d: int) -> None:
    rng = np.random.default_rng(d)
    middle = 10 * rng.normal(size=d)
    points = middle + rng.normal(size=(40, d))
    centre = walk_to_centre(points, 16, 60, rng)
    mean_error = float(np.linalg.norm(points.mean(axis=0) - middle))
    assert np.linalg.norm(centre - middle) < 6 * mean_error


@pytest.mark.parametrize("seed", range(5))
def test_fewer_points_than_dimensions_are_walked_in_their_span(seed: int) -> None:
    """Two points in six dimensions span a plane, where the search is exact for any rotation."""
    rng = np.random.default_rng(seed)
    flat = rng.normal(size=(2, 2)) + 3
    frame, _ = np.linalg.qr(rng.normal(size=(6, 2)))
    walked = walk_to_centre(flat @ frame.T, 0, 4, rng)
    np.testing.assert_allclose(walked, frame @ walk_to_centre(flat, 0, 4, rng), atol=1e-9)
    points = rng.normal(size=(8, 30)) + 1
    centre = walk_to_centre(points, 3, 20, rng)
    in_span = points.T @ np.linalg.lstsq(points.T, centre, rcond=None)[0]
    np.testing.assert_allclose(in_span, centre, atol=1e-12)


def test_a_walk_of_no_steps_stays_at_the_origin() -> None:
    assert not walk_to_centre(np.ones((4, 2)), 0, 0, np.random.default_rng(0)).any()


def test_a_point_is_projected_on_the_ball() -> None:
    point = np.array([3.0, 4.0])
    np.testing.assert_allclose(into_ball(point, 2.0), [1.2, 1.6])
    np.testing.assert_array_equal(into_ball(point, 5.0), point)
    np.testing.assert_array_equal(into_ball(point, math.inf), point)
