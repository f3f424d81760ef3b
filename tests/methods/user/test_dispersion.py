"""The radii hold on the noisiest losses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_core.base.errors import InvalidInput
from dpsco_core.methods.user.level import gradient_spread, group_spread, iterate_spread
from tests.methods.user.helpers import FALSE_ALARM


def unit_rows(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return gradients of norm L = 1 and mean 0, which have the largest possible variance."""
    x = rng.normal(size=shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


@pytest.mark.parametrize("d", [1, 2, 10])
@pytest.mark.parametrize("failure", [0.3, 0.01])
def test_users_gradients_are_within_r1(d: int, failure: float) -> None:
    rng, users = np.random.default_rng(d), 4000
    for items in (1, 9, 100):
        means = unit_rows(rng, (users, items, d)).mean(axis=1)
        is_outside = np.linalg.norm(means, axis=1) > gradient_spread(items, 1.0, failure)
        assert is_outside.sum() <= binom.ppf(1 - FALSE_ALARM / 18, users, failure)


@pytest.mark.parametrize("d", [1, 2, 10])
def test_average_iterates_are_within_r2_and_have_the_variance_of_its_proof(d: int) -> None:
    rng, groups, eta = np.random.default_rng(d), 2000, 0.01
    for steps in (1, 10, 100):
        # These are the weights of the steps in the average.
        weights = 1 - np.arange(1, steps + 1) / steps
        iterates = -eta * np.einsum("t,gtd->gd", weights, unit_rows(rng, (groups, steps, d)))
        spread = np.linalg.norm(iterates, axis=1)
        variance = eta**2 * (steps - 1) * (2 * steps - 1) / (6 * steps)
        assert np.mean(spread**2) == pytest.approx(variance, rel=0.15)
        assert variance <= eta**2 * steps / 3
        failure = 0.1
        is_outside = spread > iterate_spread(eta, 1.0, steps, failure)
        assert is_outside.sum() <= binom.ppf(1 - FALSE_ALARM / 9, groups, failure)


def test_the_radii_have_the_constants_and_slopes_of_the_theory() -> None:
    assert group_spread(1.0, 1.0, 10_000, 300, 0.01) == pytest.approx(6.4 * 100, rel=0.01)
    assert gradient_spread(400, 2.0, 0.1) == pytest.approx(
        2 / 20 * (1 + math.sqrt(2 * math.log(10)))
    )
    half = gradient_spread(100, 1.0, 0.1) / 2
    assert gradient_spread(400, 1.0, 0.1) == pytest.approx(half)
    assert iterate_spread(0.3, 2.0, 400, 0.1) == pytest.approx(
        12 * iterate_spread(0.1, 1.0, 25, 0.1) * 2
    )
    with pytest.raises(
        InvalidInput, match="failure must be above 0 and at most 1, got failure=2.0"
    ):
        gradient_spread(4, 1.0, 2.0)
