"""Lower bounds on mean estimation by Assouad's argument: theory/approx-lower-bounds.md, 4."""

from __future__ import annotations

import math
from functools import partial

from dpsco_core.base.cards import ACHARYA_2021, BoundCard, Quantity
from dpsco_core.bounds.base import Bound, Terms
from dpsco_core.bounds.conditions import COORDINATE_MOMENT, moment_scale, scaled_mean_bound
from dpsco_core.bounds.instances import assouad
from dpsco_core.bounds.instances.hardest import largest_spike_probability
from dpsco_core.bounds.instances.prior import (
    APPROX_CLASS,
    APPROXIMATE_BUDGET,
    approximate_level,
    prior_within,
)
from dpsco_core.bounds.instances.tracing import Form
from dpsco_core.bounds.letters import LOWER
from dpsco_core.problems.base import Setting

# The bound at q, and where it is largest.
_FORMS = {
    "l2": (assouad.assouad_l2, assouad.best_l2),
    "squared": (assouad.assouad_squared, assouad.best_squared),
    "linear": (assouad.assouad_linear, assouad.best_linear),
}
on_hypercube = partial(largest_spike_probability, "hypercube")


def assouad_value(setting: Setting, form: Form, cap: float) -> float:
    """Return the bound in moment units, with means of norm at most `cap`; 0 under zCDP."""
    level = approximate_level(setting)
    if level is None:
        return 0.0
    n, d, order, q = setting.n, setting.d, setting.moment_order, setting.spike_probability
    at, best = _FORMS[form]
    if q is None:
        largest = on_hypercube(d, order, cap)
        if largest == 0:
            return 0.0
        q = best(n, order, *level, largest)
    return at(q, n, d, order, *level)


GAMMA = (
    r"\gamma_b=\Big(1-\delta\frac{e^{b\varepsilon}-1}{e^\varepsilon-1}\Big)_+,\ "
    r"B\sim\mathrm{Bin}(n,q)"
)
_SUMMARY = (
    "Any two sign patterns that differ in one place leave close outputs, because privacy hides the "
    f"few spikes that tell. {APPROX_CLASS}"
)


def _bound(name: str, title: str, statement: str, latex: str, quantity: Quantity) -> Bound:
    squared = quantity == "squared l2 error"

    def evaluate(setting: Setting) -> Terms:
        scale = moment_scale(setting)
        if not 0 < scale < math.inf:
            return {"privacy": 0.0}
        form: Form = "squared" if squared else "l2"
        unit = scale**2 if squared else scale
        return {"privacy": unit * assouad_value(setting, form, scaled_mean_bound(setting))}

    return Bound(
        card=BoundCard(
            slug=f"lower.mean.{name}",
            name=title,
            paper=ACHARYA_2021,
            statement=statement,
            summary=_SUMMARY,
            kind="lower",
            quantity=quantity,
            constant="explicit",
            latex=latex,
            privacy="approx",
            instance="hypercube",
        ),
        evaluate=evaluate,
        hypotheses=(
            COORDINATE_MOMENT,
            APPROXIMATE_BUDGET,
            prior_within(on_hypercube, scaled_mean_bound),
        ),
        letters=LOWER,
    )


ASSOUAD_BOUNDS: tuple[Bound, ...] = (
    _bound(
        "approx-assouad",
        "Assouad, every (ε, δ)",
        "private Assouad, exact binomial law, on rare spikes",
        r"\max_q\sqrt d\,q^{1-1/p}E\Big[\frac{2\gamma_B}{1+e^{\varepsilon B}}\Big],\ " + GAMMA,
        "l2 error",
    ),
    _bound(
        "approx-assouad-squared",
        "Assouad, every (ε, δ), squared error",
        "private Assouad, exact binomial law, on rare spikes, squared",
        r"\max_qd\,q^{2-2/p}E\big[\gamma_B\,\mathrm{sech}^2(\tfrac{\varepsilon B}2)\big],\ "
        + GAMMA,
        "squared l2 error",
    ),
)
