"""Printed parameters against values that the papers' notes work out, and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from dpsco_core.statements import arora, kamath, su, zhao


def test_equation_15_has_the_value_of_the_note() -> None:
    assert zhao.equation_15_rho(1.0, 1e-6) == pytest.approx(0.0140588188106, rel=1e-11)


@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.3])
def test_equation_15_spends_epsilon_by_the_papers_own_conversion(delta: float) -> None:
    """The number rho + 2 sqrt(rho ln(1/delta)) is at most epsilon, and rho is 1 at the end of the
    range.
    """
    for epsilon in (0.01, 0.7, zhao.equation_15_reach(delta)):
        rho = zhao.equation_15_rho(epsilon, delta)
        assert rho + 2 * math.sqrt(rho * math.log(1 / delta)) <= epsilon * (1 + 1e-12)
    assert rho == pytest.approx(1.0)


@pytest.mark.parametrize("d", [1, 7, 300])
def test_the_covering_of_equation_14_counts_the_points_of_a_net(d: int) -> None:
    size = zhao.equation_14_covering(d, 0.1)
    assert size == pytest.approx(float(np.logaddexp.reduce([math.log(20)])) + d * math.log(6))
    assert size - zhao.equation_14_covering(d, 0.1, 5.0) == pytest.approx(d * math.log(1.2))


def test_the_slope_of_equation_14_is_its_noise_and_its_tail_at_a_radius_of_one() -> None:
    n, rho, size = 400, 0.25, 9.0
    noise = 2 * math.sqrt(2 / rho) / n * math.sqrt(2 * size)
    assert zhao.equation_14_slope(n, rho, size) == pytest.approx(noise + 8 * 9 / 400)


def test_equation_19_has_the_value_of_the_note_and_the_units_of_the_moment() -> None:
    radius = zhao.equation_19_radius(10_000, 10, 0.0140588188106, 3.0)
    assert radius == pytest.approx(22.802973, abs=1e-6)
    scaled = zhao.equation_19_radius(10_000, 10, 0.0140588188106, 3.0, 2.5)
    assert scaled == pytest.approx(2.5 * radius, rel=1e-15)
    # With rho beyond 1/d the radius depends on the sample and not on the noise.
    assert zhao.equation_19_radius(80, 10, 5.0, 3.0) == pytest.approx(2 * math.sqrt(10))


def test_lemma_6_needs_2397_groups_at_the_usual_failure_probability() -> None:
    assert math.ceil(zhao.lemma_6_groups(0.05)) == 2397


def test_the_blocks_of_algorithm_3_make_its_medians_fail_with_probability_beta_over_2d() -> None:
    blocks = kamath.algorithm_3_blocks(20, 0.05)
    assert math.ceil(blocks) == 27
    assert math.exp(-blocks / 4) * 2 * 20 == pytest.approx(0.05)


def test_the_sensitivity_of_appendix_b3_is_twice_that_of_a_block_mean() -> None:
    threshold, blocks, n = 10.0, 7, 700
    width = 6 * threshold  # Entries are clipped to an interval of this width.
    change = width / (n / blocks)
    assert kamath.algorithm_3_sensitivity(threshold, blocks, n) == pytest.approx(2 * change)


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_the_threshold_of_corollary_4_2_balances_bias_and_noise(noise: kamath.Noise) -> None:
    """The threshold balances tau^(1-p) with tau times the noise of a unit threshold, without
    constants.
    """
    n, d, level, order = 5000, 8, 0.3, 3.0
    unit = math.sqrt(d / level) / n if noise == "gaussian" else d / (level * n)
    balance = brentq(lambda tau: tau ** (1 - order) - unit * tau, 1e-3, 1e6)
    assert kamath.corollary_4_2_threshold(n, d, level, noise, order) == pytest.approx(balance)


def test_the_bias_of_lemma_b1_is_4_2_at_the_least_threshold_for_a_variance() -> None:
    assert kamath.lemma_b1_bias(kamath.SMALLEST_THRESHOLD, 2) == pytest.approx(4.2)
    assert kamath.lemma_b1_bias(kamath.LEMMA_B1_CONSTANT, 9) == 3


@pytest.mark.parametrize("rho", [1e-6, 0.01, 1.0, 1e4])
@pytest.mark.parametrize("d", [2, 50])
def test_the_power_of_theorem_5_5_makes_its_two_terms_equal_where_it_may(
    d: int, rho: float
) -> None:
    """The terms d^q and sqrt(rho)/d^(q-2) are equal at 2q = 2 + ln(rho)/(2 ln d)."""
    power = kamath.theorem_5_5_power(d, rho)
    assert 0.5 <= power <= 2
    free = 1 + math.log(rho) / (4 * math.log(d))
    assert power == pytest.approx(float(np.clip(free, 0.5, 2)))
    assert kamath.theorem_5_5_power(1, rho) == 1


def test_the_noises_of_algorithm_1_have_the_values_of_the_note() -> None:
    assert su.algorithm_1_noise(1.0, 0.5, 1e-6) ** 2 == pytest.approx(7542.6823, rel=1e-7)
    output = su.algorithm_1_output_noise(4.0, 2.0, 0.5, 1e-6)
    # The printed 128 L^2 is replaced by 64 alpha/lambda.
    assert output == pytest.approx(su.algorithm_1_noise(1.0, 0.5, 1e-6))


def test_the_ridge_of_theorem_2_costs_what_the_sample_does() -> None:
    n, lipschitz, diameter = 900, 3.0, 2.0
    ridge = su.theorem_2_ridge(n, lipschitz, diameter)
    assert ridge * diameter**2 == pytest.approx(lipschitz**2 / (ridge * n))


def test_the_step_of_theorem_4_makes_the_regret_of_start_and_gradients_equal() -> None:
    """The two parts of the regret are D^2/eta and eta n (L + sigma sqrt(d))^2."""
    n, d, lipschitz, noise, distance = 400, 9, 2.0, 1.5, 0.7
    step = arora.theorem_4_step(n, d, lipschitz, noise, distance)
    assert distance**2 / step == pytest.approx(step * n * (lipschitz + noise * 3) ** 2)


def test_remark_1_allows_an_epsilon_that_falls_like_the_root_of_n() -> None:
    assert arora.remark_1_epsilon(100, 3 * math.exp(-4)) == pytest.approx(0.8)
    assert arora.remark_1_epsilon(400, 3 * math.exp(-4)) == pytest.approx(0.4)
    assert arora.remark_1_epsilon(400, 4.0) == 0
