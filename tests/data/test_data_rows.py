"""Rows in blocks: every row once, and norms that survive any record."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.data import DenseRows
from dpsco_core.data.rows import BLOCK_BYTES, row_norms, rows_per_block

HUGE, TINY, DENORMAL = 1e300, 1e-300, 5e-324


@pytest.mark.parametrize(("n", "d"), [(1, 1), (5, 3), (200_001, 1), (9000, 20), (3, 100_000)])
def test_blocks_cover_all_rows_once_and_fit_the_cache(n: int, d: int) -> None:
    x = np.arange(n * d, dtype=float).reshape(n, d)
    blocks = list(DenseRows(x).blocks())
    assert np.array_equal(np.concatenate(blocks), x)
    assert all(np.shares_memory(block, x) for block in blocks)
    assert all(len(b) == 1 or b.nbytes <= BLOCK_BYTES for b in blocks)
    assert all(len(b) == rows_per_block(d) for b in blocks[:-1])


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 9000), (1, 8999), (3276, 3278), (7, 7), (8999, 9000)]
)
def test_blocks_cover_exactly_the_rows_that_are_asked_for(start: int, stop: int) -> None:
    x = np.arange(9000 * 20, dtype=float).reshape(9000, 20)
    blocks = list(DenseRows(x).blocks(start, stop))
    assert sum(len(b) for b in blocks) == stop - start
    if blocks:
        assert np.array_equal(np.concatenate(blocks), x[start:stop])


def test_take_returns_the_rows_at_the_indices_in_their_order() -> None:
    x = np.arange(12.0).reshape(4, 3)
    assert np.array_equal(DenseRows(x).take(np.array([2, 0, 2])), x[[2, 0, 2]])


@pytest.mark.parametrize(
    ("row", "norm"),
    [
        ([3.0, 4.0], 5.0),
        ([0.0, -0.0], 0.0),
        ([3 * HUGE, -4 * HUGE], 5 * HUGE),
        ([3 * TINY, 4 * TINY], 5 * TINY),
        ([3e-160, 4e-160], 5e-160),
        ([DENORMAL, 0.0], DENORMAL),
        ([30 * DENORMAL, 40 * DENORMAL], 50 * DENORMAL),
        ([HUGE, TINY], HUGE),
        ([1.7e308, 1.7e308], math.inf),
        ([math.nan, 1.0], math.inf),
        ([math.inf, 1.0], math.inf),
        ([-math.inf, math.inf], math.inf),
        ([math.nan, math.inf], math.inf),
    ],
)
def test_norms_are_right_for_every_record(row: list[float], norm: float) -> None:
    ordinary = [1.0, 0.0]
    norms = row_norms(np.array([ordinary, row, ordinary]))
    assert norms[0] == norms[2] == 1.0
    assert norms[1] == pytest.approx(norm, rel=1e-14, abs=0.0)


def test_norms_of_ordinary_rows_equal_numpy() -> None:
    x = np.random.default_rng(0).standard_normal((50_000, 3))
    np.testing.assert_allclose(DenseRows(x).norms(), np.linalg.norm(x, axis=1), rtol=1e-14)


@pytest.mark.parametrize("shape", [(3,), (0, 2), (2, 0), (2, 2, 2)])
def test_an_array_that_is_not_rows_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match=r"^x must be an array"):
        DenseRows(np.zeros(shape))
