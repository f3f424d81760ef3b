"""Statements of Zhao et al. (2024) with an erratum, as inequalities."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpsco_core.bounds.euclidean.lower_other import QUOTED
from dpsco_core.bounds.mean.clipped import (
    covering_log,
    directional_bias,
    printed_bias,
    printed_radius,
)
from dpsco_core.explain.errata.base import unit_setting
from dpsco_core.methods.records.base import clip_to_ball
from dpsco_core.privacy.amplification import amplify
from dpsco_core.privacy.budget import ZCDP, ApproxDP, gaussian_delta
from dpsco_core.statements.zhao import equation_15_rho
from tests.referee.labelled import Labelled, labelled, real, whole

ORDER, BETA, DELTA = 3.0, 0.05, 1e-6


def largest_epsilon(groups: float, delta: float) -> float:
    """Return the largest epsilon of the printed condition on this many groups."""
    return 8 * math.e**2 * math.sqrt(math.log(4 / delta) / groups)


def delta_of_groups(groups: float, epsilon: float, delta: float) -> float:
    """Return the exact delta of one group's release at the share of the budget
    that (24) gives it.
    """
    share = amplify(int(groups), epsilon, delta, "printed")
    return math.nan if share is None else gaussian_delta(share.rho_group, epsilon)


def best_of_14(n: float, d: float, *, sharp: bool) -> float:
    """Return bias and noise of bound (14) at the best radius, with the printed bias (55) or the
    sharp one.
    """
    rho = equation_15_rho(1.0, DELTA)
    slope = 4 * math.sqrt(covering_log(int(d), BETA) / rho) / n
    setting = unit_setting(int(d), ORDER, budget=ZCDP(rho=rho), n=int(n))
    bias = (directional_bias if sharp else printed_bias)(setting)
    radius = bias.best_radius(slope)
    return bias.at_radius(radius) + slope * radius


def second_entry(n: float, reach: float) -> float:
    """Return the mean squared error that clipping causes in an entry that is always 1."""
    setting = unit_setting(2, 2.0, budget=ZCDP(rho=equation_15_rho(1.0, DELTA)), n=int(n))
    radius = printed_radius(setting)
    distance = reach * radius
    x = np.array([[-distance, 1.0], [0.0, 1.0], [distance, 1.0]])
    chances = np.array([0.5 / distance**2, 1 - 1 / distance**2, 0.5 / distance**2])
    block, weights = clip_to_ball(x, radius)
    return float(chances @ ((weights[:, None] * block)[:, 1] - 1) ** 2)


def quoted(n: float, d: float, epsilon: float, delta: float) -> float:
    """Return the rate that the paper quotes."""
    budget = ApproxDP(epsilon=epsilon, delta=delta)
    setting = unit_setting(int(d), ORDER, budget=budget, n=int(n))
    return sum(replace(QUOTED, unit="")(setting).values())


def risk_of_signs(n: float, size: float, steps: float) -> float:
    """Return the exact risk of averaged iterates that use the same n signs in all steps."""
    share = 1 + math.expm1(steps * math.log1p(-size)) / (size * steps)
    return share**2 / (2 * n)


def infimum_of_50(n: float, t: float) -> float:
    """Return the infimum in (50), at the best parameter."""
    best = min(2 * n * t / 3, 0.5)
    return math.exp(-best * t + 3 * best**2 / (4 * n))


ZHAO: tuple[Labelled, ...] = (
    labelled(
        "zhao.group-shuffle",
        delta_of_groups,
        lambda groups, epsilon, delta: delta,
        {"epsilon": lambda groups, epsilon, delta: epsilon <= largest_epsilon(groups, delta)},
        groups=whole(100, 1e7),
        epsilon=real(0.01, 1),
        delta=real(1e-9, 1e-4),
    ),
    labelled(
        "zhao.moment-class",
        lambda n, d: best_of_14(n, d, sharp=False),
        lambda n, d: best_of_14(n, d, sharp=True),
        {"n >= d": lambda n, d: n >= d},
        is_rate=True,
        n=whole(1e4, 1e9),
        d=whole(1, 1e6),
    ),
    labelled(
        "zhao.clipping-variance",
        second_entry,
        lambda n, reach: 0.0,
        {"distance": lambda n, reach: reach > 0.5},
        n=whole(100, 1e5),
        reach=real(0.6, 10),
    ),
    labelled(
        "zhao.groups-unstated",
        lambda n, d: 800 * d * math.log(n),
        lambda n, d: n,
        {"n >= 2": lambda n, d: n >= 2},
        n=whole(2, 1e9),
        d=whole(1, 1000),
    ),
    labelled(
        "zhao.quoted-lower-bound",
        quoted,
        lambda **_: 2.0,
        {"delta < 1": lambda delta, **_: delta < 1},
        n=whole(100, 1e6),
        d=whole(1, 100),
        epsilon=real(1e-6, 1),
        delta=real(1e-50, 0.1),
    ),
    labelled(
        "zhao.conversion",
        lambda epsilon, delta: equation_15_rho(epsilon, delta) + 2 * math.sqrt(-math.log(delta)),
        lambda epsilon, delta: epsilon,
        {"epsilon <= 1": lambda epsilon, delta: epsilon <= 1},
        epsilon=real(0.01, 1),
        delta=real(1e-12, 1e-2),
    ),
    labelled(
        "zhao.bias-of-expectations",
        risk_of_signs,
        lambda n, size, steps: 2 / (size * steps) + size * (4 + 1 / n),
        {"0 < size < 1": lambda n, size, steps: 0 < size < 1},
        n=whole(1, 1e5),
        size=real(1e-8, 0.5),
        steps=whole(1, 1e14),
    ),
    labelled(
        "zhao.lost-factors",
        infimum_of_50,
        lambda n, t: math.exp(-n * t**2 / 3) if t <= 0.75 else math.exp(-n * t / 4),
        {"t > 0": lambda n, t: t > 0},
        n=whole(1, 1e4),
        t=real(0.001, 3),
    ),
)
