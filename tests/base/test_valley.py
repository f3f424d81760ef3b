"""Brent's method in plain floats takes the steps of scipy's, to the last bit."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from dpsco_core.base.valley import lowest_between


def followed(value: Callable[[float], float]) -> tuple[Callable[[float], float], list[float]]:
    """Return a function that records where it is evaluated, and the list of those places."""
    places: list[float] = []

    def traced(x: float) -> float:
        """Record a place, and evaluate the original function there."""
        places.append(float(x))
        return value(float(x))

    return traced, places


def test_the_steps_are_those_of_scipy() -> None:
    rng = np.random.default_rng(5)
    for _ in range(300):
        a, b, c = (float(x) for x in rng.normal(size=3))
        power, tolerance = float(rng.uniform(0.3, 4)), float(10 ** rng.uniform(-12, -2))
        low = float(rng.uniform(-5, 2))
        high = low + float(10 ** rng.uniform(-3, 2))
        for value in (
            lambda x, a=a, b=b: (x - a) ** 2 + b,
            lambda x, a=a, power=power: abs(x - a) ** power,
            lambda x, a=a, b=b: math.exp(min(700.0, a * x)) + math.exp(min(700.0, -b * x)),
            lambda x, a=a, b=b, c=c: math.sin(3 * x + a) * b + c * x,
            lambda x, a=a: math.inf if x < a else x,
            lambda x: 1.0,
            lambda x, a=a: round(x - a, 1) ** 2,
        ):
            traced, places = followed(value)
            place, lowest = lowest_between(traced, low, high, tolerance=tolerance)
            traced, scipy_places = followed(value)
            with np.errstate(invalid="ignore"):
                result = minimize_scalar(
                    traced, bounds=(low, high), method="bounded", options={"xatol": tolerance}
                )
            assert places == scipy_places
            assert (place, lowest) == (float(result.x), float(result.fun))


def test_the_minimiser_is_within_the_tolerance() -> None:
    place, lowest = lowest_between(lambda x: (x - 1 / 3) ** 2, 0.0, 1.0, tolerance=1e-7)
    assert place == pytest.approx(1 / 3, abs=1e-7)
    assert lowest == (place - 1 / 3) ** 2


def test_a_search_returns_infinity_or_nan_where_no_value_is_finite() -> None:
    assert lowest_between(lambda x: math.inf, 0.0, 1.0)[1] == math.inf
    assert math.isnan(lowest_between(lambda x: math.nan, 0.0, 1.0)[1])
