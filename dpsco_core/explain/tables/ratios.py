"""How far the proven bounds of one class of losses are apart: only like is compared with like."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpsco_core.base.cards import BoundCard, Privacy
from dpsco_core.base.loss_classes import LossClass
from dpsco_core.explain.tables.table import Row

# Whose lower bounds bind the methods that guarantee a notion.
BINDING: Mapping[Privacy, tuple[Privacy, ...]] = {
    "pure": ("none", "approx", "zcdp", "pure"),
    "zcdp": ("none", "approx", "zcdp"),
    "approx": ("none", "approx"),
}


@dataclass(frozen=True, kw_only=True)
class ClassRatio:
    """The best proven bounds on one class of losses; `lower` is None where nothing binds it."""

    upper: Row
    lower: Row | None

    @property
    def loss_class(self) -> LossClass:
        """The class that the upper bound is about."""
        return self.upper.bound.card.loss_class

    @property
    def ratio(self) -> float:
        """Upper over lower; infinite without a lower bound."""
        return float("inf") if self.lower is None else self.upper.value / self.lower.value


def class_ratios(
    # of one quantity; those count whose hypotheses hold and whose constants are proven
    rows: Sequence[Row],
) -> tuple[ClassRatio, ...]:
    """Return the smallest proven upper bound of each curvature, with what binds its whole class.

    An upper bound holds for every loss of its class. What no method for that class can do better
    than is a lower bound whose hard instance is in the class: a general convex one says nothing of
    methods that may rely on strong convexity.
    """
    proven = [r for r in rows if r.holds and r.bound.card.constant == "explicit"]
    best: dict[str, Row] = {}
    for row in sorted(proven, key=lambda r: r.value):
        card = row.bound.card
        if (card.kind, card.guarantee) == ("upper", "expectation") and card.privacy in BINDING:
            best.setdefault(card.loss_class.curvature, row)
    found = []
    for upper in best.values():
        lower = [r for r in proven if _binds(r.bound.card, upper.bound.card)]
        largest = max(lower, key=lambda r: r.value, default=None)
        found.append(ClassRatio(upper=upper, lower=largest))
    return tuple(found)


def _binds(lower: BoundCard, upper: BoundCard) -> bool:
    return (
        lower.kind == "lower"
        and lower.privacy in BINDING[upper.privacy]
        and lower.instance_class.within(upper.loss_class)
    )
