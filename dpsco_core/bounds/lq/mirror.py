r"""Truncated mirror descent in batches, with every constant proven: Su et al. (2023), Algorithm 4.

The bound is B4 of theory/su-zhao-wang.md, 3.6, sharpened and for any threshold. The module also
finds the parameters that make the bound smallest, which do not depend on data. The bound is
infinite if the exponent, the budget or a constant does not allow the method.
"""

import math
from collections.abc import Callable
from functools import lru_cache, partial

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import best_count, best_log, near_splits, smallest_or
from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.conditions import GAUSSIAN_BUDGET
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    GRADIENT_BOUND,
    OTHER_PARAMETERS,
    SMOOTH,
)
from dpsco_core.bounds.lq.conditions import AT_LEAST_2, CONTAINS_ZERO, VARIANCE
from dpsco_core.bounds.lq.explicit import (
    GAUSSIAN,
    KAPPA,
    SMALLEST,
    VOID,
    Terms4,
    explicit_card,
    explicit_row,
    noise_rows,
)
from dpsco_core.methods.lq.inputs import Order
from dpsco_core.methods.lq.mirror_schedule import (
    NO_CHOICE,
    DescentChoice,
    MirrorInputs,
    descent_inputs,
    published_parameters,
    published_weight,
)
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.mechanisms.shaped import Calibration, Noise
from dpsco_core.problems.base import Setting

BOTH_ORDERS: tuple[Order, ...] = ("shuffled", "public")


def b4(
    inputs: MirrorInputs,
    steps: int,  # the number T of steps, from 1 to n
    # This is the threshold :math:`\tau`, for which the paper takes :math:`\beta M+\lambda`.
    threshold: float,
    # This is the step weight :math:`\gamma`; None is the best one, `best_weight`.
    step_weight: float | None = None,
) -> Terms4:
    r"""Return B4, an explicit bound on the mean excess risk over data and noise.

    .. math:: \frac{\gamma D_\Phi(w^*,w_0)}T+\frac{V_g+V_z}{2(\gamma-\beta)}+MB,\quad\gamma>\beta

    with :math:`V_g, V_z, B` of `MirrorInputs.errors`. The terms are those of optimisation,
    sampling, noise and bias, and their sum is the bound. It is sharper than that of
    theory/su-zhao-wang.md, 3.6, in three ways: the two variances add without a factor 2, because
    noise and records are independent and the norm is smooth; the bias is the one that the proof
    gives; and the threshold is free.
    """
    return _b4_formula(inputs, steps, step_weight)(threshold)


def _b4_formula(
    inputs: MirrorInputs, steps: int, step_weight: float | None = None
) -> Callable[[float], Terms4]:
    """Return the terms of `b4` at a number of steps, as a function of the threshold.

    The function is for searches, which call it many times.
    """
    errors, smoothness, diameter = inputs.errors_after(steps), inputs.smoothness, inputs.diameter

    def terms(threshold: float) -> Terms4:
        """Return the terms of bound B4 at a threshold."""
        bias, sampling, noise = errors(threshold)
        if not math.isfinite(noise):
            return VOID
        spread = sampling + noise
        weight = best_weight(inputs, steps, spread) if step_weight is None else step_weight
        room, start = weight - smoothness, weight * inputs.divergence / steps
        if spread == 0:
            return start, 0.0, 0.0, diameter * bias
        if room <= 0:
            return VOID
        return start, sampling / (2 * room), noise / (2 * room), diameter * bias

    return terms


def _least_b4_formula(inputs: MirrorInputs, steps: int) -> Callable[[float], float]:
    r"""Return the sum of `b4`'s terms at its best step weight, as a function of the threshold.

    It is :math:`\frac{\beta D_\Phi}T+\sqrt{2VD_\Phi/T}+MB` with :math:`V=V_g+V_z`.
    """
    errors, diameter = inputs.errors_after(steps), inputs.diameter
    start, pace = inputs.smoothness * inputs.divergence / steps, 2 * inputs.divergence / steps

    def value(threshold: float) -> float:
        """Return bound B4, the sum of its terms, at a threshold."""
        bias, sampling, noise = errors(threshold)
        return start + math.sqrt(pace * (sampling + noise)) + diameter * bias

    return value


def best_weight(inputs: MirrorInputs, steps: int, spread: float) -> float:
    r"""Return the step weight that minimises `b4`, :math:`\gamma=\beta+\sqrt{TV/(2D_\Phi)}`.

    V is `spread`, the sum of both variances of the steps.
    """
    return inputs.smoothness + math.sqrt(steps * spread / (2 * inputs.divergence))


@lru_cache(maxsize=4096)
def best_b4(inputs: MirrorInputs) -> DescentChoice:
    """Return the steps, the threshold and the step weight that minimise `b4`, and the bound there.

    If the bound is infinite for all of them, so is the result's value, and its parameters mean
    nothing.
    """
    scale = max(inputs.gradient_bound, math.sqrt(inputs.variance), 1e-300)

    @lru_cache(maxsize=256)
    def best(steps: int) -> tuple[float, float]:
        """Return the smallest bound at a number of steps, and its threshold."""
        value = _least_b4_formula(inputs, steps)

        log = best_log(
            lambda log: value(inputs.gradient_bound + math.exp(log)),
            math.log(scale) - 5.0,
            math.log(scale) + 15.0,
        )[1]
        # The bias has kinks at the thresholds above which nothing is clipped, and at the threshold
        # where it equals sigma.
        kinks = [t for t in (inputs.lipschitz, 2 * inputs.gradient_bound) if 0 < t < math.inf]
        tried = [(value(t), t) for t in (*kinks, inputs.gradient_bound + math.exp(log))]
        return smallest_or(tried, lambda pair: pair[0], (math.inf, math.inf))

    try:
        inputs.check_finite()
        coarse_count = best_count(lambda t: best(t)[0], inputs.n, what="number of steps")
    except NotApplicable:
        return NO_CHOICE
    steps = smallest_or(near_splits(inputs.n, coarse_count), lambda t: best(t)[0], coarse_count)
    smallest, threshold = best(steps)
    weight = best_weight(inputs, steps, sum(inputs.errors(steps, threshold)[1:]))
    return DescentChoice(steps, threshold, weight, smallest)


def better_descent(
    setting: Setting, orders: tuple[Order, ...], noise: Noise, calibration: Calibration
) -> MirrorInputs:
    """Return the inputs of `b4` for the order of records that has the smallest bound.

    Shuffling lowers the noise at few budgets only (theory/su-zhao-wang.md, 2.5 (c)). The choice
    does not depend on data. If the bound is infinite for all orders, the first one is taken.
    """
    candidates = [descent_inputs(setting, order, noise, calibration) for order in orders]
    return smallest_or(candidates, lambda inputs: best_b4(inputs).value, candidates[0])


def descent_risk(
    orders: tuple[Order, ...], setting: Setting, noise: Noise, calibration: Calibration
) -> Terms4:
    """Return the terms of `b4` for Algorithm 4 at a setting, in the best of the `orders`.

    An order is "shuffled", or "public" for batches. The terms are those of optimisation, sampling,
    noise and clipping bias. In the tight calibration steps, threshold and weight minimise their
    sum; in the paper's they are those of `published_parameters`. For q > 2 the bound is in l2.
    """
    if calibration == "tight":
        inputs = better_descent(setting, orders, noise, calibration)
        best = best_b4(inputs)
        return VOID if math.isinf(best.value) else b4(inputs, *best[:3])

    def at_published(inputs: MirrorInputs) -> Terms4:
        """Return the terms of `b4` at the parameters that the paper prints."""
        is_certified = 0 < inputs.variance < math.inf and math.isfinite(
            inputs.smoothness * inputs.gradient_bound
        )
        if not isinstance(setting.budget, ApproxDP) or not is_certified:
            return VOID
        shuffled = "shuffled" in orders
        steps, threshold = published_parameters(
            setting, inputs, shuffled=shuffled, most_steps=inputs.n
        )
        return b4(inputs, steps, threshold, published_weight(inputs, steps, threshold))

    descents = (descent_inputs(setting, order, noise, calibration) for order in orders)
    return smallest_or(map(at_published, descents), math.fsum, VOID)


_TERMS = ("optimisation", "sampling", "privacy noise", "clipping bias")
_NEEDS = ("diameter", "mean_gradient_bound", "smoothness")
_TAILS = (SMOOTH, DIAMETER, GRADIENT_BOUND, VARIANCE, CONTAINS_ZERO)
_B4_HEAD = r"\frac{\gamma\kappa R_q^2}{2T}+\frac{V}{2(\gamma-\beta)}+MB,\ "
_B4_TAIL = (
    r",\ B=\min\Big\{\frac{\sigma^2}\lambda\Big(1+\frac G\lambda\Big),\sigma_0\Big\},\ "
    r"\sigma_0=\sigma\max\{1,\tfrac G\lambda\}\ "
    r"(B=0\text{ and }\sigma_0=\sigma\text{ if }G+\lambda\ge L),\ G\ge\|\nabla F\|_{q'},\ "
    r"V_z\text{ the energy of a batch's noise}"
)
_B4 = (
    _B4_HEAD
    + r"V=\frac{\kappa(\sigma_0+B)^2}{\lfloor n/T\rfloor}+V_z\ (\text{no }B\text{ if }q=2)"
    + _B4_TAIL
    + r",\ "
    + KAPPA
)
# In l2, kappa is 1, and the spread of the truncated gradients about their own mean is smaller.
_B4_EUCLIDEAN = (
    (_B4_HEAD + r"V=\frac{\sigma_0^2}{\lfloor n/T\rfloor}+V_z" + _B4_TAIL)
    .replace(r"\kappa R_q", " R_2")
    .replace("_{q'}", "_2")
)
_MINIMUM = r"\min_{T,\lambda,\gamma}"
_WEIGHT = r"\gamma=\max\Big\{2\beta,\frac{\sqrt{2TV/\kappa}}M\Big\}"
DESCENT_RISKS: tuple[Bound, ...] = (
    *noise_rows(
        explicit_card(
            "shuffled-mirror-descent",
            "Shuffled mirror descent, proven",
            "Algorithm 4, explicit bound at its best steps, threshold and weight",
            f"{SMALLEST}, with noise for every record if shuffling makes that better than noise "
            f"for every batch. {OTHER_PARAMETERS}",
            _MINIMUM + _B4,
            losses=classes.SMOOTH,
        ),
        _TERMS,
        _NEEDS,
        partial(descent_risk, BOTH_ORDERS),
        _TAILS,
        paper_statement="Algorithm 4, explicit bound at the steps and threshold of Theorem 10",
        paper_latex=_B4 + r",\ T=\frac{n\varepsilon\kappa_0}{\sqrt{d\ln(1/\delta)}},\ \lambda="
        r"\max\Big\{G,\frac{\sigma\sqrt{n\varepsilon}}{(\kappa_0^2d\ln(1/\delta))^{1/4}}"
        r"\Big\},\ " + _WEIGHT,
    ),
    *noise_rows(
        explicit_card(
            "batched-mirror-descent",
            "Batched mirror descent, proven",
            "Algorithm 4 without shuffling, explicit bound at its best parameters",
            f"{SMALLEST}, with noise for every batch. {OTHER_PARAMETERS}",
            _MINIMUM + _B4,
            losses=classes.SMOOTH,
        ),
        _TERMS,
        _NEEDS,
        partial(descent_risk, ("public",)),
        _TAILS,
        paper_statement="Algorithm 4 without shuffling, explicit bound at parameters of the rate",
        paper_latex=_B4
        + r",\ T=\Big(\frac{n\varepsilon\kappa_0}{\sqrt{d\ln(1/\delta)}}\Big)^{2/3},"
        r"\ \lambda=\max\Big\{G,\frac{\sigma(n\varepsilon)^{1/3}}"
        r"{\kappa_0^{2/3}(d\ln(1/\delta))^{1/6}}\Big\},\ " + _WEIGHT,
    ),
    explicit_row(
        explicit_card(
            "euclidean-reduction",
            "Heavy tails by way of l2, proven",
            "Algorithm 4 in l2, with or without shuffling, at its best parameters",
            "The mean excess risk with every constant proven, in l2, at the parameters that make "
            "this bound smallest; noise for every record or for every batch, whichever is better. "
            + OTHER_PARAMETERS
            + GAUSSIAN,
            _MINIMUM + _B4_EUCLIDEAN,
            losses=classes.SMOOTH,
        ),
        _TERMS,
        _NEEDS,
        lambda setting: (
            VOID
            if setting.exponent < 2
            else descent_risk(BOTH_ORDERS, setting, "gaussian", "tight")
        ),
        (AT_LEAST_2, GAUSSIAN_BUDGET, *_TAILS),
    ),
)
