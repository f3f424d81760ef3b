"""Searches for the smallest value: what is infinite or NaN is never the smallest."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import (
    best_count,
    best_log,
    smallest,
    smallest_between,
    smallest_index,
    smallest_or,
)

HOPELESS = ([], [math.inf], [math.nan], [math.nan, math.inf, math.nan], [-math.inf])


def identity(value: float) -> float:
    """Return the value unchanged."""
    return value


@pytest.mark.parametrize("values", HOPELESS, ids=str)
def test_a_search_without_a_finite_value_raises_an_error_that_names_the_quantity(
    values: list[float],
) -> None:
    with pytest.raises(
        NotApplicable, match="no clip radius with a finite predicted error"
    ) as error:
        smallest(values, identity, what="clip radius")
    assert error.value.nearest
    assert smallest_or(values, identity, "none") == "none"


@pytest.mark.parametrize("bad_value", [math.nan, math.inf, -math.inf])
def test_a_search_ignores_values_that_are_not_finite(bad_value: float) -> None:
    for values in ([bad_value, 3.0, 2.0], [3.0, bad_value, 2.0], [3.0, 2.0, bad_value]):
        assert smallest(values, identity, what="step") == 2.0
        assert values[int(smallest_index(values))] == 2.0


def test_the_first_of_equal_candidates_is_taken_and_a_negligible_gain_is_ignored() -> None:
    pairs = [(1.0, "a"), (1.0, "b"), (0.95, "c"), (0.5, "d")]
    assert smallest(pairs[:2], lambda pair: pair[0], what="pair")[1] == "a"
    assert smallest(pairs[:3], lambda pair: pair[0], what="pair", gain=0.1)[1] == "a"
    assert smallest(pairs, lambda pair: pair[0], what="pair", gain=0.1)[1] == "d"
    assert smallest([None], lambda candidate: 1.0, what="thing") is None


def test_an_overflow_counts_as_infinite() -> None:
    assert smallest([1e200, 2.0], lambda x: x**2, what="size") == 2.0
    with pytest.raises(NotApplicable):
        smallest([1e200], lambda x: x**2, what="size")
    with pytest.raises(NotApplicable):
        smallest_between(lambda x: float(1e200 + x) ** 2, 0.0, 1.0, what="size")


def test_the_smallest_along_an_axis_is_none_where_no_entry_is_finite() -> None:
    table = np.array([[math.nan, math.inf, 2.0], [3.0, math.nan, math.inf], [2.0, math.inf, 5.0]])
    assert smallest_index(table).tolist() == [2, -1, 0]


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_searches_over_numbers_without_a_finite_value_raise_an_error(value: float) -> None:
    with pytest.raises(NotApplicable, match="no regulariser"):
        smallest_between(lambda x: value, 0.0, 1.0, what="regulariser")
    for largest in (1, 2, 1000):
        with pytest.raises(NotApplicable, match="no number of steps"):
            best_count(lambda k: value, largest, what="number of steps")
    assert best_log(lambda x: value, 0.0, 1.0)[0] == math.inf


def test_a_search_between_two_numbers_finds_the_minimum() -> None:
    place, value = smallest_between(lambda x: (x - 0.3) ** 2 + 1, 0.0, 1.0, what="regulariser")
    assert (place, value) == pytest.approx((0.3, 1.0), abs=1e-5)


@pytest.mark.parametrize("wall", [math.inf, math.nan])
def test_a_grid_search_finds_a_minimum_behind_values_that_are_not_finite(wall: float) -> None:
    best = best_count(lambda k: wall if k < 10 else abs(k - 37.2), 1000, what="number of steps")
    assert best == 37
    value, place = best_log(lambda x: wall if x < 0.5 else (x - 0.7) ** 2, 0.0, 1.0)
    assert place == pytest.approx(0.7, abs=1e-2)
    assert value < 1e-4
