"""Whom a bound binds, and for which laws it holds at a setting: only like meets like."""

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
    """Return the classes of algorithms whose lower bounds bind every algorithm of a budget.

    A pure algorithm is one of zCDP and of (epsilon, delta) too. An (epsilon, delta) budget says
    nothing of zCDP, and that of zCDP names no delta.
    """
    if isinstance(budget, PureDP):
        return ("none", "approx", "zcdp", "pure")
    return ("none", "zcdp") if isinstance(budget, ZCDP) else ("none", "approx")


def name_bound_algorithms(card: BoundCard, budget: Budget | None = None) -> str:
    """Return which algorithms a lower bound binds, at a budget if there is one, after "every".

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
    """Return the class of laws over which worst cases of a problem's losses are meant.

    Where the loss of every record is Lipschitz, as a distance is, data may be anywhere.
    """
    return BOUNDED if losses.lipschitz else COORDINATE


def of_class(setting: Setting, laws: LawClass = COORDINATE) -> Setting:
    """Return the setting at which no more is certified than moments of coordinates and R.

    For bounded gradients the setting certifies their bound and its consequences, but not the
    smoothness of the risk under a law.
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
    """Return the classes of laws on which an upper bound holds at a setting: its own first.

    All laws of the coordinates' class are in another one if the constants of that are as large here
    as the class makes them (`of_class`). A mean moves within every class of moments as far as its
    public bound; the shifts of a law of gradients are not those of the law of its records.
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
