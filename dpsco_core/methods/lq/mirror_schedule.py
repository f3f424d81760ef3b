"""Steps, threshold and weight of truncated mirror descent in one pass, chosen without the data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from dpsco_core.base.errors import require
from dpsco_core.base.search import best_count, nothing_finite, smallest_or
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.lq.inputs import (
    Order,
    own_constants,
    record_rho,
    release_rho,
    smooth_energy,
    space_of,
    statement_budget,
    sum_factor,
)
from dpsco_core.privacy.budget import Budget
from dpsco_core.privacy.mechanisms.shaped import Calibration, Noise
from dpsco_core.problems.base import Setting

MOST_STEPS = 20_000  # the largest number of the theorems' steps, each of which costs a mirror step
ASSUMED_SYMMETRY = 1000.0  # A, by which the assumed bias is divided: see `modelled_choice`
# The candidates for f in the threshold G + f sigma, from 1 to 64.
PRACTICAL_FACTORS = tuple(2.0 ** (k / 2) for k in range(13))


@dataclass(frozen=True, kw_only=True)
class MirrorInputs:
    """The quantities on which the errors of a run depend, besides its steps and threshold."""

    n: int  # the number of records
    space: RegularSpace  # the space of the parameters; l2 in the reduction from q >= 2
    # A bound on D(w*, w0): κ/2 times the largest squared norm of the set if w0 minimises Φ over it.
    divergence: float
    diameter: float  # M, the diameter of the set in the q-norm
    smoothness: float  # β of the population risk, with respect to the q-norm
    # G, a bound on the dual norm of ∇F over the set; βM if the gradient is 0 somewhere in the set
    gradient_bound: float
    # σ², a bound on the mean squared dual norm of a gradient's deviation from its mean
    variance: float
    lipschitz: float = math.inf  # bound on the dual norm of every record's gradient
    order: Order = "public"  # "public": noise for every batch; "shuffled": noise for every record
    # A bound on E‖z‖² for the noise z at dual sensitivity 1, times the factor of a sum
    # (`sum_factor`).
    energy: float = math.inf

    def with_noise(
        self, order: Order, budget: Budget, noise: Noise, calibration: Calibration
    ) -> MirrorInputs:
        """Return the inputs with the mean squared noise on every record or on every batch."""
        energy = smooth_energy(self.space, noise, calibration)
        if order == "public":
            rho = release_rho(budget, noise, calibration)
        else:
            rho = record_rho(self.n, budget, noise, calibration)
            energy = sum_factor(self.space, noise) * energy
        return replace(self, order=order, energy=energy / rho if rho > 0 else math.inf)

    def mean_energy(self, batch: int) -> float:
        """Return a bound on the mean squared norm of the noise on the mean of `batch` records.

        The norm is the smooth dual one, and a gradient has the dual sensitivity 1.
        """
        return self.energy / (batch if self.order == "shuffled" else batch**2)

    def errors(self, steps: int, threshold: float) -> tuple[float, float, float]:
        r"""Return the bias of a gradient, and the variances of a batch's mean and of its noise.

        With tau the threshold, :math:`\lambda=\tau-G` and
        :math:`\sigma_0=\sigma\max(1,G/\lambda)`, which bounds the root of
        :math:`E\|g_x-\nabla F\|_{q'}^2` after truncation,

        .. math:: \|Eg_x-\nabla F\|_{q'}\le B=\min\Big\{\frac{\sigma^2}\lambda\Big(1+
            \frac G\lambda\Big),\sigma_0\Big\},\quad
            E\|\bar g-E\bar g\|_+^2\le\frac\kappa b(\sigma_0+B)^2

        where the second bound has no B at q = 2. There is no bias where :math:`\tau` is at least L.
        """
        return self.errors_after(steps)(threshold)

    def errors_after(self, steps: int) -> Callable[[float], tuple[float, float, float]]:
        """Return the function of the threshold that gives `errors` at a number of steps."""
        batch, deviation, kappa = self.n // steps, math.sqrt(self.variance), self.space.kappa
        gradient_bound, variance, lipschitz = self.gradient_bound, self.variance, self.lipschitz
        energy, is_euclidean = self.mean_energy(batch), self.space.exponent == 2

        def errors(threshold: float) -> tuple[float, float, float]:
            """Return the bias and the two variances at a threshold."""
            root, bias = deviation, 0.0
            if threshold < lipschitz:
                room = threshold - gradient_bound
                require(room > 0, "threshold", "above the bound on the gradient", threshold)
                ratio = gradient_bound / room
                bias = min(variance / room * (1 + ratio), root * max(1.0, ratio))
                root *= max(1.0, ratio)
            spread = root if is_euclidean else root + bias
            noise = 4 * min(threshold, lipschitz) ** 2 * energy
            return bias, kappa * spread**2 / batch, noise

        return errors

    def check_finite(self) -> None:
        """Raise an error if a constant or the noise is infinite, because every result would be."""
        finite = self.smoothness * self.divergence * self.gradient_bound * self.variance
        if not (math.isfinite(finite) and math.isfinite(self.energy)):
            raise nothing_finite("number of steps")


def descent_inputs(
    setting: Setting, order: Order, noise: Noise, calibration: Calibration
) -> MirrorInputs:
    """Return the quantities on which the errors of a run at `setting` depend, noise included."""
    constants, space = own_constants(setting), space_of(setting)
    return MirrorInputs(
        n=setting.n,
        space=space,
        divergence=space.kappa * constants.radius**2 / 2,
        diameter=constants.diameter,
        smoothness=constants.smoothness,
        gradient_bound=constants.mean_gradient_bound,
        variance=constants.variance,
        lipschitz=constants.lipschitz,
    ).with_noise(order, setting.budget, noise, calibration)


class DescentChoice(NamedTuple):
    """Steps T, threshold tau, weight gamma, and the value that they minimise."""

    steps: int
    threshold: float
    step_weight: float
    value: float


NO_CHOICE = DescentChoice(steps=1, threshold=math.inf, step_weight=math.inf, value=math.inf)


@lru_cache(maxsize=4096)
def practical_choice(inputs: MirrorInputs) -> DescentChoice:
    """Return the steps, the threshold and the weight that minimise `modelled_choice`.

    Raises `NotApplicable` if the modelled risk is infinite for all of them.
    """
    inputs.check_finite()

    def best(steps: int) -> DescentChoice:
        """Return the threshold and the weight with the least modelled risk at these steps."""
        tried = (modelled_choice(inputs, steps, factor) for factor in PRACTICAL_FACTORS)
        return smallest_or(tried, lambda choice: choice.value, NO_CHOICE)

    return best(best_count(lambda steps: best(steps).value, inputs.n, what="number of steps"))


def modelled_choice(inputs: MirrorInputs, steps: int, factor: float) -> DescentChoice:
    r"""Return the modelled excess risk on typical data, at the threshold :math:`G+f\sigma`.

    The model is B4 of theory/su-zhao-wang.md, 3.6, with the variance :math:`\kappa\sigma^2/b` of an
    untruncated batch. In place of the bias of the worst case it has that of gradients that are
    nearly symmetric about their mean,

    .. math:: B = \frac{\sigma}{Af^2},\qquad f \ge 1,

    with A = `ASSUMED_SYMMETRY`, an assumption on which only accuracy depends. B4's own threshold
    is sized by the worst law of its class, and its noise would exceed all other errors.
    """
    batch, root = inputs.n // steps, math.sqrt(inputs.variance)
    threshold, bias = inputs.gradient_bound + factor * root, root / ASSUMED_SYMMETRY / factor**2
    if threshold >= inputs.lipschitz:
        threshold, bias = inputs.lipschitz, 0.0
    spread = inputs.space.kappa * inputs.variance / batch + 4 * threshold**2 * inputs.mean_energy(
        batch
    )
    room = math.sqrt(steps * spread / (2 * inputs.divergence))
    weight = inputs.smoothness + room
    value = weight * inputs.divergence / steps + inputs.diameter * bias
    value += spread / (2 * room) if spread > 0 else 0.0
    return DescentChoice(steps, threshold, weight, value)


def theorem_10_parameters(
    n: int, space: RegularSpace, epsilon: float, delta: float
) -> tuple[float, float]:
    r"""Return lambda and the real T of Su et al. (2023), Theorem 10, at :math:`\sigma = M = 1`.

    .. math::
        \lambda=\frac{\sqrt{n\varepsilon}}{(\kappa^2d\ln(1/\delta))^{1/4}},\quad
        T=\frac{n^2\varepsilon^2}{\lambda^2d\ln(1/\delta)},\quad\gamma=\sqrt T

    Here kappa is the printed one. The condition on n is :math:`\lambda\ge\max(\beta,1)`.
    """
    size = -space.d * math.log(delta)
    truncation = math.sqrt(n * epsilon) / math.pow(space.printed_kappa**2 * size, 0.25)
    return truncation, (n * epsilon / truncation) ** 2 / size


def batched_parameters(
    n: int, space: RegularSpace, epsilon: float, delta: float
) -> tuple[float, float]:
    r"""Return the parameters with the rate for any epsilon (theory/su-zhao-wang.md, 2.6).

    .. math::
        \lambda=\frac{(n\varepsilon)^{1/3}}{\kappa^{2/3}(d\ln(1/\delta))^{1/6}},\quad
        T=\frac{n\varepsilon}{\lambda\sqrt{d\ln(1/\delta)}},\quad\gamma=\sqrt T
    """
    root = math.sqrt(-space.d * math.log(delta))
    truncation = math.cbrt(n * epsilon / (space.printed_kappa**2 * root))
    return truncation, n * epsilon / (truncation * root)


def published_parameters(
    setting: Setting, inputs: MirrorInputs, *, shuffled: bool, most_steps: int = MOST_STEPS
) -> tuple[int, float]:
    r"""Return T and tau as the paper states them; T is at most `most_steps`.

    T and lambda are those of Theorem 10 if records are `shuffled`, and otherwise those of
    theory/su-zhao-wang.md, 2.6, both in units in which :math:`\sigma = M = 1`, which the paper does
    not say. The threshold is :math:`\tau = G + \max\{\lambda, G\}` (theory/su-zhao-wang.md, 2.5 (d)
    and (e)).
    """
    parameters = theorem_10_parameters if shuffled else batched_parameters
    truncation, steps = parameters(inputs.n, inputs.space, *statement_budget(setting))
    room = max(math.sqrt(inputs.variance) * truncation, inputs.gradient_bound)
    return max(1, round(min(steps, inputs.n, most_steps))), inputs.gradient_bound + room


def published_weight(inputs: MirrorInputs, steps: int, threshold: float) -> float:
    r"""Return the published weight of a mirror step.

    It is :math:`\gamma = \max\{2\beta, \sqrt{2TV/(\kappa M^2)}\}`, with V the variance of the noisy
    mean of a batch.
    """
    _, sampling, noise = inputs.errors(steps, threshold)
    spread = 2 * steps * (sampling + noise) / inputs.space.kappa
    return max(2 * inputs.smoothness, math.sqrt(spread) / inputs.diameter)
