"""Lower bounds on mean estimation by Assouad's argument: theory/approx-lower-bounds.md, 4."""

from dataclasses import replace
from functools import partial

from dpsco_core.base.cards import ACHARYA_2021, BoundCard
from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.conditions import scaled_mean_bound
from dpsco_core.bounds.instances import assouad
from dpsco_core.bounds.instances.hardest import largest_spike_probability
from dpsco_core.bounds.instances.prior import (
    APPROX_CLASS,
    APPROXIMATE_BUDGET,
    approximate_level,
    prior_within,
)
from dpsco_core.bounds.instances.tracing import Form
from dpsco_core.bounds.mean.over_prior import over_prior
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
_CARD = BoundCard(
    slug="lower.mean.approx-assouad",
    name="Assouad, every (ε, δ)",
    paper=ACHARYA_2021,
    statement="private Assouad, exact binomial law, on rare spikes",
    summary="Any two sign patterns that differ in one place leave close outputs, because privacy "
    f"hides the few spikes that tell. {APPROX_CLASS}",
    kind="lower",
    constant="explicit",
    latex=r"\max_q\sqrt d\,q^{1-1/p}E\Big[\frac{2\gamma_B}{1+e^{\varepsilon B}}\Big],\ " + GAMMA,
    privacy="approx",
    instance="hypercube",
)
_SQUARED = replace(
    _CARD,
    slug="lower.mean.approx-assouad-squared",
    name="Assouad, every (ε, δ), squared error",
    statement="private Assouad, exact binomial law, on rare spikes, squared",
    quantity="squared l2 error",
    latex=r"\max_qd\,q^{2-2/p}E\big[\gamma_B\,\mathrm{sech}^2(\tfrac{\varepsilon B}2)\big],\ "
    + GAMMA,
)
_WITHIN = prior_within(on_hypercube, scaled_mean_bound)
ASSOUAD_BOUNDS: tuple[Bound, ...] = tuple(
    over_prior(card, assouad_value, APPROXIMATE_BUDGET, _WITHIN) for card in (_CARD, _SQUARED)
)
