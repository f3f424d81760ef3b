"""Upper bounds of smoothed truncation: Kamath et al. (2022), Algorithm 4."""

from __future__ import annotations

from dataclasses import replace

from dpsco_core.base.cards import KAMATH_2022, BoundCard
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Hypothesis, Terms, lettered
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    GAUSSIAN_BUDGET,
    MEAN_BOUND,
    moment_scale,
    scaled_mean_bound,
)
from dpsco_core.bounds.mean import coordinatewise_formulas as upper_coordinatewise
from dpsco_core.bounds.mean import rates
from dpsco_core.bounds.mean import smoothed_formulas as upper_smoothed
from dpsco_core.bounds.tools import BETA, SMALL_MEAN, root_sum_square, sum_terms
from dpsco_core.problems.base import Setting


def _smoothed_rate_terms(setting: Setting) -> Terms:
    sampling, privacy = rates.smoothed_rate(setting.n, setting.d, setting.gaussian_rho)
    scale = moment_scale(setting)
    return {"sampling": scale * sampling, "privacy": scale * privacy}


def _smoothed_expected_terms(setting: Setting) -> Terms:
    parts = upper_smoothed.mean_square(
        setting.n, setting.d, scaled_mean_bound(setting), setting.gaussian_rho
    )
    return sum_terms(parts.scaled(moment_scale(setting)))


def _smoothed_probability_terms(setting: Setting) -> Terms:
    parts = upper_smoothed.high_probability(
        setting.n, setting.d, scaled_mean_bound(setting), setting.gaussian_rho, BETA
    )
    return sum_terms(parts.scaled(moment_scale(setting)))


def _printed_level(setting: Setting) -> str:
    tau = upper_coordinatewise.printed_threshold(
        setting.n, setting.d, 2.0, setting.gaussian_rho, "gaussian"
    )
    if setting.gaussian_rho <= 0 or tau >= 10:
        return ""
    return (
        f"The statement needs tau >= 10, that is n >= 100 sqrt(d/rho), "
        f"and tau={tau:.3g} at n={setting.n}."
    )


_LEVEL = Hypothesis(text="n >= 100 sqrt(d/rho)", check=_printed_level)
_OTHER_LEVEL = "The method's own tunings take other levels, and may err more."
_MOMENTS = r"\sum_jv_j=d+R^2,\ \sum_jv_j^2=d+2R^2+R^4,\ S_1=\tfrac{2\sqrt2}3(2\Phi(1)-1)"
_SMOOTHED_CARD = BoundCard(
    slug="upper.mean.smoothed",
    name="Noise smoothing, rate",
    paper=KAMATH_2022,
    statement="Algorithm 4, Lemma B.4 at a fixed point, balanced",
    summary="The rate of Holland's smoothed truncation, which uses second moments only, however "
    "light the tails; constants set to 1.",
    kind="upper",
    constant="rate",
    guarantee="expectation",
    latex=r"\sqrt{\frac dn}+\frac{d^{3/4}}{\rho^{1/4}\sqrt n}",
    privacy="zcdp",
    method="mean.smoothed",
)
_SMOOTHED_BOUNDS: tuple[Bound, ...] = (
    Bound(
        card=_SMOOTHED_CARD,
        evaluate=_smoothed_rate_terms,
        hypotheses=(GAUSSIAN_BUDGET, COORDINATE_MOMENT, SMALL_MEAN, _LEVEL),
    ),
    Bound(
        card=replace(
            _SMOOTHED_CARD,
            slug="upper.mean.smoothed-expected",
            name="Noise smoothing, proven mean error",
            statement="Algorithm 4, Lemma B.4 at a fixed point, explicit form (v)",
            summary="The mean error of smoothed truncation with smoothing variance 1, with every "
            "constant proven, at the truncation level that makes this bound smallest. "
            + _OTHER_LEVEL,
            constant="explicit",
            latex=r"\min_\tau\Big[\sum_j\Big(\frac{3v_j}{4\sqrt2\,\tau}\Big)^2+\frac2n\sum_jv_j+"
            r"\frac{2S_1^2\tau^2d^2}{\rho n^2}\Big]^{1/2},\ " + _MOMENTS,
        ),
        evaluate=_smoothed_expected_terms,
        combine=root_sum_square,
        hypotheses=(GAUSSIAN_BUDGET, COORDINATE_MOMENT, MEAN_BOUND),
    ),
    Bound(
        card=replace(
            _SMOOTHED_CARD,
            slug="upper.mean.smoothed-probability",
            name="Noise smoothing, proven at 95 %",
            statement="Algorithm 4, Lemma B.4 at a fixed point, explicit form (i)",
            summary="An error of smoothed truncation with smoothing variance 1 that is exceeded in "
            "at most 5 of 100 runs, with every constant proven, at the truncation level that makes "
            "this bound smallest. " + _OTHER_LEVEL,
            constant="explicit",
            guarantee="probability 0.95",
            latex=r"\min_\tau\frac1\tau\Big(\sum_jv_j^2\Big)^{1/2}+\frac{\sqrt d\,\tau}n"
            r"\ln\frac{4d}\beta+\sigma\Big(\sqrt d+\sqrt{2\ln\tfrac2\beta}\Big),\ "
            r"\sigma^2=\frac{2S_1^2\tau^2d}{\rho n^2},\ " + _MOMENTS,
        ),
        evaluate=_smoothed_probability_terms,
        hypotheses=(GAUSSIAN_BUDGET, COORDINATE_MOMENT, MEAN_BOUND),
    ),
)
SMOOTHED_BOUNDS = lettered(letters.BLOCKS, _SMOOTHED_BOUNDS)
