"""The methods that cannot run at a setting, why, and which change would let them run."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from dpsco_app.front.changes import level_of
from dpsco_app.parts.options import in_print
from dpsco_core import catalogue
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import DEFAULT_GRIDS, Scenario

Changes = tuple[tuple[str, float | str | None], ...]


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Methods that cannot run for one reason, and the change that would let them."""

    methods: tuple[str, ...]
    reason: str
    changes: Changes

    @property
    def names(self) -> str:
        """The names of the methods that are refused."""
        return " · ".join(catalogue.method_card(m).name for m in self.methods)


def grouped_refusals(refused: Iterable[tuple[str, str, Changes]]) -> tuple[Refusal, ...]:
    """Return one refusal per reason, from triples (method, reason, changes)."""
    groups: dict[tuple[str, Changes], list[str]] = {}
    for method, reason, changes in refused:
        groups.setdefault((reason, changes), []).append(method)
    return tuple(
        Refusal(methods=tuple(methods), reason=on_screen(reason), changes=changes)
        for (reason, changes), methods in groups.items()
    )


def measured_refusals(outcomes: Iterable[Outcome]) -> tuple[Refusal, ...]:
    """Return the refusals of the methods that could not run, those with one reason together."""
    refused_cells = {o.method: o for o in outcomes if o.not_applicable}
    return grouped_refusals(
        (m, o.not_applicable or "", o.changes) for m, o in refused_cells.items()
    )


def on_screen(text: str) -> str:
    """Return a sentence of the library with the method names and the symbols of the screen.

    Examples
    --------
    >>> on_screen("It has no noise at delta=0: choose mean.cwme-pure, or set delta=1e-06.")
    'It has no noise at δ = 0: choose Coordinate-wise, Laplace, or set δ = 10⁻⁶.'
    """
    for slug in sorted(catalogue.METHOD_SLUGS, key=len, reverse=True):
        text = text.replace(slug, catalogue.method_card(slug).name)
    return in_print(text)


def changed_scenario(scenario: Scenario, refused: Refusal) -> Scenario:
    """Return the scenario with the change of a refusal; only methods that then run are kept.

    Points of the axis that are too small are removed; an axis of exponents becomes an axis of
    records, at the chosen exponent. A new problem keeps the methods that support it.
    """
    values: dict[str, Any] = dict(refused.changes)
    methods = {*scenario.methods, *refused.methods}
    instead = values.pop("method", None)
    if instead is not None:
        methods = methods - {*refused.methods} | {instead}
    problem = values.get("problem", scenario.problem)
    level = level_of(replace(scenario, problem=problem))
    chosen = tuple(m for m in catalogue.methods_for(problem, level) if m in methods)
    values["methods"] = chosen or catalogue.default_methods(problem, level)
    if values.get("delta") is not None and scenario.rho is not None:
        values |= {"rho": None, "epsilon": scenario.epsilon or 1.0}
    if values.get("geometry", scenario.geometry) != "lq":
        values["q"] = None
    axis = scenario.axis
    if axis == "q" and "q" in values:  # The change fixes q, so it can no longer be swept.
        values |= {"axis": "n", "grid": DEFAULT_GRIDS["n"]}
    elif axis is not None and axis in values:
        smallest = float(values[axis] or 0)
        values["grid"] = tuple(x for x in scenario.grid if x >= smallest) or (smallest,)
        values[axis] = max(getattr(scenario, axis), values[axis])
    offered = replace(scenario, **values)
    return replace(offered, offset=min(offered.offset, offered.diameter / 2))
