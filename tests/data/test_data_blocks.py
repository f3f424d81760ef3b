"""A sample is its blocks, whoever draws them; the ziggurat covers its density exactly.

Every statistical check has a false-alarm rate of at most 1e-6 and a fixed seed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from dpsco_core.base.errors import InvalidInput
from dpsco_core.data import DISTRIBUTIONS, Spike, StudentT
from dpsco_core.data.blocks import BlockStreams, draw_key, draw_rows, stream_rows
from dpsco_core.data.hard import HardInstance
from dpsco_core.data.ziggurat import LAYERS, PLACE_BITS, NormalShape, StudentShape, ziggurat
from tests.folded import each

FALSE_ALARM = 1e-6
SHAPES = [StudentShape(2.01), StudentShape(3.5), StudentShape(100.0), NormalShape()]


def law_of(kind: Any, d: int) -> Any:
    """Return a law of a class in d dimensions; from a hard instance a member is drawn."""
    if issubclass(kind, HardInstance):
        return kind(d=d, spike_probability=0.3).draw(np.random.default_rng(5))
    return kind(d=d, offset=1.0, peak=0.5)


@each("kind", DISTRIBUTIONS)
@each(("n", "d"), [(1, 2), (70_000, 3), (3, 70_000)])
def test_every_block_is_the_same_drawn_alone_or_by_threads(kind: Any, n: int, d: int) -> None:
    law, rng = law_of(kind, d), np.random.default_rng(1)
    whole = law.sample(n, rng).x
    rng = np.random.default_rng(1)
    assert np.array_equal(law.sample(n, rng, workers=3).x, whole)
    key, size = draw_key(np.random.default_rng(1)), stream_rows(d)
    streams = BlockStreams(key)
    for block in reversed(range(-(-n // size))):
        single_block = np.empty_like(whole[block * size : (block + 1) * size])
        law.fill(single_block, streams.generator(block))
        assert np.array_equal(single_block, whole[block * size : (block + 1) * size])


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
def test_single_precision_is_the_sample_rounded_once(kind: Any) -> None:
    law = law_of(kind, 3)
    double = law.sample(40_000, np.random.default_rng(2)).x
    single = law.sample(40_000, np.random.default_rng(2), dtype=np.float32).x
    assert single.dtype == np.float32
    assert np.array_equal(single, double.astype(np.float32))


def test_a_block_begins_where_the_jumps_of_numpy_lead() -> None:
    key = draw_key(np.random.default_rng(3))
    streams = BlockStreams(key)
    start = np.random.PCG64DXSM(np.random.SeedSequence(key))
    # An odd count of single-precision numbers leaves half a word in the generator.
    streams.generator(0).standard_normal(3, dtype=np.float32)
    for block in (5, 0, 1, 123_456):
        expected = start.jumped(block)
        assert np.array_equal(
            streams.generator(block).bit_generator.random_raw(9), expected.random_raw(9)
        )


def test_values_out_of_range_are_named() -> None:
    key = (1, 2)
    with pytest.raises(InvalidInput, match=r"^dtype must be float64 or float32"):
        draw_rows(StudentT(), 3, key, dtype=np.float16)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"^workers must be at least 1, got workers=0\.$"):
        draw_rows(StudentT(), 3, key, workers=0)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_layers_have_equal_areas_and_cover_the_density(shape: Any) -> None:
    layers = ziggurat(shape)
    ends = layers.widths * 2.0**PLACE_BITS
    areas = ends * layers.steps
    np.testing.assert_allclose(areas, areas[0], rtol=1e-12)
    assert layers.heights[0] == 0 and layers.heights[-1] + layers.steps[-1] >= 1
    np.testing.assert_allclose(layers.heights[1:], (layers.heights + layers.steps)[:-1], rtol=1e-14)
    # A layer ends where the density crosses its lower height, so no mass lies outside the layers.
    np.testing.assert_allclose(shape.density(ends[1:]), layers.heights[1:], rtol=1e-11)
    # A draw at a sure place lies under the density at the layer's upper height, or before the tail.
    inner = layers.widths * layers.sure_places
    assert inner[0] == pytest.approx(layers.edge, rel=1e-12)
    upper = (layers.heights + layers.steps)[1:-1]
    assert (shape.density(inner[1:-1]) >= upper * (1 - 1e-11)).all()
    assert layers.sure_places[-1] == 0
    assert (layers.sure_places / 2.0**PLACE_BITS).mean() > 0.98
    # The lowest layer consists of its rectangle and the tail, and has the area of any other.
    tail, _ = integrate.quad(lambda x: float(shape.density(np.array(x))), layers.edge, math.inf)
    rectangle = layers.edge * layers.heights[1]
    assert areas[0] == pytest.approx(rectangle + tail, rel=1e-7)
    total = 2 * integrate.quad(lambda x: float(shape.density(np.array(x))), 0, math.inf)[0]
    assert 1 <= 2 * LAYERS * areas[0] / total < 1.02


@pytest.mark.parametrize("shape", SHAPES)
def test_layers_edges_and_tail_have_the_law(shape: Any) -> None:
    law = stats.norm if isinstance(shape, NormalShape) else stats.t(shape.nu)
    layers, draws = ziggurat(shape), np.empty(2_000_000)
    layers.fill(draws, np.random.Generator(np.random.PCG64DXSM(7)))
    # The cells end where layers end, since a wrong wedge or tail moves mass between layers.
    ends = np.sort(layers.widths[2::4] * 2.0**PLACE_BITS)
    bounds = np.concatenate((-ends[::-1], ends))
    counts = np.bincount(np.searchsorted(bounds, draws), minlength=bounds.size + 1)
    masses = np.diff(np.concatenate(([0.0], law.cdf(bounds), [1.0])))
    assert stats.chisquare(counts, masses / masses.sum() * draws.size).pvalue > FALSE_ALARM
    tail_draws = np.abs(draws[np.abs(draws) > layers.edge])
    tail = law.sf(tail_draws) / law.sf(layers.edge)
    assert tail.size > 100
    assert stats.kstest(tail, "uniform").pvalue > FALSE_ALARM


def test_the_far_tail_is_drawn_beyond_any_edge() -> None:
    rng = np.random.default_rng(8)
    for shape, law in ((StudentShape(2.5), stats.t(2.5)), (NormalShape(), stats.norm)):
        for edge in (0.5, 6.0):
            draws = shape.draw_tail(edge, 20_000, rng)
            assert draws.min() > edge
            assert stats.kstest(law.sf(draws) / law.sf(edge), "uniform").pvalue > FALSE_ALARM
        assert stats.kstest(shape.draw_directly(20_000, rng), law.cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("shape", SHAPES)
def test_every_draw_is_multiplied_by_the_scale(shape: Any) -> None:
    # The same random words are used at two scales: draws that the layers leave open must be scaled
    # like all others.
    draws = np.empty((2, 50_000))
    for out, scale in zip(draws, (1.0, 8.0), strict=True):
        ziggurat(shape).fill(out, np.random.Generator(np.random.PCG64DXSM(9)), scale)
    assert np.array_equal(8 * draws[0], draws[1])


def test_blocks_of_a_hard_instance_have_the_stated_number_of_spikes() -> None:
    law = Spike(d=2, spike_probability=0.01).draw(np.random.default_rng(0))
    x = law.sample(500_000, np.random.default_rng(10)).x
    spikes = (x != 0).any(axis=1)
    size = stream_rows(2)
    counts = np.add.reduceat(spikes, np.arange(0, 500_000, size))
    assert stats.binomtest(int(counts.sum()), 500_000, 0.01).pvalue > FALSE_ALARM
    assert len(set(counts.tolist())) > 3
