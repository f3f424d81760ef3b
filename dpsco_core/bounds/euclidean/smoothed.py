"""Excess risk through smoothed truncation: Kamath et al. (2022), Theorem 5.5, and its prior."""

from __future__ import annotations

import math
from dataclasses import replace

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import KAMATH_2022, SCO_PROBLEMS, WANG_2020, BoundCard
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Letter, lettered
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    GAUSSIAN_BUDGET,
    moment_scale,
    scaled_mean_bound,
)
from dpsco_core.bounds.euclidean import rates as sco_rates
from dpsco_core.bounds.euclidean import uniform as sco_uniform
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    SAMPLE_SMOOTH,
    SMALL_BUDGET,
    SMALL_SMOOTHNESS,
    STRONG_PROBLEMS,
    STRONGLY_CONVEX,
    at_least,
    named,
)
from dpsco_core.bounds.euclidean.tools import (
    ASSUMPTION_2_12,
    EXPLICIT_CONDITIONS,
    OTHER_PARAMETERS,
    RATE_NEEDS,
    RATE_TERMS,
    RISK_NEEDS,
    RISK_TERMS,
    signal,
)
from dpsco_core.bounds.tools import root_sum_square
from dpsco_core.problems.base import Setting


def _rate(setting: Setting) -> tuple[float, ...]:
    diameter = setting.constants.diameter
    terms = sco_rates.smoothed(setting.n, setting.d, setting.gaussian_rho, diameter)
    return tuple(moment_scale(setting) * term for term in terms)


def _printed(setting: Setting) -> tuple[float, ...]:
    diameter = setting.constants.diameter
    terms = sco_rates.smoothed_printed(setting.n, setting.d, setting.gaussian_rho, diameter)
    return tuple(moment_scale(setting) * term for term in terms)


def _explicit(setting: Setting) -> tuple[float, ...]:
    c = setting.constants
    scale = moment_scale(setting)
    terms = sco_uniform.smoothed_risk(
        setting.n,
        setting.d,
        c.diameter,
        scaled_mean_bound(setting),
        c.sample_smoothness / scale,
        setting.gaussian_rho,
    )
    return tuple(scale * term for term in terms)


def _wang(setting: Setting) -> tuple[float, ...]:
    rate = sco_rates.wang(setting.n, setting.d, setting.gaussian_rho)
    return (moment_scale(setting) * setting.constants.diameter * rate,)


def _wang_strong(setting: Setting) -> tuple[float, ...]:
    rate = sco_rates.wang_strong(setting.n, setting.d, setting.gaussian_rho)
    return (moment_scale(setting) ** 2 / setting.constants.strong_convexity * rate,)


def _printed_threshold(setting: Setting) -> float:
    diameter = setting.constants.diameter
    if setting.gaussian_rho <= 0 or math.isinf(diameter):
        return math.nan
    power = sco_rates.best_power(setting.d, setting.gaussian_rho)
    return math.sqrt(signal(setting, power, diameter))


def _printed_steps(setting: Setting) -> float:
    tau = _printed_threshold(setting)
    bound = scaled_mean_bound(setting)
    if math.isnan(tau) or math.isinf(bound):
        return math.nan
    return bound * math.sqrt(setting.gaussian_rho) * setting.n / (tau * setting.d)


def _threshold(setting: Setting) -> float:
    if setting.gaussian_rho <= 0:
        return math.nan
    return math.sqrt(setting.n / (setting.d + math.sqrt(setting.d / setting.gaussian_rho)))


def _steps(setting: Setting) -> float:
    bound = scaled_mean_bound(setting)
    if setting.gaussian_rho <= 0 or math.isinf(bound):
        return math.nan
    root = math.sqrt(setting.gaussian_rho) * setting.n
    return bound * root / (_threshold(setting) * setting.d)


_CARD = BoundCard(
    slug="upper.sco.smoothed",
    name="SCO, noise smoothing, rate",
    paper=KAMATH_2022,
    statement="Lemma B.4 in Theorem 3.1 at the best level; sharper than Theorem 5.5",
    summary="The rate of gradient descent with Holland's smoothed truncation, which uses second "
    "moments only, at the level that balances its terms; logarithms and constants are set to 1.",
    kind="upper",
    quantity="excess risk",
    constant="rate",
    latex=r"2M\sqrt{\frac{d^2}n+\frac{d^{3/2}}{\sqrt\rho\,n}}",
    privacy="zcdp",
    method="sco.smoothed",
    loss_class=classes.SMOOTH,
    problems=SCO_PROBLEMS,
)
_WANG_CONDITIONS = (GAUSSIAN_BUDGET, SMALL_BUDGET, COORDINATE_MOMENT, DIAMETER, SAMPLE_SMOOTH)
_SMOOTHED_RISKS: tuple[Bound, ...] = (
    Bound(
        card=_CARD,
        evaluate=named(RATE_TERMS, RATE_NEEDS, _rate),
        combine=root_sum_square,
        hypotheses=(
            *ASSUMPTION_2_12,
            SMALL_SMOOTHNESS,
            at_least("n >= 100 (d + sqrt(d/rho))", "tau", 10.0, _threshold),
            at_least("R sqrt(rho) n >= tau d", "sqrt(T)", 1.0, _steps),
        ),
    ),
    Bound(
        card=replace(
            _CARD,
            slug="upper.sco.smoothed-paper",
            tables=("zhao",),
            name="SCO, noise smoothing, printed rate",
            statement="Theorem 5.5 at its best q; Zhao et al., Table I, method 2",
            summary="The theorem's rate as printed, at the q that makes its terms equal; its proof "
            "gives other powers of M and rho, so that it is right at M = rho = 1 only. Logarithms "
            "and constants are set to 1.",
            latex=r"\min_{1/2\le q\le2}\sqrt M\Big[\frac{d^{(3-q)/2}}{\sqrt n}+"
            r"\frac{d^{(1+q)/2}}{\rho^{1/4}\sqrt n}\Big]",
        ),
        evaluate=named(RATE_TERMS, RATE_NEEDS, _printed),
        letters=(letters.SMOOTH, Letter("q", "a free power, the best one")),
        hypotheses=(
            *ASSUMPTION_2_12,
            SMALL_SMOOTHNESS,
            at_least("sqrt(rho) n >= 100 M d^q", "tau", 10.0, _printed_threshold),
            at_least("R sqrt(rho) n >= tau d", "sqrt(T)", 1.0, _printed_steps),
        ),
    ),
    Bound(
        card=replace(
            _CARD,
            slug="upper.sco.smoothed-explicit",
            name="SCO, noise smoothing, proven",
            statement="Theorem 3.1 with Lemma B.4, explicit and uniform over the set",
            summary="The mean excess risk with smoothing variance 1 and every constant proven, at "
            "the truncation level that makes this bound smallest and the number of steps at which "
            "noise is as large as R. " + OTHER_PARAMETERS,
            constant="explicit",
            latex=r"\min_\tau M\sqrt{\tfrac2T\big(R^2+G^2\big)}+MB,\ "
            r"G^2=S^2+\frac{2S_1^2\tau^2d^2T}{\rho n^2}+r^2f,\ B=S+rf,\ "
            r"T=\max\Big(1,\Big\lfloor\frac{\rho n^2R^2}{2S_1^2\tau^2d^2}\Big\rfloor\Big),\ "
            r"S=\frac{LM(\sqrt2+1)}{n^3}+\frac1\tau\sqrt{d+2R^2+R^4}+"
            r"\frac{\sqrt d\,\tau\ln(2d/f^2)}n,\ f=(3n^3)^{-d},\ r=\tau S_1\sqrt d+R,\ "
            r"S_1=\tfrac{2\sqrt2}3(2\Phi(1)-1)",
        ),
        evaluate=named(RISK_TERMS, RISK_NEEDS, _explicit),
        hypotheses=EXPLICIT_CONDITIONS,
    ),
    Bound(
        card=replace(
            _CARD,
            slug="upper.sco.prior-wang",
            tables=("zhao",),
            name="Wang et al., corrected rate",
            paper=WANG_2020,
            statement="convex, as corrected by Kamath et al., section 1.1; Zhao et al., Table I",
            summary="The first rate for heavy-tailed data, with second moments; the published one "
            "had d^2 for d^3. Logarithms and constants are set to 1, and the diameter and the "
            "moment give its units.",
            latex=r"M\Big(\frac{d^3}{\rho\,n}\Big)^{1/3}",
            method="",
        ),
        evaluate=named(("privacy",), RATE_NEEDS, _wang),
        hypotheses=_WANG_CONDITIONS,
    ),
    Bound(
        card=replace(
            _CARD,
            slug="upper.sco.prior-wang-strong",
            name="Wang et al., corrected rate, strongly convex",
            paper=WANG_2020,
            statement="strongly convex, as corrected by Kamath et al., section 1.1",
            summary="The first rate for heavy-tailed data and strongly convex risks, with second "
            "moments; the published one had d^2 for d^3. Logarithms and constants are set to 1, "
            "and the moment and the strong convexity give its units.",
            latex=r"\frac1\lambda\,\frac{d^3}{\rho\,n}",
            method="",
            loss_class=classes.SMOOTH_STRONG,
            problems=STRONG_PROBLEMS,
        ),
        evaluate=named(
            ("privacy",), ("gaussian_rho", "coordinate_moment", "strong_convexity"), _wang_strong
        ),
        hypotheses=(*_WANG_CONDITIONS, STRONGLY_CONVEX),
    ),
)
SMOOTHED_RISKS = lettered(letters.ESTIMATED, _SMOOTHED_RISKS)
