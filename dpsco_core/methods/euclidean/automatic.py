"""SCO with automatic clipping: every gradient is normalised, and no clip radius is chosen."""

from dataclasses import dataclass

from dpsco_core.base.cards import BU_2023, MethodCard
from dpsco_core.methods.base import MethodCost, Tuning
from dpsco_core.methods.departure import FULL_BATCH
from dpsco_core.methods.descent import DescentMethod, DescentPlan
from dpsco_core.methods.euclidean.clipped import theorem_descent, theorem_radius
from dpsco_core.methods.euclidean.tuning import FEW_STEPS, practical_descent, typical_norm
from dpsco_core.methods.records.base import check_level, gaussian_share
from dpsco_core.methods.stage import SmallRun, Stage
from dpsco_core.methods.statistics import NormalisedMean
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy.mechanisms import gaussian_noise_std
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting

STABILITY = 0.01  # gamma is this multiple of R, as in Bu et al. (2023)


def level_of(setting: Setting, rho: float, tuning: Tuning) -> float:
    """Return the length R to which gradients are scaled.

    It is the certified norm of a gradient or, with the tuning "theory", the theorem's clip radius.
    """
    return theorem_radius(setting, rho, "tight") if tuning == "theory" else typical_norm(setting)


def descent_at(setting: Setting, rho: float, level: float, tuning: Tuning) -> Descent:
    """Return the steps for gradients of norm `level`, whose noise spends `rho` in total."""
    if tuning == "theory":
        return theorem_descent(setting, rho, level, "tight")
    energy = 2 * setting.d * level**2 / (rho * setting.n**2)
    return practical_descent(setting, energy, level, growing=True)


@dataclass(frozen=True, kw_only=True)
class AutomaticDescent(DescentMethod):
    r"""Projected gradient descent on means of normalised gradients, with Gaussian noise.

    A gradient g is replaced by :math:`Rg/(\|g\|+\gamma)`. R only scales the step size; it gives the
    normalised gradient the size of a gradient.

    Parameters
    ----------
    scale : float, optional
        R, in [1e-150, 1e150]. If None it is chosen from the setting.
    descent : Descent, optional
        Steps, step size and averaging. If None they are chosen from the setting.
    calibration : {"tight", "paper"}
        Under an (epsilon, delta) budget: rho from the exact Gaussian curve, or from Bun and
        Steinke's conversion.
    tuning : {"practical", "theory"}
        ``"practical"``: R is the certified norm of a gradient, and T and eta those of
        `dpsco_core.methods.euclidean.tuning`. ``"theory"``: R, T and eta of `ClippedDescent`.
    """

    scale: float | None = None
    descent: Descent | None = None

    reads = "summed"
    cost = MethodCost(fixed=7e4, per_row=3, per_element=0.6, unit="step")
    departs = (FULL_BATCH,)
    card = MethodCard(
        slug="sco.automatic",
        name="Automatic clipping",
        paper=BU_2023,
        statement="AUTO-S, the stable form, on all records",
        summary="Gradient descent: scales every gradient to the same length, averages, and adds "
        "Gaussian noise at every step.",
        privacy="zcdp",
        problems=SCO_PROBLEMS,
        caveat="No bound on its error is proven. On skewed data it does not converge to the "
        "minimiser, however many records there are.",
    )
    stage = Stage(
        free_steps=True, clip=("scale", "scale"), small=SmallRun(fields={"descent": FEW_STEPS})
    )
    colour = "green"
    symbol = "diamond"

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with the given scale and descent, or with those of the tuning."""
        rho = gaussian_share(setting, self.calibration)
        scale = level_of(setting, rho, self.tuning) if self.scale is None else self.scale
        check_level("scale", scale)
        descent = self.descent or descent_at(setting, rho, scale, self.tuning)
        mean = NormalisedMean(scale=scale, stability=STABILITY * scale)
        rho_step = rho / descent.steps
        return DescentPlan(
            setting=setting,
            statistic=mean,
            descent=descent,
            rho=rho,
            rho_step=rho_step,
            diagnostics={
                "clip_radius": scale,
                "noise_std": gaussian_noise_std(mean.sensitivity(setting.n, setting.d), rho_step),
                "rho_step": rho_step,
                **descent.diagnostics,
            },
        )
