"""Samples as optimisers see them: gradients, parts, bounded records, and broken records."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.data import DenseRows, Gaussian
from dpsco_core.data.rows import ScaledRows
from dpsco_core.geometry.norms import row_norms
from dpsco_core.methods.access import Selected
from dpsco_core.methods.euclidean.sampling.allocated import step_sum
from dpsco_core.methods.records.base import clipped_mean
from dpsco_core.methods.sampled import selected_sum
from dpsco_core.problems import OPTIMISATION_PROBLEMS, Absolute, LinearSample, PointSample
from dpsco_core.problems.links import FARTHEST
from tests.problems.cases import MODELS, POINTS, dense, in_ball, losses, make

EVERY_PROBLEM = pytest.mark.parametrize("problem", OPTIMISATION_PROBLEMS)
D = 400  # At this dimension a block has about 245 rows, so the sample has several blocks.


def sampled(problem: Any, n: int = 1000, d: int = D) -> tuple[Any, Any]:
    """Return a sample of n records in d dimensions, and a point of the ball."""
    rng = np.random.default_rng(3)
    example = make(problem, Gaussian, d=d)
    return example.sample(n, rng), in_ball(example, rng)


def with_records(sample: Any, x: Any, targets: Any = None) -> Any:
    """Return the sample with other features or points."""
    if isinstance(sample, PointSample):
        return replace(sample, points=DenseRows(x))
    goals = sample.targets if targets is None else targets
    return replace(sample, features=DenseRows(x), targets=goals)


def records(sample: Any) -> Any:
    """Return the records of a sample as an array."""
    return sample.points.x if isinstance(sample, PointSample) else sample.features.x


@EVERY_PROBLEM
def test_blocks_rows_factors_and_single_gradients_agree(problem: Any) -> None:
    sample, w = sampled(problem)
    for view in (sample, sample.bounded(0.7 * math.sqrt(D))):
        rows = view.gradients(w)
        assert (rows.n, rows.d) == (view.n, view.d) == (1000, D)
        blocks = list(rows.blocks())
        assert len(blocks) > 1
        all_rows = np.concatenate(blocks)
        some_rows = np.concatenate(list(rows.blocks(300, 700)))
        # Blocks that start elsewhere may be multiplied in another order.
        np.testing.assert_allclose(some_rows, all_rows[300:700], rtol=1e-9, atol=1e-12)
        chosen = np.array([5, 999, 0, 5])
        np.testing.assert_allclose(rows.take(chosen), all_rows[chosen], rtol=1e-9, atol=1e-12)
        built = [
            part.base if part.coefficients is None else part.coefficients[:, None] * part.base
            for part in rows.factors()
        ]
        np.testing.assert_allclose(np.concatenate(built), all_rows, rtol=1e-13, atol=1e-15)
        single_gradients = np.array([view.gradient(w, i) for i in (0, 17, 999)])
        np.testing.assert_allclose(single_gradients, all_rows[[0, 17, 999]], rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(view.mean_gradient(w), all_rows.mean(axis=0), atol=1e-13)


@EVERY_PROBLEM
def test_mean_gradient_is_the_derivative_of_the_risk_and_the_risk_is_convex(problem: Any) -> None:
    sample, w = sampled(problem, n=200, d=4)
    assert sample.risk(w) == pytest.approx(losses(sample, w).mean(), rel=1e-12)
    gradient, step = sample.mean_gradient(w), 1e-7
    rise = [(sample.risk(w + step * e) - sample.risk(w - step * e)) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(gradient, rise, atol=1e-6)  # No kink lies within a step of w.
    rng = np.random.default_rng(0)
    for _ in range(20):
        v = w + rng.standard_normal(4)
        # The loss of every record lies above its tangent, and not only their mean.
        tangent = losses(sample, w) + dense(sample.gradients(w)) @ (v - w)
        assert (losses(sample, v) - tangent).min() >= -1e-9


@EVERY_PROBLEM
def test_a_part_is_the_same_records_without_a_copy(problem: Any) -> None:
    sample, w = sampled(problem)
    for view in (sample, sample.bounded(3.0)):
        part = view.part(250, 600)
        assert (part.n, part.d) == (350, D)
        assert np.shares_memory(records(part), records(view))
        part_gradients, all_gradients = dense(part.gradients(w)), dense(view.gradients(w))
        np.testing.assert_allclose(part_gradients, all_gradients[250:600], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(part.gradient(w, 3), view.gradient(w, 253), rtol=1e-12)
        assert part.constraint == view.constraint


@EVERY_PROBLEM
def test_bounded_shrinks_the_long_records_and_leaves_the_others(problem: Any) -> None:
    sample, w = sampled(problem)
    x = records(sample)
    norms = np.linalg.norm(x, axis=1)
    radius = float(np.median(norms))
    shrunk = x * np.minimum(1.0, radius / norms)[:, None]
    by_hand = with_records(sample, shrunk)
    bounded = sample.bounded(radius)
    expected = dense(by_hand.gradients(w))
    np.testing.assert_allclose(dense(bounded.gradients(w)), expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(bounded.mean_gradient(w), by_hand.mean_gradient(w), atol=1e-12)
    assert bounded.risk(w) == pytest.approx(by_hand.risk(w), rel=1e-12)
    # A later bound that is larger changes nothing, while a smaller one counts.
    bounded_again = dense(bounded.bounded(10 * radius).gradients(w))
    np.testing.assert_allclose(bounded_again, expected, rtol=1e-9, atol=1e-11)
    bounded_twice = dense(bounded.bounded(0.5 * radius).gradients(w))
    bounded_once = dense(sample.bounded(0.5 * radius).gradients(w))
    np.testing.assert_allclose(bounded_twice, bounded_once, rtol=1e-9, atol=1e-11)
    for bad in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(InvalidInput, match=r"^radius must be"):
            sample.bounded(bad)


@EVERY_PROBLEM
def test_bounded_records_have_the_lipschitz_constant_that_the_radius_gives(problem: Any) -> None:
    sample, w = sampled(problem, d=5)
    radius = 0.8
    longest = max(np.linalg.norm(dense(sample.bounded(radius).gradients(w)), axis=1))
    if problem in MODELS:
        slope = sample.link.slope_bound
        assert longest <= slope * radius * (1 + 1e-12)
    else:
        certified = make(problem, Gaussian, d=5).constants
        limits = {"mean": radius + float(np.linalg.norm(w)), "linear": radius}
        assert longest <= limits.get(certified.structure, certified.lipschitz) * (1 + 1e-12)


BROKEN = (
    [math.nan] * 5,
    [math.nan, 0.0, 1.0, 2.0, 3.0],
    [math.inf, -math.inf, 0.0, 1.0, 1.0],
    [math.inf] * 5,
    [0.0, 0.0, 0.0, 0.0, -math.inf],
    [1e300] * 5,
    [1.7e308, -1.7e308, 1.7e308, 1.7e308, 0.0],
    [1e200, 0.0, 0.0, 0.0, 0.0],
)


def broken(problem: Any) -> tuple[Any, Any]:
    """Return a sample whose first records and next targets are broken, and a point."""
    sample, w = sampled(problem, n=60, d=5)
    x = records(sample).copy()
    x[: len(BROKEN)] = BROKEN
    if isinstance(sample, PointSample):
        return with_records(sample, x), w
    targets = sample.targets.copy()
    targets[20:24] = [math.nan, math.inf, -math.inf, 1e300]
    return with_records(sample, x, targets), w


@EVERY_PROBLEM
def test_broken_records_raise_no_warning_and_only_they_are_not_finite(problem: Any) -> None:
    sample, w = broken(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = dense(sample.gradients(w))
        single = np.array([sample.gradient(w, i) for i in range(sample.n)])
        sample.mean_gradient(w)
        sample.risk(w)
    finite = np.isfinite(rows).all(axis=1)
    assert np.array_equal(finite, np.isfinite(single).all(axis=1))
    usual = np.setdiff1d(np.arange(8, 60), np.arange(20, 24))
    assert finite[usual].all()
    np.testing.assert_allclose(rows[finite], single[finite], rtol=1e-12)
    assert not finite[:2].any()  # A NaN is not hidden.


@EVERY_PROBLEM
def test_bounded_makes_broken_records_zero_and_everything_finite(problem: Any) -> None:
    sample, w = broken(problem)
    x = records(sample).copy()
    x[: len(BROKEN)] = 0.0
    good = with_records(sample, x)
    if isinstance(good, LinearSample):
        good = replace(good, targets=good.link.admissible(good.targets))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bounded, expected = sample.bounded(2.0), good.bounded(2.0)
        rows = dense(bounded.gradients(w))
        np.testing.assert_allclose(rows, dense(expected.gradients(w)), rtol=1e-12)
        single = np.array([bounded.gradient(w, i) for i in range(60)])
        np.testing.assert_allclose(single, rows, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(bounded.mean_gradient(w), rows.mean(axis=0), rtol=1e-12)
        assert bounded.risk(w) == pytest.approx(expected.risk(w), rel=1e-12)
        built = [p.base if p.coefficients is None else p for p in bounded.gradients(w).factors()]
        assert all(np.isfinite(b if isinstance(b, np.ndarray) else b.base).all() for b in built)
        np.testing.assert_allclose(
            clipped_mean(bounded.gradients(w), 1e6), rows.mean(axis=0), rtol=1e-9
        )


@EVERY_PROBLEM
def test_one_record_moves_a_clipped_mean_by_at_most_two_radii_over_n(problem: Any) -> None:
    sample, w = sampled(problem, n=60, d=5)
    mean_before = clipped_mean(sample.gradients(w), 0.3)
    for record in (*BROKEN, [0.0] * 5, [1e-300] * 5):
        for target in (0.0, 1.0, 1e300, math.nan, -math.inf):
            x = records(sample).copy()
            x[7] = record
            targets = None
            if problem in MODELS:
                targets = sample.targets.copy()
                targets[7] = target
            mean_after = clipped_mean(with_records(sample, x, targets).gradients(w), 0.3)
            change = float(np.linalg.norm(mean_after - mean_before))
            assert change <= 2 * 0.3 / 60 * (1 + 1e-9)


def test_clipped_mean_of_scaled_rows_equals_that_of_the_dense_gradients() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3000, 7)) * rng.pareto(1.2, size=(3000, 1))
    coefficients = rng.standard_normal(3000)
    coefficients[::7] = 0.0
    coefficients[1::50] = 1e100
    coefficients[2::50] = -1e140
    coefficients[3::50] = math.nan
    coefficients[4::50] = math.inf
    coefficients[5::50] = 1e-200
    x[6::50] = math.nan
    x[8::50, 2] = -math.inf
    x[9::50] = 0.0
    x[10::50] *= 1e100
    rows = ScaledRows(DenseRows(x), lambda block, selected: coefficients[selected])
    with np.errstate(over="ignore", invalid="ignore"):
        formed = DenseRows(coefficients[:, None] * x)
    for radius in (1e-3, 1.0, 50.0, 1e9):
        scaled, whole = clipped_mean(rows, radius), clipped_mean(formed, radius)
        np.testing.assert_allclose(scaled, whole, rtol=1e-9, atol=1e-13 * radius)
        assert np.linalg.norm(whole) > 1e-3 * min(radius, 1.0)


@pytest.mark.parametrize("size", [10 * FARTHEST, 1e300])
def test_coefficients_beyond_the_range_are_zero_where_dense_rows_are_projected(size: float) -> None:
    x = np.eye(2)
    rows = ScaledRows(DenseRows(x), lambda block, selected: np.array([size, 1.0])[selected])
    assert np.array_equal(clipped_mean(rows, 1.0), [0.0, 0.5])
    dense_rows = DenseRows(np.array([size, 1.0])[:, None] * x)
    np.testing.assert_allclose(clipped_mean(dense_rows, 1.0), [0.5, 0.5], rtol=1e-12)


def test_samples_refuse_targets_that_do_not_fit() -> None:
    sample, _ = sampled(MODELS[0], n=10, d=2)
    with pytest.raises(InvalidInput, match=r"^targets must be of shape \(10,\)"):
        replace(sample, targets=np.zeros(9))


@pytest.mark.parametrize("problem", POINTS)
def test_the_subgradient_at_a_record_is_finite(problem: Any) -> None:
    sample, _ = sampled(problem, n=5, d=3)
    w = records(sample)[2].copy()
    assert np.isfinite(dense(sample.gradients(w))).all()
    np.testing.assert_allclose(sample.gradient(w, 2), dense(sample.gradients(w))[2], atol=1e-15)


def test_distances_to_far_points_keep_their_digits() -> None:
    sample, _ = sampled(POINTS[2], n=3, d=3)
    w = np.array([0.3, -0.4, 1.2])
    direction = np.array([2.0, 1.0, -2.0]) / 3
    for distance in (1e8, 1e100, 1e300):
        far_sample = with_records(sample, np.tile(distance * direction, (3, 1)))
        assert far_sample.risk(w) == pytest.approx(-float(w @ direction), abs=1e-7)


EXPONENTS = (1.0, 1.33, 2.0, 3.0, 11.0, 1e6, math.inf)
ADVERSARIES = (
    *BROKEN,
    [-1e300, 1e-320, 1e-320, 1e-320, 1e-320],
    [1e-320] * 5,
    [-1e150, 0.0, 0.0, 0.0, 0.0],  # This is the longest record that is kept.
    [4e149] * 5,  # In the l1 norm this record is too long.
    [1e149, -1e-149, 1.0, 0.0, 1e-300],
    [1e-160] * 5,
    [-1.0, 0.0, 0.0, 0.0, 0.0],
    [1.0] * 5,
    [-3.0, 5.0, 0.1, 2.0, 0.0],
)


def every_path(sample: Any, w: Any) -> dict[str, Any]:
    """Return the gradients of all records at w, shape (n, d), by every code path that computes
    them.
    """
    rows, n = sample.gradients(w), sample.n
    parts = [
        f.base if f.coefficients is None else f.coefficients[:, None] * f.base
        for f in rows.factors()
    ]
    return {
        "blocks": dense(rows),
        "take": rows.take(np.arange(n)),
        "factors": np.concatenate(parts),
        "single": np.array([sample.gradient(w, i) for i in range(n)]),
        "mean": np.array([sample.part(i, i + 1).mean_gradient(w) for i in range(n)]),
        "part": np.concatenate(
            [dense(sample.part(i, min(i + 3, n)).gradients(w)) for i in range(0, n, 3)]
        ),
    }


# For these points the gradients at 0 are minus the records, and for these models slopes in [-1, 1]
# times the records.
BOUNDED = (*POINTS[:2], *(m for m in MODELS if m.card.slug != "least-squares"))


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("problem", BOUNDED)
def test_every_record_is_bounded_in_every_norm_on_every_path(problem: Any, exponent: float) -> None:
    """The privacy of a method in l_q rests on the dual norm of a record, whatever its entries."""
    sample, w = sampled(problem, n=len(ADVERSARIES), d=5)
    w = 0.0 * w if problem in POINTS else w
    targets = np.resize([1.0, math.nan, -math.inf, 1e300, 0.0, -1.0], len(ADVERSARIES))
    adversarial = with_records(sample, np.array(ADVERSARIES), targets)
    for radius in (1e-100, 0.7, 1e90):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            paths = every_path(adversarial.bounded(radius, exponent), w)
        for path, rows in paths.items():
            assert np.isfinite(rows).all(), path
            longest = float(row_norms(rows, exponent).max())
            assert longest <= radius * (1 + 1e-12), path
            np.testing.assert_allclose(rows, paths["blocks"], rtol=1e-9, atol=1e-300, err_msg=path)
        if problem in POINTS:  # The bound is attained, and shorter records stay unchanged.
            assert longest >= radius * (1 - 1e-12)
            broken = np.array(ADVERSARIES[-3:])
            short = row_norms(broken, exponent) <= radius
            np.testing.assert_array_equal(paths["blocks"][-3:][short], -broken[short])


def test_a_second_bound_in_another_norm_keeps_the_first_or_is_refused() -> None:
    sample, w = sampled(MODELS[1], n=50, d=5)
    bounded_twice = dense(sample.bounded(0.5, 1.0).bounded(0.4, math.inf).gradients(w))
    assert row_norms(bounded_twice, 1.0).max() <= 0.5 * (1 + 1e-12)
    assert row_norms(bounded_twice, math.inf).max() <= 0.4 * (1 + 1e-12)
    points, _ = sampled(POINTS[1], n=50, d=5)
    with pytest.raises(InvalidInput, match=r"^exponent must be that of the first bound, 1,"):
        points.bounded(0.5, 1.0).bounded(0.4, math.inf)


@EVERY_PROBLEM
def test_a_gradient_is_the_same_to_the_last_bit_whichever_others_are_asked_for(
    problem: Any,
) -> None:
    """Otherwise one record of a secret sample would move the gradients of the others, too."""
    rng = np.random.default_rng(5)
    for d in (3, 8, 20):
        sample, w = sampled(problem, n=64, d=d)
        for view in (sample, sample.bounded(0.7 * math.sqrt(d))):
            rows = view.gradients(w)
            whole = rows.take(np.arange(64))
            for count in (1, 2, 3, 4, 5, 7, 13, 33):
                places = rng.choice(64, count, replace=False).astype(np.intp)
                assert np.array_equal(rows.take(places), whole[places])


def test_records_on_a_kink_stay_on_it_in_every_number() -> None:
    """The gradients of such records are 0, in a sum of few and in a sum of many."""
    rng = np.random.default_rng(6)
    for d in (3, 8, 20):
        sample, w = sampled(Absolute, n=64, d=d)
        record = rng.standard_normal(d)
        sample = with_records(sample, np.tile(record, (64, 1)), np.full(64, record.dot(w)))
        for count in range(1, 40):
            chosen = Selected(rows=sample.gradients(w), places=np.arange(count))
            assert not selected_sum(chosen, 1e9).any()
            assert not step_sum(sample, w, chosen.places, 1e9).any()
