r"""The lower bounds of Kamath et al. (2022), Lemma 6.3: by rare spikes, by sampling, and as rates.

All are worst cases over the laws whose coordinates have central p-th moment at most
``coordinate_moment`` and whose mean has norm at most R = ``mean_gradient_bound``; R caps the spike
probability. If a setting fixes ``spike_probability``, a bound over spikes is evaluated at that
probability, because the bound at another one is about another prior.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

from dpsco_core.base.cards import KAMATH_2022, OWN, BoundCard, Proof, Quantity
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, Terms, bound_like, set_letters
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    MEAN_UNRESTRICTED,
    PRIOR_IN_SET,
    large_enough,
    moment_scale,
    scaled_mean_bound,
)
from dpsco_core.bounds.cubes import TWO_SIGNS, within_cubes
from dpsco_core.bounds.instances import gaussian, hypercube, spikes
from dpsco_core.bounds.instances.hardest import FORMS, Best, ValueAt, largest_spike_probability
from dpsco_core.bounds.instances.prior import SHRUNK, SIGNS_BELOW_TWO, ZCDP_CLASS
from dpsco_core.bounds.letters import BINOMIAL, WRONG_SIGNS
from dpsco_core.bounds.mean.lower_priors import at_best, mean_bound_over_prior
from dpsco_core.bounds.rate import bound_at_rate, two_terms
from dpsco_core.problems.base import Setting

Instance = Literal["spike", "hypercube"]
_CLASS = {
    "zcdp": ZCDP_CLASS,
    "pure": "It is a worst case over laws with bounded p-th moments and means within R, and binds "
    "epsilon-DP algorithms.",
}


def _condition_on_class(instance: Instance) -> Hypothesis:
    """Return the condition that a fixed spike probability keeps the instance in the class."""

    def check(setting: Setting) -> str:
        """Return the reason why the instance is not in the class; empty if it is."""
        p, bound = setting.spike_probability, scaled_mean_bound(setting)
        largest = largest_spike_probability(instance, setting.d, setting.moment_order, bound)
        if p is None or p <= largest * (1 + 1e-9):
            return ""
        return (
            f"At spike probability {p:.3g} the prior's means exceed R={bound:.4g}: "
            f"at most {largest:.3g} keeps them within."
        )

    return Hypothesis(text="the prior's means have norm at most R", check=check)


def _bound_over_spikes(
    name: str,
    title: str,
    statement: str,
    summary: str,
    latex: str,
    *,
    instance: Instance,
    privacy: Literal["pure", "zcdp"],
    proof: Proof,
    # These functions return the bound at p and the best p; None takes those of `FORMS`.
    form: tuple[ValueAt, Best] | None = None,
    quantity: Quantity = "l2 error",
    smallest_d: int = 1,
    drawn: bool = True,
    is_fano: bool = False,
    letters: tuple[Letter, ...] = letters.LOWER,
) -> Bound:
    """Return the catalogue's lower bound on a mean's error from an instance with rare spikes.

    `name` ends its slug and is its key in `FORMS`; `smallest_d` is the least dimension at which it
    is positive.
    """
    value_at, best = form or FORMS[name]

    def value(setting: Setting, _: Form, cap: float) -> float:
        """Return the bound in moment units, at the setting's spike probability or the best one."""
        n, d, order = setting.n, setting.d, setting.moment_order
        level = setting.rho if privacy == "zcdp" else setting.pure_epsilon
        best_at = partial(best, n, d, order, level)
        return at_best(setting, cap, lambda p: value_at(p, n, d, order, level), best_at, instance)

    card = BoundCard(
        slug=f"lower.mean.{name}",
        name=title,
        paper=KAMATH_2022,
        statement=statement,
        summary=f"{summary} {_CLASS[privacy]}",
        kind="lower",
        quantity=quantity,
        constant="explicit",
        latex=latex,
        privacy=privacy,
        instance=instance,
        drawn=drawn,
        proof=proof,
        is_fano=is_fano,
        infinite_variance=SHRUNK,
    )
    sizes = (large_enough(smallest_d),) if smallest_d > 1 else ()
    in_class = _condition_on_class(instance)
    if instance == "hypercube":
        in_class = within_cubes(in_class, strong=False)
    return mean_bound_over_prior(card, value, in_class, *sizes, letters=letters)


_fano_cdp = partial(_bound_over_spikes, instance="spike", privacy="zcdp", proof="fano by packing")
_fano_pure = partial(_bound_over_spikes, instance="spike", privacy="pure", proof="fano by packing")
_hypercube_cdp = partial(
    _bound_over_spikes, instance="hypercube", privacy="zcdp", proof="hypercube"
)
_hypercube_pure = partial(
    _bound_over_spikes, instance="hypercube", privacy="pure", proof="hypercube"
)
SPIKE_LOWER_BOUNDS: tuple[Bound, ...] = (
    _fano_cdp(
        "fano-cdp",
        "CDP Fano, paper's packing",
        "Theorem 1.4 with Lemma 6.3, explicit: form (F)",
        "Fano's inequality for concentrated DP on a code of rare spikes: too few spikes are seen "
        "to tell the words apart. As printed, with its constants explicit: it uses few of all "
        "patterns and a single distance, and loses a constant factor that the form by distance "
        "does not.",
        r"\max_q\frac{q^{1-1/p}\sqrt{d/8}}{2}"
        r"\Big[1-\frac{\rho(n^2q^2+nq(1-q))+\ln2}{\frac d8\ln2}\Big]_+",
        smallest_d=9,
    ),
    _fano_cdp(
        "fano-cdp-gilbert",
        "CDP Fano, exact code sizes",
        "Theorem 1.4 with Lemma 6.3, Gilbert's code at its best distance",
        "The same argument with as many words as Gilbert's count allows; still a packing, and a "
        "single distance.",
        r"\max_{q,\,\delta}\frac{q^{1-1/p}\sqrt{\delta}}{2}"
        r"\Big[1-\frac{\rho(n^2q^2+nq(1-q))+\ln2}{\ln N(\delta)}\Big]_+,\ "
        r"N(\delta)=\frac{\binom dw}{\sum_{i<\delta/2}\binom wi\binom{d-w}i},\ "
        r"w=\lfloor\tfrac d2\rfloor",
        smallest_d=3,
        drawn=False,
        letters=(*letters.LOWER, Letter(r"\delta", "distance of the code, the best one")),
        form=(spikes.spike_fano_cdp_gilbert, spikes.best_cdp_gilbert),
    ),
    _fano_cdp(
        "fano-cdp-squared",
        "CDP Fano, paper's packing, squared error",
        "Theorem 1.4 with Lemma 6.3, explicit, squared",
        "Fano's inequality for concentrated DP on a code of rare spikes, as printed: the form by "
        "distance is larger.",
        r"\max_q\frac{q^{2-2/p}\,d/8}{4}"
        r"\Big[1-\frac{\rho(n^2q^2+nq(1-q))+\ln2}{\frac d8\ln2}\Big]_+",
        drawn=False,
        quantity="squared l2 error",
        smallest_d=9,
    ),
    _fano_pure(
        "fano-pure",
        "Pure-DP Fano",
        "Lemma 6.3 (pure DP), conditioned on the number of spikes",
        "Group privacy on a code of rare spikes: B spikes leave the words within a "
        "factor exp(epsilon B) of each other.",
        r"\max_q\frac{q^{1-1/p}\sqrt{d/8}}{2}\,"
        r"E\Big[\frac{N-1}{N-1+e^{\varepsilon B}}\Big],\ N=2^{d/8},\ " + BINOMIAL,
        smallest_d=8,
        is_fano=True,
    ),
    _fano_pure(
        "fano-pure-markov",
        "Pure-DP Fano, Markov form",
        "Lemma 6.3 (pure DP), Markov form with the best t",
        "The simpler form of the pure-DP argument, through the expected number of spikes.",
        r"\max_{q,\,t>1}\frac{q^{1-1/p}\sqrt{d/8}}{2}\Big(1-\frac1t\Big)"
        r"\frac{N-1}{N-1+e^{t\varepsilon nq}},\ N=2^{d/8}",
        drawn=False,
        smallest_d=8,
        form=(spikes.spike_markov_pure, spikes.best_markov_pure),
    ),
    _hypercube_cdp(
        "hypercube-cdp",
        "CDP hypercube",
        "Lemma 6.3, sharper: sign hypercube, entropy form",
        "Every sign of a rare spike must be guessed, and privacy hides most of them.",
        r"\max_q2\sqrt d\,q^{1-1/p}\,E\big[h^{-1}\big((\ln2-\rho B^2/d)_+\big)\big],\ "
        + BINOMIAL
        + r",\ h(x)=-x\ln x-(1-x)\ln(1-x),\ h^{-1}\le\tfrac12",
    ),
    _hypercube_cdp(
        "hypercube-cdp-closed",
        "CDP hypercube, closed form",
        "Lemma 6.3, sharper: sign hypercube, closed form",
        "The hypercube bound in a formula that fits on a line.",
        r"\max_q\sqrt d\,q^{1-1/p}\big(1-nq\sqrt{2\rho/d}\big)_+",
        drawn=False,
        form=(hypercube.hypercube_cdp_closed, hypercube.best_cdp_closed),
    ),
    _hypercube_cdp(
        "hypercube-cdp-squared",
        "CDP hypercube, squared error",
        "Lemma 6.3, sharper: sign hypercube, squared",
        "Every sign of a rare spike must be guessed, and privacy hides most of them.",
        r"\max_qd\,q^{2-2/p}\,E\big[(1-2\rho B^2/d)_+\big],\ " + BINOMIAL,
        drawn=False,
        quantity="squared l2 error",
    ),
    _hypercube_pure(
        "hypercube-pure",
        "Pure-DP hypercube",
        "Lemma 6.3 (pure DP), sharper: sign hypercube",
        "Every sign of a rare spike must be guessed; under pure DP, B spikes tilt the "
        "odds of two sign patterns by at most exp(epsilon B).",
        r"\max_q2\sqrt d\,q^{1-1/p}\,E[g_d(\varepsilon B)],\ " + BINOMIAL + WRONG_SIGNS,
    ),
    _hypercube_pure(
        "hypercube-pure-squared",
        "Pure-DP hypercube, squared error",
        "Lemma 6.3 (pure DP), sharper: sign hypercube, squared",
        "Every sign of a rare spike must be guessed, and pure DP hides most of them.",
        r"\max_q2d\,q^{2-2/p}\,E[g_d(\varepsilon B)],\ " + BINOMIAL + WRONG_SIGNS,
        drawn=False,
        quantity="squared l2 error",
    ),
)


def _sampling_formula(value: Callable[[Setting], float]) -> Callable[[Setting], Terms]:
    """Return the function that evaluates a bound for all algorithms, private or not.

    Its only term is the sampling term. `value` computes the bound over the moment scale (see
    `moment_scale`); the term is in the unit of the records.
    """

    def terms(setting: Setting) -> Terms:
        """Return the sampling term at a setting, by its name."""
        scale = moment_scale(setting)
        return {"sampling": scale * value(setting) if 0 < scale < math.inf else 0.0}

    return terms


def _signs_bound(setting: Setting) -> float:
    """Return the lower bound from bounded signs in moment units, at the best bias of the signs."""
    delta = gaussian.best_separation(setting.n, setting.d, scaled_mean_bound(setting))
    return gaussian.bounded_signs(delta, setting.n, setting.d)


_lower_rate = partial(two_terms, "sqrt(d/n)", scale=moment_scale, void=0.0)
_CDP = _lower_rate("sqrt(d)*min(1, (sqrt(d)/(sqrt(rho)*n))^(1-1/p))", letters=(letters.LOWER_RHO,))
_PURE = _lower_rate("sqrt(d)*min(1, (d/(epsilon*n))^(1-1/p))", letters=(letters.PURE,))


def _condition_below_mean_bound(terms: Callable[[Setting], Terms]) -> Hypothesis:
    """Return the condition that a lower rate is at most R, which the answer 0 never exceeds."""

    def check(setting: Setting) -> str:
        """Return the reason why the lower rate exceeds R; empty if it does not."""
        rate = math.fsum(terms(setting).values())
        bound = setting.constants.mean_gradient_bound
        if rate <= bound:
            return ""
        return (
            f"The rate {rate:.3g} exceeds R={bound:.4g}, and the answer 0 has an error of at most "
            "R: the statement has no bound on the mean."
        )

    return Hypothesis(text="the rate is below R", check=check)


_GAUSSIAN = BoundCard(
    slug="lower.mean.gaussian",
    name="Gaussian, no privacy",
    paper=KAMATH_2022,
    statement="Lemma 6.3, classical term, exact: N1",
    summary="The exact minimax error for normal laws with p-th moment 1; it binds every algorithm.",
    kind="lower",
    constant="explicit",
    latex=r"\sigma_p\sqrt{\tfrac2n}\,\frac{\Gamma((d+1)/2)}{\Gamma(d/2)},\ "
    r"\sigma_p=(E|Z|^p)^{-1/p}",
    privacy="none",
    drawn=False,
    infinite_variance="Normal laws have every moment, and are scaled to the p-th.",
    proof="sampling",
)
_CARD = replace(_GAUSSIAN, infinite_variance="")
_BOUNDS: tuple[Bound, ...] = (
    Bound(
        card=_GAUSSIAN,
        evaluate=_sampling_formula(lambda s: gaussian.gaussian_minimax(s.n, s.d, s.moment_order)),
        hypotheses=(COORDINATE_MOMENT, PRIOR_IN_SET, MEAN_UNRESTRICTED),
    ),
    bound_like(
        _CARD,
        slug="lower.mean.bounded-signs",
        name="Bounded signs, no privacy",
        statement="Lemma 6.3, classical term, bounded version: N2",
        summary="Coins with a slight bias, one for each coordinate: bounded data, so it holds for "
        "every moment order and binds every algorithm.",
        latex=r"\max_\delta\sqrt d\,\frac{\delta}{1+\delta}\Big(1-\mathrm{TV}\big(\mathrm{Bin}"
        r"(n,\tfrac{1+\delta}2),\mathrm{Bin}(n,\tfrac{1-\delta}2)\big)\Big)",
        drawn=True,
        infinite_variance=SIGNS_BELOW_TWO,
        evaluate=_sampling_formula(_signs_bound),
        hypotheses=(COORDINATE_MOMENT, PRIOR_IN_SET),
    ),
    bound_like(
        _CARD,
        slug="lower.mean.biased-signs",
        name="Biased signs, no privacy",
        paper=OWN,
        statement="approx-lower-bounds, section 6",
        summary="Signs with hidden biases: no estimate is closer to them than their records allow. "
        "It holds for every moment order, for means within R, and binds every algorithm.",
        latex=r"\max_{r,u}\frac1c\,\frac{2G}{x+\sqrt{x^2+4uG}},\ x=r^2\sqrt{\tfrac{ndu}{1+u}},\ "
        r"G=r^2\bar m\Big(1-\frac v{2\bar m^2}\Big)_+^2,\ \bar m=\frac{du}{1+u}-1,\ "
        r"v=\frac{2du}{(1+u)^2(u+3)},\ c=\max\Big\{\tfrac{r\sqrt d}R,\min\big\{1+r,\big(1+"
        r"\tfrac{(p-3)_+}4r[(1+r)^p-(1-r)^p]\big)^{1/p}\big\}\Big\}",
        drawn=True,
        infinite_variance=SIGNS_BELOW_TWO,
        evaluate=_sampling_formula(
            lambda s: gaussian.biased_signs(s.n, s.d, s.moment_order, scaled_mean_bound(s))
        ),
        hypotheses=(COORDINATE_MOMENT, PRIOR_IN_SET, TWO_SIGNS),
    ),
    bound_at_rate(
        _CARD,
        _CDP,
        (COORDINATE_MOMENT, PRIOR_IN_SET, _condition_below_mean_bound(_CDP)),
        slug="lower.mean.rate-cdp",
        name="CDP lower rate",
        statement="Lemma 6.3",
        summary="The paper's lower rate for concentrated DP, with its hidden constant set to 1.",
        privacy="zcdp",
        proof="",
        constant="rate",
        drawn=True,
    ),
    bound_at_rate(
        _CARD,
        _PURE,
        (COORDINATE_MOMENT, PRIOR_IN_SET, _condition_below_mean_bound(_PURE)),
        slug="lower.mean.rate-pure",
        name="Pure-DP lower rate",
        statement="Lemma 6.3 (pure DP)",
        summary="The paper's lower rate for pure DP, with its hidden constant set to 1.",
        privacy="pure",
        proof="",
        constant="rate",
        drawn=True,
    ),
)
OTHER_LOWER_BOUNDS = set_letters(letters.SIGNS, _BOUNDS)
