r"""The rates in :math:`\ell_q^d`: Su, Zhao and Wang (2023), Table 2, and earlier work.

(The paper calls the exponent p.) A rate is the sum of a sampling and a privacy term; if it has a
single term, the other one is 0. For Lipschitz losses the unit is L times the set's diameter or the
norm of the minimiser, unless a docstring says otherwise; with heavy tails it is :math:`\sigma M`.
kappa is the printed :math:`\min\{1/(q-1), 2\ln d\}`.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import ARORA_2020, BASSILY_2021
from dpsco_core.base.errors import require
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, Terms, bound_like
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    LIPSCHITZ,
    MINIMUM_INTERIOR,
    SAMPLE_SMOOTH,
    SMOOTH,
    approximate,
    name_terms,
)
from dpsco_core.bounds.euclidean.private_sgd import REMARK_1
from dpsco_core.bounds.lq.conditions import (
    ABOVE_1,
    AMPLIFIED,
    AT_LEAST_2,
    BELOW_2,
    CONTAINS_ZERO,
    LARGE_BATCHED_TRUNCATION,
    LARGE_SAMPLE,
    LARGE_TRUNCATION,
    LIPSCHITZ_EVERYWHERE,
    LONG_ENOUGH,
    MORE_RECORDS,
    SMALL_SIGMA_GRADIENT,
    VARIANCE,
)
from dpsco_core.bounds.lq.explicit import OWN_RATE_LETTERS, RATE_LETTERS, upper_card
from dpsco_core.methods.lq.inputs import own_constants, space_of
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting
from dpsco_core.problems.dual import DualConstants, dual_constants

Pair = tuple[float, float]
Rate = Callable[[Setting, ApproxDP], Pair]


def size_of(d: int, budget: ApproxDP) -> float:
    r"""Return the factor :math:`\sqrt{d\ln(1/\delta)}` of the private terms."""
    return math.sqrt(-d * math.log(budget.delta))


def share_of(exponent: float) -> float:
    """Return 1/q, for q of at least 2."""
    require(exponent >= 2, "exponent", "at least 2", exponent)
    return 1 / exponent


def bassily_2021(setting: Setting, budget: ApproxDP, *, printed: bool = False) -> Pair:
    r"""Return the rate of Bassily, Guzman and Nandi (2021) for Lipschitz losses: Table 2, row 1.

    With `printed` the factor :math:`\sqrt n` for q >= 2 is missing, which the prose and Theorem 8's
    remark have.
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    if setting.exponent < 2:
        kappa = space_of(setting).printed_kappa
        return math.sqrt(kappa / n), kappa * math.sqrt(d) / (n * epsilon)
    share = share_of(setting.exponent)
    sampling = math.pow(d, 0.5 - share)
    return sampling if printed else sampling / math.sqrt(n), math.pow(d, 1 - share) / (n * epsilon)


def theorem_7(setting: Setting, budget: ApproxDP) -> Pair:
    """Return the rate of Theorem 7: unconstrained, Lipschitz losses, 1 < q < 2."""
    kappa, size = space_of(setting).printed_kappa, size_of(setting.d, budget)
    return 0.0, math.pow(kappa**2 * size / (setting.n * budget.epsilon), 0.4)


def theorem_8(setting: Setting, budget: ApproxDP, norm: float, *, printed: bool = False) -> Pair:
    r"""Return the rate of Theorem 8 in units of L: unconstrained, Lipschitz losses, q >= 2.

    `norm` is :math:`\|\theta^*\|_q`. The printed rate lacks a summand 1, so that it would be 0 at
    :math:`\theta^*=0`, which no algorithm attains.
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    unit = math.pow(d, 1 - 2 * share_of(setting.exponent)) * norm**2 + (0.0 if printed else 1.0)
    return unit / math.sqrt(n), unit * size_of(d, budget) / (epsilon * n)


def general_potential(setting: Setting, budget: ApproxDP) -> Pair:
    r"""Return the rate of Arora et al. (2020), Theorem 6 with Remark 1, with any potential.

    It follows from the regret of mirror descent (their Theorem 3) and the energy :math:`d\kappa` of
    the noise, for epsilon of at most about :math:`1/\sqrt n`. For q > 2 it is the l2 rate, in units
    of the l2 constants.
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    kappa = space_of(setting).printed_kappa
    private = kappa * math.sqrt(d) * math.log(3 / budget.delta) / (epsilon * n)
    return math.sqrt(kappa / n), private


def theorem_10(setting: Setting, budget: ApproxDP) -> Pair:
    r"""Return the rate of Theorem 10: constrained, heavy tails, 1 < q < 2, small epsilon.

    The theorem's :math:`\ln(1/\delta')` is left out. The rate is proven for Gaussian noise. For the
    generalized Gaussian noise of the algorithm the proof gives :math:`\kappa^{3/4}`
    (theory/su-zhao-wang.md, 3.6), a difference within the theorem's logarithms, as
    :math:`\kappa\le2\ln d`.
    """
    kappa, size = space_of(setting).printed_kappa, size_of(setting.d, budget)
    return 0.0, math.sqrt(kappa * size / (setting.n * budget.epsilon))


def general_epsilon(setting: Setting, budget: ApproxDP) -> Pair:
    """Return the rate for heavy tails, epsilon < 1 and 1 < q < 2: introduction and Table 2."""
    kappa, size = space_of(setting).printed_kappa, size_of(setting.d, budget)
    return 0.0, math.cbrt(kappa**2 * size / (setting.n * budget.epsilon))


def heavy_euclidean(setting: Setting, budget: ApproxDP, *, printed: bool = False) -> Pair:
    r"""Return the rate for heavy tails and q >= 2, by reduction to l2: Table 2.

    With `printed` the first term is not divided by :math:`\sqrt n`, although it follows from a
    bound of Kamath et al. (2022) that is (theory/su-zhao-wang.md, 2.7).
    """
    n, d, share = setting.n, setting.d, share_of(setting.exponent)
    sampling = math.pow(d, 1.5 - share)
    private = math.pow(d, 1.5 - share / 2) / math.sqrt(n * budget.epsilon)
    return sampling if printed else sampling / math.sqrt(n), private


def _product_of_constants(
    constants_of: Callable[[Setting], DualConstants], *names: str
) -> Callable[[Setting], float]:
    """Return a function that multiplies some constants of a setting."""
    return lambda setting: math.prod(float(getattr(constants_of(setting), name)) for name in names)


_OVER_SET = _product_of_constants(dual_constants, "lipschitz", "diameter")
_LIPSCHITZ = _product_of_constants(dual_constants, "lipschitz")


def _heavy_tailed_unit(setting: Setting) -> float:
    r"""Return the unit of rates with heavy tails, :math:`\sigma M`; infinite without a variance."""
    dual = dual_constants(setting)
    return math.inf if math.isinf(dual.variance) else math.sqrt(dual.variance) * dual.diameter


def _rate_formula(
    rate: Rate,
    unit: Callable[[Setting], float],
    needs: tuple[str, ...],
    smallest_q: float = 1.0,
    largest_q: float = math.inf,
) -> Callable[[Setting], Terms]:
    """Return `rate` times a unit; infinite for exponents q outside the given range."""

    def terms(setting: Setting) -> tuple[float, ...]:
        """Return the terms of the rate at a setting."""
        budget = setting.budget
        if not isinstance(budget, ApproxDP) or not smallest_q <= setting.exponent <= largest_q:
            return math.inf, math.inf
        size = unit(setting)
        return tuple(size * term for term in rate(setting, budget))

    return name_terms(("sampling", "privacy"), needs, terms)


def _make_row(
    slug: str,
    name: str,
    statement: str,
    summary: str,
    latex: str,
    evaluate: Callable[[Setting], Terms],
    hypotheses: tuple[Hypothesis, ...],
    letters: tuple[Letter, ...] = RATE_LETTERS,
    **fields: Any,  # further fields of the card
) -> Bound:
    """Return the catalogue's row of a rate in l_q."""
    fields |= {"constant": "rate", "privacy": "approx"}
    card = upper_card(slug, name, statement, f"{summary} {_UNIT_CONSTANTS}", latex, **fields)
    return Bound(card=card, evaluate=evaluate, hypotheses=hypotheses, letters=letters)


def _check_dimension(setting: Setting) -> str:
    """Return the reason why the dimension is too small; empty if it is not."""
    if setting.d >= 2 or setting.exponent >= 2:
        return ""
    return f"The logarithm of the dimension in kappa needs d >= 2, and d={setting.d}."


_TWO_DIMENSIONS = Hypothesis(text="d >= 2, for q < 2", check=_check_dimension)
_BELOW_1 = approximate(is_strict=True)
_KAPPA = r"\kappa=\min\{\tfrac1{q-1},2\ln d\}"
_UNIT_CONSTANTS = "Constants and logarithms are set to 1."
_NEEDS = ("lipschitz", "diameter")
_FREE = (_BELOW_1, LIPSCHITZ, SAMPLE_SMOOTH, LIPSCHITZ_EVERYWHERE, MINIMUM_INTERIOR, DIAMETER)
# Assumption 4 asks for smooth losses of all records, but for q < 2 the proof of bound B4
# (theory/su-zhao-wang.md, 3.6) uses only the smoothness of the risk.
_TAILS = (_BELOW_1, SMOOTH, DIAMETER, VARIANCE, MINIMUM_INTERIOR, CONTAINS_ZERO)
_REDUCTION = (AT_LEAST_2, *_TAILS, SAMPLE_SMOOTH, SMALL_SIGMA_GRADIENT)
_BASSILY = _make_row(
    "prior-bassily-2021",
    "Bassily et al. 2021, rate",
    "as quoted by Su et al., Table 2, row 1, and section 5",
    "The rate in l_q for Lipschitz losses on a bounded set, optimal for q of at least 2; M is its "
    "diameter in the norm.",
    r"LM\Big(\sqrt{\tfrac\kappa n}+\tfrac{\kappa\sqrt d}{n\varepsilon}\Big)\ (q<2),\quad "
    r"LM\Big(\tfrac{d^{1/2-1/q}}{\sqrt n}+\tfrac{d^{1-1/q}}{n\varepsilon}\Big)\ (q\ge2),\ "
    + _KAPPA,
    _rate_formula(bassily_2021, _OVER_SET, _NEEDS),
    (ABOVE_1, _BELOW_1, LIPSCHITZ, DIAMETER, _TWO_DIMENSIONS),
    loss_class=classes.LIPSCHITZ,
    paper=BASSILY_2021,
)
_PHASED = _make_row(
    "phased-sgd",
    "Phased SGD without a constraint, rate",
    "Theorem 8, with its additive term; Table 2",
    "The rate of phased SGD on the whole space for q of at least 2, by way of l2: quadratic in "
    "the norm of the minimiser, which the set bounds here.",
    r"L\big(1+d^{1-2/q}\|\theta^*\|_q^2\big)\Big(\frac1{\sqrt n}+"
    r"\frac{\sqrt{d\ln(1/\delta)}}{\varepsilon n}\Big)",
    _rate_formula(
        lambda s, budget: theorem_8(s, budget, dual_constants(s).radius),
        _LIPSCHITZ,
        _NEEDS,
        smallest_q=2.0,
    ),
    (AT_LEAST_2, *_FREE),
    loss_class=classes.SMOOTH_LIPSCHITZ,
    method="lp.phased-sgd",
    printing="reworked",
)
_HEAVY_EUCLIDEAN = _make_row(
    "euclidean-reduction",
    "Heavy tails by way of l2, rate",
    "Table 2, q of at least 2, first term over the root of n",
    "The rate for gradients of finite variance and q of at least 2, by reduction to l2.",
    r"\sigma M\Big(\frac{d^{3/2-1/q}}{\sqrt n}+\frac{d^{3/2-1/(2q)}}{\sqrt{n\varepsilon}}\Big)",
    _rate_formula(heavy_euclidean, _heavy_tailed_unit, ("diameter",), smallest_q=2.0),
    _REDUCTION,
    loss_class=classes.SMOOTH,
    method="lp.euclidean-reduction",
    printing="reworked",
)
LQ_RATES: tuple[Bound, ...] = (
    _BASSILY,
    bound_like(
        _BASSILY.card,
        evaluate=_rate_formula(
            partial(bassily_2021, printed=True), _OVER_SET, _NEEDS, smallest_q=2.0
        ),
        hypotheses=(AT_LEAST_2, _BELOW_1, LIPSCHITZ, DIAMETER),
        letters=RATE_LETTERS,
        slug="upper.lp.prior-bassily-2021-paper",
        name="Bassily et al. 2021, rate as Table 2 prints it",
        summary="The table's row for q of at least 2, whose first term has lost the root of n "
        "that the text has. " + _UNIT_CONSTANTS,
        statement="as printed in Su et al., Table 2, row 1",
        latex=r"LM\Big(d^{1/2-1/q}+\tfrac{d^{1-1/q}}{n\varepsilon}\Big)",
    ),
    _make_row(
        "regularized-mirror-descent",
        "Regularised mirror descent, rate",
        "Theorem 7; Table 2",
        "The rate of mirror descent on the whole space with a regulariser that makes it stable, "
        "for q between 1 and 2, in units of L times the norm of the minimiser, which the set "
        "bounds here.",
        r"L\|\theta^*\|_q\,\kappa^{4/5}\Big(\frac{\sqrt{d\ln(1/\delta)}}{n\varepsilon}"
        r"\Big)^{2/5},\ " + _KAPPA,
        _rate_formula(
            theorem_7,
            _product_of_constants(dual_constants, "lipschitz", "radius"),
            _NEEDS,
            largest_q=2.0,
        ),
        (BELOW_2, *_FREE, _TWO_DIMENSIONS, LARGE_SAMPLE, MORE_RECORDS, LONG_ENOUGH),
        loss_class=classes.SMOOTH_LIPSCHITZ,
        method="lp.regularized-mirror-descent",
    ),
    _PHASED,
    bound_like(
        _PHASED.card,
        evaluate=_rate_formula(
            lambda s, budget: theorem_8(s, budget, dual_constants(s).radius, printed=True),
            _LIPSCHITZ,
            _NEEDS,
            smallest_q=2.0,
        ),
        hypotheses=_PHASED.hypotheses,
        letters=RATE_LETTERS,
        slug="upper.lp.phased-sgd-paper",
        name="Phased SGD without a constraint, printed rate",
        statement="Theorem 8",
        printing="printed",
        summary="The theorem as printed: it vanishes with the norm of the minimiser, which no "
        "algorithm's error does. " + _UNIT_CONSTANTS,
        latex=r"L\,d^{1-2/q}\|\theta^*\|_q^2\Big(\frac1{\sqrt n}+"
        r"\frac{\sqrt{d\ln(1/\delta)}}{\varepsilon n}\Big)",
    ),
    _make_row(
        "shuffled-mirror-descent",
        "Shuffled mirror descent, rate",
        "Theorem 10; Table 2",
        "The rate for gradients of finite variance, q between 1 and 2 and small epsilon, with "
        "noise for every record and shuffling. The library's proof has this power of kappa with "
        "Gaussian noise, and 3/4 with the paper's. The theorem's logarithm of a failure "
        "probability is dropped.",
        r"\sigma M\,\frac{(\kappa^2d\ln(1/\delta))^{1/4}}{\sqrt{n\varepsilon}},\ " + _KAPPA,
        _rate_formula(theorem_10, _heavy_tailed_unit, ("diameter",), largest_q=2.0),
        (BELOW_2, *_TAILS, _TWO_DIMENSIONS, AMPLIFIED, LARGE_TRUNCATION),
        loss_class=classes.SMOOTH,
        method="lp.shuffled-mirror-descent",
    ),
    _make_row(
        "batched-mirror-descent",
        "Batched mirror descent, rate",
        "the rate for general epsilon, introduction and Table 2",
        "The rate for gradients of finite variance and q between 1 and 2, with noise for every "
        "batch and without shuffling.",
        r"\sigma M\,\frac{\kappa^{2/3}(d\ln(1/\delta))^{1/6}}{(n\varepsilon)^{1/3}},\ " + _KAPPA,
        _rate_formula(general_epsilon, _heavy_tailed_unit, ("diameter",), largest_q=2.0),
        (BELOW_2, *_TAILS, _TWO_DIMENSIONS, LARGE_BATCHED_TRUNCATION),
        loss_class=classes.SMOOTH,
        method="lp.batched-mirror-descent",
    ),
    _HEAVY_EUCLIDEAN,
    bound_like(
        _HEAVY_EUCLIDEAN.card,
        evaluate=_rate_formula(
            partial(heavy_euclidean, printed=True),
            _heavy_tailed_unit,
            ("diameter",),
            smallest_q=2.0,
        ),
        hypotheses=_REDUCTION,
        letters=RATE_LETTERS,
        slug="upper.lp.euclidean-reduction-paper",
        name="Heavy tails by way of l2, printed rate",
        statement="Table 2, as printed",
        printing="printed",
        summary="The table's entry, whose first term has lost the root of n. " + _UNIT_CONSTANTS,
        latex=r"\sigma M\Big(d^{3/2-1/q}+\frac{d^{3/2-1/(2q)}}{\sqrt{n\varepsilon}}\Big)",
    ),
    _make_row(
        "noisy-mirror-descent",
        "Noisy mirror descent, rate",
        "Theorem 6 with Remark 1, by Theorem 3 with a general potential",
        "The rate of one noisy pass over half of the records with a mirror map of the norm, for "
        "any Lipschitz loss and small epsilon; for q above 2, in l2.",
        r"LM\Big(\sqrt{\frac\kappa n}+\frac{\kappa\sqrt d\,\ln(3/\delta)}{\varepsilon n}\Big)"
        r",\ " + _KAPPA,
        _rate_formula(
            general_potential, _product_of_constants(own_constants, "lipschitz", "diameter"), _NEEDS
        ),
        (*REMARK_1, _TWO_DIMENSIONS),
        OWN_RATE_LETTERS,
        loss_class=classes.LIPSCHITZ,
        paper=ARORA_2020,
        method="lp.noisy-mirror-descent",
        printing="reworked",
    ),
)
