"""Spikes with words: what corners and blocks draw, and their moments."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.data import Corners, SignBlocks
from dpsco_core.data.hard import TwoPoint

LAWS: tuple[TwoPoint, ...] = (
    Corners(d=4, moment_order=2.5, spike_probability=0.2),
    Corners(d=4, moment_order=2.5, spike_probability=0.2, signed=False),
    SignBlocks(d=11, moment_order=2.5, spike_probability=0.2),
)
WORDS = (8, 4, 64)


def drawn_words(law: TwoPoint, count: int) -> Counter[tuple[int, ...]]:
    """Return how often each word occurs among `count` instances that are drawn from a law."""
    rng = np.random.default_rng(5)
    words = (law.draw(rng).pattern for _ in range(count))
    return Counter(word for word in words if word is not None)


@pytest.mark.parametrize(("law", "count"), list(zip(LAWS, WORDS, strict=True)))
def test_every_word_is_drawn_equally_often(law: TwoPoint, count: int) -> None:
    drawn = drawn_words(law, 200 * count)
    assert len(drawn) == count
    # The tolerance is six standard deviations of a count about 200.
    assert all(abs(times - 200) < 6 * math.sqrt(200) for times in drawn.values())


@pytest.mark.parametrize("law", LAWS)
def test_a_record_is_0_or_the_spike_with_the_moments_that_it_says(law: TwoPoint) -> None:
    member = law.draw(np.random.default_rng(1))
    assert member.pattern is not None
    word, size = np.array(member.pattern), 0.2 ** (-1 / 2.5)
    x = member.sample(20_000, np.random.default_rng(2)).x
    spiked = np.abs(x).sum(axis=1) > 0
    assert np.allclose(x[spiked], size * word)
    assert abs(spiked.mean() - 0.2) < 6 * math.sqrt(0.16 / 20_000)
    assert member.mean == pytest.approx(0.2 * size * word)
    assert law.mean_norm == pytest.approx(float(np.linalg.norm(member.mean)))
    assert law.record_norm == pytest.approx(size * math.sqrt(law.weight))
    centred = np.abs(np.where(word != 0, size - 0.2 * size, 0.0)) ** 2.5
    central = 0.2 * centred.max() + 0.8 * (0.2 * size) ** 2.5
    assert law.moment(2.5) == pytest.approx(central) and central <= 1
    assert law.variance_trace == pytest.approx(law.weight * 0.2 * 0.8 * size**2)


@pytest.mark.parametrize(
    ("family", "word", "sentence"),
    [
        (Corners, (1, 1), "pattern must be 2 numbers, one of them -1 or \\+1 and the others 0"),
        (Corners, (0, 2), "pattern must be 2 numbers"),
        (SignBlocks, (1, 1, 1, 1, 0), "pattern must be 5 numbers, signs in one block of 5"),
    ],
)
def test_a_word_of_another_kind_is_refused(
    family: type[TwoPoint], word: tuple[int, ...], sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        family(d=len(word), moment_order=2.0, spike_probability=0.1, pattern=word)


def test_one_coordinate_has_no_corner_and_a_few_are_one_block() -> None:
    with pytest.raises(InvalidInput, match="d must be an integer of at least 2"):
        Corners(d=1, moment_order=2.0, spike_probability=0.1)
    law = SignBlocks(d=3, moment_order=2.0, spike_probability=0.1)
    assert law.weight == 3 and len(drawn_words(law, 200)) == 8
