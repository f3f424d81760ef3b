"""The settings at which a claim is tried: hard instances, all laws, sets and extremes of sizes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.bounds import Bound
from dpsco_core.catalogue import distributions_for, method_card
from dpsco_core.geometry.geometries import GEOMETRIES
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.referee.report import Progress
from dpsco_core.runs.study import planned
from dpsco_core.scenario import DEFAULT_Q, Scenario

RECORDS, DIMENSIONS = (30, 200, 5000), (1, 4, 40)
ORDERS_BELOW_TWO = (1.2, 1.5, 1.8)
ORDERS, BUDGETS = (2.0, 3.0, 10.0), (0.1, 1.0, 10.0)
LARGE_RECORDS, LARGE_DIMENSIONS = (100, 10**4, 10**6, 10**8), (1, 10, 100, 1000)
WIDE_BUDGETS = (0.01, 0.1, 1.0, 10.0)
DIAMETERS = (0.1, 2.0, 100.0)
BELOW_TWO, ITEMS = 1.5, 4  # the tail index for bounds with p < 2, and the number of items per user


def base_place(method: str, start: Scenario) -> Scenario:
    """Return `start` with this method alone and without an axis, from which trials derive theirs.

    The problem, the law, delta, the geometry and the number of items are replaced where the card of
    the method rules them out.
    """
    card = method_card(method)
    problem = start.problem if start.problem in card.problems else card.problems[0]
    point = replace(start, problem=problem, methods=(method,), axis=None, grid=())
    if problem in SCO_PROBLEMS and point.distribution not in distributions_for(problem):
        point = replace(point, distribution=distributions_for(problem)[0])
    if card.privacy == "pure" and point.delta:
        point = replace(point, delta=0.0)
    if card.geometry == "lq" and point.geometry == "l2":
        point = replace(point, geometry="lq", q=DEFAULT_Q)
    if card.level == "user" and point.m == 1:
        point = replace(point, m=ITEMS)
    return point


def start_of(claim: Bound, start: Scenario) -> Scenario:
    """Return a scenario within a bound's scope: its problem, budget, tail index and users."""
    card = claim.card
    if start.problem not in card.problems:
        start = replace(start, problem=card.problems[0])
    if start.distribution not in distributions_for(start.problem):
        start = replace(start, distribution=distributions_for(start.problem)[0])
    if card.privacy == "pure" and start.delta:
        start = replace(start, delta=0.0)
    # Rows that exist only at some settings are those for infinite variance.
    if claim.has_scope and start.p >= 2:
        start = replace(start, p=BELOW_TWO)
    if card.geometry == "lq" and start.geometry == "l2":
        start = replace(start, geometry="lq", q=DEFAULT_Q)
    if card.level == "user" and start.m == 1:
        start = replace(start, m=ITEMS)
    return replace(start, methods=(), axis=None, grid=())


def trial_places(base: Scenario, progress: Progress = lambda _: None) -> tuple[Scenario, ...]:
    """Return the settings for trials at which the method runs: first a small one for every law.

    Then follow other sets, and extreme sizes and budgets. `progress` is told what is planned.
    """
    places = []
    for count, point in enumerate(_remove_duplicates(_yield_trial_places(base))):
        progress(f"planning: setting {count + 1}")
        if _can_run(point):
            places.append(point)
    return tuple(places)


def wide_places(base: Scenario) -> Iterator[Scenario]:
    """Yield valid settings far apart, at which bounds are evaluated but no method runs."""
    return (
        point
        for point in _remove_duplicates(_yield_wide_places(base))
        if _setting_of(point, sampling=False) is not None
    )


def _yield_trial_places(base: Scenario) -> Iterator[Scenario]:
    """Yield small settings on many laws and sets, at which methods are tried."""
    laws = distributions_for(base.problem)
    small = replace(base, n=min(base.n, 1000), d=min(base.d, 5))
    for law in laws:
        yield replace(small, distribution=law)
    for geometry in GEOMETRIES:
        exponent = DEFAULT_Q if geometry == "lq" else None
        yield replace(small, geometry=geometry, q=exponent)
    for changes in _yield_extreme_changes(base, RECORDS, DIMENSIONS, BUDGETS):
        yield replace(small, **changes)
    for law in laws:
        for changes in _yield_extreme_changes(base, RECORDS, DIMENSIONS, BUDGETS):
            yield replace(small, distribution=law, **changes)


def _yield_wide_places(base: Scenario) -> Iterator[Scenario]:
    """Yield settings far apart in size, budget and set, of which some may be invalid."""
    yield base
    point = replace(base, distribution=_plain_law(base))
    for geometry in GEOMETRIES:
        exponent = DEFAULT_Q if geometry == "lq" else None
        yield replace(point, geometry=geometry, q=exponent)
    for n in LARGE_RECORDS:
        for order in _tail_indices(base):
            yield replace(point, n=n, p=order)
        for diameter in DIAMETERS:
            yield replace(point, n=n, diameter=diameter, offset=min(point.offset, diameter / 2))
    for d in LARGE_DIMENSIONS:
        for budget in _budgets(base, WIDE_BUDGETS):
            for n in LARGE_RECORDS:
                yield replace(point, n=n, d=d, **budget)


def _tail_indices(base: Scenario) -> tuple[float, ...]:
    """Return tail indices on the same side of 2 as that of the base."""
    return ORDERS if base.p >= 2 else ORDERS_BELOW_TWO


def _plain_law(base: Scenario) -> str:
    """Return a distribution that is cheap to evaluate: bounds on a class do not depend on it."""
    laws = distributions_for(base.problem)
    return "gaussian" if "gaussian" in laws else laws[0]


def _budgets(base: Scenario, values: tuple[float, ...]) -> list[dict[str, Any]]:
    """Return a change of the budget for each value: of rho if the base has one, else of epsilon."""
    if base.rho is not None:
        return [{"rho": value} for value in values]
    return [{"epsilon": value} for value in values]


def _yield_extreme_changes(
    base: Scenario,
    records: tuple[int, ...],
    dimensions: tuple[int, ...],
    budgets: tuple[float, ...],
) -> Iterator[dict[str, Any]]:
    """Yield changes of one or two fields to small and large values, each a dictionary by field."""
    yield from ({"n": n} for n in records)
    yield from ({"d": d} for d in dimensions)
    yield from ({"p": order} for order in _tail_indices(base))
    yield from _budgets(base, budgets)
    yield from ({"offset": offset} for offset in (0.0, base.diameter / 2))
    yield from ({"n": n, "d": d} for n in records[::2] for d in dimensions[::2])


def _remove_duplicates(points: Iterator[Scenario]) -> tuple[Scenario, ...]:
    """Return the points in their order, without repetitions."""
    return tuple(dict.fromkeys(points))


def _setting_of(point: Scenario, *, sampling: bool) -> Setting | None:
    """Return a point's setting; None if the point is invalid, within its sizes if `sampling`."""
    try:
        return point.validate(sampling=sampling).setting
    except (InvalidInput, NotApplicable):  # The distribution does not exist, or not at this size.
        return None


def _can_run(point: Scenario) -> bool:
    """Return whether the method of a point has a plan there."""
    if _setting_of(point, sampling=True) is None:
        return False
    try:
        planned(point, point.methods[0])
    except NotApplicable:  # The method states the reason wherever it is chosen.
        return False
    return True
