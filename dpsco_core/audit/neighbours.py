"""Pairs of neighbours for the audit of a function of which nothing is known.

A function that treats the changed record correctly beside zeros may fail beside other records: a
clip at a quantile of the data moves with one record only where the sorted records have a gap at
that quantile. So the changed record stands among several kinds of other records, and has several
sizes.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.runs.study import stream

SIZES = (1.0, 1e-3, 1e-2, 1e3)  # the changed record's sizes, as multiples of the far value
UNIT = 1e-3  # the scale of records of a law, as a multiple of the far value
DECADES = 6  # Sizes on a logarithmic scale end so many powers of ten from the far value.
LEVELS = (0.9, 0.5, 0.75, 0.95, 0.99)  # the quantiles at which the sorted records have a gap


@dataclass(frozen=True, kw_only=True)
class NeighbourPair:
    """Two data sets that differ in their last record, whose coordinates are equal."""

    shared_records: str  # the records that both share, in words
    value: float  # every coordinate of the last record of the first data set
    other_value: float  # the same of the second data set


@dataclass(frozen=True, eq=False, kw_only=True)
class Background:
    """The records that neighbours share, and the values that the changed record has among them."""

    words: str
    # Returns the shared records, shape (n - 1, d), from n, d and a generator.
    draw: Callable[[int, int, np.random.Generator], Vector]
    values: tuple[tuple[float, float], ...]  # the changed record of each pair, in both data sets

    def records(self, n: int, d: int, seed: int) -> Vector:
        """Return a data set, shape (n, d), whose last record is 0; it is the same at every call."""
        shared = self.draw(n, d, stream(seed, "audit function records", 0))
        return np.concatenate([shared, np.zeros((1, d))])


def backgrounds(n: int, far_value: float) -> tuple[Background, ...]:
    """Return the kinds of other records, the plainest first; a single record has no others."""
    sizes = [far_value * size for size in SIZES]
    signs = tuple((size, change) for size in sizes for change in (-size, 0.0))
    far_pairs = signs[:2]
    unit, top = UNIT * far_value, far_value * 10.0**DECADES
    ratio = 10.0 ** (2 * DECADES / max(n - 1, 1))  # between sizes that are neighbours when sorted
    zeros = Background(words="are 0", draw=lambda n, d, _: np.zeros((n - 1, d)), values=signs)
    if n == 1:
        return (zeros,)
    counts = dict.fromkeys(n - math.ceil(level * (n - 1)) for level in LEVELS)
    return (
        zeros,
        Background(
            words=f"lie at equal steps on a logarithmic scale, from {top / ratio:g} downwards",
            draw=lambda n, d, _: np.repeat(top / ratio ** np.arange(1.0, n)[:, None], d, axis=1),
            values=((top, 0.0), (top, -top)),
        ),
        Background(
            words=f"are Gaussian with standard deviation {unit:g}",
            draw=lambda n, d, rng: unit * rng.standard_normal((n - 1, d)),
            values=signs,
        ),
        Background(
            words=f"are heavy-tailed (Cauchy with scale {unit:g})",
            draw=lambda n, d, rng: unit * rng.standard_cauchy((n - 1, d)),
            values=signs,
        ),
        Background(
            words=f"are all {far_value:g}",
            draw=lambda n, d, _: np.full((n - 1, d), far_value),
            values=((0.0, far_value), (-far_value, far_value), (0.0, -far_value)),
        ),
        *(_split(count, far_value, far_pairs) for count in counts if 1 < count < n),
    )


def _split(count: int, far_value: float, values: tuple[tuple[float, float], ...]) -> Background:
    """Return a background of zeros but for `count` - 1 records that are far out.

    With the changed record `count` of n are far out, so that one quantile is at the gap.
    """

    def draw(n: int, d: int, _: np.random.Generator) -> Vector:
        """Return zeros, and the records far out after them."""
        shared = np.zeros((n - 1, d))
        shared[n - count :] = far_value
        return shared

    return Background(
        words=f"are 0 but for {count - 1:,} at {far_value:g}", draw=draw, values=values
    )
