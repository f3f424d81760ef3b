"""DP-SGD on Poisson samples, as libraries for private training run it: Abadi et al. (2016)."""

import math
from dataclasses import dataclass

from dpsco_core.base.cards import ABADI_2016, MethodCard
from dpsco_core.base.errors import InvalidInput, NotApplicable, require
from dpsco_core.methods.access import PoissonSamples
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.descent import DescentMethod, DescentPlan
from dpsco_core.methods.euclidean.clipped import theorem_descent, theorem_radius
from dpsco_core.methods.euclidean.tuning import (
    FEW_STEPS,
    practical_clipping,
    practical_descent,
    typical_norm,
)
from dpsco_core.methods.records.base import check_level, sampled_budget
from dpsco_core.methods.sampled import PoissonSums
from dpsco_core.methods.stage import SmallRun, Stage
from dpsco_core.methods.steps import Descent
from dpsco_core.methods.tune import choose_parameter
from dpsco_core.privacy.poisson import sample_steps
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting

RATE = 0.1  # the default probability that a step includes a record
REACHED_EPSILON = 0.1  # an epsilon that some noise multiplier meets at every number of steps


@dataclass(frozen=True, kw_only=True)
class MinibatchDescent(DescentMethod):
    r"""Projected steps on noisy sums of clipped gradients, each over a Poisson sample.

    Every step takes each record with probability q, by itself, and moves along
    :math:`\frac1{qn}\big(\sum_{i\in S_t}g_i+N(0,z^2C^2I)\big)`, with the gradients clipped to C.
    The noise multiplier z is found for replacing a record (theory/poisson-sampling.md, 2 and 3).

    Parameters
    ----------
    rate : float
        q, above 0 and below 1.
    radius : float, optional
        Clip radius C, in [1e-150, 1e150]. If None it is chosen from the setting.
    descent : Descent, optional
        Steps, step size and averaging. If None they are chosen from the setting.
    calibration : {"tight", "paper"}
        ``"tight"``: the least z of the accountant. ``"paper"`` is refused: Theorem 1 leaves its
        constants open, and is for adding or removing a record.
    tuning : {"practical", "theory"}
        ``"practical"``: C, T and eta of `dpsco_core.methods.euclidean.tuning`, with the noise of a
        sample besides. ``"theory"``: those of `ClippedDescent`; the paper has none.
    """

    rate: float = RATE
    radius: float | None = None
    descent: Descent | None = None

    reads = "whole"
    cost = MethodCost(fixed=1e5, per_row=30, per_element=3, unit="step", per_piece=5e4)
    departs = (
        Departure(
            tag="projected",
            text="It projects every point on the set and returns an average of points, where the "
            "paper trains a network without a set and returns the last one.",
        ),
    )
    card = MethodCard(
        slug="sco.dp-sgd",
        name="Minibatch DP-SGD",
        short="DP-SGD",
        paper=ABADI_2016,
        statement="Algorithm 1, with projections",
        summary="Gradient descent on random minibatches: every step takes each record with a small "
        "probability, shrinks gradients into a ball, adds them up, and adds Gaussian noise.",
        privacy="approx",
        problems=SCO_PROBLEMS,
        caveat="No bound on its error is proven here. Its noise is for replacing a record, which "
        "costs more than adding or removing one, as libraries count by default.",
    )
    stage = Stage(
        free_steps=True,
        clip=("radius", "radius"),
        small=SmallRun(fields={"rate": 0.5, "descent": FEW_STEPS}),
    )
    colour = "blue"
    symbol = "square"

    def __post_init__(self) -> None:
        """Refuse a sampling rate outside (0, 1)."""
        require(0 < self.rate < 1, "rate", "above 0 and below 1", self.rate)

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with the accountant's noise, for the given or the tuned parameters."""
        budget = sampled_budget(setting, self.calibration)
        rho, batch = setting.gaussian_rho, self.rate * setting.n
        # `unit` models the mean squared norm of a step's noise at C = 1 if the step spends all of
        # rho. With small samples, or few of them, the noise is larger.
        unit = 2 * setting.d / (rho * setting.n**2)
        spread = spread_of_sample(setting, batch)
        radius = choose_parameter(
            self.radius,
            self.tuning,
            theory=lambda: theorem_radius(setting, rho, "tight"),
            practical=lambda: (
                practical_clipping(setting, unit, growing=True, step_energy=spread).radius
            ),
        )
        check_level("radius", radius)
        descent = choose_parameter(
            self.descent,
            self.tuning,
            theory=lambda: theorem_descent(setting, rho, radius, "tight"),
            practical=lambda: practical_descent(
                setting, unit * radius**2, radius, growing=True, step_energy=spread
            ),
        )
        try:
            certificate = sample_steps(self.rate, descent.steps, budget.epsilon, budget.delta)
        except InvalidInput:
            raise NotApplicable(
                "The accountant of Poisson samples finds no noise at which "
                f"{descent.steps:,} steps are {budget}.",
                epsilon=REACHED_EPSILON,
            ) from None
        access = PoissonSamples(rate=self.rate)
        return DescentPlan(
            setting=setting,
            statistic=PoissonSums(radius=radius, divisor=batch, certificate=certificate),
            access=access,
            descent=descent,
            diagnostics={
                "clip_radius": radius,
                "noise_multiplier": certificate.noise_multiplier,
                "noise_std": certificate.noise_multiplier * radius / batch,
                "sampling_rate": self.rate,
                **descent.diagnostics,
                "batch_size": float(access.rows(setting, descent.steps)),
                "gradient_calls": float(access.gradients(setting, descent.steps)),
            },
        )


def spread_of_sample(setting: Setting, batch: float) -> float:
    """Return the modelled variance of the mean gradient of `batch` records, out of all records."""
    typical = math.inf
    if 0 < setting.constants.variance_trace < math.inf:
        typical = setting.constants.variance_trace
    return min(typical, typical_norm(setting) ** 2) / batch
