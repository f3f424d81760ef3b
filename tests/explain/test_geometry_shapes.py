"""Drawings of the page Geometry: boundaries, projections, widths and noise against their numbers.

Statistical tests have a false-alarm rate of 1e-6 for a random seed; the seed is fixed. Faults that
these tests would catch: a boundary outside its set, a missing square root in a width, noises at
unequal privacy, and an `exact` that is not exact.
"""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.explain.geometry import (
    DIMENSIONS,
    GUIDES,
    NOISES,
    SWEEP,
    Shape,
    curve,
    dual_square,
    line_across,
    nearest,
    outline,
    sweep,
    width_table,
)
from dpsco_core.explain.geometry.shapes import gauge_values
from dpsco_core.geometry import GEOMETRIES, row_norms
from dpsco_core.privacy.mechanisms.shaped import Noise

Z = 4.9  # This is the normal quantile of a two-sided test at a false-alarm rate of 1e-6.
EXPONENTS = (1.0, 1.2, 2.0, 3.0, math.inf)
SHAPES = [
    Shape(kind=kind, q=q) for kind in GEOMETRIES for q in (EXPONENTS if kind == "lq" else (1.5,))
]
SYMMETRIC = [shape for shape in SHAPES if shape.symmetric]
DIRECTIONS = np.random.default_rng(1).standard_normal((400, 2))


def name_of(shape: Shape) -> str:
    """Return the name of a shape in the list of cases."""
    return f"{shape.kind}-{shape.q:g}" if shape.kind == "lq" else shape.kind


@pytest.mark.parametrize("shape", SHAPES, ids=name_of)
def test_a_boundary_lies_in_the_set_and_attains_its_support_function(shape: Shape) -> None:
    points = curve(shape)
    assert all(shape.constraint.contains(p) for p in points)
    reached = (DIRECTIONS @ points.T).max(axis=1)
    heights = np.array([shape.constraint.support(g) for g in DIRECTIONS])
    assert (reached <= heights + 1e-9).all()
    # A round set is drawn by chords whose ends lie on its boundary.
    tolerance = 1e-9 if shape.vertices is not None else 0.02
    assert ((heights - reached) / row_norms(DIRECTIONS, 2.0)).max() < tolerance


@pytest.mark.parametrize("shape", SYMMETRIC, ids=name_of)
def test_the_boundary_has_norm_1(shape: Shape) -> None:
    assert gauge_values(shape.constraint, curve(shape)) == pytest.approx(1)


@pytest.mark.parametrize("shape", SHAPES, ids=name_of)
def test_the_outline_has_the_corners_or_the_exponent_of_the_boundary(shape: Shape) -> None:
    boundary = outline(shape)
    if "corners" in boundary:
        assert np.array(boundary["corners"]) == pytest.approx(curve(shape))
    else:
        assert row_norms(curve(shape), float(str(boundary["exponent"]))) == pytest.approx(1)


@pytest.mark.parametrize("shape", SHAPES, ids=name_of)
def test_the_residual_supports_the_set_at_the_projection(shape: Shape) -> None:
    for x in (1.7 * DIRECTIONS[:20]).tolist():
        projected = nearest(shape, tuple(x))
        assert shape.constraint.contains(projected.nearest)
        assert projected.farthest @ projected.point == pytest.approx(projected.dual_norm)
        assert all(shape.constraint.contains(w) for w in projected.farthest) and len(
            projected.farthest
        )
        assert projected.dual_norm == pytest.approx(shape.constraint.support(np.array(x)))
        assert float(projected.foot @ projected.point) == pytest.approx(projected.dual_norm)
        if projected.normal is None:
            assert projected.distance == 0
            continue
        assert projected.distance == pytest.approx(math.dist(x, projected.nearest))
        height = shape.constraint.support(projected.normal)
        assert height == pytest.approx(float(projected.normal @ projected.nearest), abs=1e-7)
        if shape.symmetric:
            assert projected.norm > 1
        else:
            assert projected.norm == math.inf


def test_the_nearest_point_may_be_a_corner_and_has_its_number_of_zeros() -> None:
    corner = nearest(Shape(kind="l1"), (1.4, 0.2))
    assert corner.nearest == pytest.approx([1, 0]) and corner.zeros == 1
    assert nearest(Shape(kind="l2"), (1.4, 0.2)).zeros == 0
    small = nearest(Shape(kind="lq", q=1.05), (1.4, 0.05))  # A small coordinate is not 0.
    assert 0 < small.nearest[1] < 1e-9 and small.zeros == 0
    assert nearest(Shape(kind="linf"), (0.5, 0.0)).farthest.tolist() == [[1, -1], [1, 1]]
    assert nearest(Shape(kind="l2"), (0.0, 0.0)).farthest.shape == (0, 2)
    interior_point = nearest(Shape(kind="l1"), (0.0, 0.5))
    assert (interior_point.distance, interior_point.normal, interior_point.zeros) == (0.0, None, 0)
    other_side = nearest(Shape(kind="simplex"), (0.0, 0.0))  # The point 0 lies on the other side.
    assert other_side.normal is not None and other_side.norm == math.inf
    with pytest.raises(InvalidInput, match=r"point must be 2 finite numbers"):
        nearest(Shape(kind="l1"), (1.0, 2.0, 3.0))


def test_a_line_across_is_orthogonal_to_its_normal() -> None:
    ends = line_across(np.array([1.0, 2.0]), np.array([3.0, 4.0]), 5.0)
    assert (ends[1] - ends[0]) @ np.array([3.0, 4.0]) == pytest.approx(0)
    assert ends.mean(axis=0) == pytest.approx([1, 2])
    assert math.dist(*ends) == pytest.approx(10)


@pytest.mark.parametrize("kind", ["lq", "l1", "linf", "l2", "sparse", "group-l1"])
def test_the_width_in_the_plane_is_the_perimeter_over_a_constant(kind: str) -> None:
    """By Cauchy's formula the mean of the support function h over the circle is P/2π, with P the
    perimeter, and E‖ξ‖ = √(π/2).
    """
    shape = Shape(kind=kind)
    steps = np.diff(curve(shape), axis=0)
    perimeter = float(row_norms(steps, 2.0).sum())
    expected = perimeter / (2 * math.sqrt(2 * math.pi))
    width = shape.constraint.gaussian_width()
    assert width.lower * (1 - 2e-4) <= expected <= width.upper * (1 + 2e-4)
    assert width.upper < 1.5 * width.lower


def test_the_table_of_widths_has_every_set_in_every_dimension() -> None:
    rows = width_table(1.5)
    assert len(rows) == len(GEOMETRIES) * len(DIMENSIONS)
    widths = {(row.kind, row.d): row.width for row in rows}
    assert widths["l2", 1000].value == pytest.approx(31.61487, abs=1e-4)
    assert widths["l1", 100].value == pytest.approx(2.74696, abs=1e-5)
    assert widths["linf", 100].value == pytest.approx(79.78846, abs=1e-4)
    assert widths["simplex", 10].value == pytest.approx(1.53875, abs=1e-5)
    assert widths["lq", 100].value == pytest.approx(5.39495, abs=1e-5)  # Sampling gives 5.3935(28).
    assert not widths["sparse", 100].exact
    assert GUIDES["√d"](1000) > widths["l2", 1000].value
    assert GUIDES["√(2 ln d)"](1000) > widths["l1", 1000].value


def test_both_kinds_of_noise_are_drawn() -> None:
    assert set(NOISES) == set(get_args(Noise))


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("q", [1.1, 1.25, 1.5, 2.0])
@pytest.mark.parametrize("noise", NOISES)
def test_the_exact_dual_square_is_the_measured_one_and_below_the_bound(
    noise: Noise, q: float, d: int
) -> None:
    square = dual_square(d, q, noise, 7)
    assert abs(square.mean - square.exact) <= Z * square.standard_error
    assert square.exact <= square.bound * (1 + 1e-9)
    assert square.low < square.mean < square.high
    if q == 2:
        assert square.exact == pytest.approx(1) and square.bound == pytest.approx(1)


def test_in_the_power_branch_the_generalized_gaussian_meets_its_bound() -> None:
    square = dual_square(100, 1.25, "generalized gaussian", 0)
    assert square.exact == pytest.approx(4) and square.bound == pytest.approx(4)
    assert abs(square.mean - 4) <= Z * square.standard_error
    assert math.isnan(dual_square(100, 1.05, "generalized gaussian", 0).exact)


def test_measured_energies_agree_with_the_note_and_gaussian_noise_is_smaller() -> None:
    """The note is theory/su-zhao-wang.md, 2.8, for d = 10 and 100; it rounds values to 3 digits."""
    table = [(10, 1.5, 2.00, 1.30), (100, 1.1, 9.46, 3.68), (100, 1.25, 4.00, 2.05)]
    for d, q, gg, gaussian in table:
        for noise, expected in zip(NOISES, (gg, gaussian), strict=True):
            square = dual_square(d, q, noise, 1)
            assert abs(square.mean - expected) <= Z * square.standard_error + 0.01 * expected
    rows = {(row.noise, row.q): row for row in sweep(10, 0)}
    assert len(rows) == 2 * len(SWEEP)
    for q in SWEEP:
        shaped, round_ = rows["generalized gaussian", q], rows["gaussian", q]
        assert round_.bound <= shaped.bound * (1 + 1e-9)
        error = Z * math.hypot(shaped.standard_error, round_.standard_error)
        assert round_.mean <= shaped.mean + error


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"kind": "l3"}, "kind must be one of l2, l1"),
        ({"q": 0.5}, "q must be at least 1, got q=0.5."),
    ],
)
def test_a_wrong_shape_is_refused(wrong: dict[str, float], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Shape(**wrong)
