"""Readings that share what they find: the counts and the sums are those of a reading of its own."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import DenseRows, ScaledRows
from dpsco_core.methods.mean import reading as reading_module
from dpsco_core.methods.mean.base import clipped_sum
from dpsco_core.methods.mean.ladder import clipped_sums, ladder, norm_counts
from dpsco_core.methods.mean.reading import Reading

CENTRE = np.array([0.3, -0.2, 0.1, 0.0, 0.25, 0.4])
LADDER = ladder(20.0, 40_000)


def records(seed: int = 0) -> Vector:
    """Return heavy-tailed rows, more than one stretch, with some at and about the centre."""
    x = 0.4 * np.random.default_rng(seed).standard_t(2.5, size=(40_000, 6))
    x[:50] = CENTRE + 1e-9 * x[:50]
    x[50], x[51] = CENTRE, 1e60 * x[51]
    return x


def changed(reading: Reading, radii: tuple[float, ...]) -> tuple[Vector, list[int]]:
    """Return the sums, and how often they were taken from the first one."""
    calls: list[int] = []
    honest = reading_module._changed_sums

    def watched(rows: DenseRows, *args: Any) -> Vector:
        calls.append(rows.n)
        return honest(rows, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading_module, "_changed_sums", watched)
        return reading.sums(radii, CENTRE), calls


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("radii", [(4.0,), (4.0, 6.5, 19.0), (9.0, 4.0)])
def test_what_readings_share_changes_no_count_and_no_sum(
    kind: type[np.floating], radii: tuple[float, ...]
) -> None:
    x = records()
    rows = DenseRows(x.clip(-1e30, 1e30).astype(kind))
    reading = Reading(rows)
    assert reading.first_sum(8.0) == pytest.approx(clipped_sum(rows, 8.0), rel=1e-12)
    assert reading.counts(LADDER, CENTRE).tolist() == norm_counts(rows, LADDER, CENTRE).tolist()
    sums, calls = changed(reading, radii)
    assert calls  # the short way was taken
    assert sums == pytest.approx(clipped_sums(rows, radii, CENTRE), rel=1e-11)


@pytest.mark.parametrize("wild", [math.nan, math.inf, 1e300, 1e160])
def test_a_wild_row_is_read_with_care(wild: float) -> None:
    x = records()
    x[7, 2] = wild
    rows, reading = DenseRows(x), Reading(DenseRows(x))
    assert reading.first_sum(8.0) == pytest.approx(clipped_sum(rows, 8.0), rel=1e-12)
    assert reading.counts(LADDER, CENTRE).tolist() == norm_counts(rows, LADDER, CENTRE).tolist()
    sums, calls = changed(reading, (4.0, 6.0))
    assert not calls
    assert sums == pytest.approx(clipped_sums(rows, (4.0, 6.0), CENTRE), rel=1e-12)


def test_a_sum_without_counts_takes_no_square_for_a_norm() -> None:
    """As in a run without a look, about a centre."""
    rows = DenseRows(records())
    reading = Reading(rows)
    reading.first_sum(8.0)
    assert reading.sums((5.0,), CENTRE).tolist() == clipped_sums(rows, (5.0,), CENTRE).tolist()


def test_a_sum_is_taken_afresh_where_many_rows_change_or_digits_would_be_lost() -> None:
    rows = DenseRows(records())
    for radius, radii in ((8.0, (1.5, 6.0)), (1e9, (6.0,))):
        reading = Reading(rows)
        reading.first_sum(radius)
        reading.counts(LADDER, CENTRE)
        sums, calls = changed(reading, radii)
        assert not calls
        assert sums == pytest.approx(clipped_sums(rows, radii, CENTRE), rel=1e-12)


def test_a_row_far_out_adds_no_more_than_the_radius() -> None:
    """However far: what the first sum holds of it is taken back to the last digits."""
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


def test_rows_that_are_formed_as_they_are_read_are_read_each_time() -> None:
    x = DenseRows(records().clip(-1e30, 1e30))
    rows = ScaledRows(x, lambda base, rows: np.full(len(base), -2.0))
    reading = Reading(rows)
    assert reading.first_sum(8.0).tolist() == clipped_sums(rows, (8.0,))[0].tolist()
    assert reading.counts(LADDER, None).tolist() == norm_counts(rows, LADDER).tolist()
    assert reading.sums((3.0,), None).tolist() == clipped_sums(rows, (3.0,)).tolist()


def test_first_weights_that_are_forgotten_are_caught() -> None:
    """A change that takes every row to be whole in the first sum counts those outside twice."""
    honest = reading_module.FirstSum

    def forgetful(total: Vector, radius: float, outliers: Vector, weights: Vector) -> object:
        return honest(total, radius, outliers[:0].astype(np.intp), weights[:0])

    claim = partial(test_what_readings_share_changes_no_count_and_no_sum, np.float64, (4.0, 19.0))
    claim()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading_module, "FirstSum", forgetful)
        with pytest.raises(AssertionError):
            claim()
