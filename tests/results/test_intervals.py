"""Intervals cover the mean with their stated probability, or a method states that it has none.

Faults that these tests would catch: half of the noise's quantile, an omitted bias, a chance of 0.25
for the sample, and an interval of a method that chooses its radius from the data.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.bounds.mean.intervals import at_most
from dpsco_core.bounds.tools import Parts
from dpsco_core.catalogue import methods_for
from dpsco_core.results.intervals import interval, intervals
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

POINT = Scenario(n=1000, d=5, p=2.0, trials=40, methods=("mean.clipped", "mean.cwme-cdp"))
METHODS_WITH_INTERVALS = {"mean.clipped", "mean.cwme-cdp"}


def test_sampling_and_noise_stay_within_their_terms() -> None:
    """Nearly all records lie at the end of their ball, where the fourth moment is largest."""
    rng = np.random.default_rng(0)
    n, d, reach, runs = 400, 3, 5.0, 20_000
    rare = rng.binomial(n, 0.004, size=(runs, d))
    sums = reach * (rare - 0.004 * n) / n  # The sums are formed coordinate by coordinate.
    spread = np.sqrt(d * reach**2 * 0.004 * 0.996 / n)
    parts = at_most(Parts(sampling=spread, bias=0.0, noise=2.0), reach * np.sqrt(d), n, d)
    exceeding_share = (np.linalg.norm(sums, axis=1) > parts.sampling).mean()
    assert exceeding_share < 0.025
    assert (np.linalg.norm(sums, axis=1) > parts.sampling / 2).mean() > 0.002
    noise = rng.normal(scale=2.0 / np.sqrt(d), size=(runs, d))
    assert (np.linalg.norm(noise, axis=1) > parts.noise).mean() == pytest.approx(0.025, abs=0.006)
    flat = at_most(Parts(sampling=spread, bias=0.0, noise=2.0), reach, n, d, "laplace")
    laplace = rng.laplace(scale=2.0 / np.sqrt(2 * d), size=(runs, d))
    assert 0 < (np.linalg.norm(laplace, axis=1) > 0.6 * flat.noise).mean() < 0.06
    assert (np.linalg.norm(laplace, axis=1) > flat.noise).mean() < 0.025


@pytest.mark.parametrize("law", ["student-t", "skewed-pareto", "hypercube", "spike"])
def test_a_ball_holds_the_mean_in_at_least_its_share_of_runs(law: str) -> None:
    """At a miss rate of 0.05, the number of misses of 80 that fails has a probability
    below 1e-6.
    """
    point = replace(POINT, distribution=law)
    computed = intervals(point, list(study(point)))
    assert {method for method, _ in computed} == METHODS_WITH_INTERVALS
    for ball in computed.values():
        assert ball is not None
        assert ball.trials == 40
        assert ball.trials - ball.covering_trials <= 10
        assert 0 < ball.privacy < 1


def test_without_its_bias_or_its_noise_a_ball_would_not_hold_the_mean() -> None:
    hard = replace(POINT, distribution="hypercube", n=5000, d=10, epsilon=0.5)
    errors = [o.error for o in study(replace(hard, methods=("mean.clipped",)))]
    ball = interval(hard, "mean.clipped", errors)
    assert ball is not None
    assert ball.covering_trials == 40
    sampling = (1 - ball.privacy) * ball.radius
    assert np.mean([error <= sampling for error in errors]) < 0.9


def test_only_methods_that_choose_from_the_data_and_few_others_have_no_interval() -> None:
    have = {method for method in methods_for("mean") if interval(POINT, method) is not None}
    assert have == METHODS_WITH_INTERVALS | {"mean.cwme-pure"}
    pure = replace(POINT, delta=0.0)
    assert interval(pure, "mean.cwme-pure") is not None
    users = replace(POINT, m=16)
    assert interval(users, "user.mean-clipped") is not None
    assert interval(users, "user.mean-adaptive") is None
    assert interval(replace(POINT, problem="quadratic"), "sco.clipped") is None


def test_a_pure_or_a_refused_run_has_no_coverage() -> None:
    ball = interval(POINT, "mean.clipped")
    assert ball is not None
    assert ball.json()["observed"] is None
    assert interval(replace(POINT, delta=0.0), "mean.clipped") is None
