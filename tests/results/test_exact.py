"""The expected error without privacy on two-point data is what many runs average to."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_core.data.hard import TwoPoint
from dpsco_core.problems import MeanEstimation
from dpsco_core.results.exact import expected_error, with_exact_errors
from dpsco_core.results.measured import measured
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

SAMPLE, MINIMISER = "mean.sample", "sco.erm"


@pytest.mark.parametrize("law", ["spike", "hypercube"])
@pytest.mark.parametrize("n", [1, 7, 50, 10_000])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 20.0])
def test_the_expected_error_is_the_sum_over_all_numbers_of_spikes(
    law: str, n: int, epsilon: float
) -> None:
    point = Scenario(distribution=law, n=n, epsilon=epsilon, d=6, p=2.5)
    problem = point.instance.problem
    assert isinstance(problem, MeanEstimation)
    assert isinstance(problem.distribution, TwoPoint)
    counts, q = np.arange(n + 1), problem.distribution.spike_probability
    deviations = np.abs(counts / n - q) * problem.distribution.record_norm
    by_hand = float(binom.pmf(counts, n, q) @ deviations)
    assert expected_error(point, SAMPLE) == pytest.approx(by_hand, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    ("problem", "public", "private"),
    [
        ("mean", SAMPLE, "mean.clipped"),
        ("quadratic", MINIMISER, "sco.clipped"),
        ("linear", MINIMISER, "sco.clipped"),
    ],
)
def test_runs_average_to_the_expected_error_and_prices_are_relative_to_it(
    problem: str, public: str, private: str
) -> None:
    scenario = Scenario(
        problem=problem,
        distribution="hypercube",
        methods=(public, private),
        axis="n",
        grid=(1000, 4000),
        trials=400,
        d=5,
        p=2.0,
        epsilon=3.0,
    )
    table = measured(study(scenario))
    exact = with_exact_errors(table, scenario)
    for x in scenario.grid:
        expected_mean, exact_row, priced = table[public, x], exact[public, x], exact[private, x]
        assert exact_row.mean == expected_error(scenario.at(x), public) and exact_row.half == 0
        assert (
            expected_mean.mean != exact_row.mean
            and abs(expected_mean.mean - exact_row.mean) < 4 * expected_mean.standard_error
        )
        assert priced.mean == table[private, x].mean and priced.price is not None
        assert priced.price.value == priced.mean / exact_row.mean
        assert priced.price.low < priced.price.value < priced.price.high


def test_other_data_problems_and_methods_have_no_exact_error() -> None:
    item_level = Scenario(methods=(SAMPLE, "mean.clipped"), n=500, trials=2, d=3)
    table = measured(study(item_level))
    assert with_exact_errors(table, item_level) == table
    hard = replace(item_level, distribution="hypercube")
    assert expected_error(hard, "mean.median-of-means") is None
    assert expected_error(replace(item_level, distribution="tracing"), SAMPLE) is None
    linear = replace(hard, problem="linear", methods=(MINIMISER,))
    assert expected_error(replace(linear, geometry="l1"), MINIMISER) is None
    assert expected_error(replace(linear, problem="logistic"), MINIMISER) is None
    # Some sets contain all means of the prior, and the sample mean is projected on them.
    assert expected_error(replace(hard, geometry="linf"), SAMPLE) is None


def test_items_of_users_are_pooled_whether_or_not_they_fit_in_memory() -> None:
    few_records = Scenario(
        problem="quadratic", distribution="hypercube", methods=(MINIMISER,), d=10, p=2.0, trials=20
    )
    # The data at the second size are stored as the users' means.
    for n, m in ((200, 16), (1000, 10_000)):
        point = replace(few_records, n=n, m=m)
        (row,) = measured(study(point)).values()
        exact = expected_error(point, MINIMISER)
        assert exact is not None and abs(row.mean - exact) < 4 * row.standard_error


def test_a_refused_run_has_no_error_and_a_single_trial_no_interval() -> None:
    hard = Scenario(
        distribution="hypercube", methods=(SAMPLE, "mean.clipped"), n=2000, d=5, p=2.0, trials=1
    )
    table = measured(study(hard))
    price = with_exact_errors(table, hard)["mean.clipped", None].price
    assert price is not None and math.isnan(price.low) and math.isnan(price.high)
    refused = {at: replace(row, trials=0, mean=math.nan) for at, row in table.items()}
    assert all(math.isnan(row.mean) for row in with_exact_errors(refused, hard).values())
