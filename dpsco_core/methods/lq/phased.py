"""Phased SGD without a constraint set: the algorithm behind Theorem 8 of Su et al. (2023)."""

import math
from dataclasses import dataclass, replace

from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.methods.base import Calibration, MethodCost
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.euclidean.lipschitz import Losses, lipschitz_losses
from dpsco_core.methods.euclidean.phased_sgd import (
    PhasedAverages,
    PhasedSgd,
    check_two_records,
    phased_plan,
    practical_phases,
)
from dpsco_core.methods.lq.card import lq_card
from dpsco_core.methods.lq.losses import LP_CAVEAT, check_everywhere_smooth
from dpsco_core.methods.phases import PhasedMethod
from dpsco_core.methods.records.base import refuse_pure
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class UnconstrainedPhasedSgd(PhasedMethod):
    r"""Phased SGD on all of :math:`R^d`, from 0, for parameters in :math:`\ell_q`, q >= 2.

    For :math:`q \ge 2` gradients are measured in :math:`\ell_{q'}`, :math:`q' \le 2`, and

    .. math:: \|g\|_2 \le \|g\|_{q'} \le L,\qquad \|g(w)-g(v)\|_2 \le \beta\|w-v\|_q
        \le \beta\|w-v\|_2,

    so that the loss is Lipschitz and smooth in l2 with the same constants: everything is that of
    `PhasedSgd`, without the projection.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        ``"tight"``: under an (epsilon, delta) budget rho of the exact Gaussian curve. ``"paper"``:
        :math:`c = \sqrt{8\ln(1.25/\delta)}/\varepsilon` of Lemma 2, for epsilon <= 1.
    tuning : {"practical", "theory"}
        ``"theory"``: the `printed_step`, which knows no diameter, refused where
        :math:`\eta_1 > 2/\beta`. ``"practical"``: as for `PhasedSgd`, with the radius of the
        constraint set for the distance to the minimiser.
    """

    reads = "ordered"
    cost = MethodCost(fixed=2e5, per_row=5, per_element=0.5, per_piece=1.2e4)
    departs = (
        Departure(
            tag="own parameters",
            text="Its parameters, which the paper leaves to an appendix, are reconstructed.",
        ),
    )
    card = lq_card(
        "phased-sgd",
        "Unconstrained phased SGD",
        "Theorem 8",
        "One pass of SGD in phases of halving length and quartering step size, on the "
        "whole space, for parameters in an l_q norm with q of at least 2.",
        "The paper names the algorithm and leaves its parameters to an appendix; they are "
        "reconstructed. Privacy needs smooth losses and small steps. " + LP_CAVEAT,
    )
    stage = replace(PhasedSgd.stage, problem="huber", exponent=3.0)
    colour = "green"
    symbol = "cross-open"
    dashed = True

    def plan(self, setting: Setting) -> PhasedAverages:
        """Return the plan of phases without projection, with a bound on every point's norm."""
        rho = phased_share(setting, self.calibration)
        if setting.exponent < 2:
            raise NotApplicable(
                f"Theorem 8 is for q >= 2: below, a gradient's l2 norm may exceed its dual norm, "
                f"and here q={setting.exponent:g}.",
                nearest="choose lp.regularized-mirror-descent, or the geometry l2",
                changes=(("geometry", "l2"), ("q", None)),
            )
        check_everywhere_smooth(setting)
        losses = lipschitz_losses(setting, self.tuning, rho)
        check_two_records(setting)
        if self.tuning == "theory":
            count, step_size = phases(setting.n), free_step_size(setting, rho, losses)
        else:
            count, step_size = practical_phases(setting, rho, losses)
        # `reach` bounds every point's norm by the total length of all steps and ten times the total
        # noise. Phase i moves by at most n_i eta_i L, and the sum of 8^-i is 1/7; its noise has
        # norm about sigma_i sqrt(d), and the sum of 4^-i is 1/3.
        noise = 10 * noise_factor(rho) * math.sqrt(setting.d) / 3
        reach = losses.lipschitz * step_size * (setting.n / 7 + noise)
        return phased_plan(setting, rho, losses, count, step_size, reach)


def phased_share(setting: Setting, calibration: Calibration) -> float:
    """Return the rho of every phase; the paper's is :math:`2/c^2`, at most the proven one."""
    refuse_pure(setting)
    budget = setting.budget
    if calibration == "tight" or not isinstance(budget, ApproxDP):
        return setting.gaussian_rho
    if budget.epsilon > 1:
        raise NotApplicable(
            f"Lemma 2 calibrates Gaussian noise for epsilon <= 1, and here "
            f"epsilon={budget.epsilon:g}.",
            epsilon=1.0,
            otherwise="calibration=tight",
        )
    return 2 / (math.sqrt(8 * math.log(1.25 / budget.delta)) / budget.epsilon) ** 2


def free_step_size(setting: Setting, rho: float, losses: Losses) -> float:
    """Return the `printed_step`; raise `NotApplicable` if a quarter of it exceeds 2/beta.

    The step of the first phase is that quarter.
    """
    n, slope = setting.n, losses.lipschitz
    step_size = printed_step(n, setting.d, slope, noise_factor(rho))
    if step_size / 4 * losses.smoothness > 2:
        fewest_records = math.ceil((losses.smoothness / (8 * slope)) ** 2)
        raise NotApplicable(
            f"The theorem's step size is {step_size / 4:.3g}, above 2/beta = "
            f"{2 / losses.smoothness:.3g}, beyond which steps may move points apart.",
            n=fewest_records,
            otherwise="tuning=practical",
        )
    return step_size


def phases(n: int) -> int:
    r"""Return the number of phases :math:`K=\lfloor\log_2n\rfloor`, for n >= 2."""
    require(n >= 2, "n", "at least 2", n)
    return n.bit_length() - 1


def noise_factor(rho: float) -> float:
    r"""Return the factor :math:`c=2/\sqrt{2\rho}` of the noise on the average of a phase.

    The average of phase i has sensitivity :math:`2L\eta_i`, so its noise has the standard
    deviation :math:`cL\eta_i` per coordinate.
    """
    return math.sqrt(2 / rho)


def printed_step(n: int, d: int, lipschitz: float, factor: float) -> float:
    r"""Return the printed step size, which needs no distance.

    .. math:: \eta=\frac1L\min\{\frac1{\sqrt n},\frac1{c\sqrt d}\}
    """
    return min(1 / math.sqrt(n), 1 / (factor * math.sqrt(d))) / lipschitz
