r"""Clipped gradients on fresh batches: what is proven of a run, and the best steps and radius.

T steps of size :math:`\eta`, each on :math:`b=\lfloor n/T\rfloor` records of its own, whose
gradients are clipped to norm C. With :math:`D_0` the largest distance from the start,
:math:`\Delta` the diameter, and :math:`\bar w` the average of the queried points,

.. math:: E\,F(\bar w)-F^*\le\frac{D_0^2}{2\eta T}+\frac\eta2\Big(G_C^2+\frac{V_C}b+E\|\xi\|^2\Big)
    +\Delta\beta_C,

where the mean of a clipped gradient has norm at most :math:`G_C` and is at most :math:`\beta_C`
from that of the gradient itself, and :math:`V_C` bounds the trace of its covariance. Nothing must
be smooth (theory/fresh-batches.md, 1).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import nothing_finite, smallest_index
from dpsco_core.methods.euclidean.tuning import ASSUMED_SYMMETRY, RADIUS_FACTORS, typical_norm
from dpsco_core.methods.records.base import hinge_constant
from dpsco_core.privacy.budget import PureDP
from dpsco_core.problems.base import Setting

MOST_STEPS = 10_000  # the largest number of steps that the search considers
COUNTS, LEVELS = 120, 160  # how many numbers of steps, and how many radii, are compared at once

Moments = Literal["directional", "coordinate"]


@dataclass(frozen=True, kw_only=True)
class Clipped:
    """Bounds on the moments of a gradient clipped to each of several radii; arrays of one shape."""

    slope: Vector  # bound on the norm of the mean of a clipped gradient
    bias: Vector  # bound on the distance between the means of clipped and unclipped gradients
    variance: Vector  # bound on the trace of the covariance of a clipped gradient


@dataclass(frozen=True, kw_only=True)
class BatchedSteps:
    """Steps on disjoint batches, and the radius to which gradients are clipped."""

    steps: int
    radius: float
    step_size: float

    def noise_energy(self, setting: Setting, rho: float) -> float:
        """Return the mean squared norm of the noise of a step; under a pure budget rho is 0."""
        return noise_energy(setting, rho) * (self.radius / (setting.n // self.steps)) ** 2


def clipped_gradient(setting: Setting, radius: Vector, moments: Moments) -> Clipped:
    r"""Return moment bounds that are proven for gradients clipped to norm C.

    Directional moments: :math:`\beta_C=\min\{\kappa_pd^{(p-1)/2}M^pC^{1-p},M\}`,
    :math:`G_C=\min\{M,R+\beta_C,C\}` and :math:`V_C=\min\{dM^2,C^2\}`. Central moments of
    coordinates: :math:`\beta_C=\min\{\kappa_p(\sqrt dg)^p(C-R)^{1-p},\sqrt dg+R\}`,
    :math:`G_C=\min\{R+\beta_C,C\}` and :math:`V_C=\min\{dg^2,C^2\}`.

    For p < 2 the root of the norm's p-th moment is :math:`d^{1/p}` times that of a coordinate, and
    not :math:`\sqrt d`: :math:`\beta_C=\min\{\kappa_pd^{1-1/p}M^pC^{1-p},M\}` and
    :math:`V_C=\min\{dM^pC^{2-p},C^2\}`; :math:`\beta_C=\min\{\kappa_pdg^p(C-R)^{1-p},d^{1/p}g+R\}`
    and :math:`V_C=\min\{dg^p\min\{C+R,2C\}^{2-p},C^2\}` (theory/infinite-variance.md, 3).
    """
    c, d, order = setting.constants, setting.d, setting.moment_order
    mean_bound = c.mean_gradient_bound
    growth = math.sqrt(d) if order >= 2 else math.pow(d, 1 / order)
    if moments == "directional":
        unit, shift, largest_bias = c.directional_moment, 0.0, c.directional_moment
        amplitude = unit
    else:
        unit = math.pow(c.coordinate_moment, 1 / order)
        amplitude = growth * unit
        shift, largest_bias = mean_bound, amplitude + mean_bound
    scale = growth * unit
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        room = np.maximum(radius - shift, 0.0)
        tail = np.divide(scale, room) ** (order - 1)
        bias = np.minimum(hinge_constant(order) * amplitude * tail, largest_bias)
    slope = np.minimum(mean_bound + bias, radius)
    if moments == "directional":
        slope = np.minimum(slope, unit)
    if order >= 2:
        return Clipped(slope=slope, bias=bias, variance=np.minimum(scale, radius) ** 2)
    reach = radius + np.minimum(shift, radius)
    variance = np.minimum(scale**order * reach ** (2 - order), radius**2)
    return Clipped(slope=slope, bias=bias, variance=variance)


def modelled_gradient(setting: Setting, radius: Vector) -> Clipped:
    r"""Return the moments of clipped gradients that the practical tuning assumes.

    The bias is :math:`\frac BA(B/C)^2`, with B from `typical_norm` and A = `ASSUMED_SYMMETRY`. This
    is an assumption, as in `practical_clipping`, on which only accuracy depends.
    """
    c, typical = setting.constants, typical_norm(setting)
    return Clipped(
        slope=np.minimum(min(c.mean_gradient_bound, c.lipschitz), radius),
        bias=typical / ASSUMED_SYMMETRY * (typical / radius) ** 2,
        variance=np.minimum(min(c.variance_trace, typical**2), radius**2),
    )


def noise_energy(setting: Setting, rho: float) -> float:
    r"""Return the mean squared norm of the noise for a batch of one record at clip radius 1.

    Gaussian: :math:`d\sigma^2=\frac{2d}\rho`. Spherical Laplace, under a pure budget:
    :math:`d(d+1)\big(\frac2\varepsilon\big)^2`.
    """
    d = setting.d
    if isinstance(setting.budget, PureDP):
        return d * (d + 1) * (2 / setting.pure_epsilon) ** 2
    return 2 * d / rho


def check_bounded(setting: Setting) -> None:
    """Raise `NotApplicable` if the set is unbounded, because then no step size can be chosen."""
    if math.isinf(setting.constants.diameter):
        raise NotApplicable(
            "The step size follows from the diameter of the constraint set, which is unbounded.",
            diameter=4.0,
        )


@lru_cache(maxsize=4096)
def best_batches(setting: Setting, rho: float, moments: Moments | None) -> BatchedSteps:
    """Return the steps and the radius that minimise the bound, with the best step size.

    If `moments` is None the gradients are those of `modelled_gradient`, which is not proven. The
    search is over a grid. That costs accuracy only, because the bound holds for every choice.

    Raises `NotApplicable` if the set is unbounded, or the gradients have no certified moment.
    """
    check_bounded(setting)
    if moments is None:
        levels = typical_norm(setting) * np.array(RADIUS_FACTORS)
        clipped: Callable[[Vector], Clipped] = partial(modelled_gradient, setting)
    else:
        unit = math.sqrt(setting.d) * _moment(setting, moments)
        levels = unit * np.geomspace(0.05, 1e4, LEVELS)
        clipped = partial(clipped_gradient, setting, moments=moments)
    largest_count = min(setting.n, MOST_STEPS)
    counts = np.unique(np.floor(np.geomspace(1, largest_count, COUNTS)))
    # Steps and radius are searched on a coarse grid, then on a finer one around the best pair.
    for _ in range(2):
        risks = _risks(setting, rho, counts, levels, clipped)
        place = int(smallest_index(risks.ravel()))
        if place < 0:
            raise nothing_finite("clip radius")
        t, c = divmod(place, len(levels))
        best = int(counts[t]), float(levels[c])
        low, high = counts[max(0, t - 1)], counts[min(len(counts) - 1, t + 1)]
        counts = np.unique(np.floor(np.linspace(low, high, COUNTS)))
        levels = best[1] * np.geomspace(0.9, 1 / 0.9, LEVELS)
    steps, radius = best
    pull = _step_energy(setting, rho, np.array([float(steps)]), np.array([radius]), clipped)
    size = setting.body.reach / math.sqrt(steps * float(pull[0, 0]))
    return BatchedSteps(steps=steps, radius=radius, step_size=size)


def risk_terms(
    setting: Setting, batches: BatchedSteps, noise: float, clipped: Clipped
) -> tuple[float, float, float, float]:
    """Return the terms of the bound for given steps: optimisation, sampling, noise and bias.

    `noise` is the mean squared norm of the noise of a step; `clipped` holds the moments at the
    radius of the steps.
    """
    body, size, steps = setting.body, batches.step_size, batches.steps
    slope, bias, variance = (
        float(np.max(x)) for x in (clipped.slope, clipped.bias, clipped.variance)
    )
    return (
        body.reach**2 / (2 * size * steps) + size * slope**2 / 2,
        size * variance / (2 * (setting.n // steps)),
        size * noise / 2,
        body.diameter * bias,
    )


def _moment(setting: Setting, moments: Moments) -> float:
    """Return the p-th root of the certified moment of a gradient, in a direction or a coordinate.

    For coordinates the bound on the mean gradient is added. Raises `NotApplicable` if the problem
    certifies no such moment.
    """
    c = setting.constants
    unit = c.directional_moment
    if moments == "coordinate":
        unit = math.pow(c.coordinate_moment, 1 / setting.moment_order) + c.mean_gradient_bound
    if not 0 < unit < math.inf:
        raise NotApplicable(
            "The clip radius follows from the moments of the gradients, and the problem certifies "
            "none.",
            tuning="practical",
        )
    return unit


def _step_energy(
    setting: Setting,
    rho: float,
    counts: Vector,
    levels: Vector,
    clipped: Callable[[Vector], Clipped],
) -> Vector:
    """Bound the mean squared norm of a step's noisy gradient, shape (counts, levels).

    `counts` are numbers of steps, and `levels` are clip radii.
    """
    size = (setting.n // counts)[:, None]
    gradient = clipped(levels)
    noise = noise_energy(setting, rho) * (levels / size) ** 2
    pull: Vector = gradient.slope**2 + gradient.variance / size + noise
    return pull


def _risks(
    setting: Setting,
    rho: float,
    counts: Vector,
    levels: Vector,
    clipped: Callable[[Vector], Clipped],
) -> Vector:
    """Return the bound on the risk at the best step size, shape (counts, levels).

    `counts` are numbers of steps, and `levels` are clip radii.
    """
    body = setting.body
    roots = np.sqrt(_step_energy(setting, rho, counts, levels, clipped) / counts[:, None])
    risks: Vector = body.reach * roots + body.diameter * clipped(levels).bias
    return risks
