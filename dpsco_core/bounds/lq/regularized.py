r"""Regularised mirror descent, with every constant proven: Su et al. (2023), Algorithm 3.

B3 of theory/su-zhao-wang.md, 3.4, is in `dpsco_core.methods.lq.regularized_schedule`, which the
method shares; here it is evaluated at a setting. Infinite where the exponent, the budget or a
constant does not allow the method.
"""

import math

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import SCO_PROBLEMS, SU_2023, BoundCard
from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.euclidean.conditions import MINIMUM_INTERIOR
from dpsco_core.bounds.euclidean.tools import OTHER_PARAMETERS
from dpsco_core.bounds.lq.conditions import AT_MOST_2, MORE_RECORDS
from dpsco_core.bounds.lq.explicit import (
    FREE,
    GAUSSIAN,
    KAPPA,
    LIPSCHITZ_NEEDS,
    PAPER_BUDGET,
    PRINTED,
    PRINTED_KAPPA,
    SHAPED,
    VOID,
    Terms4,
    row,
    variant,
)
from dpsco_core.methods.lq.inputs import regularized
from dpsco_core.methods.lq.regularized_schedule import b3, best_b3, published_choice
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.generalized_gaussian import Calibration, Noise
from dpsco_core.problems.base import Setting

_B3_TERMS = ("regulariser", "privacy noise", "distance to the minimiser", "stability")
_B3 = (
    r"\mu\Phi_*\Big(1+\frac1{q_0^T-1}\Big)+\frac S{2\beta}+2L\sqrt{2\Big(\frac S{2\mu\beta}+"
    r"\frac{\bar\Phi\min\{1,T(q_0-1)/q_0\}}{q_0^T-1}\Big)}+\frac{2L^2}{n\mu},\ "
    r"q_0=1+\frac\mu{2\beta},\ \Phi_*=\frac\kappa2\|\theta^*\|_q^2,\ "
    r"\bar\Phi=\min\Big\{\frac{L^2}{2(r-1)\mu^2},\Phi_*+\frac{2L^2}{n\mu^2}\Big\},\ "
    r"S\text{ the energy of a step's noise},\ " + KAPPA
)


def regularized_risk(setting: Setting, noise: Noise, calibration: Calibration) -> Terms4:
    """B3 of Algorithm 3: regulariser, noise, distance to the minimiser, stability.

    The tight calibration is at the steps and the regulariser that minimise it; the paper's at those
    of Theorem 7.
    """
    if setting.exponent > 2:
        return VOID
    at = regularized(setting, noise, calibration)
    positive = min(at.lipschitz, at.smoothness, at.radius) > 0
    if not positive or not math.isfinite(at.energy * at.smoothness):
        return VOID
    if calibration == "tight":
        best = best_b3(at)
        return b3(at, best.steps, best.regulariser)
    budget = setting.budget
    if not isinstance(budget, ApproxDP):
        return VOID
    steps, regulariser = published_choice(at, budget.epsilon, budget.delta)
    return b3(at, steps, regulariser) if regulariser > 0 else VOID


CARD = BoundCard(
    slug="upper.lp.regularized-mirror-descent-explicit",
    name="Regularised mirror descent, proven",
    paper=SU_2023,
    statement="Algorithm 3, explicit bound at its best steps and regulariser",
    summary="The mean excess risk with every constant proven, at the parameters that make this "
    "bound smallest. The set is where the minimiser lies; the method may leave it. "
    + OTHER_PARAMETERS
    + " "
    + GAUSSIAN,
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
REGULARIZED_RISKS: tuple[Bound, ...] = (
    row(
        CARD,
        _B3_TERMS,
        LIPSCHITZ_NEEDS,
        lambda setting: regularized_risk(setting, "gaussian", "tight"),
        (AT_MOST_2, *FREE, MINIMUM_INTERIOR),
    ),
    row(
        variant(CARD, "generalized", SHAPED, name="generalized Gaussian noise"),
        _B3_TERMS,
        LIPSCHITZ_NEEDS,
        lambda setting: regularized_risk(setting, "generalized gaussian", "tight"),
        (AT_MOST_2, *FREE, MINIMUM_INTERIOR),
    ),
    row(
        variant(
            CARD,
            "paper",
            PRINTED,
            name="the paper's parameters",
            statement="Algorithm 3, explicit bound at the parameters of Theorem 7",
            latex=_B3
            + r",\ T=\Big(\frac{n\varepsilon\sqrt{\kappa_0}}{\sqrt{d\ln(1/\delta)}}\Big)^{2/5},"
            r"\ \mu=\frac{4\beta}T\log_2\frac nT" + PRINTED_KAPPA,
            privacy="approx",
        ),
        _B3_TERMS,
        LIPSCHITZ_NEEDS,
        lambda setting: regularized_risk(setting, "generalized gaussian", "paper"),
        (PAPER_BUDGET, AT_MOST_2, *FREE[1:], MINIMUM_INTERIOR, MORE_RECORDS),
    ),
)
