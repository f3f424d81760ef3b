"""Objective perturbation under pure DP, with gamma noise: Kifer, Smith and Thakurta (2012)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from dpsco_core.base.cards import BOUNDED_PROBLEMS, KIFER_2012, MethodCard
from dpsco_core.base.search import smallest
from dpsco_core.methods.base import MethodCost, Tuning
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.euclidean.lipschitz import (
    BOUNDED_CAVEAT,
    Losses,
    lipschitz_losses,
    surrogate_constants,
)
from dpsco_core.methods.euclidean.perturbation.objective import PerturbedObjective
from dpsco_core.methods.euclidean.perturbation.objective_plan import (
    LARGEST_JACOBIAN,
    OUTPUT_SHARE,
    ObjectivePlan,
    least_ridge,
    open_distance,
    reachable_accuracy_with_noise,
)
from dpsco_core.methods.euclidean.perturbation.output_schedule import (
    FACTORS,
    equal_rho,
    phase_model,
    refuse_other_losses,
    shrinking_bias,
)
from dpsco_core.methods.euclidean.solver import CLOSED_FORM
from dpsco_core.methods.euclidean.tuning import curvatures
from dpsco_core.methods.stage import SOLVED, Stage
from dpsco_core.privacy.budget import ZCDP
from dpsco_core.privacy.concentration import pure_epsilon_of
from dpsco_core.privacy.mechanisms import laplace_noise_scale, spherical_laplace_reach
from dpsco_core.problems.base import Setting

# candidate shares of epsilon for the change of variables
SHARES = tuple(2.0 ** (-k / 2) for k in range(1, 21))
ROUNDED = tuple(2.0**k for k in range(11))  # candidate curvatures to which kinks are rounded off


@dataclass(frozen=True, kw_only=True)
class PureObjectivePerturbation(PerturbedObjective):
    r"""Minimise the empirical risk plus a random linear term and a ridge, under pure DP.

    The proof is for the solver that is used: the exact minimiser is private by the linear term, and
    what the solver leaves open is certified and hidden by a second noise, both pure
    (theory/pure-optimisers.md, 2). The losses need no second derivative, only a bounded curvature:
    kinks are rounded off.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        The same noise: there is one proof, and one constant.
    tuning : {"practical", "theory"}
        The ridge, the rounding and the bound on the features that minimise the error on a
        quadratic, or the proven bound of theory/pure-optimisers.md, 2.3.
    """

    reads = "whole"
    cost = MethodCost(
        fixed=3.4e5, per_row=150, per_element=6, per_piece=3e4, closed_form=CLOSED_FORM
    )
    departs = (
        Departure(
            tag="certified solver",
            text="What a solver leaves open is certified, and hidden by a second, tiny noise.",
        ),
    )
    card = MethodCard(
        slug="sco.pure-objective-perturbation",
        name="Objective perturbation, pure",
        short="Pure objective",
        paper=KIFER_2012,
        statement="Objective perturbation with gamma noise; theory/pure-optimisers.md, 2",
        summary="Adds a random linear term with gamma noise to the empirical risk, and minimises "
        "it to a certified accuracy, under pure DP.",
        privacy="pure",
        problems=BOUNDED_PROBLEMS,
        caveat="Kinks are rounded off: the curvature of a loss enters the proof. " + BOUNDED_CAVEAT,
    )
    stage = Stage(problem="quadratic", others={"solved": SOLVED})
    colour = "brown"
    symbol = "diamond"
    dashed = True
    strong = False

    def plan(self, setting: Setting) -> ObjectivePlan:
        """Return the plan of the ridge and the noises; see `pure_plan`."""
        return pure_plan(setting, self.tuning)


@lru_cache(maxsize=4096)
def pure_plan(setting: Setting, tuning: Tuning) -> ObjectivePlan:
    """Return the parameters at `setting`; raise `NotApplicable` if the method cannot run there."""
    refuse_other_losses(setting)
    structure = setting.constants.structure
    if structure == "linear-model":
        risk = proven_risk if tuning == "theory" else modelled_risk
        return smallest(_candidates(setting), risk, what="ridge")
    base = lipschitz_losses(setting, tuning, equal_rho(setting))
    if tuning == "theory" or base.certified or structure == "linear":
        return closed_plan(setting, base)
    wider = (bounded_losses(setting, base, f * base.feature_bound) for f in FACTORS)
    return smallest(
        (closed_plan(setting, x) for x in wider), modelled_risk, what="bound on the records"
    )


def bounded_losses(setting: Setting, losses: Losses, bound: float) -> Losses:
    """Return the losses with features shrunk to the norm `bound`."""
    lipschitz, smoothness = surrogate_constants(setting, bound)
    return replace(losses, lipschitz=lipschitz, smoothness=smoothness, feature_bound=bound)


def closed_plan(setting: Setting, losses: Losses) -> ObjectivePlan:
    """Return the plan for losses with one common Hessian, whose minimiser is explicit."""
    structure = setting.constants.structure
    # At a given point, the gradients of two records differ only by their features.
    sensitivity = 2 * losses.feature_bound
    return ObjectivePlan(
        setting=setting,
        losses=losses,
        hessian=1.0 if structure == "mean" else 0.0,
        ridge=0.0,
        epsilon=setting.pure_epsilon,
        jacobian_epsilon=0.0,
        delta=0.0,
        l2_sensitivity=sensitivity,
        linear_std=laplace_noise_scale(sensitivity, setting.pure_epsilon),
    )


def _candidates(setting: Setting) -> Iterator[ObjectivePlan]:
    """Yield the candidate plans over feature bounds, roundings and shares of epsilon."""
    base = lipschitz_losses(setting, "practical", equal_rho(setting))
    model = setting.constants.linear_model
    assert model is not None
    kinked = math.isinf(model.curvature)
    for factor in (1.0,) if base.certified else FACTORS:
        bound = factor * base.feature_bound
        lipschitz = base.lipschitz if base.certified else surrogate_constants(setting, bound)[0]
        for curvature in ROUNDED if kinked else (model.curvature,):
            losses = replace(
                base, lipschitz=lipschitz, feature_bound=bound, smoothness=curvature * bound**2
            )
            for share in SHARES:
                yield solved_plan(setting, losses, share, rounded=curvature if kinked else 0.0)


def _total_epsilon(setting: Setting) -> float:
    """Return the epsilon that the linear term and the output noise spend together."""
    if isinstance(setting.budget, ZCDP):
        return pure_epsilon_of(setting.budget.rho, (OUTPUT_SHARE, 1 - OUTPUT_SHARE))
    return setting.pure_epsilon


def solved_plan(setting: Setting, losses: Losses, share: float, *, rounded: float) -> ObjectivePlan:
    """Return the plan for losses that need the solver, at a share for the change of variables.

    `share` is the largest part of epsilon that the change of variables may spend, and `rounded` the
    curvature to which kinks are rounded off, or 0.
    """
    total = _total_epsilon(setting)
    output_epsilon = OUTPUT_SHARE * total
    rest = total - output_epsilon
    ridge = least_ridge(setting.n, losses.smoothness, min(share * rest, LARGEST_JACOBIAN))
    jacobian = math.log1p(losses.smoothness / (2 * setting.n * ridge))
    sensitivity = 2 * losses.lipschitz
    scale = laplace_noise_scale(sensitivity, rest - jacobian)
    longest = spherical_laplace_reach(setting.d, scale) / setting.n
    accuracy = reachable_accuracy_with_noise(setting, losses, ridge, longest)
    output_sensitivity = open_distance(setting, accuracy, ridge)
    return ObjectivePlan(
        setting=setting,
        losses=losses,
        hessian=None,
        ridge=ridge,
        epsilon=rest - jacobian,
        jacobian_epsilon=jacobian,
        delta=0.0,
        l2_sensitivity=sensitivity,
        linear_std=scale,
        accuracy=accuracy,
        output_sensitivity=output_sensitivity,
        output_std=laplace_noise_scale(output_sensitivity, output_epsilon),
        output_epsilon=output_epsilon,
        rounded=rounded,
    )


def modelled_risk(plan: ObjectivePlan) -> float:
    r"""Return the excess risk if the risk is a quadratic with its worst curvature h.

    With lambda the ridge and r half the diameter, the ridge moves the minimiser by
    :math:`\frac{2\lambda r}{h+2\lambda}`. Sampling and the noises of scales s and s_H move it, in
    mean square, by :math:`\frac{V/n + d(d+1)s^2/n^2}{(h+2\lambda)^2} + d(d+1)s_H^2`, with V the
    trace of the gradients' covariance. The bias of shrinking, and a quarter of the largest error of
    rounding kinks off, are added.
    """
    setting, ridge = plan.setting, 2 * plan.ridge
    d, constants = setting.d, setting.constants
    bias = shrinking_bias(phase_model(setting, plan.losses))
    variance = min(constants.variance_trace, plan.losses.lipschitz**2) / setting.n
    variance += d * (d + 1) * (plan.linear_std / setting.n) ** 2
    low, high = curvatures(setting)
    worst = 0.0
    for h in (low, math.sqrt(low * high), high):
        square = ((ridge * constants.diameter / 2) ** 2 + variance) / (h + ridge) ** 2
        square = min(square + d * (d + 1) * plan.output_std**2, constants.diameter**2)
        worst = max(worst, h / 2 * square + bias**2 / (2 * h))
    return worst + (1 / (8 * plan.rounded) if plan.rounded else 0.0)


def proven_risk(plan: ObjectivePlan) -> float:
    r"""Return a proven bound on the expected excess risk (theory/pure-optimisers.md, 2.3).

    .. math:: \lambda r^2 + \frac{2rds}n + \frac{L^2}{\lambda n} + L(\tau + ds_H) + \frac1{2c}
        + 2r\,E(a\|x\|-L)_+

    lambda is the ridge, r half the diameter, s and s_H the scales of the two noises, L the
    Lipschitz constant, tau the distance that the solver leaves open, c the curvature to which kinks
    are rounded off, and a the largest slope.
    """
    setting, losses = plan.setting, plan.losses
    n, d, diameter = setting.n, setting.d, setting.constants.diameter
    risk = plan.ridge * diameter**2 / 4 + diameter * d * plan.linear_std / n
    risk += losses.lipschitz**2 / (plan.ridge * n)
    risk += losses.lipschitz * (plan.output_sensitivity / 2 + d * plan.output_std)
    bias = shrinking_bias(phase_model(setting, losses), share=1.0)
    return risk + (1 / (2 * plan.rounded) if plan.rounded else 0.0) + diameter * bias
