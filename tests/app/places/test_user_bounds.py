"""The bounds that exist, and that a figure draws, for users with several items."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from dpsco_app.parts.evaluations import evaluations
from dpsco_app.parts.problem_words import class_text, words_for
from dpsco_app.parts.shown_bounds import cards, shown
from dpsco_core.catalogue import BOUNDS, bound, bounds_for
from dpsco_core.explain.promise import lower_cards
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.results.report import Evaluation
from dpsco_core.scenario import Scenario

VIEWS = ("lower bounds", "rates", "upper bounds")
GRADIENTS = {b.card.slug for b in BOUNDS if b.card.quantity == "item gradients"}
USERS = Scenario(problem="logistic", methods=("sco.sgd",), n=2000, m=100, diameter=2.0)


@pytest.mark.parametrize("problem", SCO_PROBLEMS)
def test_counts_of_gradients_are_never_on_the_axis_of_risks(problem: str) -> None:
    assert GRADIENTS
    slugs = {c.slug for c in cards(problem, "user")}
    assert slugs and not slugs & GRADIENTS
    scenario = replace(USERS, problem=problem)
    for slug in shown(scenario, VIEWS):
        assert bound(slug).card.quantity == words_for(problem).quantity


def test_the_lower_rate_for_users_is_drawn_beside_private_methods_at_their_level_only() -> None:
    assert "lower.user.rate" in {c.slug for c in lower_cards("logistic", "user")}
    assert "lower.user.rate" not in {c.slug for c in lower_cards("logistic")}
    # Without a private method no bound for private methods is drawn, nor is an unproven one.
    assert shown(USERS, VIEWS) == ("upper.sco.sgd-run-smooth",)
    assert not any(c.level == "user" for c in lower_cards("quadratic", "user"))


def listed(scenario: Scenario) -> list[Evaluation]:
    """Return the value of every bound on a scenario's problem and level, at the scenario's point
    without an axis.
    """
    slugs = [b.card.slug for b in bounds_for(scenario.problem, scenario.level)]
    assert len(slugs) == len(set(slugs))
    return evaluations(replace(scenario, axis=None, grid=()), tuple(slugs))


def test_bounds_over_the_smallest_class_come_first() -> None:
    bounds = listed(replace(USERS, problem="quadratic", m=1, methods=()))
    strong = [e.bound.card.loss_class.strongly_convex for e in bounds]
    assert strong == sorted(strong, reverse=True)
    wider = [e for e in bounds if not e.applies]
    assert {e.bound.card.kind for e in wider} == {"lower"}
    assert all("(does not bind here)" in class_text(e.bound.card, e.applies) for e in wider)


def test_counts_are_listed_where_users_have_several_items() -> None:
    bounds = listed(replace(USERS, axis="n", grid=(500, 1000)))
    counts = {e.bound.card.slug: e.value for e in bounds if e.bound.card.slug in GRADIENTS}
    assert set(counts) == {s for s in GRADIENTS if "logistic" in bound(s).card.problems}
    single = counts["upper.user.phased-sgd-gradients"]
    assert not math.isfinite(single) or single == USERS.n * USERS.m
    assert not any(e.bound.card.slug in GRADIENTS for e in listed(replace(USERS, m=1)))
