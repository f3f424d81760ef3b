"""The rates in l_q: reference values, slopes, limits and misprints.

The values are those of theory/su-zhao-wang.md, 8, item 26.
"""

import math
from dataclasses import replace

import pytest

from dpsco_core.bounds.lq import rates
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.lq.mirror_schedule import batched_parameters, theorem_10_parameters
from dpsco_core.methods.lq.regularized import published_regulariser, published_steps
from dpsco_core.privacy.budget import ApproxDP
from tests.bounds.euclidean.helpers import make_setting

N, D, EPSILON, DELTA = 10**5, 100, 0.5, 1e-6
SPACE = RegularSpace(d=D, exponent=1.25)


def slope(value, argument, factor=1.0 + 1e-6):
    """Return the slope of a positive function of one argument, in logarithms of both."""
    return math.log(value(argument * factor) / value(argument)) / math.log(factor)


def setting_at(n=N, d=D, exponent=1.25, epsilon=EPSILON, delta=DELTA, radius=1.0):
    """Return the reference setting of the rates in l_q, with changes."""
    budget = ApproxDP(epsilon=epsilon, delta=delta)
    setting = make_setting(n, d, 2.0, budget, lipschitz=1.0, diameter=2 * radius)
    return replace(setting, exponent=exponent)


def terms(rate, unit="", **changes):
    """Return the terms of a rate at the reference setting, in the unit `unit`, with changes of the
    setting.
    """
    return tuple(replace(rate, unit=unit)(setting_at(**changes)).values())


def private_term(rate, **changes):
    """Return the private term of a rate at the reference setting."""
    return terms(rate, **changes)[1]


def theorem_8(**changes):
    """Return the terms of Theorem 8 as printed, for a loss of constant 1 and a
    minimiser of norm 1.
    """
    unit = rates.THEOREM_8_PRINTED.unit.removeprefix("L*")
    return terms(rates.THEOREM_8_PRINTED, unit, **changes)


def bassily_2021(exponent=1.25):
    """Return the terms of the rate of Bassily et al. (2021) at an exponent q."""
    rate = rates.BASSILY_BELOW_TWO if exponent < 2 else rates.BASSILY_FROM_TWO
    return terms(rate, exponent=exponent)


def test_the_rates_have_their_reference_values():
    assert private_term(rates.THEOREM_7) == pytest.approx(0.1698765, rel=1e-6)
    assert private_term(rates.THEOREM_10) == pytest.approx(0.05453015, rel=1e-6)
    assert private_term(rates.GENERAL_EPSILON) == pytest.approx(0.2282677, rel=1e-6)
    assert theorem_8(exponent=4.0) == pytest.approx((3.162278e-2, 7.433844e-3))
    assert terms(rates.HEAVY_EUCLIDEAN, exponent=4.0) == pytest.approx((1.0, 2.514867))
    assert sum(bassily_2021()) == pytest.approx(0.007124555)
    assert sum(bassily_2021(exponent=4.0)) == pytest.approx(0.01063246)


RATES = (rates.THEOREM_7, rates.THEOREM_10, rates.GENERAL_EPSILON)


@pytest.mark.parametrize(
    ("rate", "records", "dimension", "kappa"),
    [
        (RATES[0], -2 / 5, 1 / 5, 4 / 5),
        (RATES[1], -1 / 2, 1 / 4, 1 / 2),
        (RATES[2], -1 / 3, 1 / 6, 2 / 3),
    ],
)
def test_the_rates_below_two_have_their_exponents(rate, records, dimension, kappa):
    n = 10**9  # With n this large a step of one record is small.
    assert slope(lambda n: private_term(rate, n=round(n)), n, 1.001) == pytest.approx(
        records, abs=1e-6
    )
    assert slope(lambda e: private_term(rate, epsilon=e), 0.5) == pytest.approx(records, abs=1e-6)
    assert slope(lambda d: private_term(rate, d=round(d)), 10**6, 2.0) == pytest.approx(dimension)
    logs = math.log(private_term(rate, delta=1e-8) / private_term(rate, delta=1e-4))
    assert logs / math.log(2) == pytest.approx(dimension)
    # The constant kappa is 1/(q - 1), which is 8 and 4 at these exponents.
    grown = private_term(rate, d=10**4, exponent=1.125) / private_term(rate, d=10**4, exponent=1.25)
    assert math.log2(grown) == pytest.approx(kappa)


def test_the_rates_from_two_on_have_their_exponents():
    for q in (2.0, 3.0, 4.0, math.inf):
        for term in (0, 1):
            few_dimensions, many_dimensions = (
                theorem_8(d=d, exponent=q)[term] for d in (10**4, 2 * 10**4)
            )
            assert math.log2(many_dimensions / few_dimensions) == pytest.approx(
                1 - 2 / q + 0.5 * term
            )
        small, large = (terms(rates.HEAVY_EUCLIDEAN, d=d, exponent=q) for d in (10**4, 2 * 10**4))
        assert math.log2(large[0] / small[0]) == pytest.approx(1.5 - 1 / q)
        assert math.log2(large[1] / small[1]) == pytest.approx(1.5 - 1 / (2 * q))
    small_radius, large_radius = (theorem_8(exponent=4.0, radius=r)[0] for r in (3.0, 6.0))
    assert large_radius == pytest.approx(4 * small_radius)


def test_the_rates_have_their_limits_at_two_and_at_infinity():
    plain = (1 / math.sqrt(N), math.sqrt(-D * math.log(DELTA)) / (EPSILON * N))
    at_two = theorem_8(exponent=2.0)
    assert at_two == pytest.approx(plain)
    at_infinity = theorem_8(exponent=math.inf)
    assert at_infinity == pytest.approx((D * plain[0], D * plain[1]))
    # Both branches of the paper jump at q = 2, while that of Bassily et al. is continuous.
    below_two = private_term(rates.THEOREM_7, exponent=2 - 1e-9)
    assert below_two == pytest.approx(plain[1] ** 0.4)
    assert below_two > 4 * sum(at_two)
    tails = private_term(rates.THEOREM_10, exponent=2 - 1e-9)
    jump = sum(terms(rates.HEAVY_EUCLIDEAN, exponent=2.0)) / tails
    assert tails == pytest.approx((-D * math.log(DELTA)) ** 0.25 / math.sqrt(N * EPSILON))
    assert D / 4 < jump < 4 * D
    left = sum(bassily_2021(exponent=2 - 1e-9))
    assert left == pytest.approx(sum(bassily_2021(exponent=2.0)))


def test_a_printed_first_term_does_not_fall_with_the_records():
    for rate in (rates.BASSILY_FROM_TWO, rates.HEAVY_EUCLIDEAN):
        printed = rate.drop("/sqrt(n)")
        few_records, many_records = (terms(printed, n=n, exponent=4.0) for n in (100, 10**8))
        assert few_records[0] == many_records[0] > 1
        sampling, privacy = terms(rate, exponent=4.0)
        assert sampling == pytest.approx(few_records[0] / math.sqrt(N))
        assert privacy == terms(printed, exponent=4.0)[1]


def test_a_minimiser_at_zero_still_has_a_positive_rate():
    near_zero = setting_at(exponent=4.0, radius=1e-9)
    assert sum(rates.THEOREM_8_PRINTED(near_zero).values()) < 1e-15
    assert rates.THEOREM_8(near_zero)["sampling"] > 1 / math.sqrt(N)


@pytest.mark.parametrize(
    ("rate", "exponent"), [(rates.THEOREM_7, 2.5), (rates.THEOREM_10, 3.0), (rates.THEOREM_8, 1.5)]
)
def test_a_rate_for_other_exponents_is_infinite(rate, exponent):
    assert set(rate(setting_at(exponent=exponent)).values()) == {math.inf}


def test_the_schedule_of_theorem_7_is_consistent_with_the_root_of_kappa_only():
    assert published_steps(N, SPACE, EPSILON, DELTA) == pytest.approx(23.5465, abs=5e-5)
    printed = published_steps(N, SPACE, EPSILON, DELTA) * SPACE.printed_kappa**0.2
    assert printed == pytest.approx(31.0698, abs=5e-5)
    assert published_regulariser(N, 24, 0.25) == pytest.approx(0.5010282, abs=5e-8)
    rate = private_term(rates.THEOREM_7)
    assert SPACE.kappa / published_steps(N, SPACE, EPSILON, DELTA) == pytest.approx(rate)
    assert SPACE.kappa / printed != pytest.approx(rate, rel=0.1)


def test_the_regulariser_of_theorem_7_forgets_the_start_only_if_below_twice_the_smoothness():
    def left(n, steps):
        """Return the growth of one step, the share of the start that the steps leave, and the
        squared share of steps per record.
        """
        growth = published_regulariser(n, steps, 1.0) / 2
        return growth, (1 + growth) ** -steps, (steps / n) ** 2

    growth, rest, claimed = left(10**5, 24)
    assert growth > 1
    assert (rest, claimed) == pytest.approx((5.8152e-8, 5.76e-8), rel=1e-4)
    assert rest > claimed
    for n in (10**3, 10**5, 10**8):
        for steps in range(1, 200):
            growth, rest, claimed = left(n, steps)
            if 0 < growth <= 1:
                assert rest <= claimed * (1 + 1e-12)


def test_the_parameters_of_theorem_10_attain_its_rate():
    truncation, steps = theorem_10_parameters(N, SPACE, EPSILON, DELTA)
    assert truncation == pytest.approx(18.33848, rel=1e-6)
    assert steps == pytest.approx(5380.796, rel=1e-6)
    size = math.sqrt(-D * math.log(DELTA))
    assert steps == pytest.approx(N * EPSILON * SPACE.kappa / size)
    assert SPACE.kappa / math.sqrt(steps) == pytest.approx(private_term(rates.THEOREM_10))
    # The condition on n is lambda >= max(beta, 1).
    for beta in (0.3, 4.0):
        needed_records = max(beta**2, 1) * size * SPACE.kappa / EPSILON
        assert (needed_records <= N) == (truncation >= max(beta, 1))


def test_the_batched_parameters_balance_to_the_rate_for_every_epsilon():
    truncation, steps = batched_parameters(N, SPACE, EPSILON, DELTA)
    rate = private_term(rates.GENERAL_EPSILON)
    assert SPACE.kappa / math.sqrt(steps) == pytest.approx(rate)
    assert 1 / truncation == pytest.approx(rate)
    noise = steps**1.5 * SPACE.kappa * truncation**2 * -D * math.log(DELTA)
    assert noise / (N * EPSILON) ** 2 == pytest.approx(rate)
