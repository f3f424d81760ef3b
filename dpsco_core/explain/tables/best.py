"""The order of a table's rows: by comparability, by validity, and by value."""

import math
from collections.abc import Sequence

from dpsco_core.base.cards import Quantity
from dpsco_core.explain.tables.table import Row


def comparable(rows: Sequence[Row], quantity: Quantity) -> list[Row]:
    """Return the rows that bound one quantity at their scenario by a positive number."""
    return [
        r
        for r in rows
        if r.is_relevant and r.bound.card.quantity == quantity and 0 < r.value < math.inf
    ]


def counts(row: Row) -> bool:
    """Return whether a bound holds here; a lower bound must also be about losses of the problem's
    class.
    """
    return row.holds and (row.bound.card.kind == "upper" or row.applies)


def best_upper(rows: Sequence[Row], constant: str) -> Row | None:
    """Return the smallest private upper bound that holds, with constants of this kind, or None.

    Explicit bounds count only if they are on the mean error, rates in any case.
    """
    bounds = [
        r
        for r in rows
        if r.holds
        and (r.bound.card.kind, r.bound.card.constant) == ("upper", constant)
        and r.bound.card.privacy != "none"
        and (constant == "rate" or r.bound.card.guarantee == "expectation")
    ]
    return next(iter(sorted(bounds, key=lambda r: r.value)), None)


def leading(rows: Sequence[Row]) -> Row | None:
    """Return the smallest proven upper bound, or the smallest rate where none is proven.

    A bound on the class of the floor comes first. A bound below the floor is about a narrower class
    of laws or losses, and never leads.
    """
    largest_lower, proven = floor(rows), best_upper(rows, "explicit")
    if largest_lower is None:
        return proven or best_upper(rows, "rate")
    comparable = [
        r for r in rows if r.bound.card.is_comparable_with(largest_lower.bound.card, r.covers)
    ]
    upper = proven if proven is not None and proven.value >= largest_lower.value else None
    return best_upper(comparable, "explicit") or upper or best_upper(rows, "rate")


def floor(rows: Sequence[Row]) -> Row | None:
    """Return the largest proven lower bound that holds and binds more than ε-DP alone.

    One that binds ε-DP algorithms only says nothing about the others, so it comes last.
    """
    bounds = [
        r
        for r in rows
        if counts(r)
        and (r.bound.card.kind, r.bound.card.constant) == ("lower", "explicit")
        and not r.bound.card.of_law  # The table is about the worst case, not about single laws.
    ]
    wide = [r for r in bounds if r.bound.card.privacy != "pure"]
    return next(iter(sorted(wide or bounds, key=lambda r: -r.value)), None)


def is_vacuous(row: Row, start: float) -> bool:
    """Whether an upper bound that holds is not below `start`.

    That is the worst-case error of an answer without data; NaN stands for an unknown one.
    """
    card = row.bound.card
    return row.holds and card.kind == "upper" and not card.ignores_data and row.value >= start


def empty_theorems(rows: Sequence[Row], start: float) -> list[Row]:
    """Return the proven bounds on private methods that are vacuous, the largest first.

    They bound a mean error, every constant in them is proven, and they hold; but an answer without
    data is proven to be as good.
    """
    proven = [
        r
        for r in rows
        if is_vacuous(r, start)
        and (r.bound.card.constant, r.bound.card.guarantee) == ("explicit", "expectation")
        and r.bound.card.privacy != "none"
    ]
    return sorted(proven, key=lambda r: -r.value)


def by_value(rows: Sequence[Row], count: int) -> list[Row]:
    """Return rows in order: upper before lower bounds, by value, valid rows first.

    Where there are more than `count`, the smallest upper and the largest lower bounds stay.
    """
    upper = [r for r in rows if r.bound.card.kind == "upper"]
    upper.sort(key=lambda r: (not counts(r), r.value))
    lower = [r for r in rows if r.bound.card.kind == "lower"]
    lower.sort(key=lambda r: (not counts(r), -r.value))
    lower = lower[: max(count // 2, count - len(upper))]
    selected = [*upper[: count - len(lower)], *lower]
    return sorted(selected, key=lambda r: (r.bound.card.kind != "upper", not counts(r), -r.value))
