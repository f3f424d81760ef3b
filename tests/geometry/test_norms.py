"""Norms, and the constants of regular spaces.

Faults that these tests would catch: an overflow, a wrong dual, the printed kappa for the exact one.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsco_core.base.errors import InvalidInput
from dpsco_core.geometry import (
    Ball,
    RegularSpace,
    SparseHull,
    dual_exponent,
    lq_norm,
    norm_ratio,
    row_norms,
)
from tests.folded import each

EXPONENTS = (1.0, 1.1, 1.5, 2.0, 3.0, 40.0, 1e4, math.inf)
X = np.array([3.0, -1.0, 0.0, 0.5, -2.0])


@each("q", EXPONENTS)
@each("scale", [5e-324, 1e-300, 1e-160, 1.0, 1e160, 1e307])
def test_a_norm_scales_without_overflow_or_underflow(q: float, scale: float) -> None:
    x = X * scale
    unit = x / np.abs(x).max()
    exact = np.abs(unit).max() if math.isinf(q) else (np.abs(unit) ** q).sum() ** (1 / q)
    expected = float(np.abs(x).max()) * float(exact)
    assert lq_norm(x, q) == pytest.approx(expected, rel=1e-14, abs=5e-324)
    assert row_norms(np.array([x, 0 * x]), q) == pytest.approx([expected, 0], rel=1e-14, abs=5e-324)


def test_norms_of_empty_infinite_and_nan_vectors_are_zero_infinite_and_nan() -> None:
    assert lq_norm(np.zeros(3), 1.5) == 0 == lq_norm(np.zeros(0), 2.0)
    assert lq_norm(np.array([1.0, -math.inf]), 1.5) == math.inf
    assert math.isnan(lq_norm(np.array([1.0, math.nan]), 1.5))
    norms = row_norms(np.array([[1.0, math.inf], [math.nan, 1.0], [0.0, -2.0]]), 1.5)
    assert norms[0] == math.inf and math.isnan(norms[1]) and norms[2] == pytest.approx(2)


@pytest.mark.parametrize("q", EXPONENTS[1:-1])
def test_hoelder_holds_and_is_attained(q: float) -> None:
    dual = dual_exponent(q)
    rng = np.random.default_rng(1)
    for _ in range(50):
        x, y = rng.standard_normal((2, 6))
        assert x @ y <= lq_norm(x, q) * lq_norm(y, dual) * (1 + 1e-12)
    x = np.abs(X) / lq_norm(X, q)
    y = x ** (q - 1)
    assert x @ y == pytest.approx(lq_norm(x, q) * lq_norm(y, dual), rel=1e-12)


@each("a", EXPONENTS)
@each("b", EXPONENTS)
def test_the_ratio_of_two_norms_is_attained_and_never_exceeded(a: float, b: float) -> None:
    d = 7
    ratio = norm_ratio(d, a, b)
    ends = [lq_norm(v, a) / lq_norm(v, b) for v in (np.ones(d), np.eye(d)[0])]
    assert max(ends) == pytest.approx(ratio, rel=1e-12)
    for x in np.random.default_rng(2).standard_normal((50, d)):
        assert lq_norm(x, a) <= ratio * lq_norm(x, b) * (1 + 1e-12)


# The rows are those of the table in theory/su-zhao-wang.md, 1.4.
TABLE = [
    (10, 1.001, 1001, 5.6052, 4.6052, 2.2637, 10.4246, 4.6052, 12.5182),
    (10, 1.1, 11, 5.6052, 4.6052, 1.4962, 6.8903, 4.6052, 10),
    (100, 1.05, 21, 10.2103, 9.2103, 1.5896, 14.6406, 9.2103, 20),
    (100, 1.25, 5, 5, 4, 1, 4, 4, 4),
    (1000, 1.001, 1001, 14.8155, 13.8155, 2.5060, 34.6221, 13.8155, 37.5545),
    (1000, 1.1, 11, 11, 10, 1, 10, 10, 10),
    (10_000, 1.05, 21, 19.4207, 18.4207, 1.0739, 19.7827, 18.4207, 20),
]


@pytest.mark.parametrize("row", TABLE)
def test_the_constants_are_those_of_the_table(row: tuple[float, ...]) -> None:
    d, q, dual, r, plus, distortion, kappa, printed, cap = row
    space = RegularSpace(d=int(d), exponent=q)
    constants = (space.dual, space.smooth_exponent, space.kappa_plus, space.distortion)
    assert constants == pytest.approx((dual, r, plus, distortion), rel=1e-4)
    assert (space.kappa, space.printed_kappa) == pytest.approx((kappa, printed), rel=1e-5)
    assert min(space.dual - 1, 2 * math.e * math.log(d)) == pytest.approx(cap, rel=1e-5)
    assert space.mirror_exponent == pytest.approx(r / (r - 1), rel=1e-4)


@given(st.integers(2, 10**6), st.floats(1.0, 2.0))
@settings(max_examples=200, deadline=None)
def test_kappa_lies_between_the_printed_one_and_its_cap(d: int, q: float) -> None:
    space = RegularSpace(d=d, exponent=q)
    cap = 2 * math.e * math.log(d)
    cap = cap if q == 1 else min(1 / (q - 1), cap)
    assert space.printed_kappa * (1 - 1e-12) <= space.kappa <= cap * (1 + 1e-12)
    assert 1 < space.mirror_exponent <= 2 <= space.smooth_exponent
    conjugate = 1 / space.mirror_exponent + 1 / space.smooth_exponent
    assert conjugate == pytest.approx(1, abs=1e-12)
    assert space.mirror_exponent == pytest.approx(1 + 1 / space.kappa_plus, rel=1e-12)


@pytest.mark.parametrize("d", [1, 2, 50])
def test_the_euclidean_norm_is_regular_with_constant_one(d: int) -> None:
    space = RegularSpace(d=d, exponent=2.0)
    assert (space.smooth_exponent, space.mirror_exponent) == (2, 2)
    assert space.kappa == space.kappa_plus == space.printed_kappa == space.l2_ratio == 1


@pytest.mark.parametrize("q", [1.0, 1.3, 2.0])
def test_in_one_dimension_all_norms_are_one(q: float) -> None:
    space = RegularSpace(d=1, exponent=q)
    constants = space.kappa, space.printed_kappa, space.smooth_exponent, space.l2_ratio
    assert constants == (1, 1, 2, 1)


@pytest.mark.parametrize("d", [2, 10, 1000])
def test_the_regularity_constant_has_its_limit_as_q_tends_to_one(d: int) -> None:
    limit = RegularSpace(d=d, exponent=1.0)
    space = RegularSpace(d=d, exponent=1 + 1e-9)
    log = 2 * math.log(d)
    assert limit.kappa == pytest.approx(log * d ** (2 / (log + 1)), rel=1e-12)
    assert limit.kappa < math.e * log
    assert space.kappa == pytest.approx(limit.kappa, rel=1e-7)
    assert space.smooth_exponent == limit.smooth_exponent == pytest.approx(log + 1)


@pytest.mark.parametrize("d", [2, 9, 40])
def test_both_branches_of_the_constant_agree_where_they_meet(d: int) -> None:
    q = 1 + 1 / (2 * math.log(d))  # At this q the conjugate exponent q' is 2 ln d + 1.
    below_edge, above_edge = (RegularSpace(d=d, exponent=q * (1 + e)) for e in (-1e-9, 1e-9))
    assert (below_edge.branch, above_edge.branch) == ("logarithmic", "power")
    assert below_edge.kappa == pytest.approx(above_edge.kappa, rel=1e-6)
    assert below_edge.mirror_exponent == pytest.approx(above_edge.mirror_exponent, rel=1e-6)


@pytest.mark.parametrize(("d", "q"), [(6, 2.0), (6, 1.6), (6, 1.3), (50, 1.05), (3, 1.0)])
def test_the_smooth_norm_is_smooth_and_close(d: int, q: float) -> None:
    """Definition 3, (a) and (b), is checked on random pairs; a flat vector attains (b)."""
    space = RegularSpace(d=d, exponent=q)
    r = space.smooth_exponent
    rng = np.random.default_rng(3)
    for _ in range(300):
        x, y = rng.standard_normal((2, d)) * rng.choice([0.05, 1, 3], size=(2, 1))
        gradient = 2 * lq_norm(x, r) ** (2 - r) * np.abs(x) ** (r - 1) * np.sign(x)
        increase = lq_norm(x + y, r) ** 2 - lq_norm(x, r) ** 2 - gradient @ y
        assert increase <= space.kappa_plus * lq_norm(y, r) ** 2 * (1 + 1e-9)
        assert lq_norm(x, space.dual) <= lq_norm(x, r) * (1 + 1e-12)
        distortion = lq_norm(x, r) ** 2 / lq_norm(x, space.dual) ** 2
        assert distortion <= space.distortion * (1 + 1e-12)
    flat = lq_norm(np.ones(d), r) ** 2 / lq_norm(np.ones(d), space.dual) ** 2
    assert flat == pytest.approx(space.distortion, rel=1e-12)


@pytest.mark.parametrize("q", [0.5, 2.5, math.nan, math.inf])
def test_an_exponent_out_of_range_is_refused(q: float) -> None:
    with pytest.raises(InvalidInput, match=re.escape("exponent must be between 1 and 2")):
        RegularSpace(d=3, exponent=q)
    if q < 1:
        with pytest.raises(InvalidInput, match="exponent must be at least 1"):
            lq_norm(X, q)


def test_a_ball_as_large_as_a_float_has_a_radius() -> None:
    for body in (Ball(d=3, radius=1e308), SparseHull(d=3, radius=1e308, sparsity=1)):
        assert body.l2_radius == body.radius_in(2.0) == 1e308
