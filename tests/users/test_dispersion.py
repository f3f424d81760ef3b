"""Dispersion radii hold on the noisiest losses, and the variance of a batch is exact."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_core.errors import InvalidInput
from dpsco_core.users import gradient_dispersion, group_spread, iterate_dispersion
from dpsco_core.users.dispersion import sampled_mean_variance
from tests.users.helpers import FALSE_ALARM


def unit_rows(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return gradients of norm L = 1 and mean 0: the largest variance there is."""
    x = rng.normal(size=shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


@pytest.mark.parametrize("d", [1, 2, 10])
@pytest.mark.parametrize("failure", [0.3, 0.01])
def test_users_gradients_are_within_r1(d: int, failure: float) -> None:
    rng, users = np.random.default_rng(d), 4000
    for items in (1, 9, 100):
        means = unit_rows(rng, (users, items, d)).mean(axis=1)
        beyond = np.linalg.norm(means, axis=1) > gradient_dispersion(1.0, items, failure)
        assert beyond.sum() <= binom.ppf(1 - FALSE_ALARM / 18, users, failure)


@pytest.mark.parametrize("d", [1, 2, 10])
def test_average_iterates_are_within_r2_and_have_the_variance_of_its_proof(d: int) -> None:
    rng, groups, eta = np.random.default_rng(d), 2000, 0.01
    for steps in (1, 10, 100):
        weights = 1 - np.arange(1, steps + 1) / steps  # of each step in the average
        iterates = -eta * np.einsum("t,gtd->gd", weights, unit_rows(rng, (groups, steps, d)))
        spread = np.linalg.norm(iterates, axis=1)
        variance = eta**2 * (steps - 1) * (2 * steps - 1) / (6 * steps)
        assert np.mean(spread**2) == pytest.approx(variance, rel=0.15)
        assert variance <= eta**2 * steps / 3
        failure = 0.1
        beyond = spread > iterate_dispersion(eta, 1.0, steps, failure)
        assert beyond.sum() <= binom.ppf(1 - FALSE_ALARM / 9, groups, failure)


def test_the_radii_have_the_constants_and_slopes_of_the_note() -> None:
    assert group_spread(1.0, 1.0, 10_000, 300, 0.01) == pytest.approx(6.4 * 100, rel=0.01)
    assert gradient_dispersion(2.0, 400, 0.1) == pytest.approx(
        2 / 20 * (1 + math.sqrt(2 * math.log(10)))
    )
    assert gradient_dispersion(1.0, 400, 0.1) == pytest.approx(
        gradient_dispersion(1.0, 100, 0.1) / 2
    )
    assert iterate_dispersion(0.3, 2.0, 400, 0.1) == pytest.approx(
        12 * iterate_dispersion(0.1, 1.0, 25, 0.1) * 2
    )
    with pytest.raises(InvalidInput, match="failure must be above 0 and below 1, got failure=1.0"):
        gradient_dispersion(1.0, 4, 1.0)


def test_the_variance_of_a_batch_without_replacement_is_that_of_all_batches() -> None:
    q = np.random.default_rng(0).normal(size=(7, 2))
    variance = float(np.mean(np.sum((q - q.mean(axis=0)) ** 2, axis=1)))
    for drawn in range(1, 8):
        means = [q[list(batch)].mean(axis=0) for batch in itertools.combinations(range(7), drawn)]
        exact = np.mean([np.sum((g - q.mean(axis=0)) ** 2) for g in means])
        assert sampled_mean_variance(variance, 7, drawn) == pytest.approx(exact, abs=1e-15)
    assert sampled_mean_variance(variance, 7, 7) == 0
    assert sampled_mean_variance(variance, 1, 1) == 0
    with pytest.raises(InvalidInput, match="drawn must be at most 7, got drawn=8"):
        sampled_mean_variance(variance, 7, 8)
