"""Coverage of intervals: every run is counted once, and the share has an exact interval."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy.stats import binom, binomtest

from dpsco_core.results.coverage import Coverage, axis_start, coverages
from dpsco_core.results.intervals import interval
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

METHODS = ("mean.sample", "mean.clipped", "mean.adaptive")
SWEEP = Scenario(methods=METHODS, axis="n", grid=(300.0, 1000.0), trials=4, d=3)


def test_runs_on_fresh_data_are_pooled_over_an_axis_and_others_have_no_interval() -> None:
    outcomes = tuple(study(SWEEP))
    (row,) = coverages(SWEEP, outcomes)
    assert (row.method, row.trials) == ("mean.clipped", 8)
    radius = {x: interval(point, "mean.clipped").radius for x, point in SWEEP.points()}  # type: ignore[union-attr]
    covered = [o.error <= radius[o.x] for o in outcomes if o.method == "mean.clipped"]
    assert row.covering_trials == sum(covered)


def test_an_error_outside_the_ball_is_counted_as_outside() -> None:
    outcomes = tuple(study(SWEEP))
    outcomes_with_outlier = [replace(o, error=1e6) if o.x == 300.0 else o for o in outcomes]
    (row,) = coverages(SWEEP, outcomes_with_outlier)
    assert (row.trials, row.covering_trials, row.share) == (8, 4, 0.5)


def test_points_of_a_budget_axis_share_their_data_and_the_last_one_counts() -> None:
    sweep = replace(SWEEP, n=500, axis="epsilon", grid=(0.5, 1.0, 2.0))
    outcomes = tuple(study(sweep))
    outcomes_with_outlier = [replace(o, error=1e6) if o.x != 2.0 else o for o in outcomes]
    assert [(r.trials, r.covering_trials) for r in coverages(sweep, outcomes_with_outlier)] == [
        (4, 4)
    ]
    outlier_at_the_end = [replace(o, error=1e6) if o.x == 2.0 else o for o in outcomes]
    assert [(r.trials, r.covering_trials) for r in coverages(sweep, outlier_at_the_end)] == [(4, 0)]


@pytest.mark.parametrize(
    ("trials", "covering_trials"), [(5, 5), (20, 19), (60, 0), (1, 1), (100, 57)]
)
def test_the_interval_of_the_share_is_that_of_clopper_and_pearson(
    trials: int, covering_trials: int
) -> None:
    row = Coverage(method="mean.clipped", trials=trials, covering_trials=covering_trials)
    expected = binomtest(covering_trials, trials).proportion_ci(
        confidence_level=0.95, method="exact"
    )
    assert (row.low, row.high) == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("chance", [0.5, 0.9, 0.95, 0.99])
def test_the_interval_misses_the_true_share_at_most_once_in_twenty(chance: float) -> None:
    rows = [Coverage(method="mean.clipped", trials=40, covering_trials=k) for k in range(41)]
    misses = sum(
        binom.pmf(r.covering_trials, 40, chance) for r in rows if not r.low <= chance <= r.high
    )
    assert misses <= 0.05


def test_the_axis_begins_below_every_bar() -> None:
    few_trials, many_trials = (
        Coverage(method="mean.clipped", trials=n, covering_trials=n) for n in (5, 500)
    )
    assert axis_start([many_trials]) == 0.8
    assert axis_start([few_trials, many_trials]) == 0.4 <= few_trials.low
    assert axis_start([Coverage(method="mean.clipped", trials=9, covering_trials=0)]) == 0.0
