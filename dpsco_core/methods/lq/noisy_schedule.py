r"""Noisy mirror descent over half of the records, with any potential.

Arora, Marinov and Ullah (2020), Algorithm 1 and equation (2): :math:`m=\lfloor n/2\rfloor+1`
gradient steps over records in secret random order, with isotropic Gaussian noise, and the average
of the points at which gradients were asked. The noise is calibrated to the l2 sensitivity
:math:`2L\,d^{\max(0,1/2-1/q')}` of a gradient with :math:`\|g\|_{q'}\le L`
(theory/arora-marinov-ullah.md, 2.2).
"""

import math

from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.lq.noise import smooth_energy

Terms3 = tuple[float, float, float]


def step_energy(space: RegularSpace, lipschitz: float, rho: float) -> tuple[float, float]:
    r"""Return the parts of a bound on :math:`E\|g+\xi\|_{q'}^2`: the gradient's, the noise's.

    With :math:`S\ge E\|\xi\|_r^2`, the smaller of

    .. math:: \kappa L^2+S,\quad (L+\sqrt S)^2

    The first because the smooth norm is and the noise symmetric, the second by Minkowski's
    inequality. :math:`L^2+S` alone would need a Hilbert space; at q = 2, kappa is 1.

    `rho` is that of one step.
    """
    if rho <= 0:
        return lipschitz**2, math.inf
    noise = smooth_energy(space, "gaussian") * 4 * lipschitz**2 / rho
    cross = 2 * lipschitz * math.sqrt(noise)
    return lipschitz**2 + min((space.kappa - 1) * lipschitz**2, cross), noise


def regret(
    steps: int,  # m
    energy: tuple[float, float],  # the two parts of `step_energy`
    # bound on :math:`D_\Phi(u\|w_1)`: :math:`\frac\kappa2\max_C\|u\|_q^2` if :math:`w_1` minimises
    # Phi over the set
    divergence: float,
    step_size: float,  # :math:`\eta`
    idle: float = 0.0,  # :math:`N_0`, the expected number of steps with noise alone
) -> Terms3:
    r"""The regret of mirror descent over its gradient steps: a bound on the mean excess risk.

    .. math:: \frac{D_\Phi(u\|w_1)}{\eta m}+\frac\eta{2m}\Big(m\,E\|g+\xi\|_{q'}^2+
        N_0E\|\xi\|_{q'}^2\Big)

    with :math:`\Phi` 1-strongly convex. See theory/arora-marinov-ullah.md, 2.2 and 3; with the
    Euclidean potential and :math:`N_0=EN-m` it is the sharp form of Theorem 4.

    Returns optimisation, gradients and noise; their sum is the bound.
    """
    gradients, noise = energy
    grown = noise * (1 + idle / steps)
    return divergence / (step_size * steps), step_size / 2 * gradients, step_size / 2 * grown


def best_step(
    steps: int, energy: tuple[float, float], divergence: float, idle: float = 0.0
) -> float:
    """Return the step size that minimises `regret`; it looks at no data."""
    gradients, noise = energy
    return math.sqrt(2 * divergence / (steps * (gradients + noise * (1 + idle / steps))))
