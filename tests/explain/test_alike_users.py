"""The value of correlated items: the study over the items per user, and the users' shared part."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.explain.floors import ALIKE, no_floor
from dpsco_core.explain.users.alike import (
    MOST_ELEMENTS,
    alike_scenario,
    items_drawn,
    sampling_error,
)
from dpsco_core.explain.window import missing_span
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario


@pytest.mark.parametrize("n", [500, 10_000, 100_000])
@pytest.mark.parametrize("d", [1, 20])
def test_drawing_the_items_takes_little_memory(n: int, d: int) -> None:
    items = items_drawn(n, d)
    assert items[0] == 1 and len(items) >= 2
    assert items[-1] * n * d <= max(MOST_ELEMENTS, 2 * n * d)
    assert alike_scenario(alike=0.3, n=n, d=d).grid == items


def test_the_sampling_error_is_that_of_the_sample_mean() -> None:
    """A false alarm has probability 1e-6, and without the shared part the value would be 4 times
    smaller.
    """
    scenario = alike_scenario(alike=0.4, n=400, d=5, p=6.0, trials=150)
    squares = [o.error**2 for o in study(scenario) if (o.method, o.x) == ("mean.sample", 30)]
    exact = sampling_error(scenario, 30) ** 2
    room = 5 * float(np.std(squares)) / math.sqrt(len(squares))
    assert abs(float(np.mean(squares)) - exact) < room
    assert room < 0.6 * exact


def test_the_shared_part_of_users_remains_with_any_number_of_items() -> None:
    scenario = alike_scenario(alike=0.25, n=1000, d=10, p=2.0)
    # At p = 2 the variance of every coordinate is 1.
    assert sampling_error(scenario, math.inf) == pytest.approx(math.sqrt(10 * 0.25 / 1000))
    assert sampling_error(scenario, 1) == pytest.approx(math.sqrt(10 / 1000))
    with pytest.raises(InvalidInput, match="^items must be at least 1"):
        sampling_error(scenario, 0.5)
    with pytest.raises(InvalidInput, match="^p must be at least 2"):
        alike_scenario(alike=0.25, p=1.5)


@pytest.mark.parametrize("law", ["student-t", "gaussian", "pareto"])
@pytest.mark.parametrize("geometry", ["l2", "l1"])
def test_correlated_items_are_the_stated_reason_for_the_missing_limit_and_window(
    geometry: str, law: str
) -> None:
    """For independent items these laws have floors, and these sets have proven lower bounds."""
    point = Scenario(distribution=law, geometry=geometry, m=5, alike=0.3, p=2.0, methods=())
    assert no_floor(point) == ALIKE
    assert missing_span(point) == "lower bound for items alike"
    independent = replace(point, alike=0.0)
    assert no_floor(independent) != ALIKE
    assert missing_span(independent) != "lower bound for items alike"
