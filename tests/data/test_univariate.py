"""What a law says of one coordinate: its density is that of its distribution function."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from dpsco_core.base.arrays import Vector
from dpsco_core.data import DISTRIBUTIONS, Distribution
from dpsco_core.data.base import overrides_answer
from dpsco_core.data.univariate import EvenLaw, Univariate

ORDER = 2.5
LAWS = [law for law in DISTRIBUTIONS if overrides_answer(law, "univariate")]


def places(law: Univariate) -> Vector:
    """Return points that cover a law except for a share of 2e-4, and a little beyond."""
    ends = []
    for share in (1e-4, 1 - 1e-4):
        low, high = -1e4 * law.scale, 1e4 * law.scale
        for _ in range(60):
            middle = 0.5 * (low + high)
            is_below = law.cdf(np.array([middle]))[0] < share
            low, high = (middle, high) if is_below else (low, middle)
        ends.append(low)
    margin = 0.05 * (ends[1] - ends[0])
    return np.linspace(ends[0] - margin, ends[1] + 1.01 * margin, 4000)


def steps(law: Univariate) -> Vector:
    """Return the points where the density jumps, found by halving intervals towards the larger
    change.
    """
    x = places(law)
    a, b = x[:-1], x[1:]
    for _ in range(45):
        middle = 0.5 * (a + b)
        left_jump = np.abs(law.density(middle) - law.density(a))
        right = np.abs(law.density(b) - law.density(middle))
        a, b = np.where(left_jump >= right, a, middle), np.where(left_jump >= right, middle, b)
    change = np.abs(law.density(b) - law.density(a))
    return 0.5 * (a + b)[change > 1e-4 * np.median(law.density(x))]


def check(law: Univariate, name: str) -> None:
    """Assert that a law declares every jump of its density, and that density and distribution
    function agree.
    """
    x = places(law)
    gap, jumps = x[1] - x[0], np.array([math.inf, *law.jumps])
    for place in steps(law):
        is_declared = np.abs(jumps - place).min() < 1e-6 * gap
        assert is_declared, (
            f"the density of {name} is not continuous at {place:.6g}, and `jumps` of its "
            "`univariate` does not name that place: exact risks would be wrong without a word"
        )
    h = 1e-3 * gap
    x = x[np.abs(x[:, None] - jumps).min(axis=1) > 0.3 * gap]
    slope = (law.cdf(x + h) - law.cdf(x - h)) / (2 * h)
    is_close = np.abs(slope - law.density(x)) < 1e-4 * (law.density(x) + np.median(law.density(x)))
    assert is_close.all(), f"`below` of {name} does not rise by `density` at {x[~is_close][0]:.6g}"
    if law.unimodal:
        sides = law.density(np.abs(np.sort(np.abs(x)))), law.density(-np.sort(np.abs(x)))
        assert all((np.diff(side) <= 1e-12).all() for side in sides), f"{name} is not unimodal"
    if law.tabulated:
        bend = law.density(x + gap) - 2 * law.density(x) + law.density(x - gap)
        assert (bend / gap**2).max() <= 0.54 / law.scale**3, f"{name} bends too much for a table"


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.card.slug)
def test_the_density_of_a_coordinate_is_continuous_except_at_its_stated_jumps(
    law: type[Distribution],
) -> None:
    univariate = law(d=2, moment_order=ORDER).univariate
    assert univariate is not None
    check(univariate, law.card.slug)


@dataclass(frozen=True, kw_only=True)
class Flat(EvenLaw):
    """The uniform law on [-scale, scale]; `forgets` its jumps, or is wrong in another way."""

    forgets: bool = False
    factor: float = 1.0

    @property
    def peak(self) -> float:
        """Return the largest density."""
        return 0.5 / self.scale

    @property
    def jumps(self) -> tuple[float, ...]:
        """Return the points where the density jumps, or nothing if the law forgets them."""
        return () if self.forgets else (-self.scale, self.scale)

    def density(self, x: Vector) -> Vector:
        """Return the density times `factor`, which makes it wrong unless the factor is 1."""
        return np.where(np.abs(x) < self.scale, self.factor * self.peak, 0.0)

    def cdf(self, x: Vector) -> Vector:
        """Return the distribution function."""
        return np.clip(0.5 + 0.5 * x / self.scale, 0.0, 1.0)

    def integrated_cdf(self, x: Vector) -> Vector:
        """Raise NotImplementedError, since the test needs no integral."""
        raise NotImplementedError

    twice_integrated_cdf = integrated_cdf


def test_an_unstated_jump_of_a_density_is_reported_with_its_place() -> None:
    flat = Flat(scale=1.3)
    check(flat, "flat")
    with pytest.raises(AssertionError, match="the density of flat is not continuous at -1.3,"):
        check(replace(flat, forgets=True), "flat")
    with pytest.raises(AssertionError, match="`below` of flat does not rise by `density`"):
        check(replace(flat, factor=1.01), "flat")
