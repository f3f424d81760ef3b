r"""Truncated mirror descent in batches, with every constant proven: Su et al. (2023), Algorithm 4.

B4 of theory/su-zhao-wang.md, 3.6, is in `dpsco_core.methods.lq.mirror_schedule`, which the methods
share; here it is evaluated at a setting. Infinite where the exponent, the budget or a constant does
not allow the method.
"""

import math
from dataclasses import replace

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.search import smallest_or
from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.conditions import GAUSSIAN_BUDGET
from dpsco_core.bounds.euclidean.conditions import DIAMETER, GRADIENT_BOUND, SMOOTH
from dpsco_core.bounds.euclidean.tools import OTHER_PARAMETERS
from dpsco_core.bounds.lq.conditions import AT_LEAST_2, AT_MOST_2, CONTAINS_ZERO, VARIANCE
from dpsco_core.bounds.lq.explicit import (
    GAUSSIAN,
    KAPPA,
    PAPER_BUDGET,
    PRINTED,
    PRINTED_KAPPA,
    SHAPED,
    VOID,
    Terms4,
    row,
    variant,
)
from dpsco_core.bounds.lq.regularized import CARD
from dpsco_core.methods.lq.inputs import better_descent, descent
from dpsco_core.methods.lq.mirror_schedule import (
    MirrorInputs,
    b4,
    batched_parameters,
    best_b4,
    theorem_10,
)
from dpsco_core.methods.lq.noise import Order
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.generalized_gaussian import Calibration, Noise
from dpsco_core.problems.base import Setting

BOTH: tuple[Order, ...] = ("shuffled", "public")
BATCHES: tuple[Order, ...] = ("public",)
_B4_TERMS = ("optimisation", "sampling", "privacy noise", "clipping bias")
_HEAVY_NEEDS = ("diameter", "mean_gradient_bound", "smoothness")
_TAILS = (GAUSSIAN_BUDGET, SMOOTH, DIAMETER, GRADIENT_BOUND, VARIANCE, CONTAINS_ZERO)
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
# In l2, kappa is 1 and the truncated gradients' spread about their own mean is the smaller one.
_B4_EUCLIDEAN = (
    (_B4_HEAD + r"V=\frac{\sigma_0^2}{\lfloor n/T\rfloor}+V_z" + _B4_TAIL)
    .replace(r"\kappa R_q", " R_2")
    .replace("_{q'}", "_2")
)
_WEIGHT = r"\gamma=\max\Big\{2\beta,\frac{\sqrt{2TV/\kappa}}M\Big\}" + PRINTED_KAPPA


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
            return VOID
        return b4(at, best.steps, best.threshold, best.step_weight)
    found = (descent(setting, order, noise, calibration) for order in orders)
    return smallest_or((_at_published(setting, at, orders) for at in found), math.fsum, VOID)


def _at_published(setting: Setting, at: MirrorInputs, orders: tuple[Order, ...]) -> Terms4:
    r"""B4 at T and lambda of the statement, in units in which :math:`\sigma=M=1`.

    The paper hides them. :math:`\tau=G+\max\{\sigma\lambda,G\}`, and
    :math:`\gamma=\max\{2\beta,\sqrt{2TV/(\kappa M^2)}\}`: theory/su-zhao-wang.md, 2.5 (d) and (e).
    """
    budget = setting.budget
    known = 0 < at.variance < math.inf and math.isfinite(at.smoothness * at.gradient_bound)
    if not isinstance(budget, ApproxDP) or not known:
        return VOID
    parameters = theorem_10 if "shuffled" in orders else batched_parameters
    found = parameters(at.n, at.space, 1.0, budget.epsilon, budget.delta)
    room = max(math.sqrt(at.variance) * found.truncation, at.gradient_bound)
    steps, threshold = min(at.n, max(1, round(found.steps))), at.gradient_bound + room
    _, sampling, noise = at.errors(steps, threshold)
    spread = math.sqrt(2 * steps * (sampling + noise) / at.space.kappa)
    weight = max(2 * at.smoothness, spread / at.diameter)
    return b4(at, steps, threshold, weight)


def _small(
    setting: Setting, orders: tuple[Order, ...], noise: Noise, calibration: Calibration = "tight"
) -> tuple[float, ...]:
    if setting.exponent > 2:
        return (math.inf,) * 4
    return descent_risk(setting, orders, noise, calibration)


def _large(setting: Setting) -> tuple[float, ...]:
    if setting.exponent < 2:
        return (math.inf,) * 4
    return descent_risk(setting, BOTH, "gaussian")


_SHUFFLED = replace(
    CARD,
    slug="upper.lp.shuffled-mirror-descent-explicit",
    name="Shuffled mirror descent, proven",
    statement="Algorithm 4, explicit bound at its best steps, threshold and weight",
    summary="The mean excess risk with every constant proven, at the parameters that make this "
    "bound smallest, with noise for every record if shuffling makes that better than noise for "
    "every batch. " + OTHER_PARAMETERS + " " + GAUSSIAN,
    latex=r"\min_{T,\lambda,\gamma}" + _B4,
    method="lp.shuffled-mirror-descent",
    loss_class=classes.SMOOTH,
)
_BATCHED = replace(
    _SHUFFLED,
    slug="upper.lp.batched-mirror-descent-explicit",
    name="Batched mirror descent, proven",
    statement="Algorithm 4 without shuffling, explicit bound at its best parameters",
    summary="The mean excess risk with every constant proven, at the parameters that make this "
    "bound smallest, with noise for every batch. " + OTHER_PARAMETERS + " " + GAUSSIAN,
    method="lp.batched-mirror-descent",
)
DESCENT_RISKS: tuple[Bound, ...] = (
    row(
        _SHUFFLED,
        _B4_TERMS,
        _HEAVY_NEEDS,
        lambda setting: _small(setting, BOTH, "gaussian"),
        (AT_MOST_2, *_TAILS),
    ),
    row(
        variant(_SHUFFLED, "generalized", SHAPED, name="generalized Gaussian noise"),
        _B4_TERMS,
        _HEAVY_NEEDS,
        lambda setting: _small(setting, BOTH, "generalized gaussian"),
        (AT_MOST_2, *_TAILS),
    ),
    row(
        variant(
            _SHUFFLED,
            "paper",
            PRINTED,
            name="the paper's parameters",
            statement="Algorithm 4, explicit bound at the steps and threshold of Theorem 10",
            latex=_B4 + r",\ T=\frac{n\varepsilon\kappa_0}{\sqrt{d\ln(1/\delta)}},\ \lambda="
            r"\max\Big\{G,\frac{\sigma\sqrt{n\varepsilon}}{(\kappa_0^2d\ln(1/\delta))^{1/4}}"
            r"\Big\},\ " + _WEIGHT,
            privacy="approx",
        ),
        _B4_TERMS,
        _HEAVY_NEEDS,
        lambda setting: _small(setting, BOTH, "generalized gaussian", "paper"),
        (PAPER_BUDGET, AT_MOST_2, *_TAILS[1:]),
    ),
    row(
        _BATCHED,
        _B4_TERMS,
        _HEAVY_NEEDS,
        lambda setting: _small(setting, BATCHES, "gaussian"),
        (AT_MOST_2, *_TAILS),
    ),
    row(
        variant(_BATCHED, "generalized", SHAPED, name="generalized Gaussian noise"),
        _B4_TERMS,
        _HEAVY_NEEDS,
        lambda setting: _small(setting, BATCHES, "generalized gaussian"),
        (AT_MOST_2, *_TAILS),
    ),
    row(
        variant(
            _BATCHED,
            "paper",
            PRINTED,
            name="the paper's parameters",
            statement="Algorithm 4 without shuffling, explicit bound at parameters of the rate",
            latex=_B4 + r",\ T=\Big(\frac{n\varepsilon\kappa_0}{\sqrt{d\ln(1/\delta)}}\Big)^{2/3},"
            r"\ \lambda=\max\Big\{G,\frac{\sigma(n\varepsilon)^{1/3}}"
            r"{\kappa_0^{2/3}(d\ln(1/\delta))^{1/6}}\Big\},\ " + _WEIGHT,
            privacy="approx",
        ),
        _B4_TERMS,
        _HEAVY_NEEDS,
        lambda setting: _small(setting, BATCHES, "generalized gaussian", "paper"),
        (PAPER_BUDGET, AT_MOST_2, *_TAILS[1:]),
    ),
    row(
        replace(
            _SHUFFLED,
            slug="upper.lp.euclidean-reduction-explicit",
            name="Heavy tails by way of l2, proven",
            statement="Algorithm 4 in l2, with or without shuffling, at its best parameters",
            summary="The mean excess risk with every constant proven, in l2, at the parameters "
            "that make this bound smallest; noise for every record or for every batch, whichever "
            "is better. " + OTHER_PARAMETERS + " " + GAUSSIAN,
            latex=r"\min_{T,\lambda,\gamma}" + _B4_EUCLIDEAN,
            method="lp.euclidean-reduction",
        ),
        _B4_TERMS,
        _HEAVY_NEEDS,
        _large,
        (AT_LEAST_2, *_TAILS),
    ),
)
