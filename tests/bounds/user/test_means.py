"""Bounds on means of people with several records: formulas written out, and measured errors."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from dpsco_core.catalogue import bound, make_method
from dpsco_core.data.users import UserRows
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.scenario import Scenario
from tests.bound_marks import run_at_parameters_of, second_implementation_of

RUNS = ("user.mean-group", "user.mean-clipped")
POINT = Scenario(n=500, m=16, d=4, p=3.0, methods=RUNS)


@second_implementation_of(
    "upper.user.mean-group-run",
    "upper.user.mean-clipped-run",
    "upper.user.mean-group-interval",
    "upper.user.mean-clipped-interval",
)
@pytest.mark.parametrize("slug", RUNS)
@pytest.mark.parametrize(("p", "m"), [(2.0, 1), (2.0, 64), (3.0, 16), (6.0, 3)])
def test_the_bound_on_a_run_equals_its_formula_written_out(slug: str, p: float, m: int) -> None:
    setting = replace(POINT, p=p, m=m).setting
    plan = make_method(slug, "tight", "practical").plan(setting)
    n, d, mean = setting.n, setting.d, setting.constants.mean_gradient_bound
    moment_factor = min(1, math.sqrt((p - 1) / m)) if slug == "user.mean-clipped" else 1.0
    reach = math.sqrt(d) * moment_factor
    bias = (p - 1) ** (p - 1) / p**p * reach**p * (plan.statistic.radius - mean) ** (1 - p)
    noise = d * (2 * plan.statistic.radius / n) ** 2 / (2 * setting.gaussian_rho)
    expected = math.sqrt(d / (n * m) + min(bias, reach + mean) ** 2 + noise)
    assert bound(f"upper.{slug}-run").value(setting) == pytest.approx(expected, rel=1e-12)
    averaged = n if slug == "user.mean-clipped" else n * m
    fourth_moment = (
        3 * (d / (n * m)) ** 2 + 4 * plan.statistic.radius**2 * d / (n * m) / averaged**2
    )
    noise_quantile = math.sqrt(noise / d * chi2.ppf(0.975, d))
    ball = (fourth_moment / 0.025) ** 0.25 + min(bias, reach + mean) + noise_quantile
    assert bound(f"upper.{slug}-interval").value(setting) == pytest.approx(ball, rel=1e-9)


@pytest.mark.parametrize("slug", RUNS)
@pytest.mark.parametrize("law", ["student-t", "skewed-pareto"])
def test_the_root_mean_square_error_is_below_the_bound(slug: str, law: str) -> None:
    """A false alarm has probability 1e-6; a bound on half the noise would fail."""
    point = replace(POINT, distribution=law)
    setting, problem = point.setting, point.instance.problem
    method = make_method(slug, "tight", "practical")
    plan, errors = method.plan(setting), []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        data = UserRows(records=problem.sample(point.n * point.m, rng), items=point.m)
        value = method.release(data, plan, Ledger(setting.budget), rng).value
        errors.append(problem.excess_risk(value).value)
    squares = np.square(errors)
    room = 4.75 * squares.std() / math.sqrt(len(squares))
    row = bound(f"upper.{slug}-run")
    sampling, _, noise = row.terms(setting).values()
    assert squares.mean() - room < row.value(setting) ** 2
    assert squares.mean() - room > sampling**2 + (noise / 2) ** 2


PURE = replace(POINT, delta=0.0)


def plain_squared_bound(n: int, m: int, d: int, p: float, reach: float, radius: float) -> float:
    """Return the bound on the squared error of clipped users' means at epsilon = 1 and unit
    moments, for means within `reach`, written out in plain Python.
    """
    moment_factor = min(1.0, math.sqrt((p - 1) / m))
    bias = math.sqrt(d) * moment_factor + reach
    if radius > reach:
        tail = (p - 1) ** (p - 1) / p**p * (math.sqrt(d) * moment_factor) ** p
        bias = min(bias, tail / (radius - reach) ** (p - 1))
    return d / (n * m) + bias**2 + d * (d + 1) * (2 * radius / n) ** 2


@second_implementation_of("upper.user.mean-clipped-pure", "upper.user.mean-clipped-pure-run")
@pytest.mark.parametrize(("p", "m", "d"), [(2.0, 64, 10), (3.0, 16, 4), (6.0, 3, 2), (2.5, 1, 7)])
def test_the_pure_bound_is_the_minimum_of_its_formula(p: float, m: int, d: int) -> None:
    setting = replace(PURE, n=1000, p=p, m=m, d=d).setting
    reach = setting.constants.mean_gradient_bound
    best = min(
        plain_squared_bound(1000, m, d, p, reach, reach + 0.01 * 1.002**k) for k in range(6000)
    )
    bound_row = bound("upper.user.mean-clipped-pure")
    assert bound_row.value(setting) == pytest.approx(math.sqrt(best), rel=1e-5)
    run = bound("upper.user.mean-clipped-pure-run")
    for tuning in ("practical", "theory"):
        plan = make_method("user.mean-clipped", "tight", tuning).plan(setting)
        expected = math.sqrt(plain_squared_bound(1000, m, d, p, reach, plan.statistic.radius))
        assert run.value(setting, plan) == pytest.approx(expected, rel=1e-9)
    gaussian = replace(PURE, delta=1e-6).setting
    assert math.isinf(bound_row.value(gaussian)) and bound_row.failures(gaussian)
    for form in ("run", "interval"):
        row = bound(f"upper.user.mean-clipped-{form}")
        assert math.isinf(row.value(setting)) and row.failures(setting)


def test_the_pure_bound_has_the_value_of_its_note() -> None:
    setting = replace(PURE, n=1000, m=64, d=10, p=2.0, diameter=4.0).setting
    assert bound("upper.user.mean-clipped-pure").value(setting) == pytest.approx(0.0751, abs=6e-5)


@run_at_parameters_of("upper.user.mean-clipped-pure", "upper.user.mean-clipped-pure-run")
@pytest.mark.parametrize("tuning", ["practical", "theory"])
def test_the_error_under_pure_dp_is_below_its_bound(tuning: str) -> None:
    """A false alarm has probability 1e-6; a bound on half the noise would fail."""
    setting, problem = PURE.setting, PURE.instance.problem
    method = make_method("user.mean-clipped", "tight", tuning)
    plan, errors = method.plan(setting), []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        data = UserRows(records=problem.sample(PURE.n * PURE.m, rng), items=PURE.m)
        value = method.release(data, plan, Ledger(setting.budget), rng).value
        errors.append(problem.excess_risk(value).value)
    squares = np.square(errors)
    room = 4.75 * squares.std() / math.sqrt(len(squares))
    row = bound("upper.user.mean-clipped-pure-run")
    _, _, noise = row.terms(setting, plan).values()
    assert squares.mean() - room < row.value(setting, plan) ** 2
    if tuning == "theory":  # In the other tuning the answer is projected on the public ball.
        assert squares.mean() - room > (noise / 2) ** 2
        assert squares.mean() - room < bound("upper.user.mean-clipped-pure").value(setting) ** 2


def test_the_rate_has_the_exponents_of_the_paper() -> None:
    rate = bound("upper.user.mean-adaptive")
    setting = POINT.setting
    terms, more_items = rate.terms(setting), rate.terms(replace(setting, m=4 * setting.m))
    powers = {name: math.log(terms[name] / more_items[name], 4) for name in terms}
    assert powers == pytest.approx(
        {"sampling": 0.5, "privacy": 0.5, "privacy of the tail": 1 - 1 / 3}
    )
    half = rate.terms(replace(setting, n=2 * setting.n))
    assert terms["privacy"] / half["privacy"] == pytest.approx(2)
    assert not rate.failures(setting)
    sentence = "The rate needs n >= d/epsilon = 4 people, and n=3."
    assert rate.failures(replace(setting, n=3)) == (sentence,)
