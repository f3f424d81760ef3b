"""Excess risk on Lipschitz losses in earlier work, and without privacy.

The rates are those that Arora et al. (2020), section 3, and Su et al. (2023), Table 1, quote. For
Gaussian methods the root of rho stands for epsilon together with its logarithms of delta. Rows
on the empirical risk are listed because the tables list them, and fail their last hypothesis.
"""

import math
from dataclasses import replace

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
from dpsco_core.bounds.base import Bound, Hypothesis, bound_like
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
from dpsco_core.bounds.euclidean.objective import modulus, width
from dpsco_core.bounds.lq.conditions import SYMMETRIC
from dpsco_core.problems import SCO_PROBLEMS, STRONG_PROBLEMS
from dpsco_core.problems.base import Setting


def _lipschitz_unit(setting: Setting) -> float:
    """Return L D, the unit of the rates for Lipschitz losses."""
    return setting.constants.lipschitz * setting.constants.diameter


def _sgd_terms(setting: Setting) -> tuple[float, ...]:
    """Return the bound on the excess risk of stochastic gradient descent without privacy."""
    c = setting.constants
    energy = min(c.lipschitz**2, c.mean_gradient_bound**2 + c.variance_trace)
    return (c.diameter / 2 * math.sqrt(energy / setting.n),)


def _check_gradient_energy(setting: Setting) -> str:
    """Return the reason why the gradients' mean square is unknown; empty if it is known."""
    c = setting.constants
    if math.isfinite(c.lipschitz):
        return ""
    return GRADIENT_BOUND.check(setting) or FINITE_VARIANCE.check(setting)


def _scale_terms(setting: Setting, *terms: float) -> tuple[float, ...]:
    """Return the terms multiplied by L D."""
    return tuple(_lipschitz_unit(setting) * term for term in terms)


def lipschitz_rate(setting: Setting, rho: float) -> tuple[float, float]:
    """Return the optimal rate for Lipschitz losses as a sampling and a private term, over L D.

    Bassily et al. (2019) and Feldman et al. (2020) print it as the larger one of the two terms.
    """
    private = math.sqrt(setting.d / rho) / setting.n if rho > 0 else math.inf
    return 1 / math.sqrt(setting.n), private


def uniform_convergence(setting: Setting) -> tuple[float, ...]:
    """Return the two terms of Bassily et al. (2014) on the population risk, of which one counts.

    It is the larger one.
    """
    sampling, private = lipschitz_rate(setting, setting.gaussian_rho)
    return _scale_terms(setting, sampling * math.pow(setting.d, 0.25), private)


def chaudhuri(setting: Setting) -> tuple[float, ...]:
    """Return the terms of Chaudhuri et al. (2011) on output perturbation; the largest one counts.

    They are as Arora et al. (2020) quote them, where the smoothness beta does not have the units of
    the rest.
    """
    n, smoothness = setting.n, setting.constants.sample_smoothness
    private = setting.d / (n * setting.pure_epsilon)
    smooth_term = private * math.sqrt(smoothness) * math.pow(n, 1 / 3)
    return _scale_terms(setting, 1 / math.sqrt(n), private, smooth_term)


def _optimal_rate_terms(setting: Setting) -> tuple[float, ...]:
    """Return the terms of the optimal rate for Lipschitz losses."""
    return _scale_terms(setting, *lipschitz_rate(setting, setting.gaussian_rho))


def _private_term(setting: Setting) -> float:
    """Return the private term of the Lipschitz rate, in units of L D."""
    return lipschitz_rate(setting, setting.gaussian_rho)[1]


def _strong_unit(setting: Setting) -> float:
    """Return L^2 over the strong convexity, the unit of the strongly convex rates."""
    c = setting.constants
    return c.lipschitz**2 / c.sample_strong_convexity


def _width_term(setting: Setting) -> float:
    """Return the Gaussian width of the set, divided by n and the root of rho."""
    return width(setting) / math.sqrt(setting.gaussian_rho) / setting.n


def _talwar_strong_terms(setting: Setting) -> tuple[float, ...]:
    """Return the rate of Talwar et al. for strongly convex losses."""
    c = setting.constants
    delta = modulus(setting)
    return ((c.lipschitz * _width_term(setting)) ** 2 / delta if delta > 0 else math.inf,)


def _kasiviswanathan_terms(setting: Setting) -> tuple[float, ...]:
    """Return the rate of Kasiviswanathan and Jin (2016)."""
    c = setting.constants
    return (c.lipschitz * math.sqrt(c.diameter * _width_term(setting)),)


def _check_mildly_smooth(setting: Setting) -> str:
    """Return the reason why the loss is not smooth enough; empty if it is."""
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
_NEEDS = ("gaussian_rho", "lipschitz", "diameter")
_STRONG_NEEDS = ("gaussian_rho", "lipschitz", "sample_strong_convexity")
_MILD = Hypothesis(text="beta <= (L/D) max(sqrt(n), sqrt(d/rho))", check=_check_mildly_smooth)
_TERMS = ("sampling", "privacy")
_UNIT_CONSTANTS = "Logarithms and constants are set to 1."
_EMPIRICAL = "It bounds the empirical risk, which a small sample's population risk exceeds. "
_OPTIMAL = r"LD\max\Big(\frac1{\sqrt n},\frac{\sqrt d}{\sqrt\rho\,n}\Big)"
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
    latex=_OPTIMAL,
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
    bound_like(
        _CARD,
        loss_class=classes.SMOOTH_LIPSCHITZ,
        evaluate=name_terms(_TERMS, _NEEDS, _optimal_rate_terms),
        combine=max,
        hypotheses=(*_LOSSES, SAMPLE_SMOOTH, _MILD),
    ),
    bound_like(
        _PRIOR,
        slug="upper.sco.noisy-gd",
        name="Noisy gradient descent, rate",
        statement="population risk by uniform convergence",
        summary="The first rate for the population risk of noisy gradient descent, which loses "
        "a fourth root of the dimension. " + _UNIT_CONSTANTS,
        latex=r"LD\max\Big(\frac{d^{1/4}}{\sqrt n},\frac{\sqrt d}{\sqrt\rho\,n}\Big)",
        method="sco.noisy-gd",
        paper=BASSILY_2014,
        evaluate=name_terms(_TERMS, _NEEDS, uniform_convergence),
        combine=max,
        hypotheses=_LOSSES,
    ),
    bound_like(
        _PRIOR,
        slug="upper.sco.prior-bassily-2019",
        name="Bassily et al. 2019, rate",
        statement="Lipschitz convex losses, smooth or not",
        summary="The first optimal rate for Lipschitz losses, not in linear time. "
        + _UNIT_CONSTANTS,
        latex=_OPTIMAL,
        paper=BASSILY_2019,
        evaluate=name_terms(_TERMS, _NEEDS, _optimal_rate_terms),
        combine=max,
        hypotheses=_LOSSES,
    ),
    bound_like(
        _PRIOR,
        slug="upper.sco.prior-feldman-2020",
        name="Feldman et al. 2020, non-smooth, rate",
        statement="phased regularised empirical risk, non-smooth losses",
        summary="The optimal rate for Lipschitz losses without smoothness, in quadratic time. "
        + _UNIT_CONSTANTS,
        latex=_OPTIMAL,
        evaluate=name_terms(_TERMS, _NEEDS, _optimal_rate_terms),
        combine=max,
        hypotheses=_LOSSES,
    ),
    bound_like(
        _PRIOR,
        slug="upper.sco.prior-chaudhuri",
        name="Chaudhuri et al. 2011, rate",
        statement="output perturbation, as quoted by Arora et al. 2020, section 3",
        summary="Output perturbation under pure DP, for smooth losses; objective perturbation is "
        "similar. " + _UNIT_CONSTANTS,
        latex=r"LD\max\Big(\frac1{\sqrt n},\frac d{n\varepsilon},"
        r"\frac{d\sqrt\beta}{n^{2/3}\varepsilon}\Big)",
        paper=CHAUDHURI_2011,
        privacy="pure",
        loss_class=classes.SMOOTH_LIPSCHITZ,
        evaluate=name_terms(
            ("sampling", "privacy", "smoothness"),
            ("lipschitz", "diameter", "sample_smoothness"),
            chaudhuri,
        ),
        combine=max,
        hypotheses=(LIPSCHITZ, DIAMETER, SAMPLE_SMOOTH),
    ),
    bound_like(
        _PRIOR,
        slug="upper.sco.prior-bassily-2014-empirical",
        name="Bassily et al. 2014, empirical risk",
        statement="Lipschitz convex losses, empirical risk",
        summary="Noisy gradient descent on the data at hand. " + _EMPIRICAL + _UNIT_CONSTANTS,
        latex=r"\frac{LD\sqrt d}{\sqrt\rho\,n}",
        tables=("su-1", "arora"),
        paper=BASSILY_2014,
        evaluate=name_terms(
            ("privacy",), _NEEDS, lambda s: (_lipschitz_unit(s) * _private_term(s),)
        ),
        hypotheses=(*_LOSSES, POPULATION_RISK),
    ),
    bound_like(
        _PRIOR,
        slug="upper.sco.prior-talwar",
        name="Talwar et al. 2014, empirical risk",
        statement="Su et al., Table 1; Gaussian width of the set",
        summary="The rate with the Gaussian width of the set in place of the dimension. "
        + _EMPIRICAL
        + _UNIT_CONSTANTS,
        latex=r"\frac{L\,G_C}{\sqrt\rho\,n},\ G_C=E\max_{w\in C}\langle\xi,w\rangle",
        tables=("su-1",),
        paper=TALWAR_2014,
        evaluate=name_terms(
            ("privacy",), _NEEDS, lambda s: (s.constants.lipschitz * _width_term(s),)
        ),
        hypotheses=(*_LOSSES, POPULATION_RISK),
    ),
    bound_like(
        _PRIOR,
        slug="upper.sco.prior-kasiviswanathan",
        name="Kasiviswanathan and Jin 2016, empirical risk",
        statement="Su et al., Table 1; Gaussian width of the set",
        summary="Random projections for generalised linear losses. " + _EMPIRICAL + _UNIT_CONSTANTS,
        latex=r"L\sqrt{\frac{D\,G_C}{\sqrt\rho\,n}},\ G_C=E\max_{w\in C}\langle\xi,w\rangle",
        tables=("su-1",),
        paper=KASIVISWANATHAN_2016,
        loss_class=classes.GENERALISED_LINEAR,
        evaluate=name_terms(("privacy",), _NEEDS, _kasiviswanathan_terms),
        hypotheses=(*_LOSSES, LINEAR_MODEL, POPULATION_RISK),
    ),
    bound_like(
        _STRONG_CARD,
        slug="upper.sco.prior-bassily-2014-strong",
        name="Bassily et al. 2014, strongly convex, rate",
        statement="strongly convex Lipschitz losses, population risk",
        summary="Noisy gradient descent on strongly convex losses; the population rate is not "
        "optimal. " + _UNIT_CONSTANTS,
        latex=r"\frac{L^2\sqrt d}{\lambda\sqrt\rho\,n}",
        paper=BASSILY_2014,
        evaluate=name_terms(
            ("privacy",), _STRONG_NEEDS, lambda s: (_strong_unit(s) * _private_term(s),)
        ),
        hypotheses=(*_STRONG_LOSSES, SMALL_BUDGET),
    ),
    bound_like(
        _STRONG_CARD,
        slug="upper.sco.prior-bassily-2014-strong-empirical",
        name="Bassily et al. 2014, strongly convex, empirical risk",
        statement="strongly convex Lipschitz losses, empirical risk",
        summary="Noisy gradient descent on strongly convex losses. " + _EMPIRICAL + _UNIT_CONSTANTS,
        latex=r"\frac{L^2d}{\lambda\rho\,n^2}",
        paper=BASSILY_2014,
        evaluate=name_terms(
            ("privacy",), _STRONG_NEEDS, lambda s: (_strong_unit(s) * _private_term(s) ** 2,)
        ),
        hypotheses=(*_STRONG_LOSSES, POPULATION_RISK),
    ),
    bound_like(
        _STRONG_CARD,
        slug="upper.sco.prior-talwar-strong",
        name="Talwar et al. 2014, strongly convex, empirical risk",
        statement="Su et al., Table 1; Gaussian width of the set",
        summary="The rate with the Gaussian width of the set in place of the dimension. "
        + _EMPIRICAL
        + _UNIT_CONSTANTS,
        latex=r"\frac{L^2G_C^2}{\Delta\rho\,n^2},\ G_C=E\max_{w\in C}\langle\xi,w\rangle,\ "
        r"\Delta=\lambda C_{\min}^2",
        paper=TALWAR_2014,
        evaluate=name_terms(("privacy",), (*_STRONG_NEEDS, "diameter"), _talwar_strong_terms),
        hypotheses=(*_STRONG_LOSSES, DIAMETER, SYMMETRIC, POPULATION_RISK),
    ),
)
