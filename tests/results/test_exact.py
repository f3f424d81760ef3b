"""The expected error of the sample mean on two-point data is what many runs average to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_core.data import Hypercube, Spike
from dpsco_core.data.hard import TwoPoint
from dpsco_core.results.exact import expected_error, with_exact_errors
from dpsco_core.results.measured import measured
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario


@pytest.mark.parametrize("kind", [Spike, Hypercube])
@pytest.mark.parametrize(("n", "q"), [(1, 0.3), (7, 0.5), (50, 0.02), (10_000, 7e-4), (5, 1.0)])
def test_the_formula_is_the_sum_over_all_numbers_of_spikes(
    kind: type[TwoPoint], n: int, q: float
) -> None:
    law = kind(d=6, moment_order=2.5, spike_probability=q)
    counts = np.arange(n + 1)
    by_hand = law.record_norm * float(binom.pmf(counts, n, q) @ np.abs(counts / n - q))
    assert law.mean_error(n) == pytest.approx(by_hand, rel=1e-9, abs=1e-15)


def test_runs_average_to_it_and_prices_are_over_it() -> None:
    scenario = Scenario(
        distribution="hypercube",
        methods=("mean.sample", "mean.clipped"),
        axis="n",
        grid=(1000, 4000),
        trials=300,
        d=5,
        p=2.0,
    )
    table = measured(study(scenario))
    exact = with_exact_errors(table, scenario)
    for x in scenario.grid:
        own, private = table["mean.sample", x], exact["mean.clipped", x]
        here = exact["mean.sample", x]
        assert here.mean == expected_error(scenario.at(x)) and here.half == 0
        assert abs(own.mean - here.mean) < 4 * own.standard_error
        assert private.mean == table["mean.clipped", x].mean and private.price is not None
        assert private.price.value == private.mean / here.mean
        assert private.price.low < private.price.value < private.price.high


def test_other_data_and_other_problems_keep_what_was_measured() -> None:
    own = Scenario(methods=("mean.sample", "mean.clipped"), n=500, trials=2, d=3)
    table = measured(study(own))
    assert with_exact_errors(table, own) == table
    assert expected_error(replace(own, problem="quadratic", distribution="hypercube")) is None
    assert expected_error(replace(own, distribution="tracing")) is None
