r"""Data-independent tuning of projected gradient descent with noisy full gradients.

The model behind ``tuning="practical"``: near its minimiser the risk is a quadratic whose curvature
h lies between :math:`\lambda` and :math:`\beta`; the start is at distance D, half the diameter; a
gradient carries noise of total variance :math:`T v` when T steps share the budget, v being that of
a single step with the whole of it. T steps of size :math:`\eta` and the average of the last m
iterates then have an excess risk of

.. math:: \frac h2\Big[\Big(\frac1m\sum_{t=T-m+1}^{T} a^t\Big)^2 D^2 + T v \sum_{s} c_s^2\Big],
    \qquad a = 1-\eta h,

with :math:`c_s` the weight of step s's noise in that average. T, :math:`\eta` and m minimise the
largest of it over h; then the fewest steps that come within 1.6 % of it and the sampling error
:math:`V/(2\lambda n)` are taken, V the trace of Cov(g).

Where gradients are certified to spread more the farther from the minimiser, as those of the
squared loss do, the curvature differs from record to record: that of the average of n by
:math:`\sigma = \sqrt{K/n}`, K the `Constants.variance_growth`. One step of size 1/h is then short
of the minimiser by :math:`\sigma D/h`, and a second one of what is left by as much again: the first
sum is that of the curvature :math:`h-\sigma`. Only `practical_clipping` is asked for that
(``growing``), for coordinates are clipped to limits that more steps do not suit; and only where
:math:`\sigma\le\lambda/4`, as else there are too few records for any model of curvatures.

Where no strong convexity is certified, :math:`\lambda = \min(\beta/3, 2G/D)` is assumed, with G
the bound on the mean gradient: a quadratic of more curvature would be above GD at the distance D,
and the risk cannot be. (The distance to a record is curved at the median only; steps for that
curvature all the way would not arrive.) Where no smoothness is certified, :math:`\beta = G/D`.
These are assumptions of accuracy: privacy holds for all steps and sizes.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import nothing_finite, smallest, smallest_index
from dpsco_core.methods.records.base import hinge_bias
from dpsco_core.methods.steps import Descent
from dpsco_core.problems.base import Setting

# the assumed ratio of the largest to the smallest curvature, if no strong convexity is certified
ASSUMED_CONDITION = 3.0
SPARED = 0.016  # Steps that lower the error by less than this share are not worth their time.
STEP_COUNTS = tuple(sorted({round(1.15**k) for k in range(41)}))  # from 1 to 268
# The candidate step sizes, in units of one over the largest curvature.
STEP_SIZES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05, 0.02, 0.01)
# The candidate clip radii, from 1/8 to 32 times the typical norm of a gradient.
RADIUS_FACTORS = tuple(2.0 ** (k / 4) for k in range(-12, 21))
# A, by which the assumed bias of clipping is divided: see `practical_clipping`.
ASSUMED_SYMMETRY = 1000.0
# the assumed share of the loss that clipping causes for the worst distribution of a class
ASSUMED_SHARE = 0.1

Counts = NDArray[np.int64]

_GRID = np.array(
    [
        (steps, averaged, size)
        for steps in STEP_COUNTS
        for averaged in (1, max(1, steps // 2))
        for size in STEP_SIZES
    ]
)
GRID_STEPS: Counts = _GRID[:, 0].astype(np.int64)
GRID_AVERAGED: Counts = _GRID[:, 1].astype(np.int64)
GRID_SIZES: Vector = _GRID[:, 2]


# the steps of the small run that the tests of a method use
FEW_STEPS = Descent(steps=4, step_size=0.1)


def curvatures(setting: Setting) -> tuple[float, float]:
    """Return the smallest and the largest curvature of the risk that the model allows for.

    Raises `NotApplicable` if the risk is flat, or no bound on its curvature or slope is certified.
    """
    constants = setting.constants
    largest = constants.smoothness
    if not 0 < largest < math.inf:
        largest = constants.mean_gradient_bound / (constants.diameter / 2)
    if largest == 0:
        raise NotApplicable(
            "The gradient of the risk is 0 at every parameter: there is nothing to minimise.",
            offset=0.5,
        )
    if not largest < math.inf:
        raise NotApplicable(
            "The step size follows from a smoothness constant or a bound on the mean gradient, "
            "and the problem certifies neither.",
            distribution="gaussian",
        )
    if constants.strong_convexity > 0:
        return constants.strong_convexity, largest
    # The slope is 0 on an unbounded set.
    slope = 4 * constants.mean_gradient_bound / constants.diameter
    assumed = largest / ASSUMED_CONDITION
    return (min(assumed, slope) if 0 < slope < math.inf else assumed), largest


def start_distance(setting: Setting) -> float:
    """Return the modelled distance of the start from the minimiser: half the diameter.

    Raises `NotApplicable` if the constraint set is unbounded.
    """
    distance = setting.constants.diameter / 2
    if math.isinf(distance):
        raise NotApplicable(
            "The number of steps follows from the distance to the minimiser, and the constraint "
            "set is unbounded.",
            diameter=4.0,
        )
    return distance


def curvature_spread(setting: Setting) -> float:
    r"""Return how far the curvature of an average of n losses varies: sigma of the module.

    It is 0 if it is not certified, or too large for the model.
    """
    spread = math.sqrt(setting.constants.variance_growth / setting.n)
    return spread if 4 * spread <= setting.constants.strong_convexity else 0.0


def _variance(setting: Setting, distance: float, growing: bool) -> float:
    """Return the modelled trace of Cov(g) at a distance from the minimiser.

    If `growing` is false it is the certified bound for every distance.
    """
    constants = setting.constants
    if not growing or curvature_spread(setting) == 0:
        return constants.variance_trace
    variance = constants.minimum_variance + constants.variance_growth * distance**2
    return min(variance, constants.variance_trace)


@lru_cache(maxsize=4096)
def practical_descent(
    setting: Setting,
    # v, the expected squared norm of the noise of a single step that spends the whole budget
    noise_energy: float,
    # The norm to which gradients are clipped. Far from the minimiser the clip shortens gradients,
    # and lowers the model's smallest curvature, by about :math:`\sqrt{V + R^2}/\text{reach}` if
    # that exceeds 1; R is the bound on the mean gradient.
    reach: float = math.inf,
    *,
    growing: bool = False,  # whether gradients vary more farther away from the minimiser
    # The expected squared norm of the part of a step's noise that does not depend on the budget,
    # such as the noise of sampling records.
    step_energy: float = 0.0,
) -> Descent:
    r"""Return the T, step size and average of the least modelled risk.

    Raises `NotApplicable` if the set is unbounded, or no candidate has a finite predicted risk.
    """
    low, largest = curvatures(setting)
    distance = start_distance(setting)
    spread = curvature_spread(setting) if growing else 0.0
    variance = _variance(setting, distance, growing)
    norm = math.hypot(math.sqrt(variance), setting.constants.mean_gradient_bound)
    if math.isfinite(norm):
        low /= max(1.0, norm / reach)
    sizes = GRID_SIZES / largest
    energy = noise_energy + step_energy / GRID_STEPS
    with np.errstate(over="ignore", invalid="ignore"):
        risks = np.maximum.reduce(
            [
                modelled_risk(h, GRID_STEPS, sizes, GRID_AVERAGED, distance, energy, spread)
                for h in (low, math.sqrt(low * largest), largest)
            ]
        )
    best = int(smallest_index(risks))
    if best < 0:
        raise nothing_finite("number of steps")
    sampling = _variance(setting, 0.0, growing) / (2 * low * setting.n)
    least_risk = float(risks[best])
    risk_limit = least_risk + SPARED * (least_risk + (sampling if math.isfinite(sampling) else 0.0))
    # Of all candidates within the risk limit, the best of those with the fewest steps is chosen.
    fewest = GRID_STEPS[risks <= risk_limit].min()
    chosen = int(smallest_index(np.where(fewest == GRID_STEPS, risks, np.inf)))
    return Descent(
        steps=int(fewest),
        step_size=float(sizes[chosen]),
        averaged=int(GRID_AVERAGED[chosen]),
        modelled_risk=float(risks[chosen]),
    )


def modelled_risk(
    curvature: float,
    steps: int | Counts,
    step_size: float | Vector,
    averaged: int | Counts,
    distance: float,
    noise_energy: float | Vector,
    spread: float = 0.0,
) -> Vector:
    r"""Return the modelled excess risk on a quadratic of one curvature; see the module.

    Steps, sizes and averages may be arrays of one shape; :math:`0 < \eta h \le 1`. The spread
    :math:`\sigma` counts as half of the curvature at most.

    Examples
    --------
    >>> float(modelled_risk(1.0, 1, 1.0, 1, 2.0, 0.5))  # one Newton step: the noise alone, v/2
    0.25
    """
    a = 1 - np.multiply(step_size, curvature)
    t, m = np.asarray(steps, dtype=np.float64), np.asarray(averaged, dtype=np.float64)
    rest, square = 1 - a, a * a
    left = a + np.multiply(step_size, min(spread, curvature / 2))
    bias = left ** (t - m + 1) * (1 - left**m) / (1 - left) / m
    # The noise of step s enters iterate t > s with weight a^(t-s-1); the average is over the last m
    # iterates.
    start_weight = square * (1 - square ** (t - m)) / (1 - square) * (1 - a**m) ** 2
    end_weight = m - 2 * a * (1 - a**m) / rest + square * (1 - square**m) / (1 - square)
    weights = np.square(step_size / (m * rest)) * (start_weight + end_weight)
    risk: Vector = curvature / 2 * (bias**2 * distance**2 + t * noise_energy * weights)
    return risk


@dataclass(frozen=True, kw_only=True)
class Clipping:
    """A clip radius with the descent planned for it."""

    radius: float
    descent: Descent


@lru_cache(maxsize=4096)
def practical_clipping(
    setting: Setting, unit_energy: float, *, growing: bool = False, step_energy: float = 0.0
) -> Clipping:
    r"""Return the clip radius and the descent that together minimise the modelled risk.

    The bias of clipping adds :math:`b^2/(2\lambda)` to the model's risk. Clipping is biased as far
    as the gradients are asymmetric about their mean, which no constant certifies. The assumption is

    .. math:: b(R) = \frac{\sqrt V}{A} \Big(\frac{\sqrt V}{R}\Big)^2

    with A = `ASSUMED_SYMMETRY`, an assumption of accuracy; as n grows, so does the radius, and
    the bias vanishes. The theorem's radius is sized by the worst law of its class and is ten times
    too large for others (theory/zhao-et-al.md, 9).

    A gradient that is the difference to a record is as skewed as the records are. Then nothing
    should be clipped below :math:`\sqrt{V+D^2}`. With a radius larger by t, each coordinate loses
    at most :math:`\kappa_pt^{1-p}` (`hinge_bias`), as in `dpsco_core.methods.mean.clipped`, and a
    tenth of that is assumed.

    `unit_energy` is the expected squared norm of the noise of one step with the whole budget at R =
    1; for `growing` and `step_energy` see `practical_descent`.
    """
    typical = typical_norm(setting, growing=growing)
    curvature, _ = curvatures(setting)
    radii = (min(typical * factor, setting.constants.lipschitz) for factor in RADIUS_FACTORS)

    def risk(candidate: Clipping) -> float:
        """Return the modelled risk of a candidate, with the bias of clipping."""
        bias = clipping_bias(setting, typical, candidate.radius)
        return candidate.descent.modelled_risk + bias**2 / (2 * curvature)

    candidates = (
        Clipping(
            radius=r,
            descent=practical_descent(
                setting, unit_energy * r**2, r, growing=growing, step_energy=step_energy
            ),
        )
        for r in radii
    )
    return smallest(candidates, risk, what="clip radius", gain=1e-9)


def clipping_bias(setting: Setting, typical: float, radius: float) -> float:
    """Return the bias b(R) that `practical_clipping` assumes; `typical` is from `typical_norm`."""
    if setting.constants.structure != "mean":
        return typical / ASSUMED_SYMMETRY * (typical / radius) ** 2
    order = setting.moment_order
    scale = math.pow(setting.constants.coordinate_moment, 1 / order)
    excess = (radius - math.hypot(typical, start_distance(setting))) / scale
    return ASSUMED_SHARE * math.sqrt(setting.d) * scale * hinge_bias(excess, order)


def typical_norm(setting: Setting, *, growing: bool = False) -> float:
    """Return a bound on the root mean square norm of a gradient, as a scale for clip radii.

    For a generalised linear loss it is the largest slope times the root mean square norm of the
    features. Otherwise it is the root of the trace of Cov(g): at the model's start if `growing`, at
    the worst point if not. For an L-Lipschitz loss it is at most L.

    Raises `NotApplicable` if the problem certifies none.
    """
    constants = setting.constants
    model = constants.linear_model
    if model is not None and math.isfinite(model.slope):
        typical = model.slope * model.feature_norm
    else:
        typical = math.sqrt(_variance(setting, constants.diameter / 2, growing))
    typical = min(typical, constants.lipschitz)
    if not 0 < typical < math.inf:
        raise NotApplicable(
            "The clip radius follows from the variance of the gradients, and the problem "
            "certifies none.",
            distribution="gaussian",
        )
    return typical


def practical_radius(setting: Setting, rho: float) -> float:
    r"""Return the norm to which records are shrunk if their losses are not Lipschitz.

    .. math:: R = \max\Big\{B,\ \frac{\sqrt d\,\gamma^{1/p}}{64}
        \Big(\frac{n\sqrt\rho}{\sqrt d}\Big)^{1/p}\Big\}

    with B of `typical_norm`. The second entry, a 64th of Zhao et al. (2024), equation (19), lets
    the bias vanish as n grows; at the dashboard's sizes it is rarely the larger.
    """
    constants, d, order = setting.constants, setting.d, setting.moment_order
    typical = typical_norm(setting)
    scale = constants.coordinate_moment ** (1 / order)
    growing = math.sqrt(d) * scale * (setting.n * math.sqrt(rho / d)) ** (1 / order) / 64
    return min(max(typical, growing if math.isfinite(growing) else 0.0), constants.lipschitz)


def practical_limit(setting: Setting, rho: float) -> float:
    r"""Return the clip limit of a gradient's coordinate, which grows slowly with n.

    .. math:: U = \max\Big\{3\sqrt{\frac Vd},\
        \frac{\gamma^{1/p}}8\Big(\frac{n\sqrt\rho}{d^{3/2}}\Big)^{1/p}\Big\} + S

    with V the trace of Cov(g) and S the `mean_room`. As for `practical_radius`, the growing part is
    a fraction of the theorem's (Kamath et al. 2022, Theorem 5.2).
    """
    constants, d, order = setting.constants, setting.d, setting.moment_order
    typical = _typical_coordinate(setting)
    scale = constants.coordinate_moment ** (1 / order)
    growing = scale * float((setting.n * math.sqrt(rho) / d**1.5) ** (1 / order)) / 8
    if not math.isfinite(growing):
        growing = 0.0
    return float(max(typical, growing) + mean_room(setting))


def mean_room(setting: Setting) -> float:
    r"""Return the part of `practical_limit` that allows for the mean of a gradient's coordinate.

    .. math:: S = \min\Big\{\frac R{\sqrt d},\ 3\sqrt{\frac Vd}\Big\}

    R bounds the mean gradient on the whole set, and is spread over the coordinates. On a wide set
    that is far more than near the minimiser, where the error is made; farther out, gradients are
    shortened, and a model of the descent has to count it.
    """
    spread = setting.constants.mean_gradient_bound / math.sqrt(setting.d)
    return min(spread, _typical_coordinate(setting))


def _typical_coordinate(setting: Setting) -> float:
    r"""Return :math:`3\sqrt{V/d}`, the assumed size of a gradient's coordinate."""
    if not 0 < setting.constants.variance_trace < math.inf:
        raise NotApplicable(
            "The clip limit follows from the variance of the gradients, and the problem "
            "certifies none.",
            distribution="gaussian",
        )
    return 3 * math.sqrt(setting.constants.variance_trace / setting.d)
