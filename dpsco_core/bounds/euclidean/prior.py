"""Rates of earlier work for Lipschitz losses, and the risk of SGD without privacy.

The rates are those that Arora et al. (2020), section 3, and Su et al. (2023), Table 1, quote. For
Gaussian methods the root of rho stands for epsilon over the root of ln(1/delta). Rates for the
empirical risk are included because those tables list them, and fail their last hypothesis.
"""

import math
from dataclasses import replace
from functools import partial

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import (
    BASSILY_2014,
    BASSILY_2019,
    CHAUDHURI_2011,
    FELDMAN_2020,
    FOLKLORE,
    KASIVISWANATHAN_2016,
    TALWAR_2014,
    BoundCard,
)
from dpsco_core.base.law_classes import VARIANCE
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, bound_like
from dpsco_core.bounds.conditions import FINITE_VARIANCE, GAUSSIAN_BUDGET
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    GRADIENT_BOUND,
    LINEAR_MODEL,
    LIPSCHITZ,
    POPULATION_RISK,
    SAMPLE_SMOOTH,
    SAMPLE_STRONGLY_CONVEX,
    SMALL_BUDGET,
    name_terms,
)
from dpsco_core.bounds.euclidean.objective import modulus
from dpsco_core.bounds.lq.conditions import SYMMETRIC
from dpsco_core.bounds.rate import Rate, bound_at_rate, two_terms
from dpsco_core.problems import SCO_PROBLEMS, STRONG_PROBLEMS
from dpsco_core.problems.base import Setting


def _sgd_terms(setting: Setting) -> tuple[float, ...]:
    """Return the single term of a bound on the mean excess risk of SGD without privacy."""
    c = setting.constants
    energy = min(c.lipschitz**2, c.mean_gradient_bound**2 + c.variance_trace)
    return (c.diameter / 2 * math.sqrt(energy / setting.n),)


def _check_gradient_energy(setting: Setting) -> str:
    """Return the reason why the gradients' mean square is unknown; empty if it is known."""
    c = setting.constants
    if math.isfinite(c.lipschitz):
        return ""
    return GRADIENT_BOUND.check(setting) or FINITE_VARIANCE.check(setting)


_rate = partial(two_terms, unit="L*D", combine=max)
# Bassily et al. (2019) and Feldman et al. (2020) have this rate, which is optimal for Lipschitz
# losses.
OPTIMAL = _rate("1/sqrt(n)", "sqrt(d/rho)/n")
# Bassily et al. (2014) have this rate for the population risk, by uniform convergence.
UNIFORM_CONVERGENCE = _rate("d^(1/4)/sqrt(n)", "sqrt(d/rho)/n")
# Arora et al. (2020) quote this rate of Chaudhuri et al. (2011), in which the smoothness term has
# another unit than the other terms.
CHAUDHURI = Rate(
    terms={
        "sampling": "1/sqrt(n)",
        "privacy": "d/(n*epsilon)",
        "smoothness": "d/(n*epsilon)*sqrt(beta)*n^(1/3)",
    },
    unit="L*D",
    letters=(letters.PURE,),
    combine=max,
)
_STRONG_LETTERS = (
    Letter(r"\lambda", "strong convexity", lambda s: s.constants.sample_strong_convexity),
    Letter(r"\Delta", "", modulus, r"\Delta=\lambda C_{\min}^2"),
)


def _private(formula: str, unit: str) -> Rate:
    """Return a rate whose only term is for privacy."""
    return Rate(terms={"privacy": formula}, unit=unit, letters=_STRONG_LETTERS)


def _check_mildly_smooth(setting: Setting) -> str:
    """Return the reason why the loss is not smooth enough for phased SGD; empty if it is."""
    c = setting.constants
    if setting.gaussian_rho <= 0 or not math.isfinite(c.lipschitz * c.diameter):
        return ""
    largest = c.lipschitz / c.diameter
    largest *= max(math.sqrt(setting.n), math.sqrt(setting.d / setting.gaussian_rho))
    if c.sample_smoothness <= largest:
        return ""
    return (
        "The statement needs a smoothness of at most (L/D) max(sqrt(n), sqrt(d/rho)) = "
        f"{largest:.3g} up to a constant, and beta={c.sample_smoothness:.4g}."
    )


_LOSSES = (GAUSSIAN_BUDGET, LIPSCHITZ, DIAMETER)
_STRONG_LOSSES = (GAUSSIAN_BUDGET, LIPSCHITZ, SAMPLE_STRONGLY_CONVEX)
_MILD = Hypothesis(text="beta <= (L/D) max(sqrt(n), sqrt(d/rho))", check=_check_mildly_smooth)
_UNIT_CONSTANTS = "Logarithms and constants are set to 1."
_EMPIRICAL = "It bounds the empirical risk, which a small sample's population risk exceeds. "
_CARD = BoundCard(
    slug="upper.sco.phased-sgd",
    name="Phased SGD, rate",
    paper=FELDMAN_2020,
    statement="phased SGD, smooth losses, one pass",
    summary="The optimal rate for Lipschitz losses that are mildly smooth, in a single pass over "
    "the records. " + _UNIT_CONSTANTS,
    kind="upper",
    quantity="excess risk",
    constant="rate",
    latex=OPTIMAL.latex,
    privacy="zcdp",
    method="sco.phased-sgd",
    tables=("arora",),
    loss_class=classes.LIPSCHITZ,
    problems=SCO_PROBLEMS,
)
_PRIOR = replace(_CARD, method="")
_STRONG_CARD = replace(
    _PRIOR, loss_class=classes.LIPSCHITZ_STRONG, problems=STRONG_PROBLEMS, tables=("su-1",)
)
PRIOR_RISKS: tuple[Bound, ...] = (
    bound_like(
        _CARD,
        slug="upper.sco.sgd",
        name="SGD, no privacy",
        paper=FOLKLORE,
        statement="one pass of projected SGD, constant step, averaged",
        summary="The mean excess risk of stochastic gradient descent, which is not private, "
        "from the centre of a ball of radius D/2 and at its best step. On convex losses no "
        "method, private or not, beats its rate on all laws; strong convexity allows more.",
        constant="explicit",
        latex=r"\frac D2\sqrt{\frac{E\|g\|^2}n},\ "
        r"E\|g\|^2\le\min\big(L^2,R^2+\mathrm{tr\,Cov}(g)\big)",
        privacy="none",
        method="sco.sgd",
        loss_class=classes.CONVEX,
        law_class=VARIANCE,
        evaluate=name_terms(("sampling",), ("diameter",), _sgd_terms),
        hypotheses=(
            DIAMETER,
            Hypothesis(text="gradients of finite second moment", check=_check_gradient_energy),
        ),
    ),
    bound_at_rate(
        _CARD,
        OPTIMAL,
        (*_LOSSES, SAMPLE_SMOOTH, _MILD),
        loss_class=classes.SMOOTH_LIPSCHITZ,
    ),
    bound_at_rate(
        _PRIOR,
        UNIFORM_CONVERGENCE,
        _LOSSES,
        slug="upper.sco.noisy-gd",
        name="Noisy gradient descent, rate",
        statement="population risk by uniform convergence",
        summary="The first rate for the population risk of noisy gradient descent, which loses "
        "a fourth root of the dimension. " + _UNIT_CONSTANTS,
        method="sco.noisy-gd",
        paper=BASSILY_2014,
    ),
    bound_at_rate(
        _PRIOR,
        OPTIMAL,
        _LOSSES,
        slug="upper.sco.prior-bassily-2019",
        name="Bassily et al. 2019, rate",
        statement="Lipschitz convex losses, smooth or not",
        summary="The first optimal rate for Lipschitz losses, not in linear time. "
        + _UNIT_CONSTANTS,
        paper=BASSILY_2019,
    ),
    bound_at_rate(
        _PRIOR,
        OPTIMAL,
        _LOSSES,
        slug="upper.sco.prior-feldman-2020",
        name="Feldman et al. 2020, non-smooth, rate",
        statement="phased regularised empirical risk, non-smooth losses",
        summary="The optimal rate for Lipschitz losses without smoothness, in quadratic time. "
        + _UNIT_CONSTANTS,
    ),
    bound_at_rate(
        _PRIOR,
        CHAUDHURI,
        (LIPSCHITZ, DIAMETER, SAMPLE_SMOOTH),
        slug="upper.sco.prior-chaudhuri",
        name="Chaudhuri et al. 2011, rate",
        statement="output perturbation, as quoted by Arora et al. 2020, section 3",
        summary="Output perturbation under pure DP, for smooth losses; objective perturbation is "
        "similar. " + _UNIT_CONSTANTS,
        paper=CHAUDHURI_2011,
        privacy="pure",
        loss_class=classes.SMOOTH_LIPSCHITZ,
    ),
    bound_at_rate(
        _PRIOR,
        _private("sqrt(d/rho)/n", "L*D"),
        (*_LOSSES, POPULATION_RISK),
        slug="upper.sco.prior-bassily-2014-empirical",
        name="Bassily et al. 2014, empirical risk",
        statement="Lipschitz convex losses, empirical risk; Arora et al. print d for its root",
        summary="Noisy gradient descent on the data at hand. " + _EMPIRICAL + _UNIT_CONSTANTS,
        tables=("su-1", "arora"),
        paper=BASSILY_2014,
    ),
    bound_at_rate(
        _PRIOR,
        _private("G_C/sqrt(rho)/n", "L"),
        (*_LOSSES, POPULATION_RISK),
        slug="upper.sco.prior-talwar",
        name="Talwar et al. 2014, empirical risk",
        statement="Su et al., Table 1; Gaussian width of the set",
        summary="The rate with the Gaussian width of the set in place of the dimension. "
        + _EMPIRICAL
        + _UNIT_CONSTANTS,
        tables=("su-1",),
        paper=TALWAR_2014,
    ),
    bound_at_rate(
        _PRIOR,
        _private("sqrt(D*(G_C/sqrt(rho)/n))", "L"),
        (*_LOSSES, LINEAR_MODEL, POPULATION_RISK),
        slug="upper.sco.prior-kasiviswanathan",
        name="Kasiviswanathan and Jin 2016, empirical risk",
        statement="Su et al., Table 1; Gaussian width of the set",
        summary="Random projections for generalised linear losses. " + _EMPIRICAL + _UNIT_CONSTANTS,
        tables=("su-1",),
        paper=KASIVISWANATHAN_2016,
        loss_class=classes.GENERALISED_LINEAR,
    ),
    bound_at_rate(
        _STRONG_CARD,
        _private("sqrt(d/rho)/n", "L^2/lambda"),
        (*_STRONG_LOSSES, SMALL_BUDGET),
        slug="upper.sco.prior-bassily-2014-strong",
        name="Bassily et al. 2014, strongly convex, rate",
        statement="strongly convex Lipschitz losses, population risk, as quoted by Arora et al.",
        tables=("arora",),
        summary="Noisy gradient descent on strongly convex losses; the population rate is not "
        "optimal. " + _UNIT_CONSTANTS,
        paper=BASSILY_2014,
    ),
    bound_at_rate(
        _STRONG_CARD,
        _private("(sqrt(d/rho)/n)^2", "L^2/lambda"),
        (*_STRONG_LOSSES, POPULATION_RISK),
        slug="upper.sco.prior-bassily-2014-strong-empirical",
        name="Bassily et al. 2014, strongly convex, empirical risk",
        statement="strongly convex Lipschitz losses, empirical risk",
        tables=("su-1", "arora"),
        summary="Noisy gradient descent on strongly convex losses. " + _EMPIRICAL + _UNIT_CONSTANTS,
        paper=BASSILY_2014,
    ),
    bound_at_rate(
        _STRONG_CARD,
        _private("(L*(G_C/sqrt(rho)/n))^2/Delta", ""),
        (*_STRONG_LOSSES, DIAMETER, SYMMETRIC, POPULATION_RISK),
        slug="upper.sco.prior-talwar-strong",
        name="Talwar et al. 2014, strongly convex, empirical risk",
        statement="Su et al., Table 1; Gaussian width of the set",
        summary="The rate with the Gaussian width of the set in place of the dimension. "
        + _EMPIRICAL
        + _UNIT_CONSTANTS,
        paper=TALWAR_2014,
    ),
)
