r"""Floors on the mean error for one law: worst cases over its shifts, and over laws near it.

Floor A (Theorem 1, or Theorem 2 where that is larger; Theorem 4 at unequal scales) is a worst case
over the shifts of the law. It binds every private algorithm, even one that is told the exact shape
of the data. Floor B (Theorem 3) is a worst case over laws near the one at hand. See
theory/instance-floors.md, 1, 6, 7 and 16.
"""

from dataclasses import replace
from functools import partial
from typing import Any

from dpsco_core.base.cards import OWN, BoundCard
from dpsco_core.base.law_classes import NEARBY_SLOPES, SHIFTS
from dpsco_core.bounds.base import Bound, Hypothesis, Letter
from dpsco_core.bounds.conditions import PRIOR_IN_SET
from dpsco_core.bounds.floors.terms import (
    BUDGETS,
    EQUAL_SCALES,
    KNOWN_SHAPE,
    NOTIONS,
    Notion,
    combine_mean_terms,
    combine_squared_terms,
    floor_letters,
    mean_terms,
    near_terms,
    squared_terms,
)

SENTENCE = (
    "No private algorithm, even one that is told the exact shape of these data, has a smaller mean "
    "error over all positions of the mean."
)
WEIGHTED = (
    "Where the scales of the coordinates differ, C_d, d and J are those of instance-floors, 16."
)
NEAR_SENTENCE = (
    "No private algorithm has a smaller mean error over all laws under which no value of a "
    "coordinate is more than half as likely again, or less than half as likely, as in these data."
)
BINDS: dict[Notion, str] = {
    "zcdp": "It binds rho-zCDP algorithms; under an (epsilon, delta) budget, those that spend no "
    "more than its Gaussian releases may.",
    "approx": "It binds every (epsilon, delta)-DP algorithm.",
    "pure": "It binds epsilon-DP algorithms.",
}
NAMES: dict[Notion, tuple[str, str]] = {
    "zcdp": ("cdp", "every zCDP algorithm"),
    "approx": ("approx", "every (ε, δ) algorithm"),
    "pure": ("pure", "every pure-DP algorithm"),
}
INFORMATION = r"\frac1G=\frac1{n^2\kappa^2\lambda}+\frac{n-1}{n^2d\lambda},\ J=\frac{4j^2}{R^2}"
SCORED = "The proof reads the score of the law, or how far shifts are apart, and no moment."
_PAIRS = r"\max_\theta\sqrt d\,\theta\,E\,a(B)"


def _floor_card(notion: Notion) -> BoundCard:
    """Return the card of floor A on the mean l2 error of algorithms of a privacy notion."""
    short, algorithms = NAMES[notion]
    return BoundCard(
        slug=f"lower.mean.floor-{short}",
        name=f"Floor on these data, {algorithms}",
        paper=OWN,
        statement="instance-floors, Theorems 1, 2 and 4",
        summary=f"{SENTENCE} {BINDS[notion]} {WEIGHTED}",
        kind="lower",
        constant="explicit",
        latex=rf"\max\Big(\frac{{C_d}}{{\sqrt{{G+J}}}},\ {_PAIRS}\Big),\ " + INFORMATION,
        privacy=notion,
        law_class=SHIFTS,
        proof="shifts",
        infinite_variance=SCORED,
    )


def _floors_of_notion(notion: Notion) -> tuple[Bound, ...]:
    """Return the floors for a privacy notion: A on the error, A on its square, and B."""
    card = _floor_card(notion)
    short, algorithms = NAMES[notion]
    squared = replace(
        card,
        slug=f"{card.slug}-squared",
        name=f"{card.name}, squared error",
        quantity="squared l2 error",
        statement="instance-floors, Theorems 1, 2 and 4, squared",
        summary=card.summary.replace("mean error", "mean squared error"),
        latex=rf"\max\Big(\frac{{d^2}}{{G+J}},\ \big({_PAIRS}\big)^2\Big),\ " + INFORMATION,
    )
    near_card = replace(
        card,
        slug=f"lower.mean.floor-near-{short}",
        name=f"Floor near these data, {algorithms}",
        statement="instance-floors, Theorem 3",
        summary=f"{NEAR_SENTENCE} It holds whether or not an algorithm knows the shape, and is no "
        f"floor on these data themselves. {BINDS[notion]}",
        latex=r"\max_{T,c}\frac{C_d}{\sqrt{G+J}},\ \frac1G=\frac1{n^2\kappa^2\lambda}"
        r"+\frac{n-1}{n^2d\lambda},\ J=d\Big(\frac{\pi T}{ca}\Big)^2",
        law_class=NEARBY_SLOPES,
        # Laws of infinite variance are refused, since the integrals end at a point beyond which the
        # first moments of such laws still matter.
        infinite_variance="",
        drawn=False,
    )
    letters = floor_letters(notion)
    rows: tuple[tuple[BoundCard, Any, Any, tuple[Letter, ...], tuple[Hypothesis, ...]], ...] = (
        (card, mean_terms, combine_mean_terms, letters, ()),
        (squared, squared_terms, combine_squared_terms, letters, ()),
        (near_card, near_terms, combine_mean_terms, _NEAR_LETTERS, (EQUAL_SCALES,)),
    )
    return tuple(
        Bound(
            card=row_card,
            evaluate=partial(terms, notion=notion),
            combine=combine,
            hypotheses=(KNOWN_SHAPE, PRIOR_IN_SET, *conditions, *BUDGETS[notion]),
            letters=row_letters,
        )
        for row_card, terms, combine, row_letters, conditions in rows
    )


_NEAR_LETTERS = (
    Letter("C_d", "constant of the mean error"),
    Letter("T", "where values are clipped, the best place"),
    Letter("c", "by what share densities change, the best of up to a half"),
    Letter(r"\lambda", "information on the mean of a coordinate of a tilted law"),
    Letter(r"\kappa", "what a record may reveal"),
    Letter("a", "how far the mean moves with the tilt"),
    Letter("G", "what the output tells of the mean, at most"),
    Letter("J", "what the prior tells"),
)
FLOORS: tuple[Bound, ...] = tuple(
    bound for notion in NOTIONS for bound in _floors_of_notion(notion)
)
