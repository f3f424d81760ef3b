"""Quick code paths change no result: extreme rows, groups by matrix, and sums over pieces."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpsco_core.data.rows import DenseRows, Factors
from dpsco_core.methods.mean import CoordinatewiseCDP, NoiseSmoothing, SampleMean, SimpleClipping
from dpsco_core.methods.records.base import clip_to_ball, clipped_mean
from dpsco_core.methods.records.groups import clipped_group_means, secret_groups
from dpsco_core.privacy import Ledger
from tests.broken_records import ADVERSARIAL, adversarial
from tests.methods.mean.checks import make_setting

PLAIN = st.floats(-1e140, 1e140) | st.floats(-5, 5) | st.sampled_from([5e-324, 1e-200, -1e-160])
RADII = st.floats(1e-150, 1e150) | st.floats(0.1, 10) | st.sampled_from([1e-100, 9e-101])


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    block=arrays(np.float64, (5, 3), elements=PLAIN),
    radius=RADII,
    wild=st.sampled_from(ADVERSARIAL),
    place=st.integers(0, 4),
)
def test_an_extreme_row_does_not_change_the_result_of_other_rows(
    block: np.ndarray, radius: float, wild: tuple[float, ...], place: int
) -> None:
    """Results are equal to the last bit: blocks without such a row take a quicker path, and
    neighbours differ in it.
    """
    changed_block = block.copy()
    changed_block[place] = adversarial(wild, 3)
    values = []
    for rows in (block, changed_block):
        safe, weights = clip_to_ball(rows, radius)
        values.append(np.delete(safe * weights[:, None], place, axis=0))
    np.testing.assert_array_equal(*values)


@dataclass(frozen=True, eq=False)
class UnnamedRows(DenseRows):
    """Rows with coefficients whose base stores no norms."""

    scale: float = 1.0

    def factors(self) -> Iterator[Factors]:
        """Yield each block with a factor for its rows."""
        for block in self.blocks():
            yield Factors(block, np.full(len(block), self.scale))


def test_coefficients_count_where_no_norms_are_stored() -> None:
    x = np.random.default_rng(0).standard_t(2, size=(50, 3))
    np.testing.assert_allclose(
        clipped_mean(UnnamedRows(x, -3.0), 2.0), clipped_mean(DenseRows(-3.0 * x), 2.0), rtol=1e-12
    )


@pytest.mark.parametrize(("n", "groups"), [(40, 1), (40, 7), (41, 8), (9, 9)])
def test_group_means_by_matrix_agree_with_those_of_a_smaller_one(
    n: int, groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(n * groups)
    x = rng.standard_t(2, size=(n, 4))
    x[3], x[7] = (math.nan, 1.0, 0.0, 0.0), (1e300, -math.inf, 0.0, 1.0)
    group = secret_groups(n, groups, rng)
    assert np.bincount(group, minlength=groups + 1).tolist() == [n // groups] * groups + [
        n % groups
    ]
    means = clipped_group_means(DenseRows(x), group, groups, 1.5)
    safe, weights = clip_to_ball(x, 1.5)
    safe = safe * weights[:, None]
    by_hand = np.stack([safe[group == j].mean(axis=0) for j in range(groups)])
    np.testing.assert_allclose(means, by_hand, rtol=1e-12, atol=1e-15)
    monkeypatch.setattr("dpsco_core.methods.records.groups.rows_per_block", lambda d: groups)
    monkeypatch.setattr(
        "dpsco_core.data.rows.rows_per_block", lambda d: groups
    )  # With these blocks some groups do not occur in a block.
    by_compressing = clipped_group_means(DenseRows(x), group, groups, 1.5)
    np.testing.assert_allclose(by_compressing, by_hand, rtol=1e-12, atol=1e-15)


def test_every_record_is_as_likely_in_every_group_and_left_out() -> None:
    rng = np.random.default_rng(4)
    splits = np.stack([secret_groups(11, 3, rng) for _ in range(20_000)])
    expected = np.array([3, 3, 3, 2]) / 11
    counts = np.stack([(splits == j).sum(axis=0) for j in range(4)], axis=1)
    z = (counts - 20_000 * expected) / np.sqrt(20_000 * expected * (1 - expected))
    assert np.abs(z).max() < 5  # A false alarm over 44 normal scores has probability below 3e-5.
    same_share = (splits[:, 0] == splits[:, 1]).mean()
    by_law = (3 * 3 * 2 + 2) / 110
    assert abs(same_share - by_law) < 5 * math.sqrt(by_law * (1 - by_law) / 20_000)


@dataclass(frozen=True, eq=False)
class InPieces(DenseRows):
    """Rows whose sums are formed from pieces elsewhere; they are never read as a whole."""

    cuts: tuple[int, ...] = ()

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[np.ndarray]:
        """Fail, since no method may read the rows as a whole."""
        raise AssertionError("read as a whole")

    def total(self, part: Callable[[Any], np.ndarray]) -> np.ndarray:
        """Return a sum over pieces, by a function that is sent as to another process."""
        sent = pickle.loads(pickle.dumps(part))
        pieces = np.split(self.x, self.cuts)
        return np.sum([sent(DenseRows(piece)) for piece in pieces], axis=0)


@pytest.mark.parametrize(
    "method",
    [
        SampleMean(),
        SimpleClipping(radius=2.0),
        CoordinatewiseCDP(threshold=0.7, blocks=1),
        NoiseSmoothing(tau=1.0),
    ],
    ids=lambda method: method.card.slug,
)
def test_a_mean_is_the_sum_over_pieces(method: Any) -> None:
    x = np.random.default_rng(0).standard_t(2, size=(60, 3))
    setting = make_setting(n=60, d=3)

    def value(rows: DenseRows) -> np.ndarray:
        """Return the method's answer on some rows."""
        release = method.release(
            rows, method.plan(setting), Ledger(setting.budget), np.random.default_rng(1)
        )
        return np.asarray(release.value)

    np.testing.assert_allclose(value(InPieces(x, (1, 20, 45))), value(DenseRows(x)), rtol=1e-12)
