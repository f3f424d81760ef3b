"""What the cards of the l_q methods share, and sentences and examples of several stories."""

from typing import Any

from dpsco_core.base.cards import SU_2023, MethodCard, Paper
from dpsco_core.methods.euclidean.sentences import QUADRATIC
from dpsco_core.problems import SCO_PROBLEMS

BASE: dict[str, Any] = QUADRATIC | {"problem": "huber", "d": 20, "trials": 5}
ON_L1: dict[str, Any] = BASE | {"geometry": "l1"}
ON_CUBE: dict[str, Any] = BASE | {"geometry": "linf"}
EVERYWHERE = (
    "Losses that are Lipschitz and smooth on all of space: logistic or Huber regression, whose "
    "features are shrunk in the dual norm where they are unbounded."
)
STATIONARY = (
    "A smooth population risk and a bounded variance of the gradients in the dual norm; single "
    "losses may have kinks."
)
ZERO = "A bounded set that contains 0, and on which a mirror step is known."
TRUNCATED = (
    r"A gradient beyond $\tau$ becomes 0, and all others lie in the dual ball of radius $\tau$: "
    r"replacing a record moves the sum of its batch by at most $\Delta_{q'}=2\tau$, whatever the "
    "record is."
)
PUBLIC = (
    "A record enters one batch, so the whole run costs what one release does (parallel "
    "composition), whatever the order of the records."
)
GAUSSIAN_DUAL = (
    r"the Gaussian needs the l2 sensitivity $d^{1/2-1/q'}\Delta_{q'}$; the generalized one has a "
    r"density that falls with a smooth form of the dual norm"
)


def lq_card(
    slug: str, name: str, statement: str, summary: str, caveat: str, paper: Paper = SU_2023
) -> MethodCard:
    """Return the card of the optimiser `slug` in l_q, whose upper bound has its name."""
    return MethodCard(
        slug=f"lp.{slug}",
        name=name,
        paper=paper,
        statement=statement,
        summary=summary,
        privacy="zcdp",
        geometry="lq",
        problems=SCO_PROBLEMS,
        rate=f"upper.lp.{slug}",
        caveat=caveat,
    )
