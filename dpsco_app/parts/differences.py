"""The differences between two scenarios, in words."""

from collections.abc import Callable
from typing import Any, NamedTuple

from dpsco_app.parts.options import SYMBOL, inside, number_text, separated_names, value_text
from dpsco_app.parts.problem_words import geometry_name
from dpsco_core.catalogue import distribution_card, method_card, problem_card
from dpsco_core.fields import TABLE
from dpsco_core.scenario import Scenario


class Difference(NamedTuple):
    """A field in which two scenarios differ: its name, and both values in words."""

    field: str
    name: str
    here: str
    there: str


def differences(scenario: Scenario, usual: Scenario) -> tuple[Difference, ...]:
    """Return the fields in which two scenarios differ, except a field that both of them sweep."""
    changed = []
    for field, properties in TABLE.items():
        if (
            getattr(scenario, field) != getattr(usual, field)
            and not scenario.axis == usual.axis == field
        ):
            values = (_value_words(s, field) for s in (scenario, usual))
            changed.append(Difference(field, properties.short_name, *values))
    return tuple(changed)


def difference_text(scenario: Scenario, usual: Scenario, reason: str) -> str:
    """Return how a figure's scenario differs from the visit's, and why, as Markdown.

    The text is empty if they do not differ.
    """
    changed = differences(scenario, usual)
    followed = {"methods", "axis", "grid"} if len(changed) > 1 else set()
    values = ", ".join(_difference_phrase(d) for d in changed if d.field not in followed)
    return f"**Here:** {values}. {reason}" if changed else ""


def _difference_phrase(difference: Difference) -> str:
    """Return a difference as a phrase: the value here, and the visitor's own."""
    sign = " =" if difference.field in SYMBOL else ""
    # A word such as "Gaussian" explains itself; a number needs its name.
    name = "" if difference.field in READ else f"{inside(difference.name)}{sign} "
    return f"{name}{difference.here} (yours: {difference.there})"


def method_names(methods: tuple[str, ...]) -> str:
    """Return the names of methods as a list in words."""
    return separated_names([method_card(m).name for m in methods])


READ: dict[str, Callable[[Any], str]] = {
    "problem": lambda slug: problem_card(slug).name,
    "distribution": lambda slug: distribution_card(slug).name,
    "geometry": geometry_name,
    "methods": method_names,
    "grid": lambda values: ", ".join(map(number_text, values)) or "none",
    "axis": lambda axis: SYMBOL.get(axis, "none"),
}


def _value_words(scenario: Scenario, field: str) -> str:
    """Return the value of a scenario's field in words."""
    value = getattr(scenario, field)
    return READ[field](value) if field in READ else "none" if value is None else value_text(value)
