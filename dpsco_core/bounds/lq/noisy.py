"""Noisy mirror descent, with every constant proven: Arora et al. (2020), Theorem 3."""

import math
from dataclasses import replace

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import ARORA_2020
from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.conditions import GAUSSIAN_BUDGET
from dpsco_core.bounds.euclidean.conditions import DIAMETER, LIPSCHITZ
from dpsco_core.bounds.lq.explicit import KAPPA, row
from dpsco_core.bounds.lq.regularized import CARD
from dpsco_core.methods.lq import noisy_schedule as lq_noisy
from dpsco_core.methods.lq.inputs import noisy, own_constants
from dpsco_core.problems.base import Setting

_REGRET_TERMS = ("optimisation", "sampling", "privacy")


def noisy_risk(setting: Setting) -> tuple[float, float, float]:
    """The regret of noisy mirror descent at its best step: optimisation, gradients, noise."""
    found = own_constants(setting)
    if not 0 < found.lipschitz < math.inf:
        return math.inf, math.inf, math.inf
    steps, energy, divergence = noisy(setting)
    if math.isinf(energy[1]):
        return math.inf, math.inf, math.inf
    step = lq_noisy.best_step(steps, energy, divergence)
    return lq_noisy.regret(steps, energy, divergence, step)


NOISY_RISKS: tuple[Bound, ...] = (
    row(
        replace(
            CARD,
            slug="upper.lp.noisy-mirror-descent-explicit",
            name="Noisy mirror descent, proven",
            paper=ARORA_2020,
            statement="Theorem 3 with a general potential, gradient steps only, best step",
            summary="The mean excess risk of one noisy pass over half of the records with a "
            "mirror map of the norm, at the step that makes this bound smallest; for q above 2, "
            "in l2. The noise is Gaussian, by the l2 size of gradients.",
            latex=r"R_q\sqrt{\frac{\kappa E\|g+\xi\|_{q'}^2}m},\ E\|g+\xi\|_{q'}^2\le\min\{"
            r"\kappa L^2+S,(L+\sqrt S)^2\},\ S\ge E\|\xi\|_r^2,\ "
            r"m=\lfloor n/2\rfloor+1,\ " + KAPPA,
            method="lp.noisy-mirror-descent",
            loss_class=classes.LIPSCHITZ,
        ),
        _REGRET_TERMS,
        ("gaussian_rho", "lipschitz", "diameter"),
        noisy_risk,
        (GAUSSIAN_BUDGET, LIPSCHITZ, DIAMETER),
    ),
)
