"""Excess risk of strongly convex descent on fresh blocks: Kamath et al. (2022), Theorem 5.7."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from dpsco_core.base import loss_classes as classes
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, lettered
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    GAUSSIAN_BUDGET,
    moment_scale,
    scaled_mean_bound,
)
from dpsco_core.bounds.euclidean import rates as sco_rates
from dpsco_core.bounds.euclidean import strong_formulas as sco_strong
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    GRADIENT_BOUND,
    MINIMUM_INTERIOR,
    SMOOTH,
    STRONG_PROBLEMS,
    STRONGLY_CONVEX,
    at_least,
    named,
)
from dpsco_core.bounds.euclidean.coordinatewise import CARD
from dpsco_core.bounds.euclidean.tools import ASSUMPTION_2_12, OTHER_PARAMETERS, RATE_TERMS, signal
from dpsco_core.bounds.mean.rates import mean_rate_cdp
from dpsco_core.bounds.tools import HINGE
from dpsco_core.problems.base import Setting

_STRONG_NEEDS = (
    "gaussian_rho",
    "coordinate_moment",
    "diameter",
    "mean_gradient_bound",
    "smoothness",
    "strong_convexity",
)


def _strong_rate(setting: Setting) -> tuple[float, ...]:
    c = setting.constants
    scale = moment_scale(setting)
    terms = sco_rates.strong(setting.n, setting.d, setting.moment_order, setting.gaussian_rho)
    factor = sco_rates.strong_factor(c.diameter, c.strong_convexity, c.smoothness)
    return tuple(scale**2 * factor * term for term in terms)


def _strong_explicit(*, parallel: bool, summed: bool) -> Callable[[Setting], tuple[float, ...]]:
    def formula(setting: Setting) -> tuple[float, ...]:
        c = setting.constants
        scale = moment_scale(setting)
        risk = sco_strong.best_risk(
            setting.n,
            setting.d,
            setting.moment_order,
            c.diameter,
            scaled_mean_bound(setting),
            c.strong_convexity / scale,
            c.smoothness / scale,
            setting.gaussian_rho,
            parallel,
            summed,
        )
        return tuple(scale * part for part in risk.parts)

    return formula


def _start(setting: Setting) -> tuple[float, float, float]:
    """Return G of the theorem with constant 1, the limit it must stay below, and ln q."""
    c = setting.constants
    scale = moment_scale(setting)
    needed = (c.strong_convexity, c.smoothness, scale, setting.gaussian_rho)
    if min(needed) <= 0 or math.inf in needed:
        return math.nan, math.nan, math.nan
    deviation = scale * math.fsum(
        mean_rate_cdp(setting.n, setting.d, setting.moment_order, setting.gaussian_rho)
    )
    weak, strong = sorted((c.strong_convexity, c.smoothness))
    limit = weak * (strong / (weak + strong))
    share = weak / (weak + strong) * (strong / (weak + strong))
    return deviation, limit, math.log1p(-share)


def _paper_steps(setting: Setting) -> float:
    r"""Return :math:`T=\lceil\ln\frac{(\lambda+L)G}{\lambda L}/\ln q\rceil`, at least 1, or NaN."""
    deviation, limit, log_contraction = _start(setting)
    if math.isnan(deviation):
        return math.nan
    return max(1.0, math.ceil(math.log(deviation / limit) / log_contraction))


def _converges(setting: Setting) -> str:
    deviation, limit, _ = _start(setting)
    if math.isnan(deviation) or deviation < limit:
        return ""
    return (
        f"The statement needs G < lambda L/(lambda + L) = {limit:.3g}, and with constant 1 "
        f"G={deviation:.3g} at n={setting.n}."
    )


def _strong_threshold(setting: Setting) -> float:
    steps = _paper_steps(setting)
    if math.isnan(steps):
        return math.nan
    return math.pow(signal(setting, 0.5, 1.0) / steps**1.5, 1 / setting.moment_order)


def _blocks_filled(setting: Setting) -> str:
    steps = _paper_steps(setting)
    if math.isnan(steps):
        return ""
    n, d = setting.n, setting.d
    bracket = math.sqrt(d / setting.gaussian_rho) * steps**1.5 / n
    failure = steps * d / n + d * math.pow(bracket, 2 - 2 / setting.moment_order)
    blocks = math.ceil(4 * math.log(2 * d / min(failure, 0.5)))
    if n / steps >= blocks:
        return ""
    return (
        f"The statement needs n/T >= m = {blocks} records a step, and n/T={n / steps:.4g} at "
        f"T={steps:g}."
    )


_STRONG_CARD = replace(
    CARD,
    slug="upper.sco.cwme-strong",
    name="Strongly convex SCO, coordinate-wise, rate",
    statement="Theorem 5.7",
    summary="The theorem's rate for strongly convex risks, with its factor (M+1)^2, which is not "
    "in the units of the problem; logarithms and constants are set to 1.",
    latex=r"\frac{(M+1)^2(\lambda+L)^2}{\lambda^2L}"
    r"\Big[\frac dn+d\Big(\frac{\sqrt d}{\sqrt\rho\,n}\Big)^{2-2/p}\Big]",
    method="sco.cwme-strong",
    loss_class=classes.SMOOTH_STRONG,
    problems=STRONG_PROBLEMS,
)
_STRONG_CONDITIONS = (
    GAUSSIAN_BUDGET,
    COORDINATE_MOMENT,
    DIAMETER,
    GRADIENT_BOUND,
    SMOOTH,
    STRONGLY_CONVEX,
    MINIMUM_INTERIOR,
)
_STRONG_TERMS = ("optimisation", "sampling", "clipping bias", "privacy noise")
_STRONG_LATEX = r"\min_{T,\tau}\frac L2\Big(q^TM+(1-q^T)\frac{\lambda+L}{\lambda L}G\Big)^2,\ "
_STRONG_DEVIATION = (
    r"G^2=\frac db+d\,h_p(3\tau-R)^2+\frac{18\tau^2d^2}{%s\,b^2},\ b=\lfloor n/T\rfloor,\ "
    r"q=1-\frac{\lambda L}{(\lambda+L)^2},\ " + HINGE
)
_STRONG_LETTERS = (
    letters.SMOOTH,
    Letter("q", "contraction of a step"),
    Letter("G", "deviation of the estimated gradient"),
)
_STRONG_COORDINATEWISE_RISKS: tuple[Bound, ...] = (
    Bound(
        card=_STRONG_CARD,
        evaluate=named(
            RATE_TERMS,
            ("gaussian_rho", "coordinate_moment", "diameter", "smoothness", "strong_convexity"),
            _strong_rate,
        ),
        letters=letters.ESTIMATED,
        hypotheses=(
            *ASSUMPTION_2_12,
            SMOOTH,
            STRONGLY_CONVEX,
            Hypothesis(text="G < lambda L/(lambda + L)", check=_converges),
            at_least("sqrt(rho) n >= 10^p sqrt(d) T^(3/2)", "tau", 10.0, _strong_threshold),
            Hypothesis(text="n/T >= m", check=_blocks_filled),
        ),
    ),
    Bound(
        card=replace(
            _STRONG_CARD,
            slug="upper.sco.cwme-strong-explicit",
            name="Strongly convex SCO, coordinate-wise, proven",
            statement="Theorem 3.2 by Minkowski's inequality, m = 1, parallel composition",
            summary="The mean excess risk with every constant proven, for clipped averages of "
            "disjoint blocks that each spend the whole budget, at the clipping level and number of "
            "steps that make this bound smallest. " + OTHER_PARAMETERS,
            constant="explicit",
            latex=_STRONG_LATEX + _STRONG_DEVIATION % r"\rho",
        ),
        evaluate=named(_STRONG_TERMS, _STRONG_NEEDS, _strong_explicit(parallel=True, summed=False)),
        hypotheses=_STRONG_CONDITIONS,
    ),
    Bound(
        card=replace(
            _STRONG_CARD,
            slug="upper.sco.cwme-strong-explicit-divided",
            name="Strongly convex SCO, coordinate-wise, proven, divided budget",
            statement="Theorem 3.2 by Minkowski's inequality, m = 1, rho/T a step",
            summary="The same bound when each of the T steps spends a T-th of the budget, as the "
            "paper has it, although blocks are disjoint. " + OTHER_PARAMETERS,
            constant="explicit",
            latex=_STRONG_LATEX + _STRONG_DEVIATION % r"(\rho/T)",
        ),
        evaluate=named(
            _STRONG_TERMS, _STRONG_NEEDS, _strong_explicit(parallel=False, summed=False)
        ),
        hypotheses=_STRONG_CONDITIONS,
    ),
    Bound(
        card=replace(
            _STRONG_CARD,
            slug="upper.sco.cwme-strong-framework",
            name="Strongly convex SCO, coordinate-wise, printed framework",
            statement="Theorem 3.2, second display, with T + 1 for T",
            summary="The paper's own sum over the steps, through the proven oracle with rho/T a "
            "step, at the number of steps that makes it smallest. " + OTHER_PARAMETERS,
            constant="explicit",
            latex=r"\min_{T,\tau}\frac L2(T+1)\Big(q^{2T}M^2+"
            r"\frac{(\lambda+L)^2G^2}{2\lambda L(\lambda+L)^2-\lambda^2L^2}\Big),\ "
            + _STRONG_DEVIATION
            % r"(\rho/T)",
        ),
        evaluate=named(_STRONG_TERMS, _STRONG_NEEDS, _strong_explicit(parallel=False, summed=True)),
        hypotheses=_STRONG_CONDITIONS,
    ),
)
STRONG_COORDINATEWISE_RISKS = lettered(_STRONG_LETTERS, _STRONG_COORDINATEWISE_RISKS)
