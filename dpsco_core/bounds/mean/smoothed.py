r"""Smoothed truncation (Holland's estimator): Kamath et al. (2022), Algorithm 4.

Fixed-point bounds for laws whose coordinates have central second moments at most 1 (implied by a
k-th moment at most 1) and whose mean has norm at most R, so that :math:`v_j=E X_j^2` obeys
:math:`\sum v_j\le d+R^2` and :math:`\sum v_j^2\le d+2R^2+R^4`. Smoothing variance c; the noise is
what the sensitivity :math:`2\tau S_c\sqrt d/n` needs. See theory/kamath-liu-zhang.md, 2.3 and 3.3.
"""

import math
from dataclasses import replace

from dpsco_core.base.cards import KAMATH_2022, BoundCard
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Hypothesis, bound_like, set_letters
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    GAUSSIAN_BUDGET,
    MEAN_BOUND,
    moment_scale,
    scaled_mean_bound,
)
from dpsco_core.bounds.mean.coordinatewise import printed_threshold
from dpsco_core.bounds.rate import bound_at_rate, two_terms
from dpsco_core.bounds.tools import (
    BETA,
    SMALL_MEAN,
    Parts,
    check_beta,
    root_sum_square,
    terms_of,
)
from dpsco_core.methods.records.smooth_clip import smoothed_supremum
from dpsco_core.problems.base import Setting

# The truncation phi satisfies |phi(u) - u| <= SECOND_ORDER u^2: theory/kamath-liu-zhang.md, 3.3.
SECOND_ORDER = 3 / (8 * math.sqrt(2))


# The method has this rate, that of Corollary 4.2 of Kamath et al. (2022) at p = 2, at every order:
# by Lemma B.4 in its fixed-point form, at the truncation level that balances bias and noise.
SMOOTHED = two_terms("sqrt(d/n)", "d^(3/4)/(rho^(1/4)*sqrt(n))", scale=moment_scale)


def mean_square(setting: Setting, *, tau: float | None = None) -> Parts:
    r"""Return the parts of a bound on :math:`(E\|\tilde\mu-\mu\|^2)^{1/2}`.

    Their root sum square is form (v) of theory/kamath-liu-zhang.md, 3.3, at smoothing variance
    c = 1. The noise is infinite at rho = 0. The truncation level `tau` is in moment units; None is
    the one that minimises :math:`A^2/\tau^2+B^2\tau^2`, the squares of bias and noise.
    """
    n, d, rho, mean_bound = setting.n, setting.d, setting.gaussian_rho, scaled_mean_bound(setting)
    bias = SECOND_ORDER * 2 * root_sum_of_squares(d, mean_bound)
    sampling = math.sqrt(2 * (d + mean_bound**2) / n)
    parts = Parts(sampling=sampling, bias=bias, noise=math.inf)
    if rho > 0:
        noise = smoothed_supremum(1.0) * d / n * math.sqrt(2) / math.sqrt(rho)
        best = math.sqrt(bias / noise) if math.isfinite(bias) else 1.0
        level = best if tau is None else tau
        parts = Parts(sampling=sampling, bias=bias / level, noise=noise * level)
    return parts.scaled(moment_scale(setting))


def high_probability(setting: Setting, beta: float, *, tau: float | None = None) -> Parts:
    r"""Return the parts of a bound on the l2 error that holds with probability :math:`1-\beta`.

    Their sum is form (i) of theory/kamath-liu-zhang.md, 3.3, at smoothing variance c = 1. The noise
    may exceed its part with probability :math:`\beta/2`, and each coordinate with
    :math:`\beta/(2d)`. The first two terms of (i) bound bias and sampling error together: the one
    that falls with tau is returned as the bias, the one that grows as the sampling part.
    """
    check_beta(beta)
    n, d, rho = setting.n, setting.d, setting.gaussian_rho
    bias = root_sum_of_squares(d, scaled_mean_bound(setting))
    deviation = math.sqrt(d) * math.log(4 * d / beta) / n
    parts = Parts(sampling=deviation, bias=bias, noise=math.inf)
    if rho > 0:
        tail = math.sqrt(d) + math.sqrt(2 * math.log(2 / beta))
        noise = smoothed_supremum(1.0) * math.sqrt(2 * d / rho) / n * tail
        best = math.sqrt(bias / (deviation + noise)) if math.isfinite(bias) else 1.0
        level = best if tau is None else tau
        parts = Parts(sampling=deviation * level, bias=bias / level, noise=noise * level)
    return parts.scaled(moment_scale(setting))


def root_sum_of_squares(d: int, mean_bound: float) -> float:
    r"""Return the root of the largest :math:`\sum_j(1+\mu_j^2)^2` for means of norm at most R."""
    square = mean_bound**2
    return math.sqrt(d + 2 * square + square**2)


def _check_printed_level(setting: Setting) -> str:
    """Return the reason why the printed truncation level is below 10; empty if it is not."""
    tau = printed_threshold(replace(setting, moment_order=2.0), "gaussian")
    if setting.gaussian_rho <= 0 or tau >= 10:
        return ""
    return (
        f"The statement needs tau >= 10, that is n >= 100 sqrt(d/rho), "
        f"and tau={tau:.3g} at n={setting.n}."
    )


_LEVEL = Hypothesis(text="n >= 100 sqrt(d/rho)", check=_check_printed_level)
_OTHER_LEVEL = "The method's own tunings take other levels, and may have a larger error."
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
    latex=SMOOTHED.latex,
    privacy="zcdp",
    method="mean.smoothed",
)
_SMOOTHED_BOUNDS: tuple[Bound, ...] = (
    bound_at_rate(
        _SMOOTHED_CARD,
        SMOOTHED,
        (GAUSSIAN_BUDGET, COORDINATE_MOMENT, SMALL_MEAN, _LEVEL),
        printing="reworked",
    ),
    bound_like(
        _SMOOTHED_CARD,
        slug="upper.mean.smoothed-expected",
        name="Noise smoothing, proven mean error",
        statement="Algorithm 4, Lemma B.4 at a fixed point, explicit form (v)",
        summary="The mean error of smoothed truncation with smoothing variance 1, with every "
        "constant proven, at the truncation level that makes this bound smallest. " + _OTHER_LEVEL,
        constant="explicit",
        latex=r"\min_\tau\Big[\sum_j\Big(\frac{3v_j}{4\sqrt2\,\tau}\Big)^2+\frac2n\sum_jv_j+"
        r"\frac{2S_1^2\tau^2d^2}{\rho n^2}\Big]^{1/2},\ " + _MOMENTS,
        evaluate=terms_of(mean_square),
        combine=root_sum_square,
        hypotheses=(GAUSSIAN_BUDGET, COORDINATE_MOMENT, MEAN_BOUND),
    ),
    bound_like(
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
        evaluate=terms_of(lambda setting: high_probability(setting, BETA)),
        hypotheses=(GAUSSIAN_BUDGET, COORDINATE_MOMENT, MEAN_BOUND),
    ),
)
SMOOTHED_BOUNDS = set_letters(letters.BLOCKS, _SMOOTHED_BOUNDS)
