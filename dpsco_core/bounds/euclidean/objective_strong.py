r"""Excess risk of objective perturbation on strongly convex losses: Su et al. (2023), Theorem 4.

As in Theorem 2, on a symmetric set, with a modulus :math:`\Delta` in its norm. The explicit bound
is B2 of theory/su-zhao-wang.md, 3.2.
"""

import math
from collections.abc import Callable
from dataclasses import replace

from dpsco_core.base import loss_classes as classes
from dpsco_core.bounds.base import Bound, bound_like
from dpsco_core.bounds.euclidean.conditions import (
    KNOWN_HESSIANS,
    SAMPLE_STRONGLY_CONVEX,
    STRONG_PROBLEMS,
    named,
)
from dpsco_core.bounds.euclidean.objective import (
    A1,
    B_TERMS,
    CARD,
    HESSIAN_SIZE,
    LETTERS,
    NEEDS,
    NOISE_SIZE,
    RATE_TERMS,
    WIDTH,
    Objective,
    at_objective,
    growth,
    inradius,
    records,
)
from dpsco_core.bounds.lq.conditions import SYMMETRIC
from dpsco_core.problems.base import Setting


def rate_strong(at: Objective, modulus: float, *, printed: bool = False) -> tuple[float, float]:
    """Theorem 4 with modulus Delta; `printed` has a stray epsilon in the first term."""
    first = (at.lipschitz * at.diameter) ** 2 / (modulus * at.n)
    second = (at.lipschitz * at.width / (at.n * at.epsilon)) ** 2 * at.log_delta / modulus
    return (first / at.epsilon if printed else first), second


def accuracy_strong(at: Objective, modulus: float) -> float:
    r"""Return the largest alpha of Theorem 4.

    .. math::
        \min\Big\{\frac{L^2\|C\|_2^2}{\Delta n^2},\
        \frac{L^4\|C\|_2^6\varepsilon^2}{\Delta^3n^4G_C^2\ln(1/\delta)}\Big\}
    """
    first = (at.lipschitz * at.diameter / at.n) ** 2 / modulus
    ratio = at.lipschitz * at.diameter / (modulus * at.n)
    second = first * (ratio * at.epsilon * at.diameter / at.width) ** 2 / at.log_delta
    return min(first, second)


def regulariser_strong(
    at: Objective, smoothness: float, strong_convexity: float, rank: int
) -> float:
    r"""Return :math:`\lambda=\max\{0,\frac12[\frac{\beta-\mu}{n(e^{\varepsilon/(4r)}-1)}-\mu]\}`.

    mu is the l2 modulus of every record and r the rank of the Hessian's part that depends on the
    record: 0 for losses of mean type, whose Hessians cancel, otherwise d, because a modulus that
    is not separable leaves full rank. See theory/su-zhao-wang.md, 2.2.
    """
    if rank == 0:
        return 0.0
    need = (smoothness - strong_convexity) / (at.n * growth(at.epsilon / (4 * rank)))
    return max(0.0, (need - strong_convexity) / 2)


def explicit_strong(
    at: Objective, smoothness: float, strong_convexity: float, rank: int
) -> tuple[float, float, float, float, float]:
    r"""B2, for Algorithm 2 on a symmetric set: theory/su-zhao-wang.md, 3.2.

    Objective noise, with the half that the proof allows, regulariser, stability, optimiser, output
    noise, at :math:`\Delta=\mu C_{\min}^2`.
    """
    radius = at.diameter / 2
    modulus = strong_convexity * at.inradius**2
    alpha = accuracy_strong(at, modulus)
    output = at.output_std(alpha, modulus) * at.diameter
    noise = (at.objective_std / at.n) ** 2 * (at.width**2 + radius**2) / (2 * modulus)
    return (
        noise,
        regulariser_strong(at, smoothness, strong_convexity, rank) * radius**2,
        2 * (at.lipschitz * radius) ** 2 / (modulus * at.n),
        at.lipschitz * radius * math.sqrt(2 * alpha / modulus),
        at.lipschitz * math.sqrt(2 * output * at.width),
    )


def modulus(setting: Setting) -> float:
    """Delta, in the norm of a symmetric set: the l2 modulus times the squared inradius, or 0."""
    return setting.constants.sample_strong_convexity * inradius(setting) ** 2


def _rate_strong(printed: bool) -> Callable[[Objective, Setting], tuple[float, ...]]:
    def formula(at: Objective, setting: Setting) -> tuple[float, ...]:
        delta = modulus(setting)
        if delta == 0:
            return math.inf, math.inf
        return rate_strong(at, delta, printed=printed)

    return formula


def _explicit_strong(at: Objective, setting: Setting) -> tuple[float, ...]:
    c = setting.constants
    if modulus(setting) == 0:
        return (math.inf,) * 5
    rank = 0 if c.structure == "mean" else setting.d
    return explicit_strong(at, c.sample_smoothness, c.sample_strong_convexity, rank)


def _by_modulus(at: Objective, setting: Setting) -> float:
    delta = modulus(setting)
    if not 0 < delta < math.inf or math.isinf(at.lipschitz):
        return math.nan
    return (at.lipschitz * at.diameter / delta) ** 2


_STRONG_NEEDS = (*NEEDS, "sample_strong_convexity")
_STRONG_CARD = replace(
    CARD,
    slug="upper.sco.objective-perturbation-strong",
    name="Objective perturbation, strongly convex, rate",
    statement="Theorem 4 without its stray epsilon; Table 1",
    summary="The rate of objective perturbation on strongly convex losses, with the Gaussian "
    "width of the set; constants are set to 1.",
    latex=r"\frac{L^2D^2}{\Delta n}+\frac{L^2G^2\ln(1/\delta)}{\Delta n^2\varepsilon^2},\ "
    + WIDTH
    + r",\ \Delta=\lambda C_{\min}^2",
    method="sco.objective-perturbation-strong",
    loss_class=classes.SMOOTH_LIPSCHITZ_STRONG,
    problems=STRONG_PROBLEMS,
)
_STRONG_RATE_CONDITIONS = (
    *A1,
    SYMMETRIC,
    SAMPLE_STRONGLY_CONVEX,
    KNOWN_HESSIANS,
    records("(L D / Delta)^2", _by_modulus),
    HESSIAN_SIZE,
    NOISE_SIZE,
)
STRONG_OBJECTIVE_RISKS: tuple[Bound, ...] = (
    Bound(
        card=_STRONG_CARD,
        evaluate=named(
            RATE_TERMS,
            ("lipschitz", "diameter", "sample_strong_convexity"),
            at_objective(2, _rate_strong(printed=False)),
        ),
        hypotheses=_STRONG_RATE_CONDITIONS,
    ),
    bound_like(
        _STRONG_CARD,
        slug="upper.sco.objective-perturbation-strong-paper",
        name="Objective perturbation, strongly convex, printed rate",
        statement="Theorem 4",
        summary="The theorem as printed, with an epsilon in the first denominator that the "
        "introduction and Table 1 do not have; constants are set to 1.",
        latex=r"\frac{L^2D^2}{\Delta n\varepsilon}+"
        r"\frac{L^2G^2\ln(1/\delta)}{\Delta n^2\varepsilon^2},\ "
        + WIDTH
        + r",\ \Delta=\lambda C_{\min}^2",
        evaluate=named(
            RATE_TERMS,
            ("lipschitz", "diameter", "sample_strong_convexity"),
            at_objective(2, _rate_strong(printed=True)),
        ),
        hypotheses=_STRONG_RATE_CONDITIONS,
    ),
    bound_like(
        _STRONG_CARD,
        slug="upper.sco.objective-perturbation-strong-explicit",
        name="Objective perturbation, strongly convex, proven",
        statement="Algorithm 2, explicit bound at the accuracy of Theorem 4",
        summary="The mean excess risk with every constant proven, for a minimiser as accurate "
        "as the theorem asks; rounding may keep a run from that accuracy, and its noise grows "
        "with it.",
        constant="explicit",
        latex=r"\frac{\sigma_1^2(G^2+\frac{D^2}4)}{2\Delta n^2}+\frac{\lambda'D^2}4+"
        r"\frac{L^2D^2}{2\Delta n}+\frac{LD}2\sqrt{\tfrac{2\alpha}\Delta}+L\sqrt{2\sigma_2G},\ "
        r"\sigma_1^2=\frac{128L^2\ln(2.5/\delta)}{\varepsilon^2},\ "
        r"\sigma_2^2=\frac{64\alpha D^2\ln(2.5/\delta)}{\Delta\varepsilon^2},\ "
        r"\alpha=\frac{L^2D^2}{\Delta n^2}\min\Big\{1,"
        r"\frac{L^2D^4\varepsilon^2}{\Delta^2n^2G^2\ln(1/\delta)}\Big\},\ "
        r"\lambda'=\max\Big\{0,\frac12\Big(\frac{\beta-\lambda}{n(e^{\varepsilon/(4d)}-1)}"
        r"-\lambda\Big)\Big\},\text{ 0 for the quadratic loss},\ "
        + WIDTH
        + r",\ \Delta=\lambda C_{\min}^2",
        evaluate=named(B_TERMS, _STRONG_NEEDS, at_objective(5, _explicit_strong)),
        letters=LETTERS,
        hypotheses=(*A1, SYMMETRIC, SAMPLE_STRONGLY_CONVEX, KNOWN_HESSIANS),
    ),
)
