"""Noise mechanisms: the law of the noise, its scale, and independence from the value.

Each statistical test has a false-alarm rate of 1e-6 for a random seed; its seed is fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, kstest, laplace, norm

from dpsco_core.privacy import (
    ZCDP,
    ApproxDP,
    GaussianNoise,
    LaplaceNoise,
    Ledger,
    PureDP,
    ShuffledGaussian,
    amplify,
)
from dpsco_core.privacy.mechanisms import gaussian_noise_std, laplace_noise_scale

FALSE_ALARM = 1e-6
DRAWS = 5000
VALUE = (3.0, -1.0, 0.0, 1e3)
GROUPS, SENSITIVITY = 2400, 0.7

Noise = NDArray[np.float64]


@cache
def draw_gaussian(release: tuple[float, ...] = VALUE, seed: int = 11) -> tuple[Noise, float]:
    """Return the noise of 5,000 Gaussian releases, and the standard deviation it must have."""
    value = np.array(release)
    rng, rho = np.random.default_rng(seed), 0.3
    ledger = Ledger(ZCDP(rho=DRAWS * rho))
    noisy = [
        ledger.release(GaussianNoise(l2_sensitivity=SENSITIVITY, rho=rho), value, rng)
        for _ in range(DRAWS)
    ]
    return np.array(noisy) - value, SENSITIVITY / math.sqrt(2 * rho)


@cache
def draw_laplace(release: tuple[float, ...] = VALUE, seed: int = 12) -> tuple[Noise, float]:
    """Return the noise of 5,000 Laplace releases, and the scale it must have."""
    value = np.array(release)
    rng, epsilon = np.random.default_rng(seed), 0.4
    ledger = Ledger(PureDP(epsilon=DRAWS * epsilon))
    noisy = [
        ledger.release(LaplaceNoise(l1_sensitivity=SENSITIVITY, epsilon=epsilon), value, rng)
        for _ in range(DRAWS)
    ]
    return np.array(noisy) - value, SENSITIVITY / epsilon


@cache
def draw_shuffled(release: tuple[float, ...] = VALUE, seed: int = 13) -> tuple[Noise, float]:
    """Return the noise of 5,000 rows of shuffled releases, and its standard deviation."""
    value = np.array(release)
    rng = np.random.default_rng(seed)
    amplified = amplify(GROUPS, 1.0, 1e-7, "numerical")
    assert amplified is not None
    rows = np.tile(value, (GROUPS, 1))
    noisy = []
    while len(noisy) * GROUPS < DRAWS:
        ledger = Ledger(ApproxDP(epsilon=1.0, delta=1e-6))
        noisy.append(
            ledger.release(
                ShuffledGaussian(l2_sensitivity=SENSITIVITY, amplification=amplified), rows, rng
            )
        )
    noise = (np.concatenate(noisy) - value)[:DRAWS]
    return noise, SENSITIVITY / math.sqrt(2 * amplified.rho_group)


def p_value_of_gaussian_scale(noise: Noise, std: float) -> float:
    """Return the two-sided p-value of the sum of squares, chi-square with one degree per entry."""
    lower = float(chi2.cdf(np.sum((noise / std) ** 2), noise.size))
    return 2 * min(lower, 1 - lower)


def p_value_of_laplace_scale(noise: Noise, scale: float) -> float:
    """Return the two-sided p-value of the sum of absolute values, which is gamma-distributed."""
    lower = float(chi2.cdf(2 * np.sum(np.abs(noise)) / scale, 2 * noise.size))
    return 2 * min(lower, 1 - lower)


KINDS = {
    "gaussian": (draw_gaussian, p_value_of_gaussian_scale, norm),
    "laplace": (draw_laplace, p_value_of_laplace_scale, laplace),
    "shuffled": (draw_shuffled, p_value_of_gaussian_scale, norm),
}
Draw = Callable[..., tuple[Noise, float]]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> tuple[Draw, Callable[[Noise, float], float], object]:
    """Return how to draw from a mechanism, the test of its scale, and its law."""
    return KINDS[request.param]


def test_the_noise_has_its_scale(kind) -> None:
    draw, size, _ = kind
    noise, scale = draw()
    assert noise.shape == (DRAWS, len(VALUE))
    assert size(noise, scale) > FALSE_ALARM


@pytest.mark.parametrize("fault", [0.95, 1.05, 0.5, 1 / math.sqrt(2), 0.0])
def test_the_test_of_scale_catches_five_percent(kind, fault: float) -> None:
    """The power of the test at 5 % is above 0.999, as the statistic is then 8 standard deviations
    off.
    """
    draw, size, _ = kind
    noise, scale = draw()
    assert size(fault * noise, scale) < FALSE_ALARM


def test_the_noise_has_its_law(kind) -> None:
    draw, _, law = kind
    noise, scale = draw()
    assert kstest(noise.ravel() / scale, law.cdf).pvalue > FALSE_ALARM


def test_the_test_of_the_law_tells_gaussian_from_laplace() -> None:
    gaussian, std = draw_gaussian()
    scale = std / math.sqrt(2)  # The Laplace law of the same variance.
    assert kstest(gaussian.ravel() / scale, laplace.cdf).pvalue < FALSE_ALARM


def test_coordinates_and_draws_have_independent_noise(kind) -> None:
    draw, _, _ = kind
    noise, _ = draw()
    assert len(np.unique(noise[:, :3])) == 3 * DRAWS
    limit = norm.isf(FALSE_ALARM / 2 / 10) / math.sqrt(DRAWS)
    correlations = np.corrcoef(noise, rowvar=False)[np.triu_indices(noise.shape[1], 1)]
    autocorrelations = [np.corrcoef(column[:-1], column[1:])[0, 1] for column in noise.T]
    assert np.abs([*correlations, *autocorrelations]).max() < limit


def test_the_noise_does_not_depend_on_the_value(kind) -> None:
    draw, _, _ = kind
    noise, _ = draw()
    shifted_noise, _ = draw((0.0, 5.0, -2.0, 7.0))
    assert np.allclose(noise, shifted_noise, rtol=0, atol=1e-11)


def test_a_release_does_not_change_its_argument() -> None:
    value, rng = np.array(VALUE), np.random.default_rng(0)
    Ledger(ZCDP(rho=1.0)).release(GaussianNoise(l2_sensitivity=1.0, rho=1.0), value, rng)
    Ledger(PureDP(epsilon=1.0)).release(LaplaceNoise(l1_sensitivity=1.0, epsilon=1.0), value, rng)
    assert np.array_equal(value, VALUE)


def test_noise_has_the_shape_of_the_value() -> None:
    for shape in ((), (1,), (3,), (4, 2), (2, 3, 4)):
        ledger = Ledger(ZCDP(rho=1.0))
        noisy = ledger.release(
            GaussianNoise(l2_sensitivity=1.0, rho=1.0), np.zeros(shape), np.random.default_rng(0)
        )
        assert np.shape(noisy) == shape
        assert ledger.entries[0].size == math.prod(shape)


@pytest.mark.parametrize("rho", [1e-6, 0.5, 40.0])
@pytest.mark.parametrize("alpha", [1.5, 2.0, 32.0])
def test_gaussian_noise_has_renyi_divergence_rho_alpha_exactly(rho: float, alpha: float) -> None:
    std = gaussian_noise_std(SENSITIVITY, rho)
    assert alpha * SENSITIVITY**2 / (2 * std**2) == pytest.approx(rho * alpha, rel=1e-14)


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 40.0])
def test_laplace_noise_has_a_privacy_loss_of_epsilon_at_most_and_attains_it(epsilon: float) -> None:
    scale = laplace_noise_scale(SENSITIVITY, epsilon)
    x = np.linspace(-5, 5, 1001)
    loss = (np.abs(x - SENSITIVITY) - np.abs(x)) / scale
    assert np.abs(loss).max() == pytest.approx(epsilon, rel=1e-12)


def test_the_printed_noise_of_zhao_et_al_is_reproduced() -> None:
    """The noise is that of a clipped mean, of group means and of a share of T steps
    (theory/zhao-et-al.md, 7.1, item 3).
    """
    radius, n, k, steps, rho = 3.0, 1200, 40, 7, 0.25
    whole = gaussian_noise_std(2 * radius / n, rho) ** 2
    assert whole == pytest.approx(2 * radius**2 / (rho * n**2), rel=1e-14)
    group = gaussian_noise_std(2 * radius / (n // k), rho) ** 2
    assert group == pytest.approx(2 * radius**2 * k**2 / (rho * n**2), rel=1e-14)
    assert group / k == pytest.approx(k * whole, rel=1e-14)
    step = gaussian_noise_std(2 * radius / n, rho / steps) ** 2
    assert step == pytest.approx(2 * radius**2 * steps / (rho * n**2), rel=1e-14)
