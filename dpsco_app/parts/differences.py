"""In what two scenarios differ, in words."""

from dataclasses import dataclass, fields

from dpsco_app.parts.options import SYMBOL, number_text
from dpsco_app.parts.problem_words import geometry_name
from dpsco_core.catalogue import distribution_card, method_card, problem_card
from dpsco_core.scenario import Scenario

SYMBOLS = SYMBOL | {"delta": "δ", "rho": "ρ"}
NAMES = {
    "problem": "Problem",
    "distribution": "Data",
    "methods": "Algorithms",
    "margin": "Margin of the tail",
    "geometry": "Set",
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


def differences(here: Scenario, there: Scenario) -> tuple[Difference, ...]:
    """Return the fields that are neither equal nor swept in both, in the order of `Scenario`."""
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


def method_names(methods: tuple[str, ...]) -> str:
    return ", ".join(method_card(m).name for m in methods)


def _value(scenario: Scenario, field: str) -> str:
    value = getattr(scenario, field)
    if field == "problem":
        return problem_card(value).name
    if field == "distribution":
        return distribution_card(value).name
    if field == "geometry":
        return geometry_name(value)
    if field == "methods":
        return method_names(value)
    if field == "grid":
        return ", ".join(number_text(x) for x in value) or "none"
    if field == "axis":
        return SYMBOL.get(value, "none")
    if value is None:
        return "none"
    return number_text(value) if isinstance(value, (int, float)) else str(value)
