"""What the rows on excess risk share: the groups of hypotheses, the names of terms, a base card."""

import math
from collections.abc import Callable

from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    GAUSSIAN_BUDGET,
    in_moment_units,
    moment_scale,
)
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    GRADIENT_BOUND,
    MINIMUM_INTERIOR,
    NONNEGATIVE,
    SAMPLE_SMOOTH,
    SMALL_GRADIENT,
)
from dpsco_core.bounds.mean.rates import private_rate
from dpsco_core.problems.base import Setting

ASSUMPTION_2_12 = (
    GAUSSIAN_BUDGET,
    COORDINATE_MOMENT,
    DIAMETER,
    SAMPLE_SMOOTH,
    NONNEGATIVE,
    MINIMUM_INTERIOR,
    SMALL_GRADIENT,
)
EXPLICIT_CONDITIONS = (
    GAUSSIAN_BUDGET,
    COORDINATE_MOMENT,
    DIAMETER,
    SAMPLE_SMOOTH,
    GRADIENT_BOUND,
)
RATE_TERMS = ("sampling", "privacy")
RATE_NEEDS = ("gaussian_rho", "coordinate_moment", "diameter")
RISK_TERMS = ("optimisation and privacy noise", "sampling", "clipping bias", "covering")
RISK_NEEDS = (
    "gaussian_rho",
    "coordinate_moment",
    "diameter",
    "mean_gradient_bound",
    "sample_smoothness",
)
OTHER_PARAMETERS = "The method's own tunings take other parameters, and may err more."


def private_term(setting: Setting, top: float) -> float:
    r"""Return :math:`\sqrt d(\text{top}/(\sqrt\rho n))^{1-1/p}`, infinite at rho = 0."""
    return private_rate(setting, top, math.sqrt(setting.gaussian_rho))[1]


def in_scale(
    formula: Callable[[Setting], tuple[float, ...]],
) -> Callable[[Setting], tuple[float, ...]]:
    """Return the terms of a formula in moment units times the moment scale."""

    def scaled(setting: Setting) -> tuple[float, ...]:
        scale = moment_scale(setting)
        return tuple(scale * term for term in formula(in_moment_units(setting)))

    return scaled


def signal(setting: Setting, power: float, diameter: float) -> float:
    r"""Return :math:`\sqrt\rho n/(Md^q)`: the thresholds of Kamath et al. (2022) are its roots."""
    return math.sqrt(setting.gaussian_rho) * setting.n / diameter / math.pow(setting.d, power)
