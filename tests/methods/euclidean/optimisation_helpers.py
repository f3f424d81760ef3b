"""Helpers shared by the tests of optimisation studies."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_core.catalogue import PROBLEM_SLUGS, method_card
from dpsco_core.privacy.budget import ApproxDP, Budget, PureDP, pure_epsilon
from dpsco_core.runs.study import Outcome, study
from dpsco_core.scenario import Scenario

RISKS = tuple(p for p in PROBLEM_SLUGS if p != "mean")
SLOW_METHOD = "sco.iterative"


@dataclass(frozen=True, kw_only=True)
class Followed:
    """The refusals of a scenario with one method, and the scenario to which their `changes`
    lead.
    """

    refusals: tuple[str, ...]
    scenario: Scenario
    outcome: Outcome


def follow(scenario: Scenario, limit: int) -> Followed:
    """Run a scenario of one method and one trial, after applying the changes that refusals suggest.

    At most `limit` refusals are followed.
    """
    (outcome,) = study(scenario)
    refusals: list[str] = []
    while outcome.not_applicable is not None and len(refusals) < limit:
        refusals.append(outcome.not_applicable)
        scenario = Scenario.from_dict(dict(outcome.changes), scenario)
        (outcome,) = study(scenario)
    return Followed(refusals=tuple(refusals), scenario=scenario, outcome=outcome)


def is_private(slug: str) -> bool:
    """Return whether a method is private."""
    return method_card(slug).privacy != "none"


def spendable_budget(slug: str, budget: Budget) -> Budget:
    """Return the budget, without its delta for a method that makes pure releases only."""
    pure = method_card(slug).privacy == "pure" and isinstance(budget, ApproxDP)
    return PureDP(epsilon=pure_epsilon(budget)) if pure else budget
