"""Passes over the rows that share results have the counts and sums of independent passes."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import DenseRows, ScaledRows
from dpsco_core.methods.mean import reading as reading_module
from dpsco_core.methods.mean.ladder import candidate_radii, clipped_sums, norm_counts
from dpsco_core.methods.mean.reading import Reading
from dpsco_core.methods.records.base import clipped_sum

CENTRE = np.array([0.3, -0.2, 0.1, 0.0, 0.25, 0.4])
LADDER = candidate_radii(20.0, 40_000)


def records(seed: int = 0) -> Vector:
    """Return heavy-tailed rows in more than one block, some of them at and around the centre."""
    x = 0.4 * np.random.default_rng(seed).standard_t(2.5, size=(40_000, 6))
    x[:50] = CENTRE + 1e-9 * x[:50]
    x[50], x[51] = CENTRE, 1e60 * x[51]
    return x


def changed(reading: Reading, radii: tuple[float, ...]) -> tuple[Vector, list[int]]:
    """Return the sums at the radii, and the number of rows read by each update from an
    earlier sum.
    """
    calls: list[int] = []
    honest = reading_module._changed_sums

    def watched(rows: DenseRows, *args: Any) -> Vector:
        """Record the number of rows that are read, and read them."""
        calls.append(rows.n)
        return honest(rows, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading_module, "_changed_sums", watched)
        return reading.sums(radii, CENTRE), calls


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("radii", [(4.0,), (4.0, 6.5, 19.0), (9.0, 4.0)])
def test_shared_results_change_no_count_and_no_sum(
    kind: type[np.floating], radii: tuple[float, ...]
) -> None:
    x = records()
    rows = DenseRows(x.clip(-1e30, 1e30).astype(kind))
    reading = Reading(rows)
    assert reading.first_sum(8.0) == pytest.approx(clipped_sum(rows, 8.0), rel=1e-12)
    assert reading.counts(LADDER, CENTRE).tolist() == norm_counts(rows, LADDER, CENTRE).tolist()
    sums, calls = changed(reading, radii)
    assert calls  # At least one sum was a quick update of another.
    assert sums == pytest.approx(clipped_sums(rows, radii, CENTRE), rel=1e-11)


@pytest.mark.parametrize("wild", [math.nan, math.inf, 1e300, 1e160])
def test_an_extreme_row_takes_the_careful_path(wild: float) -> None:
    x = records()
    x[7, 2] = wild
    rows, reading = DenseRows(x), Reading(DenseRows(x))
    assert reading.first_sum(8.0) == pytest.approx(clipped_sum(rows, 8.0), rel=1e-12)
    assert reading.counts(LADDER, CENTRE).tolist() == norm_counts(rows, LADDER, CENTRE).tolist()
    sums, calls = changed(reading, (4.0, 6.0))
    assert not calls
    assert sums == pytest.approx(clipped_sums(rows, (4.0, 6.0), CENTRE), rel=1e-12)


def test_a_sum_without_counts_takes_no_square_for_a_norm() -> None:
    """Such a run makes no private choice of a radius, and clips around a centre."""
    rows = DenseRows(records())
    reading = Reading(rows)
    reading.first_sum(8.0)
    assert reading.sums((5.0,), CENTRE).tolist() == clipped_sums(rows, (5.0,), CENTRE).tolist()


def test_a_sum_is_recomputed_where_many_rows_change_or_digits_would_be_lost() -> None:
    rows = DenseRows(records())
    for radius, radii in ((8.0, (1.5, 6.0)), (1e9, (6.0,))):
        reading = Reading(rows)
        reading.first_sum(radius)
        reading.counts(LADDER, CENTRE)
        sums, calls = changed(reading, radii)
        assert not calls
        assert sums == pytest.approx(clipped_sums(rows, radii, CENTRE), rel=1e-12)


def test_a_far_row_adds_no_more_than_the_radius() -> None:
    """However far the row is, its part of the first sum is removed to the last digits."""
    x = records()
    for size in (1e3, 1e20, 1e70):
        y = x.copy()
        y[1000] = size * np.array([0.6, 0, 0, 0.8, 0, 0])
        sums_of_rows = []
        for data in (x, y):
            reading = Reading(DenseRows(data))
            reading.first_sum(8.0)
            reading.counts(LADDER, CENTRE)
            sums, calls = changed(reading, (4.0, 7.0))
            assert calls
            sums_of_rows.append(sums)
        distances = np.linalg.norm(sums_of_rows[1] - sums_of_rows[0], axis=1)
        assert (distances <= 2 * np.array([4.0, 7.0]) * (1 + 1e-9)).all()
        assert (distances > 3.0).all()


def test_rows_that_are_computed_on_the_fly_are_read_each_time() -> None:
    x = DenseRows(records().clip(-1e30, 1e30))
    rows = ScaledRows(x, lambda base, rows: np.full(len(base), -2.0))
    reading = Reading(rows)
    assert reading.first_sum(8.0).tolist() == clipped_sums(rows, (8.0,))[0].tolist()
    assert reading.counts(LADDER, None).tolist() == norm_counts(rows, LADDER).tolist()
    assert reading.sums((3.0,), None).tolist() == clipped_sums(rows, (3.0,)).tolist()


def test_forgetting_the_initial_weights_is_caught() -> None:
    """An update that takes every row to be whole in the first sum counts the rows outside twice."""
    honest = reading_module.FirstSum

    def forgetful(total: Vector, radius: float, outliers: Vector, weights: Vector) -> object:
        """Return the first sum without its outliers and their weights."""
        return honest(total, radius, outliers[:0].astype(np.intp), weights[:0])

    claim = partial(test_shared_results_change_no_count_and_no_sum, np.float64, (4.0, 19.0))
    claim()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading_module, "FirstSum", forgetful)
        with pytest.raises(AssertionError):
            claim()
