"""Bounds by tracing for p below 2, where the class also contains the laws of p = 2."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.bounds.instances.leakage import approximate_leakage, concentrated_leakage
from dpsco_core.bounds.instances.tracing import TracingBounds
from dpsco_core.catalogue import bound
from dpsco_core.problems.base import Setting
from dpsco_core.scenario import Scenario

PROBLEMS = (("mean", "mean"), ("linear", "sco"), ("quadratic", "sco-strong"))
KINDS = ("approx-tracing", "tracing-cdp")


def setting_of(problem: str, p: float, mean_bound: float) -> Setting:
    """Return the setting of three records in 50 dimensions, with this bound on the mean."""
    point = Scenario(
        problem=problem, p=p, n=3, d=50, epsilon=0.2, delta=1e-6, diameter=100.0, methods=()
    )
    setting = point.setting
    return replace(setting, constants=replace(setting.constants, mean_gradient_bound=mean_bound))


@pytest.mark.parametrize(("problem", "area"), PROBLEMS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p", [1.2, 1.5, 1.9])
def test_where_most_records_are_spikes_the_bound_is_that_of_p_2(
    p: float, kind: str, problem: str, area: str
) -> None:
    row, setting = bound(f"lower.{area}.{kind}"), setting_of(problem, p, 200.0)
    assert row.value(setting) == row.value(replace(setting, moment_order=2.0)) > 0


@pytest.mark.parametrize("p", [1.2, 1.5, 1.9])
@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_error_bound_is_the_larger_of_the_two_orders_at_any_bound_on_the_mean(
    kind: str, p: float
) -> None:
    """The reference is computed on a grid of spike probabilities and shapes, for means within R."""
    winners = set()
    for mean_bound in (0.3, 200.0):
        setting = setting_of("mean", p, mean_bound)
        leakage: Any = (
            concentrated_leakage(setting.rho)
            if kind == "tracing-cdp"
            else approximate_leakage(0.2, 1e-6, 50)
        )
        best = {}
        for order in (p, 2.0):
            bounds = TracingBounds(n=3, d=50, moment_order=order, leakage=leakage)
            # This is the factor by which a moment of order below 2 shortens the longest mean; at p
            # = 2 it is 1.
            shrink = 2 ** (1 - 2 / order)
            longest = leakage.spread * 50**0.5 * shrink
            largest = min(1.0, (mean_bound / longest) ** (order / (order - 1)))
            q, u = np.meshgrid(largest * np.geomspace(1e-2, 1, 200), np.geomspace(1e-3, 1e3, 400))
            best[order] = float(bounds.l2_at(q, u).max())
        value = bound(f"lower.mean.{kind}").value(setting)
        assert value == pytest.approx(max(best.values()), rel=1e-3)
        winners.add(max(best, key=lambda order: best[order]))
    assert winners == {p, 2.0}


@pytest.mark.parametrize("kind", KINDS)
def test_on_hard_data_the_bound_is_about_their_law_and_its_own_p(kind: str) -> None:
    point = Scenario(distribution="tracing", p=1.5, n=10, d=50, epsilon=0.2, methods=())
    setting = replace(point.setting, spike_probability=1.0)
    row = bound(f"lower.mean.{kind}")
    ratio = row.value(setting) / row.value(replace(setting, moment_order=2.0))
    assert ratio < 0.95
