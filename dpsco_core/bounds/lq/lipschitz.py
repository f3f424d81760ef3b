r"""Lipschitz losses in :math:`\ell_q^d`: the rates of Su et al. (2023), Table 2, and earlier work.

(The paper calls the exponent p.) Two terms each, of which the bound is the sum: sampling and
privacy; 0 where a rate has one. In units of L times the set's diameter or the norm of the
minimiser, unless a docstring says otherwise. kappa is the printed :math:`\min\{1/(q-1), 2\ln d\}`.
"""

import math
from dataclasses import replace
from functools import partial

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import ARORA_2020, BASSILY_2021
from dpsco_core.bounds.base import Bound, lettered
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    LIPSCHITZ,
    MINIMUM_INTERIOR,
    SAMPLE_SMOOTH,
)
from dpsco_core.bounds.euclidean.private_sgd import REMARK_1
from dpsco_core.bounds.lq import letters
from dpsco_core.bounds.lq.conditions import (
    ABOVE_1,
    AT_LEAST_2,
    BELOW_2,
    EVERYWHERE,
    LARGE_SAMPLE,
    LONG_ENOUGH,
    MORE_RECORDS,
)
from dpsco_core.bounds.lq.tools import (
    BELOW_1,
    KAPPA,
    ONE,
    TWO_DIMENSIONS,
    Pair,
    Rate,
    any_exponent,
    at_least_2,
    at_most_2,
    printed_kappa,
    rate_card,
    rate_row,
    share_of,
    size_of,
)
from dpsco_core.methods.lq.inputs import own_constants
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting
from dpsco_core.problems.dual import dual_constants


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


def bassily_2021(setting: Setting, budget: ApproxDP, *, printed: bool = False) -> Pair:
    r"""Bassily, Guzman and Nandi (2021), constrained and Lipschitz: Table 2, row 1.

    .. math::
        \sqrt{\frac\kappa n},\ \frac{\kappa\sqrt d}{n\varepsilon}\quad(1<q<2),\qquad
        \frac{d^{1/2-1/q}}{\sqrt n},\ \frac{d^{1-1/q}}{n\varepsilon}\quad(2\le q\le\infty)

    `printed` has no :math:`\sqrt n` in the third, which the prose and Theorem 8's remark have.
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    if setting.exponent < 2:
        kappa = printed_kappa(d, setting.exponent)
        return math.sqrt(kappa / n), kappa * math.sqrt(d) / (n * epsilon)
    share = share_of(setting.exponent)
    sampling = math.pow(d, 0.5 - share)
    return sampling if printed else sampling / math.sqrt(n), math.pow(d, 1 - share) / (n * epsilon)


def theorem_7(setting: Setting, budget: ApproxDP) -> Pair:
    r"""Theorem 7, unconstrained and Lipschitz, 1 < q < 2.

    .. math:: 0,\ \kappa^{4/5}\Big(\frac{\sqrt{d\ln(1/\delta)}}{n\varepsilon}\Big)^{2/5}
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    kappa = printed_kappa(d, setting.exponent)
    return 0.0, math.pow(kappa**2 * size_of(d, budget) / (n * epsilon), 0.4)


def theorem_8(setting: Setting, budget: ApproxDP, norm: float, *, printed: bool = False) -> Pair:
    r"""Theorem 8, unconstrained and Lipschitz, 2 <= q, with :math:`\|\theta^*\|_q` = `norm`.

    .. math::
        \frac1{\sqrt n}\Big(1+d^{1-2/q}\|\theta^*\|^2\Big),\
        \frac{\sqrt{d\ln(1/\delta)}}{\varepsilon n}\Big(1+d^{1-2/q}\|\theta^*\|^2\Big)

    In units of L. `printed` has no 1, and vanishes at :math:`\theta^*=0`, which no algorithm does.
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    unit = math.pow(d, 1 - 2 * share_of(setting.exponent)) * norm**2 + (0.0 if printed else 1.0)
    return unit / math.sqrt(n), unit * size_of(d, budget) / (epsilon * n)


def general_potential(setting: Setting, budget: ApproxDP) -> Pair:
    r"""The rate of Arora et al. (2020), Theorem 6 with Remark 1, with any potential.

    .. math:: \sqrt{\frac\kappa n},\ \frac{\kappa\sqrt d\ln(3/\delta)}{\varepsilon n}
        \quad(1\le q\le2),

    from the regret of mirror descent (their Theorem 3) and the energy :math:`d\kappa` of the noise,
    where epsilon is at most about :math:`1/\sqrt n`; for q > 2 the l2 rate, in units of the l2
    constants.
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    kappa = printed_kappa(d, min(setting.exponent, 2.0))
    private = kappa * math.sqrt(d) * math.log(3 / budget.delta) / (epsilon * n)
    return math.sqrt(kappa / n), private


def _theorem_8(printed: bool) -> Rate:
    return lambda setting, budget: theorem_8(
        setting, budget, dual_constants(setting).radius, printed=printed
    )


_FREE = (BELOW_1, LIPSCHITZ, SAMPLE_SMOOTH, EVERYWHERE, MINIMUM_INTERIOR, DIAMETER)
_LIPSCHITZ_NEEDS = ("lipschitz", "diameter")
_BASSILY = rate_card(
    "prior-bassily-2021",
    "Bassily et al. 2021, rate",
    "as quoted by Su et al., Table 2, row 1, and section 5",
    "The rate in l_q for Lipschitz losses on a bounded set, optimal for q of at least 2; M is its "
    "diameter in the norm. " + ONE,
    r"LM\Big(\sqrt{\tfrac\kappa n}+\tfrac{\kappa\sqrt d}{n\varepsilon}\Big)\ (q<2),\quad "
    r"LM\Big(\tfrac{d^{1/2-1/q}}{\sqrt n}+\tfrac{d^{1-1/q}}{n\varepsilon}\Big)\ (q\ge2),\ " + KAPPA,
    losses=classes.LIPSCHITZ,
    paper=BASSILY_2021,
)
_THEOREM_8 = rate_card(
    "phased-sgd",
    "Phased SGD without a constraint, rate",
    "Theorem 8, with its additive term; Table 2",
    "The rate of phased SGD on the whole space for q of at least 2, by way of l2: quadratic in "
    "the norm of the minimiser, which the set bounds here. " + ONE,
    r"L\big(1+d^{1-2/q}\|\theta^*\|_q^2\big)\Big(\frac1{\sqrt n}+"
    r"\frac{\sqrt{d\ln(1/\delta)}}{\varepsilon n}\Big)",
    losses=classes.SMOOTH_LIPSCHITZ,
    method="lp.phased-sgd",
)
_LIPSCHITZ: tuple[Bound, ...] = (
    rate_row(
        _BASSILY,
        bassily_2021,
        _over_set,
        any_exponent,
        _LIPSCHITZ_NEEDS,
        (ABOVE_1, BELOW_1, LIPSCHITZ, DIAMETER, TWO_DIMENSIONS),
    ),
    rate_row(
        replace(
            _BASSILY,
            slug="upper.lp.prior-bassily-2021-paper",
            name="Bassily et al. 2021, rate as Table 2 prints it",
            summary="The table's row for q of at least 2, whose first term has lost the root of n "
            "that the text has. " + ONE,
            statement="as printed in Su et al., Table 2, row 1",
            latex=r"LM\Big(d^{1/2-1/q}+\tfrac{d^{1-1/q}}{n\varepsilon}\Big)",
        ),
        partial(bassily_2021, printed=True),
        _over_set,
        at_least_2,
        _LIPSCHITZ_NEEDS,
        (AT_LEAST_2, BELOW_1, LIPSCHITZ, DIAMETER),
    ),
    rate_row(
        rate_card(
            "regularized-mirror-descent",
            "Regularised mirror descent, rate",
            "Theorem 7; Table 2",
            "The rate of mirror descent on the whole space with a regulariser that makes it "
            "stable, for q between 1 and 2, in units of L times the norm of the minimiser, which "
            "the set bounds here. " + ONE,
            r"L\|\theta^*\|_q\,\kappa^{4/5}\Big(\frac{\sqrt{d\ln(1/\delta)}}{n\varepsilon}"
            r"\Big)^{2/5},\ " + KAPPA,
            losses=classes.SMOOTH_LIPSCHITZ,
            method="lp.regularized-mirror-descent",
        ),
        theorem_7,
        _over_minimiser,
        at_most_2,
        _LIPSCHITZ_NEEDS,
        (BELOW_2, *_FREE, TWO_DIMENSIONS, LARGE_SAMPLE, MORE_RECORDS, LONG_ENOUGH),
    ),
    rate_row(
        _THEOREM_8,
        _theorem_8(printed=False),
        _lipschitz,
        at_least_2,
        _LIPSCHITZ_NEEDS,
        (AT_LEAST_2, *_FREE),
    ),
    rate_row(
        replace(
            _THEOREM_8,
            slug="upper.lp.phased-sgd-paper",
            name="Phased SGD without a constraint, printed rate",
            statement="Theorem 8",
            summary="The theorem as printed: it vanishes with the norm of the minimiser, which no "
            "algorithm's error does. " + ONE,
            latex=r"L\,d^{1-2/q}\|\theta^*\|_q^2\Big(\frac1{\sqrt n}+"
            r"\frac{\sqrt{d\ln(1/\delta)}}{\varepsilon n}\Big)",
        ),
        _theorem_8(printed=True),
        _lipschitz,
        at_least_2,
        _LIPSCHITZ_NEEDS,
        (AT_LEAST_2, *_FREE),
    ),
)
LIPSCHITZ_RATES = lettered(letters.RATES, _LIPSCHITZ)
_POTENTIAL: tuple[Bound, ...] = (
    rate_row(
        rate_card(
            "noisy-mirror-descent",
            "Noisy mirror descent, rate",
            "Theorem 6 with Remark 1, by Theorem 3 with a general potential",
            "The rate of one noisy pass over half of the records with a mirror map of the norm, "
            "for any Lipschitz loss and small epsilon; for q above 2, in l2. " + ONE,
            r"LM\Big(\sqrt{\frac\kappa n}+\frac{\kappa\sqrt d\,\ln(3/\delta)}{\varepsilon n}\Big)"
            r",\ " + KAPPA,
            losses=classes.LIPSCHITZ,
            paper=ARORA_2020,
            method="lp.noisy-mirror-descent",
        ),
        general_potential,
        _own_set,
        any_exponent,
        _LIPSCHITZ_NEEDS,
        (*REMARK_1, TWO_DIMENSIONS),
    ),
)
POTENTIAL_RATES = lettered(letters.RATES, _POTENTIAL)
