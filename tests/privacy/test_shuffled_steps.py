"""Shuffled adaptive steps: reference values, both accountants, and validity."""

from __future__ import annotations

import math
from itertools import product

import pytest
from mpmath import mp

from dpsco_core.base.errors import InvalidInput
from dpsco_core.privacy import (
    clones_delta,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_rho,
    shuffle_steps,
    shuffled_steps_delta,
)
from dpsco_core.privacy.amplification import largest_clones_epsilon

# The table of theory/arora-marinov-ullah.md, 2.5, gives sigma / L at sensitivity 2L and delta =
# 1e-6.
TABLE = [
    (10**3, 0.1, 18.212, 72.609),
    (10**3, 1.0, 4.450, 8.449),
    (10**4, 0.05, 13.145, 138.54),
    (10**4, 0.1, 8.318, 72.609),
    (10**4, 1.0, 2.638, 8.449),
    (10**5, 0.02, 11.124, 323.88),
    (10**5, 0.1, 4.267, 72.609),
]
GRID = list(product((1, 2, 16, 200, 10**4), (0.01, 0.3, 1.0, 5.0), (1e-10, 1e-6, 0.05)))


@pytest.mark.parametrize(("steps", "epsilon", "amplified", "unamplified"), TABLE)
def test_the_noise_is_that_of_the_reference_table(
    steps: int, epsilon: float, amplified: float, unamplified: float
) -> None:
    shuffled = shuffle_steps(steps, epsilon, 1e-6)
    assert shuffled.amplified
    assert 2 * shuffled.noise_multiplier == pytest.approx(amplified, abs=6e-4)
    multiplier = 2 / math.sqrt(2 * gaussian_rho(epsilon, 1e-6))
    assert multiplier == pytest.approx(unamplified, rel=1e-4)


@pytest.mark.parametrize(("steps", "epsilon", "delta"), GRID)
def test_the_certified_rho_passes_the_sum_of_clones_and_failures(
    steps: int, epsilon: float, delta: float
) -> None:
    shuffled = shuffle_steps(steps, epsilon, delta)
    if not shuffled.amplified:
        assert gaussian_delta(shuffled.rho_step, epsilon) <= delta * (1 + 1e-12)
        return
    local = gaussian_epsilon(shuffled.rho_step, shuffled.delta_step)
    clones = clones_delta(local, steps, epsilon)
    failures = (1 + math.exp(epsilon)) * (2 * (steps - 1) * math.exp(-local) + 1)
    assert clones + failures * shuffled.delta_step <= delta * (1 + 1e-9)
    # The certificate is not wasteful: one per cent more rho fails with the same split of delta.
    larger_epsilon = gaussian_epsilon(1.01 * shuffled.rho_step, shuffled.delta_step)
    excess = clones_delta(larger_epsilon, steps, epsilon)
    assert excess + failures * shuffled.delta_step > delta


@pytest.mark.parametrize(
    ("steps", "epsilon", "delta"), [(50, 1e-12, 1e-20), (100, 1e-10, 1e-18), (200, 0.3, 1e-6)]
)
def test_the_divergence_is_exact_where_its_terms_nearly_cancel(
    steps: int, epsilon: float, delta: float
) -> None:
    """The reference is the sum over the two binomials, in 60 digits."""
    local = largest_clones_epsilon(steps, epsilon, 0.9 * delta)
    assert local is not None
    with mp.workdps(60):
        grown, e0 = mp.exp(mp.mpf(epsilon)), mp.exp(mp.mpf(local))
        a, q, exact = e0 / (1 + e0), 1 / e0, mp.mpf(0)
        for c in range(steps):
            chance = mp.binomial(steps - 1, c) * q**c * (1 - q) ** (steps - 1 - c)
            half = [mp.binomial(c, k) / mp.mpf(2) ** c for k in range(c + 1)]
            for k in range(c + 2):
                up_mass, stay = (half[k - 1] if k else 0), (half[k] if k <= c else 0)
                gap = a * up_mass + (1 - a) * stay - grown * ((1 - a) * up_mass + a * stay)
                exact += chance * max(gap, 0)
    assert clones_delta(local, steps, epsilon) == pytest.approx(float(exact), rel=1e-9)
    assert float(exact) <= 0.9 * delta


@pytest.mark.parametrize(("steps", "epsilon", "delta"), GRID)
def test_shuffling_never_allows_less_than_no_amplification(
    steps: int, epsilon: float, delta: float
) -> None:
    assert shuffle_steps(steps, epsilon, delta).rho_step >= gaussian_rho(epsilon, delta)


def test_one_step_is_not_amplified() -> None:
    shuffled = shuffle_steps(1, 1.0, 1e-6)
    assert not shuffled.amplified
    assert shuffled.rho_step == gaussian_rho(1.0, 1e-6)


def test_more_steps_and_a_larger_budget_allow_more() -> None:
    by_steps = [shuffle_steps(n, 0.5, 1e-6).rho_step for n in (10, 100, 1000, 10_000)]
    by_epsilon = [shuffle_steps(1000, e, 1e-6).rho_step for e in (0.1, 0.5, 1.0, 3.0)]
    by_delta = [shuffle_steps(1000, 0.5, d).rho_step for d in (1e-9, 1e-6, 1e-3)]
    for values in (by_steps, by_epsilon, by_delta):
        assert values == sorted(values)
        assert values[0] < values[-1]


@pytest.mark.parametrize("delta_step", [1e-14, 1e-11, 1e-8])
def test_the_forward_accountant_is_never_worse_than_the_curve_of_one_step(
    delta_step: float,
) -> None:
    rho = shuffle_steps(1000, 1.0, 1e-6).rho_step
    assert shuffled_steps_delta(rho, 1000, 1.0, delta_step) <= gaussian_delta(rho, 1.0)


def test_the_forward_accountant_shows_that_plain_accounting_would_refuse_the_noise() -> None:
    shuffled = shuffle_steps(1000, 1.0, 1e-6)
    assert gaussian_delta(shuffled.rho_step, 1.0) > 1e-4
    assert shuffled_steps_delta(shuffled.rho_step, 1000, 1.0, shuffled.delta_step) <= 1e-6


def test_a_huge_epsilon_is_accounted_for_by_the_curve_of_one_step() -> None:
    assert not shuffle_steps(100, 1e5, 1e-6).amplified
    assert shuffled_steps_delta(2e6, 10, 1.0, 1e-6) == gaussian_delta(2e6, 1.0)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((0, 1.0, 1e-6), "steps"), ((2.5, 1.0, 1e-6), "steps"), ((5, 0.0, 1e-6), "epsilon")],
)
def test_invalid_input_is_refused_by_name(arguments: tuple[int, float, float], name: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{name} must be .* got {name}="):
        shuffle_steps(*arguments)
