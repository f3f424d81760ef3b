"""Excess risk through the clipped median of means: Kamath et al. (2022), Theorems 5.2 and B.8."""

import math
from collections.abc import Callable
from functools import lru_cache, partial

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import KAMATH_2022, BoundCard
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Hypothesis, bound_like, set_letters
from dpsco_core.bounds.conditions import moment_scale, scaled_mean_bound
from dpsco_core.bounds.euclidean.conditions import (
    ASSUMPTION_2_12,
    EXPLICIT_CONDITIONS,
    OTHER_PARAMETERS,
    RATE_NEEDS,
    RISK_NEEDS,
    RISK_TERMS,
    SMALL_SMOOTHNESS,
    at_least,
    in_scale,
    name_terms,
    signal,
)
from dpsco_core.bounds.euclidean.uniform import VOID, Risk, UniformOracle, best_risk, net_log
from dpsco_core.bounds.rate import bound_at_rate, two_terms
from dpsco_core.bounds.tools import BETA, HINGE, check_beta, enough_records
from dpsco_core.methods.records.base import hinge_bias
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting

# The rate of Theorem 5.2 of Kamath et al. (2022), made linear in the diameter M; at M = 1 it is the
# printed one. It is method 1 in Table I of Zhao et al. (2024). See theory/kamath-liu-zhang.md, 3.4.
RATE = two_terms(
    "d/sqrt(n)", "sqrt(d)*(d^(3/2)/(sqrt(rho)*n))^(1-1/p)", unit="M", scale=moment_scale
)
PRINTED_RATE = two_terms(
    "M*d/sqrt(n)", "M*d^2/(n*sqrt(rho))*(sqrt(rho)*n/(M*d^(3/2)))^(1/p)", scale=moment_scale
)


def probability_rate(setting: Setting, beta: float = BETA) -> tuple[float, float, float]:
    """Return the terms of Theorem B.8's rate with its logarithms, at failure probability `beta`.

    They are those of sampling, of privacy and of the covering of the set.
    """
    check_beta(beta)
    n, d, diameter = setting.n, setting.d, setting.constants.diameter
    sampling, private = PRINTED_RATE(setting).values()
    size = max(1.0, math.log(diameter) + math.log(d) + math.log(n) - math.log(beta))
    covering = diameter * setting.constants.sample_smoothness * d**1.5 / float(n) ** 3
    return sampling * math.sqrt(size), private * size, covering * size


def uniform_blocks(n: int, d: int) -> int:
    r"""Return the number of blocks in Theorem 5.2, the least even :math:`m\ge4\ln(2d)+8d\ln(3n^3)`.

    It is that of Lemma B.2 of Kamath et al. (2022), with the covering number
    :math:`(3M/\alpha)^d` and the summand :math:`4\ln(2d)` that its proof drops.
    """
    return 2 * math.ceil(2 * math.log(2 * d) + 4 * d * net_log(n))


def oracle(setting: Setting, tau: float) -> UniformOracle:
    r"""Return how accurate the clipped median of means is on the whole set: Lemma B.2 explicitly.

    Lengths are in moment units. Entries are clipped to [-3 tau, 3 tau], where 3 tau exceeds R. The
    number m of blocks is even, the noise is the tight one, and the bias the sharp one. All parts
    are infinite for n < m. See theory/kamath-liu-zhang.md, 3.3.
    """
    n, d, c = setting.n, setting.d, setting.constants
    blocks = uniform_blocks(n, d)
    if n < blocks:
        return VOID
    size = n // blocks
    root = math.sqrt(d)
    return UniformOracle(
        sampling=10 * root / math.sqrt(size),
        bias=root * hinge_bias(3 * tau - c.mean_gradient_bound, setting.moment_order),
        covering=c.sample_smoothness * c.diameter / float(n) ** 3 * (root + 1),
        failure=math.exp(-d * net_log(n)),
        reach=3 * tau * root + c.mean_gradient_bound,
        noise_energy=4.5 / setting.gaussian_rho * (tau * d / size) ** 2,
    )


@lru_cache(maxsize=4096)
def explicit(setting: Setting) -> Risk:
    """Return the terms of an explicit bound on the mean excess risk, at the best tau > R/3.

    It is Theorem 3.1 of Kamath et al. (2022) with `oracle`; the terms are `RISK_TERMS`.
    """
    if setting.n < uniform_blocks(setting.n, setting.d):
        return (math.inf,) * 4
    bound, low = setting.constants.mean_gradient_bound, -min(14.0, 300 / setting.moment_order)
    oracle_at = partial(oracle, setting)
    return best_risk(oracle_at, setting.constants.diameter, bound, low, 35.0, offset=bound / 3)


def _threshold_formula(printed: bool) -> Callable[[Setting], float]:
    """Return the function that computes the paper's threshold tau, `printed` or corrected."""

    def tau(setting: Setting) -> float:
        """Return tau at a setting, in moment units; NaN without a budget or a finite diameter."""
        diameter = setting.constants.diameter if printed else 1.0
        if setting.gaussian_rho <= 0 or math.isinf(diameter):
            return math.nan
        return math.pow(signal(setting, 1.5, diameter), 1 / setting.moment_order)

    return tau


def _root_steps_formula(printed: bool) -> Callable[[Setting], float]:
    """Return the function that computes the square root of the paper's number of steps."""

    def root(setting: Setting) -> float:
        """Return the root of the number of steps at a setting; NaN if it is undefined."""
        tau = _threshold_formula(printed)(setting)
        bound = scaled_mean_bound(setting)
        if math.isnan(tau) or math.isinf(bound):
            return math.nan
        return bound * math.sqrt(setting.gaussian_rho) * setting.n / (tau * setting.d**2)

    return root


def _theorem_conditions(printed: bool) -> tuple[Hypothesis, ...]:
    """Return the conditions of Theorem 5.2, as printed or as corrected."""
    size = "10^p M d^(3/2)" if printed else "10^p d^(3/2)"
    return (
        *ASSUMPTION_2_12,
        SMALL_SMOOTHNESS,
        at_least(f"sqrt(rho) n >= {size}", "tau", 10.0, _threshold_formula(printed)),
        at_least("R sqrt(rho) n >= tau d^2", "sqrt(T)", 1.0, _root_steps_formula(printed)),
        _BLOCKS,
    )


_BLOCKS = enough_records(
    "m = 4 ln(2d) + 8d ln(3n^3)", lambda setting: uniform_blocks(setting.n, setting.d)
)
CARD = BoundCard(
    slug="upper.sco.cwme",
    name="SCO, coordinate-wise, rate",
    paper=KAMATH_2022,
    statement="Theorem 5.2 with tau free of M; Zhao et al., Table I, method 1",
    summary="The rate of gradient descent with clipped medians of averages as gradients, linear in "
    "the diameter as an excess risk must be; logarithms and constants are set to 1.",
    kind="upper",
    quantity="excess risk",
    constant="rate",
    latex=RATE.latex,
    privacy="zcdp",
    method="sco.cwme",
    loss_class=classes.SMOOTH,
    problems=SCO_PROBLEMS,
)
_COORDINATEWISE_RISKS: tuple[Bound, ...] = (
    bound_at_rate(
        CARD,
        RATE,
        _theorem_conditions(printed=False),
        tables=("zhao",),
        printing="reworked",
    ),
    bound_at_rate(
        CARD,
        PRINTED_RATE,
        _theorem_conditions(printed=True),
        slug="upper.sco.cwme-paper",
        name="SCO, coordinate-wise, printed rate",
        statement="Theorem 5.2",
        summary="The theorem's rate as printed: its proof loses a factor M in the second "
        "term, so that it is right at M = 1 only; logarithms and constants are set to 1.",
    ),
    bound_like(
        CARD,
        slug="upper.sco.cwme-probability",
        name="SCO, coordinate-wise, rate at 95 %",
        statement="Theorem B.8",
        summary="The theorem's rate as printed for a risk that is exceeded in at most 5 of 100 "
        "runs, with its logarithms; like the mean's it is right at M = 1 only. Constants are "
        "set to 1.",
        guarantee="probability 0.95",
        latex=r"\frac{Md\sqrt{\ell}}{\sqrt n}+\ell\Big[\frac{Md^2}{n\sqrt\rho}"
        r"\Big(\frac{\sqrt\rho\,n}{Md^{3/2}}\Big)^{1/p}+\frac{MLd^{3/2}}{n^3}\Big],\ "
        r"\ell=\ln\frac{Mdn}\beta",
        evaluate=name_terms(
            ("sampling", "privacy", "covering"),
            (*RATE_NEEDS, "sample_smoothness"),
            in_scale(probability_rate),
        ),
        hypotheses=_theorem_conditions(printed=True),
    ),
    bound_like(
        CARD,
        slug="upper.sco.cwme-explicit",
        name="SCO, coordinate-wise, proven",
        statement="Theorem 3.1 with Lemma B.2, explicit and uniform over the set",
        summary="The mean excess risk with every constant proven, at the clipping level that "
        "makes this bound smallest and the number of steps at which noise is as large as R. "
        + OTHER_PARAMETERS,
        constant="explicit",
        latex=r"\min_\tau M\sqrt{\tfrac2T\big(R^2+G^2\big)}+MB,\ "
        r"G^2=S^2+\frac{9\tau^2d^2T}{2\rho b^2}+r^2f,\ B=S+rf,\ "
        r"T=\max\Big(1,\Big\lfloor\frac{2\rho b^2R^2}{9\tau^2d^2}\Big\rfloor\Big),\ "
        r"S=\frac{LM(\sqrt d+1)}{n^3}+\sqrt d\Big(\frac{10}{\sqrt b}+h_p(3\tau-R)\Big),\ "
        r"b=\lfloor n/m\rfloor,\ m=2\lceil2\ln(2d)+4d\ln(3n^3)\rceil,\ f=(3n^3)^{-d},\ "
        r"r=3\tau\sqrt d+R,\ " + HINGE,
        evaluate=name_terms(RISK_TERMS, RISK_NEEDS, in_scale(explicit)),
        hypotheses=(*EXPLICIT_CONDITIONS, _BLOCKS),
    ),
)
COORDINATEWISE_RISKS = set_letters(letters.ESTIMATED, _COORDINATEWISE_RISKS)
