"""Excess risk in l_q: the rates of Su, Zhao and Wang (2023), Table 2, and of earlier work."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import ARORA_2020, BASSILY_2021, SCO_PROBLEMS, SU_2023, BoundCard, Paper
from dpsco_core.base.loss_classes import LossClass
from dpsco_core.bounds.base import Bound, Hypothesis, lettered
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    LIPSCHITZ,
    MINIMUM_INTERIOR,
    SAMPLE_SMOOTH,
    SMOOTH,
    approximate,
    named,
)
from dpsco_core.bounds.euclidean.private_sgd import REMARK_1
from dpsco_core.bounds.lq import letters
from dpsco_core.bounds.lq import rate_formulas as lq_rates
from dpsco_core.bounds.lq.conditions import (
    ABOVE_1,
    AMPLIFIED,
    AT_LEAST_2,
    BELOW_2,
    CONTAINS_ZERO,
    EVERYWHERE,
    LARGE_BATCHED_TRUNCATION,
    LARGE_SAMPLE,
    LARGE_TRUNCATION,
    LONG_ENOUGH,
    MORE_RECORDS,
    SMALL_SIGMA_GRADIENT,
    VARIANCE,
)
from dpsco_core.methods.lq.inputs import own_constants
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting
from dpsco_core.problems.dual import dual_constants

Rate = Callable[[Setting, ApproxDP], tuple[float, float]]
Unit = Callable[[Setting], float]


def _terms(
    rate: Rate, unit: Unit, holds: Callable[[float], bool]
) -> Callable[[Setting], tuple[float, ...]]:
    """Return the terms of `rate` times a unit; infinite where the exponent has no such formula."""

    def terms(setting: Setting) -> tuple[float, ...]:
        budget = setting.budget
        if not isinstance(budget, ApproxDP) or not holds(setting.exponent):
            return math.inf, math.inf
        size = unit(setting)
        return tuple(size * term for term in rate(setting, budget))

    return terms


def _over_set(setting: Setting) -> float:
    r"""Return :math:`LM`, in the norm."""
    found = dual_constants(setting)
    return found.lipschitz * found.diameter


def _over_minimiser(setting: Setting) -> float:
    found = dual_constants(setting)
    return found.lipschitz * found.radius


def _lipschitz(setting: Setting) -> float:
    return dual_constants(setting).lipschitz


def _own_set(setting: Setting) -> float:
    found = own_constants(setting)
    return found.lipschitz * found.diameter


def _heavy(setting: Setting) -> float:
    r"""Return :math:`\sigma M`, infinite where the variance is."""
    found = dual_constants(setting)
    return math.inf if math.isinf(found.variance) else math.sqrt(found.variance) * found.diameter


def _theorem_8(printed: bool) -> Rate:
    return lambda setting, budget: lq_rates.theorem_8(
        setting, budget, dual_constants(setting).radius, printed=printed
    )


def _any(exponent: float) -> bool:
    return True


def _small(exponent: float) -> bool:
    return exponent <= 2


def _large(exponent: float) -> bool:
    return exponent >= 2


def _dimension(setting: Setting) -> str:
    if setting.d >= 2 or setting.exponent >= 2:
        return ""
    return f"The logarithm of the dimension in kappa needs d >= 2, and d={setting.d}."


TWO_DIMENSIONS = Hypothesis(text="d >= 2", check=_dimension)
KAPPA = r"\kappa=\min\{\tfrac1{q-1},2\ln d\}"
_NAMES = ("sampling", "privacy")
_ONE = "Constants and logarithms are set to 1."
_BELOW_1 = approximate(below=True)
_FREE = (_BELOW_1, LIPSCHITZ, SAMPLE_SMOOTH, EVERYWHERE, MINIMUM_INTERIOR, DIAMETER)
# Assumption 4 has every record's loss smooth; for q < 2 the proof of B4 uses the risk's only
# (theory/su-zhao-wang.md, 3.6).
_TAILS = (_BELOW_1, SMOOTH, DIAMETER, VARIANCE, MINIMUM_INTERIOR, CONTAINS_ZERO)
_REDUCTION = (AT_LEAST_2, *_TAILS, SAMPLE_SMOOTH, SMALL_SIGMA_GRADIENT)
_LIPSCHITZ_NEEDS = ("lipschitz", "diameter")


def _card(
    slug: str,
    name: str,
    statement: str,
    summary: str,
    latex: str,
    losses: LossClass,
    paper: Paper = SU_2023,
    method: str = "",
) -> BoundCard:
    return BoundCard(
        slug=f"upper.lp.{slug}",
        name=name,
        paper=paper,
        statement=statement,
        summary=summary,
        kind="upper",
        quantity="excess risk",
        constant="rate",
        latex=latex,
        privacy="approx",
        method=method,
        loss_class=losses,
        problems=SCO_PROBLEMS,
        geometry="lq",
    )


def _bound(
    card: BoundCard,
    rate: Rate,
    unit: Unit,
    holds: Callable[[float], bool],
    needs: tuple[str, ...],
    hypotheses: tuple[Hypothesis, ...],
) -> Bound:
    return Bound(
        card=card, evaluate=named(_NAMES, needs, _terms(rate, unit, holds)), hypotheses=hypotheses
    )


_BASSILY = _card(
    "prior-bassily-2021",
    "Bassily et al. 2021, rate",
    "as quoted by Su et al., Table 2, row 1, and section 5",
    "The rate in l_q for Lipschitz losses on a bounded set, optimal for q of at least 2; M is its "
    "diameter in the norm. " + _ONE,
    r"LM\Big(\sqrt{\tfrac\kappa n}+\tfrac{\kappa\sqrt d}{n\varepsilon}\Big)\ (q<2),\quad "
    r"LM\Big(\tfrac{d^{1/2-1/q}}{\sqrt n}+\tfrac{d^{1-1/q}}{n\varepsilon}\Big)\ (q\ge2),\ " + KAPPA,
    losses=classes.LIPSCHITZ,
    paper=BASSILY_2021,
)
_THEOREM_8 = _card(
    "phased-sgd",
    "Phased SGD without a constraint, rate",
    "Theorem 8, with its additive term; Table 2",
    "The rate of phased SGD on the whole space for q of at least 2, by way of l2: quadratic in "
    "the norm of the minimiser, which the set bounds here. " + _ONE,
    r"L\big(1+d^{1-2/q}\|\theta^*\|_q^2\big)\Big(\frac1{\sqrt n}+"
    r"\frac{\sqrt{d\ln(1/\delta)}}{\varepsilon n}\Big)",
    losses=classes.SMOOTH_LIPSCHITZ,
    method="lp.phased-sgd",
)
_HEAVY_EUCLIDEAN = _card(
    "euclidean-reduction",
    "Heavy tails by way of l2, rate",
    "Table 2, q of at least 2, first term over the root of n",
    "The rate for gradients of finite variance and q of at least 2, by reduction to l2. " + _ONE,
    r"\sigma M\Big(\frac{d^{3/2-1/q}}{\sqrt n}+\frac{d^{3/2-1/(2q)}}{\sqrt{n\varepsilon}}\Big)",
    losses=classes.SMOOTH,
    method="lp.euclidean-reduction",
)
_LQ_RATES: tuple[Bound, ...] = (
    _bound(
        _BASSILY,
        lq_rates.bassily_2021,
        _over_set,
        _any,
        _LIPSCHITZ_NEEDS,
        (ABOVE_1, _BELOW_1, LIPSCHITZ, DIAMETER, TWO_DIMENSIONS),
    ),
    _bound(
        replace(
            _BASSILY,
            slug="upper.lp.prior-bassily-2021-paper",
            name="Bassily et al. 2021, rate as Table 2 prints it",
            summary="The table's row for q of at least 2, whose first term has lost the root of n "
            "that the text has. " + _ONE,
            statement="as printed in Su et al., Table 2, row 1",
            latex=r"LM\Big(d^{1/2-1/q}+\tfrac{d^{1-1/q}}{n\varepsilon}\Big)",
        ),
        partial(lq_rates.bassily_2021, printed=True),
        _over_set,
        _large,
        _LIPSCHITZ_NEEDS,
        (AT_LEAST_2, _BELOW_1, LIPSCHITZ, DIAMETER),
    ),
    _bound(
        _card(
            "regularized-mirror-descent",
            "Regularised mirror descent, rate",
            "Theorem 7; Table 2",
            "The rate of mirror descent on the whole space with a regulariser that makes it "
            "stable, for q between 1 and 2, in units of L times the norm of the minimiser, which "
            "the set bounds here. " + _ONE,
            r"L\|\theta^*\|_q\,\kappa^{4/5}\Big(\frac{\sqrt{d\ln(1/\delta)}}{n\varepsilon}"
            r"\Big)^{2/5},\ " + KAPPA,
            losses=classes.SMOOTH_LIPSCHITZ,
            method="lp.regularized-mirror-descent",
        ),
        lq_rates.theorem_7,
        _over_minimiser,
        _small,
        _LIPSCHITZ_NEEDS,
        (BELOW_2, *_FREE, TWO_DIMENSIONS, LARGE_SAMPLE, MORE_RECORDS, LONG_ENOUGH),
    ),
    _bound(
        _THEOREM_8,
        _theorem_8(printed=False),
        _lipschitz,
        _large,
        _LIPSCHITZ_NEEDS,
        (AT_LEAST_2, *_FREE),
    ),
    _bound(
        replace(
            _THEOREM_8,
            slug="upper.lp.phased-sgd-paper",
            name="Phased SGD without a constraint, printed rate",
            statement="Theorem 8",
            summary="The theorem as printed: it vanishes with the norm of the minimiser, which no "
            "algorithm's error does. " + _ONE,
            latex=r"L\,d^{1-2/q}\|\theta^*\|_q^2\Big(\frac1{\sqrt n}+"
            r"\frac{\sqrt{d\ln(1/\delta)}}{\varepsilon n}\Big)",
        ),
        _theorem_8(printed=True),
        _lipschitz,
        _large,
        _LIPSCHITZ_NEEDS,
        (AT_LEAST_2, *_FREE),
    ),
    _bound(
        _card(
            "shuffled-mirror-descent",
            "Shuffled mirror descent, rate",
            "Theorem 10; Table 2",
            "The rate for gradients of finite variance, q between 1 and 2 and small epsilon, with "
            "noise for every record and shuffling. The library's proof has this power of kappa "
            "with Gaussian noise, and 3/4 with the paper's. The theorem's logarithm of a failure "
            "probability is dropped. " + _ONE,
            r"\sigma M\,\frac{(\kappa^2d\ln(1/\delta))^{1/4}}{\sqrt{n\varepsilon}},\ " + KAPPA,
            losses=classes.SMOOTH,
            method="lp.shuffled-mirror-descent",
        ),
        lq_rates.theorem_10,
        _heavy,
        _small,
        ("diameter",),
        (BELOW_2, *_TAILS, TWO_DIMENSIONS, AMPLIFIED, LARGE_TRUNCATION),
    ),
    _bound(
        _card(
            "batched-mirror-descent",
            "Batched mirror descent, rate",
            "the rate for general epsilon, introduction and Table 2",
            "The rate for gradients of finite variance and q between 1 and 2, with noise for "
            "every batch and without shuffling. " + _ONE,
            r"\sigma M\,\frac{\kappa^{2/3}(d\ln(1/\delta))^{1/6}}{(n\varepsilon)^{1/3}},\ " + KAPPA,
            losses=classes.SMOOTH,
            method="lp.batched-mirror-descent",
        ),
        lq_rates.general_epsilon,
        _heavy,
        _small,
        ("diameter",),
        (BELOW_2, *_TAILS, TWO_DIMENSIONS, LARGE_BATCHED_TRUNCATION),
    ),
    _bound(
        _HEAVY_EUCLIDEAN,
        lq_rates.heavy_euclidean,
        _heavy,
        _large,
        ("diameter",),
        _REDUCTION,
    ),
    _bound(
        replace(
            _HEAVY_EUCLIDEAN,
            slug="upper.lp.euclidean-reduction-paper",
            name="Heavy tails by way of l2, printed rate",
            statement="Table 2, as printed",
            summary="The table's entry, whose first term has lost the root of n. " + _ONE,
            latex=r"\sigma M\Big(d^{3/2-1/q}+\frac{d^{3/2-1/(2q)}}{\sqrt{n\varepsilon}}\Big)",
        ),
        partial(lq_rates.heavy_euclidean, printed=True),
        _heavy,
        _large,
        ("diameter",),
        _REDUCTION,
    ),
    _bound(
        _card(
            "noisy-mirror-descent",
            "Noisy mirror descent, rate",
            "Theorem 6 with Remark 1, by Theorem 3 with a general potential",
            "The rate of one noisy pass over half of the records with a mirror map of the norm, "
            "for any Lipschitz loss and small epsilon; for q above 2, in l2. " + _ONE,
            r"LM\Big(\sqrt{\frac\kappa n}+\frac{\kappa\sqrt d\,\ln(3/\delta)}{\varepsilon n}\Big)"
            r",\ " + KAPPA,
            losses=classes.LIPSCHITZ,
            paper=ARORA_2020,
            method="lp.noisy-mirror-descent",
        ),
        lq_rates.general_potential,
        _own_set,
        _any,
        _LIPSCHITZ_NEEDS,
        (*REMARK_1, TWO_DIMENSIONS),
    ),
)
LQ_RATES = lettered(letters.RATES, _LQ_RATES)
