"""Statements of Lowy, Liu and Asi (2024) with an erratum, as inequalities."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpsco_core.bounds.rate import Rate
from dpsco_core.bounds.user.complexity import NON_SMOOTH, NON_SMOOTH_PRINTED
from dpsco_core.bounds.user.conditions import setting_of
from dpsco_core.bounds.user.quoted import QUOTED
from dpsco_core.explain.errata.lowy_runs import chain_noise, smoothed_printed
from dpsco_core.methods.user.level import UserLevel, printed_multiplier
from dpsco_core.methods.user.printed_schedules import (
    batch_ratio,
    best_decay,
    fills_groups,
    laplace_tail,
    phase_users,
    printed_erm,
    printed_noise,
    users_condition,
)
from dpsco_core.privacy.budget import gaussian_delta
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from tests.explain.errata.ranges import theorem_b1, theorem_c1, theorem_c3
from tests.referee.labelled import Labelled, labelled, real, whole


def level(
    n: float, m: float = 1, *, d: float = 10, epsilon: float = 1.0, delta: float = 1e-6
) -> UserLevel:
    """Return sizes and a budget at user level, with smoothness 1."""
    return UserLevel(n=int(n), m=int(m), d=int(d), epsilon=epsilon, delta=delta, smoothness=1.0)


def gradients(count: Rate, m: float, epsilon: float) -> float:
    """Return the count of gradients at ten million users, m items each and delta 1e-25."""
    return sum(count(setting_of(level(1e7, m, epsilon=epsilon, delta=1e-25))).values())


def flower(hub: float, reach: float) -> tuple[float, float]:
    """Return the score and the kept weight, as shares of all points, of a hub and six petals at a
    distance around it.
    """
    count = 200
    petals = reach * np.vstack([np.eye(3), -np.eye(3)])
    each_petal = round((1 - hub) * count / 6)
    points = np.vstack(
        [np.zeros((round(hub * count), 3)), *(np.tile(p, (each_petal, 1)) for p in petals)]
    )
    filtering = RobustFilter(score_radius=1.0, filter_radius=1.0, upper=2 / 3, inclusion="coins")
    examined = filtering.examine(points)
    return examined.score / len(points), float(examined.inclusion.sum()) / len(points)


def delta_of_definition(epsilon: float, delta: float) -> float:
    """Return the delta that the printed noise multiplier for (epsilon, delta) really has at this
    epsilon.
    """
    return gaussian_delta(1 / (2 * printed_multiplier(epsilon, delta) ** 2), epsilon)


def has_empty_groups(n: float, m: float) -> float:
    """Return 2 if some group is empty, and 0 if none is."""
    setting = level(n, m)
    return 0.0 if fills_groups(setting, best_decay(setting.n)) else 2.0


def condition_b1(n: float, m: float) -> bool:
    """Return whether there are as many users as condition (B1) asks for."""
    setting = level(n, m)
    users, needed_users = users_condition(setting, best_decay(setting.n))
    return users >= needed_users


def several_slots(n: float, batch: float) -> float:
    """Return the chance that one of n users is drawn more than once in `batch` draws."""
    share, no_slot = 1 / n, (1 - 1 / n) ** batch
    return 1 - no_slot - batch * share * (1 - share) ** (batch - 1)


def chain_over_printed(delta: float) -> tuple[float, float]:
    """Return the noise that a chain needs, and the printed noise."""
    setting = level(1e8, 100, epsilon=0.1, delta=delta)
    users = phase_users(setting.n, 1, best_decay(setting.n))
    return chain_noise(setting, users, 10**7), printed_noise(setting, 1.0, users, 10**7)


def small_budget(n: float) -> UserLevel:
    """Return a setting with epsilon proportional to the root of 1/n."""
    return level(n, d=1, epsilon=20 / math.sqrt(n), delta=0.1 / n)


def phase_ratio(n: float) -> float:
    """Return the largest ratio, over the phases, of the users of a phase to the draws that it makes
    of them.
    """
    phases = printed_erm(small_budget(n), 0.1).phases
    return max(phase.users / (phase.steps * phase.batch) for phase in phases)


def last_distance(power: float) -> tuple[float, float]:
    """Return the private distance of the last phase and the proof's bound, at a smoothness of
    n^power.
    """
    n = 10**7
    smoothness = math.pow(n, power)
    setting = replace(level(n, d=1, delta=1e-8), smoothness=smoothness)
    phase = printed_erm(setting, 0.1).phases[-1]
    distance = setting.lipschitz * math.sqrt(phase.steps / setting.m)
    distance /= phase.regulariser * setting.epsilon * phase.users
    return distance, setting.diameter / (setting.epsilon * n * math.sqrt(setting.m))


LOWY: tuple[Labelled, ...] = (
    labelled(
        "lowy.kept-points",
        lambda hub, reach: 2 / 3,
        lambda hub, reach: flower(hub, reach)[1],
        {"score >= 0.7 K": lambda hub, reach: flower(hub, reach)[0] >= 0.7 - 1e-12},
        hub=real(0.1, 0.9),
        reach=real(0.1, 2),
    ),
    labelled(
        "lowy.laplace-tail",
        lambda n, m, delta: 2 * laplace_tail(level(n, m, delta=delta)),
        lambda n, m, delta: delta / (10 * math.e),
        {"Theorem B.1": lambda n, m, delta: theorem_b1(level(n, m, delta=delta))},
        n=whole(1e5, 1e9),
        m=whole(1, 100),
        delta=real(1e-20, 1e-6),
    ),
    labelled(
        "lowy.empty-groups",
        has_empty_groups,
        lambda n, m: 1.0,
        {"Theorem B.1's condition": condition_b1},
        n=whole(1e4, 1e7),
        m=whole(1, 1e7),
    ),
    labelled(
        "lowy.gaussian-definition",
        delta_of_definition,
        lambda epsilon, delta: delta,
        {"epsilon > 0": lambda epsilon, delta: epsilon > 0},
        epsilon=real(0.01, 50),
        delta=real(1e-12, 1e-3),
    ),
    labelled(
        "lowy.batches",
        lambda n, m: batch_ratio(level(n, m, delta=1e-14), best_decay(int(n))),
        lambda n, m: 1.0,
        {"Theorem C.3": lambda n, m: theorem_c3(level(n, m, delta=1e-14))},
        n=whole(1e5, 1e10),
        m=whole(1, 1000),
    ),
    labelled(
        "lowy.missing-logarithm",
        lambda delta: chain_over_printed(delta)[0],
        lambda delta: chain_over_printed(delta)[1],
        {"Theorem C.1": lambda delta: theorem_c1(level(1e8, 100, epsilon=0.1, delta=delta))},
        is_rate=True,
        delta=real(1e-200, 1e-9),
    ),
    labelled(
        "lowy.with-replacement",
        several_slots,
        lambda n, batch: 1e-6,
        {"K <= n": lambda n, batch: batch <= n},
        n=whole(1e3, 1e8),
        batch=whole(2, 1e8),
    ),
    labelled(
        "lowy.reversed-sandwich",
        lambda d, radius: radius * d / (d + 1),
        lambda d, radius: 0.0,
        {"r > 0": lambda d, radius: radius > 0},
        d=whole(1, 100),
        radius=real(0.01, 10),
    ),
    labelled(
        "lowy.smoothed-regulariser",
        lambda d, n, epsilon: smoothed_printed(level(n, 100, d=d, epsilon=epsilon, delta=1e-12)),
        lambda d, n, epsilon: QUOTED(setting_of(level(n, 100, d=d, epsilon=epsilon, delta=1e-12)))[
            "privacy"
        ],
        {"epsilon <= 10": lambda d, n, epsilon: epsilon <= 10},
        is_rate=True,
        d=whole(1, 1e9),
        n=whole(1e6, 1e9),
        epsilon=real(0.01, 10),
    ),
    labelled(
        "lowy.dropped-gradients",
        lambda m, epsilon: gradients(NON_SMOOTH, m, epsilon),
        lambda m, epsilon: gradients(NON_SMOOTH_PRINTED, m, epsilon),
        {"Theorem C.3": lambda m, epsilon: theorem_c3(level(1e7, m, epsilon=epsilon, delta=1e-25))},
        is_rate=True,
        m=whole(1, 1e22),
        epsilon=real(0.05, 10),
    ),
    labelled(
        "lowy.few-draws",
        phase_ratio,
        lambda n: 1.0,
        {"Theorem C.3": lambda n: theorem_c3(small_budget(n))},
        is_rate=True,
        n=whole(1e6, 1e24),
    ),
    labelled(
        "lowy.any-smoothness",
        lambda power: last_distance(power)[0],
        lambda power: last_distance(power)[1],
        {"Theorem C.3": lambda power: theorem_c3(level(1e7, d=1, delta=1e-8))},
        power=real(0, 20),
    ),
)
