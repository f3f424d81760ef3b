"""Pinning: a scenario that is kept, so that the next run is drawn beside it; and what differs."""

from dataclasses import fields
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode

from dpsco_app.parts.differences import SYMBOLS, differences, method_names
from dpsco_app.parts.options import PIN
from dpsco_app.parts.problem_words import words_for
from dpsco_app.shell.visit import BASE, query
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.base.parsing import shorten
from dpsco_core.scenario import Scenario

LONGEST = 2000  # characters of a pinned scenario in the address


def pin_text(scenario: Scenario) -> str:
    """Return a scenario as the text of one parameter; never empty."""
    return urlencode(query(scenario))


@lru_cache(maxsize=256)
def checked_pin(text: str) -> str:
    """Return the text of the scenario that `text` pins; raises `InvalidInput` if there is none."""
    try:
        return pin_text(_parsed(text)) if text else ""
    except InvalidInput as problem:
        sentence = f"{PIN} holds no scenario that can be run. {problem}"
        raise InvalidInput(sentence) from None


@lru_cache(maxsize=256)
def pinned(text: str) -> Scenario | None:
    """Return the scenario of a text that `pin_text` has made; None if nothing is pinned."""
    return _parsed(text) if text else None


def _parsed(text: str) -> Scenario:
    """Return the scenario of a query.

    Raises `InvalidInput` if it is none, or one that the dashboard does not allow.
    """
    require(len(text) <= LONGEST, PIN, f"at most {LONGEST:,} characters", shorten(text))
    most = len(fields(Scenario))
    try:
        given = dict(
            parse_qsl(text, keep_blank_values=True, strict_parsing=True, max_num_fields=most)
        )
    except ValueError:
        require(False, PIN, "a query such as epsilon=1&p=3", shorten(text))
    scenario = Scenario.from_dict(given, BASE).validate(DASHBOARD)
    require(bool(scenario.methods), "methods", "at least one", "none")
    return scenario


def overlays(a: Scenario, b: Scenario) -> bool:
    """Whether the curves of two scenarios can be drawn into one figure: same axis and quantity."""
    return a.axis is not None and a.axis == b.axis and same_quantity(a, b)


def same_quantity(a: Scenario, b: Scenario) -> bool:
    """Whether the errors of two scenarios are of the same kind."""
    return words_for(a.problem).quantity == words_for(b.problem).quantity


def in_short(there: Scenario, here: Scenario) -> str:
    """Return what a pinned scenario has that the present one has not: "ε = 1, p = 3"."""
    said = []
    for difference in differences(here, there):
        if difference.field == "methods":
            said.append(_methods_in_short(there, here))
        elif difference.field in SYMBOLS:
            said.append(f"{difference.name} = {difference.there}")
        elif difference.field == "trials":
            said.append(f"{difference.there} trials")
        elif difference.field in ("problem", "distribution", "geometry"):
            said.append(difference.there[0].lower() + difference.there[1:])
        else:
            said.append(f"{difference.name.lower()} {difference.there}")
    return ", ".join(said)


def _methods_in_short(there: Scenario, here: Scenario) -> str:
    kind = words_for(there.problem).method
    if not set(there.methods) & set(here.methods):
        return f"other {kind}s"
    more = [m for m in there.methods if m not in here.methods]
    fewer = [m for m in here.methods if m not in there.methods]
    parts = [f"with {method_names(tuple(more))}"] * bool(more)
    parts += [f"without {method_names(tuple(fewer))}"] * bool(fewer)
    return " and ".join(parts)
