"""Bounds on means of people with several records: written out, and above what is measured."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from dpsco_core.catalogue import bound, make_method
from dpsco_core.data.users import UserRows
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.scenario import Scenario
from tests.second import second_implementation_of

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
def test_the_bound_on_a_run_is_its_formula_written_out(slug: str, p: float, m: int) -> None:
    setting = replace(POINT, p=p, m=m).setting
    plan = make_method(slug, "tight", "practical").plan(setting)
    n, d, mean = setting.n, setting.d, setting.constants.mean_gradient_bound
    kept = min(1, math.sqrt((p - 1) / m)) if slug == "user.mean-clipped" else 1.0
    reach = math.sqrt(d) * kept
    bias = (p - 1) ** (p - 1) / p**p * reach**p * (plan.clip_radius - mean) ** (1 - p)
    noise = d * (2 * plan.clip_radius / n) ** 2 / (2 * setting.gaussian_rho)
    expected = math.sqrt(d / (n * m) + min(bias, reach + mean) ** 2 + noise)
    assert bound(f"upper.{slug}-run").value(setting) == pytest.approx(expected, rel=1e-12)
    averaged = n if slug == "user.mean-clipped" else n * m
    fourth = 3 * (d / (n * m)) ** 2 + 4 * plan.clip_radius**2 * d / (n * m) / averaged**2
    far = math.sqrt(noise / d * chi2.ppf(0.975, d))
    ball = (fourth / 0.025) ** 0.25 + min(bias, reach + mean) + far
    assert bound(f"upper.{slug}-interval").value(setting) == pytest.approx(ball, rel=1e-9)


@pytest.mark.parametrize("slug", RUNS)
@pytest.mark.parametrize("law", ["student-t", "skewed-pareto"])
def test_the_root_mean_square_error_is_below_the_bound(slug: str, law: str) -> None:
    """A false alarm has a chance of 1e-6; a bound on half the noise would be found out."""
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


def test_the_rate_has_the_exponents_of_the_paper() -> None:
    rate = bound("upper.user.mean-adaptive")
    at = POINT.setting
    one, two = rate.terms(at), rate.terms(replace(at, m=4 * at.m))
    powers = {name: math.log(one[name] / two[name], 4) for name in one}
    assert powers == pytest.approx(
        {"sampling": 0.5, "privacy": 0.5, "privacy of the tail": 1 - 1 / 3}
    )
    half = rate.terms(replace(at, n=2 * at.n))
    assert one["privacy"] / half["privacy"] == pytest.approx(2)
    assert not rate.failures(at)
    few = "The rate needs n >= d/epsilon = 4 people, and n=3."
    assert rate.failures(replace(at, n=3)) == (few,)
