"""Pinning: a scenario that is kept, so that the next run is drawn beside it; and what differs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode

from dpsco_app.parts.options import PIN, SYMBOL, number_text
from dpsco_app.parts.problem_words import geometry_name, words_for
from dpsco_app.shell.link import BASE
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.base.parsing import shorten
from dpsco_core.catalogue import distribution_card, method_card, problem_card
from dpsco_core.scenario import Scenario

LONGEST = 2000  # characters of a pinned scenario in the address
SYMBOLS = SYMBOL | {"delta": "δ", "rho": "ρ"}
NAMES = {
    "problem": "Problem",
    "distribution": "Data",
    "methods": "Algorithms",
    "margin": "Margin of the tail",
    "geometry": "Set",
    "diameter": "Diameter",
    "offset": "Norm of the truth",
    "axis": "Sweep",
    "grid": "Values on the axis",
    "trials": "Trials",
    "seed": "Seed",
    "calibration": "Calibration",
    "tuning": "Tuning",
}


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A field in which two scenarios differ: its name, and both values in words."""

    field: str
    name: str
    here: str
    there: str


def pin_text(scenario: Scenario) -> str:
    """Return a scenario as the text of one parameter; never empty."""
    return urlencode({"problem": scenario.problem} | scenario.to_query(BASE))


def read_pin(text: str, problems: list[str]) -> str:
    """Return the text of the scenario that `text` pins; one that cannot be read is left out."""
    if not text:
        return ""
    try:
        return pin_text(_parsed(text))
    except InvalidInput as problem:
        problems.append(f"{PIN} holds no scenario that can be run. {problem}")
    return ""


@lru_cache(maxsize=256)
def pinned(text: str) -> Scenario | None:
    """Return the scenario of a text that `pin_text` has made; None if nothing is pinned."""
    return _parsed(text) if text else None


def _parsed(text: str) -> Scenario:
    """Return the scenario of a query.

    Raises
    ------
    InvalidInput
        If it is none, or one that the dashboard does not allow.
    """
    require(len(text) <= LONGEST, PIN, f"at most {LONGEST:,} characters", shorten(text))
    most = len(fields(Scenario))
    try:
        query = dict(
            parse_qsl(text, keep_blank_values=True, strict_parsing=True, max_num_fields=most)
        )
    except ValueError:
        require(False, PIN, "a query such as epsilon=1&p=3", shorten(text))
    scenario = Scenario.from_dict(query, BASE).validate(DASHBOARD)
    require(bool(scenario.methods), "methods", "at least one", "none")
    return scenario


def overlays(a: Scenario, b: Scenario) -> bool:
    """Whether the curves of two scenarios can be drawn into one figure: same axis and quantity."""
    return a.axis is not None and a.axis == b.axis and same_quantity(a, b)


def same_quantity(a: Scenario, b: Scenario) -> bool:
    """Whether the errors of two scenarios are of the same kind."""
    return words_for(a.problem).quantity == words_for(b.problem).quantity


def differences(here: Scenario, there: Scenario) -> tuple[Difference, ...]:
    """Return the fields in which two scenarios differ, in the order of `Scenario`.

    The value of a field that is swept is no difference, and neither is that of one which has no
    meaning in either.
    """
    found = []
    for f in fields(Scenario):
        own, other = getattr(here, f.name), getattr(there, f.name)
        if own == other or here.axis == there.axis == f.name:
            continue
        name = SYMBOLS.get(f.name) or NAMES[f.name]
        found.append(
            Difference(
                field=f.name, name=name, here=_value(here, f.name), there=_value(there, f.name)
            )
        )
    return tuple(found)


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
    parts = [f"with {_names(tuple(more))}"] * bool(more)
    parts += [f"without {_names(tuple(fewer))}"] * bool(fewer)
    return " and ".join(parts)


def _names(methods: tuple[str, ...]) -> str:
    return ", ".join(method_card(m).name for m in methods)


def _value(scenario: Scenario, field: str) -> str:
    """Return the value of a field as people read it."""
    value = getattr(scenario, field)
    if field == "problem":
        return problem_card(value).name
    if field == "distribution":
        return distribution_card(value).name
    if field == "geometry":
        return geometry_name(value)
    if field == "methods":
        return _names(value)
    if field == "grid":
        return ", ".join(number_text(x) for x in value) or "none"
    if field == "axis":
        return SYMBOL.get(value, "none")
    if value is None:
        return "none"
    return number_text(value) if isinstance(value, (int, float)) else str(value)
