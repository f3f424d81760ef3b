"""Risk bounds of a projected mean: plain formulas for every mean and set, and exact attainment."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from dpsco_core.bounds.euclidean.projected import PROJECTED_RISKS, of_means, projected
from dpsco_core.bounds.mean.rows import UPPER_MEAN_BOUNDS
from dpsco_core.catalogue import bound, make_method
from dpsco_core.data import StudentT
from dpsco_core.geometry import L2, Geometry
from dpsco_core.privacy.budget import ZCDP, PureDP
from dpsco_core.problems import Quadratic
from dpsco_core.problems.base import Setting
from dpsco_core.scenario import Scenario
from tests.bound_marks import second_implementation_of
from tests.bounds.euclidean.helpers import BY_SLUG, make_setting
from tests.trust.independent import FORMULAS, Inputs

MODULUS, DIAMETER = 0.5, 3.0
MEAN_ROWS = [row for row in UPPER_MEAN_BOUNDS if row.parameters == "own"]


def setting_of_order(order: float, *, pure: bool = False) -> Setting:
    """Return a quadratic loss with a curvature other than 1 and unit moments of its gradients."""
    budget = PureDP(epsilon=0.8) if pure else ZCDP(rho=0.3)
    bends = dict.fromkeys(("smoothness", "sample_smoothness"), MODULUS)
    bends |= dict.fromkeys(("strong_convexity", "sample_strong_convexity"), MODULUS)
    return make_setting(
        20_000, 9, order, budget, diameter=DIAMETER, mean_gradient_bound=1.5, **bends
    )


@second_implementation_of(
    "upper.sco-strong.projected-cwme-cdp-expected",
    "upper.sco-strong.projected-cwme-pure-expected",
    "upper.sco-strong.projected-smoothed-expected",
    "upper.sco-strong.projected-clipped-expected-coordinate",
)
@pytest.mark.parametrize("order", [2.0, 4.0])
def test_the_risk_is_the_square_of_the_mean_error_over_twice_the_curvature(order: float) -> None:
    reach = MODULUS * DIAMETER / 2
    pairs = [(row, own) for own in MEAN_ROWS for row in projected((own,), "sco-strong")]
    assert [row.card for row, _ in pairs] == [row.card for row in PROJECTED_RISKS]
    for row, mean_row in pairs:
        if mean_row.has_scope:
            continue
        setting = setting_of_order(order, pure=row.card.privacy == "pure")
        mean = replace(setting, constants=replace(setting.constants, mean_gradient_bound=reach))
        slug = mean_row.card.slug
        error = (
            FORMULAS[slug](Inputs(mean)) if slug in FORMULAS else smoothed_mean_bound(mean, reach)
        )
        assert not row.failures(setting)
        assert row.value(setting) == pytest.approx(error**2 / (2 * MODULUS), rel=4e-3), slug
        assert row.value(setting) == pytest.approx(
            math.fsum(row.terms(setting).values()), rel=1e-12
        )


@second_implementation_of(
    "upper.sco-strong.projected-clipped-below-two",
    "upper.sco-strong.projected-cwme-cdp-below-two",
    "upper.sco-strong.projected-cwme-pure-below-two",
)
@pytest.mark.parametrize("order", [1.2, 1.7])
def test_below_two_the_risk_is_half_the_squared_bound_of_the_note(order: float) -> None:
    reach, kappa = MODULUS * DIAMETER / 2, (order - 1) ** (order - 1) / order**order
    for name, power in (("clipped", 0), ("cwme-cdp", 2), ("cwme-pure", 3)):
        setting = setting_of_order(order, pure=power == 3)
        n, d = setting.n, setting.d
        noise = 8 * d**3 / (0.8 * n) ** 2 if power == 3 else 2 * d ** max(1, power) / (0.3 * n * n)
        level = reach + np.geomspace(1e-3, 1e6, 200_001)
        room = level - reach
        if name == "clipped":
            spread = d * (level + reach) ** (2 - order) / n
            bias = (kappa * d * room ** (1 - order)) ** 2
        else:
            spread = d * (level + reach / math.sqrt(d)) ** (2 - order) / n
            middle = (kappa * level ** (1 - order)) ** 2
            slope = 2 * (order - 1) * middle / level
            bias = (d - 1) * middle + (kappa * room ** (1 - order)) ** 2
            bias += (math.sqrt(d) - 1) * reach * slope
        square = float(np.min(spread + bias + noise * level**2))
        row = bound(f"upper.sco-strong.projected-{name}-below-two")
        assert not row.failures(setting), name
        assert row.value(setting) == pytest.approx(square / (2 * MODULUS), rel=1e-6), name


def smoothed_mean_bound(setting: Setting, reach: float) -> float:
    """Return the bound on a smoothed mean, form (v): twice the root of its two opposing terms."""
    n, d, rho = setting.n, setting.d, setting.gaussian_rho
    falls = 9 / 32 * (d + 2 * reach**2 + reach**4)
    peak = 2 * math.sqrt(2) / 3 * (2 * norm.cdf(1) - 1)
    rises = 2 * peak**2 * d**2 / (rho * n**2)
    return math.sqrt(2 * math.sqrt(falls * rises) + 2 * (d + reach**2) / n)


@second_implementation_of(
    "upper.user.projected-mean-group-run",
    "upper.user.projected-mean-clipped-run",
)
@pytest.mark.parametrize(("p", "m"), [(2.0, 64), (3.0, 16)])
def test_at_user_level_the_risk_is_half_the_squared_bound_on_the_mean(p: float, m: int) -> None:
    point = Scenario(problem="quadratic", n=500, m=m, d=4, p=p, methods=(), diameter=4.0)
    n, d, reach = point.n, point.d, 2.0
    of_a_mean = replace(point, problem="mean").setting
    for name in ("mean-group", "mean-clipped"):
        plan = make_method(f"user.{name}", "tight", "practical").plan(of_a_mean)
        share_kept = min(1, math.sqrt((p - 1) / m)) if name == "mean-clipped" else 1.0
        length = math.sqrt(d) * share_kept
        bias = (p - 1) ** (p - 1) / p**p * length**p * (plan.statistic.radius - reach) ** (1 - p)
        noise = d * (2 * plan.statistic.radius / n) ** 2 / (2 * point.setting.gaussian_rho)
        square = d / (n * m) + min(bias, length + reach) ** 2 + noise
        row = bound(f"upper.user.projected-{name}-run")
        assert not row.failures(point.setting)
        assert row.value(point.setting) == pytest.approx(square / 2, rel=1e-12)


@second_implementation_of("upper.user.projected-mean-clipped-pure")
@pytest.mark.parametrize(("p", "m"), [(2.0, 64), (3.0, 16)])
def test_under_pure_dp_the_risk_is_half_the_least_squared_bound_on_a_mean(p: float, m: int) -> None:
    point = Scenario(problem="quadratic", n=500, m=m, d=4, p=p, delta=0.0, methods=(), diameter=4.0)
    n, d, reach, share_kept = point.n, point.d, 2.0, min(1, math.sqrt((p - 1) / m))
    margins = 0.01 * 1.002 ** np.arange(6000)
    bias = (p - 1) ** (p - 1) / p**p * (math.sqrt(d) * share_kept) ** p * margins ** (1 - p)
    noise = d * (d + 1) * (2 * (reach + margins) / n) ** 2
    row = bound("upper.user.projected-mean-clipped-pure")
    assert not row.failures(point.setting)
    square = d / (n * m) + float(np.min(bias**2 + noise))
    assert row.value(point.setting) == pytest.approx(square / 2, rel=1e-5)


# At the last offset the mean lies outside the sets.
@pytest.mark.parametrize("offset", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("geometry", [L2, Geometry(kind="l1"), Geometry(kind="simplex")], ids=str)
def test_no_projected_estimate_has_a_larger_risk(offset: float, geometry: Geometry) -> None:
    """Half of the squared distance from the mean is an upper bound, and it is attained."""
    law = StudentT(d=3, moment_order=3.0, offset=offset)
    problem = Quadratic(distribution=law, radius=1.0, geometry=geometry)
    rng, largest = np.random.default_rng(0), 0.0
    for size in (0.01, 0.1, 1.0, 10.0):
        for error in rng.normal(scale=size, size=(50, 3)):
            answer = problem.constraint.project(law.mean + error)
            share = problem.excess_risk(answer).value / (error @ error / 2)
            largest = max(largest, share)
    assert largest <= 1 + 1e-9
    if problem.constants.minimum_interior and geometry == L2:
        assert largest > 0.99


@pytest.mark.parametrize("offset", [0.0, 0.7, 3.0, 50.0])
def test_a_mean_estimator_is_given_a_bound_on_the_norm_of_the_mean(offset: float) -> None:
    law = StudentT(d=3, moment_order=3.0, offset=offset)
    problem = Quadratic(distribution=law, radius=1.0)
    constants = of_means(problem.setting(1000, ZCDP(rho=0.5))).constants
    assert constants.mean_gradient_bound >= np.linalg.norm(law.mean)
    assert (constants.mean_gradient_bound == 1) == (offset < 1)


def test_a_refusal_names_another_loss() -> None:
    for row in PROJECTED_RISKS:
        linear_setting = make_setting(structure="linear-model", budget=PureDP(epsilon=1.0))
        assert any("squared distances" in sentence for sentence in row.failures(linear_setting))
        assert BY_SLUG[row.card.slug].card.problems == ("quadratic",)
