"""Fano's inequality for private algorithms: Theorem 1.4 and its relatives."""

import math

import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.bounds.instances.fano import (
    decoding_error,
    fano_cdp,
    fano_coupling,
    fano_pure,
    mean_squared_count,
)

LOG_2 = math.log(2)


def test_theorem_1_4_has_the_example_value_of_the_note():
    value = fano_cdp(25 * LOG_2, 1.0, 1e-3, math.inf, 1000, 0.5)
    assert value == pytest.approx(0.4511605, abs=5e-8)


def test_squared_loss_halves_the_squared_separation_of_the_words():
    plain = fano_cdp(25 * LOG_2, 3.0, 1e-3, math.inf, 1000, 0.5)
    squared = fano_cdp(25 * LOG_2, 3.0, 1e-3, math.inf, 1000, 0.5, squared=True)
    assert squared == pytest.approx(plain * 3.0 / 2)


def test_the_smaller_of_the_two_informations_is_used():
    by_kl = fano_cdp(25 * LOG_2, 1.0, 1.0, 1e-4, 1000, 0.5)
    assert by_kl == pytest.approx(0.5 * (1 - (0.1 + LOG_2) / (25 * LOG_2)))
    assert fano_cdp(25 * LOG_2, 1.0, 1e-3, 10.0, 1000, 0.5) == pytest.approx(0.4511605, abs=5e-8)


def test_the_divergence_counts_all_n_samples():
    # The data reveal 20 nats of the 17.3 nats of the code.
    assert fano_cdp(25 * LOG_2, 1.0, 1.0, 0.01, 2000, 0.5) == 0
    assert fano_cdp(25 * LOG_2, 1.0, 1.0, 0.01, 1000, 0.5) > 0


def test_as_rho_vanishes_the_bound_tends_to_fanos():
    value = fano_cdp(25 * LOG_2, 1.0, 0.5, math.inf, 1000, 1e-14)
    assert value == pytest.approx(0.5 * (1 - 1 / 25), rel=1e-6)


@pytest.mark.parametrize("exact", [False, True])
def test_the_bound_decreases_in_rho_n_and_variation_and_increases_with_the_code(exact):
    def bound_at(words=30.0, variation=1e-3, n=1000, rho=0.5):
        """Return the Fano bound for 30 bits of words, unless arguments are changed."""
        return fano_cdp(words * LOG_2, 1.0, variation, math.inf, n, rho, exact=exact)

    assert (
        bound_at(rho=0.6) < bound_at()
        and bound_at(n=1100) < bound_at()
        and bound_at(variation=1.1e-3) < bound_at()
    )
    assert bound_at(words=31.0) > bound_at()


def test_the_coupling_form_implies_the_theorem():
    mean_square = mean_squared_count(1000, 1e-3)
    assert fano_coupling(25 * LOG_2, 1.0, mean_square, 0.5) == fano_cdp(
        25 * LOG_2, 1.0, 1e-3, math.inf, 1000, 0.5
    )


@pytest.mark.parametrize("information", [0.0, 0.1, 2.0, 5.5, 6.8])
def test_exact_fano_solves_its_equation_and_is_never_weaker(information):
    size = 1000
    error = decoding_error(math.log(size), information, exact=True)
    if error < 1 - 1 / size - 1e-9:
        entropy = -error * math.log(error) - (1 - error) * math.log(1 - error)
        assert entropy + error * math.log(size - 1) == pytest.approx(
            math.log(size) - information, abs=1e-9
        )
    assert error >= decoding_error(math.log(size), information)


def test_fewer_than_two_words_bound_nothing():
    assert fano_cdp(0.5, 1.0, 1e-3, math.inf, 10, 0.5) == 0
    assert fano_pure(0.5, 1.0, 1e-3, 0.5) == 0


def test_pure_fano_is_its_formula_and_the_best_t_beats_a_fine_grid():
    size, exponent = 2.0**25, 0.3 * 7.0

    def by_hand(t):
        """Return the bound of pure DP at a threshold t on the number of differing records, written
        out by hand.
        """
        return 2.0 / 2 * (1 - 1 / t) * (size - 1) / (size - 1 + math.exp(t * exponent))

    assert fano_pure(25 * LOG_2, 2.0, 7.0, 0.3, t=3.0) == pytest.approx(by_hand(3.0), rel=1e-12)
    best = max(by_hand(1.001 + 0.001 * i) for i in range(40_000))
    assert best <= fano_pure(25 * LOG_2, 2.0, 7.0, 0.3) <= best * (1 + 1e-6)


@pytest.mark.parametrize("exponent", [0.0, 1e-9, 1e-3, 1.0, 1e3, 1e6])
def test_pure_fano_is_finite_and_falls_with_the_exponent(exponent):
    value = fano_pure(25 * LOG_2, 1.0, exponent, 1.0)
    assert 0 <= fano_pure(25 * LOG_2, 1.0, exponent * 2 + 1e-9, 1.0) <= value <= 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1.0, 1.0, 0.1, 1.0, 10, 0.5), "packing_size_log must be at least 0"),
        ((9.0, -1.0, 0.1, 1.0, 10, 0.5), "separation must be at least 0"),
        ((9.0, 1.0, 1.1, 1.0, 10, 0.5), "total_variation must be between 0 and 1"),
        ((9.0, 1.0, 0.1, -1.0, 10, 0.5), "kl must be at least 0"),
        ((9.0, 1.0, 0.1, 1.0, 0, 0.5), "n must be a positive integer"),
        ((9.0, 1.0, 0.1, 1.0, 10, 0.0), "rho must be positive"),
    ],
)
def test_a_value_out_of_range_is_named(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        fano_cdp(*arguments)


def test_t_of_one_or_less_is_refused():
    with pytest.raises(InvalidInput, match="t must be above 1, got t=1.0"):
        fano_pure(9.0, 1.0, 1.0, 0.5, t=1.0)
