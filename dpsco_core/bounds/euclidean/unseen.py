"""Lower bounds on excess risk by spikes that do not occur in the sample.

See theory/infinite-variance.md, 4.2.
"""

from dpsco_core.base.cards import OWN
from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.euclidean.lower_spikes import risk_bound, risk_card, signs_within
from dpsco_core.bounds.instances.prior import SHRUNK
from dpsco_core.bounds.mean.below_two import BELOW_TWO
from dpsco_core.bounds.mean.unseen import SUMMARY, unseen_value

_SIZE = r",\ \theta=q^{1-1/p}\max\big\{1,(1-q)[q^{p-1}+(1-q)^{p-1}]\big\}^{-1/p}"


def _make_row(*, strong: bool) -> Bound:
    """Return the catalogue's bound for linear losses, or for strongly convex ones if `strong`."""
    latex = r"\frac{g^2}{2\lambda}\max_qd\,\theta^2(1-q)^n" if strong else ""
    card = risk_card(
        "unseen",
        "unseen spikes, no privacy",
        f"Infinite variance, 4.2, {'quadratic' if strong else 'linear'} losses",
        SUMMARY,
        (latex or r"\frac{gM}2\max_q\sqrt d\,\theta\,(1-q)^n") + _SIZE,
        "none",
        strong=strong,
        instance="hypercube",
        proof="sampling",
        paper=OWN,
        infinite_variance=SHRUNK,
    )
    return risk_bound(card, unseen_value, BELOW_TWO, signs_within(strong))


UNSEEN_RISKS: tuple[Bound, ...] = (_make_row(strong=False), _make_row(strong=True))
