"""The ratios of proven upper to proven lower bounds, each within one class."""

from collections.abc import Sequence
from dataclasses import dataclass

from dpsco_core.base.law_classes import LawClass
from dpsco_core.base.loss_classes import LossClass
from dpsco_core.explain.tables.table import Row


@dataclass(frozen=True, kw_only=True)
class ClassRatio:
    """The best proven bounds on one class; `lower` is None if no lower bound binds it."""

    upper: Row
    lower: Row | None

    @property
    def loss_class(self) -> LossClass:
        """The class of losses of the upper bound."""
        return self.upper.bound.card.loss_class

    @property
    def ratio(self) -> float:
        """The upper over the lower bound; infinite without a lower bound."""
        return float("inf") if self.lower is None else self.upper.value / self.lower.value


def class_ratios(
    # rows for one quantity; only rows count whose hypotheses hold and whose constants are proven
    rows: Sequence[Row],
) -> tuple[ClassRatio, ...]:
    """Return the smallest proven upper bound of each class that meets a lower one, with that.

    An upper bound holds for every loss and every law of its class. What no method for that class
    can do better than is a lower bound whose hard instance is in the class: a general convex one
    says nothing of methods that may rely on strong convexity, and a worst case over moments of
    coordinates nothing of one that takes its constants from this law (`BoundCard.meets`). There is
    one for each curvature and class of laws of lower bounds; where no upper bound of a curvature
    meets any it is the smallest, alone.
    """
    holding = [r for r in rows if r.holds]
    ratios: dict[tuple[str, LawClass | None], ClassRatio] = {}
    for upper in sorted(holding, key=lambda r: r.value):
        card = upper.bound.card
        sure = (card.kind, card.constant, card.guarantee) == ("upper", "explicit", "expectation")
        if not sure or card.privacy == "none":
            continue
        comparable = [r for r in holding if card.is_comparable_with(r.bound.card, upper.covers)]
        bend = card.loss_class.curvature
        ratios.setdefault((bend, None), ClassRatio(upper=upper, lower=None))
        for lower in sorted(comparable, key=lambda r: -r.value):
            key = bend, lower.bound.card.laws
            if key not in ratios:
                ratios[key] = ClassRatio(upper=upper, lower=lower)
    paired = {bend for bend, laws in ratios if laws is not None}
    return tuple(r for (bend, laws), r in ratios.items() if laws is not None or bend not in paired)
