"""User-level accelerated phased ERM: Lowy, Liu and Asi (2024), Algorithms 2 to 4."""

import math
from dataclasses import dataclass

from dpsco_core.base.cards import LOWY_2024, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.euclidean.lipschitz import BOUNDED_CAVEAT, lipschitz_losses
from dpsco_core.methods.user.accelerated.model import model_landscape
from dpsco_core.methods.user.accelerated.plans import practical_plan, theory_plan
from dpsco_core.methods.user.accelerated.run import AcceleratedPhases, FilteredGradients
from dpsco_core.methods.user.accelerated.schedule import halving_layouts
from dpsco_core.methods.user.base import approximate_budget, user_level
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class UserAccelerated(FilteredGradients):
    r"""Accelerated descent on regularised risks of groups of users that halve from phase to phase.

    The noise has the size :math:`\tau \approx L/\sqrt m` of the spread of a mean of m items, and
    not the size L. The sensitivity of the filtered mean is `sharp_weights_sensitivity`. All steps
    of a phase share the budget (`TestedGaussian`).

    Parameters
    ----------
    calibration : {"tight", "paper"}
        ``"tight"``: form B, weights and b = 1, the test that needs the least noise, sensitivity and
        Gaussian multiplier exact. ``"paper"``: the printed test, coins and noise, refused where
        they are not proven, with all users of a phase in every step.
    tuning : {"practical", "theory"}
        ``"theory"``: :math:`\tau` of (R1), and the recommended schedule of 2 to 4 phases (the most
        whose tests can hide a user); with ``calibration="paper"`` the printed schedule.
        ``"practical"``: :math:`\tau = 3L/\sqrt m`, and the phases, steps and regulariser that
        minimise the model of `dpsco_core.methods.user.accelerated.model`.
    """

    reads = "whole"
    cost = MethodCost(
        fixed=0, per_row=14, per_element=3.5, per_piece=1.8e6, unit="step", rough_steps=(500, 8)
    )
    card = MethodCard(
        slug="user.accelerated",
        name="Filtered gradients",
        paper=LOWY_2024,
        statement="Algorithms 2 to 4, Theorem 3.2",
        summary="Accelerated descent in phases on disjoint users; each step tests that the users' "
        "mean gradients agree, leaves out those that do not, and adds noise as small as their "
        "spread.",
        privacy="approx",
        level="user",
        problems=SCO_PROBLEMS,
        rate="upper.user.accelerated",
        caveat="A phase needs some thousand users at epsilon = 1 for its test; with fewer it does "
        "not run. Its noise falls with m; below about a thousand items per user clipped means have "
        "less. " + BOUNDED_CAVEAT,
    )
    colour = "violet"
    symbol = "square"

    def plan(self, setting: Setting) -> AcceleratedPhases:
        """Return the plan of the tuning; raise `NotApplicable` for losses with kinks."""
        budget = approximate_budget(setting)
        losses = lipschitz_losses(setting, self.tuning, setting.gaussian_rho)
        if math.isinf(losses.smoothness):
            raise NotApplicable(
                "Accelerated steps need a smooth loss, and this one has kinks.",
                nearest="choose user.accelerated-nonsmooth, which smooths it, or the problem huber",
                changes=(("problem", "huber"),),
            )
        case = user_level(setting, budget, losses)
        if self.tuning == "practical":
            land = model_landscape(setting, losses.lipschitz, losses.smoothness)
            layouts = halving_layouts(setting.n)
            return practical_plan(setting, case, land, losses, self.calibration, layouts)
        return theory_plan(setting, case, losses, self.calibration)
