"""SGD and empirical risk minimisation, the baselines without privacy."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.data import StudentT
from dpsco_core.geometry.ball import Ball
from dpsco_core.methods.euclidean.erm import Erm
from dpsco_core.methods.euclidean.sgd import Sgd
from dpsco_core.methods.euclidean.solver import certificate
from dpsco_core.privacy import ZCDP
from dpsco_core.problems.logistic import Logistic
from dpsco_core.problems.quadratic import Quadratic
from tests.methods.euclidean.losses import constants, make_records, make_setting, run, sample

KINDS = ("logistic", "huber", "hinge", "mean", "linear", "other")
LAW = StudentT(d=5, moment_order=2.0, margin=1.0, offset=0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_erm_is_within_its_certificate_of_the_minimum(kind: str) -> None:
    """Long plain subgradient descent finds no point below the certified minimum."""
    n, d = 300, 3
    x, y = make_records(n, d, shift=0.2)
    losses = sample(kind, x, y)
    result = run(Erm(), make_setting(kind, n, d), losses)
    accuracy = result.diagnostics["certified_accuracy"]
    assert accuracy <= (2e-4 if kind == "hinge" else 1e-4)
    assert result.ledger.entries == ()
    w, best = np.zeros(d), math.inf
    for t in range(1500):
        w = losses.constraint.project(w - 2 / (1 + t) ** 0.7 * losses.mean_gradient(w))
        best = min(best, losses.risk(w))
    assert losses.risk(result.value) - best <= accuracy + 1e-12


@pytest.mark.parametrize("kind", ["logistic", "huber", "mean", "linear"])
def test_erm_of_smooth_losses_is_certified_by_the_gradient_at_its_point(kind: str) -> None:
    x, y = make_records(200, 4)
    losses, setting = sample(kind, x, y), make_setting(kind, 200, 4)
    result = run(Erm(), setting, losses)
    gap = certificate(losses.constraint, result.value, losses.mean_gradient(result.value))
    start = certificate(losses.constraint, np.zeros(4), losses.mean_gradient(np.zeros(4)))
    assert gap <= 1e-6 * start
    assert result.diagnostics["certified_accuracy"] <= 1e-8 * start


def test_erm_of_the_mean_is_the_projected_mean() -> None:
    x = np.array([[1.0, 2.0], [3.0, 0.0], [5.0, 1.0]])
    for radius in (1.0, 10.0):
        result = run(
            Erm(), make_setting("mean", 3, 2, radius=radius), sample("mean", x, radius=radius)
        )
        expected = Ball(d=2, radius=radius).project(np.array([3.0, 1.0]))
        np.testing.assert_allclose(result.value, expected, rtol=1e-6)


@pytest.mark.parametrize("n", [1, 7, 4000, 4001, 30_000])
def test_sgd_uses_every_record_once_in_at_most_4000_steps(n: int) -> None:
    x, y = make_records(n, 2)
    result = run(Sgd(), make_setting("logistic", n, 2), sample("logistic", x, y))
    assert result.diagnostics["gradient_calls"] == n
    batch, steps = result.diagnostics["batch_size"], result.diagnostics["steps"]
    assert steps <= 4000
    assert steps == math.ceil(n / batch)
    assert batch == math.ceil(n / 4000)


def test_sgd_of_one_batch_is_one_gradient_step() -> None:
    x, y = make_records(50, 3)
    losses, setting = sample("logistic", x, y), make_setting("logistic", 50, 3)
    result = run(Sgd(batch=50), setting, losses)
    step = Sgd(batch=50).plan(setting).descent.step_size
    expected = losses.constraint.project(-step * losses.mean_gradient(np.zeros(3)))
    np.testing.assert_allclose(result.value, expected, rtol=1e-12)


def test_sgd_of_the_mean_is_the_weighted_average_of_the_theorem() -> None:
    """The steps 2/(t + 2) and weights t + 1 are written out."""
    x, _ = make_records(30, 3)
    result = run(Sgd(), make_setting("mean", 30, 3, radius=5.0), sample("mean", x, radius=5.0))
    w, total = np.zeros(3), np.zeros(3)
    for t, record in enumerate(x):
        w = w - 2 / (t + 2) * (w - record)
        total += (t + 1) * w
    np.testing.assert_allclose(result.value, total / (30 * 31 / 2), rtol=1e-12)


@pytest.mark.parametrize(
    ("kind", "rule"), [("mean", "strongly convex"), ("logistic", "smooth"), ("hinge", "lipschitz")]
)
def test_sgd_takes_the_rule_that_the_constants_allow(kind: str, rule: str) -> None:
    assert Sgd().plan(make_setting(kind)).descent.rule == rule


def test_sgd_without_constants_is_refused_with_a_reason() -> None:
    setting = make_setting("hinge")
    uncertified = replace(constants("hinge"), variance_trace=math.inf, lipschitz=math.inf)
    with pytest.raises(NotApplicable, match="certifies none"):
        Sgd().plan(replace(setting, constants=uncertified))


@pytest.mark.parametrize("method", [Sgd(), Erm()])
@pytest.mark.parametrize(
    "problem",
    [Logistic(features=LAW, radius=5.0, offset=2.0), Quadratic(distribution=LAW, radius=5.0)],
)
def test_both_methods_learn_from_heavy_tails(method: Any, problem: Any) -> None:
    """Since d/n is 1/1000, the final excess risk is a few times that, far below the risk at the
    start.
    """
    setting = problem.setting(5000, ZCDP(rho=1.0))
    losses = problem.sample(5000, np.random.default_rng(3))
    result = run(method, setting, losses)
    assert problem.excess_risk(result.value).value < 0.01
