"""Excess risk through clipping and iterative updating: Zhao et al. (2024), Theorems 4 and 7."""

import math
from dataclasses import replace
from functools import lru_cache, partial

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import ZHAO_2024, BoundCard
from dpsco_core.base.law_classes import DIRECTIONAL
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Letter, bound_like, set_letters
from dpsco_core.bounds.conditions import DIRECTIONAL_MOMENT, GAUSSIAN_BUDGET
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    MINIMUM_INTERIOR,
    OTHER_PARAMETERS,
    RISK_TERMS,
    SAMPLE_SMOOTH,
    SMOOTH,
    approximate,
    at_least,
    failing_everywhere,
    name_terms,
)
from dpsco_core.bounds.euclidean.uniform import Risk, UniformOracle, best_risk
from dpsco_core.bounds.mean.clipped import (
    CLIPPED,
    OPTIMAL,
    directional_bias,
    printed_bias,
    printed_radius,
)
from dpsco_core.bounds.mean.iterative import SOLVED_EXACTLY
from dpsco_core.bounds.mean.rates import CDP
from dpsco_core.bounds.rate import bound_at_rate, is_approximate, two_terms
from dpsco_core.bounds.tools import KAPPA, enough_records
from dpsco_core.privacy import ApproxDP
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting

RATE = replace(CLIPPED, unit="D*M")
# Theorem 4 has this rate, by its equations (20) and (73).
RATE_WITH_LOGS = replace(
    RATE,
    terms={
        "sampling": "sqrt(d*ln(n)/n)",
        "privacy": RATE.terms["privacy"],
        "sampling tail": RATE.terms["sampling tail"] + "*ln(n)",
    },
)
# This rate uses the clipping bias for directional moments: theory/zhao-et-al.md, 3.6.
DIRECTIONAL_RATE = replace(
    RATE,
    terms={
        "sampling": "sqrt(d/n)",
        "privacy": "(d/(n*sqrt(rho)))^(1-1/p)",
        "sampling tail": "(d^(3/2)/n)^(1-1/p)",
    },
)
ITERATIVE_RATE = replace(CDP, unit="D*M", letters=letters.CLIPPING)
# Theorem 7 claims this rate, equation (36), without a proof.
ITERATIVE_WITH_LOGS = two_terms(
    "sqrt(d/n)",
    "sqrt(d)*(sqrt(d)/(n*epsilon))^(1-1/p)*ln(1/delta)*ln(n*d)",
    unit="D*M",
    letters=letters.CLIPPING,
    applies=is_approximate,
)


def oracle(setting: Setting, radius: float, *, printed: bool = False) -> UniformOracle:
    """Return how accurate means of clipped gradients are on the whole set: Lemma 5 with constants.

    Gradients are clipped to norm `radius`, and have a raw moment in every direction. The net of the
    set has scale L/n (theory/zhao-et-al.md, 3.4). With `printed` the bias is that of the paper's
    equation (55) instead of the sharp one.
    """
    n, d, c = setting.n, setting.d, setting.constants
    moment = c.directional_moment
    # This logarithm is Lambda_W at beta = 1/n^2.
    size = math.log(2) + d * (math.log(6) + math.log(1 + 2 * n)) + 2 * math.log(n)
    law = printed_bias if printed else directional_bias
    return UniformOracle(
        sampling=max(moment * math.sqrt(12 * size / n), 8 * radius * size / n),
        bias=law(setting).at_radius(radius),
        covering=2 * (c.sample_smoothness * c.diameter) / n,
        failure=1.0 / n**2,
        reach=radius + moment,
        noise_energy=2 * d / setting.gaussian_rho * (radius / n) ** 2,
    )


@lru_cache(maxsize=4096)
def explicit(setting: Setting, printed: bool = False) -> Risk:
    """Return the terms of an explicit bound on the mean excess risk, at the best clip radius.

    It is Theorem 3.1 of Kamath et al. (2022) with `oracle`; the terms are `RISK_TERMS`.
    """
    c = setting.constants
    bound = min(c.directional_moment, c.mean_gradient_bound)
    if c.minimum_interior:
        bound = min(bound, c.smoothness * c.diameter)
    if c.directional_moment == 0:
        return 0.0, 0.0, 0.0, 0.0
    centre = math.log(math.sqrt(setting.d) * c.directional_moment)
    oracle_at = partial(oracle, setting, printed=printed)
    return best_risk(oracle_at, c.diameter, bound, centre - 12, centre + 30)


def _root_steps(setting: Setting) -> float:
    """Return the square root of the paper's number of steps; NaN without a budget for it."""
    if setting.gaussian_rho <= 0:
        return math.nan
    return math.sqrt(setting.gaussian_rho / setting.d) * setting.n / printed_radius(setting)


def _root_steps_directional(setting: Setting) -> float:
    """Return the square root of the number of steps at the radius of theory/zhao-et-al.md, 3.6.

    It is NaN without a budget for Gaussian noise.
    """
    n, d, rho = setting.n, setting.d, setting.gaussian_rho
    if rho <= 0:
        return math.nan
    ratio = min(n * math.sqrt(rho) / d, n / d**1.5)
    return n * math.sqrt(rho) / (d * math.pow(ratio, 1 / setting.moment_order))


def _root_steps_iterative(setting: Setting, epsilon: float) -> float:
    """Return the square root of Theorem 7's number of steps at an epsilon; NaN if that is 0."""
    if epsilon <= 0:
        return math.nan
    n, d = setting.n, setting.d
    return n * epsilon / (d * math.pow(n * epsilon / math.sqrt(d), 1 / setting.moment_order))


def _printed_epsilon(setting: Setting) -> float:
    """Return the epsilon of an (epsilon, delta) budget; 0 under other budgets."""
    return setting.budget.epsilon if isinstance(setting.budget, ApproxDP) else 0.0


def _needed_groups(setting: Setting) -> int:
    """Return the number of groups that Lemma 6 needs at the failure probability of Theorem 7."""
    size = setting.d * math.log(1 + 2 * setting.n) + 2 * math.log(setting.n)
    return math.ceil(800 * size)


_CONDITIONS = (GAUSSIAN_BUDGET, DIRECTIONAL_MOMENT, DIAMETER, SMOOTH, SAMPLE_SMOOTH)
_THEOREM = (
    *_CONDITIONS,
    MINIMUM_INTERIOR,
    at_least("rho n^2 >= d R^2, R of (19)", "sqrt(T)", 1.0, _root_steps),
)
_DIRECTIONAL = (
    *_CONDITIONS,
    MINIMUM_INTERIOR,
    at_least("rho n^2 >= d R^2 at the balancing R", "sqrt(T)", 1.0, _root_steps_directional),
)
_STEPS_BY_RHO = at_least(
    "rho n^2 >= d R^2 at the R of Theorem 7",
    "sqrt(T)",
    1.0,
    lambda s: _root_steps_iterative(s, math.sqrt(max(s.gaussian_rho, 0.0))),
)
_STEPS_BY_EPSILON = at_least(
    "epsilon^2 n^2 >= d R^2 at the R of Theorem 7",
    "sqrt(T)",
    1.0,
    lambda s: _root_steps_iterative(s, _printed_epsilon(s)),
)
_EXPLICIT = (GAUSSIAN_BUDGET, DIRECTIONAL_MOMENT, DIAMETER, SAMPLE_SMOOTH)
_UNPROVEN = failing_everywhere(
    "a proof",
    "The statement is claimed: Lemma 9, on which it rests, has no proof in the paper.",
)
_RISK_NEEDS = ("gaussian_rho", "directional_moment", "diameter", "sample_smoothness")
_CARD = BoundCard(
    slug="upper.sco.clipped",
    name="SCO, simple clipping, rate",
    paper=ZHAO_2024,
    statement="Theorem 4; Table I, simple clipping",
    summary="The rate of gradient descent with gradients clipped to a ball, in the units of the "
    "moment and the diameter; logarithms and constants are set to 1.",
    kind="upper",
    quantity="excess risk",
    constant="rate",
    latex=RATE.latex,
    privacy="zcdp",
    method="sco.clipped",
    loss_class=classes.SMOOTH,
    law_class=DIRECTIONAL,
    problems=SCO_PROBLEMS,
)
_EXPLICIT_LATEX = (
    r"\min_RD\sqrt{\tfrac2T\big(M_0^2+G^2\big)}+DB,\ M_0=\min\big(M,\sup\|\nabla F\|\big),\ "
    r"T=\max\Big(1,\Big\lfloor\frac{\rho n^2M_0^2}{2dR^2}\Big\rfloor\Big),\ "
    r"G^2=S^2+\frac{2dR^2T}{\rho n^2}+\frac{(R+M)^2}{n^2},\ B=S+\frac{R+M}{n^2},\ "
    r"S=\max\Big\{\sqrt{\tfrac{12M^2}n\Lambda},\tfrac{8R}n\Lambda\Big\}+%s+"
    r"\frac{2\lambda D}n,\ \Lambda=\ln2+d\ln6+d\ln(1+2n)+2\ln n"
)
_LETTERS = (
    *letters.CLIPPING,
    Letter("G", "deviation of the clipped gradient"),
    Letter("B", "bias of the clipped gradient"),
    Letter(r"\lambda", "smoothness of the loss", lambda s: s.constants.sample_smoothness),
)
_CLIPPED_RISKS: tuple[Bound, ...] = (
    bound_at_rate(_CARD, RATE, _THEOREM, tables=("zhao",), optimal=OPTIMAL),
    bound_at_rate(
        _CARD,
        RATE_WITH_LOGS,
        _THEOREM,
        slug="upper.sco.clipped-logs",
        name="SCO, simple clipping, rate with logarithms",
        statement="Theorem 4, (20) with (73)",
        summary="The theorem's three terms with their logarithms of n; constants are set to 1.",
    ),
    bound_at_rate(
        _CARD,
        DIRECTIONAL_RATE,
        _DIRECTIONAL,
        slug="upper.sco.clipped-directional",
        name="SCO, simple clipping, directional rate",
        statement="Theorem 4 with the clipping bias of directional moments",
        printing="reworked",
        summary="The rate that simple clipping reaches when the clipping bias uses that "
        "moments are bounded in every direction: lower than the theorem's by d^(1/(2p)) in "
        "two terms. Logarithms and constants are set to 1.",
    ),
    bound_like(
        _CARD,
        slug="upper.sco.clipped-explicit",
        name="SCO, simple clipping, proven",
        statement="Lemma 5, explicit and with the sharp bias, in (11)",
        summary="The mean excess risk with every constant proven, at the radius that makes "
        "this bound smallest and the number of steps at which noise is as large as the "
        "gradient. " + OTHER_PARAMETERS,
        constant="explicit",
        latex=_EXPLICIT_LATEX % r"\kappa_pd^{(p-1)/2}M^pR^{1-p}" + r",\ " + KAPPA,
        evaluate=name_terms(RISK_TERMS, _RISK_NEEDS, explicit),
        hypotheses=_EXPLICIT,
    ),
    bound_like(
        _CARD,
        slug="upper.sco.clipped-explicit-paper",
        name="SCO, simple clipping, proven, printed bias",
        statement="Lemma 5, explicit, with the bias (55), in (11)",
        summary="What the paper's own clipping bias adds up to, with every constant proven, at "
        "the radius that makes this bound smallest. " + OTHER_PARAMETERS,
        constant="explicit",
        latex=_EXPLICIT_LATEX % r"\frac{d^{p/2}M^p}{p-1}R^{1-p}",
        evaluate=name_terms(RISK_TERMS, _RISK_NEEDS, partial(explicit, printed=True)),
        hypotheses=_EXPLICIT,
    ),
)
CLIPPED_RISKS = set_letters(_LETTERS, _CLIPPED_RISKS)
_ITERATIVE_CARD = replace(
    _CARD,
    slug="upper.sco.iterative",
    name="SCO, iterative updating, claimed rate (unproven)",
    statement="Theorem 7; Table I, iterative updating; the root of rho for epsilon",
    summary="The rate that the paper claims for gradient descent with its iterative estimator; a "
    "lemma that it rests on has no proof. Logarithms and constants are set to 1.",
    method="sco.iterative",
)
_ENOUGH_GROUPS = enough_records("k = 800 (d ln(1 + 2n) + 2 ln n)", _needed_groups)
_ITERATIVE_RISKS: tuple[Bound, ...] = (
    bound_at_rate(
        _ITERATIVE_CARD,
        ITERATIVE_RATE,
        (
            *_CONDITIONS,
            MINIMUM_INTERIOR,
            _STEPS_BY_RHO,
            _ENOUGH_GROUPS,
            SOLVED_EXACTLY,
            _UNPROVEN,
        ),
        tables=("zhao",),
    ),
    bound_at_rate(
        _ITERATIVE_CARD,
        ITERATIVE_WITH_LOGS,
        (
            DIRECTIONAL_MOMENT,
            DIAMETER,
            SMOOTH,
            SAMPLE_SMOOTH,
            MINIMUM_INTERIOR,
            approximate(),
            _STEPS_BY_EPSILON,
            _ENOUGH_GROUPS,
            SOLVED_EXACTLY,
            _UNPROVEN,
        ),
        slug="upper.sco.iterative-logs",
        name="SCO, iterative updating, claimed rate with logarithms (unproven)",
        statement="Theorem 7, (36)",
        summary="The claimed rate with its logarithms of delta, n and d; a lemma that it "
        "rests on has no proof. Constants are set to 1.",
        privacy="approx",
    ),
)
ITERATIVE_RISKS = set_letters(_LETTERS, _ITERATIVE_RISKS)
