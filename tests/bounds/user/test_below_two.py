"""Means at user level at tail indices below 2: formulas written out, limits, runs and attacks."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_core.bounds.instances import two_sided
from dpsco_core.bounds.tools import PARTS
from dpsco_core.catalogue import bound, bounds_for, make_method
from dpsco_core.data.users import UserRows
from dpsco_core.methods.user.means.base import of_user_means, shrinkage
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.scenario import Scenario
from tests.bound_marks import run_at_parameters_of, second_implementation_of

MEANS, GROUP = "user.mean-clipped", "user.mean-group"
POINT = Scenario(n=10_000, m=4, d=20, p=1.5, methods=(MEANS, GROUP))
ORDERS = (1.1, 1.3, 1.5, 1.8, 1.95)


def user_moment(p: float, m: int) -> float:
    """Return a bound on the p-th moment of an average of m independent records whose p-th moment is
    1, for p below 2.
    """
    return min(1.0, (1 + 2 ** (2 - p) * (m - 1)) / m**p)


def squared_error(count: int, d: int, p: float, moment: float, reach: float, noise: float) -> Any:
    """Return the bound of section 2.2 on the squared error, as a function of the clip radius.

    `count` independent vectors are clipped; `noise` is the mean square of the noise at radius 1.
    """
    kappa = (p - 1) ** (p - 1) / p**p

    def value(radius: float) -> float:
        """Return the squared error at a clip radius."""
        bias = kappa * d * moment * (radius - reach) ** (1 - p)
        sampling = d * moment * (radius + reach) ** (2 - p) / count
        return float(sampling + bias**2 + noise * radius**2)

    return value


def smallest_value(value: Any, reach: float) -> float:
    """Return the least value over radii above `reach`, on a fine grid."""
    return min(value(reach + 1e-4 * 1.003**k) for k in range(9000))


@second_implementation_of(
    "upper.user.mean-clipped-below-two-run",
    "upper.user.mean-group-below-two-run",
    "upper.user.mean-clipped-pure-below-two",
    "upper.user.mean-clipped-pure-below-two-run",
)
@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize(("n", "m", "d"), [(10_000, 4, 20), (2000, 64, 3), (800, 1, 5)])
def test_bounds_on_runs_are_the_least_of_their_formulas(n: int, m: int, d: int, p: float) -> None:
    setting = replace(POINT, n=n, m=m, d=d, p=p).setting
    reach, rho = setting.constants.mean_gradient_bound, setting.gaussian_rho
    gaussian = 2 * d / (rho * n**2)
    for slug, count, moment in ((MEANS, n, user_moment(p, m)), (GROUP, n * m, 1.0)):
        value = squared_error(count, d, p, moment, reach, gaussian)
        plan: Any = make_method(slug, "tight", "practical").plan(setting)
        expected = min(math.sqrt(value(plan.statistic.radius)), 2 * reach)
        run_value = bound(f"upper.{slug}-below-two-run").value(setting)
        assert run_value == pytest.approx(expected, rel=1e-9), slug
        best = math.sqrt(smallest_value(value, reach))
        assert run_value == pytest.approx(min(best, 2 * reach), rel=1e-5), slug
    pure = replace(POINT, n=n, m=m, d=d, p=p, delta=0.0).setting
    spherical = d * (d + 1) * (2 / n) ** 2
    value = squared_error(n, d, p, user_moment(p, m), reach, spherical)
    best = math.sqrt(smallest_value(value, reach))
    assert bound(f"upper.{MEANS}-pure-below-two").value(pure) == pytest.approx(best, rel=1e-5)
    run = bound(f"upper.{MEANS}-pure-below-two-run").value(pure)
    assert run == pytest.approx(min(best, 2 * reach), rel=1e-5)
    assert math.isinf(bound(f"upper.{MEANS}-below-two-run").value(pure))
    assert math.isinf(bound(f"upper.{MEANS}-pure-below-two-run").value(setting))


def test_the_values_are_those_of_the_note() -> None:
    for m, means, group in ((4, 0.644416, 0.842574), (64, 0.270849, 0.839387)):
        setting = replace(POINT, m=m).setting
        row = bound(f"upper.{MEANS}-below-two-run")
        assert row.value(setting) == pytest.approx(means, rel=2e-6)
        row = bound(f"upper.{GROUP}-below-two-run")
        assert row.value(setting) == pytest.approx(group, rel=2e-6)
    pure = replace(POINT, m=64, delta=0.0).setting
    row = bound(f"upper.{MEANS}-pure-below-two")
    assert row.value(pure) == pytest.approx(0.278207, rel=2e-6)


@pytest.mark.parametrize("p", ORDERS)
def test_users_with_one_record_have_the_bound_of_clipped_records(p: float) -> None:
    users, items = replace(POINT, m=1, p=p), replace(POINT, m=1, p=p, methods=("mean.clipped",))
    expected = bound("upper.mean.clipped-below-two-run").value(items.setting)
    for slug in (MEANS, GROUP):
        row = bound(f"upper.{slug}-below-two-run")
        assert row.value(users.setting) == pytest.approx(expected, rel=1e-7)


@second_implementation_of(
    "upper.user.projected-mean-clipped-below-two-run",
    "upper.user.projected-mean-group-below-two-run",
    "upper.user.projected-mean-clipped-pure-below-two",
    "upper.user.one-step-mean-clipped-below-two-run",
    "upper.user.one-step-mean-group-below-two-run",
    "upper.user.one-step-mean-clipped-pure-below-two",
)
@pytest.mark.parametrize("p", [1.2, 1.7])
def test_risks_follow_from_the_bounds_on_means(p: float) -> None:
    n, m, d = 4000, 16, 3
    for form, count, moment, delta in (
        ("mean-clipped-below-two-run", n, user_moment(p, m), 1e-6),
        ("mean-group-below-two-run", n * m, 1.0, 1e-6),
        ("mean-clipped-pure-below-two", n, user_moment(p, m), 0.0),
    ):
        common: dict[str, Any] = {"n": n, "m": m, "d": d, "p": p, "delta": delta, "methods": ()}
        pure = delta == 0
        quadratic = Scenario(problem="quadratic", **common).setting
        noise = d * (d + 1) * (2 / n) ** 2 if pure else 2 * d / (quadratic.gaussian_rho * n**2)
        reach = quadratic.constants.diameter / 2
        assert quadratic.constants.strong_convexity == 1 and quadratic.constants.minimum_interior
        square = smallest_value(squared_error(count, d, p, moment, reach, noise), reach)
        if not pure:  # Answers of a run lie in the ball, so the error is at most its diameter.
            square = min(square, (2 * reach) ** 2)
        value = bound(f"upper.user.projected-{form}").value(quadratic)
        assert value == pytest.approx(square / 2, rel=1e-4), form
        linear = Scenario(problem="linear", **common).setting
        reach, distance = linear.constants.mean_gradient_bound, linear.body.reach
        terms = squared_error(count, d, p, moment, reach, noise)
        radius = min((reach + 1e-4 * 1.003**k for k in range(9000)), key=terms)
        error = math.sqrt(terms(radius))
        bias = (p - 1) ** (p - 1) / p**p * d * moment * (radius - reach) ** (1 - p)
        value = bound(f"upper.user.one-step-{form}").value(linear)
        assert value == pytest.approx(min((error + bias) / 2, reach) * distance, rel=2e-3), form


def test_no_two_point_law_exceeds_the_moment_of_an_average() -> None:
    """The exact moments of averages of m two-point variables are sums over the binomial law.

    Without the constant of von Bahr and Esseen the moment would be too small.
    """
    p, m = 1.2, 200
    largest = 0.0
    for q in np.geomspace(1e-5, 0.5, 120):
        counts = np.arange(m + 1)
        moment = q * (1 - q) ** p + (1 - q) * q**p
        centred = np.abs(counts - m * q) ** p / m**p
        largest = max(largest, float(binom.pmf(counts, m, q) @ centred) / moment)
    assert m ** (1 - p) < largest <= shrinkage(p, m) ** p
    assert shrinkage(p, 1) == 1.0
    # At this p and m Minkowski's inequality gives the smaller factor.
    assert shrinkage(1.1, 2) == 1.0
    assert shrinkage(1.5, 8, alike=0.2) == 1.0
    assert shrinkage(2 - 1e-9, 50) == pytest.approx(shrinkage(2.0, 50), rel=1e-6)


@pytest.mark.parametrize("law", ["student-t", "skewed-pareto", "hypercube"])
@pytest.mark.parametrize(("p", "m"), [(1.2, 8), (1.6, 32)])
@pytest.mark.parametrize("slug", [MEANS, GROUP, "user.mean-adaptive"])
@run_at_parameters_of(
    "upper.user.mean-clipped-pure-below-two", "upper.user.mean-clipped-pure-below-two-run"
)
@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_runs_are_between_their_bounds(slug: str, law: str, p: float, m: int, delta: float) -> None:
    """Errors are cut at three times the bound, and compared with a margin of 6 standard errors."""
    if slug == GROUP and delta == 0:
        pytest.skip("records in groups have no pure form")
    offset = 0.0 if law == "hypercube" else 0.7
    point = replace(
        POINT, n=400, d=3, m=m, p=p, distribution=law, delta=delta, offset=offset, methods=(slug,)
    ).validate()
    setting, problem = point.setting, point.instance.problem
    method = make_method(slug, "tight", "practical")
    plan, errors = method.plan(setting), []
    for seed in range(60):
        rng = np.random.default_rng([seed, 9])
        drawn_problem: Any = problem.draw(rng)
        records: Any = drawn_problem.sample(point.n * m, rng)
        users = records if isinstance(records, UserRows) else UserRows(records=records, items=m)
        answer = method.release(users, plan, Ledger(setting.budget), rng).value
        errors.append(drawn_problem.excess_risk(answer).value)
    free = replace(setting, spike_probability=None)
    form = "pure-below-two-run" if delta == 0 else "below-two-run"
    if slug != "user.mean-adaptive":
        upper = bound(f"upper.{slug}-{form}").value(free)
        cut = np.minimum(errors, 3 * upper)
        assert cut.mean() - 6 * cut.std(ddof=1) / math.sqrt(len(cut)) <= upper
    if law == "hypercube":
        spare = 6 * float(np.std(errors, ddof=1)) / math.sqrt(len(errors))
        for row in bounds_for("mean", "user"):
            card = row.card
            proven = ("lower", "explicit", "l2 error", "hypercube")
            if (card.kind, card.constant, card.quantity, card.instance) != proven:
                continue
            if card.privacy != "none" and not row.failures(setting):
                assert np.mean(errors) + spare >= row.value(setting), card.slug


@pytest.mark.parametrize("p", ORDERS)
def test_no_lower_bound_exceeds_an_upper_one(p: float) -> None:
    rng = np.random.default_rng([55, round(100 * p)])
    for _ in range(8):
        n, m = int(np.exp(rng.uniform(3, 8))), int(np.exp(rng.uniform(0.7, 6)))
        radius = float(np.exp(rng.uniform(-1, 2)))
        point = Scenario(
            n=n, m=m, d=int(rng.integers(1, 12)), p=p, methods=(MEANS,), diameter=2 * radius,
            offset=0.0, epsilon=float(np.exp(rng.uniform(-2, 1))),
            delta=float(rng.choice([0.0, 1e-6])),
        ).validate()  # fmt: skip
        setting = point.setting
        rows = [row for row in bounds_for("mean", "user") if not row.failures(setting)]
        rows = [
            row
            for row in rows
            if (row.card.constant, row.card.quantity, row.card.guarantee)
            == ("explicit", "l2 error", "expectation")
            and not row.card.of_law
        ]
        lowers = [row for row in rows if row.card.kind == "lower"]
        if point.delta:  # Algorithms with Gaussian noise are not pure.
            lowers = [row for row in lowers if row.card.privacy != "pure"]
        best = min(
            row.value(setting)
            for row in rows
            if row.card.kind == "upper" and row.card.privacy != "none" and row.card.method
        )
        for row in lowers:
            assert row.value(setting) <= best * (1 + 1e-9), (row.card.slug, point)


@second_implementation_of("lower.user.spikes-cdp")
@pytest.mark.parametrize("p", [1.2, 1.5, 1.9])
def test_hidden_spikes_of_users_are_shrunk_into_the_class(p: float) -> None:
    point = Scenario(
        distribution="hypercube", n=300, m=6, d=4, p=p, methods=(MEANS,), offset=0.0,
        epsilon=None, delta=None, rho=0.2,
    ).validate()  # fmt: skip
    setting = point.setting
    law: Any = point.instance.problem.law
    q = law.spike_probability
    size = q ** (-1 / p)
    central = q * (size * (1 - q)) ** p + (1 - q) * (size * q) ** p
    assert central > 1  # Unscaled spikes are outside of the class.
    theta = q * size / central ** (1 / p)
    # The mean of the drawn data is the one in the bound.
    drawn_problem: Any = point.instance.problem.draw(np.random.default_rng(0))
    assert np.abs(drawn_problem.law.mean) == pytest.approx(np.full(4, theta), rel=1e-9)
    b = np.arange(301, dtype=np.float64)
    losses = two_sided.curve(4, "l2").value_at(0.2 * -math.expm1(-4 * math.log(2)) * b**2)
    mean = float(binom.pmf(b, 300, 1 - (1 - q) ** 6) @ losses)
    assert bound("lower.user.spikes-cdp").value(setting) == pytest.approx(theta * mean, rel=1e-6)
    pooled = bound("lower.mean.two-sided-cdp").value(setting)
    assert bound("lower.user.spikes-cdp").value(setting) >= pooled * (1 - 1e-9)


def test_a_norm_counts_every_coordinate_of_an_average() -> None:
    """Users have disjoint spikes, so the factor d^(p/2) of the power mean would be too small below
    p = 2.
    """
    setting = replace(POINT, m=2).setting
    means = of_user_means(setting)
    assert means.n == setting.n and means.m == 1
    assert means.constants.coordinate_moment == pytest.approx(user_moment(1.5, 2))
    plan: Any = make_method(MEANS, "tight", "practical").plan(setting)
    radius = plan.statistic.radius
    terms = bound(f"upper.{MEANS}-below-two-run").terms(setting)
    kappa = 0.5**0.5 / 1.5**1.5
    power_mean = kappa * 20**0.75 * user_moment(1.5, 2) * (radius - 2) ** -0.5
    assert terms[PARTS[1]] > power_mean
