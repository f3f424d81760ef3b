"""Below p = 2 every bound and every method either has a reviewed proof or refuses with a reason."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.bounds.base import Bound
from dpsco_core.catalogue import BOUNDS, METHODS, make_method, method_card
from dpsco_core.privacy.budget import PureDP
from dpsco_core.results.report import evaluate
from dpsco_core.scenario import Scenario
from tests.folded import each

# Each line names a bound whose proof was checked for p below 2, or a method that runs there, as in
# "bound lower.mean.unseen". Every other bound or method refuses.
REVIEWED = Path(__file__).with_name("below_two.txt").read_text(encoding="utf-8").splitlines()


def problem_of(slugs: tuple[str, ...]) -> str:
    """Return one of the problems, preferably one that allows a tail index below 2."""
    return next((slug for slug in slugs if slug in ("mean", "linear", "quadratic")), "mean")


@each("row", BOUNDS, ids=lambda row: row.card.slug)
@each("p", (1.1, 1.6))
def test_every_bound_is_reviewed_below_two_or_refuses(row: Bound, p: float):
    point = Scenario(problem=problem_of(row.card.problems), p=p, n=400, d=4, methods=()).validate()
    setting = point.setting
    if f"bound {row.card.slug}" in REVIEWED:
        assert row.card.infinite_variance.endswith(".")
        assert not row.needs_variance(setting)
        assert row.value(setting) >= 0
        return
    assert not row.card.infinite_variance
    sentence = f"The proof of this bound needs a second moment, and records with tail index p={p:g}"
    assert row.failures(setting) == (row.refusal(setting),)
    assert row.failures(setting)[0].startswith(sentence)
    assert row.value(setting) == (math.inf if row.card.kind == "upper" else 0.0)
    evaluation = evaluate(point, row)
    assert math.isnan(evaluation.value)
    assert all(math.isnan(term) for term in evaluation.terms.values())
    # At p = 2 the reason that records lack a variance does not appear.
    assert not row.needs_variance(replace(setting, moment_order=2.0))


@each("family", METHODS, ids=lambda family: family.card.slug)
@each("p", (1.1, 1.6))
def test_every_method_is_reviewed_below_two_or_refuses(family: Any, p: float):
    slug = family.card.slug
    point = Scenario(
        problem=problem_of(family.card.problems), p=p, n=400, d=4, methods=()
    ).validate()
    method = make_method(slug, "tight", "practical")
    if f"method {slug}" in REVIEWED:
        assert method_card(slug).infinite_variance.endswith(".")
        setting = point.setting
        if family.card.privacy == "pure":
            setting = replace(setting, budget=PureDP(epsilon=1.0))
        assert method.plan(setting).setting is setting
        return
    with pytest.raises(NotApplicable, match="^The method needs a second moment") as caught:
        method.plan(point.setting)
    assert caught.value.changes == (("p", 2.0),)
    assert not method_card(slug).infinite_variance


def test_no_variance_is_certified_below_two():
    for problem in ("mean", "linear", "quadratic"):
        point = Scenario(problem=problem, p=1.4, methods=()).validate()
        assert point.setting.constants.variance_trace == math.inf, problem


def test_every_reviewed_row_is_one_of_the_catalogue():
    rows = [f"bound {row.card.slug}" for row in BOUNDS]
    rows += [f"method {family.card.slug}" for family in METHODS]
    assert len(set(REVIEWED)) == len(REVIEWED)
    assert set(REVIEWED) <= set(rows)
