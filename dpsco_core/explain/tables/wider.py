"""Lower bounds over a problem's own losses, and over a wider class if there are no others.

A worst case over a wider class of losses does not bind methods for the problem, because the hardest
losses of the class are not among the problem's. It limits what a method can promise that is told
no more than the class.
"""

from collections.abc import Iterator
from dataclasses import replace

from dpsco_core.bounds import Bound
from dpsco_core.bounds.classes import binding
from dpsco_core.catalogue import bounds_for, problem_card
from dpsco_core.results.report import Evaluation, evaluate
from dpsco_core.scenario import Scenario


def proven_lowers(point: Scenario, *, is_own: bool) -> Iterator[Bound]:
    """Yield the explicit lower bounds on means that bind the budget, whether they hold or not.

    With `is_own` these are bounds over the problem's own losses, otherwise bounds over a wider
    class.
    """
    problem = problem_card(point.problem)
    for row in bounds_for(point.problem, point.level):
        card = row.card
        if (
            (card.kind, card.constant, card.guarantee) == ("lower", "explicit", "expectation")
            and card.quantity == problem.quantity
            and card.privacy in binding(point.budget)
            and not card.of_law
            and card.applies_to(problem.loss_class) == is_own
        ):
            yield row


def wider_limit(scenario: Scenario) -> tuple[Evaluation, ...]:
    """Return the largest lower bound over a wider class of losses, if no other one holds.

    It is the largest at the chosen point, and is given at all points of the axis at which it holds.
    It is empty if a bound over the problem's own losses holds at some point, because that one is
    drawn. That is so for every problem of the catalogue, on every set.

    Examples
    --------
    >>> wider_limit(Scenario(problem="geometric-median", geometry="l1", methods=()))
    ()
    """
    points = scenario.points()
    if any(_value_or_zero(row, p) > 0 for _, p in points for row in proven_lowers(p, is_own=True)):
        return ()
    chosen = replace(scenario, axis=None, grid=())
    values = {row: _value_or_zero(row, chosen) for row in proven_lowers(chosen, is_own=False)}
    largest = max(values, key=values.__getitem__, default=None)
    if largest is None or values[largest] == 0:
        return ()
    curve = (evaluate(point, largest, x) for x, point in points)
    return tuple(e for e in curve if not e.failures and e.value > 0)


def _value_or_zero(row: Bound, point: Scenario) -> float:
    """Return the value of a lower bound at a point; 0 if the bound does not hold there."""
    e = evaluate(point, row)
    return 0.0 if e.failures or e.refusal else e.value
