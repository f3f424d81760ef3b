"""The values that controls offer for a scenario, and the effect of changing one of them."""

import math
from dataclasses import replace
from typing import Any

from dpsco_app.parts.differences import method_names
from dpsco_app.parts.options import OPTIONS
from dpsco_app.parts.problem_words import words_for
from dpsco_core.base.cards import Level
from dpsco_core.base.limits import Limits
from dpsco_core.catalogue import (
    METHOD_SLUGS,
    default_methods,
    distribution_card,
    distributions_for,
    law_can_decay,
    methods_for,
    problem_card,
)
from dpsco_core.explain.methods.guide import usual_methods
from dpsco_core.fields import has_alike_items
from dpsco_core.geometry.geometries import GROUP_SIZE
from dpsco_core.runs.allowed import (
    ENOUGH_POINTS,
    smallest_set,
    with_enough_points,
    with_fitting_grid,
)
from dpsco_core.scenario import DEFAULT_Q, Scenario, default_grid

BUDGET = ("epsilon", "delta", "rho")
# The points that fit the limits, and all points that were requested.
Sweep = tuple[tuple[float, ...], tuple[float, ...]]


def level_of(scenario: Scenario) -> Level:
    """Return the level that a scenario protects: users if they have several items."""
    has_several_items = scenario.m > 1 or scenario.axis == "m"
    user = has_several_items and bool(methods_for(scenario.problem, "user"))
    return "user" if user else "item"


def slider_values(field: str, scenario: Scenario, value: float) -> list[float]:
    """Return the values of a field's slider in increasing order, with its present value."""
    options = sorted({*OPTIONS[field], value})
    if field == "d" and scenario.geometry == "group-l1":
        return [x for x in options if x % GROUP_SIZE == 0 or x == value]
    if field == "offset":
        return [x for x in options if x <= smallest_set(scenario) / 2] or [0]
    if field == "p" and not problem_card(scenario.problem).infinite_variance:
        return [x for x in options if x >= 2 or x == value]
    return options


def listed_methods(scenario: Scenario) -> list[str]:
    """Return the methods of a scenario's level, together with those that are chosen."""
    known_methods = {*methods_for(scenario.problem, level_of(scenario)), *scenario.methods}
    return [m for m in METHOD_SLUGS if m in known_methods]


def change_field(
    scenario: Scenario, field: str, value: Any, sweep: Sweep, limits: Limits
) -> tuple[Scenario, Sweep, str]:
    """Set a field to a value; return the scenario, its sweep, and words on what was replaced.

    All other fields are fitted to the new value, and algorithms and a law that no longer fit are
    replaced; the words are empty if none was. Points of the sweep beyond the limits are left out
    until they fit again: `sweep` holds the points that fit, and all that were requested. The
    scenario is not validated.
    """
    fitting, whole = sweep
    if field in BUDGET and scenario.axis not in BUDGET and scenario.grid == fitting:
        # A change of the budget never makes a point too large to run.
        fitted_scenario, words = fit_other_fields(replace(scenario, **{field: value}), field)
        return fitted_scenario, sweep, words
    if scenario.grid == fitting:
        scenario = replace(scenario, grid=whole)
    asked_scenario, words = fit_other_fields(replace(scenario, **{field: value}), field)
    fitted_scenario = with_fitting_grid(asked_scenario, limits)
    # A shorter requested grid is kept: the visitor wants no more points.
    if len(asked_scenario.grid) >= ENOUGH_POINTS:
        fitted_scenario = with_enough_points(fitted_scenario, limits)
    return fitted_scenario, (fitted_scenario.grid, asked_scenario.grid), words


def fit_other_fields(scenario: Scenario, field: str) -> tuple[Scenario, str]:
    """Return a scenario whose other fields fit the one that has changed, and what was replaced.

    The words name algorithms and a law that were replaced; they are empty if none was.
    """
    if field == "geometry":
        scenario = _with_set(scenario)
    can_decay = law_can_decay(scenario.distribution, scenario.problem)
    scenario = replace(
        scenario,
        decay=scenario.decay if can_decay else 0.0,
        alike=scenario.alike if has_alike_items(scenario) else 0.0,
    )
    meaningless = {"q": scenario.q is None, "epsilon": scenario.rho is not None}
    meaningless |= {"decay": not can_decay}
    if field == "axis":
        scenario = _with_axis(scenario, scenario.axis)
    elif meaningless.get(str(scenario.axis)):
        scenario = _with_axis(scenario, "n")
    if field == scenario.axis:
        scenario = with_sweep_to_own_value(scenario)
    corrections: dict[str, Any] = {}
    words = []
    level = level_of(scenario)
    if field in ("rho", "geometry", "q") and _are_usual(scenario, level):
        scenario = replace(scenario, methods=usual_methods(scenario, level))
    known_methods = methods_for(scenario.problem, level)
    if not scenario.methods or not set(scenario.methods) <= set(known_methods):
        corrections["methods"] = usual_methods(scenario, level)
        words.append(f"algorithms {method_names(corrections['methods'])}")
    if scenario.distribution not in distributions_for(scenario.problem):
        corrections["distribution"] = Scenario.distribution
        words.append(f"data {distribution_card(Scenario.distribution).name}")
    with_p = with_variance(scenario)
    words += [f"tail index p = {with_p.p:g}"] if with_p.p != scenario.p else []
    scenario = with_p
    if not words or field not in ("problem", "m", "axis"):
        return scenario, ""
    problem_name = problem_card(scenario.problem).name + ", several items per user" * (
        level == "user"
    )
    return replace(scenario, **corrections), f"**{problem_name}**: {' and '.join(words)}."


def with_sweep_to_own_value(scenario: Scenario) -> Scenario:
    """Return the scenario with its usual sweep, lengthened to its own value if that lies outside.

    A sweep that is not the usual one, apart from such a value, stays as it is.
    """
    usual = default_grid(scenario.axis, scenario.geometry, scenario.offset)
    extra_points = set(scenario.grid) - set(usual)
    extra_inside = [x for x in extra_points if usual and usual[0] <= x <= usual[-1]]
    if not usual or extra_inside or len(extra_points) > 1 or not set(usual) <= set(scenario.grid):
        return scenario
    value_on_axis = getattr(scenario, str(scenario.axis))
    is_outside = (
        value_on_axis is not None
        and math.isfinite(value_on_axis)
        and not usual[0] <= value_on_axis <= usual[-1]
    )
    return replace(scenario, grid=tuple(sorted({*usual, value_on_axis}) if is_outside else usual))


def _with_axis(scenario: Scenario, axis: str | None) -> Scenario:
    """Return a scenario with the usual sweep of an axis, extended to the scenario's own value."""
    grid = default_grid(axis, scenario.geometry, scenario.offset)
    return with_sweep_to_own_value(replace(scenario, axis=axis, grid=tuple(grid)))


def with_variance(scenario: Scenario) -> Scenario:
    """Return a scenario with p >= 2, also in its sweep, if its problem needs a variance.

    For any other problem p < 2 changes the unit to the p-th moment, because there may be no
    variance.
    """
    if problem_card(scenario.problem).infinite_variance:
        return replace(scenario, scale="moment") if scenario.p < 2 else scenario
    if scenario.axis == "p":
        grid = (
            scenario.grid
            if max(scenario.grid, default=0) >= 2
            else default_grid("p", scenario.geometry)
        )
        scenario = replace(scenario, grid=tuple(x for x in grid if x >= 2))
    return replace(scenario, p=max(2.0, scenario.p))


def _with_set(scenario: Scenario) -> Scenario:
    """Return a scenario whose exponent, dimension and sweep fit its constraint set."""
    exponent = scenario.q or DEFAULT_Q
    scenario = replace(scenario, q=exponent if scenario.geometry == "lq" else None)
    if scenario.geometry != "group-l1":
        return scenario
    grid = scenario.grid
    if scenario.axis == "d":
        whole = tuple(x for x in grid if x % GROUP_SIZE == 0)
        grid = whole or tuple(default_grid("d", scenario.geometry))
    return replace(scenario, d=GROUP_SIZE * max(1, round(scenario.d / GROUP_SIZE)), grid=grid)


def initial_methods_reason(scenario: Scenario) -> str:
    """Return why a scenario starts with other methods than the default ones, or an empty text."""
    level = level_of(scenario)
    usual = set(usual_methods(scenario, level))
    if {*scenario.methods} != usual or usual == {*default_methods(scenario.problem, level)}:
        return ""
    return "These can run under pure DP." if scenario.delta == 0 else "These suit this set."


def _are_usual(scenario: Scenario, level: Level) -> bool:
    """Return whether the methods are default ones, for some notion of privacy and some set."""
    point = replace(scenario, epsilon=scenario.epsilon or 1.0, rho=None, axis=None, grid=())
    sets = (("l2", None), ("lq", DEFAULT_Q), ("lq", 3.0))
    variants = (
        replace(point, delta=delta, geometry=g, q=q) for delta in (0.0, 1e-6) for g, q in sets
    )
    return set(scenario.methods) in [set(usual_methods(one, level)) for one in variants]


def no_method_message(scenario: Scenario) -> str:
    """Return the request to choose a method; empty if one is chosen."""
    return "" if scenario.methods else f"Choose at least one {words_for(scenario.problem).method}."
