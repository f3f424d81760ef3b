"""Binomial probabilities, expectations, and the search for a maximum."""

import math

import numpy as np
import pytest

from dpsco_core.bounds.instances.binomial import expectation, log_pmf, maximise
from tests.bounds.helpers import exact_binomial_pmf


@pytest.mark.parametrize(("n", "p"), [(1, 0.3), (7, 0.01), (40, 0.5), (200, 0.97), (300, 1e-6)])
def test_log_pmf_agrees_with_exact_fractions(n, p):
    counts = np.arange(n + 1, dtype=float)
    exact = np.array(exact_binomial_pmf(n, p))
    usable = exact > 1e-280
    probabilities = np.exp(log_pmf(counts, n, np.array([p])))
    assert np.allclose(probabilities[usable], exact[usable], rtol=1e-12)


@pytest.mark.parametrize(
    ("n", "counts"),
    [(100_000, (24_000, 25_000, 25_613)), (140_000, (5_000, 35_000, 136_000))],
    ids=["looked up", "beyond the table"],
)
def test_log_pmf_agrees_with_big_integers_where_log_factorials_cancel(n, counts):
    p = 0.25
    for count in counts:
        exact = math.log(math.comb(n, count)) + count * math.log(p)
        exact += (n - count) * math.log1p(-p)
        assert log_pmf(np.array([float(count)]), n, np.array([p]))[0] == pytest.approx(
            exact, rel=1e-13, abs=2e-9
        )


@pytest.mark.parametrize("p", [1e-12, 1e-9, 3e-8, 1e-5, 0.3, 0.999])
@pytest.mark.parametrize("fine", [False, True])
def test_expectations_of_powers_are_exact_at_a_billion_records(p, fine):
    n = 10**9
    first_moment, second_moment = n * p, n * p * (1 - p) + (n * p) ** 2
    probability = np.array([p])
    assert expectation(lambda b: np.ones_like(b), n, probability, fine=fine)[0] == pytest.approx(
        1, rel=1e-9
    )
    assert expectation(lambda b: b, n, probability, fine=fine)[0] == pytest.approx(
        first_moment, rel=1e-9
    )
    assert expectation(lambda b: b * b, n, probability, fine=fine)[0] == pytest.approx(
        second_moment, rel=1e-9
    )


def test_expectation_is_f_at_the_ends_of_the_range_of_p():
    value = expectation(lambda b: b + 5, 12, np.array([0.0, 1.0]))
    assert value.tolist() == [5.0, 17.0]


def test_an_expectation_leaves_out_counts_above_the_given_limit():
    value = expectation(lambda b: np.ones_like(b), 10, np.array([0.5]), largest=4, fine=True)
    assert value[0] == pytest.approx(sum(exact_binomial_pmf(10, 0.5)[:5]), rel=1e-12)


def test_maximise_finds_an_inner_maximum_and_both_ends():
    inner = maximise(lambda p: -((np.log(p) + 5) ** 2), 1e-6, 1.0)
    assert inner == pytest.approx(math.exp(-5), rel=1e-4)
    assert maximise(lambda p: p, 1e-6, 0.25) == 0.25
    assert maximise(lambda p: -p, 1e-6, 0.25) == pytest.approx(1e-6)
