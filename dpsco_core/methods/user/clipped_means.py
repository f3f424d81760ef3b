r"""Descent on all users' clipped mean gradients: a baseline, which does not detect outlying users.

Each of n users has m items. A step takes the mean gradient of every user's items at the point,
shortens it to the norm L if it is longer, averages over the users, and adds Gaussian noise. L is
the Lipschitz constant that the problem certifies; where there is none, records are shrunk into a
ball first, and L is that of the shrunk records (`dpsco_core.methods.euclidean.lipschitz`).
Replacing one user, with all m items, moves the average by at most 2L/n. All T steps read all users:
each spends :math:`\rho/T` with noise of standard deviation :math:`(2L/n)\sqrt{T/(2\rho)}`, so that
the run is :math:`\rho`-zCDP at the level of users.

Two ways to step cost the same in privacy, and a model of the error compares them: plain projected
gradient steps, whose last points are averaged, and AC-SA, the accelerated steps of Ghadimi and Lan
(2012). The model takes the risk as a quadratic whose curvature h lies between the smallest,
:math:`\lambda`, and the largest, :math:`\beta`, and ignores the projection. Both ways are then
linear in the start and in the noise, and the excess risk of the model is exact
(`accelerated_risk`).
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import OWN, MethodCard
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.descent import DescentMethod, DescentPlan
from dpsco_core.methods.euclidean.lipschitz import BOUNDED_CAVEAT, Losses, lipschitz_losses
from dpsco_core.methods.euclidean.noisy_gd import theorem_descent
from dpsco_core.methods.euclidean.tuning import SPARED, curvatures, practical_descent
from dpsco_core.methods.records.base import clip_to_ball, gaussian_share
from dpsco_core.methods.run import Descended, Path
from dpsco_core.methods.statistics import Statistic
from dpsco_core.methods.steps import Descent, Moves, Oracle
from dpsco_core.methods.tune import choose_cheapest
from dpsco_core.methods.user.accelerated.sgd import Curvature, accelerated_descent, query_weights
from dpsco_core.methods.user.base import AllUsers
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting

# The candidate numbers of AC-SA steps.
ACCELERATED_STEPS = (2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26, 32, 45, 64, 90, 128)
# The candidate strong convexities of AC-SA, as multiples of the model's smallest curvature.
MODULI = (1.0, 0.3, 0.1)
# The candidate smoothnesses of AC-SA, as multiples of the model's largest curvature.
SMOOTHNESSES = (1.0, 2.0, 4.0)


@dataclass(frozen=True, kw_only=True)
class AcceleratedChoice(Moves):
    """The AC-SA run of a plan: its steps, its assumptions on the risk, and the modelled risk."""

    steps: int
    objective: Curvature  # the strong convexity and the smoothness that AC-SA assumes
    modelled_risk: float

    @property
    def diagnostics(self) -> dict[str, float]:
        """The number of steps, and `accelerated`, which is 1."""
        return {"steps": float(self.steps), "accelerated": 1.0}

    def run(self, constraint: ConstraintSet, oracle: Oracle) -> Descended:
        """Run AC-SA from the centre; its path has the points of the gradient queries.

        The first query is at the centre, with which every path begins: it is not added again.
        """
        path = Path(constraint.centre, self.steps)

        def query_and_store(w: Vector, t: int) -> Vector:
            """Return the oracle's gradient at a query, and add the query to the path."""
            if t:
                path.add(t, w)
            return oracle(w, t)

        descended = accelerated_descent(
            constraint.centre, self.steps, self.objective, constraint, query_and_store
        )
        path.add(self.steps, descended.value)
        return Descended(value=descended.value, path=path)


@dataclass(frozen=True, kw_only=True)
class ClippedUserMean(Statistic):
    """The mean over users of their mean gradients, each clipped to the Lipschitz constant."""

    lipschitz: float  # L, the norm to which users' gradients are clipped

    def label_of(self, t: int) -> str:
        """Return the name of the release of step t, counted from 0, in the ledger."""
        return f"mean gradient of step {t + 1}"

    def value(self, rows: Vector) -> Vector:
        """Return the mean of the users' clipped gradients, shape (d,)."""
        return clipped_user_mean(rows, self.lipschitz)

    def sensitivity(self, n: int, d: int) -> float:
        """Return the l2 sensitivity 2L/n."""
        return 2 * self.lipschitz / n


@dataclass(frozen=True, kw_only=True)
class UserClippedMeans(DescentMethod):
    r"""Noisy descent on the mean of all users' gradients, each clipped to the Lipschitz constant.

    An item that is not finite counts as 0. Where gradients are linear in the items, a user's items
    are replaced by their mean first, and a user counts as 0 if that mean is not finite: see
    `dpsco_core.methods.user.base.bounded_means`. At m = 1 and with plain steps it is the item-level
    `dpsco_core.methods.euclidean.noisy_gd.NoisyGradientDescent`.

    Parameters
    ----------
    method : {"descent", "accelerated"}, optional
        Plain projected steps or AC-SA, whatever the tuning. If None it is the one with the smaller
        modelled risk, and plain steps under ``tuning="theory"``.
    calibration : {"tight", "paper"}
        Under an (epsilon, delta) budget: rho from the exact Gaussian curve, or from Bun and
        Steinke's conversion.
    tuning : {"practical", "theory"}
        ``"theory"``: plain steps as in Bassily et al. (2014), `theorem_descent`. ``"practical"``:
        see the module.
    """

    method: Literal["descent", "accelerated"] | None = None

    reads = "whole"
    needs_only_means = True
    cost = MethodCost(fixed=6e4, per_row=10, per_element=0.85, unit="step", rough_steps=(35, 128))
    card = MethodCard(
        slug="user.clipped-means",
        name="Clipped user gradients",
        short="Clipped users",
        paper=OWN,
        statement="a baseline: noisy gradient descent on users' clipped gradients",
        summary="Gradient descent on the mean of users' clipped gradients, with noise that hides "
        "what one user could do.",
        privacy="zcdp",
        level="user",
        problems=SCO_PROBLEMS,
        rate="upper.user.clipped-means",
        caveat=BOUNDED_CAVEAT,
    )
    colour = "gold"
    symbol = "hexagon"

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with plain or accelerated steps."""
        rho = gaussian_share(setting, self.calibration)
        losses = lipschitz_losses(setting, self.tuning, rho)
        # The expected squared norm of the noise of one step that spends all of rho.
        noise_energy = setting.d * (2 * losses.lipschitz / setting.n) ** 2 / (2 * rho)
        choice = self._choice(setting, rho, losses, noise_energy)
        steps = choice.steps
        return DescentPlan(
            setting=setting,
            statistic=ClippedUserMean(lipschitz=losses.lipschitz),
            access=AllUsers(),
            descent=choice,
            rho=rho,
            rho_step=rho / steps,
            losses=losses,
            diagnostics=losses.diagnostics
            | {
                "noise_std": 2 * losses.lipschitz / setting.n * math.sqrt(steps / (2 * rho)),
                "steps": float(steps),
                "accelerated": float(isinstance(choice, AcceleratedChoice)),
                "rho_step": rho / steps,
                "gradient_calls": float(steps * setting.n * setting.m),
            },
        )

    def _choice(
        self, setting: Setting, rho: float, losses: Losses, noise_energy: float
    ) -> Descent | AcceleratedChoice:
        """Return the steps: those that `method` and `tuning` ask for, or the better ones."""
        # The sampling error of the model is that of all n m items; the noise is that of n users.
        items = replace(setting, n=setting.n * setting.m)
        if self.method == "accelerated":
            return accelerated_choice(items, noise_energy)
        if self.tuning == "theory":
            return theorem_descent(setting, rho, losses.lipschitz)
        plain = practical_descent(items, noise_energy)
        if self.method == "descent":
            return plain
        accelerated = accelerated_choice(items, noise_energy)
        # AC-SA is used only if the model says that it is better by more than a small share.
        return (
            accelerated if accelerated.modelled_risk < (1 - SPARED) * plain.modelled_risk else plain
        )


def clipped_user_mean(gradients: Vector, lipschitz: float) -> Vector:
    r"""Return the mean of users' gradients, each clipped to the norm L; shape (d,).

    Replacing a user moves the mean by at most 2L/n. `gradients` has the shape (n, d).
    """
    # Records may hold any doubles, so overflow and NaN are expected.
    with np.errstate(over="ignore", invalid="ignore"):
        rows, weights = clip_to_ball(gradients, lipschitz)
        total: Vector = weights @ rows
    return total / len(gradients)


def accelerated_risk(
    objective: Curvature,
    steps: int,
    curvature: float,  # h, at most the smoothness of the objective
    distance: float,  # D, the distance of the start from the minimiser
    # v, the mean squared norm of the noise of a step with the whole budget; each of T steps has T v
    noise_energy: float,
) -> float:
    r"""Return the excess risk of AC-SA on a quadratic of one curvature, exactly.

    .. math:: \frac h2\Big[B_T^2D^2 + Tv\sum_sc_s^2\Big]

    with :math:`B_T` and :math:`c_s` the weights of the start and of the noise of step s in
    :math:`x^{ag}_T`. They are found by running the recursion of AC-SA (`accelerated_step`) on means
    and covariances: with gradient noise :math:`\xi`, the query :math:`x^{md}_t` of `query_weights`,
    :math:`\alpha_t = 2/(t+1)` and :math:`\gamma_t = 4L/(t(t+1))` for the smoothness L,

    .. math:: (\mu+\gamma_t)x_t = \alpha_t(\mu-h)x^{md}_t + ((1-\alpha_t)\mu+\gamma_t)x_{t-1}
        - \alpha_t\xi, \qquad x^{ag}_t = \alpha_tx_t + (1-\alpha_t)x^{ag}_{t-1}.

    Examples
    --------
    >>> one = Curvature(strong_convexity=1.0, smoothness=1.0)
    >>> round(accelerated_risk(one, 1, 1.0, 2.0, 0.5), 12)  # a step of size 1/3
    0.916666666667
    """
    mu, noise = objective.strong_convexity, steps * noise_energy
    # Means, variances and the covariance of the point and the aggregate are plain numbers: a plan
    # takes thousands of these steps, and 2x2 arrays are ten times slower.
    point, aggregate = 1.0, 1.0
    of_point, joint, of_aggregate = 0.0, 0.0, 0.0
    for t in range(1, steps + 1):
        alpha, gamma = 2 / (t + 1), 4 * objective.smoothness / (t * (t + 1))
        at_aggregate, at_point = query_weights(objective, t)
        pull, whole = alpha * (mu - curvature), mu + gamma
        a, b = (pull * at_point + (1 - alpha) * mu + gamma) / whole, pull * at_aggregate / whole
        # The matrix (a b; c d) maps the point and the aggregate to their next values.
        c, d = alpha * a, alpha * b + 1 - alpha
        kick = alpha / whole
        added = noise * kick**2
        point, aggregate = a * point + b * aggregate, c * point + d * aggregate
        of_point, joint, of_aggregate = (
            a * a * of_point + 2 * a * b * joint + b * b * of_aggregate + added,
            a * c * of_point + (a * d + b * c) * joint + b * d * of_aggregate + alpha * added,
            c * c * of_point + 2 * c * d * joint + d * d * of_aggregate + alpha**2 * added,
        )
    return curvature / 2 * (aggregate**2 * distance**2 + of_aggregate)


@lru_cache(maxsize=4096)
def accelerated_choice(setting: Setting, noise_energy: float) -> AcceleratedChoice:
    """Return the AC-SA run of the least modelled risk.

    A candidate's risk is the largest one over three curvatures: the smallest, the largest and their
    geometric mean. Among the candidates whose risk exceeds the least one by at most the share
    `SPARED` of the least risk plus the sampling error, the one with the fewest steps is chosen, as
    in `practical_descent`. The n of `setting` counts items; `noise_energy` is that of
    `accelerated_risk`.

    Raises `NotApplicable` if no candidate has a finite predicted risk.
    """
    low, largest = curvatures(setting)
    middle, distance = math.sqrt(low * largest), setting.constants.diameter / 2
    choices = []
    for steps in ACCELERATED_STEPS:
        for modulus in MODULI:
            for factor in SMOOTHNESSES:
                objective = Curvature(strong_convexity=modulus * low, smoothness=factor * largest)
                risk = max(
                    accelerated_risk(objective, steps, h, distance, noise_energy)
                    for h in (low, middle, largest)
                )
                choices.append(
                    AcceleratedChoice(steps=steps, objective=objective, modelled_risk=risk)
                )
    sampling = setting.constants.variance_trace / (2 * low * setting.n)
    spread = sampling if math.isfinite(sampling) else 0.0
    return choose_cheapest(
        choices,
        lambda choice: choice.modelled_risk,
        lambda choice: choice.steps,
        risk_limit=lambda least_risk: least_risk + SPARED * (least_risk + spread),
        what="number of steps",
    )
