r"""The rates in :math:`\ell_q^d`: Su, Zhao and Wang (2023), Table 2, and earlier work.

(The paper calls the exponent p.) A rate is the sum of a sampling and a privacy term, of which one
may be 0. For Lipschitz losses the unit is L times the diameter of the set or the norm of the
minimiser, unless a comment says otherwise; with heavy tails it is :math:`\sigma M`. In formulas
kappa is the printed :math:`\min\{1/(q-1), 2\ln d\}`.
"""

from dataclasses import replace
from functools import partial
from typing import Any

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import ARORA_2020, BASSILY_2021
from dpsco_core.bounds.base import Bound, Hypothesis, bound_like
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    LIPSCHITZ,
    MINIMUM_INTERIOR,
    SAMPLE_SMOOTH,
    SMOOTH,
    approximate,
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
from dpsco_core.bounds.rate import Rate, bound_at_rate, is_approximate, two_terms
from dpsco_core.problems.base import Setting

_rate = partial(two_terms, letters=RATE_LETTERS, applies=is_approximate)
_from_two = partial(_rate, applies=lambda s: is_approximate(s) and s.exponent >= 2)
# Row 1 of Table 2 has these rates of Bassily, Guzman and Nandi (2021) for constrained Lipschitz
# losses. For q >= 2 the table lacks the root of n, which the text and the remark on Theorem 8 have.
BASSILY_BELOW_TWO = _rate("sqrt(kappa/n)", "kappa*sqrt(d)/(n*epsilon)", unit="L*M")
BASSILY_FROM_TWO = _from_two("d^(1/2-1/q)/sqrt(n)", "d^(1-1/q)/(n*epsilon)", unit="L*M")
# Theorem 7 has this rate for unconstrained Lipschitz losses and 1 < q < 2.
THEOREM_7 = _rate("0", "(kappa^2*sqrt(d*ln(1/delta))/(n*epsilon))^(2/5)", unit="L*theta")
# Theorem 8 is for unconstrained Lipschitz losses and q >= 2. Its printed unit lacks the 1, so that
# the rate would be 0 for a minimiser of 0, which no algorithm achieves.
THEOREM_8 = _from_two(
    "1/sqrt(n)", "sqrt(d*ln(1/delta))/(epsilon*n)", unit="L*(1 + d^(1-2/q)*theta^2)"
)
THEOREM_8_PRINTED = replace(THEOREM_8, unit="L*theta^2*d^(1-2/q)")
# Theorem 10 is for constrained, heavy-tailed problems with 1 < q < 2 and small epsilon; its
# ln(1/delta') is omitted here. It is proven for Gaussian noise. For the algorithm's generalized
# Gaussian noise the proof gives kappa^(3/4) (theory/su-zhao-wang.md, 3.6); since kappa is at most
# 2 ln d, the difference is within the theorem's logarithms.
THEOREM_10 = _rate("0", "sqrt(kappa*sqrt(d*ln(1/delta))/(n*epsilon))", unit="sigma*M")
# The introduction and Table 2 have this rate for heavy tails, epsilon < 1 and 1 < q < 2.
GENERAL_EPSILON = _rate("0", "(kappa^2*sqrt(d*ln(1/delta))/(n*epsilon))^(1/3)", unit="sigma*M")
# Table 2 has this rate for heavy tails and q >= 2, by reduction to l2. The printed first term lacks
# the root of n that the bound of Kamath et al. (2022) behind it has (theory/su-zhao-wang.md, 2.7).
HEAVY_EUCLIDEAN = _from_two(
    "d^(3/2-1/q)/sqrt(n)", "d^(3/2-1/(2*q))/sqrt(n*epsilon)", unit="sigma*M"
)
# Arora et al. (2020), Theorem 6 with Remark 1, have this rate for any potential. It follows from
# the regret of mirror descent (their Theorem 3) and the energy d kappa of the noise, for epsilon up
# to about 1/sqrt(n). For q > 2 it is the l2 rate, in units of the l2 constants.
GENERAL_POTENTIAL = two_terms(
    "sqrt(kappa/n)",
    "kappa*sqrt(d)*ln(3/delta)/(epsilon*n)",
    unit="L*M",
    letters=OWN_RATE_LETTERS,
    applies=is_approximate,
)


def _make_row(
    rate: Rate,
    slug: str,
    name: str,
    statement: str,
    summary: str,
    hypotheses: tuple[Hypothesis, ...],
    **fields: Any,  # further fields of the card
) -> Bound:
    """Return the catalogue's upper bound for a rate in l_q with hidden constants."""
    fields |= {"constant": "rate", "privacy": "approx"}
    card = upper_card(slug, name, statement, f"{summary} {_UNIT_CONSTANTS}", rate.latex, **fields)
    return bound_at_rate(card, rate, hypotheses)


def _check_dimension(setting: Setting) -> str:
    """Return the reason why the dimension is too small; empty if it is not."""
    if setting.d >= 2 or setting.exponent >= 2:
        return ""
    return f"The logarithm of the dimension in kappa needs d >= 2, and d={setting.d}."


_TWO_DIMENSIONS = Hypothesis(text="d >= 2, for q < 2", check=_check_dimension)
_BELOW_1 = approximate(is_strict=True)
_UNIT_CONSTANTS = "Constants and logarithms are set to 1."
_FREE = (_BELOW_1, LIPSCHITZ, SAMPLE_SMOOTH, LIPSCHITZ_EVERYWHERE, MINIMUM_INTERIOR, DIAMETER)
# Assumption 4 asks for smooth losses of all records, but for q < 2 the proof of bound B4
# (theory/su-zhao-wang.md, 3.6) uses only the smoothness of the risk.
_TAILS = (_BELOW_1, SMOOTH, DIAMETER, VARIANCE, MINIMUM_INTERIOR, CONTAINS_ZERO)
_REDUCTION = (AT_LEAST_2, *_TAILS, SAMPLE_SMOOTH, SMALL_SIGMA_GRADIENT)
_BASSILY = _make_row(
    BASSILY_FROM_TWO,
    "prior-bassily-2021",
    "Bassily et al. 2021, rate",
    "as quoted by Su et al., Table 2, row 1, and section 5",
    "The rate in l_q for Lipschitz losses on a bounded set, optimal for q of at least 2; M is its "
    "diameter in the norm.",
    (ABOVE_1, _BELOW_1, LIPSCHITZ, DIAMETER, _TWO_DIMENSIONS),
    loss_class=classes.LIPSCHITZ,
    paper=BASSILY_2021,
)
_PHASED = _make_row(
    THEOREM_8,
    "phased-sgd",
    "Phased SGD without a constraint, rate",
    "Theorem 8, with its additive term; Table 2",
    "The rate of phased SGD on the whole space for q of at least 2, by way of l2: quadratic in "
    "the norm of the minimiser, which the set bounds here.",
    (AT_LEAST_2, *_FREE),
    loss_class=classes.SMOOTH_LIPSCHITZ,
    method="lp.phased-sgd",
    printing="reworked",
)
_HEAVY_EUCLIDEAN = _make_row(
    HEAVY_EUCLIDEAN,
    "euclidean-reduction",
    "Heavy tails by way of l2, rate",
    "Table 2, q of at least 2, first term over the root of n",
    "The rate for gradients of finite variance and q of at least 2, by reduction to l2.",
    _REDUCTION,
    loss_class=classes.SMOOTH,
    method="lp.euclidean-reduction",
    printing="reworked",
)
LQ_RATES: tuple[Bound, ...] = (
    bound_like(
        _BASSILY.card,
        evaluate=lambda s: (BASSILY_BELOW_TWO if s.exponent < 2 else BASSILY_FROM_TWO)(s),
        hypotheses=_BASSILY.hypotheses,
        letters=RATE_LETTERS,
        latex=rf"{BASSILY_BELOW_TWO.formula}\ (q<2),\quad {BASSILY_FROM_TWO.formula}\ (q\ge2)"
        + r",\ ".join(("", *BASSILY_BELOW_TWO.definitions)),
    ),
    bound_at_rate(
        _BASSILY.card,
        BASSILY_FROM_TWO.drop("/sqrt(n)"),
        (AT_LEAST_2, _BELOW_1, LIPSCHITZ, DIAMETER),
        slug="upper.lp.prior-bassily-2021-paper",
        name="Bassily et al. 2021, rate as Table 2 prints it",
        summary="The table's row for q of at least 2, whose first term has lost the root of n "
        "that the text has; in units of L M, which the table leaves out. " + _UNIT_CONSTANTS,
        statement="as printed in Su et al., Table 2, row 1",
    ),
    _make_row(
        THEOREM_7,
        "regularized-mirror-descent",
        "Regularised mirror descent, rate",
        "Theorem 7; Table 2",
        "The rate of mirror descent on the whole space with a regulariser that makes it stable, "
        "for q between 1 and 2, in units of L times the norm of the minimiser, which the set "
        "bounds here.",
        (BELOW_2, *_FREE, _TWO_DIMENSIONS, LARGE_SAMPLE, MORE_RECORDS, LONG_ENOUGH),
        loss_class=classes.SMOOTH_LIPSCHITZ,
        method="lp.regularized-mirror-descent",
    ),
    _PHASED,
    bound_at_rate(
        _PHASED.card,
        THEOREM_8_PRINTED,
        _PHASED.hypotheses,
        slug="upper.lp.phased-sgd-paper",
        name="Phased SGD without a constraint, printed rate",
        statement="Theorem 8",
        printing="printed",
        summary="The theorem as printed: it vanishes with the norm of the minimiser, which no "
        "algorithm's error does; in units of L, which it leaves out. " + _UNIT_CONSTANTS,
    ),
    _make_row(
        THEOREM_10,
        "shuffled-mirror-descent",
        "Shuffled mirror descent, rate",
        "Theorem 10; Table 2",
        "The rate for gradients of finite variance, q between 1 and 2 and small epsilon, with "
        "noise for every record and shuffling. The library's proof has this power of kappa with "
        "Gaussian noise, and 3/4 with the paper's. The theorem's logarithm of a failure "
        "probability is dropped.",
        (BELOW_2, *_TAILS, _TWO_DIMENSIONS, AMPLIFIED, LARGE_TRUNCATION),
        loss_class=classes.SMOOTH,
        method="lp.shuffled-mirror-descent",
    ),
    _make_row(
        GENERAL_EPSILON,
        "batched-mirror-descent",
        "Batched mirror descent, rate",
        "the rate for general epsilon, introduction and Table 2",
        "The rate for gradients of finite variance and q between 1 and 2, with noise for every "
        "batch and without shuffling.",
        (BELOW_2, *_TAILS, _TWO_DIMENSIONS, LARGE_BATCHED_TRUNCATION),
        loss_class=classes.SMOOTH,
        method="lp.batched-mirror-descent",
    ),
    _HEAVY_EUCLIDEAN,
    bound_at_rate(
        _HEAVY_EUCLIDEAN.card,
        HEAVY_EUCLIDEAN.drop("/sqrt(n)"),
        _REDUCTION,
        slug="upper.lp.euclidean-reduction-paper",
        name="Heavy tails by way of l2, printed rate",
        statement="Table 2, as printed",
        printing="printed",
        summary="The table's entry, whose first term has lost the root of n; in units of sigma M, "
        "which the table leaves out. " + _UNIT_CONSTANTS,
    ),
    _make_row(
        GENERAL_POTENTIAL,
        "noisy-mirror-descent",
        "Noisy mirror descent, rate",
        "Theorem 6 with Remark 1, by Theorem 3 with a general potential",
        "The rate of one noisy pass over half of the records with a mirror map of the norm, for "
        "any Lipschitz loss and small epsilon; for q above 2, in l2.",
        (*REMARK_1, _TWO_DIMENSIONS),
        loss_class=classes.LIPSCHITZ,
        paper=ARORA_2020,
        method="lp.noisy-mirror-descent",
        printing="reworked",
    ),
)
