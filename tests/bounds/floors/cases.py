"""Plain evaluations of the floors (lower bounds for the law of the given data), and settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import jn_zeros, jv
from scipy.stats import binom

from dpsco_core.catalogue import bound, make_instance
from dpsco_core.data.shifts import Shifts
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.problems import MeanEstimation
from dpsco_core.problems.base import Setting

DRAWN_LAWS = ("student-t", "elliptical-t", "gaussian")  # Laws for which the figure shows a floor.
LAWS = (*DRAWN_LAWS, "log-normal", "pareto", "skewed-pareto")
DEFAULT = ZCDP(rho=0.028014)
SHORT = {ZCDP: "cdp", ApproxDP: "approx", PureDP: "pure"}


def make_setting(
    law: str,
    n: int,
    d: int,
    p: float,
    budget: Budget,
    *,
    radius: float = 2.0,
    offset: float = 0.0,
    problem: str = "mean",
    margin: float = 0.5,
) -> Setting:
    """Return a setting that knows its law, as a floor requires."""
    instance = make_instance(
        problem=problem,
        distribution=law,
        n=n,
        d=d,
        budget=budget,
        moment_order=p,
        margin=margin,
        offset=offset,
        radius=radius,
    )
    instance_problem = instance.problem
    own_law = (
        instance_problem.distribution
        if isinstance(instance_problem, MeanEstimation)
        else instance_problem.law
    )
    return replace(instance_problem.setting(n, budget), law=own_law)


def floor_bound(setting: Setting, kind: str = "") -> float:
    """Return the floor on the mean error in the budget's notion; `kind` may be ``"near-"``."""
    return bound(f"lower.mean.floor-{kind}{SHORT[type(setting.budget)]}").value(setting)


def shifts(setting: Setting) -> Shifts:
    """Return the shifts of a setting's law, which must have some."""
    assert setting.law is not None
    shift_law = setting.law.shifts
    assert shift_law is not None
    return shift_law


def first_bessel_zero(order: float) -> float:
    """Return the first positive zero of a Bessel function, independently of the library."""
    if order == -0.5:
        return math.pi / 2
    if order == int(order):
        return float(jn_zeros(int(order), 1)[0])
    step, x = 0.01, order + 0.5
    while jv(order, x) * jv(order, x + step) > 0:
        x += step
    return float(brentq(lambda t: jv(order, t), x, x + step, xtol=1e-13))


def least_total_variation(divergence: float) -> float:
    """Return the total variation T that solves T artanh T = divergence/2."""
    if divergence == 0:
        return 0.0
    return float(brentq(lambda t: t * math.atanh(t) - divergence / 2, 0, 1 - 1e-16))


def plain_overlap(b: int, budget: Budget) -> float:
    """Return the overlap a(b) of theory/instance-floors.md, 6: how far a change of b records can
    stay hidden under the budget.
    """
    if isinstance(budget, ZCDP):
        k = budget.rho * b * b
        return 1 - least_total_variation(k) if k < 30 else 0.0
    delta = budget.delta if isinstance(budget, ApproxDP) else 0.0
    if b * budget.epsilon > 600:
        return 0.0
    loss = delta * math.expm1(b * budget.epsilon) / math.expm1(budget.epsilon)
    return 2 * max(0.0, 1 - loss) / (1 + math.exp(budget.epsilon * b))


def plain_two_shift_floor(n: int, d: int, law: Shifts, budget: Budget, radius: float) -> float:
    """Return the floor of Theorem 2 on instance floors, by a grid of shifts and exact sums over
    counts.
    """
    best = 0.0
    for theta in np.geomspace(1e-8, radius / math.sqrt(d), 400):
        t = float(law.distance(np.array(theta)))
        last_count = int(min(n, n * t + 12 * math.sqrt(n * t) + 40))
        if last_count > 400:
            break
        counts = np.arange(last_count + 1)
        common = [plain_overlap(int(b), budget) for b in counts]
        best = max(best, math.sqrt(d) * theta * float(binom.pmf(counts, n, t) @ common))
    return best


def plain_near_floor(n: int, d: int, law: Shifts, kappa: Callable[[float], float]) -> float:
    """Return the floor of Theorem 3 on instance floors for independent coordinates, on 40,001 log
    odds.
    """
    u = np.linspace(-34, 34, 40_001)
    p = 1 / (1 + np.exp(-u))
    weights = p * (1 - p) * (u[1] - u[0])
    x = law.at_odds(u)
    best = 0.0
    constant = d - 0.5
    for level in np.geomspace(0.1, 60, 60):
        centre = brentq(lambda m, t=level: float(weights @ np.clip(x - m, -t, t)), -20, 20)
        psi = np.clip(x - centre, -level, level)
        largest = float(np.max(np.abs(psi)))
        slope = float(weights @ (x * psi))
        for c in (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5):
            lam = max(
                float(weights @ (psi**2 / (1 + sign * c * psi / largest))) for sign in (1, -1)
            )
            lam /= slope**2
            prior = d * (math.pi * largest / (c * slope)) ** 2
            k = kappa(math.sqrt(d) * largest / (slope * (1 - c)) / math.sqrt(lam))
            learnt = min(n * d * lam, 1 / (1 / (n * k) ** 2 / lam + (n - 1) / (n * n * d * lam)))
            best = max(best, constant / math.sqrt(learnt + prior))
    return best
