"""A root is found in plain floats by the steps of scipy, to the last bit."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq

from dpsco_core.base.root import find_root

SHAPES: dict[str, Callable[[float, float, float], Callable[[float], float]]] = {
    "cubic": lambda a, b, c: lambda x: a * x**3 + b * x + c,
    "exponential": lambda a, b, c: lambda x: abs(a) * math.exp(min(x, 300.0)) - abs(b),
    "saturated": lambda a, b, c: lambda x: math.tanh(a * x) + b,
    "straight": lambda a, b, c: lambda x: x - c,
    "step": lambda a, b, c: lambda x: 1.0 if x > c else -1.0,
}


@pytest.mark.parametrize("accuracy", [(2e-12, 2.0**-50, 100), (1e-300, 1e-14, 300)], ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_root_is_that_of_scipy_to_the_last_bit(
    shape: str, accuracy: tuple[float, float, int]
) -> None:
    xtol, rtol, steps = accuracy
    rng, roots = np.random.default_rng(0), 0
    for _ in range(400):
        a, b, c = (rng.normal(size=3) * 10.0 ** rng.uniform(-5, 5, 3)).tolist()
        low, high = sorted((rng.normal(size=2) * 10.0 ** rng.uniform(-3, 3)).tolist())
        function = SHAPES[shape](a, b, c)
        try:
            expected = brentq(function, low, high, xtol=xtol, rtol=rtol, maxiter=steps)
        except (ValueError, RuntimeError) as error:
            with pytest.raises(type(error)):
                find_root(function, low, high, xtol=xtol, rtol=rtol, steps=steps)
            continue
        roots += 1
        assert find_root(function, low, high, xtol=xtol, rtol=rtol, steps=steps) == expected
    assert roots > 10


def test_nan_ends_the_search() -> None:
    with pytest.raises(ValueError, match="is NaN"):
        find_root(lambda x: math.nan if x > 1 else -1.0, 0.0, 2.0)
