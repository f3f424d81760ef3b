"""A lower bound for every algorithm at tail indices below 2, by spikes that no record shows.

See theory/infinite-variance.md, 4.2. As n grows it falls at the rate of the sample mean's error,
more slowly than 1/√n.
"""

from dataclasses import replace
from functools import partial

from dpsco_core.base.cards import OWN, BoundCard
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.conditions import scaled_mean_bound
from dpsco_core.bounds.cubes import within_cubes
from dpsco_core.bounds.instances import unseen
from dpsco_core.bounds.instances.prior import SHRUNK, prior_within
from dpsco_core.bounds.mean.below_two import BELOW_TWO
from dpsco_core.bounds.mean.lower_priors import at_best, mean_bound_over_prior, on_hypercube
from dpsco_core.problems.base import Setting

SUMMARY = (
    "With some probability no record of the sample is one of the rare spikes that make the mean, "
    "and then nobody can tell their signs."
)


def unseen_value(setting: Setting, form: Form, cap: float) -> float:
    """Return the lower bound for means of norm at most `cap`; both are in moment units."""
    n, d, order = setting.n, setting.d, setting.moment_order
    best = partial(unseen.best, n, order, form=form)
    return at_best(setting, cap, lambda q: unseen.unseen(q, n, d, order, form), best)


_CARD = BoundCard(
    slug="lower.mean.unseen",
    name="Unseen spikes, no privacy",
    paper=OWN,
    statement="Infinite variance, 4.2",
    summary=f"{SUMMARY} It binds every algorithm, private or not.",
    kind="lower",
    constant="explicit",
    latex=r"\max_q\sqrt d\,\theta\,(1-q)^n,\ \theta=q^{1-1/p}\max\big\{1,(1-q)"
    r"[q^{p-1}+(1-q)^{p-1}]\big\}^{-1/p}",
    privacy="none",
    instance="hypercube",
    infinite_variance=SHRUNK,
    proof="sampling",
)
_SQUARED = replace(
    _CARD,
    slug="lower.mean.unseen-squared",
    name="Unseen spikes, no privacy, squared error",
    quantity="squared l2 error",
    latex=_CARD.latex.replace(r"\sqrt d\,\theta", r"d\,\theta^2", 1),
    drawn=False,
)
_WITHIN = within_cubes(prior_within(on_hypercube, scaled_mean_bound), strong=False)
UNSEEN_BOUNDS: tuple[Bound, ...] = tuple(
    mean_bound_over_prior(card, unseen_value, BELOW_TWO, _WITHIN) for card in (_CARD, _SQUARED)
)
