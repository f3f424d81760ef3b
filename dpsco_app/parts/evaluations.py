"""Bounds, and answers without data, at the points of a scenario: kept for later reruns."""

from dataclasses import replace
from functools import lru_cache

from dpsco_core.catalogue import bound
from dpsco_core.explain.anatomy import starting_risk
from dpsco_core.explain.hardest import hardest_bound, hardest_case, impossible, is_hard
from dpsco_core.explain.tables.wider import wider_limit
from dpsco_core.explain.window import Missing, Span, ending_at, missing_span, spans
from dpsco_core.results.report import Evaluation, evaluate
from dpsco_core.runs.study import canonical
from dpsco_core.scenario import Scenario


def evaluations(scenario: Scenario, slugs: tuple[str, ...]) -> list[Evaluation]:
    """Return the bounds in `slugs` at every point of the scenario; kept for later reruns."""
    return [
        _evaluation(canonical(point), slug, x) for x, point in scenario.points() for slug in slugs
    ]


NEARLY_ALL = 0.97  # a share of a bound that is as good as all of it
without_data = starting_risk  # the error of the answer that ignores the data
_evaluation = lru_cache(maxsize=20_000)(lambda point, slug, x: evaluate(point, bound(slug), x))
_of_wider_losses = lru_cache(maxsize=500)(wider_limit)
_of_the_data = lru_cache(maxsize=2000)(impossible)
_of_the_class = lru_cache(maxsize=2000)(spans)
_missing_of_the_class = lru_cache(maxsize=2000)(missing_span)


def starting_risks(scenario: Scenario) -> list[tuple[float | None, float]]:
    return [(x, without_data(point)) for x, point in scenario.points()]


def region(scenario: Scenario) -> list[tuple[float | None, Evaluation]]:
    """Return the largest proven lower bound on these data, at every point."""
    floors = [(x, _of_the_data(canonical(point))) for x, point in scenario.points()]
    return [(x, one[0]) for x, one in floors] if all(one for _, one in floors) else []


def limit_of_wider_losses(scenario: Scenario) -> tuple[Evaluation, ...]:
    """Return the best lower bound over a wider class of losses, where none of its own holds."""
    return _of_wider_losses(replace(scenario, methods=(), trials=1, seed=0))


def window(scenario: Scenario) -> list[tuple[float | None, Span]]:
    """Return between which errors the best guarantee for all data is, at every point."""
    windows = [(x, _of_the_class(_of_any_law(point))) for x, point in scenario.points()]
    return [(x, one[0]) for x, one in windows] if all(one for _, one in windows) else []


def missing_window(scenario: Scenario) -> Missing | None:
    """Return what `window` lacks at the first point that has none; None where all have one."""
    lacking = (_missing_of_the_class(_of_any_law(point)) for _, point in scenario.points())
    return next((why for why in lacking if why is not None), None)


def drawn_window(scenario: Scenario) -> list[tuple[float | None, Span]]:
    """Return the window as it is drawn over the lines of a scenario.

    On a hard instance its lower end is the bound that is proven on these very data: the largest one
    may be about other data, and then a line may rightly run below it. Empty where none is proven on
    them. Its upper end is not below the answer that ignores these data, unless a theorem is.
    """
    if not is_hard(scenario):
        return window(scenario)
    floors, starts = dict(region(scenario)), dict(starting_risks(scenario))
    return [
        (x, ending_at(span, floors[x], starts[x])) for x, span in window(scenario) if x in floors
    ]


def are_hardest_of_all(scenario: Scenario, x: float | None) -> bool:
    """Whether the limit on these data is the largest lower bound on any data with the tail.

    At a light tail it is not: other data have larger errors, and it is sampling that makes them.
    """
    floors, spans_ = dict(region(scenario)), dict(window(scenario))
    if x not in floors or x not in spans_:
        return True
    return floors[x].value >= NEARLY_ALL * spans_[x].low


def _of_any_law(point: Scenario) -> Scenario:
    """Return a point without what a bound over all data does not depend on."""
    point = replace(canonical(point), seed=0, calibration="tight", tuning="practical")
    if is_hard(point):
        # Its mean may be much smaller than the class allows. Where it is larger, as of linear
        # losses with a small offset, a bound for the smaller one is not about these data.
        common = replace(point, distribution="gaussian")
        means = [one.setting.constants.mean_gradient_bound for one in (common, point)]
        point = point if means[1] > means[0] else common
    if point.problem != "mean" or point.scale != "moment":
        return point
    return replace(point, distribution="gaussian", offset=0.0, margin=0.5)


hardest = lru_cache(maxsize=256)(hardest_case)
_sharpest = lru_cache(maxsize=256)(hardest_bound)


def hardest_law(scenario: Scenario) -> str:
    """Return the slug of the hardest data known for the very problem of a scenario; "" if none."""
    sharpest = _sharpest(scenario)
    if sharpest is None or sharpest.card.instance_problem != scenario.problem:
        return ""
    return sharpest.card.instance


def has_hardest_law(scenario: Scenario) -> bool:
    """Whether the data of a scenario are the hardest known for it."""
    return is_hard(scenario) and hardest_law(scenario) == scenario.distribution
