r"""The parameters of objective perturbation: shares of the budget, ridge, accuracy, noise.

The privacy cost of the exact minimiser is that of the linear term G as a Gaussian release, plus
that of the change of variables from G to the minimiser: the Jacobian determinants of neighbours
differ by one record's Hessian. For Hessians of rank one the second cost is
:math:`\varepsilon_J = \ln(1+\beta/(2n\lambda))`. The error that the solver leaves is hidden by a
second noise H. See theory/su-zhao-wang.md, 2.1 and 2.2.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import smallest_between
from dpsco_core.geometry.ball import Ball, LqBall
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.methods.base import Calibration, Plan, Tuning
from dpsco_core.methods.euclidean.lipschitz import Losses, lipschitz_losses
from dpsco_core.methods.euclidean.solver import USUAL_GRADIENTS
from dpsco_core.methods.records.base import refuse_pure
from dpsco_core.privacy.budget import ApproxDP, gaussian_rho
from dpsco_core.privacy.mechanisms import gaussian_noise_std, objective_noise_std
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.linear import mean_gradient_rounding
from dpsco_core.statements.su import (
    algorithm_1_noise,
    algorithm_1_output_noise,
    theorem_2_ridge,
)

# The share of epsilon and delta that the tight calibration spends on the noise H, which is tiny
# even with this share.
OUTPUT_SHARE = 0.01
# the smallest error of a certificate, as a share of the gradient; see `certified_digits`
DIGITS = 1e-12
# the error of a projection, relative to the size of the set and of the projected point
PROJECTION = 1e-13
# The error of a projection on an l_q ball per unit of q, which is used where it is larger.
PROJECTION_PER_EXPONENT = 4e-15
# the rounding error of the certificate near the sphere, as a share of the gradient; see `solver`
SPHERE = 4e-14
# The largest epsilon of the change of variables, at which the ridge is 1e-13 of beta/n.
LARGEST_JACOBIAN = 30.0


@dataclass(frozen=True, kw_only=True)
class ObjectivePlan(Plan):
    """The parameters of one run; none of them depends on the data."""

    losses: Losses
    # 1 if the Hessian of every loss is the identity, 0 if it is zero (the objective then has a
    # closed form); None if the objective needs the solver.
    hessian: float | None
    ridge: float  # λ; the objective has the term λ‖θ‖²
    epsilon: float  # the epsilon of the noise G
    jacobian_epsilon: float  # the epsilon of the change of variables
    delta: float  # the delta of G and of the change of variables together
    # the budget of G if it is one Gaussian release with the exact curve; replaces epsilon and delta
    rho: float = 0.0
    l2_sensitivity: float  # the sensitivity of n times the gradient of the empirical risk
    linear_std: float  # σ₁, the standard deviation of the noise G
    accuracy: float = 0.0  # α, the accuracy of the solver; 0 for a closed form
    # The sensitivity of the release with the noise H, with rounding errors (see `open_distance`);
    # 0 for a closed form.
    output_sensitivity: float = 0.0
    output_rho: float = 0.0  # the budget of H; 0 for a closed form
    output_std: float = 0.0  # the standard deviation of H; 0 for a closed form
    # The epsilon of H under pure DP, where `delta` and both rho are 0, and `linear_std` and
    # `output_std` are scales of spherical Laplace noise.
    output_epsilon: float = 0.0
    # The curvature to which kinks are rounded off under pure DP; 0 if the losses have none.
    rounded: float = 0.0

    @property
    def pure(self) -> bool:
        """Whether the noise is that of pure DP, so that delta is 0."""
        return self.delta == 0

    @property
    def moves(self) -> float:
        """The approximate number of times that the solver moves a point; 0 with a closed form."""
        return USUAL_GRADIENTS if self.hessian is None else 0

    @property
    def has_closed_form(self) -> bool:
        """Whether the minimiser has a closed form."""
        return self.hessian is not None

    @property
    def gradients(self) -> int | None:
        """The number of gradients of a run; None if it depends on the data."""
        return None if self.hessian is None else self.setting.n


@lru_cache(maxsize=4096)
def objective_plan(
    setting: Setting, calibration: Calibration, tuning: Tuning, *, strong: bool
) -> ObjectivePlan:
    """Return the parameters at `setting`; raise `NotApplicable` if the method cannot run there."""
    budget = approximate_budget(setting, calibration)
    refuse_other_losses(setting, strong=strong)
    losses = lipschitz_losses(setting, tuning, setting.gaussian_rho)
    constants = setting.constants
    if constants.structure == "mean":
        ridge = 0.0 if strong or tuning == "practical" else theorem_ridge(setting, losses)
        return _closed_plan(setting, calibration, budget, losses, 1.0, ridge)
    if constants.structure == "linear":
        ridge = 0.0 if tuning == "practical" else theorem_ridge(setting, losses)
        return _closed_plan(setting, calibration, budget, losses, 0.0, ridge)
    if calibration == "paper":
        return _paper_plan(setting, tuning, budget, losses)
    return _tight_plan(setting, tuning, budget, losses)


def approximate_budget(setting: Setting, calibration: Calibration) -> ApproxDP:
    """Return the (epsilon, delta) budget; raise `NotApplicable` for a pure or a large one."""
    refuse_pure(setting)
    budget = setting.budget
    if not isinstance(budget, ApproxDP):
        raise NotApplicable(
            "Objective perturbation is proven for (epsilon, delta) budgets, and this one is zCDP.",
            nearest="set epsilon=1 and delta=1e-06",
            changes=(("rho", None), ("epsilon", 1.0), ("delta", 1e-6)),
        )
    if calibration == "paper" and budget.epsilon >= 1:
        raise NotApplicable(
            f"The paper's noise is proven for epsilon below 1, and here epsilon="
            f"{budget.epsilon:g}.",
            calibration="tight",
            otherwise="epsilon=0.99",
        )
    return budget


def refuse_other_losses(setting: Setting, *, strong: bool) -> None:
    """Raise `NotApplicable` for losses outside the class in which privacy is proven."""
    constants = setting.constants
    if strong and not (constants.structure == "mean" and constants.sample_strong_convexity > 0):
        raise NotApplicable(
            "The strongly convex version needs losses whose strong convexity does not depend on "
            "the record, and this problem has none.",
            problem="quadratic",
            otherwise="the method sco.objective-perturbation",
        )
    if not constants.twice_differentiable:
        raise NotApplicable(
            "Objective perturbation needs a twice differentiable loss, and this one has kinks.",
            problem="logistic",
            otherwise="the method sco.private-sgd",
        )
    if constants.structure == "other":
        raise NotApplicable(
            "The privacy of objective perturbation is proven for generalised linear and mean-type "
            "losses only.",
            problem="logistic",
        )


def theorem_ridge(setting: Setting, losses: Losses) -> float:
    """Return the regulariser lambda of Su et al. (2023), Theorem 2."""
    return theorem_2_ridge(setting.n, losses.lipschitz, setting.constants.diameter)


def least_ridge(n: int, smoothness: float, jacobian_epsilon: float) -> float:
    r"""Return the least lambda at which the change of variables spends at most `jacobian_epsilon`.

    :math:`\frac{\beta}{2n(e^{\varepsilon_J}-1)}` for data-dependent Hessians of rank one and norm
    at most beta.

    Examples
    --------
    The reference value of theory/su-zhao-wang.md, 8, item 26, with a quarter of epsilon = 0.5, is
    per rank one beta/(2n(exp(0.125)-1)):

    >>> round(least_ridge(10**5, 0.25, 0.125) * 1e6, 6)
    9.388017
    """
    factor = math.exp(-jacobian_epsilon) / -math.expm1(-jacobian_epsilon)
    return 0.5 * smoothness * factor / n


def theorem_accuracy(setting: Setting, lipschitz: float, epsilon: float, delta: float) -> float:
    r"""Return the accuracy :math:`\alpha` of Theorem 2, the power of n in its second cap corrected.

    :math:`\min\{LMn^{-3/2}, \varepsilon^2LM^3/(G^2\ln(1/\delta)n^{5/2})\}`, with G the
    Gaussian width of the set, or its upper bound, and M twice the largest norm.
    """
    n, diameter = setting.n, setting.constants.diameter
    width = setting.body.gaussian_width().upper
    rate_cap = lipschitz * diameter / float(n**1.5)
    if width == 0:  # The set is a single point.
        return rate_cap
    privacy_cap = epsilon**2 * lipschitz * diameter**3 / (width**2 * math.log(1 / delta) * n**2.5)
    return float(min(rate_cap, privacy_cap))


def reachable_accuracy(setting: Setting, losses: Losses, ridge: float, linear_std: float) -> float:
    r"""Return the best alpha that the gradient's digits can certify: :math:`\nu^2/(4\lambda)`.

    :math:`\nu` is a part, `certified_digits` (1e-12), of the size of a gradient. That size
    includes :math:`\|G\|/n`, bounded by :math:`\sigma_1(\sqrt d+10)/n`, which fails with
    probability below 1e-21 whatever the data are.
    """
    noise = linear_std * (math.sqrt(setting.d) + 10) / setting.n
    return reachable_accuracy_with_noise(setting, losses, ridge, noise)


def reachable_accuracy_with_noise(
    setting: Setting, losses: Losses, ridge: float, noise: float
) -> float:
    """Return `reachable_accuracy` if the norm of the linear term G/n is at most `noise`."""
    radius = setting.constants.diameter / 2
    size = losses.lipschitz + (losses.smoothness + 2 * ridge) * radius + noise
    return (certified_digits(setting.body) * size) ** 2 / (4 * ridge)


def projection_accuracy(constraint: ConstraintSet) -> float:
    r"""Return the relative l2 error of projections on the set.

    Relative to the larger of the largest norm of the set and the norm of what is projected. It is
    tested and not proven, on random and adversarial vectors of up to 10^4 entries against a bound
    that holds for every algorithm (tests/geometry/test_projection_accuracy.py): errors are below
    2e-14, and below 2e-15 q on an l_q ball of large exponent.
    """
    if isinstance(constraint, LqBall):
        return max(PROJECTION, PROJECTION_PER_EXPONENT * constraint.exponent)
    return PROJECTION


def certified_digits(constraint: ConstraintSet) -> float:
    """Return the relative gradient error that a certificate resolves: 1e-12, or more for q > 25."""
    return max(DIGITS, 10 * projection_accuracy(constraint))


def open_distance(setting: Setting, accuracy: float, ridge: float) -> float:
    r"""Return the largest distance of two computed solutions that approximate the same minimiser.

    :math:`2\sqrt{\alpha/\lambda}`, since the objective is :math:`2\lambda`-strongly convex, and
    what rounding adds: a gradient is computed with an error e, at most a fraction of its size, and
    :math:`2\lambda D^2 \le \langle\nabla J(w), w-\theta_1\rangle` makes the distance D at most
    :math:`\sqrt{\alpha/\lambda} + e/(2\lambda)`. As :math:`\alpha` is at least that of
    `reachable_accuracy`, the second summand is at most e/nu times the first.

    On sets other than the ball the distance may be certified by `solver.residual_bound` after a
    step of length 1/M, M the smoothness: :math:`2\lambda D \le \|\rho\| + e + (2M + 2\lambda)\tau`
    with an error tau of the projection. What is projected is no longer than R plus a gradient's
    size over M, so that :math:`M\tau` is at most twice `projection_accuracy` of that size.

    A point outside the set by a relative 1e-14 (tested, as for projections of whatever length) may
    pass :math:`\theta_1` by as much: a certificate by the gap hides up to
    :math:`10^{-14}R\|\nabla J(\theta_1)\|`. It adds as much at w for its own rounding, so that
    this is at most another alpha, and :math:`2\lambda D^2 \le 2\alpha` is what is used above.
    """
    body = setting.body
    rounding = mean_gradient_rounding(setting.n, setting.d) + SPHERE
    if not isinstance(body, Ball):
        rounding += 6 * projection_accuracy(body)
    return 2 * math.sqrt(accuracy / ridge) * (1 + rounding / certified_digits(body))


def _closed_plan(
    setting: Setting,
    calibration: Calibration,
    budget: ApproxDP,
    losses: Losses,
    hessian: float,
    ridge: float,
) -> ObjectivePlan:
    """Return the plan if all records share one Hessian: no change of variables and one release."""
    if calibration == "paper":
        rho = 0.0
        sensitivity = 2 * losses.lipschitz
        std = algorithm_1_noise(losses.lipschitz, budget.epsilon, budget.delta)
    else:
        rho = setting.gaussian_rho
        # At a given point, the gradients of two records differ only by their features.
        sensitivity = 2 * losses.feature_bound
        std = gaussian_noise_std(sensitivity, rho)
    return ObjectivePlan(
        setting=setting,
        losses=losses,
        hessian=hessian,
        ridge=ridge,
        epsilon=budget.epsilon,
        jacobian_epsilon=0.0,
        delta=budget.delta,
        rho=rho,
        l2_sensitivity=sensitivity,
        linear_std=std,
    )


def _paper_plan(
    setting: Setting, tuning: Tuning, budget: ApproxDP, losses: Losses
) -> ObjectivePlan:
    """Return the plan with the printed constants: epsilon/4 for G and Jacobian, half for H."""
    epsilon, delta = budget.epsilon, budget.delta
    ridge = least_ridge(setting.n, losses.smoothness, epsilon / 4)
    if tuning == "theory":
        ridge = max(ridge, theorem_ridge(setting, losses))
    std = algorithm_1_noise(losses.lipschitz, epsilon, delta)
    accuracy = max(
        theorem_accuracy(setting, losses.lipschitz, epsilon, delta),
        reachable_accuracy(setting, losses, ridge, std),
    )
    rho = gaussian_rho(epsilon / 2, delta / 2)
    printed = algorithm_1_output_noise(accuracy, ridge, epsilon, delta)
    # The noise H is as printed, or larger where the solver's certificate leaves more open; the
    # sensitivity is the one to which that noise belongs.
    sensitivity = max(open_distance(setting, accuracy, ridge), printed * math.sqrt(2 * rho))
    return ObjectivePlan(
        setting=setting,
        losses=losses,
        hessian=None,
        ridge=ridge,
        epsilon=epsilon / 4,
        jacobian_epsilon=epsilon / 4,
        delta=delta / 2,
        l2_sensitivity=2 * losses.lipschitz,
        linear_std=std,
        accuracy=accuracy,
        output_sensitivity=sensitivity,
        output_rho=rho,
        output_std=gaussian_noise_std(sensitivity, rho),
    )


def _tight_plan(
    setting: Setting, tuning: Tuning, budget: ApproxDP, losses: Losses
) -> ObjectivePlan:
    """Return the plan with exact requirements: 1% for H, the rest shared by G and the Jacobian."""
    n = setting.n
    output_epsilon, output_delta = OUTPUT_SHARE * budget.epsilon, OUTPUT_SHARE * budget.delta
    output_rho = gaussian_rho(output_epsilon, output_delta)
    epsilon, delta = budget.epsilon - output_epsilon, budget.delta - output_delta
    if tuning == "theory":
        share = min(epsilon / 4, LARGEST_JACOBIAN)
        ridge = max(least_ridge(n, losses.smoothness, share), theorem_ridge(setting, losses))
    else:
        ridge = balanced_ridge(setting, losses, epsilon, delta, output_rho)
    jacobian = math.log1p(losses.smoothness / (2 * n * ridge))
    sensitivity = 2 * losses.lipschitz
    std = objective_noise_std(sensitivity, epsilon - jacobian, delta)
    accuracy = reachable_accuracy(setting, losses, ridge, std)
    output_sensitivity = open_distance(setting, accuracy, ridge)
    return ObjectivePlan(
        setting=setting,
        losses=losses,
        hessian=None,
        ridge=ridge,
        epsilon=epsilon - jacobian,
        jacobian_epsilon=jacobian,
        delta=delta,
        l2_sensitivity=sensitivity,
        linear_std=std,
        accuracy=accuracy,
        output_sensitivity=output_sensitivity,
        output_rho=output_rho,
        output_std=gaussian_noise_std(output_sensitivity, output_rho),
    )


def balanced_ridge(
    setting: Setting, losses: Losses, epsilon: float, delta: float, output_rho: float
) -> float:
    r"""Return the lambda that balances its bias against the noise of G and H.

    On a quadratic the bias shifts the result by :math:`2\lambda R` over the curvature, G by
    :math:`\sigma_1\sqrt d/n` over the curvature, and H by :math:`\sigma_2\sqrt d`. On a ball the
    sum of the squares is minimised over the share of epsilon that the change of variables gets. H
    matters only on a set so large that doubles leave much open:
    :math:`\sigma_2\propto1/\lambda`.

    On other sets the width G of the set may limit the effect of the noise before the curvature
    does. The risk is then the smaller one of that of a quadratic with curvature beta and the bound
    :math:`\sigma_1G/n + \lambda R^2 + L\min(\sigma_2\sqrt d, \sqrt{2\sigma_2G})` (B1 of
    theory/su-zhao-wang.md, 3.1).
    """
    n, body = setting.n, setting.body
    radius = setting.constants.diameter / 2
    width = math.inf if isinstance(body, Ball) else body.gaussian_width().upper

    def ridge(log_share: float) -> float:
        """Return the least ridge if the change of variables gets the share exp(log_share)."""
        return least_ridge(n, losses.smoothness, epsilon * math.exp(log_share))

    def shift(log_share: float) -> float:
        """Return the modelled squared shift if the change of variables gets exp(log_share)."""
        rest, level = epsilon * -math.expm1(log_share), ridge(log_share)
        linear_std = objective_noise_std(2 * losses.lipschitz, rest, delta)
        noise = linear_std / n
        accuracy = reachable_accuracy(setting, losses, level, linear_std)
        output = open_distance(setting, accuracy, level) / math.sqrt(2 * output_rho)
        energy = setting.d * (noise**2 + (losses.smoothness * output) ** 2)
        square = (2 * level * radius) ** 2 + energy
        bound = noise * width + level * radius**2
        distance = min(output * math.sqrt(setting.d), math.sqrt(2 * output * width))
        bound += losses.lipschitz * distance
        return min(square, 2 * losses.smoothness * bound)

    largest_share = min(-0.01, math.log(LARGEST_JACOBIAN / epsilon))
    return ridge(
        smallest_between(shift, largest_share - 12.0, largest_share, what="regulariser")[0]
    )
