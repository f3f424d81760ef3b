"""Bounds, and errors without data, at the points of a scenario, cached for later reruns."""

from dataclasses import replace
from functools import lru_cache

from dpsco_core.catalogue import bound
from dpsco_core.explain.anatomy import starting_risk
from dpsco_core.explain.hardest import (
    hardest_bound_on_problem,
    hardest_case,
    impossible,
    is_hard,
)
from dpsco_core.explain.tables.wider import wider_limit
from dpsco_core.explain.window import Missing, Span, ending_at, missing_span, spans
from dpsco_core.results.report import Evaluation, evaluate
from dpsco_core.runs.study import canonical
from dpsco_core.scenario import Scenario


def evaluations(scenario: Scenario, slugs: tuple[str, ...]) -> list[Evaluation]:
    """Return the values of the bounds with these slugs at every point of a scenario, cached."""
    return [
        _evaluation(canonical(point), slug, x) for x, point in scenario.points() for slug in slugs
    ]


NEARLY_ALL = 0.97  # A share of a bound that counts as the whole bound.
without_data = starting_risk  # The error of the answer that ignores the data.
_evaluation = lru_cache(maxsize=20_000)(lambda point, slug, x: evaluate(point, bound(slug), x))
_of_wider_losses = lru_cache(maxsize=500)(wider_limit)
_of_the_data = lru_cache(maxsize=2000)(impossible)
_of_the_class = lru_cache(maxsize=2000)(spans)
_missing_of_the_class = lru_cache(maxsize=2000)(missing_span)


def starting_risks(scenario: Scenario) -> list[tuple[float | None, float]]:
    """Return the error of an answer without data, at each value of the axis."""
    return [(x, without_data(point)) for x, point in scenario.points()]


def region(scenario: Scenario) -> list[tuple[float | None, Evaluation]]:
    """Return x and the largest lower bound proven on the scenario's data, at every point.

    The list is empty if there is a point without such a bound.
    """
    floors = [(x, _of_the_data(canonical(point))) for x, point in scenario.points()]
    return [(x, one[0]) for x, one in floors] if all(one for _, one in floors) else []


def limit_of_wider_losses(scenario: Scenario) -> tuple[Evaluation, ...]:
    """Return the best lower bound over a wider class of losses along the axis.

    It is empty if a bound is known for the class of the scenario's own loss.
    """
    return _of_wider_losses(replace(scenario, methods=(), trials=1, seed=0))


def window(scenario: Scenario) -> list[tuple[float | None, Span]]:
    """Return x and the window between the proven bounds over all data, at every point.

    The list is empty if there is a point without a window.
    """
    windows = [(x, _of_the_class(_without_law(point))) for x, point in scenario.points()]
    return [(x, one[0]) for x, one in windows] if all(one for _, one in windows) else []


def missing_window(scenario: Scenario) -> Missing | None:
    """Return why `window` is undefined at the first point without it; None if it is defined."""
    lacking = (_missing_of_the_class(_without_law(point)) for _, point in scenario.points())
    return next((why for why in lacking if why is not None), None)


def drawn_window(scenario: Scenario) -> list[tuple[float | None, Span]]:
    """Return the window as it is drawn over the lines of a scenario.

    On a hard instance, the lower end is the bound that is proven for these very data; the largest
    lower bound may be about other data, and a measured line may then run below it. The result is
    empty if no bound is proven for the data. The upper end is at least the error without data,
    unless a theorem proves less.
    """
    if not is_hard(scenario):
        return window(scenario)
    floors, starts = dict(region(scenario)), dict(starting_risks(scenario))
    return [
        (x, ending_at(span, floors[x], starts[x])) for x, span in window(scenario) if x in floors
    ]


def are_hardest_of_all(scenario: Scenario, x: float | None) -> bool:
    """Return whether no larger lower bound is known on other data with the tail, at point x.

    This fails for a light tail: other data then have larger errors, which come from sampling.
    """
    floors, spans_ = dict(region(scenario)), dict(window(scenario))
    if x not in floors or x not in spans_:
        return True
    return floors[x].value >= NEARLY_ALL * spans_[x].low


def _without_law(point: Scenario) -> Scenario:
    """Return a point without the fields on which a bound over all data does not depend."""
    point = replace(canonical(point), seed=0, calibration="tight", tuning="practical")
    if is_hard(point):
        # The mean of these data may be much smaller than the class allows. Where it is larger, as
        # for linear losses with a small offset, a bound for the smaller mean is not about these
        # data.
        common = replace(point, distribution="gaussian")
        means = [one.setting.constants.mean_gradient_bound for one in (common, point)]
        point = point if means[1] > means[0] else common
    if point.problem != "mean" or point.scale != "moment":
        return point
    return replace(point, distribution="gaussian", offset=0.0, margin=0.5)


hardest = lru_cache(maxsize=256)(hardest_case)
_sharpest = lru_cache(maxsize=256)(hardest_bound_on_problem)


def hardest_law(scenario: Scenario) -> str:
    """Return the slug of the hardest law known for a scenario's problem; empty for none."""
    sharpest = _sharpest(scenario)
    return "" if sharpest is None else sharpest.card.instance


def has_hardest_law(scenario: Scenario) -> bool:
    """Whether the data of a scenario follow the hardest law known for it."""
    return is_hard(scenario) and hardest_law(scenario) == scenario.distribution
