r"""What the l_q formulas need, from a setting: in the parameters' own norm, or reduced to l2.

For q <= 2 the constants are those of `dual_constants`. For q > 2 the mirror map would not be
strongly convex without a factor of the dimension, and the problem is taken in l2, with the l2
constants (theory/su-zhao-wang.md, 2.4 and 2.7). All of it is public.
"""

import math
from dataclasses import replace

from dpsco_core.base.search import smallest_or
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.lq.mirror_schedule import MirrorInputs, best_b4
from dpsco_core.methods.lq.noise import Order, composed_rho, dual_energy, record_rho
from dpsco_core.methods.lq.noisy_schedule import step_energy
from dpsco_core.methods.lq.regularized_schedule import Regularized
from dpsco_core.privacy.generalized_gaussian import Calibration, Noise
from dpsco_core.problems.base import Setting
from dpsco_core.problems.dual import DualConstants, dual_constants


def space_of(setting: Setting) -> RegularSpace:
    """Return the space in which the methods work: that of q, at most 2."""
    return RegularSpace(d=setting.d, exponent=min(setting.exponent, 2.0))


def own_constants(setting: Setting) -> DualConstants:
    """Return the constants in the norm of `space_of`; the set's diameter must be finite."""
    if setting.exponent <= 2:
        return dual_constants(setting)
    return dual_constants(replace(setting, exponent=2.0))


def regularized(setting: Setting, noise: Noise, calibration: Calibration) -> Regularized:
    """Return what B3 needs; the start's loss is unknown, and the radius that of the set."""
    found, space = own_constants(setting), space_of(setting)
    rho = composed_rho(setting.budget, noise, calibration)
    unit = dual_energy(space, noise, calibration) / rho if rho > 0 else math.inf
    return Regularized(
        n=setting.n,
        space=space,
        lipschitz=found.lipschitz,
        smoothness=found.sample_smoothness,
        radius=found.radius,
        energy=unit * (2 * found.lipschitz / setting.n) ** 2,
    )


def descent(setting: Setting, order: Order, noise: Noise, calibration: Calibration) -> MirrorInputs:
    """Return what B4 needs, with the noise of every record or of every batch."""
    found, space = own_constants(setting), space_of(setting)
    clean = MirrorInputs(
        n=setting.n,
        space=space,
        divergence=space.kappa * found.radius**2 / 2,
        diameter=found.diameter,
        smoothness=found.smoothness,
        gradient_bound=found.mean_gradient_bound,
        variance=found.variance,
        lipschitz=found.lipschitz,
    )
    return clean.with_noise(order, setting.budget, noise, calibration)


def noisy(setting: Setting) -> tuple[int, tuple[float, float], float]:
    """Return what the regret of `lq_noisy` needs: m, the energies of a step, the divergence."""
    found, space = own_constants(setting), space_of(setting)
    rho = record_rho(setting.n, setting.budget, "gaussian", "tight")
    energy = step_energy(space, found.lipschitz, rho)
    return setting.n // 2 + 1, energy, space.kappa * found.radius**2 / 2


def better_descent(
    setting: Setting, orders: tuple[Order, ...], noise: Noise, calibration: Calibration
) -> MirrorInputs:
    """Return what B4 needs, with the noise of the order whose best bound is the smaller.

    Shuffling pays for few budgets only (theory/su-zhao-wang.md, 2.5 (c)), and both are
    private: the choice looks at no data. The first where B4 is infinite for all.
    """
    candidates = [descent(setting, order, noise, calibration) for order in orders]
    return smallest_or(candidates, lambda at: best_b4(at).value, candidates[0])
