"""What is proven of the mean error of each method at a point: the guarantee behind a promise."""

import math
from collections.abc import Mapping, Sequence

from dpsco_core.base.search import smallest_or
from dpsco_core.catalogue import bounds_for, method_card, problem_card
from dpsco_core.results.report import evaluate
from dpsco_core.scenario import Scenario

APART = 1.25  # Guarantees within this factor of one another count as equal.


def guarantees(point: Scenario, methods: Sequence[str]) -> dict[str, float]:
    """Return the smallest proven upper bound on the mean error of each method at a point.

    It is infinite for a method of which none with explicit constants is proven there.

    Examples
    --------
    >>> proven = guarantees(Scenario(n=2000, d=5), ["mean.clipped", "mean.adaptive"])
    >>> proven["mean.clipped"] < proven["mean.adaptive"]
    True
    """
    quantity = problem_card(point.problem).quantity
    comparable = ("upper", "explicit", "expectation", quantity)
    values: dict[str, list[float]] = {slug: [] for slug in methods}
    for row in bounds_for(point.problem, point.level):
        card = row.card
        fits = (card.kind, card.constant, card.guarantee, card.quantity) == comparable
        if fits and card.method in values:
            evaluation = evaluate(point, row)
            if not evaluation.failures and evaluation.value > 0:
                values[card.method].append(evaluation.value)
    return {slug: smallest_or(bounds, lambda v: v, math.inf) for slug, bounds in values.items()}


def differing_guarantees(point: Scenario, methods: Sequence[str]) -> str:
    """Return a sentence on what is proven of the first method, and of the best of the others.

    It is empty if what is proven of them differs little. The first method is the one that is
    recommended, most often because it has the smallest measured error.
    """
    proven = guarantees(point, methods)
    chosen, *rivals = methods
    rival = smallest_or(rivals, proven.__getitem__, "")
    if not rival or not _are_apart(proven[chosen], proven[rival]):
        return ""
    parts = sorted((chosen, rival), key=proven.__getitem__)
    texts = [_describe(slug, proven) for slug in parts]
    return f"What is proven of the mean error here differs: {'; '.join(texts)}."


def _are_apart(guarantee: float, rival_guarantee: float) -> bool:
    """Return whether two guarantees differ by more than `APART`."""
    low, high = sorted((guarantee, rival_guarantee))
    return low < math.inf and high > APART * low


def _describe(slug: str, proven: Mapping[str, float]) -> str:
    """Return the guarantee of a method in words."""
    name, value = method_card(slug).name, proven[slug]
    return f"at most {value:.3g} for {name}" if value < math.inf else f"nothing for {name}"
