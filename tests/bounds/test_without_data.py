"""Bounds on the loss of an answer without data: never below its true loss, and tight on some
laws.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.bounds.classes import of_class
from dpsco_core.bounds.without_data import farthest
from dpsco_core.catalogue import (
    PROBLEM_SLUGS,
    bound,
    bounds_for,
    distributions_for,
    problem_card,
)
from dpsco_core.explain.anatomy import starting_risk
from dpsco_core.explain.window import best_start, missing_span, spans, worst_start
from dpsco_core.geometry.geometries import GEOMETRIES, Geometry
from dpsco_core.results.report import Evaluation, evaluate, evaluate_all
from dpsco_core.scenario import Scenario
from tests.bound_marks import run_at_parameters_of, second_implementation_of
from tests.folded import one_in

PROMISE = 1 + 1e-9
BUDGETS: tuple[dict[str, Any], ...] = (
    {"epsilon": None, "delta": None, "rho": 0.01},
    {"epsilon": 0.1, "delta": 1e-6},
    {"epsilon": 0.5, "delta": 0.0},
)


def random_points(count: int, seed: int, problem: str) -> Iterator[Scenario]:
    """Yield scenarios of a problem on every law, set and budget, extremes included."""
    source, accepted = random.Random(f"{seed} {problem}"), 0
    while accepted < count:
        radius = 10 ** source.uniform(-2, 2)
        geometry = source.choice(list(GEOMETRIES))
        exponent = {"q": source.choice((1.0, 1.2, 2.0, 5.0))} if geometry == "lq" else {}
        sizes: dict[str, Any] = {
            "n": int(10 ** source.uniform(0.5, 5)),
            "d": source.choice((1, 2, 5, 30)),
            "p": source.choice((1.2, 1.5, 2.0, 3.0, 10.0, 50.0)),
            "diameter": 2 * radius,
            "offset": radius * source.choice((0.0, 0.1, 0.5, 1.0)),
        }
        law = source.choice(distributions_for(problem))
        fields = {**sizes, **exponent, **source.choice(BUDGETS)}
        try:
            point = Scenario(
                problem=problem, distribution=law, geometry=geometry, methods=(), **fields
            ).validate(sampling=False)
            _ = point.setting
        except InvalidInput:
            continue
        accepted += 1
        yield point


def bounds_without_data(point: Scenario) -> list[Evaluation]:
    """Return the evaluations of the proven bounds on answers without data that hold at a point."""
    fitting = (b for b in bounds_for(point.problem, point.level) if b.card.ignores_data)
    return [e for b in fitting if not (e := evaluate(point, b)).failures]


def loss_without_data(point: Scenario) -> float:
    """Return the error of the answer without data: that of 0 for a mean, and otherwise that of the
    centre of the set.
    """
    if point.problem == "mean":
        return float(point.instance.problem.law.mean_norm)
    return starting_risk(point)


@pytest.mark.parametrize(
    ("problem", "count"), one_in(2, [(p, c) for p in PROBLEM_SLUGS for c in (25, 200)])
)
@run_at_parameters_of(
    "upper.mean.without-data",
    "upper.sco.without-data",
    "upper.sco.without-data-lipschitz",
    "upper.sco.without-data-logistic",
    "upper.sco.without-data-hinge",
    "upper.sco-strong.without-data",
)
def test_no_law_of_the_catalogue_makes_the_fixed_answer_lose_more_than_its_bound(
    problem: str, count: int
) -> None:
    compared = 0
    for point in random_points(count, count, problem):
        risk = loss_without_data(point)
        for e in bounds_without_data(point):
            assert risk <= e.value * PROMISE, (e.bound.card.slug, point.to_query())
            compared += 1
    assert compared >= count


@pytest.mark.parametrize(
    ("problem", "slug", "law"),
    [
        ("mean", "upper.mean.without-data", "student-t"),
        ("linear", "upper.sco.without-data", "pareto"),
        ("quadratic", "upper.sco-strong.without-data", "gaussian"),
        ("absolute", "upper.sco.without-data", "any-labels"),
    ],
)
def test_some_law_attains_the_bound(problem: str, slug: str, law: str) -> None:
    """With a smaller constant the bound would be false for that law."""
    point = Scenario(
        problem=problem, distribution=law, diameter=3.0, offset=1.5, p=2.0, methods=()
    ).validate(sampling=False)
    assert loss_without_data(point) == pytest.approx(evaluate(point, bound(slug)).value, rel=1e-6)


@pytest.mark.parametrize("slug", ["logistic", "hinge"])
def test_the_loss_of_labels_at_zero_is_constant_and_nearly_attained_on_these_data(
    slug: str,
) -> None:
    """Where margins are large and labels reveal their sign, the best parameter has
    almost no loss.
    """
    row = bound(f"upper.sco.without-data-{slug}")
    assert row.value(Scenario(problem=slug, methods=()).setting) == pytest.approx(
        {"logistic": math.log(2), "hinge": 1.0}[slug], rel=1e-15
    )
    point = Scenario(
        problem=slug,
        distribution="student-t",
        diameter=2e4,
        offset=1e4,
        p=3.0,
        methods=(),
    ).validate(sampling=False)
    assert starting_risk(point) > 0.98 * evaluate(point, row).value


@second_implementation_of(
    "upper.mean.without-data",
    "upper.sco.without-data",
    "upper.sco.without-data-lipschitz",
    "upper.sco.without-data-logistic",
    "upper.sco.without-data-hinge",
    "upper.sco-strong.without-data",
)
def test_the_bounds_are_their_formulas_over_the_vertices_of_the_set() -> None:
    """Distances come from an enumeration of vertices, and losses at 0 and slopes are computed by
    hand.
    """
    for kind in ("l1", "simplex", "solid-simplex"):
        corners = 1.5 * np.eye(4)
        vertices = {
            "l1": np.vstack([corners, -corners]),
            "simplex": corners,
            "solid-simplex": np.vstack([corners, np.zeros(4)]),
        }[kind]
        centre = vertices.mean(axis=0)
        reach, shift = np.linalg.norm(vertices - centre, axis=1).max(), np.linalg.norm(centre)
        for problem in PROBLEM_SLUGS:
            point = Scenario(problem=problem, geometry=kind, d=4, diameter=3.0, methods=())
            constants = point.setting.constants
            slope = constants.mean_gradient_bound
            at_zero = -math.log(0.5) if problem == "logistic" else 1.0
            for e in bounds_without_data(point):
                card = e.bound.card
                if card.quantity == "l2 error":
                    value = slope
                elif card.losses:
                    value = at_zero + slope * shift
                elif card.loss_class.strongly_convex:
                    value = constants.smoothness * reach**2 / 2
                else:
                    value = (constants.lipschitz if card.loss_class.lipschitz else slope) * reach
                assert e.value == pytest.approx(value, rel=1e-12), (card.slug, kind, problem)


@pytest.mark.parametrize("kind", GEOMETRIES)
def test_no_point_of_a_set_is_farther_from_its_centre(kind: str) -> None:
    geometry = Geometry(kind=kind, q=1.3) if kind == "lq" else Geometry(kind=kind)
    body = geometry.constraint(10, 2.0)
    rng = np.random.default_rng(7)
    directions = rng.standard_t(1.5, size=(500, 10))
    lengths = [np.linalg.norm(body.support_point(g) - body.centre) for g in directions]
    assert max(lengths) <= farthest(body) * PROMISE
    if "simplex" in kind:
        corner = np.eye(10)[0]
        distances = [np.linalg.norm(body.support_point(g) - body.centre) for g in (corner, -corner)]
        assert max(distances) == pytest.approx(farthest(body), rel=1e-12)
        assert farthest(body) <= body.reach * PROMISE


@pytest.mark.parametrize("problem", PROBLEM_SLUGS)
def test_the_best_upper_bound_is_never_worse_than_answering_without_data(problem: str) -> None:
    """The bounds are compared at every budget and on every set, for records and users, and the
    bound's source is named.
    """
    by_start = 0
    for kind in GEOMETRIES:
        for budget, m, n in ((BUDGETS[0], 1, 30), (BUDGETS[1], 1, 10**5), (BUDGETS[1], 8, 200)):
            q = 1.5 if kind == "lq" else None
            point = Scenario(problem=problem, geometry=kind, q=q, n=n, m=m, methods=(), **budget)
            try:
                point.validate(sampling=False)
            except InvalidInput:
                continue
            assert math.isfinite(worst_start(point))
            assert missing_span(point) != "upper bound"
            for span in spans(point):
                assert span.low <= span.high <= worst_start(point) * PROMISE
                if span.ignores_data:
                    assert span.upper == best_start(point).bound
                    assert span.upper.card.name.startswith("Answering without data")
                    assert span.upper.card.method == ""
                    assert span.high == worst_start(point)
                    by_start += 1
    assert by_start > 0


@pytest.mark.parametrize("problem", PROBLEM_SLUGS)
def test_no_lower_bound_on_the_problems_own_losses_exceeds_the_loss_without_data(
    problem: str,
) -> None:
    """Each lower bound is compared over its own class, with no more constants than the class
    certifies.
    """
    compared = 0
    loss = problem_card(problem).loss_class
    for point in random_points(12, 3, problem):
        for row in bounds_for(problem, point.level):
            card = row.card
            if (card.kind, card.constant) != ("lower", "explicit") or card.of_law:
                continue
            conditions = of_class(point.setting, card.laws)
            if not card.applies_to(loss) or row.failures(conditions):
                continue
            for start in bounds_for(problem, point.level):
                if not start.card.ignores_data or start.failures(conditions):
                    continue
                if start.card.is_comparable_with(card, (start.card.laws,)):
                    value, ceiling = row.value(conditions), start.value(conditions)
                    assert value <= ceiling * PROMISE, (card.slug, point.to_query())
                    compared += 1
    assert compared > 0


def test_a_bound_for_one_loss_is_not_compared_with_limits_of_all_convex_losses() -> None:
    """On a large set the limit for linear losses exceeds ln 2, which the logistic loss never
    does.
    """
    card = bound("upper.sco.without-data-logistic").card
    laws = (card.laws,)
    linear, own = (
        bound(f"lower.sco.{name}").card for name in ("approx-packing", "logistic-approx")
    )
    assert not card.is_comparable_with(linear, laws) and card.is_comparable_with(own, laws)
    assert not card.is_comparable_with(bound("lower.sco.hinge-approx").card, laws)
    general = bound("upper.sco.without-data").card
    assert general.is_comparable_with(linear, laws) and general.is_comparable_with(own, laws)


def test_a_fixed_answer_serves_every_budget_and_users_of_any_number_of_items() -> None:
    base = Scenario(problem="huber", n=50, methods=())
    value = worst_start(base)
    for budget in BUDGETS:
        for m in (1, 20):
            assert worst_start(replace(base, m=m, **budget)) == value
    [span] = spans(replace(base, n=200, m=8))
    assert span.ignores_data and span.high == value
    shown = [e for e in evaluate_all(replace(base, m=8)) if e.bound.card.ignores_data]
    assert shown and all(e.bound.card.privacy == "pure" for e in shown)
