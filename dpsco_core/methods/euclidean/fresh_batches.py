"""Clipped gradients on fresh batches: for every convex loss, kinks and heavy tails included."""

from dataclasses import dataclass

from dpsco_core.base.cards import OWN, MethodCard
from dpsco_core.methods.access import OwnBlocks
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.descent import DescentMethod, DescentPlan
from dpsco_core.methods.euclidean.batches import BatchedSteps, Moments, best_batches, check_bounded
from dpsco_core.methods.records.base import check_level, check_parts, gaussian_share
from dpsco_core.methods.stage import PARTS, SmallRun, Stage
from dpsco_core.methods.statistics import ClippedMean
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy.budget import PureDP
from dpsco_core.privacy.mechanisms import SphericalLaplaceNoise
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class PurelyHiddenMean(ClippedMean):
    """The mean of clipped rows, with noise that satisfies pure DP."""

    epsilon: float  # the epsilon that one step spends

    def noise(self, n: int, d: int, rho: float) -> SphericalLaplaceNoise:
        """Return spherical Laplace noise for the mean of n rows; rho is not used."""
        return SphericalLaplaceNoise(l2_sensitivity=self.sensitivity(n, d), epsilon=self.epsilon)


@dataclass(frozen=True, kw_only=True)
class FreshBatches(DescentMethod):
    r"""Projected subgradient descent on clipped gradients; each step reads new records.

    Parameters
    ----------
    batches : BatchedSteps, optional
        Steps, step size and clip radius. If None they are chosen from the setting.
    calibration : {"tight", "paper"}
        Under an (epsilon, delta) budget: rho from the exact Gaussian curve, or from Bun and
        Steinke's conversion.
    tuning : {"practical", "theory"}
        ``"theory"``: the steps and the radius at which the proven bound for directional moments is
        least (theory/fresh-batches.md, 1). ``"practical"``: the same with the clipping bias that
        `dpsco_core.methods.euclidean.tuning` assumes in place of that of the worst law. For p < 2
        both take those of the proven bound for coordinates' moments.
    """

    batches: BatchedSteps | None = None

    reads = "summed"
    cost = MethodCost(fixed=1e5, per_row=3, per_element=0.5, per_piece=4e4)
    card = MethodCard(
        slug="sco.fresh-batches",
        name="Clipped gradients on fresh batches",
        short="Fresh batches",
        paper=OWN,
        statement="Fresh batches, 1",
        summary="One pass of subgradient descent: every step shrinks the gradients of its own "
        "batch into a ball, averages, and adds noise with the whole budget.",
        privacy="zcdp",
        pure_form=True,
        problems=SCO_PROBLEMS,
        rate="upper.sco.fresh-batches",
        infinite_variance="A clipped gradient has a variance, each batch is fresh, and steps and "
        "radius are those at which a bound that is proven for p < 2 is least.",
        caveat="A single pass: where several passes are allowed, clipped gradients on all records "
        "usually have a smaller error. Its bound needs nothing to be smooth.",
    )
    stage = Stage(
        splits=PARTS,
        small=SmallRun(
            fields={"batches": BatchedSteps(steps=4, radius=1.0, step_size=0.1)},
        ),
        others={"pure": SmallRun(scenario={"delta": 0.0})},
    )
    clipped_values = "gradients"
    colour = "brown"
    symbol = "square"

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with the given batches, or with those of the tuning."""
        pure = isinstance(setting.budget, PureDP)
        rho = 0.0 if pure else gaussian_share(setting, self.calibration)
        batches = self.batches
        if batches is None:
            moments: Moments | None = "directional" if self.tuning == "theory" else None
            if setting.moment_order < 2:  # The model of the accuracy needs a second moment.
                moments = "coordinate"
            batches = best_batches(setting, rho, moments)
        else:
            check_bounded(setting)
        return plan_batches(setting, batches, rho)


def plan_batches(setting: Setting, batches: BatchedSteps, rho: float) -> DescentPlan:
    """Return the plan for these batches; under a pure budget `rho` is 0.

    Raises `NotApplicable` where a batch would have no record.
    """
    steps, radius = batches.steps, batches.radius
    check_level("radius", radius)
    check_parts("batches", steps, setting.n)
    descent = Descent(steps=steps, step_size=batches.step_size, queried=True)
    size = setting.n // steps
    return DescentPlan(
        setting=setting,
        statistic=ClippedMean(radius=radius)
        if rho > 0
        else PurelyHiddenMean(radius=radius, epsilon=setting.pure_epsilon),
        access=OwnBlocks(),
        descent=descent,
        rho=rho,
        rho_step=rho,
        diagnostics={
            **descent.diagnostics,
            "clip_radius": radius,
            "batch_size": float(size),
            "gradient_calls": float(steps * size),
        },
    )
