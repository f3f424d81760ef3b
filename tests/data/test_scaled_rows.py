"""Scaled rows: the same rows as if they were formed, and clipping that no record escapes.

A fault that these tests would catch: coefficients of other rows, norms of other rows, a row that
leaves the ball by overflow, underflow or a NaN, and a broken row that reaches another one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpsco_core.data import DenseRows
from dpsco_core.data import rows as rows_module
from dpsco_core.data.rows import MappedRows, ScaledRows, row_norms, rows_per_block
from dpsco_core.methods.records.base import LARGEST_LEVEL, SMALLEST_LEVEL, clip_scaled, clipped_mean

N, D = 7001, 30  # The rows fill two blocks and part of a third.
ANY = st.floats(width=64, allow_nan=True, allow_infinity=True)
SIZES = (0.0, 1.0, -3.0, 1e9, 1e23, 1e150, -1e149, 1e-150, 1e-300, 5e-324, 1e300, -1e300)
BROKEN = (math.nan, math.inf, -math.inf)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    """Return heavy-tailed rows and coefficients."""
    rng = np.random.default_rng(0)
    return rng.standard_t(2.5, size=(N, D)), rng.standard_t(2.0, size=N)


def make_scaled_rows(x: np.ndarray, c: np.ndarray) -> ScaledRows:
    """Return the rows c_i x_i, whose coefficients check that each is used with its own features."""

    def coefficients(block: np.ndarray, rows: Any) -> np.ndarray:
        """Return the coefficients of some rows, whose block must be the right one."""
        np.testing.assert_array_equal(block, x[rows])
        return c[rows]

    return ScaledRows(DenseRows(x), coefficients)


def formed(x: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return the rows of x, each times its coefficient, as a dense array."""
    with np.errstate(all="ignore"):
        return np.asarray(c[:, None] * x)


def is_within_radius(row: np.ndarray, weight: float, radius: float) -> bool:
    """Whether weight * row has a norm of at most radius(1 + 1e-12), in exact arithmetic."""
    square = sum((Fraction(float(v)) * Fraction(float(weight))) ** 2 for v in row)
    return square <= (Fraction(radius) * (1 + Fraction(1, 10**12))) ** 2


def test_blocks_and_picks_are_the_rows_that_would_be_formed(data: Any) -> None:
    x, c = data
    rows = make_scaled_rows(x, c)
    assert (rows.n, rows.d) == (N, D)
    np.testing.assert_array_equal(np.concatenate(list(rows.blocks())), formed(x, c))
    for start, stop in ((0, N), (17, 17), (5, rows_per_block(D) + 5), (N - 1, N)):
        blocks = list(rows.blocks(start, stop))
        assert sum(len(b) for b in blocks) == stop - start
        if blocks:
            np.testing.assert_array_equal(np.concatenate(blocks), formed(x, c)[start:stop])
    indices = np.random.default_rng(1).permutation(N)[:100]
    np.testing.assert_array_equal(rows.take(indices), formed(x, c)[indices])


def test_factors_are_coefficients_features_and_norms_of_the_same_rows(data: Any) -> None:
    x, c = data
    parts = list(make_scaled_rows(x, c).factors())
    np.testing.assert_array_equal(np.concatenate([p.base for p in parts]), x)
    np.testing.assert_array_equal(np.concatenate([p.coefficients for p in parts]), c)
    np.testing.assert_array_equal(np.concatenate([p.norms for p in parts]), row_norms(x))
    assert all(np.shares_memory(p.base, x) for p in parts)


def test_factors_of_other_rows_are_the_blocks_themselves(data: Any) -> None:
    x, _ = data
    for rows in (DenseRows(x), MappedRows(DenseRows(x), lambda block: 1 * block)):
        parts = list(rows.factors())
        np.testing.assert_array_equal(np.concatenate([p.base for p in parts]), x)
        assert all(p.coefficients is None and p.norms is None for p in parts)


def test_norms_are_computed_once_and_cannot_be_written_to(
    data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def counted(block: np.ndarray) -> np.ndarray:
        """Record the length of a block, and compute its norms."""
        calls.append(len(block))
        return row_norms(block)

    monkeypatch.setattr(rows_module, "row_norms", counted)
    rows = make_scaled_rows(*data)
    for _ in range(3):
        list(rows.factors())
    assert sum(calls) == N
    with pytest.raises(ValueError, match="read-only"):
        rows.x.norms()[0] = 0.0


@pytest.mark.parametrize("radius", [1e-3, 1.0, 6.0, 1e3, 1e9])
def test_the_clipped_mean_is_that_of_the_rows_that_would_be_formed(
    data: Any, radius: float
) -> None:
    x, c = data
    expected = clipped_mean(DenseRows(formed(x, c)), radius)
    np.testing.assert_allclose(
        clipped_mean(make_scaled_rows(x, c), radius), expected, rtol=1e-9, atol=1e-15
    )


@pytest.mark.parametrize("radius", [SMALLEST_LEVEL, 6.9e-16, 1.0, 1e15, LARGEST_LEVEL])
def test_no_coefficient_and_no_features_leave_the_ball(radius: float) -> None:
    """At 1e-150, 1e150 and 1e23 the ratio of radius to length is a denormal number."""
    base = np.array([[a, b, a] for a in (*SIZES, *BROKEN) for b in (*SIZES, *BROKEN)])
    for size in (*SIZES, *BROKEN, 1e20, 1.3e140, -7e149):
        c = np.full(len(base), size)
        safe, weights = clip_scaled(base, c, row_norms(base), radius)
        assert np.isfinite(safe).all()
        assert np.isfinite(weights).all()
        for row, weight in zip(safe, weights, strict=True):
            assert is_within_radius(row, float(weight), radius), (row, weight)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    base=arrays(np.float64, (4, 3), elements=ANY | st.floats(-5, 5)),
    c=arrays(np.float64, 4, elements=ANY | st.floats(-5, 5)),
    radius=st.floats(SMALLEST_LEVEL, LARGEST_LEVEL),
)
def test_no_clipped_row_leaves_the_ball(base: np.ndarray, c: np.ndarray, radius: float) -> None:
    base_before = base.copy()
    safe, weights = clip_scaled(base, c, row_norms(base), radius)
    np.testing.assert_array_equal(base, base_before)
    for row, weight in zip(safe, weights, strict=True):
        assert is_within_radius(row, float(weight), radius)


@pytest.mark.parametrize("broken", [*BROKEN, 1e151, -1e300])
@pytest.mark.parametrize("place", ["coefficient", "features", "one feature"])
def test_a_broken_row_counts_as_zero_and_moves_no_other(broken: float, place: str) -> None:
    rng = np.random.default_rng(2)
    x, c = rng.normal(size=(6, 3)), rng.normal(size=6)
    if place == "coefficient":
        c[2] = broken
    else:
        x[2, slice(None) if place == "features" else 1] = broken
    safe, weights = clip_scaled(x, c, row_norms(x), 1.5)
    clipped = weights[:, None] * safe
    assert not clipped[2].any()
    intact = [0, 1, 3, 4, 5]
    np.testing.assert_allclose(
        clipped[intact].sum(axis=0),
        5 * clipped_mean(make_scaled_rows(x[intact], c[intact]), 1.5),
        rtol=1e-14,
    )


def test_a_row_inside_the_ball_is_kept_and_one_outside_lands_on_it() -> None:
    x, c = np.array([[3.0, 4.0], [3.0, 4.0], [0.0, 0.0]]), np.array([-0.1, -2.0, 5.0])
    safe, weights = clip_scaled(x, c, row_norms(x), 1.0)
    np.testing.assert_array_equal(weights[[0, 2]], c[[0, 2]])
    np.testing.assert_allclose(weights[1] * safe[1], [-0.6, -0.8], rtol=1e-15)


@pytest.mark.parametrize("radius", [SMALLEST_LEVEL, 0.7, LARGEST_LEVEL])
def test_one_replaced_row_moves_the_clipped_mean_by_at_most_2_radii_over_n(radius: float) -> None:
    rng = np.random.default_rng(3)
    x, c = rng.normal(size=(5, 2)), rng.normal(size=5)
    for old in (*SIZES, *BROKEN):
        for new in (*SIZES, *BROKEN):
            means = []
            for data, neighbour in ((old, new), (new, old)):
                features, coefficients = x.copy(), c.copy()
                features[3, 0], coefficients[3] = data, neighbour
                means.append(
                    clipped_mean(make_scaled_rows(features, coefficients), radius) / radius
                )
            assert np.linalg.norm(means[0] - means[1]) <= 2 / 5 * (1 + 1e-9)
