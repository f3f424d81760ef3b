"""Where no window of proven bounds is drawn, the words in its place give the true reason."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpsco_app.front.titles import no_window
from dpsco_app.parts.evaluations import region, window
from dpsco_core.base.cards import Level
from dpsco_core.base.errors import InvalidInput
from dpsco_core.bounds import Bound
from dpsco_core.bounds.classes import binding
from dpsco_core.catalogue import PROBLEM_SLUGS, bounds_for, default_methods, problem_card
from dpsco_core.explain.hardest import hardest_case, is_hard
from dpsco_core.explain.window import notions_of, worst_start
from dpsco_core.explain.window import window as known_window
from dpsco_core.geometry.geometries import GEOMETRIES
from dpsco_core.results.report import Evaluation, evaluate_all
from dpsco_core.scenario import Scenario

BUDGETS: tuple[dict[str, Any], ...] = (
    {"epsilon": None, "delta": None, "rho": 0.5},
    {"epsilon": 1.0, "delta": 1e-6},
    {"epsilon": 1.0, "delta": 0.0},
)


def words_in_place_of_window(scenario: Scenario) -> str:
    """Return what the page says where there is no window, as one string."""
    return " ".join(no_window(scenario))


def lower_bounds(point: Scenario) -> list[Evaluation]:
    """Return the proven lower bounds for the budget of a point, on any data of the class."""
    return [
        e
        for e in evaluate_all(point)
        if (e.bound.card.kind, e.bound.card.constant) == ("lower", "explicit")
        and e.bound.card.privacy in binding(point.budget)
        and not e.bound.card.of_law
        and e.applies
        and not e.failures
    ]


@pytest.mark.parametrize("kind", GEOMETRIES)
@pytest.mark.parametrize("problem", PROBLEM_SLUGS)
def test_the_stated_reason_for_a_missing_window_is_true(problem: str, kind: str) -> None:
    for budget in BUDGETS:
        methods = default_methods(problem)
        q = 1.2 if kind == "lq" else None
        point = Scenario(problem=problem, geometry=kind, q=q, methods=methods, **budget)
        try:
            point.validate(sampling=False)
        except InvalidInput:
            continue
        reason, spans, proven = words_in_place_of_window(point), window(point), lower_bounds(point)
        if "is proven on this set" in reason:
            assert not spans and proven == [] and kind != "l2"
        elif "in the ℓ₂ ball only" in reason:
            assert not spans and proven and kind != "l2"
        elif "holds at these settings" in reason:
            assert not spans and proven == [] and kind == "l2"
        elif "is proven for all such losses" in reason:
            best = min(known_window(point, notions_of(point)[0]).ceiling, worst_start(point))
            assert not spans and math.isinf(best)
        elif "nobody can guarantee" in reason:
            tested_window = known_window(point, notions_of(point)[0])
            assert not spans and tested_window.floor >= min(
                tested_window.ceiling, worst_start(point)
            )
        elif "with other losses" in reason:
            problems = {s.lower.card.instance_problem for _, s in spans if s.lower is not None}
            assert problems and problem not in problems
        else:
            assert reason == "" and spans and problem_card(problem).slug == problem


def test_the_reason_in_a_small_ball_is_not_that_the_loss_lacks_a_lower_bound() -> None:
    """Lower bounds for the linear loss are proven, but none of them holds in so small a ball."""
    scenario = Scenario(problem="linear", methods=("sco.erm",), diameter=0.1, offset=0.0)
    assert "no lower bound holds at these settings" in words_in_place_of_window(scenario)


def test_on_another_set_the_reason_is_that_no_lower_bound_is_proven_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The test leaves out the bounds of the loss itself, which every problem of the catalogue has
    on every set.
    """

    def wider_bounds(problem: str, level: Level = "item") -> tuple[Bound, ...]:
        """Return the bounds for a problem that are not on its own instance."""
        return tuple(b for b in bounds_for(problem, level) if b.card.instance_problem != problem)

    monkeypatch.setattr("dpsco_core.explain.window.bounds_for", wider_bounds)
    scenario = Scenario(
        geometry="l1", problem="geometric-median", methods=("sco.erm",), diameter=2.25
    )
    assert "no lower bound is proven on this set" in words_in_place_of_window(scenario)


@pytest.mark.parametrize("kind", GEOMETRIES)
@pytest.mark.parametrize("problem", ["mean", "linear", "quadratic"])
def test_the_losses_of_the_hard_instances_have_a_window_on_every_set_and_a_hardest_case(
    problem: str, kind: str
) -> None:
    """The region below the lines of the hardest case is about its data, and binds its budget."""
    for budget in BUDGETS:
        q = 1.2 if kind == "lq" else None
        methods = default_methods(problem)
        point = Scenario(problem=problem, geometry=kind, q=q, p=2.0, methods=methods, **budget)
        [(_, span)] = window(point)
        assert 0 < span.low < span.high < math.inf and words_in_place_of_window(point) == ""
        case = hardest_case(point)
        assert case is not None and case.geometry == kind and is_hard(case)
        [(_, floor)] = region(case)
        card = floor.bound.card
        assert (card.instance, card.instance_problem) == (case.distribution, problem)
        assert floor.value > 0 and card.privacy in binding(point.budget)
        assert words_in_place_of_window(case) == ""
