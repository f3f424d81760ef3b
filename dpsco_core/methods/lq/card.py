"""What the cards of the l_q methods share."""

from dpsco_core.base.cards import SU_2023, MethodCard, Paper
from dpsco_core.problems import SCO_PROBLEMS


def lq_card(
    slug: str, name: str, statement: str, summary: str, caveat: str, paper: Paper = SU_2023
) -> MethodCard:
    """Return the card of the optimiser `slug` in l_q; its upper bound has the same slug."""
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
