"""What the limits of a place allow: why a scenario is refused, and the nearest allowed change."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from dpsco_core.base.cards import Level
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import Limits
from dpsco_core.catalogue import (
    PROBLEM_SLUGS,
    default_methods,
    distribution_class,
    methods_for,
    problem_card,
)
from dpsco_core.data.ranges import MARGIN_MIN
from dpsco_core.fields import span
from dpsco_core.geometry.geometries import GROUP_SIZE
from dpsco_core.runs.cost import cost, fits_limits, too_large
from dpsco_core.scenario import RANGED, Scenario

# A function that returns the scenarios that run together with a given one, which may depend on it.
CompanionsOf = Callable[[Scenario], Sequence[Scenario]]
# Trials and points are not reduced below these numbers; a size is reduced instead.
ENOUGH_TRIALS, ENOUGH_POINTS = 5, 3
SIZES = ("n", "m")  # the axes whose largest points may exceed the limits
# the smallest n or m that is added to a short grid: hardly any method runs with fewer records or
# users
LEAST_SIZE = 50


def no_companions(scenario: Scenario) -> tuple[Scenario, ...]:
    """Return an empty tuple, for a scenario that runs alone."""
    return ()


def refusal(scenario: Scenario, limits: Limits, companions_of: CompanionsOf = no_companions) -> str:
    """Return one sentence that says why the limits refuse a scenario; empty if they allow it.

    The cells and seconds of its companions count as well.
    """
    cached = lru_cache(maxsize=1)(companions_of)
    return _invalid_reason(scenario, limits, cached) or too_large(
        scenario, limits, cached(scenario)
    )


def nearest_allowed(
    scenario: Scenario,  # a scenario that `refusal` refuses
    # The largest sizes and times allowed. Times are compared with an upper prediction, so that a
    # suggested change is never refused.
    limits: Limits,
    # a function that returns the scenarios that run together with this one
    companions_of: CompanionsOf = no_companions,
) -> tuple[str, Any] | None:
    """Return the smallest change of one field, as (field, value), that the limits allow.

    A value out of its range moves to the nearest end. The next choices are fewer trials, a shorter
    grid and smaller sizes, in this order, while enough trials and points remain to be informative;
    then any change that is allowed. None if there is no such change, or if none is needed.
    Examples
    --------
    >>> from dpsco_core.base.limits import DASHBOARD
    >>> nearest_allowed(Scenario(n=1_000_000, d=20), DASHBOARD)
    ('n', 100000)
    """
    if not refusal(scenario, limits, companions_of):
        return None
    for field, value in _candidates(scenario, limits, companions_of):
        if _fits(replace(scenario, **{field: value}), limits, companions_of):
            return field, value
    return None


def with_fitting_grid(scenario: Scenario, limits: Limits) -> Scenario:
    """Return the scenario without the grid points that the limits refuse.

    The scenario is returned unchanged if no point would remain: then something else is wrong.
    Examples
    --------
    >>> from dpsco_core.base.limits import DASHBOARD
    >>> sweep = Scenario(d=50, axis="n", grid=(10_000, 40_000, 50_000))
    >>> with_fitting_grid(sweep, DASHBOARD).grid
    (10000, 40000)
    """
    allowed = _good_points(scenario, limits, no_companions)
    return replace(scenario, grid=allowed) if allowed else scenario


def with_enough_points(scenario: Scenario, limits: Limits) -> Scenario:
    """Return the scenario with smaller sizes added to a grid that has too few points left.

    A curve of one point shows no trend: with many items per user, few numbers of users fit.
    Examples
    --------
    >>> from dpsco_core.base.limits import DASHBOARD
    >>> users = Scenario(n=500, m=1000, axis="n", grid=(500,), methods=("user.mean-clipped",))
    >>> with_enough_points(users, DASHBOARD).grid
    (50, 100, 200, 500)
    """
    grid = scenario.grid
    if scenario.axis not in SIZES or not 0 < len(grid) < ENOUGH_POINTS:
        return scenario
    powers = (digit * 10**power for power in range(1, 7) for digit in (1, 2, 5))
    smaller = [x for x in powers if LEAST_SIZE <= x < min(grid)][-ENOUGH_POINTS:]
    return with_fitting_grid(replace(scenario, grid=(*smaller, *grid)), limits)


def smallest_set(scenario: Scenario) -> float:
    """Return the smallest diameter in a study: the true parameter must fit into that set."""
    swept = scenario.grid if scenario.axis == "diameter" else ()
    return min(scenario.diameter, *swept, math.inf)


def _invalid_reason(scenario: Scenario, limits: Limits, companions_of: CompanionsOf) -> str:
    """Return the reason why a scenario or a companion is not allowed; empty if both are."""
    try:
        scenario.validate(limits)
        companions = companions_of(scenario)
        for companion in companions:
            companion.validate(limits)
    except InvalidInput as problem:
        return str(problem)
    count = scenario.cells + sum(other.cells for other in companions)
    if count <= limits.cells:
        return ""
    runs = f"This study and the one beside it have {count:,} runs"
    return f"{runs}, and {limits.where} allows {limits.cells:,}: use fewer trials."


def _fits(scenario: Scenario, limits: Limits, companions_of: CompanionsOf) -> bool:
    """Return whether the limits allow a scenario even by an upper prediction of its time."""
    if _invalid_reason(scenario, limits, companions_of):
        return False
    scenarios = (scenario, *companions_of(scenario))
    return fits_limits((cost(s, exact=False) for s in scenarios), limits)


def _candidates(
    scenario: Scenario, limits: Limits, companions_of: CompanionsOf
) -> Iterator[tuple[str, Any]]:
    """Yield candidate changes of one field, in the order of `nearest_allowed`."""
    ends = {name: span(name, scenario, limits) for name in RANGED}
    ends["offset"] = (0, smallest_set(scenario) / 2)
    ends["d"] = (distribution_class(scenario.distribution).smallest_d, limits.d)
    if scenario.problem in PROBLEM_SLUGS and not problem_card(scenario.problem).infinite_variance:
        ends["p"] = (2.0, ends["p"][1])
    elif scenario.p < 2:
        ends["margin"] = (MARGIN_MIN, ends["margin"][1])
        if scenario.scale != "moment":
            yield "scale", "moment"
    if scenario.alike > 0:
        yield "alike", 0.0
    for field, (low, high) in ends.items():
        value = getattr(scenario, field)
        if value is not None and not low <= value <= high:
            yield field, max(low, min(high, value)) if value == value else low
    if any(s.geometry == "group-l1" for s in (scenario, *companions_of(scenario))):
        yield "d", GROUP_SIZE * max(1, round(scenario.d / GROUP_SIZE))
    level: Level = "user" if scenario.m > 1 else "item"
    fitting = methods_for(scenario.problem, level)
    applicable = tuple(m for m in scenario.methods if m in fitting)
    if applicable != scenario.methods:
        yield "methods", applicable or default_methods(scenario.problem, level)
    yield from _yield_trials(scenario, ENOUGH_TRIALS, limits, companions_of)
    yield from _yield_grids(scenario, ENOUGH_POINTS, limits, companions_of)
    rounded = [digit * 10**power for power in range(9, -1, -1) for digit in (5, 2, 1)]
    for field in ("n", "m", "d"):
        yield from ((field, value) for value in rounded if value < getattr(scenario, field))
    yield from _yield_trials(scenario, 1, limits, companions_of)
    yield from _yield_grids(scenario, 1, limits, companions_of)


def _yield_trials(
    scenario: Scenario, fewest: int, limits: Limits, companions_of: CompanionsOf
) -> Iterator[tuple[str, int]]:
    """Yield the largest allowed number of trials that is at least `fewest`, if there is one."""
    low, high = fewest, min(scenario.trials - 1, limits.trials)
    if low > high or not _fits(replace(scenario, trials=low), limits, companions_of):
        return
    while low < high:
        middle = (low + high + 1) // 2
        if _fits(replace(scenario, trials=middle), limits, companions_of):
            low = middle
        else:
            high = middle - 1
    yield "trials", low


def _yield_grids(
    scenario: Scenario, fewest: int, limits: Limits, companions_of: CompanionsOf
) -> Iterator[tuple[str, Any]]:
    """Yield changes ("grid", points): all points that are allowed alone, then ever fewer.

    The last one has `fewest` points.
    """
    allowed = _good_points(scenario, limits, companions_of)[: limits.grid]
    while len(allowed) >= fewest:
        yield "grid", allowed
        allowed = allowed[:-1]


def _good_points(
    scenario: Scenario, limits: Limits, companions_of: CompanionsOf
) -> tuple[float, ...]:
    """Return the points of the grid that are allowed on their own."""
    return tuple(
        x
        for x in scenario.grid
        if not _invalid_reason(replace(scenario, grid=(x,)), limits, companions_of)
    )
