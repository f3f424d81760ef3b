"""How far one record moves every exact statistic: the formulas, and where they are attained.

`tests/trust/test_hostile.py` tries for all methods that no record, however broken, moves one
further.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpsco_core.base.errors import InvalidInput
from dpsco_core.methods.mean import (
    CoordinatewiseCDP,
    CoordinatewisePure,
    IterativeUpdating,
    NoiseSmoothing,
    SimpleClipping,
)
from dpsco_core.methods.records import groups
from dpsco_core.methods.records.base import (
    LARGEST_LEVEL,
    SMALLEST_LEVEL,
    clip_to_ball,
    median_sensitivity,
)
from dpsco_core.statements.kamath import algorithm_3_sensitivity
from tests.folded import each
from tests.methods.mean.checks import (
    PRIVATE,
    change_of_statistic,
    check_sensitivity,
    make_setting,
    worst_neighbours,
)

EVERY_METHOD = [
    *(m(calibration=c) for m in PRIVATE for c in ("tight", "paper")),
    SimpleClipping(radius=2.5),
    IterativeUpdating(groups=3, radius=2.5),
    CoordinatewiseCDP(blocks=4, threshold=1.5),
    CoordinatewiseCDP(blocks=5, threshold=1.5),
    CoordinatewisePure(blocks=3, threshold=0.5),
    NoiseSmoothing(smoothing_variance=0.1, tau=2.0, calibration="paper"),
    NoiseSmoothing(smoothing_variance=2.0, tau=0.5),
]


@pytest.fixture(autouse=True, scope="module")
def without_the_walk() -> Iterator[None]:
    """Leave out the walk of iterative updating, which sees only released values."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "walk_to_centre", lambda points, *_: points[0])
        yield


def methods_at_level(level: float) -> list[Any]:
    """Return all methods of the module, each with this clip level."""
    return [
        SimpleClipping(radius=level),
        IterativeUpdating(radius=level, groups=2),
        CoordinatewiseCDP(threshold=level, blocks=2),
        CoordinatewisePure(threshold=level, blocks=3),
        NoiseSmoothing(tau=level),
    ]


@pytest.mark.parametrize("level", [0.0, -1.0, 1e-151, 1e151, math.inf, math.nan])
@pytest.mark.parametrize("i", range(5))
def test_a_clip_level_beyond_doubles_is_refused_before_any_record_is_seen(
    level: float, i: int
) -> None:
    with pytest.raises(InvalidInput, match="must be between 1e-150 and 1e\\+150"):
        methods_at_level(level)[i].plan(make_setting(n=6, d=3))


@pytest.mark.parametrize("method", EVERY_METHOD, ids=str)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (24, 1), (72, 4)])
def test_the_sensitivity_is_attained(method: Any, n: int, d: int) -> None:
    blocks = getattr(method, "blocks", None) or getattr(method, "groups", None) or 1
    setting = make_setting(n=max(n, blocks), d=d)
    x, neighbour = worst_neighbours(method, setting)
    paper = method.calibration == "paper" and not isinstance(
        method, (SimpleClipping, IterativeUpdating, NoiseSmoothing)
    )
    check_sensitivity(method, setting, x, neighbour, attained=not paper and not _printed(method))


def _printed(method: Any) -> bool:
    """Whether a method's noise is the printed one with c = 1, which is larger than needed."""
    paper = isinstance(method, NoiseSmoothing) and method.calibration == "paper"
    return paper and method.smoothing_variance is None


def test_a_clipped_mean_moves_by_2_radii_over_n() -> None:
    setting, method = make_setting(n=10, d=4), SimpleClipping(radius=3.0)
    x, neighbour = np.zeros((10, 4)), np.zeros((10, 4))
    x[7, 2], neighbour[7, 2] = 3.0, -3.0
    np.testing.assert_allclose(
        change_of_statistic(method, setting, x, neighbour), [0, 0, 0.6, 0], rtol=1e-14
    )
    assert method.plan(setting).noise.l2_sensitivity == pytest.approx(0.6, rel=1e-15)


def test_one_group_mean_moves_by_2_radii_over_the_group_size_and_no_other_moves() -> None:
    setting, method = make_setting(n=20, d=2), IterativeUpdating(radius=3.0, groups=4)
    x = np.random.default_rng(0).normal(size=(20, 2))
    neighbour = x.copy()
    x[5], neighbour[5] = (1e9, 0), (-1e9, 0)
    distance = change_of_statistic(method, setting, x, neighbour)
    assert np.sort(np.abs(distance[:, 0])).tolist() == pytest.approx(
        [0, 0, 0, 2 * 3.0 / 5], rel=1e-12
    )
    assert np.all(distance[:, 1] == 0)
    assert method.plan(setting).noise.l2_sensitivity == pytest.approx(6 / 5, rel=1e-15)


@each("blocks", range(1, 12))
@each("spare", [0, 3])
def test_median_of_blocks_moves_by_half_a_step_if_even_and_a_whole_step_if_odd(
    blocks: int, spare: int
) -> None:
    size = 4
    setting = make_setting(n=blocks * size + min(spare, blocks - 1), d=2)
    method = CoordinatewiseCDP(blocks=blocks, threshold=1.0)
    x, neighbour = worst_neighbours(method, setting)
    step = (3.0 if blocks % 2 == 0 else 6.0) / size
    distance = change_of_statistic(method, setting, x, neighbour)
    np.testing.assert_allclose(np.abs(distance), step, rtol=1e-12)
    assert median_sensitivity(1.0, blocks, size) == step


@each("blocks", range(1, 26))
def test_random_block_means_never_move_the_median_by_more_than_its_sensitivity(blocks: int) -> None:
    rng = np.random.default_rng(blocks)
    means = 3 * rng.uniform(-1, 1, size=(4000, blocks))
    means[:2000] = np.round(means[:2000])  # Rounding makes ties.
    neighbour = means.copy()
    neighbour[:, 0] = np.clip(means[:, 0] + 2 * rng.choice([-1, 1], 4000), -3, 3)
    distance = np.abs(np.median(means, axis=1) - np.median(neighbour, axis=1)).max()
    # A mean of six blocks moves by at most two of them.
    assert distance <= 2 * median_sensitivity(1.0, blocks, 1) / 6 + 1e-12


def test_the_printed_sensitivity_is_never_below_the_proven_one() -> None:
    for blocks in range(1, 60):
        for n in range(blocks, 6 * blocks + 5):
            proven = median_sensitivity(10.0, blocks, n // blocks)
            assert algorithm_3_sensitivity(10.0, blocks, n) > proven * (1 - 1e-12)
            if n % blocks == 0:
                factor = 4 if blocks % 2 == 0 else 2
                assert algorithm_3_sensitivity(10.0, blocks, n) == pytest.approx(factor * proven)


def test_a_record_in_the_dropped_remainder_moves_nothing() -> None:
    setting, method = make_setting(n=11, d=2), CoordinatewiseCDP(blocks=4, threshold=1.0)
    x = np.random.default_rng(0).normal(size=(11, 2))
    for i in (8, 9, 10):
        neighbour = x.copy()
        neighbour[i] = 1e9
        assert not change_of_statistic(method, setting, x, neighbour).any()


@pytest.mark.parametrize("d", [1, 2, 7])
def test_all_coordinates_of_one_record_move_together(d: int) -> None:
    setting = make_setting(n=8, d=d)
    for method in (CoordinatewiseCDP(threshold=1.0, blocks=2), NoiseSmoothing(tau=1.0)):
        entry_sensitivity = {
            CoordinatewiseCDP: lambda p: (
                p.statistic.coordinate_sensitivity(p.setting.n) * math.sqrt(d)
            ),
            NoiseSmoothing: lambda p: p.noise.l2_sensitivity,
        }[type(method)](method.plan(setting))
        distance = change_of_statistic(method, setting, *worst_neighbours(method, setting))
        assert float(np.linalg.norm(distance)) == pytest.approx(entry_sensitivity, rel=1e-9)
        assert np.abs(distance) == pytest.approx(np.full(d, np.abs(distance[0])))


ANY_FLOAT = st.floats(width=64, allow_nan=True, allow_infinity=True)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    block=arrays(np.float64, (3, 4), elements=ANY_FLOAT),
    radius=st.floats(SMALLEST_LEVEL, LARGEST_LEVEL),
)
def test_every_clipped_row_is_in_the_ball(block: np.ndarray, radius: float) -> None:
    original = block.copy()
    safe, weights = clip_to_ball(block, radius)
    np.testing.assert_array_equal(block, original)
    scaled = safe / radius * weights[:, None] if radius > 1 else safe * (weights / radius)[:, None]
    assert np.all(np.linalg.norm(scaled, axis=1) <= 1 + 1e-12)


def test_a_record_far_out_is_projected_and_not_dropped() -> None:
    for size in (1e3, 1e150, 1e151, 1e300, 1.7e308):
        block = np.array([[size, -size, 0.0], [0.3, 0.4, 0.0]])
        safe, weights = clip_to_ball(block, 2.0)
        clipped = safe * weights[:, None]
        np.testing.assert_allclose(clipped[0], [math.sqrt(2), -math.sqrt(2), 0], rtol=1e-14)
        np.testing.assert_array_equal(clipped[1], block[1])
