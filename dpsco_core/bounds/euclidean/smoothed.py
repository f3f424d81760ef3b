"""Excess risk of descent by smoothed truncation: Kamath et al. (2022), Theorem 5.5, and before."""

import math
from functools import lru_cache, partial

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import KAMATH_2022, WANG_2020, BoundCard
from dpsco_core.base.errors import require
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Letter, bound_like, set_letters
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    GAUSSIAN_BUDGET,
    moment_scale,
    scaled_mean_bound,
)
from dpsco_core.bounds.euclidean.conditions import (
    ASSUMPTION_2_12,
    DIAMETER,
    EXPLICIT_CONDITIONS,
    OTHER_PARAMETERS,
    RATE_NEEDS,
    RATE_TERMS,
    RISK_NEEDS,
    RISK_TERMS,
    SAMPLE_SMOOTH,
    SMALL_BUDGET,
    SMALL_SMOOTHNESS,
    STRONGLY_CONVEX,
    at_least,
    in_scale,
    name_terms,
    signal,
)
from dpsco_core.bounds.euclidean.uniform import Risk, UniformOracle, best_risk, net_log
from dpsco_core.bounds.rate import Rate, bound_at_rate
from dpsco_core.bounds.tools import root_sum_square
from dpsco_core.methods.records.smooth_clip import smoothed_supremum
from dpsco_core.problems import SCO_PROBLEMS, STRONG_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.statements.kamath import theorem_5_5_power


def rate(setting: Setting) -> tuple[float, float]:
    r"""Return the two terms of the rate of smoothed truncation at its best level.

    The rate is the root of the sum of their squares. It follows from Kamath et al. (2022),
    Lemma B.4, at :math:`\tau^2=n/(d+\sqrt{d/\rho})` (theory/kamath-liu-zhang.md, 3.4).
    """
    n, d, rho, diameter = setting.n, setting.d, setting.gaussian_rho, setting.constants.diameter
    if rho <= 0:
        return math.inf, math.inf
    private = d**0.75 / (math.pow(rho, 0.25) * math.sqrt(n))
    return 2 * diameter * d / math.sqrt(n), 2 * diameter * private


def printed_rate(setting: Setting, power: float | None = None) -> tuple[float, float]:
    """Return the sampling and the private term of Theorem 5.5's rate as printed.

    `power` is the theorem's q; None is the best one.
    """
    d, rho = setting.d, setting.gaussian_rho
    if rho <= 0:
        return math.inf, math.inf
    q = theorem_5_5_power(d, rho) if power is None else power
    require(0.5 <= q <= 2, "power", "between 1/2 and 2", q)
    root = math.sqrt(setting.constants.diameter / setting.n)
    return root * d ** ((3 - q) / 2), root * d ** ((1 + q) / 2) / math.pow(rho, 0.25)


# These are the corrected rates of Wang et al. (2020) for convex and for strongly convex losses.
# Their printed analysis had d^2 (Kamath et al. 2022, section 1.1, footnote 4).
WANG = Rate(terms={"privacy": "M*d/(rho*n)^(1/3)"}, scale=moment_scale)
WANG_STRONG = Rate(
    terms={"privacy": "1/lambda*(d^3/(rho*n))"}, scale=lambda s: moment_scale(s) ** 2
)


def oracle(setting: Setting, tau: float) -> UniformOracle:
    r"""Return how accurate smoothed truncation is on the whole set: Lemma B.4 explicitly.

    Lengths, `tau` among them, are in moment units, and the smoothing variance c is 1. It is form
    (i) of theory/kamath-liu-zhang.md, 3.3, summed over the coordinates by Minkowski's inequality,
    with :math:`\sum v_j^2\le d+2R^2+R^4`.
    """
    n, d, c = setting.n, setting.d, setting.constants
    gradient_bound = c.mean_gradient_bound
    root = math.sqrt(d)
    top = smoothed_supremum(1.0)
    log_failure = math.log(2 * d) + 2 * d * net_log(n)
    squares = math.sqrt(d + 2 * gradient_bound**2 + gradient_bound**4)
    return UniformOracle(
        sampling=root * tau * log_failure / n,
        bias=2 / (2 * tau) * squares,
        covering=c.sample_smoothness * c.diameter / float(n) ** 3 * (math.sqrt(2) + 1),
        failure=math.exp(-d * net_log(n)),
        reach=tau * top * root + gradient_bound,
        noise_energy=2 / setting.gaussian_rho * (top * tau * d / n) ** 2,
    )


@lru_cache(maxsize=4096)
def explicit(setting: Setting) -> Risk:
    """Return the terms of an explicit bound on the mean excess risk, at the best tau.

    It is Theorem 3.1 of Kamath et al. (2022) with `oracle`; the terms are `RISK_TERMS`.
    """
    c = setting.constants
    return best_risk(partial(oracle, setting), c.diameter, c.mean_gradient_bound, -10.0, 35.0)


def _printed_threshold(setting: Setting) -> float:
    """Return the truncation level of Theorem 5.5 as printed; NaN if it is undefined."""
    diameter = setting.constants.diameter
    if setting.gaussian_rho <= 0 or math.isinf(diameter):
        return math.nan
    power = theorem_5_5_power(setting.d, setting.gaussian_rho)
    return math.sqrt(signal(setting, power, diameter))


def _printed_root_steps(setting: Setting) -> float:
    """Return the root of Theorem 5.5's number of steps as printed; NaN if it is undefined."""
    tau = _printed_threshold(setting)
    bound = scaled_mean_bound(setting)
    if math.isnan(tau) or math.isinf(bound):
        return math.nan
    return bound * math.sqrt(setting.gaussian_rho) * setting.n / (tau * setting.d)


def _corrected_threshold(setting: Setting) -> float:
    """Return the truncation level of the corrected rate; NaN without a Gaussian budget."""
    if setting.gaussian_rho <= 0:
        return math.nan
    return math.sqrt(setting.n / (setting.d + math.sqrt(setting.d / setting.gaussian_rho)))


def _corrected_root_steps(setting: Setting) -> float:
    """Return the root of the corrected rate's number of steps; NaN if it is undefined."""
    bound = scaled_mean_bound(setting)
    if setting.gaussian_rho <= 0 or math.isinf(bound):
        return math.nan
    root = math.sqrt(setting.gaussian_rho) * setting.n
    return bound * root / (_corrected_threshold(setting) * setting.d)


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
    bound_like(
        _CARD,
        printing="reworked",
        evaluate=name_terms(RATE_TERMS, RATE_NEEDS, in_scale(rate)),
        combine=root_sum_square,
        hypotheses=(
            *ASSUMPTION_2_12,
            SMALL_SMOOTHNESS,
            at_least("n >= 100 (d + sqrt(d/rho))", "tau", 10.0, _corrected_threshold),
            at_least("R sqrt(rho) n >= tau d", "sqrt(T)", 1.0, _corrected_root_steps),
        ),
    ),
    bound_like(
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
        evaluate=name_terms(RATE_TERMS, RATE_NEEDS, in_scale(printed_rate)),
        letters=(letters.SMOOTH, Letter("q", "a free power, the best one")),
        hypotheses=(
            *ASSUMPTION_2_12,
            SMALL_SMOOTHNESS,
            at_least("sqrt(rho) n >= 100 M d^q", "tau", 10.0, _printed_threshold),
            at_least("R sqrt(rho) n >= tau d", "sqrt(T)", 1.0, _printed_root_steps),
        ),
    ),
    bound_like(
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
        evaluate=name_terms(RISK_TERMS, RISK_NEEDS, in_scale(explicit)),
        hypotheses=EXPLICIT_CONDITIONS,
    ),
    bound_at_rate(
        _CARD,
        WANG,
        _WANG_CONDITIONS,
        slug="upper.sco.prior-wang",
        tables=("zhao",),
        name="Wang et al., corrected rate",
        paper=WANG_2020,
        statement="convex, as corrected by Kamath et al., section 1.1; Zhao et al., Table I",
        summary="The first rate for heavy-tailed data, with second moments; the published one "
        "had d^2 for d^3. Logarithms and constants are set to 1, and the diameter and the "
        "moment give its units.",
        method="",
    ),
    bound_at_rate(
        _CARD,
        WANG_STRONG,
        (*_WANG_CONDITIONS, STRONGLY_CONVEX),
        slug="upper.sco.prior-wang-strong",
        name="Wang et al., corrected rate, strongly convex",
        paper=WANG_2020,
        statement="strongly convex, as corrected by Kamath et al., section 1.1",
        summary="The first rate for heavy-tailed data and strongly convex risks, with second "
        "moments; the published one had d^2 for d^3. Logarithms and constants are set to 1, "
        "and the moment and the strong convexity give its units.",
        method="",
        loss_class=classes.SMOOTH_STRONG,
        problems=STRONG_PROBLEMS,
    ),
)
SMOOTHED_RISKS = set_letters(letters.ESTIMATED, _SMOOTHED_RISKS)
