"""The table of `dpsco need`: the records or budget for a target error, by budgets and sizes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpsco_core.catalogue import method_card
from dpsco_core.cli.tools import format_table, number, print_note
from dpsco_core.explain.need import Need
from dpsco_core.explain.need.runs import Unknown
from dpsco_core.explain.recipe.recipe import NoisyRelease
from dpsco_core.scenario import Scenario

# These words stand before the end of the searched range, beyond which an answer lies.
SIDE_WORDS = {"below": "at most", "above": "more than"}


@dataclass(frozen=True, kw_only=True)
class NeedRow:
    """What one method needs at one combination of the values."""

    scenario: Scenario
    method: str  # the slug of the method
    unknown: Unknown  # what is searched for
    place: Mapping[str, float]  # the fields that vary in the table, with their values here
    target: float  # the target error, in moment units or in those of the loss
    answer: Need | None  # None if the method cannot run where the search starts
    refusal: str  # why the method cannot run there; empty if it can
    release: NoisyRelease | None  # the noise at the answer, if there is any


def print_needs(rows: Sequence[NeedRow]) -> None:
    """Print the rows as a table, with notes on its columns."""
    unknown = rows[0].unknown
    people = "users" if rows[0].scenario.m > 1 else "records"
    title = people if unknown == "n" else unknown
    header = [*rows[0].place, "method", title, "95 % interval", "promise", "replace-one"]
    print(format_table([_cells(row) for row in rows], [*header, "add/remove"]))
    print_note(
        f"below the {title} under promise no algorithm of this budget can guarantee the error in "
        "the worst case over a class of laws; replace-one and add/remove are the noise_multiplier "
        "at the answer. A single value of each flag prints all of it."
    )
    for text in dict.fromkeys(_explain_gap(row, people) for row in rows):
        if text:
            print_note(text)


def _cells(row: NeedRow) -> list[str]:
    """Return the cells of a row as text."""
    values = row.place.values()
    place = [f"{value:,}" if isinstance(value, int) else f"{value:g}" for value in values]
    cells = [*place, method_card(row.method).name]
    answer, release = row.answer, row.release
    if answer is None:
        return [*cells, "cannot run", "", "", "", ""]
    amount, interval = "no answer", ""
    if answer.side == "inside":
        amount = number(answer.value)
        interval = f"{number(answer.low)} to {number(answer.high)}"
    elif answer.side in SIDE_WORDS:
        amount = f"{SIDE_WORDS[answer.side]} {number(answer.limit)}"
    floor = max((f.value for f in answer.floors), default=math.nan)
    promise = "none will do" if math.isinf(floor) else number(floor)
    multipliers = (
        (None, None)
        if release is None
        else (release.noise_multiplier, release.add_remove_multiplier)
    )
    noises = ["" if value is None else number(value) for value in multipliers]
    return [*cells, amount, interval, promise, *noises]


def _explain_gap(row: NeedRow, people: str) -> str:
    """Return why a method has no answer in the table; empty if it has one."""
    name = method_card(row.method).name
    if row.answer is None:
        return f"{name} cannot run where the search starts: {row.refusal}"
    if row.answer.side == "plateau" and row.answer.unknown == "n":
        return f"no answer: the error of {name} hardly falls as {people} are added."
    if row.answer.side == "plateau":
        return f"no answer: the error of {name} hardly depends on the budget; take more {people}."
    return ""
