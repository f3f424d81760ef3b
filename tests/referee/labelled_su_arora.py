"""Statements of Su et al. (2023) and Arora et al. (2020) with an erratum, as inequalities."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpsco_core.bounds.euclidean.objective import Objective, accuracy, rate, rate_strong
from dpsco_core.bounds.lq.rates import HEAVY_EUCLIDEAN
from dpsco_core.explain.errata.base import unit_setting
from dpsco_core.explain.errata.su_runs import Curved, _projected
from dpsco_core.geometry.norms import lq_norm
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.privacy.budget import ApproxDP, gaussian_delta
from tests.referee.labelled import Labelled, labelled, real, whole


def objective(n: float, epsilon: float, delta: float) -> Objective:
    """Return the objective of unit Lipschitz constant on a set of diameter 2."""
    return Objective(n=int(n), lipschitz=1.0, diameter=2.0, width=2.0, epsilon=epsilon, delta=delta)


def noise_of_remark_1(n: float, epsilon: float, delta: float) -> float:
    """Return the projected noise of Remark 1 at the printed accuracy."""
    setting = objective(n, epsilon, delta)
    return _projected(setting, accuracy(setting, printed=True))


def strong_term(n: float, epsilon: float, *, printed: bool) -> float:
    """Return the first term of the rate of strongly convex losses, as printed or as proven."""
    return rate_strong(objective(n, epsilon, 1e-6), 1.0, printed=printed)[0]


def growth(d: float, q: float) -> float:
    """Return twice the printed potential at the all-ones vector over its squared norm."""
    kappa, all_ones = 1 / (q - 1), np.ones(int(d))
    return kappa * (lq_norm(all_ones, kappa / (kappa - 1)) / lq_norm(all_ones, q)) ** 2


def space(d: float, q: float) -> RegularSpace:
    """Return the regular space of the lq norm."""
    return RegularSpace(d=int(d), exponent=q)


def area_error(r: float) -> float:
    """Return the relative distance of the surface measure in d = 2 from the normalising
    integral.
    """
    angle = np.linspace(0, math.pi / 2, 20_001)
    radius = (np.cos(angle) ** r + np.sin(angle) ** r) ** (-1 / r)
    points = radius * np.vstack([np.cos(angle), np.sin(angle)])
    perimeter = 4 * float(np.hypot(*np.diff(points, axis=1)).sum())
    # In polar form, because the radial integral of exp(-norm^2/2) is 1.
    integral = 4 * float(np.trapezoid(radius**2, angle))
    return abs(perimeter / integral - 1)


def first_of_table_2(n: float, d: float, *, printed: bool) -> float:
    """Return the sampling term of the first row of Table 2, as printed or as proven."""
    budget = ApproxDP(epsilon=0.5, delta=1e-6)
    setting = unit_setting(int(d), 2.0, budget=budget, n=int(n))
    rate = replace(HEAVY_EUCLIDEAN, unit="")
    return (rate.drop("/sqrt(n)") if printed else rate)(setting)["sampling"]


def delta_of_curved(radius: float, n: float, smoothness: float, epsilon: float) -> float:
    """Return the delta that a curved pair of neighbours certifies, or nan for none."""
    curved = Curved(radius=radius, n=int(n), smoothness=smoothness, epsilon=epsilon)
    if curved.slope <= 0 or curved.smoothness <= curved.curvature:
        return math.nan
    chance, neighbour_chance = curved.chances()
    return max(0.0, chance - math.exp(epsilon) * neighbour_chance)


def delta_of_step(local: float, delta: float, n: float) -> float:
    """Return the exact delta of one step on one of n records, with the printed noise."""
    std = math.sqrt(-3 * math.log(delta)) / local
    inner = math.log1p(math.expm1(math.expm1(local) / n) * n)
    return gaussian_delta(2 / std**2, inner) / n


SU_ARORA: tuple[Labelled, ...] = (
    labelled(
        "su.accuracy-cap",
        noise_of_remark_1,
        lambda n, epsilon, delta: sum(rate(objective(n, epsilon, delta))),
        {"delta < 1/n": lambda n, epsilon, delta: delta < 1 / n},
        is_rate=True,
        n=whole(10, 1e10),
        epsilon=real(0.1, 1),
        delta=real(1e-14, 1e-2),
    ),
    labelled(
        "su.modulus-units",
        delta_of_curved,
        lambda **_: 1e-6,
        {"n >= 10": lambda n, **_: n >= 10},
        radius=real(0.1, 10),
        n=whole(10, 1e5),
        smoothness=real(0.1, 100),
        epsilon=real(0.01, 1),
    ),
    labelled(
        "su.stray-epsilon",
        lambda n, epsilon: strong_term(n, epsilon, printed=True),
        lambda n, epsilon: strong_term(n, epsilon, printed=False),
        {"epsilon < 1": lambda n, epsilon: epsilon < 1},
        is_rate=True,
        n=whole(100, 1e9),
        epsilon=real(1e-6, 0.99),
    ),
    labelled(
        "su.mirror-index",
        lambda d, q: 1.0,
        growth,
        {"1 < q < 2": lambda d, q: 1 < q < 2},
        d=whole(2, 1e4),
        q=real(1.05, 1.95),
    ),
    labelled(
        "su.kappa-constant",
        lambda d, q: space(d, q).kappa,
        lambda d, q: space(d, q).printed_kappa,
        {"1 < q < 2": lambda d, q: 1 < q < 2},
        d=whole(3, 1e5),
        q=real(1.001, 1.99),
    ),
    labelled(
        "su.surface-area",
        area_error,
        lambda r: 1e-4,
        {"r >= 2": lambda r: r >= 2},
        r=real(2, 8),
    ),
    labelled(
        "su.table-2",
        lambda n, d: first_of_table_2(n, d, printed=True),
        lambda n, d: first_of_table_2(n, d, printed=False),
        {"n >= d": lambda n, d: n >= d},
        is_rate=True,
        n=whole(10, 1e9),
        d=whole(1, 100),
    ),
    labelled(
        "arora.one-step",
        delta_of_step,
        lambda local, delta, n: delta / n,
        {"0 < epsilon < 1.256": lambda local, delta, n: 0 < local < 1.256},
        local=real(0.01, 1.25),
        delta=real(1e-12, 0.01),
        n=whole(1, 1e5),
    ),
    labelled(
        "arora.delta-sum",
        lambda delta, slack: 2 * delta + slack,
        lambda delta, slack: delta + slack,
        {"delta > 0": lambda delta, slack: delta > 0},
        delta=real(1e-12, 0.01),
        slack=real(1e-12, 0.01),
    ),
    labelled(
        "arora.second-order",
        lambda local, n: (s := math.expm1(local) / n) * math.expm1(s) * (n / local) ** 2,
        lambda local, n: 4.0,
        {"0 < epsilon <= 1.256": lambda local, n: 0 < local <= 1.256},
        local=real(0.01, 1.256),
        n=whole(1, 1e5),
    ),
)
