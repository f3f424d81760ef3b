"""Exact exponents and limits of the rates."""

import math

import pytest

from dpsco_core.bounds.mean import rates
from dpsco_core.bounds.mean.clipped import CLIPPED, DIRECTIONAL_RATE
from dpsco_core.bounds.mean.iterative import iterative_amplified_rate, iterative_rate
from dpsco_core.bounds.mean.smoothed import SMOOTHED
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP
from tests.bounds.helpers import make_setting

BASE = (10_000, 50, 1.0)


def terms(rate, setting):
    """Return the values of a rate's terms at a setting."""
    return tuple(rate(setting).values())


def cdp_inputs(n, d, order, rho):
    """Return the terms of the rate for means under zCDP."""
    return terms(rates.CDP, zcdp_setting(n, d, order, rho))


def pure_inputs(n, d, order, epsilon):
    """Return the terms of the rate for means under pure DP."""
    return terms(rates.PURE, make_setting(n, d, order, PureDP(epsilon=epsilon)))


def zcdp_setting(n, d, order, rho):
    """Return a setting under zCDP."""
    return make_setting(n, d, order, ZCDP(rho=rho))


def slope(f, axis, part):
    """Return the exact slope, in logarithms, of a term along n, d or the budget, from a step by the
    factor 8.
    """
    low, high = list(BASE), list(BASE)
    high[axis] *= 8
    return math.log(f(*high)[part] / f(*low)[part]) / math.log(8)


@pytest.mark.parametrize("k", [2, 3, 4, 50])
def test_the_private_terms_have_their_log_log_slopes(k):
    a = 1 - 1 / k
    expected = {
        cdp_inputs: (-a, (1 + a) / 2, -a / 2),
        pure_inputs: (-a, 0.5 + a, -a),
        lambda *sizes: terms(DIRECTIONAL_RATE, zcdp_setting(*sizes)): (-a, a, -a / 2),
        lambda *sizes: terms(CLIPPED, zcdp_setting(*sizes)): (-a, (1 + a) / 2, -a / 2),
    }
    for rate, slopes in expected.items():
        for axis, value in enumerate(slopes):
            values = slope(lambda n, d, v, rate=rate: rate(n, d, k, v), axis, 1)
            assert values == pytest.approx(value, abs=1e-12)
        assert slope(lambda n, d, v, rate=rate: rate(n, d, k, v), 0, 0) == pytest.approx(-0.5)
    tail = [
        slope(lambda n, d, v: terms(CLIPPED, zcdp_setting(n, d, k, v)), axis, 2)
        for axis in (0, 1, 2)
    ]
    assert tail == pytest.approx([-a, 1.5 - 1 / k, 0], abs=1e-12)
    iterative = [
        slope(lambda n, d, v: iterative_rate(zcdp_setting(n, d, k, v), v, 0.05), i, 1)
        for i in (0, 2)
    ]
    assert iterative == pytest.approx([-a, -a / 2], abs=1e-12)


def test_the_smoothed_rate_is_the_second_moment_rate_whatever_the_tails():
    assert terms(SMOOTHED, zcdp_setting(1000, 16, 5.0, 0.25)) == pytest.approx(
        (math.sqrt(16 / 1000), 16**0.75 / (0.25**0.25 * math.sqrt(1000)))
    )


def test_the_rates_have_their_reference_values():
    assert cdp_inputs(10_000, 200, 4, 0.5) == pytest.approx((0.14142, 0.13375), abs=5e-6)
    assert pure_inputs(10_000, 200, 4, 1.0)[1] == pytest.approx(0.75212, abs=5e-6)
    assert cdp_inputs(10_000, 200, 2, 0.5)[1] == pytest.approx(0.63246, abs=5e-6)


def test_light_tails_give_the_rate_of_bounded_data():
    n, d, rho = 10**5, 30, 0.2
    assert cdp_inputs(n, d, 1e9, rho)[1] == pytest.approx(d / (math.sqrt(rho) * n))
    assert pure_inputs(n, d, 1e9, rho)[1] == pytest.approx(d**1.5 / (rho * n))


def test_clipping_pays_its_third_term_above_rho_of_one_over_d_only():
    n, d, k = 10**6, 64, 3
    _, private, tail = terms(CLIPPED, zcdp_setting(n, d, k, 1 / d))
    assert private == pytest.approx(tail)
    assert private / tail == pytest.approx(1)
    _, private, tail = terms(CLIPPED, zcdp_setting(n, d, k, 4 / d))
    assert private / tail == pytest.approx(4 ** (-(1 - 1 / k) / 2))


def test_directional_moments_gain_exactly_a_power_of_the_dimension():
    n, d, k, rho = 10**5, 40, 3, 0.3
    ratio = cdp_inputs(n, d, k, rho)[1] / terms(DIRECTIONAL_RATE, zcdp_setting(n, d, k, rho))[1]
    assert ratio == pytest.approx(d ** (1 / (2 * k)))


def test_the_iterative_rate_balances_bias_and_noise():
    n, d, k, rho, beta = 10**6, 20, 3, 0.1, 0.05
    dimension = d + math.log(1 / beta)
    slope_of_noise = math.sqrt(dimension) / (n * math.sqrt(rho))
    radius = math.sqrt(d) * slope_of_noise ** (-1 / k)
    assert iterative_rate(zcdp_setting(n, d, k, rho), rho, beta) == pytest.approx(
        (math.sqrt(dimension / n), d ** (k / 2) * radius ** (1 - k), slope_of_noise * radius)
    )


def test_the_amplified_rate_takes_its_logarithms_from_equation_21():
    n, d, k, epsilon, delta, beta = 10**6, 20, 3, 0.5, 1e-6, 0.05
    log_delta = math.log(1 / delta)
    logs = log_delta + math.sqrt(log_delta * math.log(math.log(1 / beta)))
    radius_slope = math.sqrt(d + math.log(1 / beta)) / (n * epsilon) * logs
    setting = make_setting(n, d, k, ApproxDP(epsilon=epsilon, delta=delta))
    values = iterative_amplified_rate(setting, beta)
    assert iterative_amplified_rate(zcdp_setting(n, d, k, 1.0), beta) == (math.inf,) * 3
    assert values[2] == pytest.approx(math.sqrt(d) * radius_slope ** (1 - 1 / k))


def test_without_a_budget_the_private_term_is_infinite():
    setting = make_setting(10, 2, 2, PureDP(epsilon=1.0))
    assert set(terms(rates.CDP, setting)) == {math.inf}
    assert iterative_rate(setting, setting.gaussian_rho, 0.05)[1:] == (math.inf, math.inf)
