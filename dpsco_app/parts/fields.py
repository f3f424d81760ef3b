"""The controls of a scenario's fields in order, from the table `dpsco_core.fields`."""

from collections.abc import Collection

from dpsco_core import fields
from dpsco_core.catalogue import distributions_for
from dpsco_core.fields.field import Field, Words
from dpsco_core.scenario import Scenario

GROUPS = {
    title: tuple(name for name, known in fields.TABLE.items() if known.group == title)
    for title in fields.GROUPS
}
ALL_CONTROLS = {name: fields.TABLE[name] for names in GROUPS.values() for name in names}
FRONT = sorted(
    (c for c in ALL_CONTROLS if ALL_CONTROLS[c].front), key=lambda c: ALL_CONTROLS[c].front
)

# Controls that the first screen also folds away, since newcomers understand them last.
FOLDED_AT_FIRST = ("geometry", "q", "delta")


def front_fields(scenario: Scenario, folded: Collection[str] = ()) -> list[str]:
    """Return the fields whose controls are always open, with those of users if users have items.

    `folded` are fields that a page folds away as well.
    """
    of_users = scenario.m > 1 or scenario.axis == "m"
    left_out = {*folded, *(() if of_users else ("m", "alike"))}
    return [name for name in FRONT if name not in left_out]


def widget(properties: Field) -> str:
    """Return the kind of control for a field: "slider", or the kind of the field's values."""
    return "slider" if properties.offered else properties.kind


def choices(field: str, scenario: Scenario) -> list[str]:
    """Return the words or slugs that a field can be set to in a scenario."""
    words = ALL_CONTROLS[field].choices
    if field == "axis":  # Only fields with a control can be swept.
        return [word for word in words if ALL_CONTROLS[word].is_shown(scenario)]
    return list(distributions_for(scenario.problem) if field == "distribution" else words)


def ends_html(field: str) -> str:
    """Return the labels of a slider's two ends as HTML; empty if it has none."""
    ends = ALL_CONTROLS[field].ends if field in ALL_CONTROLS else None
    return "".join(f"<span>{words}</span>" for words in ends or ())


def text(words: Words, scenario: Scenario) -> str:
    """Return `words` if it is a text, and otherwise the text that it makes for a scenario."""
    return words if isinstance(words, str) else words(scenario)
