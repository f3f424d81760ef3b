r"""Truncated mirror descent in one pass: Su, Zhao and Wang (2023), Algorithm 4 and its variants.

T steps over disjoint batches of :math:`b=\lfloor n/T\rfloor` records: gradients with
:math:`\|g\|_{q'}>\tau` are set to 0, the rest averaged, and noise hides every record ("shuffled",
one draw a record) or every batch ("public", one draw a batch). The explicit bound B4 of
theory/su-zhao-wang.md, 3.6, sharper and for any threshold, and the parameters that make it
smallest: they look at no data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.base.search import best_count, best_log, near_splits, nothing_finite, smallest_or
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.lq.noise import Order, record_rho, release_rho, smooth_energy, sum_factor
from dpsco_core.privacy.budget import Budget
from dpsco_core.privacy.generalized_gaussian import Calibration, Noise

ASSUMED_SYMMETRY = 1000.0  # of gradients about their mean
PRACTICAL_FACTORS = tuple(2.0 ** (k / 2) for k in range(13))  # 1 to 64

Terms4 = tuple[float, float, float, float]


@dataclass(frozen=True, kw_only=True)
class MirrorInputs:
    """What B4 depends on besides the steps and the threshold."""

    n: int  # records
    space: RegularSpace  # the parameters' space; l2 in the reduction from q >= 2
    # bound on D(w*, w0): κ/2 times the largest squared norm of the set if w0 minimises Φ over it
    divergence: float
    diameter: float  # M, of the set in the q-norm
    smoothness: float  # β of the population risk, with respect to the q-norm
    gradient_bound: float  # G, on the dual norm of ∇F over the set: βM where it is 0 in it
    variance: float  # σ², bound on the mean squared dual norm of a gradient's deviation
    lipschitz: float = math.inf  # bound on the dual norm of every record's gradient
    # bounds on E‖z‖² for the noise of a batch, and for that of a record times what a sum costs
    # (`sum_factor`), at dual sensitivity 1; infinite: not available
    batch_energy: float = math.inf
    record_energy: float = math.inf

    def with_noise(
        self, order: Order, budget: Budget, noise: Noise, calibration: Calibration
    ) -> MirrorInputs:
        """Return it with the energy of one kind of noise, and the other infinite.

        The order "shuffled" draws noise for every record, "public" for every batch.
        """
        energy = smooth_energy(self.space, noise, calibration)
        if order == "public":
            rho = release_rho(budget, noise, calibration)
            found = energy / rho if rho > 0 else math.inf
            return replace(self, batch_energy=found, record_energy=math.inf)
        rho = record_rho(self.n, budget, noise, calibration)
        factor = sum_factor(self.space, noise)
        found = factor * energy / rho if rho > 0 else math.inf
        return replace(self, batch_energy=math.inf, record_energy=found)

    def errors(self, steps: int, threshold: float) -> tuple[float, float, float]:
        r"""Return the bias of a gradient, and the variances of a batch's mean and of its noise.

        With :math:`\lambda=\tau-G` and :math:`\sigma_0=\sigma\max(1,G/\lambda)`, which bounds the
        root of :math:`E\|g_x-\nabla F\|_{q'}^2` after truncation,

        .. math:: \|Eg_x-\nabla F\|_{q'}\le B=\min\Big\{\frac{\sigma^2}\lambda\Big(1+
            \frac G\lambda\Big),\sigma_0\Big\},\quad
            E\|\bar g-E\bar g\|_+^2\le\frac\kappa b(\sigma_0+B)^2

        and without B in the second at q = 2. There is no bias where :math:`\tau` is at least L.
        """
        batch = self.n // steps
        root = math.sqrt(self.variance)
        bias = 0.0
        if threshold < self.lipschitz:
            room = threshold - self.gradient_bound
            require(room > 0, "threshold", "above the bound on the gradient", threshold)
            ratio = self.gradient_bound / room
            bias = min(self.variance / room * (1 + ratio), root * max(1.0, ratio))
            root *= max(1.0, ratio)
        spread = root if self.space.exponent == 2 else root + bias
        square = 4 * min(threshold, self.lipschitz) ** 2
        noise = square * min(self.batch_energy / batch**2, self.record_energy / batch)
        return bias, self.space.kappa * spread**2 / batch, noise


def b4(
    at: MirrorInputs,
    steps: int,  # T, from 1 to n
    threshold: float,  # :math:`\tau`; the paper's is :math:`\beta M+\lambda`
    step_weight: float | None = None,  # :math:`\gamma`; None for the best one, of `best_weight`.
) -> Terms4:
    r"""B4: an explicit bound on the mean excess risk, over data and noise.

    .. math:: \frac{\gamma D_\Phi(w^*,w_0)}T+\frac{V_g+V_z}{2(\gamma-\beta)}+MB,\quad\gamma>\beta

    with :math:`V_g, V_z, B` of `MirrorInputs.errors`. That is theory/su-zhao-wang.md, 3.6, with
    three constants sharpened: the two variances add without a factor 2, because noise and records
    are independent and the norm is smooth; the bias is the one of its proof; the threshold is free.

    Returns optimisation, sampling, noise and bias; their sum is the bound.
    """
    bias, sampling, noise = at.errors(steps, threshold)
    if not math.isfinite(noise):
        return math.inf, math.inf, math.inf, math.inf
    weight = _weight(at, steps, sampling + noise) if step_weight is None else step_weight
    room = weight - at.smoothness
    start = weight * at.divergence / steps
    if sampling + noise == 0:
        return start, 0.0, 0.0, at.diameter * bias
    if room <= 0:
        return math.inf, math.inf, math.inf, math.inf
    return start, sampling / (2 * room), noise / (2 * room), at.diameter * bias


def best_weight(at: MirrorInputs, steps: int, threshold: float) -> float:
    r"""Return the :math:`\gamma=\beta+\sqrt{TV/(2D_\Phi)}` that minimises `b4`."""
    _, sampling, noise = at.errors(steps, threshold)
    return _weight(at, steps, sampling + noise)


def _weight(at: MirrorInputs, steps: int, spread: float) -> float:
    return at.smoothness + math.sqrt(steps * spread / (2 * at.divergence))


@dataclass(frozen=True, kw_only=True)
class DescentChoice:
    """Steps T, threshold tau, weight gamma, and the value of B4 there."""

    steps: int
    threshold: float
    step_weight: float
    value: float


@lru_cache(maxsize=4096)
def best_b4(at: MirrorInputs) -> DescentChoice:
    """Return the steps, the threshold and the weight that minimise `b4`.

    The value is infinite, and the parameters say nothing, where B4 is finite for none of them.
    """
    scale = max(at.gradient_bound, math.sqrt(at.variance), 1e-300)

    @lru_cache(maxsize=256)
    def best(steps: int) -> tuple[float, float]:
        def value(threshold: float) -> float:
            return math.fsum(b4(at, steps, threshold))

        log = best_log(
            lambda log: value(at.gradient_bound + math.exp(log)),
            math.log(scale) - 5.0,
            math.log(scale) + 15.0,
        )[1]
        # The bias has kinks where nothing is clipped, and where it is sigma at the least threshold.
        kinks = [t for t in (at.lipschitz, 2 * at.gradient_bound) if 0 < t < math.inf]
        tried = [(value(t), t) for t in (*kinks, at.gradient_bound + math.exp(log))]
        return smallest_or(tried, lambda pair: pair[0], (math.inf, math.inf))

    try:
        _check_finite(at)
        near = best_count(lambda t: best(t)[0], at.n, of="number of steps")
    except NotApplicable:
        return DescentChoice(steps=1, threshold=math.inf, step_weight=math.inf, value=math.inf)
    steps = smallest_or(near_splits(at.n, near), lambda t: best(t)[0], near)
    least, threshold = best(steps)
    weight = best_weight(at, steps, threshold)
    return DescentChoice(steps=steps, threshold=threshold, step_weight=weight, value=least)


@lru_cache(maxsize=4096)
def practical_choice(at: MirrorInputs) -> DescentChoice:
    """Return the steps, the threshold and the weight that minimise `modelled`.

    Raises `NotApplicable` where that is finite for none of them.
    """
    _check_finite(at)

    def best(steps: int) -> DescentChoice | None:
        return smallest_or((modelled(at, steps, f) for f in PRACTICAL_FACTORS), _value, None)

    def least(steps: int) -> float:
        found = best(steps)
        return math.inf if found is None else found.value

    found = best(best_count(least, at.n, of="number of steps"))
    assert found is not None
    return found


def _value(choice: DescentChoice) -> float:
    return choice.value


def _check_finite(at: MirrorInputs) -> None:
    """Refuse where a constant or the noise is infinite: every value would be."""
    finite = math.isfinite(at.smoothness * at.divergence * at.gradient_bound * at.variance)
    if not finite or not math.isfinite(min(at.batch_energy, at.record_energy)):
        raise nothing_finite("number of steps")


def modelled(at: MirrorInputs, steps: int, factor: float) -> DescentChoice:
    r"""Return a model of the excess risk on typical data, at the threshold :math:`G+f\sigma`.

    B4 with the variance :math:`\kappa\sigma^2/b` of an untruncated batch and, in place of the
    worst case's bias, that of gradients that are nearly symmetric about their mean,

    .. math:: B = \frac{\sigma}{Af^2},\qquad f \ge 1,

    with A = `ASSUMED_SYMMETRY`: an assumption of accuracy, as in simple clipping. B4's own
    threshold is sized by the worst law of its class, and its noise would drown the rest.

    The `factor` f is at least 1.
    """
    batch, root = at.n // steps, math.sqrt(at.variance)
    threshold, bias = at.gradient_bound + factor * root, root / ASSUMED_SYMMETRY / factor**2
    if threshold >= at.lipschitz:
        threshold, bias = at.lipschitz, 0.0
    energy = min(at.batch_energy / batch**2, at.record_energy / batch)
    spread = at.space.kappa * at.variance / batch + 4 * threshold**2 * energy
    room = math.sqrt(steps * spread / (2 * at.divergence))
    value = (at.smoothness + room) * at.divergence / steps + at.diameter * bias
    value += spread / (2 * room) if spread > 0 else 0.0
    weight = at.smoothness + room
    return DescentChoice(steps=steps, threshold=threshold, step_weight=weight, value=value)


@dataclass(frozen=True, kw_only=True)
class Published:
    """The lambda, T and gamma of a statement; T is a real number."""

    truncation: float
    steps: float
    step_weight: float


def theorem_10(
    n: int, space: RegularSpace, diameter: float, epsilon: float, delta: float, root: float = 1.0
) -> Published:
    r"""Return the parameters of Theorem 10.

    .. math::
        \lambda=\frac{\sigma\sqrt{n\varepsilon}}{(\kappa^2d\ln(1/\delta))^{1/4}},\quad
        T=\frac{M^2n^2\varepsilon^2}{\lambda^2d\ln(1/\delta)},\quad\gamma=\sqrt T

    With the printed kappa. Printed, there is no :math:`\sigma`: `root` = 1. The condition on n is
    :math:`\lambda\ge\max(\beta,1)M`.
    """
    kappa, size = space.printed_kappa, -space.d * math.log(delta)
    truncation = root * math.sqrt(n * epsilon) / math.pow(kappa**2 * size, 0.25)
    steps = (diameter * n * epsilon / truncation) ** 2 / size
    return Published(truncation=truncation, steps=steps, step_weight=math.sqrt(steps))


def batched_parameters(
    n: int, space: RegularSpace, diameter: float, epsilon: float, delta: float
) -> Published:
    r"""Return the parameters that give the rate for general epsilon (theory/su-zhao-wang.md, 2.6).

    .. math::
        \lambda=\frac{(n\varepsilon)^{1/3}}{\kappa^{2/3}M^{1/3}(d\ln(1/\delta))^{1/6}},\quad
        T=\frac{Mn\varepsilon}{\lambda\sqrt{d\ln(1/\delta)}},\quad\gamma=\sqrt T
    """
    kappa, size = space.printed_kappa, -space.d * math.log(delta)
    truncation = math.cbrt(n * epsilon / (kappa**2 * diameter * math.sqrt(size)))
    steps = diameter * n * epsilon / (truncation * math.sqrt(size))
    return Published(truncation=truncation, steps=steps, step_weight=math.sqrt(steps))
