"""Gaussian releases on fresh secret batches, between the exact cost of one pair and another
proof.
"""

from __future__ import annotations

import math

import dp_accounting
import numpy as np
import pytest
from dp_accounting import rdp
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.stats import norm

from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.privacy.budget import gaussian_delta, gaussian_epsilon, zcdp_epsilon
from dpsco_core.privacy.subsampling import batched_gaussian_epsilon

DELTA = 1e-6
CASES = [(0.01, 100, 10), (0.5, 10, 1000), (0.5, 900, 2), (2.0, 100, 10)]


def renyi(rho: float, batch_size: int, count: int, releases: int) -> float:
    """Return the epsilon of subsampled releases by Wang, Balle and Kasiviswanathan (2019), as
    dp-accounting implements it.
    """
    orders = [2, 3, 5, 8, 16, 48]
    neighbours = dp_accounting.NeighboringRelation.REPLACE_ONE
    accountant = rdp.RdpAccountant(orders=orders, neighboring_relation=neighbours)
    noise = dp_accounting.GaussianDpEvent(1 / math.sqrt(2 * rho))
    batch = dp_accounting.SampledWithoutReplacementDpEvent(count, batch_size, noise)
    return float(accountant.compose(batch, releases).get_epsilon(DELTA))


def epsilon_of_one_pair(rho: float, share: float, releases: int) -> float:
    """Return the epsilon, rounded down, of the sum of a batch of zeros that may include one record
    of size 1.
    """
    std = 1 / math.sqrt(2 * rho)
    points = np.linspace(-8 * std, 8 * std, 2001)

    def counts(shift: float) -> dict[int, float]:
        """Return the law of a step's output on a grid, with a sampled record."""
        masses = (1 - share) * norm.pdf(points, 0, std) + share * norm.pdf(points, shift, std)
        return dict(enumerate(masses / masses.sum()))

    losses = pld.from_two_probability_mass_functions(
        {k: math.log(v) for k, v in counts(0.0).items()},
        {k: math.log(v) for k, v in counts(1.0).items()},
        pessimistic_estimate=False,
        value_discretization_interval=1e-4,
    )
    return float(losses.self_compose(releases).get_epsilon_for_delta(DELTA))


@pytest.mark.parametrize(("rho", "batch", "releases"), CASES)
def test_epsilon_is_below_another_proof_and_below_that_without_sampling(
    rho: float, batch: int, releases: int
) -> None:
    epsilon = batched_gaussian_epsilon(rho, DELTA, batch_size=batch, count=1000, releases=releases)
    assert epsilon <= renyi(rho, batch, 1000, releases)
    assert epsilon <= gaussian_epsilon(releases * rho, DELTA)


@pytest.mark.parametrize(("rho", "batch", "releases"), [(0.5, 100, 10), (0.05, 10, 100)])
def test_epsilon_is_above_that_of_one_pair_of_neighbours(
    rho: float, batch: int, releases: int
) -> None:
    epsilon = batched_gaussian_epsilon(rho, DELTA, batch_size=batch, count=1000, releases=releases)
    lower_bound = epsilon_of_one_pair(rho, batch / 1000, releases)
    assert lower_bound <= epsilon <= 1.4 * lower_bound


def test_one_release_is_exact_and_large_batches_tend_to_no_sampling() -> None:
    rho, share = 0.5, 0.1
    single_release = batched_gaussian_epsilon(rho, DELTA, batch_size=100, count=1000, releases=1)
    inner = math.log1p(math.expm1(single_release) / share)
    assert share * gaussian_delta(rho, inner) == pytest.approx(DELTA, rel=1e-6)
    all_but_one = batched_gaussian_epsilon(rho, DELTA, batch_size=999_999, count=10**6, releases=3)
    assert all_but_one == gaussian_epsilon(3 * rho, DELTA) < zcdp_epsilon(3 * rho, DELTA)


@pytest.mark.parametrize("ratio", [1, 29.9, 30.1, 60])
def test_one_release_has_its_exact_epsilon_at_every_ratio_of_sensitivity_to_noise(
    ratio: float,
) -> None:
    rho, share = ratio**2 / 2, 0.01
    single_release = batched_gaussian_epsilon(rho, DELTA, batch_size=10, count=1000, releases=1)
    inner = gaussian_epsilon(rho, DELTA / share)
    exact = inner + math.log(share + (1 - share) * math.exp(-inner))
    assert single_release == pytest.approx(exact, rel=1e-9)
    assert single_release < gaussian_epsilon(rho, DELTA)


@pytest.mark.parametrize("std", [0.6, 0.3])
def test_with_little_noise_several_releases_have_an_upper_bound_at_most_half_too_large(
    std: float,
) -> None:
    rho = 1 / (2 * std**2)
    epsilon = batched_gaussian_epsilon(rho, DELTA, batch_size=100, count=1000, releases=10)
    lower_bound = epsilon_of_one_pair(rho, 0.1, 10)
    assert lower_bound <= epsilon <= 1.5 * lower_bound


def test_the_command_line_says_that_batches_have_an_upper_bound(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["budget", "--records", "1000", "--batch", "10", "--releases", "50"])
    assert "Batches, at most: releases 50, epsilon 0.07622" in capsys.readouterr().out


def test_epsilon_grows_with_the_batch_and_with_the_number_of_releases() -> None:
    def epsilon_at(batch: int, releases: int) -> float:
        """Return the epsilon of this many releases of batches."""
        return batched_gaussian_epsilon(0.1, DELTA, batch_size=batch, count=1000, releases=releases)

    for values in (
        [epsilon_at(m, 50) for m in (1, 10, 100, 999)],
        [epsilon_at(50, k) for k in (1, 2, 9, 99)],
    ):
        assert (np.diff(values) > 0).all()
    with pytest.raises(InvalidInput, match="batch_size must be at most 1000"):
        epsilon_at(1001, 2)
