r"""Noisy mirror descent, with every constant proven: Arora, Marinov and Ullah (2020), Theorem 3.

Algorithm 1 and equation (2) take :math:`m=\lfloor n/2\rfloor+1` gradient steps over records in
secret random order, with isotropic Gaussian noise, and average the points at which gradients are
taken. The noise is calibrated to the l2 sensitivity :math:`2L\,d^{\max(0,1/2-1/q')}` of a gradient
with :math:`\|g\|_{q'}\le L` (theory/arora-marinov-ullah.md, 2.2).
"""

import math

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import ARORA_2020
from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.conditions import GAUSSIAN_BUDGET
from dpsco_core.bounds.euclidean.conditions import DIAMETER, LIPSCHITZ
from dpsco_core.bounds.lq.explicit import KAPPA, explicit_card, explicit_row
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.lq.inputs import own_constants, record_rho, smooth_energy, space_of
from dpsco_core.problems.base import Setting

Energy = tuple[float, float]


def step_energy(space: RegularSpace, lipschitz: float, rho: float) -> Energy:
    r"""Return the gradient's and the noise's part of a bound on :math:`E\|g+\xi\|_{q'}^2`.

    Here g is a gradient of dual norm at most L (`lipschitz`), :math:`\xi` the noise of a step, and
    :math:`\|\cdot\|_r` the smooth norm of `space`. With :math:`S\ge E\|\xi\|_r^2` the two
    parts add up to the smaller one of

    .. math:: \kappa L^2+S,\quad (L+\sqrt S)^2

    The first holds because :math:`\|\cdot\|_r^2` is smooth and the noise symmetric, the second by
    Minkowski's inequality. :math:`L^2+S` alone holds only in a Hilbert space; at q = 2, kappa is 1.

    `rho` is the budget of one step.
    """
    if rho <= 0:
        return lipschitz**2, math.inf
    noise = smooth_energy(space, "gaussian") * 4 * lipschitz**2 / rho
    cross = 2 * lipschitz * math.sqrt(noise)
    return lipschitz**2 + min((space.kappa - 1) * lipschitz**2, cross), noise


def least_regret(
    steps: int,  # the number m of gradient steps
    energy: Energy,  # the two parts of `step_energy`
    # This bounds :math:`D_\Phi(u\|w_1)`; it may be :math:`\frac\kappa2\max_C\|u\|_q^2` if
    # :math:`w_1` minimises Phi over the set.
    divergence: float,
) -> tuple[float, float, float]:
    r"""Return the terms of mirror descent's regret a step, a bound on its mean excess risk.

    .. math:: \frac{D_\Phi(u\|w_1)}{\eta m}+\frac\eta2E\|g+\xi\|_{q'}^2

    The step size :math:`\eta` minimises the sum, and :math:`\Phi` is 1-strongly convex. The terms
    are those of optimisation, gradients and noise. See theory/arora-marinov-ullah.md, 2.2 and 3.
    """
    step = math.sqrt(2 * divergence / (steps * (energy[0] + energy[1])))
    return divergence / (step * steps), step / 2 * energy[0], step / 2 * energy[1]


def noisy_risk(setting: Setting) -> tuple[float, float, float]:
    """Return the terms of the bound on noisy mirror descent's excess risk at a setting.

    They are those of `least_regret`: optimisation, gradients and noise, at the best step size.
    """
    constants, space = own_constants(setting), space_of(setting)
    if not 0 < constants.lipschitz < math.inf:
        return math.inf, math.inf, math.inf
    rho = record_rho(setting.n, setting.budget, "gaussian", "tight")
    energy = step_energy(space, constants.lipschitz, rho)
    if math.isinf(energy[1]):
        return math.inf, math.inf, math.inf
    return least_regret(setting.n // 2 + 1, energy, space.kappa * constants.radius**2 / 2)


NOISY_RISKS: tuple[Bound, ...] = (
    explicit_row(
        explicit_card(
            "noisy-mirror-descent",
            "Noisy mirror descent, proven",
            "Theorem 3 with a general potential, gradient steps only, best step",
            "The mean excess risk of one noisy pass over half of the records with a mirror map of "
            "the norm, at the step that makes this bound smallest; for q above 2, in l2. The noise "
            "is Gaussian, by the l2 size of gradients.",
            r"R_q\sqrt{\frac{\kappa E\|g+\xi\|_{q'}^2}m},\ E\|g+\xi\|_{q'}^2\le\min\{"
            r"\kappa L^2+S,(L+\sqrt S)^2\},\ S\ge E\|\xi\|_r^2,\ m=\lfloor n/2\rfloor+1,\ " + KAPPA,
            losses=classes.LIPSCHITZ,
            paper=ARORA_2020,
        ),
        ("optimisation", "sampling", "privacy"),
        ("gaussian_rho", "lipschitz", "diameter"),
        noisy_risk,
        (GAUSSIAN_BUDGET, LIPSCHITZ, DIAMETER),
    ),
)
