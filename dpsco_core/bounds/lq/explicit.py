"""Excess risk in l_q with every constant proven, at parameters that look at no data."""

from __future__ import annotations

import math
from dataclasses import replace

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import ARORA_2020, SCO_PROBLEMS, SU_2023, BoundCard, Privacy
from dpsco_core.bounds.base import Bound, Hypothesis, lettered
from dpsco_core.bounds.conditions import GAUSSIAN_BUDGET
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    GRADIENT_BOUND,
    LIPSCHITZ,
    MINIMUM_INTERIOR,
    SAMPLE_SMOOTH,
    SMOOTH,
    Formula,
    approximate,
    named,
)
from dpsco_core.bounds.euclidean.tools import OTHER_PARAMETERS
from dpsco_core.bounds.lq import explicit_formulas as lq_explicit
from dpsco_core.bounds.lq import letters
from dpsco_core.bounds.lq.conditions import (
    AT_LEAST_2,
    AT_MOST_2,
    CONTAINS_ZERO,
    EVERYWHERE,
    MORE_RECORDS,
    STEP_FITS,
    VARIANCE,
)
from dpsco_core.bounds.tools import enough_records
from dpsco_core.methods.lq.noise import Order
from dpsco_core.privacy.generalized_gaussian import Calibration, Noise
from dpsco_core.problems.base import Setting

BOTH: tuple[Order, ...] = ("shuffled", "public")
BATCHES: tuple[Order, ...] = ("public",)
_B3_TERMS = ("regulariser", "privacy noise", "distance to the minimiser", "stability")
_B3_PRIME_TERMS = ("optimisation", "sampling", "privacy noise", "last noise")
_B4_TERMS = ("optimisation", "sampling", "privacy noise", "clipping bias")
_REGRET_TERMS = ("optimisation", "sampling", "privacy")
_LIPSCHITZ_NEEDS = ("lipschitz", "diameter", "sample_smoothness")
_HEAVY_NEEDS = ("diameter", "mean_gradient_bound", "smoothness")
_GAUSSIAN = "With Gaussian noise. "
_SHAPED = "With generalized Gaussian noise, shaped to the dual norm. "
_PRINTED = (
    "The mean excess risk with every constant proven, with the noise that the paper prints and at "
    "the parameters of its statement, in units that it hides."
)
_FREE = (GAUSSIAN_BUDGET, LIPSCHITZ, DIAMETER, SAMPLE_SMOOTH, EVERYWHERE)
_TAILS = (GAUSSIAN_BUDGET, SMOOTH, DIAMETER, GRADIENT_BOUND, VARIANCE, CONTAINS_ZERO)
_KAPPA = r"\kappa=(r-1)d^{2(1/r-1/q')},\ r=\min\{q',2\ln d+1\}"
# What the paper prints for kappa, which its own parameters take; they are rounded where whole.
_PRINTED_KAPPA = r",\ \kappa_0=\min\{\tfrac1{q-1},2\ln d\}"
_B3 = (
    r"\mu\Phi_*\Big(1+\frac1{q_0^T-1}\Big)+\frac S{2\beta}+2L\sqrt{2\Big(\frac S{2\mu\beta}+"
    r"\frac{\bar\Phi\min\{1,T(q_0-1)/q_0\}}{q_0^T-1}\Big)}+\frac{2L^2}{n\mu},\ "
    r"q_0=1+\frac\mu{2\beta},\ \Phi_*=\frac\kappa2\|\theta^*\|_q^2,\ "
    r"\bar\Phi=\min\Big\{\frac{L^2}{2(r-1)\mu^2},\Phi_*+\frac{2L^2}{n\mu^2}\Big\},\ "
    r"S\text{ the energy of a step's noise},\ " + _KAPPA
)
_B4_HEAD = r"\frac{\gamma\kappa R_q^2}{2T}+\frac{V}{2(\gamma-\beta)}+MB,\ "
_B4_TAIL = (
    r",\ B=\min\Big\{\frac{\sigma^2}\lambda\Big(1+\frac G\lambda\Big),\sigma_0\Big\},\ "
    r"\sigma_0=\sigma\max\{1,\tfrac G\lambda\}\ "
    r"(B=0\text{ and }\sigma_0=\sigma\text{ if }G+\lambda\ge L),\ G\ge\|\nabla F\|_{q'},\ "
    r"V_z\text{ the energy of a batch's noise}"
)
_B4 = (
    _B4_HEAD
    + r"V=\frac{\kappa(\sigma_0+B)^2}{\lfloor n/T\rfloor}+V_z\ (\text{no }B\text{ if }q=2)"
    + _B4_TAIL
    + r",\ "
    + _KAPPA
)
# In l2, kappa is 1 and the truncated gradients' spread about their own mean is the smaller one.
_B4_EUCLIDEAN = (
    (_B4_HEAD + r"V=\frac{\sigma_0^2}{\lfloor n/T\rfloor}+V_z" + _B4_TAIL)
    .replace(r"\kappa R_q", " R_2")
    .replace("_{q'}", "_2")
)
_WEIGHT = r"\gamma=\max\Big\{2\beta,\frac{\sqrt{2TV/\kappa}}M\Big\}" + _PRINTED_KAPPA
_CARD = BoundCard(
    slug="upper.lp.regularized-mirror-descent-explicit",
    name="Regularised mirror descent, proven",
    paper=SU_2023,
    statement="Algorithm 3, explicit bound at its best steps and regulariser",
    summary="The mean excess risk with every constant proven, at the parameters that make this "
    "bound smallest. The set is where the minimiser lies; the method may leave it. "
    + OTHER_PARAMETERS
    + " "
    + _GAUSSIAN,
    kind="upper",
    quantity="excess risk",
    constant="explicit",
    latex=r"\min_{T,\mu}" + _B3,
    privacy="zcdp",
    method="lp.regularized-mirror-descent",
    loss_class=classes.SMOOTH_LIPSCHITZ,
    problems=SCO_PROBLEMS,
    geometry="lq",
)


def _small(
    setting: Setting, orders: tuple[Order, ...], noise: Noise, calibration: Calibration = "tight"
) -> tuple[float, ...]:
    if setting.exponent > 2:
        return (math.inf,) * 4
    return lq_explicit.descent_risk(setting, orders, noise, calibration)


def _large(setting: Setting) -> tuple[float, ...]:
    if setting.exponent < 2:
        return (math.inf,) * 4
    return lq_explicit.descent_risk(setting, BOTH, "gaussian")


def _variant(
    card: BoundCard,
    form: str,
    words: str,
    *,
    name: str = "",
    statement: str = "",
    latex: str = "",
    privacy: Privacy = "zcdp",
) -> BoundCard:
    """Return the card of another noise or calibration of the same method."""
    base = card.slug.removesuffix("-explicit")
    return replace(
        card,
        slug=f"{base}-{form}",
        name=f"{card.name}, {name}",
        summary=words
        if words == _PRINTED
        else card.summary.removesuffix(_GAUSSIAN).removesuffix(" ") + " " + words.strip(),
        statement=statement or card.statement,
        latex=latex or card.latex,
        privacy=privacy,
    )


def _bound(
    card: BoundCard,
    names: tuple[str, ...],
    needs: tuple[str, ...],
    formula: Formula,
    hypotheses: tuple[Hypothesis, ...],
) -> Bound:
    tidy = replace(card, summary=card.summary.strip())
    return Bound(card=tidy, evaluate=named(names, needs, formula), hypotheses=hypotheses)


_SHUFFLED = replace(
    _CARD,
    slug="upper.lp.shuffled-mirror-descent-explicit",
    name="Shuffled mirror descent, proven",
    statement="Algorithm 4, explicit bound at its best steps, threshold and weight",
    summary="The mean excess risk with every constant proven, at the parameters that make this "
    "bound smallest, with noise for every record if shuffling makes that better than noise for "
    "every batch. " + OTHER_PARAMETERS + " " + _GAUSSIAN,
    latex=r"\min_{T,\lambda,\gamma}" + _B4,
    method="lp.shuffled-mirror-descent",
    loss_class=classes.SMOOTH,
)
_BATCHED = replace(
    _SHUFFLED,
    slug="upper.lp.batched-mirror-descent-explicit",
    name="Batched mirror descent, proven",
    statement="Algorithm 4 without shuffling, explicit bound at its best parameters",
    summary="The mean excess risk with every constant proven, at the parameters that make this "
    "bound smallest, with noise for every batch. " + OTHER_PARAMETERS + " " + _GAUSSIAN,
    method="lp.batched-mirror-descent",
)
_B3_PRIME = (
    r"\frac{D^2}{8\eta_1n_1}+\sum_i\frac{\eta_iL^2}2+\sum_{i\ge2}"
    r"\frac{d\sigma_{i-1}^2}{2\eta_in_i}+L\sqrt d\,\sigma_K,\ \eta_i=4^{-i}\eta,\ "
    r"n_i=\lfloor2^{-i}n\rfloor,\ \sigma_i=c\,L\eta_i,\ c=\sqrt{2/\rho},\ "
    r"K=\lfloor\log_2n\rfloor"
)
_PHASED = replace(
    _CARD,
    slug="upper.lp.phased-sgd-explicit",
    name="Phased SGD without a constraint, proven",
    statement="Theorem 8's algorithm, explicit bound at its best step size",
    summary="The mean excess risk with every constant proven, at the step size that makes this "
    "bound smallest; D/2 bounds the l2 norm of the minimiser.",
    latex=r"\min_{\eta\le8/\beta}" + _B3_PRIME,
    method="lp.phased-sgd",
)
_TWO_RECORDS = enough_records("2", lambda setting: 2)
_PAPER_BUDGET = approximate(below=True)
_LQ_EXPLICIT: tuple[Bound, ...] = (
    _bound(
        _CARD,
        _B3_TERMS,
        _LIPSCHITZ_NEEDS,
        lambda setting: lq_explicit.regularized_risk(setting, "gaussian", "tight"),
        (AT_MOST_2, *_FREE, MINIMUM_INTERIOR),
    ),
    _bound(
        _variant(_CARD, "generalized", _SHAPED, name="generalized Gaussian noise"),
        _B3_TERMS,
        _LIPSCHITZ_NEEDS,
        lambda setting: lq_explicit.regularized_risk(setting, "generalized gaussian", "tight"),
        (AT_MOST_2, *_FREE, MINIMUM_INTERIOR),
    ),
    _bound(
        _variant(
            _CARD,
            "paper",
            _PRINTED,
            name="the paper's parameters",
            statement="Algorithm 3, explicit bound at the parameters of Theorem 7",
            latex=_B3
            + r",\ T=\Big(\frac{n\varepsilon\sqrt{\kappa_0}}{\sqrt{d\ln(1/\delta)}}\Big)^{2/5},"
            r"\ \mu=\frac{4\beta}T\log_2\frac nT" + _PRINTED_KAPPA,
            privacy="approx",
        ),
        _B3_TERMS,
        _LIPSCHITZ_NEEDS,
        lambda setting: lq_explicit.regularized_risk(setting, "generalized gaussian", "paper"),
        (_PAPER_BUDGET, AT_MOST_2, *_FREE[1:], MINIMUM_INTERIOR, MORE_RECORDS),
    ),
    _bound(
        _PHASED,
        _B3_PRIME_TERMS,
        ("gaussian_rho", *_LIPSCHITZ_NEEDS),
        lq_explicit.phased_risk,
        (AT_LEAST_2, *_FREE, _TWO_RECORDS),
    ),
    _bound(
        replace(
            _PHASED,
            slug="upper.lp.phased-sgd-free",
            name="Phased SGD without a constraint, step size without a distance",
            statement="Theorem 8's algorithm, explicit bound at a step size that knows no distance",
            summary="The mean excess risk with every constant proven, at the step size of an "
            "algorithm that does not know how far the minimiser is.",
            latex=_B3_PRIME + r",\ \eta=\frac1L\min\Big\{\frac1{\sqrt n},\frac1{c\sqrt d}\Big\}",
        ),
        _B3_PRIME_TERMS,
        ("gaussian_rho", *_LIPSCHITZ_NEEDS),
        lambda setting: lq_explicit.phased_risk(setting, diameter_free=True),
        (AT_LEAST_2, *_FREE, _TWO_RECORDS, STEP_FITS),
    ),
    _bound(
        _SHUFFLED,
        _B4_TERMS,
        _HEAVY_NEEDS,
        lambda setting: _small(setting, BOTH, "gaussian"),
        (AT_MOST_2, *_TAILS),
    ),
    _bound(
        _variant(_SHUFFLED, "generalized", _SHAPED, name="generalized Gaussian noise"),
        _B4_TERMS,
        _HEAVY_NEEDS,
        lambda setting: _small(setting, BOTH, "generalized gaussian"),
        (AT_MOST_2, *_TAILS),
    ),
    _bound(
        _variant(
            _SHUFFLED,
            "paper",
            _PRINTED,
            name="the paper's parameters",
            statement="Algorithm 4, explicit bound at the steps and threshold of Theorem 10",
            latex=_B4 + r",\ T=\frac{n\varepsilon\kappa_0}{\sqrt{d\ln(1/\delta)}},\ \lambda="
            r"\max\Big\{G,\frac{\sigma\sqrt{n\varepsilon}}{(\kappa_0^2d\ln(1/\delta))^{1/4}}"
            r"\Big\},\ " + _WEIGHT,
            privacy="approx",
        ),
        _B4_TERMS,
        _HEAVY_NEEDS,
        lambda setting: _small(setting, BOTH, "generalized gaussian", "paper"),
        (_PAPER_BUDGET, AT_MOST_2, *_TAILS[1:]),
    ),
    _bound(
        _BATCHED,
        _B4_TERMS,
        _HEAVY_NEEDS,
        lambda setting: _small(setting, BATCHES, "gaussian"),
        (AT_MOST_2, *_TAILS),
    ),
    _bound(
        _variant(_BATCHED, "generalized", _SHAPED, name="generalized Gaussian noise"),
        _B4_TERMS,
        _HEAVY_NEEDS,
        lambda setting: _small(setting, BATCHES, "generalized gaussian"),
        (AT_MOST_2, *_TAILS),
    ),
    _bound(
        _variant(
            _BATCHED,
            "paper",
            _PRINTED,
            name="the paper's parameters",
            statement="Algorithm 4 without shuffling, explicit bound at parameters of the rate",
            latex=_B4 + r",\ T=\Big(\frac{n\varepsilon\kappa_0}{\sqrt{d\ln(1/\delta)}}\Big)^{2/3},"
            r"\ \lambda=\max\Big\{G,\frac{\sigma(n\varepsilon)^{1/3}}"
            r"{\kappa_0^{2/3}(d\ln(1/\delta))^{1/6}}\Big\},\ " + _WEIGHT,
            privacy="approx",
        ),
        _B4_TERMS,
        _HEAVY_NEEDS,
        lambda setting: _small(setting, BATCHES, "generalized gaussian", "paper"),
        (_PAPER_BUDGET, AT_MOST_2, *_TAILS[1:]),
    ),
    _bound(
        replace(
            _SHUFFLED,
            slug="upper.lp.euclidean-reduction-explicit",
            name="Heavy tails by way of l2, proven",
            statement="Algorithm 4 in l2, with or without shuffling, at its best parameters",
            summary="The mean excess risk with every constant proven, in l2, at the parameters "
            "that make this bound smallest; noise for every record or for every batch, whichever "
            "is better. " + OTHER_PARAMETERS + " " + _GAUSSIAN,
            latex=r"\min_{T,\lambda,\gamma}" + _B4_EUCLIDEAN,
            method="lp.euclidean-reduction",
        ),
        _B4_TERMS,
        _HEAVY_NEEDS,
        _large,
        (AT_LEAST_2, *_TAILS),
    ),
    _bound(
        replace(
            _CARD,
            slug="upper.lp.noisy-mirror-descent-explicit",
            name="Noisy mirror descent, proven",
            paper=ARORA_2020,
            statement="Theorem 3 with a general potential, gradient steps only, best step",
            summary="The mean excess risk of one noisy pass over half of the records with a "
            "mirror map of the norm, at the step that makes this bound smallest; for q above 2, "
            "in l2. The noise is Gaussian, by the l2 size of gradients.",
            latex=r"R_q\sqrt{\frac{\kappa E\|g+\xi\|_{q'}^2}m},\ E\|g+\xi\|_{q'}^2\le\min\{"
            r"\kappa L^2+S,(L+\sqrt S)^2\},\ S\ge E\|\xi\|_r^2,\ "
            r"m=\lfloor n/2\rfloor+1,\ " + _KAPPA,
            method="lp.noisy-mirror-descent",
            loss_class=classes.LIPSCHITZ,
        ),
        _REGRET_TERMS,
        ("gaussian_rho", "lipschitz", "diameter"),
        lq_explicit.noisy_risk,
        (GAUSSIAN_BUDGET, LIPSCHITZ, DIAMETER),
    ),
)
LQ_EXPLICIT = lettered(letters.EXPLICIT, _LQ_EXPLICIT)
