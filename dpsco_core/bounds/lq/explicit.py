"""What the explicit bounds on the risk in l_q share: words, hypotheses, variants of a card."""

import math
from dataclasses import replace

from dpsco_core.base.cards import BoundCard, Privacy
from dpsco_core.bounds.base import Bound, Hypothesis
from dpsco_core.bounds.conditions import GAUSSIAN_BUDGET
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    LIPSCHITZ,
    SAMPLE_SMOOTH,
    Formula,
    approximate,
    named,
)
from dpsco_core.bounds.lq import letters
from dpsco_core.bounds.lq.conditions import EVERYWHERE

Terms4 = tuple[float, float, float, float]
VOID: Terms4 = (math.inf, math.inf, math.inf, math.inf)
LIPSCHITZ_NEEDS = ("lipschitz", "diameter", "sample_smoothness")
GAUSSIAN = "With Gaussian noise. "
SHAPED = "With generalized Gaussian noise, shaped to the dual norm. "
PRINTED = (
    "The mean excess risk with every constant proven, with the noise that the paper prints and at "
    "the parameters of its statement, in units that it hides."
)
FREE = (GAUSSIAN_BUDGET, LIPSCHITZ, DIAMETER, SAMPLE_SMOOTH, EVERYWHERE)
KAPPA = r"\kappa=(r-1)d^{2(1/r-1/q')},\ r=\min\{q',2\ln d+1\}"
# What the paper prints for kappa, which its own parameters take; they are rounded where whole.
PRINTED_KAPPA = r",\ \kappa_0=\min\{\tfrac1{q-1},2\ln d\}"
PAPER_BUDGET = approximate(below=True)


def variant(
    card: BoundCard,
    form: str,
    words: str,
    *,
    name: str = "",
    statement: str = "",
    latex: str = "",
    privacy: Privacy = "zcdp",
) -> BoundCard:
    """Return the card of another noise or calibration of the same method."""
    base = card.slug.removesuffix("-explicit")
    return replace(
        card,
        slug=f"{base}-{form}",
        name=f"{card.name}, {name}",
        summary=words
        if words == PRINTED
        else card.summary.removesuffix(GAUSSIAN).removesuffix(" ") + " " + words.strip(),
        statement=statement or card.statement,
        latex=latex or card.latex,
        privacy=privacy,
    )


def row(
    card: BoundCard,
    names: tuple[str, ...],
    needs: tuple[str, ...],
    formula: Formula,
    hypotheses: tuple[Hypothesis, ...],
) -> Bound:
    tidy = replace(card, summary=card.summary.strip())
    return Bound(
        card=tidy,
        evaluate=named(names, needs, formula),
        hypotheses=hypotheses,
        letters=letters.EXPLICIT,
    )
