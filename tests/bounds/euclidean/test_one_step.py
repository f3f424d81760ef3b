"""Bounds on one step along a private mean: lemma, second evaluation and measured runs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsco_core.bounds.euclidean.one_step import ONE_STEP_RISKS
from dpsco_core.catalogue import BOUNDS, bound, make_method
from dpsco_core.data import Pareto, StudentT
from dpsco_core.geometry import L2, Geometry
from dpsco_core.privacy.budget import ZCDP, Budget, PureDP
from dpsco_core.problems import Linear
from dpsco_core.problems.base import Setting
from dpsco_core.scenario import Scenario
from tests.bound_marks import second_implementation_of
from tests.bounds.euclidean.helpers import make_setting, with_constants
from tests.bounds.euclidean.test_projected import smoothed_mean_bound
from tests.trust.independent import Inputs

Floats = NDArray[np.float64]
GRID = np.exp(np.linspace(-6, 10, 400_001))
FROM_TWO = [row for row in ONE_STEP_RISKS if not row.has_scope]
SETS = (L2, Geometry(kind="l1"), Geometry(kind="linf"), Geometry(kind="simplex"))


def linear_loss_setting(order: float, budget: Budget) -> Setting:
    """Return a setting of linear losses with unit moments on a ball of radius 1.5."""
    return make_setting(
        20_000, 9, order, budget, diameter=3.0, mean_gradient_bound=1.2, structure="linear"
    )


def least_parts(bias: Floats, noise: Floats, point: Setting) -> tuple[float, float]:
    """Return the smallest root mean squared error over a grid of levels, and the bias at that
    level.
    """
    squares = point.d / point.n + bias**2 + noise
    best = int(np.argmin(squares))
    return math.sqrt(squares[best]), float(bias[best])


def error_on_a_ball(point: Setting) -> tuple[float, float]:
    """Return the least error bound of the mean of records projected on a ball, over GRID, and its
    bias.
    """
    inputs, reach = Inputs(point), point.constants.mean_gradient_bound
    root = math.sqrt(point.d)
    bias = inputs.kappa * root * (root / GRID) ** (inputs.p - 1)
    noise = 2 * point.d * (reach + GRID) ** 2 / (inputs.rho * point.n**2)
    return least_parts(bias, noise, point)


def error_on_a_cube(point: Setting) -> tuple[float, float]:
    """Return the least error bound of the mean of records whose coordinates are clipped, and its
    bias.
    """
    inputs, reach, d = Inputs(point), point.constants.mean_gradient_bound, point.d
    radius, step = reach + GRID, 1e-5
    rise = (inputs.hinge(radius - step) ** 2 - inputs.hinge(radius + step) ** 2) / (2 * step)
    square = (d - 1) * inputs.hinge(radius) ** 2 + inputs.hinge(GRID) ** 2
    scale = 6 * (radius / 3) * d / point.n
    pure = isinstance(point.budget, PureDP)
    noise = 2 * d * (scale / inputs.epsilon) ** 2 if pure else scale**2 / (2 * inputs.rho)
    return least_parts(np.sqrt(square + (math.sqrt(d) - 1) * reach * rise), noise, point)


def error_of_smoothed_records(point: Setting) -> tuple[float, float]:
    """Return the error bound of the mean of smoothed records, and its bias, where bias and noise
    balance.
    """
    reach = point.constants.mean_gradient_bound
    error = smoothed_mean_bound(point, reach)
    return error, math.sqrt((error**2 - 2 * (point.d + reach**2) / point.n) / 2)


@second_implementation_of(
    "upper.sco.one-step-cwme-cdp-expected",
    "upper.sco.one-step-cwme-pure-expected",
    "upper.sco.one-step-smoothed-expected",
    "upper.sco.one-step-clipped-expected-coordinate",
)
@pytest.mark.parametrize("order", [2.0, 4.0])
def test_the_risk_is_half_the_error_and_the_bias_times_the_reach(order: float) -> None:
    forms = (error_on_a_cube, error_on_a_cube, error_of_smoothed_records, error_on_a_ball)
    for row, parts in zip(FROM_TWO, forms, strict=True):
        pure = row.card.privacy == "pure"
        point = linear_loss_setting(order, PureDP(epsilon=0.8) if pure else ZCDP(rho=0.3))
        error, bias = parts(point)
        assert not row.failures(point)
        assert row.value(point) == pytest.approx(1.5 / 2 * (error + bias), rel=4e-3)
        assert row.value(point) == pytest.approx(math.fsum(row.terms(point).values()), rel=1e-12)


@second_implementation_of(
    "upper.sco.one-step-clipped-below-two",
    "upper.sco.one-step-cwme-cdp-below-two",
    "upper.sco.one-step-cwme-pure-below-two",
)
@pytest.mark.parametrize("order", [1.2, 1.7])
def test_below_two_error_and_bias_are_those_of_clipped_records(order: float) -> None:
    """A clipped record has a variance for every p, and the lemma uses nothing else."""
    kappa = (order - 1) ** (order - 1) / order**order
    for name, power in (("clipped", 1), ("cwme-cdp", 2), ("cwme-pure", 3)):
        point = linear_loss_setting(order, PureDP(epsilon=0.8) if power == 3 else ZCDP(rho=0.3))
        n, d, reach = point.n, point.d, point.constants.mean_gradient_bound
        spent = 0.8**2 / 8 if power == 3 else 0.3 / 2
        level = reach + np.geomspace(1e-3, 1e6, 200_001)
        room = level - reach
        if name == "clipped":
            spread = d * (level + reach) ** (2 - order) / n
            bias = kappa * d * room ** (1 - order)
        else:
            spread = d * (level + reach / math.sqrt(d)) ** (2 - order) / n
            middle = (kappa * level ** (1 - order)) ** 2
            slope = 2 * (order - 1) * middle / level
            edge = (kappa * room ** (1 - order)) ** 2
            bias = np.sqrt((d - 1) * middle + edge + (math.sqrt(d) - 1) * reach * slope)
        squares = spread + bias**2 + d**power * level**2 / (spent * n * n)
        best = int(np.argmin(squares))
        row = bound(f"upper.sco.one-step-{name}-below-two")
        assert not row.failures(point), name
        risk = min(1.5 * reach, 1.5 / 2 * (math.sqrt(squares[best]) + bias[best]))
        assert row.value(point) == pytest.approx(risk, rel=1e-3), name


@pytest.mark.parametrize("geometry", SETS, ids=str)
def test_below_two_runs_of_the_step_are_below_the_bound(geometry: Geometry) -> None:
    """The records have infinite variance and are clipped at some radius."""
    rng, d, n, rho, p = np.random.default_rng(5), 4, 400, 0.05, 1.5
    problem = Linear(
        distribution=StudentT(d=d, moment_order=p, offset=0.4), radius=1.0, geometry=geometry
    )
    setting, body = problem.setting(n, ZCDP(rho=rho)), problem.constraint
    mean_row = bound("upper.mean.clipped-below-two")
    noise = mean_row.terms(setting)["privacy noise"] / math.sqrt(d)
    radius = noise * n * math.sqrt(rho / 2)
    step, risks = body.reach / mean_row.value(setting), []
    for _ in range(400):
        records = -problem.distribution.sample(n, rng).x
        lengths = np.linalg.norm(records, axis=1, keepdims=True)
        mean = (records * np.minimum(1, radius / lengths)).mean(axis=0)
        answer = body.project(body.centre - step * (mean + noise * rng.standard_normal(d)))
        risks.append(problem.excess_risk(answer).value)
    row = bound("upper.sco.one-step-clipped-below-two")
    assert not row.failures(setting) and not row.refusal(setting)
    assert np.mean(risks) + 5 * np.std(risks) / 20 < row.value(setting)


@second_implementation_of(
    "upper.user.one-step-mean-group-run",
    "upper.user.one-step-mean-clipped-run",
)
@pytest.mark.parametrize(("p", "m"), [(2.0, 64), (3.0, 16)])
def test_at_user_level_the_risk_is_half_the_error_and_the_bias_of_the_mean(
    p: float, m: int
) -> None:
    point = Scenario(problem="linear", n=500, m=m, d=4, p=p, methods=(), diameter=4.0)
    n, d, setting = point.n, point.d, point.setting
    reach = setting.constants.mean_gradient_bound
    for name in ("mean-group", "mean-clipped"):
        plan = make_method(f"user.{name}", "tight", "practical").plan(setting)
        share = min(1, math.sqrt((p - 1) / m)) if name == "mean-clipped" else 1.0
        length = math.sqrt(d) * share
        radius = plan.statistic.radius
        bias = (p - 1) ** (p - 1) / p**p * length**p * (radius - reach) ** (1 - p)
        noise = d * (2 * radius / n) ** 2 / (2 * setting.gaussian_rho)
        bias = min(bias, length + reach)
        error = math.sqrt(d / (n * m) + bias**2 + noise)
        row = bound(f"upper.user.one-step-{name}-run")
        assert not row.failures(setting)
        assert error < 2 * reach and setting.body.reach == 2
        assert row.value(setting) == pytest.approx(error + bias, rel=1e-12)
        # The claim would fail if the bias were taken to be the whole error.
        assert row.value(setting) < 0.9 * 2 * error


def test_every_bound_is_at_most_the_risk_at_the_centre_and_below_it_somewhere() -> None:
    """With few records the terms are void or those of a ball, and the bound is then their sum."""
    for row in (b for b in BOUNDS if b.card.statement == ONE_STEP_RISKS[0].card.statement):
        pure, order = row.card.privacy == "pure", 1.5 if row.has_scope else 3.0
        is_below = False
        for n in (3, 30, 300, 10**5):
            setting = Scenario(
                problem="linear", n=n, m=16 if row.card.level == "user" else 1, d=6, p=order,
                methods=(), diameter=3.0, **({"delta": 0.0} if pure else {}),
            ).setting  # fmt: skip
            value, centre_risk = (
                row.value(setting),
                setting.body.reach * setting.constants.mean_gradient_bound,
            )
            if row.failures(setting) or math.isinf(value):
                continue
            assert value <= centre_risk * (1 + 1e-9), row.card.slug
            assert value == pytest.approx(math.fsum(row.terms(setting).values()), rel=1e-12)
            is_below |= value < 0.9 * centre_risk
        assert is_below, row.card.slug


def test_a_bound_limited_by_the_ball_is_the_risk_at_the_centre() -> None:
    """Scaled terms have a smaller bias than the average, which must not lower the bound."""
    row = bound("upper.user.one-step-mean-clipped-run")
    run = bound("upper.user.mean-clipped-run")
    for n in range(4, 60, 4):
        setting = Scenario(problem="linear", n=n, m=4, d=6, p=3.0, methods=(), diameter=3.0).setting
        reach = setting.constants.mean_gradient_bound
        if run.value(setting) < 2 * reach * (1 - 1e-9):
            continue
        assert run.value(setting) == pytest.approx(2 * reach)
        assert row.value(setting) == pytest.approx(setting.body.reach * reach)
        break
    else:
        pytest.fail("no run was scaled to its ball")


@pytest.mark.parametrize("geometry", SETS, ids=str)
def test_runs_of_the_step_along_a_mean_of_users_are_below_the_bound(geometry: Geometry) -> None:
    """The step follows the average of clipped users with its noise, before any projection."""
    rng, d, n, m, rho, p = np.random.default_rng(7), 4, 200, 16, 0.05, 2.5
    problem = Linear(
        distribution=StudentT(d=d, moment_order=p, offset=0.4), radius=1.0, geometry=geometry
    )
    setting, body = replace(problem.setting(n, ZCDP(rho=rho)), m=m), problem.constraint
    plan = make_method("user.mean-clipped", "tight", "practical").plan(setting)
    run = bound("upper.user.mean-clipped-run")
    noise = run.terms(setting)["privacy noise"] / math.sqrt(d)
    step, risks = body.reach / run.value(setting), []
    for _ in range(300):
        users = -problem.distribution.sample(n * m, rng).x.reshape(n, m, d).mean(axis=1)
        lengths = np.linalg.norm(users, axis=1, keepdims=True)
        mean = (users * np.minimum(1, plan.statistic.radius / lengths)).mean(axis=0)
        answer = body.project(body.centre - step * (mean + noise * rng.standard_normal(d)))
        risks.append(problem.excess_risk(answer).value)
    row = bound("upper.user.one-step-mean-clipped-run")
    assert not row.failures(setting)
    assert np.mean(risks) + 5 * np.std(risks) / math.sqrt(300) < row.value(setting)


@second_implementation_of("upper.user.one-step-mean-clipped-pure")
@pytest.mark.parametrize(("p", "m"), [(2.0, 64), (3.0, 16)])
def test_under_pure_dp_the_risk_is_half_the_error_and_the_bias_of_users(p: float, m: int) -> None:
    setting = Scenario(
        problem="linear", n=500, m=m, d=4, p=p, delta=0.0, methods=(), diameter=4.0
    ).setting
    n, d, reach = setting.n, setting.d, setting.constants.mean_gradient_bound
    share = min(1, math.sqrt((p - 1) / m))
    room = 0.01 * 1.0002 ** np.arange(60_000)
    bias = (p - 1) ** (p - 1) / p**p * (math.sqrt(d) * share) ** p * room ** (1 - p)
    noise = d * (d + 1) * (2 * (reach + room) / (n * setting.pure_epsilon)) ** 2
    squares = d / (n * m) + bias**2 + noise
    best = int(np.argmin(squares))
    row = bound("upper.user.one-step-mean-clipped-pure")
    assert not row.failures(setting)
    assert row.value(setting) == pytest.approx(math.sqrt(squares[best]) + bias[best], rel=1e-3)


@pytest.mark.parametrize("geometry", SETS, ids=str)
def test_no_step_along_a_mean_has_a_larger_risk_than_its_lemma(geometry: Geometry) -> None:
    """The errors follow finite laws with exact means, and some reach a third of the bound."""
    rng, largest = np.random.default_rng(0), 0.0
    for d in (2, 3, 6):
        body = geometry.constraint(d, 1.0)
        for _ in range(150):
            size, drift = 10 ** rng.uniform(-2, 1, size=2)
            errors = size * rng.standard_t(3, size=(40, d)) + drift * rng.normal(size=d)
            if rng.uniform() < 0.5:
                errors -= errors.mean(axis=0)
            if rng.uniform() < 0.3:
                errors = np.outer(rng.choice([-1.0, 1.0], 40), rng.normal(size=d)) * size
            mean = 10 ** rng.uniform(-2, 1) * rng.normal(size=d)
            error, bias = math.sqrt((errors**2).sum(axis=1).mean()), errors.mean(axis=0)
            step = body.reach / error
            points = np.array([body.project(body.centre - step * (mean + e)) for e in errors])
            excess = float(points.mean(axis=0) @ mean) + body.support(-mean)
            largest = max(largest, 2 * excess / body.reach / (error + np.linalg.norm(bias)))
    assert 0.33 < largest <= 1 + 1e-9


def test_some_unbiased_mean_loses_half_of_its_bound() -> None:
    """The example has one dimension, errors of 1 or -1, and a step of length 1 on [-1, 1]."""
    means = np.linspace(0, 3, 601)
    answers = (np.clip(-means - 1, -1, 1) + np.clip(1 - means, -1, 1)) / 2
    assert 0.25 <= float((means * (1 + answers)).max()) <= 0.5


@pytest.mark.parametrize("geometry", SETS, ids=str)
@pytest.mark.parametrize("law", [StudentT, Pareto])
def test_runs_of_the_step_are_below_the_bound(geometry: Geometry, law: type) -> None:
    """Clipped means run at radii of their own; the bound is the least over all radii."""
    rng, d, n, rho = np.random.default_rng(3), 4, 400, 0.05
    problem = Linear(
        distribution=law(d=d, moment_order=2.5, offset=0.4), radius=1.0, geometry=geometry
    )
    setting, body = problem.setting(n, ZCDP(rho=rho)), problem.constraint
    row, mean_row = (
        bound(f"upper.{name}clipped-expected-coordinate") for name in ("sco.one-step-", "mean.")
    )
    assert not row.failures(setting)
    scale = setting.constants.coordinate_moment ** (1 / 2.5)
    noise = mean_row.terms(setting)["privacy noise"] / math.sqrt(d)
    radius = noise * n * math.sqrt(rho / 2)
    step, risks = body.reach / mean_row.value(setting), []
    assert radius > scale
    for _ in range(400):
        records = -problem.distribution.sample(n, rng).x
        lengths = np.linalg.norm(records, axis=1, keepdims=True)
        mean = (records * np.minimum(1, radius / lengths)).mean(axis=0)
        answer = body.project(body.centre - step * (mean + noise * rng.standard_normal(d)))
        risks.append(problem.excess_risk(answer).value)
    assert np.mean(risks) + 5 * np.std(risks) / 20 < row.value(setting)
    assert geometry != L2 or np.mean(risks) > 0


def test_a_refusal_names_another_loss_or_an_unbounded_set() -> None:
    for row in ONE_STEP_RISKS:
        pure, order = row.card.privacy == "pure", 1.5 if row.has_scope else 3.0
        point = linear_loss_setting(order, PureDP(epsilon=1.0) if pure else ZCDP(rho=0.1))
        assert any(
            "linear losses" in s for s in row.failures(with_constants(point, structure="mean"))
        )
        free = with_constants(point, diameter=math.inf)
        assert row.failures(free) and row.value(free) == math.inf
        assert row.card.problems == ("linear",)


def test_no_lower_bound_is_above_the_bound_of_one_step() -> None:
    for order, n, rho in (
        (1.5, 5000, 0.1),
        (2.0, 1000, 0.3),
        (3.0, 10_000, 0.02),
        (4.0, 100_000, 1.0),
    ):
        for geometry in ("l2", "l1", "linf", "simplex"):
            setting = Scenario(
                problem="linear", methods=(), n=n, d=12, p=order, rho=rho, epsilon=None,
                delta=None, geometry=geometry,
            ).setting  # fmt: skip
            proven = [
                b.value(setting)
                for b in BOUNDS
                if b.card.kind == "lower" and b.card.constant == "explicit"
                and b.card.quantity == "excess risk" and b.card.level == "item"
                and b.card.privacy in ("none", "zcdp") and not b.card.of_law
                and "linear" in b.card.problems
                and not b.failures(setting) and not b.refusal(setting)
            ]  # fmt: skip
            smallest = min(
                row.value(setting) for row in ONE_STEP_RISKS if not row.failures(setting)
            )
            assert proven and max(proven) <= smallest
