"""Proven bounds are compared within one class of losses, and tables state where they hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsco_core.base.cards import BINDING
from dpsco_core.catalogue import default_methods
from dpsco_core.explain.anatomy import starting_risk
from dpsco_core.explain.tables.ratios import class_ratios
from dpsco_core.explain.tables.table import TABLES, PaperTable, Row, canonical_point, rows
from dpsco_core.scenario import Scenario

POINT = canonical_point(
    Scenario(problem="quadratic", methods=default_methods("quadratic"), n=10_000, d=20, p=3.0)
)
ALL_SLUGS = next(t for t in TABLES if t.key == "all").slugs


def proven() -> list[Row]:
    """Return the bounds on the excess risk that hold at the point."""
    return [
        r
        for r in rows(POINT, ALL_SLUGS)
        if r.is_relevant and r.bound.card.quantity == "excess risk"
    ]


def test_bounds_that_need_strong_convexity_are_compared_with_strongly_convex_losses() -> None:
    """Such a bound is 28 times the convex lower bound, and 1,600 times the lower bound of its own
    class.
    """
    ratios = {r.loss_class.curvature: r for r in class_ratios(proven())}
    assert set(ratios) == {"strongly convex", "convex"}
    strong, convex = ratios["strongly convex"], ratios["convex"]
    assert strong.lower is not None and convex.lower is not None
    assert strong.lower.bound.card.instance_class.strongly_convex
    assert strong.ratio > 20 * strong.upper.value / convex.lower.value


def test_a_lower_bound_has_its_instance_in_the_class_and_applies_to_the_methods_notion() -> None:
    for pair in class_ratios(proven()):
        assert pair.lower is not None
        upper, lower = pair.upper.bound.card, pair.lower.bound.card
        assert lower.instance_class.is_within(upper.loss_class)
        assert lower.privacy in BINDING[upper.privacy]
        assert pair.ratio == pair.upper.value / pair.lower.value >= 1
        uppers = [r for r in proven() if r.holds and r.bound.card.constant == "explicit"]
        better = [r for r in uppers if r.bound.card.kind == "lower" and r.value > pair.lower.value]
        assert all(
            not r.bound.card.instance_class.is_within(upper.loss_class)
            or r.bound.card.privacy not in BINDING[upper.privacy]
            or r.bound.card.laws != lower.laws
            for r in better
        )


@pytest.mark.parametrize("table", [t for t in TABLES if t.covered], ids=lambda t: t.key)
def test_a_table_covers_the_scenario_that_it_names(table: PaperTable) -> None:
    """More theorems of the paper hold at the table's scenario than at the default scenario of the
    problem.
    """
    fields = dict(table.covered)
    methods = default_methods(fields["problem"], "user" if fields["m"] > 1 else "item")
    point = Scenario(methods=methods, **fields).validate(sampling=False)
    own_rows = [
        r for r in rows(point, table.slugs) if table.key in r.bound.card.tables or r.is_relevant
    ]
    plain = Scenario(problem=fields["problem"], methods=methods, m=fields["m"])
    rows_before = rows(plain, table.slugs)
    assert sum(r.holds for r in own_rows) >= max(3, sum(r.holds for r in rows_before))


def test_answering_without_data_costs_the_norm_of_the_mean() -> None:
    mean = Scenario(methods=("mean.sample",), offset=1.0)
    assert starting_risk(mean) == pytest.approx(1.0)
    assert starting_risk(replace(POINT, offset=1.0)) == pytest.approx(0.5)
