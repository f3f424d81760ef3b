"""Which bounds a figure draws where users have several items, and what the table below it has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsco_app.pages.explore.details import bounds_table
from dpsco_app.parts.problem_words import words_for
from dpsco_app.parts.shown_bounds import cards, lower_cards, shown
from dpsco_core.catalogue import BOUNDS, bound
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.scenario import Scenario

VIEWS = ("lower bounds", "rates", "upper bounds")
GRADIENTS = {b.card.slug for b in BOUNDS if b.card.quantity == "item gradients"}
USERS = Scenario(problem="logistic", methods=("sco.sgd",), n=2000, m=100, diameter=2.0)


@pytest.mark.parametrize("problem", SCO_PROBLEMS)
def test_counts_of_gradients_are_never_on_the_axis_of_risks(problem: str) -> None:
    assert GRADIENTS
    drawn = {c.slug for c in cards(problem, "user")}
    assert drawn and not drawn & GRADIENTS
    scenario = replace(USERS, problem=problem)
    for slug in shown(scenario, VIEWS):
        assert bound(slug).card.quantity == words_for(problem).quantity


def test_the_lower_rate_for_users_is_drawn_beside_private_methods_at_their_level_only() -> None:
    assert "lower.user.rate" in {c.slug for c in lower_cards("logistic", "user")}
    assert "lower.user.rate" not in {c.slug for c in lower_cards("logistic")}
    # No private method, no bound for private methods; and what is unproven is not drawn.
    assert shown(USERS, VIEWS) == ("upper.sco.sgd-run-smooth",)
    assert not any("user" in c.slug for c in lower_cards("quadratic", "user"))


def test_the_table_has_the_bounds_of_the_smallest_class_first() -> None:
    table = bounds_table(replace(USERS, problem="quadratic", m=1, methods=()))
    strong = table["Class"].str.contains("strongly").tolist()
    assert strong == sorted(strong, reverse=True)
    wider = table["Class"].str.endswith("(does not bind here)")
    assert set(table["Kind"][wider]) == {"lower"} and wider.any()


def test_the_table_has_the_counts_and_says_of_what_they_are() -> None:
    table = bounds_table(replace(USERS, axis="n", grid=(500, 1000)))
    counts = table[table["Of"] == "item gradients"]
    slugs = {
        b.card.name for b in BOUNDS if b.card.slug in GRADIENTS and "logistic" in b.card.problems
    }
    assert set(counts["Bound"]) == slugs
    single = counts[counts["Bound"] == bound("upper.user.phased-sgd-gradients").card.name]
    finite = single["Value"].dropna()
    assert finite.empty or finite.iloc[0] == USERS.n * USERS.m
    assert not (bounds_table(replace(USERS, m=1))["Of"] == "item gradients").any()
