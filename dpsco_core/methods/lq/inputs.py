r"""The inputs of the l_q methods and of the bounds on them: constants, noise and shares.

The parameters are in :math:`\ell_q^d`, 1 <= q <= 2, gradients in :math:`\ell_{q'}^d`, whose smooth
norm is :math:`\|\cdot\|_r` (`RegularSpace`). For q > 2 the mirror map would not be strongly convex
without a factor of the dimension, and the problem is taken in l2, with the l2 constants
(theory/su-zhao-wang.md, 2.4 and 2.7). All of it is public.
"""

import math
from dataclasses import replace
from typing import Literal

from scipy.special import gammaln

from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.privacy.budget import ApproxDP, Budget, PureDP, gaussian_allowance, zcdp_rho
from dpsco_core.privacy.mechanisms.shaped import (
    Calibration,
    Noise,
    Shaped,
    lemma_3_rho,
    lemma_3_steps,
)
from dpsco_core.privacy.shuffled_steps import shuffle_steps
from dpsco_core.problems.base import Setting
from dpsco_core.problems.dual import DualConstants, dual_constants

Order = Literal["public", "shuffled"]


def space_of(setting: Setting) -> RegularSpace:
    """Return the space of the methods: l_q with q at most 2."""
    return RegularSpace(d=setting.d, exponent=min(setting.exponent, 2.0))


def own_constants(setting: Setting) -> DualConstants:
    """Return the constants in the norm of `space_of`: l_q, or l2 for q > 2; the set is bounded."""
    return dual_constants(setting if setting.exponent <= 2 else replace(setting, exponent=2.0))


def statement_budget(setting: Setting) -> tuple[float, float]:
    r"""Return the (epsilon, delta) from which a theorem's parameters are computed.

    Under zCDP :math:`2\sqrt\rho` stands for :math:`\varepsilon/\sqrt{\ln(1/\delta)}` (Lemma 3).
    """
    budget = setting.budget
    if isinstance(budget, ApproxDP):
        return budget.epsilon, budget.delta
    return 2 * math.sqrt(setting.gaussian_rho), math.exp(-1)


def chosen_noise(noise: Noise | None, calibration: Calibration) -> Noise:
    """Return the kind of noise: `noise` if it is given, otherwise that of the calibration.

    The published noise is generalized Gaussian. The tight calibration takes Gaussian noise, because
    at equal proven privacy its energy is no larger (theory/su-zhao-wang.md, 2.8).
    """
    if noise is not None:
        return noise
    return "gaussian" if calibration == "tight" else "generalized gaussian"


def dual_energy(space: RegularSpace, noise: Noise, calibration: Calibration = "tight") -> float:
    r"""Return a bound on :math:`E\|z\|_{q'}^2` for the noise z of dual sensitivity 1 and rho = 1.

    For others it is multiplied by the squared sensitivity over rho: see `Shaped.dual_square_bound`.

    Examples
    --------
    >>> round(dual_energy(RegularSpace(d=100, exponent=1.25), "generalized gaussian"), 9)
    200.0
    """
    return Shaped(space, 1.0, 1.0, noise, shape_of(noise, calibration)).dual_square_bound


def smooth_energy(space: RegularSpace, noise: Noise, calibration: Calibration = "tight") -> float:
    r"""Return a bound on :math:`E\|z\|_r^2` for the noise z of dual sensitivity 1 and rho = 1.

    For generalized Gaussian noise it is :math:`d\kappa/2`, exactly. For Gaussian noise, with
    :math:`m_r = E|\xi|^r` of a standard normal variable, it is

    .. math:: \tfrac12\,d^{1-2/q'}d^{2/r}m_r^{2/r} \le \tfrac12\,d\,\kappa.

    For the sum of several draws the sum of their bounds is multiplied by `sum_factor`.
    """
    if noise == "generalized gaussian":
        return dual_energy(space, noise, calibration)
    r = space.smooth_exponent
    log_moment = r / 2 * math.log(2) + float(gammaln((r + 1) / 2)) - math.log(math.pi) / 2
    root = math.exp(2 / r * log_moment)
    return space.l2_ratio**2 * math.pow(space.d, 2 / r) * root / 2


def sum_factor(space: RegularSpace, noise: Noise) -> float:
    r"""Return the c for which :math:`E\|\sum_iz_i\|_r^2 \le c\sum_iE\|z_i\|_r^2` for noise z_i.

    It is 1 for Gaussian noise and :math:`\kappa_+` for other noise (theory/su-zhao-wang.md, 2.5
    (b)).
    """
    return 1.0 if noise == "gaussian" else space.kappa_plus


def composed_rho(budget: Budget, noise: Noise, calibration: Calibration) -> float:
    r"""Return the rho of T releases together (Su et al. 2023, Algorithm 3); 0 for a pure budget.

    In the tight calibration it is by the exact curve of the Gaussian, or the best conversion from
    zCDP for noise of another shape. In the paper's it is :math:`\varepsilon^2/(32\ln(1/\delta))`,
    which is the printed :math:`\sigma^2`.
    """
    if calibration == "paper" and isinstance(budget, ApproxDP):
        return budget.epsilon**2 / (-32 * math.log(budget.delta))
    return _budget_rho(budget, noise)


def release_rho(budget: Budget, noise: Noise, calibration: Calibration) -> float:
    r"""Return the rho of one release, or of releases on disjoint batches; 0 if none is proven.

    It is as in `composed_rho`, except that the paper's rho is that of Lemma 3, which holds for
    epsilon <= 1 and delta <= 0.9.
    """
    if calibration == "paper" and isinstance(budget, ApproxDP):
        proven = budget.epsilon <= 1 and budget.delta <= 0.9
        return lemma_3_rho(budget.epsilon, budget.delta) if proven else 0.0
    return _budget_rho(budget, noise)


def record_rho(n: int, budget: Budget, noise: Noise, calibration: Calibration) -> float:
    r"""Return the rho of the release of each single record, in secret random order.

    Each is :math:`(\varepsilon_0,\delta_0)`-DP, and shuffling makes all of them together
    :math:`(\varepsilon,\delta)`-DP (Feldman, McMillan and Talwar 2021; theory/su-zhao-wang.md,
    2.5). In the tight calibration it is by the exact divergence of the clones, or no amplification
    where that allows more. In the paper's it is by its closed form and Lemma 3, and 0 where nothing
    is amplified, or where Lemma 3 does not hold.
    """
    if not isinstance(budget, ApproxDP):
        return _budget_rho(budget, noise)
    epsilon, delta = budget.epsilon, budget.delta
    if calibration == "paper":
        shuffled = lemma_3_steps(n, epsilon, delta)
        return 0.0 if shuffled is None else shuffled.rho_step
    steps = shuffle_steps(n, epsilon, delta)
    if noise == "gaussian":
        return steps.rho_step
    plain_rho = zcdp_rho(epsilon, delta)
    return (
        max(plain_rho, zcdp_rho(steps.epsilon_step, steps.delta_step))
        if steps.amplified
        else plain_rho
    )


def _budget_rho(budget: Budget, noise: Noise) -> float:
    """Return the rho that the whole budget allows for this noise; 0 for a pure budget."""
    if noise == "gaussian" or isinstance(budget, PureDP):
        return gaussian_allowance(budget)
    return budget.to_zcdp("tight").rho


def shape_of(noise: Noise, calibration: Calibration) -> Calibration:
    """Return the calibration that decides on the shape of the noise.

    Only generalized Gaussian noise has another shape in the paper's calibration.
    """
    return calibration if noise == "generalized gaussian" else "tight"
