"""The robust mean filter takes few distances, and finds what all of them would show."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.spatial

from dpsco_core.privacy.filter import robust_mean as robust_filter
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from tests.methods.user.helpers import FILTERS, keep_of


@pytest.mark.parametrize("keep", FILTERS, ids=str)
@pytest.mark.parametrize("d", [1, 3, 40])
def test_pairs_that_the_triangle_inequality_decides_are_near_or_far_as_their_distances_say(
    keep: RobustFilter, d: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robust_filter, "BLOCK", 700)
    rng = np.random.default_rng(d)
    for spread, shift, outliers in itertools.product((0.3, 1.0, 4.0), (0.0, 5.0), (0, 1, 30)):
        x = rng.normal(size=(150, d))
        # The lengths repeat and pairs lie on opposite sides, so that sums of lengths are at the
        # rim.
        x *= spread * rng.choice([0.5, 1.0], size=(150, 1)) / np.linalg.norm(x, axis=1)[:, None]
        x[75:] = -x[:75]
        x += shift
        x[:outliers] *= 1e4
        distances = scipy.spatial.distance.cdist(x, x)
        close_pairs = np.count_nonzero(distances <= keep.score_radius)
        counts = np.count_nonzero(distances <= keep.filter_radius * (1 + 1e-9), axis=1)
        examined = keep.examine(x)
        assert examined.score == close_pairs / 150
        assert (examined.counts == counts).all()


@pytest.mark.parametrize("keep", FILTERS, ids=str)
@pytest.mark.parametrize("d", [1, 3, 40, 300])
def test_pairs_within_the_rounding_of_a_radius_are_decided_by_their_distance(
    keep: RobustFilter, d: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Sums and differences of two lengths equal a radius up to a few units in the last place.
    # Without its room for rounding, the triangle inequality would decide some pairs otherwise than
    # the distance does, and differently in another order of the points.
    monkeypatch.setattr(robust_filter, "BLOCK", 700)
    rng = np.random.default_rng(d)
    score_radius, filter_radius = keep.score_radius, keep.filter_radius * (1 + 1e-9)
    for _ in range(5):
        lengths = rng.choice(
            [
                score_radius / 4,
                score_radius / 2,
                score_radius * 3 / 4,
                filter_radius + score_radius / 4,
            ],
            size=(40, 1),
        )
        lengths *= 1 + rng.integers(-4, 5, size=(40, 1)) * 2.0**-52
        directions = rng.normal(size=(5, d))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        x = lengths * np.repeat(directions, 8, axis=0)
        x = np.concatenate([x, -x])
        squares = sum((c[:, None] - c) ** 2 for c in x.T)
        distances = np.sqrt(squares)
        order = rng.permutation(80)
        for examined, places in ((keep.examine(x), np.arange(80)), (keep.examine(x[order]), order)):
            assert examined.score == np.count_nonzero(distances <= score_radius) / 80
            counts = np.count_nonzero(distances <= filter_radius, axis=1)
            assert (examined.counts == counts[places]).all()


def test_few_distances_are_taken_where_most_users_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    pair_counts = []
    plain = robust_filter._pair_distances

    def count_distances(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Compute distances, and record how many pairs they are for."""
        pair_counts.append(rows.shape[1] * columns.shape[1])
        return plain(rows, columns)

    monkeypatch.setattr(robust_filter, "_pair_distances", count_distances)
    keep, rng = keep_of("B"), np.random.default_rng(0)
    unit = rng.normal(size=(5000, 3))
    unit /= np.linalg.norm(unit, axis=1)[:, None]
    # The mean of these users is far from the opposite point, and zero is not.
    unit[:1000] = [1.0, 0.0, 0.0]
    assert keep.examine(unit / 2 * (1 - 1e-12)).score == 5000
    assert not pair_counts, "gradients of a bounded norm are never more than twice it apart"
    for value in (math.nan, 1e6):
        points = unit / 2 * (1 - 1e-12)
        points[4] = value
        assert keep.examine(points).score == pytest.approx((4999**2 + 1) / 5000)
    assert sum(pair_counts) < 5000**2 / 100
    pair_counts.clear()
    normal = rng.normal(size=(5000, 1)) / 6  # A radius of 1 is six standard deviations.
    assert 4999 < keep.examine(normal).score < 5000
    assert 0 < sum(pair_counts) < 5000**2 / 100
