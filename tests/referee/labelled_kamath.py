"""Statements of Kamath, Liu and Zhang (2022) with an erratum, as inequalities."""

from __future__ import annotations

import math

import numpy as np

from dpsco_core.bounds.euclidean import coordinatewise
from dpsco_core.bounds.euclidean.smoothed import printed_rate
from dpsco_core.bounds.instances.gaussian import gaussian_scale
from dpsco_core.explain.errata.base import unit_setting
from dpsco_core.explain.errata.kamath_lower import one_dimension_risk
from dpsco_core.explain.errata.kamath_runs import _lower_bound_in_set, _median_move
from dpsco_core.methods.records.smooth_clip import smoothed_clip
from dpsco_core.privacy.budget import ZCDP
from dpsco_core.problems.base import Setting
from dpsco_core.statements import kamath
from tests.referee.labelled import Labelled, labelled, real, whole

ORDER = 2.0


def smoothing_cost_ratio(tau: float, c: float, n: float) -> float:
    """Return the zCDP that the printed noise spends on far records, over the claimed rho."""
    low, high = (float(v) for v in tau / n * smoothed_clip(np.array([-1e9, 1e9]), c))
    noise = tau / n  # The noise at rho = 1, in one dimension.
    return (high - low) ** 2 / (2 * noise**2)


def block_move(d: float, beta: float, n: float) -> float:
    """Return the move of the median with the printed number of blocks."""
    blocks = math.ceil(kamath.algorithm_3_blocks(int(d), beta))
    return _median_move(10.0, blocks, int(n) // blocks)


def window_bias(tau: float, mean: float) -> float:
    """Return the bias of clipping the two points mean - 1 and mean + 1 to [-3 tau, 3 tau]."""
    points = np.array([mean - 1, mean + 1])
    return float(abs(points.mean() - np.clip(points, -3 * tau, 3 * tau).mean()))


def one_step_risk(diameter: float, smoothness: float) -> float:
    """Return the risk of a quadratic after one exact step from the end of [0, M]."""
    w = diameter - smoothness * diameter / (2 * smoothness)
    return smoothness / 2 * w**2


def unit(n: float, d: float, rho: float, diameter: float) -> Setting:
    """Return a setting of unit moments under zCDP, with the given sizes and diameter."""
    return unit_setting(int(d), ORDER, budget=ZCDP(rho=rho), n=int(n), diameter=diameter)


def lower_inside(n: float, d: float, rho: float, diameter: float) -> float:
    """Return the lower bound from instances inside the set."""
    return _lower_bound_in_set(int(n), int(d), ORDER, rho, diameter).bound


def truncation(n: float, d: float, rho: float, diameter: float) -> float:
    """Return tau of Theorem 5.2."""
    return math.pow(math.sqrt(rho) * n / (diameter * d**1.5), 1 / ORDER)


def smoothed_truncation(n: float, d: float, rho: float, diameter: float) -> float:
    """Return tau of Theorem 5.5."""
    power = kamath.theorem_5_5_power(int(d), rho)
    return math.sqrt(math.sqrt(rho) * n / (diameter * d**power))


def in_theorem(n: float, d: float, rho: float, diameter: float) -> bool:
    """Return whether the instance satisfies the theorem's smoothness and radius."""
    instance = _lower_bound_in_set(int(n), int(d), ORDER, rho, diameter)
    return instance.smoothness <= 10 and 2 * instance.norm <= 10


def has_a_step(tau: float, d_power: int, n: float, d: float, rho: float, **_: float) -> bool:
    """Whether the printed number of steps T is at least 1, with R = 10."""
    return 100 * rho * n**2 / (tau**2 * d**d_power) >= 1


def fano_error(n: float, spacing: float) -> float:
    """Return an upper bound on the error of a noisy clipped mean on normal laws, at rho = 1."""
    bias = 2 * math.exp(-((10 - 7 * spacing) ** 2) / 2)
    return math.sqrt(1 / n + (20 / n / math.sqrt(2)) ** 2) + bias


def printed_fano(spacing: float) -> float:
    """Return the printed Fano bound at this spacing."""
    beta = (7 * spacing) ** 2 / 2
    return spacing / 2 * (1 - (beta + math.log(2)) / math.log(8))


def information(n: float, d: float, rho: float) -> float:
    """Return the bound on the information, in nats, plus log 2."""
    share = math.sqrt(d / rho) / n
    return rho * (n**2 * share**2 + n * share * (1 - share)) + math.log(2)


SIZES = {"n": whole(1, 1e13), "d": whole(1, 30), "rho": real(1e-9, 1), "diameter": real(1, 1e6)}
KAMATH: tuple[Labelled, ...] = (
    labelled(
        "kamath.smoothing-noise",
        smoothing_cost_ratio,
        lambda **_: 1.0,
        {"tau >= 10": lambda tau, **_: tau >= 10},
        tau=real(1, 1e3),
        c=real(0.01, 10),
        n=whole(1, 1e6),
    ),
    labelled(
        "kamath.whole-blocks",
        block_move,
        lambda d, beta, n: 120 * kamath.algorithm_3_blocks(int(d), beta) / n,
        {
            "beta < 1": lambda beta, **_: beta < 1,
            "n >= m": lambda d, beta, n: n >= math.ceil(kamath.algorithm_3_blocks(int(d), beta)),
        },
        d=whole(1, 20),
        beta=real(0.01, 0.99),
        n=whole(1, 300),
    ),
    labelled(
        "kamath.truncation-window",
        window_bias,
        lambda tau, mean: kamath.lemma_b1_bias(tau, 4.0),
        {"tau >= 10": lambda tau, mean: tau >= 10, "mean": lambda tau, mean: mean <= 3 * tau},
        tau=real(1, 1e4),
        mean=real(0, 3e4),
    ),
    labelled(
        "kamath.strong-risk",
        one_step_risk,
        lambda diameter, smoothness: 0.75 * diameter,
        {"R <= 10": lambda diameter, smoothness: diameter * smoothness <= 10},
        diameter=real(0.01, 100),
        smoothness=real(0.1, 10),
    ),
    labelled(
        "kamath.uniform-blocks",
        lambda n, d, order: 8 * d * math.log(3 * n**3),
        lambda n, d, order: n,
        {
            "tau >= 10": lambda n, d, order: (n / d**1.5) ** (1 / order) >= 10,
            "T >= 1": lambda n, d, order: n**2 >= (n / d**1.5) ** (2 / order) * d**4,
        },
        n=whole(2, 1e9),
        d=whole(1, 1000),
        order=real(2, 8),
    ),
    labelled(
        "kamath.lost-diameter-coordinatewise",
        lower_inside,
        lambda **point: sum(coordinatewise.PRINTED_RATE(unit(**point)).values()),
        {
            "tau >= 10": lambda **place: truncation(**place) >= 10,
            "T >= 1": lambda **place: has_a_step(truncation(**place), 4, **place),
            "R, L <= 10": in_theorem,
        },
        is_rate=True,
        **SIZES,
    ),
    labelled(
        "kamath.lost-diameter-smoothed",
        lower_inside,
        lambda **point: sum(printed_rate(unit(**point))),
        {
            "tau >= 10": lambda **place: smoothed_truncation(**place) >= 10,
            "T >= 1": lambda **place: has_a_step(smoothed_truncation(**place), 2, **place),
            "R, L <= 10": in_theorem,
        },
        is_rate=True,
        **SIZES,
    ),
    labelled(
        "kamath.void-packing",
        information,
        lambda n, d, rho: d * math.log(2),
        {"p < 1": lambda n, d, rho: math.sqrt(d / rho) / n < 1},
        n=whole(1, 1e8),
        d=whole(2, 1e4),
        rho=real(0.01, 10),
    ),
    labelled(
        "kamath.plotkin",
        lambda d: 2 ** (d / 8),
        lambda d: 2 * d,
        {"d/2 whole": lambda d: d % 2 == 0},
        d=whole(2, 1000),
    ),
    labelled(
        "kamath.gaussian-instance",
        lambda k: gaussian_scale(k) ** -k,
        lambda k: 1.0,
        {"k >= 2": lambda k: k >= 2},
        k=real(2, 10),
    ),
    labelled(
        "kamath.fano-statement",
        lambda n, spacing: printed_fano(spacing),
        fano_error,
        {"beta >= divergences": lambda n, spacing: spacing > 0},
        n=whole(1, 1e8),
        spacing=real(0.001, 1),
    ),
    labelled(
        "kamath.sampling-constant",
        lambda n: math.sqrt(1 / n),
        lambda n: one_dimension_risk(int(n)),
        {"n >= 1": lambda n: n >= 1},
        n=whole(1, 1e12),
    ),
)
