"""Which algorithms a lower bound binds, and for which laws an upper one holds.

Two bounds are compared only if they are about the same class.
"""

import math
from dataclasses import replace

from dpsco_core.base.cards import BoundCard, Privacy
from dpsco_core.base.law_classes import BOUNDED, COORDINATE, DIRECTIONAL, SHIFTS, VARIANCE, LawClass
from dpsco_core.base.loss_classes import MEAN, LossClass
from dpsco_core.bounds.conditions import moment_scale
from dpsco_core.privacy.budget import ZCDP, Budget, PureDP, concentrated_rho, pure_epsilon
from dpsco_core.problems.base import Setting

# Rounding may change certified constants by this relative amount.
ROUNDING = 1e-12
_MOMENTS = (COORDINATE, DIRECTIONAL, VARIANCE, BOUNDED)


def binding(budget: Budget) -> tuple[Privacy, ...]:
    """Return the notions of privacy whose lower bounds bind every algorithm of a budget.

    A pure algorithm satisfies zCDP and (epsilon, delta)-DP too, so that their bounds bind it. An
    (epsilon, delta) algorithm need not satisfy zCDP, and a zCDP budget names no delta.
    """
    if isinstance(budget, PureDP):
        return ("none", "approx", "zcdp", "pure")
    return ("none", "zcdp") if isinstance(budget, ZCDP) else ("none", "approx")


def name_bound_algorithms(card: BoundCard, budget: Budget | None = None) -> str:
    """Return the words for the algorithms that a lower bound binds, to follow "every".

    With a budget, the words include the parameter at which the bound is taken.

    Examples
    --------
    >>> from dpsco_core.catalogue import bound
    >>> from dpsco_core.privacy import PureDP
    >>> name_bound_algorithms(bound("lower.mean.tracing-cdp").card, PureDP(epsilon=1.0))
    'zCDP algorithm (rho=0.4621)'
    """
    match card.privacy:
        case "none":
            return "algorithm"
        case "approx":
            return "(epsilon, delta)-DP algorithm"
        case "pure":
            budget_note = "" if budget is None else f" (epsilon={pure_epsilon(budget):.4g})"
            return f"pure DP algorithm{budget_note}"
        case "zcdp":
            budget_note = "" if budget is None else f" (rho={concentrated_rho(budget):.4g})"
            return f"zCDP algorithm{budget_note}"


def laws_for(losses: LossClass) -> LawClass:
    """Return the class of laws over which the lower bounds for these losses are worst cases.

    If the loss of every record is Lipschitz, as a distance is, gradients are bounded whatever the
    data; otherwise the moments of the gradients' coordinates are.
    """
    return BOUNDED if losses.lipschitz else COORDINATE


def of_class(setting: Setting, laws: LawClass = COORDINATE) -> Setting:
    """Return `setting` with the constants that hold for every law of a class, not just for its own.

    For `COORDINATE` only the moments of coordinates and R stay certified, and all other constants
    are the largest which these allow. For `BOUNDED` gradients the bound on them stays, but not the
    smoothness of the risk, which depends on the law.
    """
    constants = setting.constants
    if laws == BOUNDED:
        steep = replace(
            constants,
            minimum_variance=math.inf,
            smoothness=math.inf,
            sample_smoothness=math.inf,
            minimum_interior=False,
        )
        return replace(setting, constants=steep, spike_probability=None)
    spread = math.sqrt(setting.d) * moment_scale(setting)
    widest = replace(
        constants,
        variance_trace=spread**2,
        minimum_variance=math.inf,
        directional_moment=max(
            constants.directional_moment, spread + constants.mean_gradient_bound
        ),
        lipschitz=math.inf,
    )
    return replace(setting, constants=widest, spike_probability=None)


def covered(card: BoundCard, setting: Setting) -> tuple[LawClass, ...]:
    """Return the classes of laws for which an upper bound holds at a setting, its own first.

    The bound also holds for the whole class of bounded coordinate moments if the constants of its
    own class are as large, at this setting, as any law of that class makes them (see `of_class`).
    A bound for means over a class of moments holds for all shifts of a law in the class too.
    """
    classes = [card.laws]
    if card.laws in _MOMENTS and card.laws != COORDINATE:
        constants, worst = setting.constants, of_class(setting).constants
        pairs = ((getattr(constants, name), getattr(worst, name)) for name in card.laws.constants)
        if all(own >= most * (1 - ROUNDING) for own, most in pairs):
            classes.append(COORDINATE)
    if card.laws in _MOMENTS and card.loss_class == MEAN:
        classes.append(SHIFTS)
    return tuple(classes)
