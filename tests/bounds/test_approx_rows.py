"""Catalogue bounds on every (epsilon, delta)-DP algorithm: where they apply, and their order.

Runs compare means over trials with the bounds at the data's own prior; seeds are fixed, and the
false-alarm rate of a comparison is at most 1e-6 (`tests.bounds.test_lower_bounds_bind`).
"""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.bounds.instances.leakage import (
    CONCENTRATED,
    approximate_leakage,
    concentrated_leakage,
)
from dpsco_core.bounds.instances.tracing import (
    TracingBounds,
    largest_tracing_probability,
    tracing_shape,
)
from dpsco_core.catalogue import bound
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP, zcdp_rho
from dpsco_core.results.report import bound_setting
from dpsco_core.scenario import Scenario
from tests.bounds.helpers import make_setting
from tests.bounds.test_lower_bounds_bind import PRIVATE, compare
from tests.folded import one_in

DEFAULT = Scenario(p=2.0, methods=())
APPROX = ("approx-tracing", "approx-assouad", "approx-packing")
CONCENTRATED_ROWS = ("tracing-cdp", "rate-distortion-cdp", "hypercube-cdp")


def largest_value(names: tuple[str, ...], setting, suffix: str = "") -> float:
    """Return the largest value of some lower bounds on means at a setting."""
    return max(bound(f"lower.mean.{name}{suffix}").value(setting) for name in names)


def test_at_the_default_scenario_some_bound_applies_to_every_algorithm():
    setting = DEFAULT.setting
    assert largest_value(APPROX, setting) == pytest.approx(0.0939, abs=5e-5)
    assert largest_value(CONCENTRATED_ROWS, setting) >= 0.104
    assert bound("lower.mean.hypercube-cdp").value(setting) < 0.076
    sharper = replace(setting, n=10_000, d=200, moment_order=4.0, budget=ZCDP(rho=0.5))
    assert largest_value(CONCENTRATED_ROWS, sharper) == pytest.approx(0.0538, abs=5e-5)


@pytest.mark.parametrize(
    "budget", [ZCDP(rho=0.05), ApproxDP(epsilon=1.0, delta=1e-6), PureDP(epsilon=1.0)]
)
@pytest.mark.parametrize("problem", ["mean", "linear", "quadratic"])
def test_on_its_own_data_a_bound_is_evaluated_at_their_prior(problem, budget):
    form = {"mean": "l2", "linear": "linear", "quadratic": "squared"}[problem]
    area = {"mean": "mean", "linear": "sco", "quadratic": "sco-strong"}[problem]
    fields = {
        ZCDP: {"epsilon": None, "delta": None, "rho": 0.05},
        ApproxDP: {"epsilon": 1.0, "delta": 1e-6},
        PureDP: {"epsilon": 1.0, "delta": 0.0},
    }[type(budget)]
    point = Scenario(
        problem=problem, distribution="tracing", methods=(), d=9, n=700, diameter=6.0, **fields
    )
    law = point.instance.problem.distribution
    assert (law.spread, law.shape) == (CONCENTRATED, tracing_shape(9, 3.0))
    unit = {"mean": 1.0, "linear": 3.0, "quadratic": 0.5}[problem]
    leakages = {f"lower.{area}.tracing-cdp": concentrated_leakage(point.setting.rho)}
    if not isinstance(budget, ZCDP):
        delta = budget.delta if isinstance(budget, ApproxDP) else 0.0
        leakages[f"lower.{area}.approx-tracing"] = approximate_leakage(1.0, delta, 9, CONCENTRATED)
    for slug, leakage in leakages.items():
        row = bound(slug)
        setting = bound_setting(point, row)
        assert setting.spike_probability == law.spike_probability
        assert row.failures(setting) == ()
        raw = TracingBounds(n=700, d=9, moment_order=3.0, leakage=leakage)
        expected = unit * raw.value_at(form, law.spike_probability, law.shape)
        assert row.value(setting) == pytest.approx(expected, rel=1e-12)
    # The law has the spike probability that makes this row largest: no probability of a grid gives
    # a larger value.
    own_slug = f"lower.{area}.{'tracing-cdp' if isinstance(budget, ZCDP) else 'approx-tracing'}"
    raw = TracingBounds(n=700, d=9, moment_order=3.0, leakage=leakages[own_slug])
    cap = largest_tracing_probability(9, 3.0, math.inf if form == "linear" else 3.0, CONCENTRATED)
    grid = [raw.value_at(form, float(q), law.shape) for q in np.geomspace(cap * 1e-4, cap, 600)]
    assert raw.value_at(form, law.spike_probability, law.shape) >= max(grid) * (1 - 1e-6)


def test_under_zcdp_a_bound_on_approximate_privacy_states_that_it_does_not_apply():
    setting = replace(DEFAULT, epsilon=None, delta=None, rho=0.1).setting
    for name in APPROX:
        row = bound(f"lower.mean.{name}")
        assert row.value(setting) == 0
        (sentence,) = row.failures(setting)
        assert "the budget is 0.1-zCDP" in sentence


def random_settings(count: int, seed: int):
    """Yield random settings under approximate and pure budgets."""
    source = random.Random(seed)
    for _ in range(count):
        epsilon, delta = 10 ** source.uniform(-2.5, 1), 10 ** source.uniform(-10, -2)
        yield make_setting(
            n=int(10 ** source.uniform(0.3, 7)),
            d=source.choice([1, 2, 3, 7, 20, 100, 1000]),
            order=source.uniform(2, 20),
            mean_bound=10 ** source.uniform(-1.5, 2),
            budget=source.choice((ApproxDP(epsilon=epsilon, delta=delta), PureDP(epsilon=epsilon))),
        )


# The relative error of searches for the best spike probability; tracing needs no search.
GRID = 2e-3


def check_order(count: int, seed: int) -> None:
    """Check that lower bounds fall with n, epsilon, delta and p, and are at least as large for zCDP
    algorithms.
    """
    source = random.Random(seed)
    for setting in random_settings(count, seed):
        budget = setting.budget
        grown = replace(budget, epsilon=budget.epsilon * source.uniform(1.01, 3))
        harder = [
            replace(setting, n=int(setting.n * source.uniform(1.1, 4)) + 1),
            replace(setting, moment_order=setting.moment_order * source.uniform(1.01, 2)),
            replace(setting, budget=grown),
        ]
        if isinstance(budget, ApproxDP):
            larger_delta = min(0.9, budget.delta * source.uniform(2, 100))
            harder.append(replace(setting, budget=replace(budget, delta=larger_delta)))
        for name in APPROX:
            for suffix in ("", "-squared"):
                row = bound(f"lower.mean.{name}{suffix}")
                value = row.value(setting)
                room = 1e-9 if name == "approx-tracing" else GRID
                assert 0 <= value < math.inf
                for harder_setting in harder:
                    assert row.value(harder_setting) <= value * (1 + room) + 1e-300, (
                        row.card.slug,
                        setting,
                    )
        if isinstance(budget, ApproxDP):
            zcdp_setting = replace(setting, budget=ZCDP(rho=zcdp_rho(budget.epsilon, budget.delta)))
        else:
            # Pure DP is the strongest notion: a bound on (epsilon, delta)-DP algorithms holds for
            # pure ones.
            zcdp_setting = None
        if zcdp_setting is not None:
            zcdp_value = largest_value(
                ("tracing-cdp", "rate-distortion-cdp", "hypercube-cdp"), zcdp_setting
            )
            assert bound("lower.mean.approx-tracing").value(setting) <= zcdp_value * (1 + GRID)
        for name in ("tracing-cdp", "rate-distortion-cdp"):
            row = bound(f"lower.mean.{name}")
            value = row.value(setting)
            room = 1e-9 if name == "tracing-cdp" else GRID
            assert all(row.value(other) <= value * (1 + room) + 1e-300 for other in harder[:3])


@pytest.mark.parametrize("count", one_in(2, [10, 30]))
def test_the_bounds_are_in_order_at_many_settings(count: int):
    check_order(count, 1)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_the_bounds_are_in_order_at_ten_thousand_settings(part: int):
    check_order(1000, 100 + part)


# Settings (n, d, p, diameter, budget) of ten command lines. Where the bound by tracing is far below
# every known method, a smaller ball is known to contain the mean.
SETTINGS = (
    (10_000, 20, 2.0, 4.0, {"epsilon": 1.0, "delta": 1e-6}),
    (10_000, 200, 4.0, 0.8, {"epsilon": 1.0, "delta": 1e-6}),
    (2000, 30, 2.2, 4.0, {"epsilon": 2.0, "delta": 1e-5}),
    (20_000, 10, 3.0, 4.0, {"epsilon": 0.5, "delta": 1e-8}),
    (1000, 300, 3.0, 4.0, {"epsilon": 4.0, "delta": 1e-5}),
    (10_000, 50, 2.0, 4.0, {"epsilon": 0.1, "delta": 1e-6}),
    (5000, 100, 8.0, 0.8, {"epsilon": 1.0, "delta": 1e-6}),
    (3000, 5, 2.5, 4.0, {"epsilon": 3.0, "delta": 1e-5}),
    (500, 10, 4.0, 0.6, {"epsilon": 1.0, "delta": 1e-3}),
    (10_000, 20, 2.0, 4.0, {"epsilon": 8.0, "delta": 1e-6}),
)


def instance(sizes) -> Scenario:
    """Return a scenario on the instance of tracing, from its sizes and budget."""
    n, d, p, diameter, budget = sizes
    return Scenario(
        distribution="tracing", n=n, d=d, p=p, diameter=diameter, offset=0.0, methods=(), **budget
    )


def check_tracing(sizes, methods: tuple[str, ...], trials: int) -> None:
    """Check that private methods err above the bounds on the instance of tracing, and that the best
    one is near the bound.
    """
    comparisons = [c for m in methods for c in compare(instance(sizes), m, trials)]
    assert [(c.method, c.bound, c.ratio) for c in comparisons if c.is_below] == []
    ratios = [c.ratio for c in comparisons if c.bound == "lower.mean.approx-tracing"]
    assert ratios
    assert min(ratios) <= ratio_near(instance(sizes).p)


def ratio_near(p: float) -> float:
    """Return the largest allowed ratio of the best private error to the bound by tracing."""
    return 2.6 if p <= 4 else 3.6


def tuned_errors(point: Scenario, trials: int) -> np.ndarray:
    """Return the errors of clipping at the spikes' norm, of the same answer shrunk, and of the
    answer 0; shape (trials, 3).
    """
    law, budget = point.instance.problem.distribution, point.setting
    norm = math.sqrt(law.d) * law.spike_probability ** (-1 / law.moment_order)
    noise = 2 * norm / point.n / math.sqrt(2 * budget.gaussian_rho)
    energy = law.mean_norm**2 / (1 + law.shape)
    share = energy / (energy + norm**2 * law.spike_probability / point.n + law.d * noise**2)
    rng = np.random.default_rng(7)
    errors = np.empty((trials, 3))
    for trial in range(trials):
        drawn_law = law.draw(rng)
        release = drawn_law.sample(point.n, rng).x.mean(axis=0) + noise * rng.standard_normal(law.d)
        for column, factor in enumerate((1.0, share, 0.0)):
            errors[trial, column] = np.linalg.norm(factor * release - drawn_law.mean)
    return errors.mean(axis=0)


def check_tuned(sizes, trials: int) -> None:
    """Check that a release tuned to the spikes comes near the bound by tracing."""
    point = instance(sizes)
    row = bound("lower.mean.approx-tracing")
    value = row.value(bound_setting(point, row))
    assert row.failures(bound_setting(point, row)) == ()
    errors = tuned_errors(point, trials)
    assert errors.min() > value
    assert errors.min() <= value * ratio_near(point.p)


QUICK = tuple(m for m in PRIVATE if m != "mean.iterative")


@pytest.mark.parametrize("sizes", [SETTINGS[2], SETTINGS[7], SETTINGS[8]])
def test_on_the_tracing_instance_methods_are_above_their_bounds(sizes):
    check_tracing(sizes, QUICK, trials=20)
    check_tuned(sizes, trials=60)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SETTINGS)
def test_on_the_tracing_instance_methods_are_above_their_bounds_at_ten_settings(sizes):
    check_tracing(sizes, QUICK, trials=100)
    check_tuned(sizes, trials=300)
