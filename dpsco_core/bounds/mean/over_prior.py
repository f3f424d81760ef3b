"""Lower bounds on the l2 error, or on its square, at the worst prior of a family."""

import math
from collections.abc import Callable

from dpsco_core.base.cards import BoundCard
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, Terms
from dpsco_core.bounds.conditions import COORDINATE_MOMENT, moment_scale, scaled_mean_bound
from dpsco_core.bounds.instances.tracing import Form
from dpsco_core.bounds.letters import LOWER
from dpsco_core.problems.base import Setting

Value = Callable[[Setting, Form, float], float]  # (setting, form, largest mean norm)


def over_prior(
    card: BoundCard,
    value: Value,  # in moment units
    *hypotheses: Hypothesis,
    letters: tuple[Letter, ...] = LOWER,
) -> Bound:
    """Return the bound with its value in the units of the card's quantity."""
    squared = card.quantity == "squared l2 error"

    def evaluate(setting: Setting) -> Terms:
        scale = moment_scale(setting)
        if not 0 < scale < math.inf:
            return {"privacy": 0.0}
        unit = scale**2 if squared else scale
        form: Form = "squared" if squared else "l2"
        return {"privacy": unit * value(setting, form, scaled_mean_bound(setting))}

    return Bound(
        card=card, evaluate=evaluate, hypotheses=(COORDINATE_MOMENT, *hypotheses), letters=letters
    )
