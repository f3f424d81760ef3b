"""The noise of estimators with one release, written out from the papers and docs/theory.

Only the clip levels and the numbers of groups and blocks come from the plans.
"""

from __future__ import annotations

import math
from typing import Any

from scipy import stats
from scipy.optimize import brentq

from dpsco_core.methods.mean import (
    CoordinatewiseCDP,
    CoordinatewisePure,
    IterativeUpdating,
    NoiseSmoothing,
    SimpleClipping,
)
from dpsco_core.privacy import ZCDP, ApproxDP, Budget, amplify, gaussian_rho
from dpsco_core.problems.base import Setting

# The noise of these estimators is written out here. A new estimator needs no line: `tests/trust`
# compares its noise with the entries of its ledger.
FAMILIES: tuple[Any, ...] = (
    SimpleClipping,
    IterativeUpdating,
    CoordinatewiseCDP,
    CoordinatewisePure,
    NoiseSmoothing,
)


def largest_laplace(rho: float) -> float:
    """Return the epsilon at which the divergence of Laplace noise is rho."""
    return float(brentq(lambda x: x + math.expm1(-x) - rho, 0.1 * math.sqrt(rho), rho + 1))


def share(method: Any, budget: Budget) -> float:
    """Return the rho (or epsilon) that the papers give a method, without amplification."""
    if isinstance(method, CoordinatewisePure):
        return largest_laplace(budget.rho) if isinstance(budget, ZCDP) else budget.epsilon
    if isinstance(budget, ZCDP):
        return budget.rho
    assert isinstance(budget, ApproxDP)
    log = math.log(1 / budget.delta)
    if method.calibration == "tight":
        return gaussian_rho(budget.epsilon, budget.delta)
    wide = 1 + 2 * math.sqrt(log)
    if isinstance(method, (SimpleClipping, IterativeUpdating)) and budget.epsilon <= wide:
        return float((budget.epsilon / wide) ** 2)  # This is equation (15) of Zhao et al.
    return float((math.sqrt(budget.epsilon + log) - math.sqrt(log)) ** 2)


def group_share(method: IterativeUpdating, setting: Setting, groups: int) -> float:
    """Return the rho that a group may spend: parallel, or amplified where that is allowed."""
    plain_share = share(method, setting.budget)
    if not isinstance(setting.budget, ApproxDP):
        return plain_share
    epsilon, delta = setting.budget.epsilon, setting.budget.delta
    if method.calibration == "paper":
        amplified = amplify(groups, epsilon, delta, "printed")
        return plain_share if amplified is None else amplified.rho_group
    routes = [amplify(groups, epsilon, delta, route) for route in ("closed", "numerical")]
    return max([plain_share, *(a.rho_group for a in routes if a is not None)])


def expected_noise(method: Any, setting: Setting) -> float:
    """Return the deviation (or Laplace scale) of a coordinate, from the papers' formulas."""
    plan: Any = method.plan(setting)
    n, d, paper = setting.n, setting.d, method.calibration == "paper"
    level = share(method, setting.budget)
    if isinstance(method, SimpleClipping):
        return math.sqrt(2 * plan.statistic.radius**2 / (level * n**2))
    if isinstance(method, IterativeUpdating):
        level = group_share(method, setting, plan.statistic.groups)
        return math.sqrt(2 * plan.statistic.radius**2 / (level * (n // plan.statistic.groups) ** 2))
    if isinstance(method, NoiseSmoothing):
        normal = 2 * stats.norm.cdf(1 / math.sqrt(plan.statistic.smoothing_variance)) - 1
        factor = 1.0 if paper else 2 * (2 * math.sqrt(2) / 3 * normal) ** 2
        return math.sqrt(factor * plan.statistic.tau**2 * d / (level * n**2))
    assert isinstance(method, (CoordinatewiseCDP, CoordinatewisePure)), "one of FAMILIES"
    tau, m = plan.statistic.threshold, plan.statistic.blocks
    delta = 12 * tau * m / n if paper else (6, 3)[m % 2 == 0] * tau / (n // m)
    if isinstance(method, CoordinatewisePure):
        return float(d * delta / level)
    return math.sqrt(d * delta**2 / (2 * level))
