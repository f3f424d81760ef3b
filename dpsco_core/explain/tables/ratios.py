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
    # Rows for one quantity. Only rows with proven constants and hypotheses that hold are counted.
    rows: Sequence[Row],
) -> tuple[ClassRatio, ...]:
    """Return the smallest proven upper bound of each class, with the lower bound that it meets.

    An upper bound holds for every loss and every law of its class. A lower bound limits all methods
    for that class only if its hard instance is in the class. So a bound for general convex losses
    does not limit methods that may rely on strong convexity, and a worst case over moments of
    coordinates does not limit a method that takes its constants from this law (`BoundCard.meets`).
    There is a ratio for each curvature and each class of laws of the lower bounds. If no upper
    bound of a curvature meets a lower bound, the smallest one stands alone.
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
