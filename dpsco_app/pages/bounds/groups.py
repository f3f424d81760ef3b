"""The groups of a table on Bounds: rows by method, or by the algorithms that they bind."""

from collections.abc import Sequence
from dataclasses import dataclass

from dpsco_app.pages.bounds.words import bound_ones, class_suffix, short
from dpsco_core.base.cards import BoundCard
from dpsco_core.catalogue import method_card
from dpsco_core.explain.tables.best import by_value, counts, floor, leading
from dpsco_core.explain.tables.table import Row


@dataclass(frozen=True, kw_only=True)
class Group:
    """The rows of one method, or the lower bounds on one kind of algorithms, from top to bottom."""

    key: str
    title: str
    rows: tuple[Row, ...]
    names: tuple[str, ...]  # The name of each row, which says how it differs in the group.


def group_key(card: BoundCard) -> str:
    """Return the key of the group that a bound belongs to."""
    if card.kind == "lower":
        return f"lower:{card.privacy}"
    return card.method or short(card).split(", ")[0]


def group_title(row: Row) -> str:
    """Return the title of the group of bounds that a row belongs to."""
    card = row.bound.card
    if card.kind == "lower":
        return f"Lower bounds on every {bound_ones(row.bound.card)}"
    return method_card(card.method).name if card.method else short(card).split(", ")[0]


def select(rows: Sequence[Row], count: int, chosen: str) -> list[Row]:
    """Return the `count` rows that are drawn at first, from top to bottom.

    They are the chosen row, the two of the headline, the best row of each group (private methods
    before the others), and then the best of the rest.
    """
    if len(rows) <= count:
        return by_value(rows, count)
    bests = [by_value(list(members), 1)[0] for members in _members(rows).values()]
    fixed_rows = [r for r in rows if r.bound.card.slug == chosen]
    fixed_rows += [r for r in (leading(rows), floor(rows)) if r is not None]
    selected = {r.bound.card.slug: r for r in fixed_rows}
    private = [r for r in bests if counts(r) and r.bound.card.privacy != "none"]
    for candidates in (private, bests, rows):
        candidates_left = [r for r in candidates if r.bound.card.slug not in selected]
        additions = (
            by_value(candidates_left, count - len(selected)) if len(selected) < count else []
        )
        selected |= {r.bound.card.slug: r for r in additions}
    return by_value(list(selected.values()), count)


def grouped(drawn_rows: Sequence[Row], all_rows: Sequence[Row]) -> list[Group]:
    """Return the groups of the drawn rows, in their order.

    The name of a row says how it differs in its group of `all_rows`, so that it never changes.
    """
    members_of = _members(all_rows)
    return [
        Group(
            key=key,
            title=group_title(members[0]),
            rows=tuple(members),
            names=tuple(difference(row, members_of[key]) for row in members),
        )
        for key, members in _members(drawn_rows).items()
    ]


def difference(row: Row, group: Sequence[Row]) -> str:
    """Return the part of a row's name that distinguishes the row in its group.

    "Simple clipping, rate" is "rate" among the bounds on simple clipping.
    """
    card = row.bound.card
    name = short(card)
    if card.kind == "lower":
        return name.removesuffix(", every (ε, δ)").removesuffix(", no privacy")
    title = group_title(row)
    if name.startswith(f"{title}, "):
        left = name.removeprefix(f"{title}, ")
    else:
        parts = name.split(", ")
        alike = [short(r.bound.card).split(", ") for r in group]
        while len(parts) > 1 and sum(other[0] == parts[0] for other in alike) > 1:
            alike = [other[1:] for other in alike if other[0] == parts[0] and len(other) > 1]
            parts = parts[1:]
        left = ", ".join(parts)
    suffix = class_suffix(row).removeprefix(", ")
    if left == title and suffix:
        return suffix
    return f"{left}, {suffix}" if suffix else left


def _members(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows of each group of bounds, by the group's key."""
    members: dict[str, list[Row]] = {}
    for row in rows:
        members.setdefault(group_key(row.bound.card), []).append(row)
    return members
