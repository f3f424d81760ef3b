"""What a place allows: one sentence where it refuses a scenario, and the nearest that it allows."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from dpsco_core.base.cards import Level
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import Limits
from dpsco_core.catalogue import default_methods, distribution_class, methods_for
from dpsco_core.fields import span
from dpsco_core.geometry.geometries import GROUP_SIZE
from dpsco_core.runs.cost import cost, too_large, within
from dpsco_core.scenario import RANGED, Scenario

# The scenarios that are run beside one, which may depend on it.
Beside = Callable[[Scenario], Sequence[Scenario]]
ENOUGH_TRIALS, ENOUGH_POINTS = 5, 3  # with fewer, a smaller size is the better way out
SIZES = ("n", "m")  # axes of which the largest points may be too large for a place
LEAST_SIZE = 50  # records or users, with fewer of which hardly any method runs


def nobody(scenario: Scenario) -> tuple[Scenario, ...]:
    """Return what is beside a scenario that stands alone."""
    return ()


def refusal(scenario: Scenario, limits: Limits, beside: Beside = nobody) -> str:
    """Return why a place does not run a scenario, in one sentence; empty if it does.

    Cells and seconds of the scenarios beside it count as well.
    """
    others = lru_cache(maxsize=1)(beside)
    return _invalid(scenario, limits, others) or too_large(scenario, limits, others(scenario))


def nearest_allowed(
    scenario: Scenario,  # a scenario that `refusal` refuses
    # The place's largest sizes. Its seconds are compared with an upper prediction, so that a change
    # that is found is never refused.
    limits: Limits,
    beside: Beside = nobody,  # the scenarios that are run beside it
) -> tuple[str, Any] | None:
    """Return the smallest change of one field, as (field, value), that a place allows.

    Values out of their range go to its nearest end. Otherwise come fewer trials, a shorter grid,
    and smaller sizes, in this order, as long as trials and points remain that show anything; and
    then anything that is allowed. None: nothing of the kind, or nothing is to be changed.

    Examples
    --------
    >>> from dpsco_core.base.limits import DASHBOARD
    >>> nearest_allowed(Scenario(n=1_000_000, d=20), DASHBOARD)
    ('n', 100000)
    """
    if not refusal(scenario, limits, beside):
        return None
    for field, value in _candidates(scenario, limits, beside):
        if _fits(replace(scenario, **{field: value}), limits, beside):
            return field, value
    return None


def with_fitting_grid(scenario: Scenario, limits: Limits) -> Scenario:
    """Return the scenario without the points of its grid that a place refuses.

    As it is where that leaves none: then something else is wrong.

    Examples
    --------
    >>> from dpsco_core.base.limits import DASHBOARD
    >>> sweep = Scenario(d=50, axis="n", grid=(10_000, 40_000, 50_000))
    >>> with_fitting_grid(sweep, DASHBOARD).grid
    (10000, 40000)
    """
    good = _good_points(scenario, limits, nobody)
    return replace(scenario, grid=good) if good else scenario


def with_enough_points(scenario: Scenario, limits: Limits) -> Scenario:
    """Return the scenario with smaller sizes on its axis, where a place left it hardly any.

    A curve of one point shows no trend: with many items a user, few numbers of users are left.

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
    """Return the least diameter of a study, which the true parameter is to fit into."""
    swept = scenario.grid if scenario.axis == "diameter" else ()
    return min(scenario.diameter, *swept, math.inf)


def _invalid(scenario: Scenario, limits: Limits, beside: Beside) -> str:
    try:
        scenario.validate(limits)
        others = beside(scenario)
        for other in others:
            other.validate(limits)
    except InvalidInput as problem:
        return str(problem)
    count = scenario.cells + sum(other.cells for other in others)
    if count <= limits.cells:
        return ""
    runs = f"This study and the one beside it have {count:,} runs"
    return f"{runs}, and {limits.where} allows {limits.cells:,}: use fewer trials."


def _fits(scenario: Scenario, limits: Limits, beside: Beside) -> bool:
    """Whether a place runs a scenario for sure."""
    if _invalid(scenario, limits, beside):
        return False
    every = (scenario, *beside(scenario))
    return within((cost(s, exact=False) for s in every), limits)


def _candidates(scenario: Scenario, limits: Limits, beside: Beside) -> Iterator[tuple[str, Any]]:
    """Yield changes of one field in the order of `nearest_allowed`."""
    ends = {name: span(name, scenario, limits) for name in RANGED}
    ends["offset"] = (0, smallest_set(scenario) / 2)
    ends["d"] = (distribution_class(scenario.distribution).smallest_d, limits.d)
    for field, (low, high) in ends.items():
        value = getattr(scenario, field)
        if value is not None and not low <= value <= high:
            yield field, max(low, min(high, value)) if value == value else low
    if any(s.geometry == "group-l1" for s in (scenario, *beside(scenario))):
        yield "d", GROUP_SIZE * max(1, round(scenario.d / GROUP_SIZE))
    level: Level = "user" if scenario.m > 1 else "item"
    fitting = methods_for(scenario.problem, level)
    kept = tuple(m for m in scenario.methods if m in fitting)
    if kept != scenario.methods:
        yield "methods", kept or default_methods(scenario.problem, level)
    yield from _trials(scenario, ENOUGH_TRIALS, limits, beside)
    yield from _grids(scenario, ENOUGH_POINTS, limits, beside)
    rounded = [digit * 10**power for power in range(9, -1, -1) for digit in (5, 2, 1)]
    for field in ("n", "m", "d"):
        yield from ((field, value) for value in rounded if value < getattr(scenario, field))
    yield from _trials(scenario, 1, limits, beside)
    yield from _grids(scenario, 1, limits, beside)


def _trials(
    scenario: Scenario, fewest: int, limits: Limits, beside: Beside
) -> Iterator[tuple[str, int]]:
    """Yield the largest number of trials that is allowed, if any from `fewest` on is."""
    low, high = fewest, min(scenario.trials - 1, limits.trials)
    if low > high or not _fits(replace(scenario, trials=low), limits, beside):
        return
    while low < high:
        middle = (low + high + 1) // 2
        if _fits(replace(scenario, trials=middle), limits, beside):
            low = middle
        else:
            high = middle - 1
    yield "trials", low


def _grids(
    scenario: Scenario, fewest: int, limits: Limits, beside: Beside
) -> Iterator[tuple[str, Any]]:
    """Yield the grid without the points that are refused of themselves, then ever shorter ones."""
    good = _good_points(scenario, limits, beside)[: limits.grid]
    while len(good) >= fewest:
        yield "grid", good
        good = good[:-1]


def _good_points(scenario: Scenario, limits: Limits, beside: Beside) -> tuple[float, ...]:
    """Return the points of the grid that are not refused of themselves."""
    return tuple(
        x for x in scenario.grid if not _invalid(replace(scenario, grid=(x,)), limits, beside)
    )
