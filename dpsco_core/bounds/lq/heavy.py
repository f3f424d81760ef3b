r"""Heavy tails in :math:`\ell_q^d`: the rates of Su, Zhao and Wang (2023), Table 2.

(The paper calls the exponent p.) Two terms each, of which the bound is the sum: sampling and
privacy; 0 where a rate has one. In units of :math:`\sigma M`. kappa is the printed
:math:`\min\{1/(q-1), 2\ln d\}`.
"""

import math
from dataclasses import replace
from functools import partial

from dpsco_core.base import loss_classes as classes
from dpsco_core.bounds.base import Bound, lettered
from dpsco_core.bounds.euclidean.conditions import DIAMETER, MINIMUM_INTERIOR, SAMPLE_SMOOTH, SMOOTH
from dpsco_core.bounds.lq import letters
from dpsco_core.bounds.lq.conditions import (
    AMPLIFIED,
    AT_LEAST_2,
    BELOW_2,
    CONTAINS_ZERO,
    LARGE_BATCHED_TRUNCATION,
    LARGE_TRUNCATION,
    SMALL_SIGMA_GRADIENT,
    VARIANCE,
)
from dpsco_core.bounds.lq.tools import (
    BELOW_1,
    KAPPA,
    ONE,
    TWO_DIMENSIONS,
    Pair,
    at_least_2,
    at_most_2,
    printed_kappa,
    rate_card,
    rate_row,
    share_of,
    size_of,
)
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting
from dpsco_core.problems.dual import dual_constants


def _heavy(setting: Setting) -> float:
    r"""Return :math:`\sigma M`, infinite where the variance is."""
    found = dual_constants(setting)
    return math.inf if math.isinf(found.variance) else math.sqrt(found.variance) * found.diameter


def theorem_10(setting: Setting, budget: ApproxDP) -> Pair:
    r"""Theorem 10, constrained and heavy-tailed, 1 < q < 2, small epsilon.

    .. math:: 0,\ \frac{(\kappa^2d\ln(1/\delta))^{1/4}}{\sqrt{n\varepsilon}}

    Without its :math:`\ln(1/\delta')`. It is proven for Gaussian noise; with the generalized
    Gaussian noise of the algorithm the proof gives :math:`\kappa^{3/4}` (theory/su-zhao-wang.md,
    3.6), a difference within the theorem's logarithms, as :math:`\kappa\le2\ln d`.
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    return 0.0, math.sqrt(printed_kappa(d, setting.exponent) * size_of(d, budget) / (n * epsilon))


def general_epsilon(setting: Setting, budget: ApproxDP) -> Pair:
    r"""The rate for heavy tails and every epsilon below 1, 1 < q < 2: introduction and Table 2.

    .. math:: 0,\ \frac{\kappa^{2/3}(d\ln(1/\delta))^{1/6}}{(n\varepsilon)^{1/3}}
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    kappa = printed_kappa(d, setting.exponent)
    return 0.0, math.cbrt(kappa**2 * size_of(d, budget) / (n * epsilon))


def heavy_euclidean(setting: Setting, budget: ApproxDP, *, printed: bool = False) -> Pair:
    r"""The rate for heavy tails, 2 <= q, by reduction to l2: Table 2.

    .. math:: \frac{d^{3/2-1/q}}{\sqrt n},\ \frac{d^{3/2-1/(2q)}}{\sqrt{n\varepsilon}}

    `printed` has no :math:`\sqrt n` in the first, which the bound of Kamath et al. (2022) has that
    it is made of (theory/su-zhao-wang.md, 2.7).
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    share = share_of(setting.exponent)
    sampling = math.pow(d, 1.5 - share)
    private = math.pow(d, 1.5 - share / 2) / math.sqrt(n * epsilon)
    return sampling if printed else sampling / math.sqrt(n), private


# Assumption 4 has every record's loss smooth; for q < 2 the proof of B4 uses the risk's only
# (theory/su-zhao-wang.md, 3.6).
_TAILS = (BELOW_1, SMOOTH, DIAMETER, VARIANCE, MINIMUM_INTERIOR, CONTAINS_ZERO)
_REDUCTION = (AT_LEAST_2, *_TAILS, SAMPLE_SMOOTH, SMALL_SIGMA_GRADIENT)
_HEAVY_EUCLIDEAN = rate_card(
    "euclidean-reduction",
    "Heavy tails by way of l2, rate",
    "Table 2, q of at least 2, first term over the root of n",
    "The rate for gradients of finite variance and q of at least 2, by reduction to l2. " + ONE,
    r"\sigma M\Big(\frac{d^{3/2-1/q}}{\sqrt n}+\frac{d^{3/2-1/(2q)}}{\sqrt{n\varepsilon}}\Big)",
    losses=classes.SMOOTH,
    method="lp.euclidean-reduction",
)
_HEAVY: tuple[Bound, ...] = (
    rate_row(
        rate_card(
            "shuffled-mirror-descent",
            "Shuffled mirror descent, rate",
            "Theorem 10; Table 2",
            "The rate for gradients of finite variance, q between 1 and 2 and small epsilon, with "
            "noise for every record and shuffling. The library's proof has this power of kappa "
            "with Gaussian noise, and 3/4 with the paper's. The theorem's logarithm of a failure "
            "probability is dropped. " + ONE,
            r"\sigma M\,\frac{(\kappa^2d\ln(1/\delta))^{1/4}}{\sqrt{n\varepsilon}},\ " + KAPPA,
            losses=classes.SMOOTH,
            method="lp.shuffled-mirror-descent",
        ),
        theorem_10,
        _heavy,
        at_most_2,
        ("diameter",),
        (BELOW_2, *_TAILS, TWO_DIMENSIONS, AMPLIFIED, LARGE_TRUNCATION),
    ),
    rate_row(
        rate_card(
            "batched-mirror-descent",
            "Batched mirror descent, rate",
            "the rate for general epsilon, introduction and Table 2",
            "The rate for gradients of finite variance and q between 1 and 2, with noise for "
            "every batch and without shuffling. " + ONE,
            r"\sigma M\,\frac{\kappa^{2/3}(d\ln(1/\delta))^{1/6}}{(n\varepsilon)^{1/3}},\ " + KAPPA,
            losses=classes.SMOOTH,
            method="lp.batched-mirror-descent",
        ),
        general_epsilon,
        _heavy,
        at_most_2,
        ("diameter",),
        (BELOW_2, *_TAILS, TWO_DIMENSIONS, LARGE_BATCHED_TRUNCATION),
    ),
    rate_row(
        _HEAVY_EUCLIDEAN,
        heavy_euclidean,
        _heavy,
        at_least_2,
        ("diameter",),
        _REDUCTION,
    ),
    rate_row(
        replace(
            _HEAVY_EUCLIDEAN,
            slug="upper.lp.euclidean-reduction-paper",
            name="Heavy tails by way of l2, printed rate",
            statement="Table 2, as printed",
            summary="The table's entry, whose first term has lost the root of n. " + ONE,
            latex=r"\sigma M\Big(d^{3/2-1/q}+\frac{d^{3/2-1/(2q)}}{\sqrt{n\varepsilon}}\Big)",
        ),
        partial(heavy_euclidean, printed=True),
        _heavy,
        at_least_2,
        ("diameter",),
        _REDUCTION,
    ),
)
HEAVY_RATES = lettered(letters.RATES, _HEAVY)
