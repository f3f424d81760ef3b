"""User-level accelerated ERM for losses with kinks: Lowy, Liu and Asi (2024), Theorem 4.1."""

from dataclasses import dataclass, replace

from dpsco_core.base.cards import LOWY_2024, MethodCard
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.euclidean.lipschitz import BOUNDED_CAVEAT, Losses, lipschitz_losses
from dpsco_core.methods.user.accelerated.model import model_landscape
from dpsco_core.methods.user.accelerated.plans import practical_plan, theory_plan
from dpsco_core.methods.user.accelerated.run import AcceleratedPhases, FilteredGradients
from dpsco_core.methods.user.accelerated.schedule import halving_layouts
from dpsco_core.methods.user.base import approximate_budget, user_level
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.methods.user.printed_schedules import smoothed_smoothness, smoothing_radius
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting

SMALLEST_RATIO, LARGEST_RATIO = 0.01, 0.05  # the range of c_r for the practical radius


@dataclass(frozen=True, kw_only=True)
class UserAcceleratedNonsmooth(FilteredGradients):
    r"""Filtered accelerated descent on losses averaged over a small ball.

    :math:`f_r(x,z) = E f(x+y,z)`, y uniform on the ball of radius r, is
    :math:`L\sqrt d/r`-smooth and at most Lr above f (Lemma D.1, with its sandwich put right). Every
    item's gradient is taken at a move of its own, fresh in every step: its error averages over the
    items of a user and over the users. The moves do not depend on data; privacy is that of
    `UserAccelerated`.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        As for `UserAccelerated`.
    tuning : {"practical", "theory"}
        ``"theory"``: :math:`r = \frac{\sqrt d}{\varepsilon n\sqrt m}R` of Theorem D.3 with the
        :math:`\lambda` of Theorem C.3, which means thousands of steps. ``"practical"``:
        :math:`r = c_rR`, where :math:`c_rLR` is the modelled risk, between 0.01 and 0.05.
    """

    reads = "whole"
    cost = MethodCost(
        fixed=0, per_row=50, per_element=2.5, per_piece=2.1e6, unit="step", rough_steps=(500, 8)
    )
    card = MethodCard(
        slug="user.accelerated-nonsmooth",
        name="Filtered gradients, smoothed",
        paper=LOWY_2024,
        statement="Theorem 4.1, Algorithms 2 to 4",
        summary="As filtered gradients, with every item's gradient taken at a randomly "
        "moved point, which makes a loss with kinks smooth.",
        privacy="approx",
        level="user",
        problems=SCO_PROBLEMS,
        rate="upper.user.accelerated-nonsmooth",
        caveat="A phase needs some thousand users at epsilon = 1 for its test. The theorem's "
        "radius means thousands of passes over all items. " + BOUNDED_CAVEAT,
    )
    colour = "magenta"
    symbol = "star"

    def plan(self, setting: Setting) -> AcceleratedPhases:
        """Return the plan on smoothed losses, with the radius that the tuning chooses."""
        budget = approximate_budget(setting)
        losses = lipschitz_losses(setting, self.tuning, setting.gaussian_rho)
        case = user_level(setting, budget, losses)
        if self.tuning == "theory":
            radius = smoothing_radius(case)
            smoothed = smoothed_losses(setting, losses, case, radius)
            smoothed_case = user_level(setting, budget, smoothed)
            return replace(
                theory_plan(setting, smoothed_case, smoothed, self.calibration), radius=radius
            )
        radius = LARGEST_RATIO * case.diameter
        # The first pass models the risk at the largest radius; the second uses the radius for that
        # risk.
        for _ in range(2):
            smoothed = smoothed_losses(setting, losses, case, radius)
            candidate = practical_plan(
                setting,
                user_level(setting, budget, smoothed),
                model_landscape(setting, smoothed.lipschitz, smoothed.smoothness),
                smoothed,
                self.calibration,
                halving_layouts(setting.n),
            )
            chosen_radius = radius
            ratio = candidate.modelled_risk / case.unit
            radius = min(max(ratio, SMALLEST_RATIO), LARGEST_RATIO) * case.diameter
        return replace(candidate, radius=chosen_radius)


def smoothed_losses(setting: Setting, losses: Losses, case: UserLevel, radius: float) -> Losses:
    r"""Return the constants of the losses averaged over a ball of radius r.

    The smoothness is at most that of f, and :math:`L\sqrt d/r`. Half the squared distance is
    steeper by r beyond the set; other losses are Lipschitz everywhere.
    """
    steeper = radius if setting.constants.structure == "mean" else 0.0
    lipschitz = losses.lipschitz + steeper
    smooth = smoothed_smoothness(replace(case, lipschitz=lipschitz), radius)
    return replace(losses, lipschitz=lipschitz, smoothness=min(losses.smoothness, smooth))
