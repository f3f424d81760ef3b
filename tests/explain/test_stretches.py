"""On which stretches of an axis a part of a bound is the largest: `explain.stretches`."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_core.explain.stretches import stretches

GRID = (1.0, 10.0, 100.0, 1000.0)
POWERS = {"noise": (50.0, -1.0), "bias": (5.0, -0.5), "sampling": (0.1, 0.1)}


def parts(x: float) -> dict[str, float]:
    return {name: c * x**power for name, (c, power) in POWERS.items()}


def test_a_stretch_ends_where_two_power_laws_cross() -> None:
    spans = stretches([(x, parts(x)) for x in GRID])
    assert [s.part for s in spans] == ["noise", "bias", "sampling"]
    crossings = [(50 / 5) ** 2, (5 / 0.1) ** (1 / 0.6)]
    assert [s.stop for s in spans[:-1]] == pytest.approx(crossings, rel=1e-12)
    assert [s.start for s in spans] == [1.0, *(s.stop for s in spans[:-1])]
    assert spans[-1].stop == 1000.0


def test_at_every_x_the_part_of_its_stretch_is_the_largest() -> None:
    spans = stretches([(x, parts(x)) for x in GRID])
    for x in np.geomspace(1, 1000, 997):
        here = next(s.part for s in spans if x <= s.stop * (1 + 1e-12))
        assert parts(x)[here] == pytest.approx(max(parts(x).values()), rel=1e-9)


def test_on_an_axis_that_is_not_logarithmic_parts_are_exponentials() -> None:
    points = [(x, {"a": math.exp(-x), "b": math.exp(-5.0)}) for x in (2.0, 8.0)]
    one, other = stretches(points, logarithmic=False)
    assert (one.part, other.part) == ("a", "b")
    assert one.stop == other.start == pytest.approx(5.0, rel=1e-12)


def test_one_that_is_largest_between_two_points_only_is_seen() -> None:
    spans = stretches([(x, parts(x)) for x in (1.0, 1e6)])
    assert [s.part for s in spans] == ["noise", "bias", "sampling"]
    assert spans[0].stop == pytest.approx(100.0, rel=1e-12)


@pytest.mark.parametrize("b", [None, 0.0])
def test_a_part_that_is_not_there_is_not_the_largest(b: float | None) -> None:
    before = {"a": 1.0} if b is None else {"a": 1.0, "b": b}
    one, other = stretches([(1.0, before), (100.0, {"a": 1.0, "b": 2.0})])
    assert (one.part, other.part) == ("a", "b")
    assert 1.0 < one.stop == other.start < 100.0


def test_an_infinite_part_is_the_largest() -> None:
    one, other = stretches([(1.0, {"a": math.inf, "b": 1.0}), (10.0, {"a": 0.5, "b": 1.0})])
    assert (one.part, other.part) == ("a", "b")


def test_one_part_or_one_point_is_one_stretch() -> None:
    [one] = stretches([(x, {"a": 1 / x, "b": 0.1 / x}) for x in GRID])
    assert (one.part, one.start, one.stop) == ("a", 1.0, 1000.0)
    [one] = stretches([(3.0, {"a": 1.0, "b": 2.0})])
    assert (one.part, one.start, one.stop) == ("b", 3.0, 3.0)
