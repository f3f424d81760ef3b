"""Approximate objective perturbation: Su, Zhao and Wang (2023), Algorithms 1 and 2."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import SU_2023, MethodCard
from dpsco_core.base.errors import require
from dpsco_core.geometry.ball import Ball
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.methods.access import check_sample
from dpsco_core.methods.base import MethodCost, PrivateMethod, Release
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.euclidean.lipschitz import BOUNDED_CAVEAT
from dpsco_core.methods.euclidean.perturbation.objective_plan import (
    ObjectivePlan,
    objective_plan,
    projection_accuracy,
)
from dpsco_core.methods.euclidean.solver import CLOSED_FORM, minimise_strongly_convex
from dpsco_core.methods.run import Descended, Path
from dpsco_core.methods.stage import SOLVED, Stage
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import (
    GaussianNoise,
    ObjectiveGaussian,
    ObjectiveLaplace,
    SphericalLaplaceNoise,
)
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample


class PerturbedObjective(PrivateMethod):
    """The common part of Algorithms 1 and 2; `strong` is true for Algorithm 2."""

    strong: ClassVar[bool]

    def plan(self, setting: Setting) -> ObjectivePlan:
        """Return the plan of Algorithm 1, or of Algorithm 2 if `strong`."""
        return objective_plan(setting, self.calibration, self.tuning, strong=self.strong)

    def release(
        self, sample: Sample, plan: ObjectivePlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run objective perturbation at the parameters of `plan`, and return the release."""
        setting = plan.setting
        check_sample(sample, setting)
        losses: Any = plan.losses.of(sample)
        if plan.rounded:
            losses = losses.rounded(plan.rounded)
        closed = plan.hessian is not None
        if not closed:
            check_set(sample.constraint, setting)
        value = (minimise_in_closed_form if closed else minimise_perturbed_objective)(
            plan, losses, ledger, rng
        )
        law = "scale" if plan.pure else "std"
        path = Path.through((sample.constraint.centre, value), (0, 1))
        return Descended(value=value, path=path).released(
            ledger,
            plan.losses.diagnostics
            | {
                f"noise_{law}": plan.linear_std / setting.n,
                "ridge": plan.ridge,
                "accuracy": plan.accuracy,
                f"output_noise_{law}": plan.output_std,
            },
        )


@dataclass(frozen=True, kw_only=True)
class ObjectivePerturbation(PerturbedObjective):
    r"""Minimise the empirical risk plus a random linear term and a ridge; perturb the result.

    The points of the solver are not private and are not part of the result.

    Proven for generalised linear and mean-type losses that are twice differentiable, and only for
    them (theory/su-zhao-wang.md, 2.1 (b)), on every compact convex W: the projections' rounding
    is part of what H hides, at an accuracy that is tested (`objective_plan.open_distance`).

    Parameters
    ----------
    calibration : {"tight", "paper"}
        ``"paper"``: the printed :math:`\sigma_1, \sigma_2` and a quarter of epsilon for the
        change of variables, with epsilon < 1. ``"tight"``: exact requirements at shares that leave
        nearly all of the budget to G; every epsilon.
    tuning : {"practical", "theory"}
        ``"theory"``: lambda of Theorem 2, L/(sqrt(n) M) with M the diameter, or what privacy
        needs. ``"practical"``: with ``"tight"``, the lambda that balances its own bias and the
        noise on a quadratic; with ``"paper"``, the least that privacy needs.
    """

    reads = "whole"
    cost = MethodCost(
        fixed=2.5e5, per_row=250, per_element=8.7, per_piece=3e4, closed_form=CLOSED_FORM
    )
    card = MethodCard(
        slug="sco.objective-perturbation",
        name="Objective perturbation",
        paper=SU_2023,
        statement="Algorithm 1, Theorems 1 and 2",
        summary="Adds a random linear term to the empirical risk, minimises it to a certified "
        "accuracy, and hides what the solver left open.",
        privacy="approx",
        problems=SCO_PROBLEMS,
        rate="upper.sco.objective-perturbation",
        caveat="Needs twice differentiable generalised linear or mean-type losses; for others no "
        "proof of privacy is known here. The ridge is what the library's shares of the budget "
        "need, which is more than the paper's where the rank is above d/2. " + BOUNDED_CAVEAT,
    )
    stage = Stage(problem="quadratic", others={"solved": SOLVED})
    colour = "brown"
    symbol = "pentagon"
    strong = False


@dataclass(frozen=True, kw_only=True)
class ObjectivePerturbationStrong(PerturbedObjective):
    r"""Algorithm 2: objective perturbation with the losses' own strong convexity as the ridge.

    With a modulus :math:`\mu` that does not depend on the record and data-dependent Hessians of
    norm at most :math:`\beta_f`, the ridge is
    :math:`\lambda = \max\{0, \frac12[\frac{\beta_f}{n(e^{\varepsilon/4}-1)} - \mu]\}`
    (theory/su-zhao-wang.md, 2.2; the printed rule subtracts moduli of two norms, and is not private
    on sets wider than the unit ball). For half the squared distance Hessians are the same for all
    records, so that :math:`\lambda = 0`: the result is the projection of the mean record plus
    noise. The modulus is an l2 one throughout, so that the set need not be symmetric: its Minkowski
    norm, the paper's, appears nowhere.

    Parameters
    ----------
    calibration, tuning
        As for `ObjectivePerturbation`; the ridge is the same in both tunings.
    """

    reads = "whole"
    cost = MethodCost(fixed=6e4, per_row=11, per_element=1.8)
    departs = (
        Departure(
            tag="noisy clipped mean",
            text="On squared distances, its only losses here, it is a noisy clipped mean.",
        ),
    )
    card = MethodCard(
        slug="sco.objective-perturbation-strong",
        name="Objective perturbation, strongly convex",
        paper=SU_2023,
        statement="Algorithm 2, Theorems 3 and 4",
        summary="Objective perturbation without a ridge of its own, for strongly convex losses.",
        privacy="approx",
        problems=SCO_PROBLEMS,
        rate="upper.sco.objective-perturbation-strong",
        caveat="Needs a strong convexity that no record can change; the printed ridge mixes the "
        "moduli of two norms, which is not private on sets wider than the unit ball, and is "
        "corrected. " + BOUNDED_CAVEAT,
    )
    stage = Stage(problem="quadratic")
    colour = "brown"
    symbol = "pentagon-open"
    dashed = True
    strong = True


def check_set(constraint: ConstraintSet, setting: Setting) -> None:
    """Raise `InvalidInput` if a sample's set is not the setting's, on which the accuracy rests."""
    body = setting.body
    same = isinstance(constraint, Ball) == isinstance(body, Ball)
    same &= constraint.l2_radius <= setting.constants.diameter / 2 * (1 + 1e-9)
    same &= projection_accuracy(constraint) <= projection_accuracy(body)
    require(same, "constraint", f"that of the setting, {body}", constraint)


def minimise_in_closed_form(
    plan: ObjectivePlan, sample: Sample, ledger: Ledger, rng: np.random.Generator
) -> Vector:
    r"""Return the minimiser of the perturbed objective if it is a quadratic, shape (d,).

    The objective is :math:`(\frac a2 + \lambda)\|\theta\|^2 + \langle c + G/n, \theta\rangle`,
    where c is the gradient at 0, a times the identity every Hessian, lambda the ridge, and G the
    noise. The minimiser over W is :math:`\Pi_W(-(c+G/n)/(a+2\lambda))`, and without any
    curvature the support point of W along :math:`-(c+G/n)`.
    """
    assert plan.hessian is not None
    slope = sample.mean_gradient(np.zeros(sample.d))
    if plan.pure:
        slope = ledger.release(
            SphericalLaplaceNoise(
                l2_sensitivity=plan.l2_sensitivity / sample.n, epsilon=plan.epsilon
            ),
            slope,
            rng,
            label="linear term of the objective",
        )
    elif plan.rho > 0:
        slope = ledger.release(
            GaussianNoise(l2_sensitivity=plan.l2_sensitivity / sample.n, rho=plan.rho),
            slope,
            rng,
            label="linear term of the objective",
        )
    else:
        slope = slope + draw_linear_term(plan, sample, ledger, rng)
    curvature, constraint = plan.hessian + 2 * plan.ridge, sample.constraint
    if curvature == 0:
        return constraint.support_point(-slope)
    return constraint.project(-slope / curvature)


def draw_linear_term(
    plan: ObjectivePlan, sample: Sample, ledger: Ledger, rng: np.random.Generator
) -> Vector:
    """Draw the random vector G of step 1 and return G/n, shape (d,)."""
    if plan.pure:
        noise: Vector = ledger.release(
            ObjectiveLaplace(
                l2_sensitivity=plan.l2_sensitivity,
                epsilon=plan.epsilon,
                jacobian_epsilon=plan.jacobian_epsilon,
            ),
            np.zeros(sample.d),
            rng,
        )
        return noise / sample.n
    noise = ledger.release(
        ObjectiveGaussian(
            l2_sensitivity=plan.l2_sensitivity,
            epsilon=plan.epsilon,
            jacobian_epsilon=plan.jacobian_epsilon,
            delta=plan.delta,
            own_noise_std=plan.linear_std,
        ),
        np.zeros(sample.d),
        rng,
    )
    return noise / sample.n


def minimise_perturbed_objective(
    plan: ObjectivePlan, sample: Sample, ledger: Ledger, rng: np.random.Generator
) -> Vector:
    """Run steps 1 to 4 for an objective without a closed form, and return the result."""
    # This is step 1 of the algorithm; the plan has already done step 2.
    tilt = draw_linear_term(plan, sample, ledger, rng)

    def gradient(w: Vector) -> Vector:
        """Return the gradient of the objective of step 3 at w."""
        return sample.mean_gradient(w) + tilt + 2 * plan.ridge * w

    solved = minimise_strongly_convex(
        gradient,
        sample.constraint,
        smoothness=plan.losses.smoothness + 2 * plan.ridge,
        modulus=2 * plan.ridge,
        accuracy=plan.accuracy,
    )
    label = "what the solver left open"
    if plan.pure:
        noisy = ledger.release(
            SphericalLaplaceNoise(
                l2_sensitivity=plan.output_sensitivity, epsilon=plan.output_epsilon
            ),
            solved.value,
            rng,
            label=label,
        )
        return sample.constraint.project(noisy)
    noisy = ledger.release(
        GaussianNoise(l2_sensitivity=plan.output_sensitivity, rho=plan.output_rho),
        solved.value,
        rng,
        label=label,
    )
    return sample.constraint.project(noisy)  # The projection is step 4 of the algorithm.
