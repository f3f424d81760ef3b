"""Every optimiser on every problem is measured, or suggests a change with which it is measured."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.catalogue import METHODS, OPTIMISERS, method_card, methods_for
from dpsco_core.methods.euclidean import ClippedDescent
from dpsco_core.scenario import Scenario
from tests.accepted_problems import set_for
from tests.folded import each
from tests.methods.euclidean.optimisation_helpers import (
    RISKS,
    SLOW_METHOD,
    follow,
    is_private,
    spendable_budget,
)

SLUGS = tuple(m.card.slug for m in OPTIMISERS)
LAWS = ("student-t", "log-normal", "hypercube")
SMALL = Scenario(problem="logistic", n=400, d=4, epsilon=2.0, trials=1, seed=3)
MOST_REFUSALS = 4
SLOW_METHODS = (SLOW_METHOD, "sco.iterative-allocated")  # Each run of these methods takes seconds.


def cases() -> list[Any]:
    """Return every combination of problem, law and method as parameters; in the quick suite each
    method has one law per problem.

    The law differs between problems; most runs of the slow method are in the slow suite.
    """
    return [
        pytest.param(
            problem,
            law,
            slug,
            marks=[pytest.mark.slow]
            * ((slug in SLOW_METHODS and problem != "logistic") or (i + j + k) % len(LAWS) != 0),
        )
        for i, problem in enumerate(RISKS)
        for j, law in enumerate(LAWS)
        for k, slug in enumerate(SLUGS)
        if slug in methods_for(problem)
    ]


def check(scenario: Scenario) -> tuple[str, ...]:
    """Run the scenario or follow its refusals to a run; check the outcome and return the
    refusals.
    """
    (slug,) = scenario.methods
    outcomes = follow(scenario, MOST_REFUSALS)
    outcome, budget = outcomes.outcome, outcomes.scenario.budget
    assert outcome.not_applicable is None
    assert outcomes.scenario.methods == (slug,)  # The method is the requested one.
    assert math.isfinite(outcome.error)
    assert outcome.error >= -1e-12
    assert 0 <= outcome.error_uncertainty < math.inf
    assert all(math.isfinite(value) for value in outcome.diagnostics.values())
    if not is_private(slug):
        assert outcome.spent is None
        assert outcome.bound_by == ()
        return outcomes.refusals
    may_spend = spendable_budget(slug, budget)
    assert type(outcome.spent) is type(may_spend)
    for name, value in vars(outcome.spent).items():
        assert value == pytest.approx(getattr(may_spend, name), rel=1e-6)
        assert value <= getattr(may_spend, name) * (1 + 1e-9)
    assert outcome.flaws == ()  # The calibration is the tight one.
    for refusal in outcomes.refusals:
        assert refusal.endswith(".")
        assert "Nearest: " in refusal
    return outcomes.refusals


@pytest.mark.parametrize(("problem", "law", "slug"), cases())
def test_every_optimiser_is_measured_or_leads_to_a_measurement(
    problem: str, law: str, slug: str
) -> None:
    refusals = check(replace(SMALL, problem=problem, distribution=law, methods=(slug,)))
    if not is_private(slug) or slug == "sco.clipped":  # These run everywhere.
        assert refusals == ()


@each("slug", [slug for slug in SLUGS if is_private(slug)])
def test_under_a_pure_budget_every_private_optimiser_suggests_a_change(slug: str) -> None:
    scenario = replace(SMALL, delta=0.0, methods=(slug,))
    if "pure" in method_card(slug).budgets:
        assert check(replace(scenario, **set_for(slug))) == ()
    else:
        assert "pure DP" in check(scenario)[0]


@each("slug", [slug for slug in SLUGS if slug != SLOW_METHOD])
def test_a_zcdp_budget_is_spent_or_refused_with_another_budget_that_is_spent(slug: str) -> None:
    scenario = replace(SMALL, epsilon=None, delta=None, rho=0.3, methods=(slug,))
    refusals = check(scenario)
    if method_card(slug).privacy == "approx":
        assert "zCDP" in refusals[0]


@each("calibration", ["tight", "paper"])
@each("tuning", ["practical", "theory"])
@each("slug", [slug for slug in SLUGS if slug != SLOW_METHOD])
def test_every_calibration_and_tuning_is_measured_within_its_budget(
    slug: str, calibration: Any, tuning: Any
) -> None:
    scenario = replace(
        SMALL, calibration=calibration, tuning=tuning, epsilon=0.9, n=300, methods=(slug,)
    )
    outcomes = follow(scenario, MOST_REFUSALS)
    outcome, budget = outcomes.outcome, spendable_budget(slug, outcomes.scenario.budget)
    assert outcome.not_applicable is None
    assert math.isfinite(outcome.error)
    assert outcome.error >= -1e-12
    if is_private(slug):
        assert outcome.spent is not None
        for name, value in vars(outcome.spent).items():
            assert 0 < value <= getattr(budget, name) * (1 + 1e-9)


def test_a_method_that_never_runs_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        """Refuse any setting."""
        raise NotApplicable("No.", nearest="set n=400", changes=(("n", 400),))

    assert ClippedDescent in METHODS
    monkeypatch.setattr(ClippedDescent, "plan", refuse)
    with pytest.raises(AssertionError):
        check(replace(SMALL, methods=("sco.clipped",)))
