r"""Explicit bounds in :math:`\ell_q^d` at the parameters that the methods choose.

The formulas B3, B3', B4 (theory/su-zhao-wang.md, 3.4 to 3.6) and the regret of Arora et al. (2020)
are in `dpsco_core.problems.lq_*`, which the methods share; here they are evaluated at a setting, at
the parameters that make them smallest ("tight") or those of the theorems ("paper"). Infinite where
the exponent, the budget or a constant does not allow the method.
"""

from __future__ import annotations

import math

from dpsco_core.base.search import smallest_or
from dpsco_core.methods.lq import noisy_schedule as lq_noisy
from dpsco_core.methods.lq import phased_schedule as lq_phased
from dpsco_core.methods.lq.inputs import better_descent, descent, noisy, own_constants, regularized
from dpsco_core.methods.lq.mirror_schedule import (
    MirrorInputs,
    b4,
    batched_parameters,
    best_b4,
    theorem_10,
)
from dpsco_core.methods.lq.noise import Order
from dpsco_core.methods.lq.regularized_schedule import b3, best_b3, published_choice
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.generalized_gaussian import Calibration, Noise
from dpsco_core.problems.base import Setting

Terms4 = tuple[float, float, float, float]
_VOID: Terms4 = (math.inf, math.inf, math.inf, math.inf)


def regularized_risk(setting: Setting, noise: Noise, calibration: Calibration) -> Terms4:
    """B3 of Algorithm 3: regulariser, noise, distance to the minimiser, stability.

    The tight calibration is at the steps and the regulariser that minimise it; the paper's at those
    of Theorem 7.
    """
    if setting.exponent > 2:
        return _VOID
    at = regularized(setting, noise, calibration)
    positive = min(at.lipschitz, at.smoothness, at.radius) > 0
    if not positive or not math.isfinite(at.energy * at.smoothness):
        return _VOID
    if calibration == "tight":
        best = best_b3(at)
        return b3(at, best.steps, best.regulariser)
    budget = setting.budget
    if not isinstance(budget, ApproxDP):
        return _VOID
    steps, regulariser = published_choice(at, budget.epsilon, budget.delta)
    return b3(at, steps, regulariser) if regulariser > 0 else _VOID


def phased_risk(setting: Setting, *, diameter_free: bool = False) -> Terms4:
    """B3' of phased SGD on the whole space: start, sampling, noise, last noise; in l2.

    At the step size that minimises it, or at the one that knows no distance
    (theory/su-zhao-wang.md, 2.4).
    """
    c, rho = setting.constants, setting.gaussian_rho
    if rho <= 0 or setting.n < 2 or c.lipschitz <= 0:
        return _VOID
    n, d, distance = setting.n, setting.d, c.diameter / 2
    factor = lq_phased.noise_factor(rho)
    if diameter_free:
        step = lq_phased.printed_step(n, d, c.lipschitz, factor)
        if step * c.sample_smoothness > 8:
            return _VOID
    else:
        step = lq_phased.best_step(n, d, c.lipschitz, distance, factor, c.sample_smoothness)
    return lq_phased.b3_prime(n, d, c.lipschitz, distance, factor, step)


def descent_risk(
    setting: Setting, orders: tuple[Order, ...], noise: Noise, calibration: Calibration = "tight"
) -> Terms4:
    """B4 of Algorithm 4 in the better of the orders: "shuffled", or "public", its batched variant.

    Optimisation, sampling, noise, clipping bias. The tight calibration is at the steps, threshold
    and weight that minimise it; the paper's at those of `_at_published`. For q > 2 it is in l2.
    """
    if calibration == "tight":
        at = better_descent(setting, orders, noise, calibration)
        best = best_b4(at)
        if math.isinf(best.value):
            return _VOID
        return b4(at, best.steps, best.threshold, best.step_weight)
    found = (descent(setting, order, noise, calibration) for order in orders)
    return smallest_or((_at_published(setting, at, orders) for at in found), math.fsum, _VOID)


def noisy_risk(setting: Setting) -> tuple[float, float, float]:
    """The regret of noisy mirror descent at its best step: optimisation, gradients, noise."""
    found = own_constants(setting)
    if not 0 < found.lipschitz < math.inf:
        return math.inf, math.inf, math.inf
    steps, energy, divergence = noisy(setting)
    if math.isinf(energy[1]):
        return math.inf, math.inf, math.inf
    step = lq_noisy.best_step(steps, energy, divergence)
    return lq_noisy.regret(steps, energy, divergence, step)


def _at_published(setting: Setting, at: MirrorInputs, orders: tuple[Order, ...]) -> Terms4:
    r"""B4 at T and lambda of the statement, in units in which :math:`\sigma=M=1`.

    The paper hides them. :math:`\tau=G+\max\{\sigma\lambda,G\}`, and
    :math:`\gamma=\max\{2\beta,\sqrt{2TV/(\kappa M^2)}\}`: theory/su-zhao-wang.md, 2.5 (d) and (e).
    """
    budget = setting.budget
    known = 0 < at.variance < math.inf and math.isfinite(at.smoothness * at.gradient_bound)
    if not isinstance(budget, ApproxDP) or not known:
        return _VOID
    parameters = theorem_10 if "shuffled" in orders else batched_parameters
    found = parameters(at.n, at.space, 1.0, budget.epsilon, budget.delta)
    room = max(math.sqrt(at.variance) * found.truncation, at.gradient_bound)
    steps, threshold = min(at.n, max(1, round(found.steps))), at.gradient_bound + room
    _, sampling, noise = at.errors(steps, threshold)
    spread = math.sqrt(2 * steps * (sampling + noise) / at.space.kappa)
    weight = max(2 * at.smoothness, spread / at.diameter)
    return b4(at, steps, threshold, weight)
