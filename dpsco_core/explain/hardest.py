"""The hardest data known for a scenario, and the errors that privacy makes impossible on data."""

from dataclasses import replace

from dpsco_core.base.law_classes import SHIFTS
from dpsco_core.bounds import Bound
from dpsco_core.bounds.classes import binding
from dpsco_core.catalogue import (
    HARD_INSTANCES,
    bounds_for,
    default_methods,
    method_card,
    methods_for,
    problem_card,
)
from dpsco_core.explain.floors import no_floor
from dpsco_core.explain.window import notions_of, window
from dpsco_core.results.report import Evaluation, bound_setting, evaluate
from dpsco_core.scenario import Scenario


def hardest_bound(scenario: Scenario) -> Bound | None:
    """Return the largest private lower bound at a scenario's point that has a hard instance.

    None if no bound has one, or if the scenario's users have several items.
    """
    point = replace(scenario, axis=None, grid=())
    if point.level == "user" or scenario.axis == "m":
        return None
    # Every coordinate of an instance has a moment of 1, and these fields cannot set its variance.
    if point.alike > 0 or point.scale != "moment" or point.decay > 0 or scenario.axis == "decay":
        return None
    bounds_by_slug = {b.card.slug: b for b in bounds_for(point.problem)}
    # The bounds are in order, the largest first.
    proven = window(point, notions_of(point)[0]).lowers
    instances = (bounds_by_slug[slug] for slug in proven if bounds_by_slug[slug].card.instance)
    return next((one for one in instances if _holds_on_its_instance(one, point)), None)


def _holds_on_its_instance(bound: Bound, point: Scenario) -> bool:
    """Return whether a bound for the worst data of a class is proven on the data of its instance.

    The means of tracing fill a ball: on an l1 ball the bound is proven on data of fewer
    coordinates, which the catalogue does not have.
    """
    card = bound.card
    instance = replace(point, distribution=card.instance, problem=card.instance_problem)
    return not bound.refusal(bound_setting(instance, bound))


def hardest_bound_on_problem(scenario: Scenario) -> Bound | None:
    """Return `hardest_bound` if its instance is of the scenario's own problem; otherwise None."""
    sharpest = hardest_bound(scenario)
    if sharpest is None or sharpest.card.instance_problem != scenario.problem:
        return None
    return sharpest


def hardest_case(scenario: Scenario) -> Scenario | None:
    """Return the hardest data known with the tail of a scenario, as a scenario of its own.

    The data are the hard instance of the sharpest private lower bound at the scenario's point, with
    the loss of that bound. The methods are those of the scenario that suit this problem. None where
    no bound has an instance, and where the scenario already is that case.

    Examples
    --------
    >>> hardest = hardest_case(Scenario(p=2.0))
    >>> hardest.distribution, hardest.methods == Scenario().methods
    ('hypercube', True)
    >>> hardest_case(hardest) is None
    True
    """
    sharpest = hardest_bound(scenario)
    if sharpest is None:
        return None
    card = sharpest.card
    if (scenario.distribution, scenario.problem) == (card.instance, card.instance_problem):
        return None
    methods = scenario.methods
    if card.instance_problem != scenario.problem:
        fitting = methods_for(card.instance_problem, "item")
        methods = tuple(m for m in methods if m in fitting)
        if all(method_card(m).privacy == "none" for m in methods):
            methods = default_methods(card.instance_problem)
    return replace(
        scenario, distribution=card.instance, problem=card.instance_problem, methods=methods
    )


def is_hard(scenario: Scenario) -> bool:
    """Return whether the data of a scenario are a hard instance, made for lower bounds."""
    return scenario.distribution in HARD_INSTANCES


def impossible(scenario: Scenario) -> tuple[Evaluation, ...]:
    """Return, at every point, the largest error that no algorithm of the budget can stay below.

    The bound is about the scenario's own data. On a hard instance it is the sharpest bound that is
    proven there. On other data it is the floor for their law (theory/instance-floors.md, 1), with
    an unknown mean whose norm is at most that of theirs. The result is empty if nothing is proven
    on these data.
    """
    if not is_hard(scenario) and (
        scenario.offset == 0 or any(no_floor(point) for _, point in scenario.points())
    ):
        return ()
    bounds = _binding(scenario)
    floors = []
    for x, point in scenario.points():
        holding = [e for e in (evaluate(point, b, x) for b in bounds) if not e.failures]
        if not holding:
            return ()
        floors.append(max(holding, key=lambda e: e.value))
    return tuple(floors) if all(e.value > 0 for e in floors) else ()


def _binding(scenario: Scenario) -> list[Bound]:
    """Return the lower bounds that are proven on the data of a scenario and bind its budget."""
    proven = ("lower", "explicit", "expectation", problem_card(scenario.problem).quantity)
    candidates = [
        b
        for b in bounds_for(scenario.problem, scenario.level)
        if (b.card.kind, b.card.constant, b.card.guarantee, b.card.quantity) == proven
    ]
    if is_hard(scenario):
        instance = (scenario.distribution, scenario.problem)
        loss, allowed = problem_card(scenario.problem).loss_class, binding(scenario.budget)
        candidates = [
            b for b in candidates if (b.card.instance, b.card.instance_problem) == instance
        ]
        return [b for b in candidates if b.card.privacy in allowed and b.card.applies_to(loss)]
    notion = notions_of(scenario)[0]
    return [b for b in candidates if (b.card.law_class, b.card.privacy) == (SHIFTS, notion)]
