"""Regularised mirror descent on the whole space: Su, Zhao and Wang (2023), Algorithm 3."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import NotApplicable
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.mirror import PowerMirror
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.access import MeanOfAll
from dpsco_core.methods.base import Calibration, MethodCost
from dpsco_core.methods.descent import DescentMethod, DescentPlan
from dpsco_core.methods.lq.card import lq_card
from dpsco_core.methods.lq.inputs import (
    chosen_noise,
    composed_rho,
    dual_energy,
    release_rho,
    statement_budget,
)
from dpsco_core.methods.lq.losses import LP_CAVEAT, DualLosses, dual_losses
from dpsco_core.methods.records.base import refuse_pure
from dpsco_core.methods.run import Descended, Path
from dpsco_core.methods.stage import SHAPED, Stage
from dpsco_core.methods.statistics import Statistic
from dpsco_core.methods.steps import Moves, Oracle
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.mechanisms.shaped import Noise, Shaped
from dpsco_core.problems.base import Setting
from dpsco_core.problems.dual import dual_constants

MOST_STEPS = 2000  # the largest number of full gradients
# the smallest and largest number of steps in the practical tuning
FEWEST_STEPS, ENOUGH_STEPS = 15, 200
# the ratio of the number of steps to the one that the bound asks for, chosen on simulated data
STRETCH = 2.0
# the regulariser times the tau of `practical_parameters`, chosen on simulated data
REGULARISED = 0.5


@dataclass(frozen=True, kw_only=True)
class BoundedMeanGradient(Statistic):
    """The mean gradient of Lipschitz losses, with noise shaped to the dual norm."""

    # 2L/n: the largest change of the mean gradient, in the dual norm, when one record is replaced
    dual_sensitivity: float
    space: RegularSpace  # the space of the parameters
    shape: Noise  # the law of the noise

    def label_of(self, t: int) -> str:
        """Return the name of the release of step t, counted from 0, in the ledger."""
        return f"mean gradient {t + 1}"

    def value(self, rows: Vector) -> Vector:
        """Return the mean gradient unchanged: here `rows` is already the mean."""
        return rows

    def noise(self, n: int, d: int, rho: float) -> Shaped:
        """Return the noise that is shaped to the dual norm."""
        return Shaped(norm=self.space, sensitivity=self.dual_sensitivity, rho=rho, noise=self.shape)


@dataclass(frozen=True, kw_only=True)
class RegularizedSteps(Moves):
    """Mirror steps from 0 on the whole space with a regulariser; later points weigh more."""

    space: RegularSpace  # the space of the parameters
    steps: int  # T, the number of steps
    proximal: float  # B, the weight of the Bregman divergence in a step
    regulariser: float  # alpha, the weight of the regulariser
    growth: float  # q_0, the ratio of the weights of two successive iterates
    projected: ClassVar[bool] = False

    @property
    def diagnostics(self) -> dict[str, float]:
        """The number of steps, their size and the regulariser."""
        return {
            "steps": float(self.steps),
            "step_size": 1 / (self.proximal + self.regulariser),
            "regulariser": self.regulariser,
        }

    def run(self, constraint: ConstraintSet | None, oracle: Oracle) -> Descended:
        """Run the steps and return the weighted average of their points; no set bounds them."""
        mirror, d = PowerMirror.for_space(self.space), self.space.d
        u, w, total, weight = np.zeros(d), np.zeros(d), np.zeros(d), 0.0
        path = Path(w, self.steps)
        for t in range(1, self.steps + 1):
            noisy = oracle(w, t - 1)
            u = (self.proximal * u - noisy) / (self.proximal + self.regulariser)
            w = mirror.conjugate_gradient(u)
            # Weights are relative to the last weight, because absolute weights would overflow.
            total = total / self.growth + w
            weight = weight / self.growth + 1
            path.add(t, w)
        return Descended(value=total / weight, path=path)


@dataclass(frozen=True, kw_only=True)
class RegularizedMirrorDescent(DescentMethod):
    r"""Full-batch mirror descent from 0 with a regulariser that grows with the potential.

    .. math:: w_{t+1} = \arg\min_w \langle\nabla\hat F(w_t) + g_t, w\rangle
        + B\,D_\Phi(w, w_t) + \alpha\Phi(w)

    with :math:`\Phi = \frac\kappa2\|\cdot\|_s^2` of `PowerMirror.for_space`. The result is the
    average of :math:`w_2, \dots, w_{T+1}` with weights :math:`(1+\frac{\alpha}{2\beta})^t` (in
    practice :math:`(1+\frac\alpha B)^t`). At q = 2 it is gradient descent with a ridge.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        ``"tight"``: all that the budget allows: the exact Gaussian curve, or for generalized
        Gaussian noise the best conversion from zCDP; in theory, B = 2 beta, which the proof
        needs. ``"paper"``: :math:`\sigma^2 = 64L^2\kappa T\ln(1/\delta)/(n\varepsilon)^2` with the
        printed kappa, for epsilon <= 1, and in theory B = beta. It is private as printed, by
        zCDP; what it spends is less.
    tuning : {"practical", "theory"}
        ``"theory"``: T and alpha of Theorem 7, where n > T and alpha <= 2 beta.
        ``"practical"``: `practical_parameters`.
    noise : {"generalized gaussian", "gaussian"} or None
        None: Gaussian noise where the calibration is tight, for its energy in the dual norm is
        no larger; generalized Gaussian noise, as published, otherwise.
    """

    noise: Noise | None = None

    reads = "whole"
    cost = MethodCost(fixed=5e4, per_row=4, per_element=0.4, per_piece=5e4, unit="step")
    card = lq_card(
        "regularized-mirror-descent",
        "Regularised mirror descent",
        "Algorithm 3, Theorems 6 and 7",
        "Mirror descent on all records with noisy gradients and a regulariser, on the "
        "whole space, for parameters in an l_q norm with q of at most 2.",
        "The printed schedule regularises so much that the result stays near 0. " + LP_CAVEAT,
    )
    stage = Stage(problem="huber", others={"shaped noise": SHAPED})
    colour = "violet"
    symbol = "triangle-down"

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with the steps, weights and noise of the tuning and calibration."""
        refuse_pure(setting)
        if setting.exponent > 2:
            raise NotApplicable(
                f"Algorithm 3 is for parameters in l_q with q <= 2, and here "
                f"q={setting.exponent:g}.",
                nearest="choose lp.phased-sgd, or the geometry l2",
                changes=(("geometry", "l2"), ("q", None)),
            )
        space = RegularSpace(d=setting.d, exponent=setting.exponent)
        noise = chosen_noise(self.noise, self.calibration)
        rho = regularized_share(setting, space, noise, self.calibration)
        losses = dual_losses(setting, self.tuning, rho)
        sensitivity = 2 * losses.lipschitz / setting.n
        if self.tuning == "theory":
            steps, regulariser = theorem_parameters(setting, space, losses.smoothness)
            doubled = 2 * losses.smoothness
            proximal = doubled / 2 if self.calibration == "paper" else doubled
        else:
            energy = dual_energy(space, noise) * sensitivity**2 / rho
            steps, proximal, regulariser = practical_parameters(setting, space, energy, losses)
            doubled = proximal
        gradient = BoundedMeanGradient(dual_sensitivity=sensitivity, space=space, shape=noise)
        descent = RegularizedSteps(
            space=space,
            steps=steps,
            proximal=proximal,
            regulariser=regulariser,
            growth=1 + regulariser / doubled,
        )
        rho_step = rho / steps
        noise_std = gradient.noise(setting.n, setting.d, rho_step).noise_scale
        return DescentPlan(
            setting=setting,
            statistic=gradient,
            access=MeanOfAll(),
            descent=descent,
            rho=rho,
            rho_step=rho_step,
            losses=losses,
            diagnostics=losses.diagnostics | {"noise_std": noise_std} | descent.diagnostics,
        )


def regularized_share(
    setting: Setting, space: RegularSpace, noise: Noise, calibration: Calibration
) -> float:
    r"""Return the rho of all steps together.

    The printed noise has the printed kappa and spends :math:`\frac{\kappa}{\kappa_{printed}}
    \frac{\varepsilon^2}{32\ln(1/\delta)}`; Gaussian noise spends the same without the ratio.

    Raises `NotApplicable` outside the range of Theorem 6, where the printed noise is not proven to
    be private.
    """
    budget = setting.budget
    rho = composed_rho(budget, noise, calibration)
    if calibration == "tight" or not isinstance(budget, ApproxDP):
        return rho
    if noise == "generalized gaussian":
        rho *= space.kappa / space.printed_kappa
    if budget.epsilon > 1 or rho > release_rho(budget, noise, "tight"):
        change = ("epsilon", 1.0) if budget.epsilon > 1 else ("delta", 1e-6)
        raise NotApplicable(
            f"Theorem 6 is for epsilon <= 1 and a small delta, and here "
            f"epsilon={budget.epsilon:g}, delta={budget.delta:g}.",
            nearest=f"set {change[0]}={change[1]:g}, or calibration=tight",
            changes=(change,),
        )
    return rho


def theorem_parameters(
    setting: Setting, space: RegularSpace, smoothness: float
) -> tuple[int, float]:
    """Return the steps T and the regulariser alpha of Theorem 7.

    Raises `NotApplicable` unless n > T and alpha <= 2 beta.
    """
    epsilon, delta = statement_budget(setting)

    def scheduled(n: int) -> tuple[int, bool]:
        """Return T for n records, and whether the theorem's conditions hold there."""
        steps = min(MOST_STEPS, max(1, round(published_steps(n, space, epsilon, delta))))
        return steps, n > steps and steps >= 2 * math.log2(n / steps)

    steps, valid = scheduled(setting.n)
    if valid:
        return steps, published_regulariser(setting.n, steps, smoothness)
    fewest_records = next(
        (2**k for k in range(2, 60) if 2**k > setting.n and scheduled(2**k)[1]), None
    )
    raise NotApplicable(
        f"Theorem 7 holds for T < n and T >= 2 log2(n/T), and here T={steps} at n={setting.n}.",
        nearest="set "
        + (f"n={fewest_records}, or " if fewest_records else "")
        + "tuning=practical",
        changes=(("n", fewest_records) if fewest_records else ("tuning", "practical"),),
    )


def published_steps(n: int, space: RegularSpace, epsilon: float, delta: float) -> float:
    r"""Return the T of Theorem 7 before rounding, with the root of the printed kappa.

    .. math:: T=\Big(\frac{n\varepsilon\sqrt\kappa}{\sqrt{d\ln(1/\delta)}}\Big)^{2/5}

    It is printed with kappa in place of the root, which contradicts the paper's own rate and
    condition on n (theory/su-zhao-wang.md, 2.3 (c)).
    """
    size = n * epsilon * math.sqrt(space.printed_kappa)
    return math.pow(size / math.sqrt(-space.d * math.log(delta)), 0.4)


def published_regulariser(n: int, steps: float, smoothness: float) -> float:
    r"""Return the published regulariser; it is not positive where n <= T.

    .. math:: \alpha=\frac{4\beta}T\log_2\frac nT
    """
    return 4 * smoothness / steps * math.log2(n / steps)


def practical_parameters(
    setting: Setting, space: RegularSpace, energy: float, losses: DualLosses
) -> tuple[int, float, float]:
    r"""Return T, B and alpha of the practical tuning, which do not depend on the data.

    With :math:`S_1`, the `energy`, the expected squared dual norm of the noise of one step with the
    whole budget, and :math:`\Phi_*` from the radius of the constraint set, T steps with B = 2 beta
    and alpha = 0 have an excess *empirical* risk of at most

    .. math:: \frac{B\Phi_*}T + \frac{TS_1}B,

    which depends on the time T/B only and is least at :math:`\tau = \sqrt{\Phi_*/S_1}`. The proven
    bound B3 on the population risk (theory/su-zhao-wang.md, 3.4) adds the cost of the regularised
    minimiser's stability. The parameters that minimise B3, and even more those of Theorem 7,
    regularise so much that the result stays near 0. So the time is `STRETCH` times tau, and
    :math:`\alpha` is `REGULARISED` over tau, in as few steps as B >= beta allows, with beta that of
    the *population* risk. Only accuracy depends on these choices. The noise does not depend on B.
    """
    radius = setting.body.radius_in(space.exponent)
    time = math.sqrt(space.kappa * radius**2 / 2 / energy)
    smoothness = min(dual_constants(setting).smoothness, losses.smoothness)
    target = STRETCH * time
    steps = max(FEWEST_STEPS, math.ceil(min(smoothness * target, ENOUGH_STEPS)))
    return steps, max(smoothness, steps / target), REGULARISED / time
