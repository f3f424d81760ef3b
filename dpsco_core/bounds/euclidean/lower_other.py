"""Lower bounds on excess risk without rare spikes: by sampling alone, and rates from papers."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import ARORA_2020, SU_2023, ZHAO_2024
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Hypothesis, Terms
from dpsco_core.bounds.conditions import COORDINATE_MOMENT, moment_scale
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    LIPSCHITZ,
    MINIMUM_INTERIOR,
    STRONGLY_CONVEX,
    approximate,
    below_trivial,
    centre_risk,
    failing_everywhere,
)
from dpsco_core.bounds.euclidean.lower_spikes import (
    class_conditions,
    mean_cap,
    risk_card,
    risk_unit,
)
from dpsco_core.bounds.euclidean.objective import Objective, objective
from dpsco_core.bounds.instances import gaussian
from dpsco_core.bounds.instances.prior import SIGNS_BELOW_TWO
from dpsco_core.bounds.lq.conditions import L2_BALL, SYMMETRIC, width_bounds
from dpsco_core.bounds.rate import Rate, bound_at_rate, is_approximate, two_terms
from dpsco_core.problems.base import Setting


def _signs_formula(strong: bool) -> Callable[[Setting], Terms]:
    """Return the function that evaluates the lower bound from bounded signs at a setting.

    It binds every algorithm. `strong` is for strongly convex losses; otherwise they are linear.
    """

    def terms(setting: Setting) -> Terms:
        """Return the sampling term by its name; 0 if a constant is missing."""
        unit = risk_unit(setting, strong)
        if unit == 0:
            return {"sampling": 0.0}
        form: Form = "squared" if strong else "linear"
        n, d = setting.n, setting.d
        delta = gaussian.best_separation(n, d, mean_cap(setting, strong), form)
        return {"sampling": unit * gaussian.bounded_signs(delta, n, d, form)}

    return terms


def _gaussian_strong_terms(setting: Setting) -> Terms:
    """Return the lower bound for every algorithm from normal data and strongly convex losses."""
    c = setting.constants
    scale = moment_scale(setting)
    if not 0 < scale < math.inf or c.strong_convexity <= 0:
        return {"sampling": 0.0}
    risk = gaussian.gaussian_minimax(setting.n, setting.d, setting.moment_order, squared=True)
    return {"sampling": scale**2 / (2 * c.strong_convexity) * risk}


_UNRESTRICTED = Hypothesis(
    text="parameter unrestricted",
    check=lambda s: (
        ""
        if math.isinf(s.constants.diameter)
        else "The bound is for an unrestricted parameter, and here the set has diameter "
        f"M={s.constants.diameter:.4g}."
    ),
)


# Lower rates are in units of g M/2: those of Kamath et al. (2022), and the rate (6) that Theorem 1
# of Zhao et al. (2024) quotes.
_lower_rate = partial(two_terms, unit="g*M/2", void=0.0)
QUOTED = _lower_rate(
    "sqrt(d/n)",
    "sqrt(d)*(sqrt(d)/(n*epsilon))^(1-1/p)*ln(1/delta)",
    letters=letters.LOWER,
    applies=is_approximate,
)


def _rate_of_class(strong: bool, pure: bool) -> Rate:
    """Return the lower rate for strongly convex or all smooth losses, under pure DP or zCDP."""
    row_letters = (*letters.LOWER, letters.PURE if pure else letters.LOWER_RHO)
    ratio = "d/(epsilon*n)" if pure else "sqrt(d)/(sqrt(rho)*n)"
    if strong:
        private = f"d*min(1, ({ratio})^(2-2/p))"
        return _lower_rate("d/n", private, unit="g^2/lambda", letters=row_letters)
    private = f"sqrt(d)*min(1, ({ratio})^(1-1/p))"
    return _lower_rate("min(1, sqrt(d/n))", private, letters=row_letters)


_LIPSCHITZ_RATE = Rate(
    terms={"sampling": "1/sqrt(n)", "privacy": "min(1, sqrt(d/rho)/n)"},
    unit="L*D",
    letters=(letters.LOWER_RHO,),
    combine=max,
    void=0.0,
)


def width_lower(case: Objective, d: int) -> tuple[float, float]:
    r"""Return the private and the sampling term of Theorem 5's lower rate, whose maximum it is.

    They are :math:`\frac{G_C^2\ln(1/\delta)}{(\ln2d)^4\varepsilon^2n^2}` and :math:`\frac1n`, with
    the constant taken as 1. The printed bound is for a set scaled to diameter 1 and L = 1; here it
    is multiplied by L M. The hard loss, half the squared distance, is :math:`C_{\min}^2`-strongly
    convex in the norm of the set.
    """
    unit = case.width / case.diameter
    logs = math.log(2 * d) ** 4
    scale = case.lipschitz * case.diameter
    private = (unit / (case.epsilon * case.n)) ** 2 * case.log_delta / logs
    return scale * private, scale / case.n


def _width_rate_terms(setting: Setting) -> Terms:
    """Return the privacy and sampling terms of the lower bound of Su, Zhao and Wang (2023).

    It is Theorem 5, up to constants, and depends on the Gaussian width of the set. Both terms are 0
    if the budget is not (epsilon, delta)-DP, or the Lipschitz constant or the diameter is infinite.
    """
    case = objective(setting)
    if case is None or not math.isfinite(case.lipschitz * case.diameter):
        return {"privacy": 0.0, "sampling": 0.0}
    # A lower bound on the risk may use only a lower bound on the width.
    case = replace(case, width=width_bounds(setting).lower)
    private, sampling = width_lower(case, setting.d)
    return {"privacy": private, "sampling": sampling}


def _check_width_records(setting: Setting) -> str:
    """Return the reason why n is too large for Theorem 5; empty if it is not."""
    case = objective(setting)
    if case is None:
        return ""
    largest_n = math.sqrt(setting.d * case.log_delta) / case.epsilon
    if setting.n <= largest_n:
        return ""
    return (
        f"The statement needs n <= sqrt(d ln(1/delta))/epsilon = {largest_n:.4g} up to a constant, "
        f"and n={setting.n}."
    )


def _check_width_delta(setting: Setting) -> str:
    """Return the reason why delta is outside Theorem 5's range; empty if it is not."""
    case = objective(setting)
    if case is None:
        return ""
    if -setting.n * math.log(2) <= -case.log_delta <= -math.log(setting.n):
        return ""
    return (
        "The statement needs delta between 2^-n and 1/n up to constants in the exponents, "
        f"and delta={case.delta:g} at n={setting.n}."
    )


def _check_width_modulus(setting: Setting) -> str:
    """Return why Theorem 5's hard loss is not convex enough for the class; empty if it is."""
    c = setting.constants
    largest = c.lipschitz / c.diameter if math.isfinite(c.diameter) else math.inf
    if c.strong_convexity <= largest or not math.isfinite(largest):
        return ""
    return (
        f"The hard loss has strong convexity L/M={largest:.4g}, and this class asks for "
        f"lambda={c.strong_convexity:.4g}."
    )


def _make_rate_row(strong: bool, pure: bool) -> Bound:
    """Return the catalogue's lower rate of Kamath et al. (2022) for a class and a notion."""
    notion = "pure DP" if pure else "concentrated DP"
    rate = _rate_of_class(strong, pure)
    statement = f"Theorems 6.4 and B.7{' (pure DP)' if pure else ''}, their first term cut at 1"
    if strong:
        statement = "Theorem 6.1, Remark B.6"
        if pure:
            statement = "Lemma 6.3 (pure DP), squared, with Lemma 6.2"
    card = risk_card(
        f"rate-{'pure' if pure else 'cdp'}",
        f"{'pure-DP' if pure else 'CDP'} lower rate",
        statement,
        ("The" if strong else "The paper's")
        + f" lower rate for {notion}, with its hidden constant set to 1.",
        rate.latex,
        "pure" if pure else "zcdp",
        strong=strong,
        constant="rate",
        drawn=True,
        tables=() if pure or strong else ("zhao",),
        printing="" if strong else "reworked",
    )
    return bound_at_rate(card, rate, (*class_conditions(strong), below_trivial(rate, centre_risk)))


def _make_signs_row(strong: bool, statement: str, latex: str) -> Bound:
    """Return the catalogue's lower bound from bounded signs, for every algorithm."""
    card = risk_card(
        "sampling-signs",
        "bounded signs, no privacy",
        statement,
        "Coins with a slight bias, one for each coordinate: bounded data, so it holds for every "
        "moment order.",
        latex + r"V=\sum\frac{2PQ}{P+Q},\ P,Q=\mathrm{Bin}\big(n,\tfrac{1\pm\delta}2\big)",
        "none",
        strong=strong,
        drawn=False,
        proof="sampling",
        infinite_variance=SIGNS_BELOW_TWO,
    )
    return Bound(
        card=card,
        evaluate=_signs_formula(strong),
        hypotheses=class_conditions(strong),
        letters=letters.SIGNS,
    )


_UNPROVEN = failing_everywhere(
    "a proof for (epsilon, delta)-DP",
    "The source that is quoted proves this for rho-CDP only and without the factor ln(1/delta): "
    "nobody has proven it as printed.",
)
OTHER_RISKS: tuple[Bound, ...] = (
    _make_rate_row(strong=False, pure=False),
    _make_rate_row(strong=False, pure=True),
    _make_signs_row(
        False,
        "Theorem 6.4, non-private term, bounded version: N2",
        r"\frac{gM}2\max_\delta\sqrt d\,\frac\delta{1+\delta}\big(1-\sqrt{1-V}\big),\ ",
    ),
    bound_at_rate(
        risk_card(
            "rate-quoted",
            "lower rate as quoted by Zhao et al. (unproven)",
            "Theorem 1, (6), attributed to Kamath et al., Theorem 6.4",
            "The rate with which the paper compares itself, as printed: the theorem that it quotes "
            "is for another privacy class and has no logarithm. It is read for the moments of that "
            "theorem, of each coordinate, with the constant 1 and in units of g M/2.",
            QUOTED.latex,
            "approx",
            strong=False,
            constant="rate",
            drawn=False,
            paper=ZHAO_2024,
            tables=("zhao",),
            losses="A claim about the worst case of smooth convex losses and laws with bounded "
            "p-th moments: on another loss a measured line may run below.",
        ),
        QUOTED,
        (*class_conditions(strong=False), approximate(math.inf), _UNPROVEN),
    ),
    bound_at_rate(
        risk_card(
            "rate-lipschitz",
            "lower rate for Lipschitz losses",
            "quoted in section 3 from Bassily et al. 2014 and 2019, its second term cut at 1",
            "The optimal rate for losses with bounded gradients, the other end of the scale from "
            "heavy tails; its hidden constant and logarithms are set to 1.",
            _LIPSCHITZ_RATE.latex,
            "zcdp",
            printing="reworked",
            strong=False,
            constant="rate",
            drawn=False,
            paper=ARORA_2020,
            loss_class=classes.LIPSCHITZ,
            instance_class=classes.LIPSCHITZ_LINEAR,
            losses="A worst case over convex losses whose gradients are at most L for every "
            "record: on another loss a measured line may run below.",
        ),
        _LIPSCHITZ_RATE,
        (LIPSCHITZ, DIAMETER, L2_BALL),
    ),
    _make_rate_row(strong=True, pure=False),
    _make_rate_row(strong=True, pure=True),
    _make_signs_row(
        True,
        "Theorem 6.1, non-private term, bounded version: N2",
        r"\frac{g^2}{2\lambda}\max_\delta d\Big(\frac\delta{1+\delta}\Big)^2V,\ ",
    ),
    Bound(
        card=risk_card(
            "sampling-gaussian",
            "Gaussian, no privacy",
            "Theorem 6.1, classical term, exact: N1",
            "The exact minimax risk of the quadratic loss for normal laws with p-th moment 1, when "
            "the parameter may be anywhere.",
            r"\frac{g^2}{2\lambda}\,\sigma_p^2\frac dn,\ \sigma_p=(E|Z|^p)^{-1/p}",
            "none",
            strong=True,
            drawn=False,
            proof="sampling",
            infinite_variance="Normal laws have every moment, and are scaled to the p-th.",
        ),
        evaluate=_gaussian_strong_terms,
        hypotheses=(
            COORDINATE_MOMENT,
            STRONGLY_CONVEX,
            MINIMUM_INTERIOR,
            _UNRESTRICTED,
        ),
        letters=letters.LOWER,
    ),
    Bound(
        card=risk_card(
            "width",
            "Gaussian width",
            "Theorem 5",
            "The lower rate with the Gaussian width of a symmetric set, for the quadratic loss "
            "with Lipschitz constant L on the set; its hidden constant is set to 1. The theorem is "
            "worded for the empirical risk of a data set.",
            r"LM\max\Big\{\frac{(G/M)^2\ln(1/\delta)}{(\ln2d)^4\varepsilon^2n^2},\frac1n\Big\},\ "
            r"G=E\max_{w\in C}\langle\xi,w\rangle",
            "approx",
            strong=True,
            constant="rate",
            drawn=False,
            paper=SU_2023,
            loss_class=classes.LIPSCHITZ_STRONG,
            instance_class=classes.LIPSCHITZ_SQUARED_DISTANCE,
            losses="A worst case over data in the set: on another loss a measured line may run "
            "below.",
        ),
        evaluate=_width_rate_terms,
        combine=max,
        hypotheses=(
            approximate(),
            LIPSCHITZ,
            DIAMETER,
            SYMMETRIC,
            Hypothesis(text="n <= sqrt(d ln(1/delta))/epsilon", check=_check_width_records),
            Hypothesis(text="2^-n <= delta <= 1/n", check=_check_width_delta),
            Hypothesis(text="lambda <= L/M", check=_check_width_modulus),
            below_trivial(
                # L M/2 is the largest excess risk that the centre of a symmetric set can have.
                _width_rate_terms,
                lambda s: s.constants.lipschitz * s.constants.diameter / 2,
                combine=max,
                missing="cap where n is small",
            ),
        ),
    ),
)
